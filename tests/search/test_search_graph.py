"""Graphs as arrays: what is built, what is dropped, what is refused, what is told, and what is on disk."""

from __future__ import annotations

import json
import stat
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.contract.errors import InvalidInput
from confide.privacy.noise.simulated import study_generator
from confide.search import DegreeBoundViolated, Dropped, Graph
from confide.search.adjacency import adjacency, is_sound

PAIRS = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=60)


def sets_of(pairs: list[tuple[int, int]], people: int) -> list[list[int]]:
    """Everybody's neighbours, the slow way."""
    found: list[set[int]] = [set() for _ in range(people)]
    for one, other in pairs:
        if one != other:
            found[one].add(other)
            found[other].add(one)
    return [sorted(each) for each in found]


def lists_of(graph: Graph) -> list[list[int]]:
    return [graph.neighbours(v).tolist() for v in range(graph.people)]


# ---- what is built


@given(PAIRS)
@settings(max_examples=40, deadline=None)
def test_lists_are_the_sets_of_neighbours(pairs: list[tuple[int, int]]) -> None:
    graph = Graph.from_edges([one for one, _ in pairs], [other for _, other in pairs], people=12)
    assert lists_of(graph) == sets_of(pairs, 12)
    assert graph.dropped.self_loops == sum(one == other for one, other in pairs)
    assert graph.dropped.parallel == len(pairs) - graph.dropped.self_loops - graph.edges
    assert is_sound(graph.indptr, graph.indices)


