"""One reader: a fold, what each slot gets, one row a slot, and the order of slots, whatever the batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from confide.contract.errors import InvalidInput, Refused
from confide.tables import reader
from confide.tables.reader import Reader, taken

PEOPLE = 500


@dataclass(frozen=True, eq=False)
class Votes:
    index: np.ndarray
    votes: np.ndarray
    weights: np.ndarray
    of: str = "all"


def everybody(seed: int, rows: int = 700) -> Votes:
    draw = np.random.default_rng(seed)
    return Votes(draw.integers(-3, PEOPLE + 3, rows), draw.integers(0, 9, (rows, 2)), draw.normal(size=rows))


def cut(data: Votes, size: int) -> Iterator[Votes]:
    for first in range(0, len(data.index), size):
        yield taken(data, slice(first, first + size))


def first_rows(data: Votes) -> dict[int, int]:
    found: dict[int, int] = {}
    for row, slot in enumerate(data.index.tolist()):
        if 0 <= slot < PEOPLE:
            found.setdefault(slot, row)
    return found


def total(of: Reader[Votes]) -> list[int]:
    def add(state: np.ndarray, batch: Votes) -> None:
        state += batch.votes.sum(axis=0)

    def join(state: np.ndarray, other: np.ndarray) -> None:
        state += other

    return of.fold(lambda: np.zeros(2, dtype=np.int64), add, join).tolist()


@pytest.mark.parametrize("size", [1, 7, 64, 10_000])
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_batches_and_threads_change_no_bit(size: int, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("confide.numerics.map_reduce.threads", lambda: workers)
    data = everybody(1)
    of = Reader(lambda: cut(data, size), PEOPLE)
    mine = first_rows(data)
    assert total(of) == data.votes[list(mine.values())].sum(axis=0).tolist()
    shares = of.each(lambda some: {"paid": some.votes[:, 0], "both": some.votes * 2}, {"paid": 0, "both": [-1, -1]})
    assert shares.num_rows == PEOPLE
    assert shares["paid"].to_pylist() == [
        int(data.votes[mine[slot], 0]) if slot in mine else 0 for slot in range(PEOPLE)]
    assert shares["both"].to_pylist() == [
        (2 * data.votes[mine[slot]]).tolist() if slot in mine else [-1, -1] for slot in range(PEOPLE)]
    seen = np.concatenate([some.index for some in of.scan(rows=11)])
    assert seen.tolist() == sorted(mine)
    weights = np.concatenate([some.weights for some in of.scan(rows=11)])
    assert weights.tolist() == [data.weights[mine[slot]] for slot in sorted(mine)]


def test_every_pass_begins_anew() -> None:
    of = Reader(lambda: cut(everybody(2), 50), PEOPLE)
    assert total(of) == total(of) != [0, 0]


def test_a_second_row_is_left_out_or_refused_without_a_name() -> None:
    twice = Votes(np.array([4, 4]), np.ones((2, 2), np.int64), np.array([1.0, 2.0]))
    of = Reader(lambda: [twice], PEOPLE)
    assert [some.weights.tolist() for some in of.by_id()] == [[1.0]]
    words = "a slot stands twice"
    for reads in (lambda: list(of.by_id(refuse=words)), lambda: list(of.scan(refuse=words)),
                  lambda: of.each(lambda some: {"paid": some.weights}, {"paid": 0.0}, refuse=words)):
        with pytest.raises(InvalidInput) as refused:
            reads()
        assert str(refused.value) == "data: a slot stands twice"


def test_ordered_rows_are_scanned_as_they_come() -> None:
    rows = taken(everybody(3), slice(0, 6))
    rows = Votes(np.arange(6), rows.votes, rows.weights)
    read = list[int]()

    def batches() -> Iterator[Votes]:
        for some in cut(rows, 2):
            read.append(len(read))
            yield some

    first = next(Reader(batches, PEOPLE, ordered=True).scan(rows=1))
    assert (first.index.tolist(), read, first.of) == ([0], [0], "all")


def test_what_cannot_be_sorted_here_is_refused_by_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "LARGEST_SCAN", 100)
    of = Reader(lambda: cut(everybody(4), 20), PEOPLE)
    with pytest.raises(Refused, match="more than 100 cells"):
        list(of.scan())
    assert list(Reader(lambda: cut(taken(everybody(4), slice(0, 20)), 20), PEOPLE).scan())


@pytest.mark.parametrize("null", [0, 0.0, False])
def test_columns_have_the_type_of_what_nobody_gets(null: Any) -> None:
    of = Reader(lambda: cut(everybody(5), 20), PEOPLE)
    found = of.each(lambda some: {"it": some.votes[:, 0] > 3}, {"it": null})
    assert found.schema.field("it").type == {int: pa.int64(), float: pa.float64(), bool: pa.bool_()}[type(null)]