def test_many_blocks_give_what_one_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    """30,000 pairs among 3,000 are dealt out to more than a hundred blocks; one person knows a thousand others."""
    monkeypatch.setattr("confide.search.adjacency._BLOCK", 256)
    draw = study_generator(1, "blocks")
    people, size = 3000, 30_000
    first = draw.integers(0, people, size, dtype=np.int32)
    second = np.where(draw.random(size) < 0.05, 7, draw.integers(0, people, size, dtype=np.int32)).astype(np.int32)
    lists = adjacency(first, second, people)
    one, other = first.astype(np.int64), second.astype(np.int64)
    keys = np.unique(np.concatenate([one * people + other, other * people + one]))
    keys = keys[keys // people != keys % people]
    assert lists.indices.tolist() == (keys % people).tolist()
    assert np.diff(lists.indptr).tolist() == np.bincount(keys // people, minlength=people).tolist()
    assert lists.self_loops == int((first == second).sum())
    assert lists.parallel == size - lists.self_loops - len(keys) // 2 > 0
    assert is_sound(lists.indptr, lists.indices)


def test_the_order_of_lines_changes_nothing() -> None:
    draw = study_generator(2, "order")
    first, second = draw.integers(0, 500, 4000), draw.integers(0, 500, 4000)
    turn = draw.permutation(4000)
    one, other = Graph.from_edges(first, second), Graph.from_edges(second[turn], first[turn])
    assert np.array_equal(one.indptr, other.indptr)
    assert np.array_equal(one.indices, other.indices)


@pytest.mark.parametrize("people", [0, 1, 5])
def test_graphs_without_edges(people: int) -> None:
    graph = Graph.from_edges([], [], people=people)
    assert (graph.people, graph.edges, graph.largest_degree) == (people, 0, 0)
    assert graph.degrees.tolist() == [0] * people


def test_types_and_sizes() -> None:
    graph = Graph.from_edges(np.array([0, 1], np.uint8), np.array([1, 2], np.uint8))
    assert (graph.indptr.dtype, graph.indices.dtype) == (np.int64, np.int32)
    assert (graph.people, graph.edges, graph.largest_degree, graph.ids) == (3, 2, 2, None)


# ---- ids: the lowest public id is the lowest rank


def test_integers_ascend_as_numbers_and_texts_by_code_points() -> None:
    assert Graph.from_edges([10, 9], [9, -3]).ids.tolist() == [-3, 9, 10]
    assert Graph.from_edges(["10", "9"], ["9", "é"]).ids.to_pylist() == ["10", "9", "é"]
    letters = ["\U0001f600", "￿", "z", "Z", "ä"]  # beyond the basic plane: code points, not UTF-16
    assert Graph.from_edges(letters, letters[::-1]).ids.to_pylist() == sorted(letters)


def test_wide_integers_are_ranked_like_near_ones() -> None:
    draw = study_generator(3, "wide")
    first, second = draw.integers(0, 50, 300), draw.integers(0, 50, 300)
    near, wide = Graph.from_edges(first, second), Graph.from_edges(first * 10**15 - 7, second * 10**15 - 7)
    assert lists_of(near) == lists_of(wide)
    assert wide.ids.tolist() == [each * 10**15 - 7 for each in np.unique([first, second]).tolist()]
    given_ids = Graph.from_edges(first * 10**15 - 7, second * 10**15 - 7, vertices=wide.ids[::-1])
    assert np.array_equal(given_ids.indices, wide.indices)


NAMES = (["b", "a", "c"], ["a", "c", "b"])
NUMBERS = ([5, 2, 9], [2, 9, 5])


@pytest.mark.parametrize(("kind", "ends"), [
    ("numpy", NAMES), ("object", NAMES), ("arrow", NAMES), ("dictionary", NAMES), ("pandas", NAMES), ("polars", NAMES),
    ("floats", NUMBERS), ("uint64", NUMBERS), ("arrow", NUMBERS), ("pandas", NUMBERS), ("decimal", NUMBERS)])
def test_columns_of_every_kind(kind: str, ends: tuple[list[Any], list[Any]]) -> None:
    import pandas as pd
    import polars as pl

    make = {"numpy": np.array, "arrow": pa.array, "pandas": pd.Series, "polars": pl.Series,
            "dictionary": lambda values: pa.array(values).dictionary_encode(),
            "object": lambda values: np.array(values, object), "floats": lambda values: np.array(values, float),
            "uint64": lambda values: np.array(values, np.uint64),
            "decimal": lambda values: pa.array(map(Decimal, values), pa.decimal128(5, 2))}[kind]
    graph = Graph.from_edges(make(ends[0]), make(ends[1]))
    assert graph.edges == 3
    assert graph.ids_of([0, 1, 2]) == sorted(ends[0])


def test_integers_of_numpy_in_a_list_are_integers() -> None:
    assert Graph.from_edges([np.int64(4), 12], [np.int32(9), np.uint8(4)]).ids.tolist() == [4, 9, 12]


def test_an_id_and_its_rank() -> None:
    for graph, ids in ((Graph.from_edges([4, 8], [8, 6]), [4, 6, 8]), (Graph.from_edges([0, 1], [1, 2]), [0, 1, 2]),
                       (Graph.from_edges(["x", "y"], ["y", "a"]), ["a", "x", "y"])):
        assert [graph.id_of(k) for k in range(3)] == ids == graph.ids_of(np.arange(3))
        assert [graph.index_of(each) for each in ids] == [0, 1, 2]
        assert graph.indices_of(ids[::-1]).tolist() == [2, 1, 0]
        for strange in (77, -1, "nobody", True, None, 1.5):
            with pytest.raises(InvalidInput, match="nobody"):
                graph.index_of(strange)  # type: ignore[arg-type]
        assert sorted(graph.indices_of(set(ids)).tolist()) == [0, 1, 2]
        assert graph.indices_of([]).tolist() == []
        with pytest.raises(InvalidInput, match="row 1"):
            graph.indices_of([ids[0], "nobody" if isinstance(ids[0], str) else 77])
        with pytest.raises(InvalidInput, match="differ in kind"):
            graph.indices_of([0] if isinstance(ids[0], str) else ["0"])
        with pytest.raises(InvalidInput, match="no id"):
            graph.indices_of([ids[0], None])
        for call, beyond in ((graph.id_of, 3), (graph.id_of, -1), (graph.ids_of, [0, 3]), (graph.ids_of, [-1])):
            with pytest.raises(InvalidInput, match="out of range"):
                call(beyond)  # type: ignore[operator]


def test_the_public_list_decides_who_is_there() -> None:
    for graph in (Graph.from_edges(["b"], ["a"], vertices=["c", "a", "b"]),
                  Graph.from_edges([2], [1], vertices=[3, 1, 2])):
        assert (graph.people, graph.degrees.tolist()) == (3, [1, 1, 0])
    assert Graph.from_edges([2], [1], vertices=range(3)).ids is None
    assert Graph.from_edges([2], [1], vertices=3).degrees.tolist() == [0, 1, 1]


# ---- what is refused


@pytest.mark.parametrize(("first", "second", "more", "match"), [
    ([1, None], [2, 3], {}, "row 1 .*no id"),
    (["a", "b"], ["b", None], {}, "second: row 1 .*no id"),
    (np.array([1.0, np.nan]), np.array([2.0, 3.0]), {}, "row 1 .*no id"),
    ([0.5, 1.5], [1.0, 2.0], {}, "neither"),
    (np.array([0.5, 1.0]), np.array([1.0, 2.0]), {}, "not a whole number"),
    ([True, False], [False, True], {}, "neither"),
    (np.array([True]), np.array([False]), {}, "true and false"),
    (["a"], [1], {}, "text and the other numbers"),
    (["a", 1], ["b", 2], {}, "some are text"),
    ([1, 2], [2], {}, "different lengths"),
    ([[1, 2]], [[2, 3]], {}, "neither"),
    (np.ones((2, 2), int), np.ones((2, 2), int), {}, "dimensions"),
    (3, 4, {}, "is not a column of ids"),
    ("abc", "bcd", {}, "is not a column of ids"),
    ([2**70], [1], {}, "64 bits"),
    (np.array([2**63], np.uint64), np.array([1], np.uint64), {}, "2\\^63"),
    ([0, 3], [1, 1], {"people": 3}, "row 1 .*not on the list"),
    ([0, -1], [1, 1], {"people": 3}, "row 1 .*not on the list"),
    ([5, 7], [7, 9], {"vertices": [5, 7]}, "row 1 .*not on the list"),
    (["a", "q"], ["b", "a"], {"vertices": ["a", "b"]}, "row 1 .*not on the list"),
    ([5], [7], {"vertices": [5, 7, 5]}, "an id occurs twice"),
    (["a"], ["b"], {"vertices": ["a", "b", "a"]}, "an id occurs twice"),
    ([5], [7], {"vertices": ["5", "7"]}, "are text"),
    ([5], [7], {"vertices": [5, None]}, "no id"),
    ([0], [1], {"people": 2, "vertices": [0, 1]}, "together with people"),
    ([0], [1], {"people": -1}, "too small"),
    ([0], [1], {"people": 2**31}, "too many"),
])
def test_pairs_that_are_no_graph(first: object, second: object, more: dict[str, object], match: str) -> None:
    with pytest.raises(InvalidInput, match=match):
        Graph.from_edges(first, second, **more)  # type: ignore[arg-type]


def test_a_stranger_is_not_named() -> None:
    for first, second, vertices in ((["secret"], ["a"], ["a", "b"]), ([987654], [1], [1, 2])):
        with pytest.raises(InvalidInput) as caught:
            Graph.from_edges(first, second, vertices=vertices)
        assert "secret" not in str(caught.value)
        assert "987654" not in str(caught.value)


@pytest.mark.parametrize(("indptr", "indices"), [
    ([0, 1, 1], [1]),  # one direction
    ([0, 2, 4], [1, 1, 0, 0]),  # twice
    ([0, 1], [0]),  # with herself
    ([0, 1, 2], [1, 5]),  # nobody
    ([0, 1, 2], [1, -1]),
    ([0, 2, 3, 4], [2, 1, 0, 0]),  # not in order
    ([1, 1, 2], [1, 0]),  # beginning late
    ([0, 1, 3], [1, 0]),  # ending late
    ([0, 2, 1, 2], [1, 0]),  # going back
    ([0, 1, 2, 3, 4], [1, 2, 3, 2]),  # wrong partners
    ([], []),
])
def test_arrays_that_are_no_graph(indptr: list[int], indices: list[int]) -> None:
    with pytest.raises(InvalidInput):
        Graph(indptr=np.array(indptr, np.int64), indices=np.array(indices, np.int32))


def test_arrays_that_are_one() -> None:
    starts, lists = np.array([0, 1, 2]), np.array([1, 0], np.int32)
    lists.flags.writeable = False
    graph = Graph(indptr=starts, indices=lists, ids=pa.array(["a", "b"], pa.large_string()))
    assert graph.index_of("b") == 1
    for wrong in (pa.array(["b", "a"], pa.large_string()), pa.array(["a", "a"], pa.large_string()),
                  pa.array(["a"], pa.large_string()), np.array([2, 1]), np.array([1.0, 2.0]), [1, 2]):
        with pytest.raises(InvalidInput, match="ids"):
            Graph(indptr=starts, indices=lists, ids=wrong)
    with pytest.raises(InvalidInput, match="indices"):
        Graph(indptr=starts, indices=lists.astype(np.int64))  # type: ignore[arg-type]


def test_the_degree_bound_is_checked_and_the_degree_not_reported() -> None:
    star = Graph.from_edges([0] * 37, np.arange(1, 38))
    star.check_degree(37)
    with pytest.raises(DegreeBoundViolated) as caught:
        star.check_degree(36)
    assert (caught.value.field, caught.value.bound, caught.value.exit_code) == ("degree_bound", 36, 2)
    assert "37" not in str(caught.value)
    with pytest.raises(InvalidInput, match="degree_bound"):
        star.check_degree(-1)


def test_what_a_graph_says_of_itself_is_public() -> None:
    """Two graphs of the same people look alike."""
    one, other = (Graph.from_edges(pairs[0], pairs[1], people=9) for pairs in
                  (([1], [2]), ([1, 1, 1, 4], [1, 3, 3, 5])))
    assert repr(one) == repr(other) == str(one) == "Graph(people=9)"
    assert (other.dropped.parallel, repr(other.dropped)) == (1, repr(one.dropped))
    assert one != other


# ---- on disk


@pytest.mark.parametrize("graph", [
    Graph.from_edges([0, 1, 1], [1, 2, 1]), Graph.from_edges([30, 10], [10, 20]), Graph.from_edges(["b"], ["a"]),
    Graph.from_edges([], [], people=4), Graph.from_edges([], [], people=0)], ids=["rank", "integer", "text", "no", "0"])
def test_a_saved_graph_is_the_same(graph: Graph, tmp_path: Path) -> None:
    graph.save(tmp_path / "g")
    back = Graph.open(tmp_path / "g")
    assert (back.indptr.tolist(), back.indices.tolist()) == (graph.indptr.tolist(), graph.indices.tolist())
    assert back.ids_of(range(back.people)) == graph.ids_of(range(graph.people))
    assert back.dropped == graph.dropped
    assert type(back.indices) is np.ndarray
    assert stat.S_IMODE((tmp_path / "g").stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "g").iterdir()} == {0o600}


def test_an_opened_graph_is_mapped_and_never_written(tmp_path: Path) -> None:
    graph = Graph.from_edges([0, 1], [1, 2])
    graph.save(tmp_path)
    before = (tmp_path / "indices.npy").read_bytes()
    back = Graph.open(tmp_path, check=False)
    base = back.indices
    while base is not None and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)
    back.indices[0] = 2  # of this process alone
    assert (tmp_path / "indices.npy").read_bytes() == before


def test_a_folder_is_not_overwritten(tmp_path: Path) -> None:
    Graph.from_edges([0], [1]).save(tmp_path)
    with pytest.raises(InvalidInput, match="another folder"):
        Graph.from_edges([0], [1]).save(tmp_path)
    (tmp_path / "graph.json").unlink()  # a save that was cut short
    Graph.from_edges([0, 1], [1, 2]).save(tmp_path)
    assert Graph.open(tmp_path).edges == 2
    (tmp_path / "file").write_text("x")
    with pytest.raises(InvalidInput, match="cannot be written"):
        Graph.from_edges([0], [1]).save(tmp_path / "file")


@pytest.mark.parametrize("damage", ["no note", "note", "json", "count", "kind", "short", "type", "entries", "words"])
def test_a_damaged_folder(damage: str, tmp_path: Path) -> None:
    Graph.from_edges(["a", "b"], ["b", "c"]).save(tmp_path)
    note = json.loads((tmp_path / "graph.json").read_text())
    change = {"count": {"people": -3}, "kind": {"ids": "other"}, "note": {"more": 1}}.get(damage, {})
    (tmp_path / "graph.json").write_text("{" if damage == "json" else json.dumps({**note, **change}))
    if damage == "no note":
        (tmp_path / "graph.json").unlink()
    if damage == "short":
        (tmp_path / "indptr.npy").write_bytes((tmp_path / "indptr.npy").read_bytes()[:-8])
    if damage == "type":
        np.save(tmp_path / "indices.npy", np.zeros(4))
    if damage == "entries":
        np.save(tmp_path / "indices.npy", np.array([1, 0, 2, 7], np.int32))
    if damage == "words":
        (tmp_path / "ids.arrow").write_bytes(b"nothing")
    with pytest.raises(InvalidInput, match="has no readable graph"):
        Graph.open(tmp_path)


def test_dropped_lines_are_counted() -> None:
    assert Graph.from_edges([0, 0, 1, 2, 2], [1, 1, 0, 2, 2]).dropped == Dropped(self_loops=2, parallel=2)


@pytest.mark.slow
def test_memory_grows_with_the_lines() -> None:
    """Twice the lines at the same mean degree take 1.7 to 2.5 times the memory; time is for benchmarks."""
    import tracemalloc

    def peak(people: int) -> int:
        draw = study_generator(4, "growth", people)
        first, second = (draw.integers(0, people, 10 * people, dtype=np.int32) for _ in range(2))
        tracemalloc.start()
        adjacency(first, second, people)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(1000)
    assert 1.7 < peak(200_000) / peak(100_000) < 2.5


def test_ids_with_nul_are_refused_wherever_they_enter(tmp_path: Path) -> None:
    """numpy drops a NUL at the end of a text: the list would name somebody else."""
    names, says = ["a", "s", "a\0"], r"row 2 \(from 0\) has an id with a NUL character"
    assert np.array(names)[2] == "a"
    ids = pa.array(sorted(names), pa.large_string())
    graph = Graph.from_edges(["a", "b"], ["s", "s"], vertices=["a", "b", "s"])
    for attempt in (
        lambda: Graph.from_edges(["s"], ["a"], vertices=names),
        lambda: Graph.from_edges(["s", "s", "a\0"], ["a", "b", "s"]),
        lambda: Graph.from_edges(["s", "s", "a"], ["a", "b", "s\0"]),
        lambda: Graph.from_table({"source": names, "target": ["s", "a", "s"]}),
        lambda: Graph.from_groups(["g", "g", "g"], names),
        lambda: graph.indices_of(names),
    ):
        with pytest.raises(InvalidInput, match=says) as caught:
            attempt()
        assert "\0" not in str(caught.value)
    with pytest.raises(InvalidInput, match=r"^ids: row 1 "):
        Graph(indptr=np.zeros(4, np.int64), indices=np.zeros(0, np.int32), ids=ids)
    bad = Graph._held(np.zeros(4, np.int64), np.zeros(0, np.int32), ids, graph.dropped)
    bad.save(tmp_path / "graph")
    with pytest.raises(InvalidInput, match=r"^folder: row 1 "):
        Graph.open(tmp_path / "graph")
