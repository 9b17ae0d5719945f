"""A campaign of very many people is walked at its own size, and its row says where it was not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from audit.test_audit_of_unpublished_answers import Board, Sound, privacy_row
from confide.audit import AuditReport, Verdict, exact_bytes, mechanism_audit
from confide.audit.full_size_pairs import LARGEST_PEOPLE, built, of_records, whole_pairs
from confide.audit.mechanism_audit import audit_mechanism
from confide.audit.pair_words import pair_words
from confide.audit.population_paths import population_paths
from confide.audit.thresholds import places, stepping
from confide.contract import Relation
from confide.privacy.noise import ForcedNoise
from confide.tables import Category

MANY = 110_000
TEN = tuple(Category(column=f"q{k}", levels=("no", "yes")) for k in range(10))


@dataclass(frozen=True, kw_only=True)
class Counts(Sound):
    """Counts of yes in ten columns; exact ones from `many` people on. Its outcome has no shares."""

    many: int = 1000

    def run(self, data: Any, noise: Any) -> Any:
        there, yes = 0, np.zeros(len(TEN))
        for batch in data:
            there += len(batch.index)
            yes += batch.cells.sum(axis=0)
        noisy = noise.laplace(20.0, len(TEN), stream="yes", center=yes)
        return self._outcome(noise, billboard=Board(count=yes if there > self.many else noisy),
                             shares=pa.table({}))


@pytest.mark.parametrize("unit", [Relation.REPLACE, Relation.ADD_OR_REMOVE])
def test_a_full_size_run_shows_what_is_published_of_many(unit: Relation) -> None:
    pairs = list(whole_pairs(TEN, MANY, unit))
    for pair in pairs:
        shown = [exact_bytes(Counts().run(data, ForcedNoise(())).billboard) for data in (pair.first, pair.second)]
        assert shown[0] != shown[1]
        first, second = ({int(slot): row.tobytes() for batch in data
                          for slot, row in zip(batch.index, batch.cells, strict=True)}
                         for data in (pair.first, pair.second))
        assert sorted(first) == list(range(MANY)) == [int(slot) for batch in pair.first for slot in batch.index]
        changed = [slot for slot in first if first[slot] != second.get(slot)]
        assert len(changed) == 1
        assert second.keys() >= first.keys() - set(changed)
        assert (len(second) < MANY) or unit is Relation.REPLACE
    assert {len(pair.second) for pair in pairs} == {2}
    assert len(pairs) == (3 if unit is Relation.REPLACE else 2)


def test_where_a_run_of_many_begins_to_do_another_thing_is_found() -> None:
    found = list(stepping(Counts().run, TEN, MANY, Relation.REPLACE, 1))
    assert len(found) == 3  # the other paths are of more than a thousand people from the beginning
    assert pair_words(found[0], TEN).startswith("a population of 1,001: q0=yes, q1=yes")
    ran: list[int] = []

    def run(data: Any, noise: Any) -> Any:
        ran.append(sum(len(batch.index) for batch in data))
        return Counts(many=MANY).run(data, noise)

    assert list(stepping(run, TEN, MANY, Relation.REPLACE, 1)) == []
    assert len(ran) == sum(len(places(path)) for path in population_paths(TEN, MANY, Relation.REPLACE)) == 21
    assert max(ran) == MANY


def test_a_pair_of_many_is_reported_in_words() -> None:
    pair = next(whole_pairs(TEN[:1], 1_500_000, Relation.REPLACE))
    assert pair_words(pair, TEN[:1]) == ("a population of 1,500,000: q0=yes against no record in slot 1499999, beside "
                                         "750,000 with q0=no and 749,999 with q0=yes")


def test_few_are_gone_through_elsewhere_and_too_many_nowhere() -> None:
    assert list(whole_pairs(TEN, 100_000, Relation.REPLACE)) == []
    assert list(whole_pairs(TEN[:1], LARGEST_PEOPLE + 1, Relation.REPLACE)) == []
    assert list(stepping(Counts().run, TEN[:1], LARGEST_PEOPLE + 1, Relation.REPLACE, 1)) == []
    assert built(100_000, 10)
    assert not built(LARGEST_PEOPLE, 100)


def test_records_one_after_the_other_are_cut_into_batches_of_a_store() -> None:
    one, other = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    batches = of_records(7, [(one, 65_540), (other, 5)])
    assert [len(batch.index) for batch in batches] == [65_536, 9]
    assert np.array_equal(np.concatenate([batch.index for batch in batches]), np.arange(7, 7 + 65_545))
    assert batches[1].cells.tolist() == [[1.0, 2.0]] * 4 + [[3.0, 4.0]] * 5
    assert of_records(0, [(one, 0)]) == []


def report(it: Counts, monkeypatch: pytest.MonkeyPatch, *, cells: int) -> AuditReport:
    """As if no crowd of more cells could be made up."""
    monkeypatch.setattr(mechanism_audit, "built", lambda people, columns: people * columns <= cells)
    return audit_mechanism(it, TEN[:1], 60, seed=5, tries=0)


@dataclass(frozen=True, kw_only=True)
class Few(Sound):
    """As `Sound`, among sixty; raw where `raw`."""

    raw: bool = False

    def run(self, data: Any, noise: Any) -> Any:
        yes = float(sum(batch.cells.sum() for batch in data))
        noisy = noise.laplace(1.0, 1, stream="yes", center=[yes])
        return self._outcome(noise, billboard=Board(count=np.array([yes]) if self.raw else noisy),
                             shares=pa.table({"it": np.zeros(60)}))


@pytest.mark.slow
def test_what_is_measured_among_fewer_holds_no_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    found = report(Few(), monkeypatch, cells=59)
    (row,) = (row for row in found.rows if row.among)
    assert (row.verdict, row.holds) == (Verdict.KEPT, ())
    assert "among at most 201 synthetic people, which is smaller than the campaign" in row.reading
    assert found.counts["smaller"] == 1
    fewer, around = (each.note for each in found.unmeasured)  # by concern
    assert "the meter does not see 1 of 1 draws" in around
    assert fewer == "an audit does not simulate so many people, so it compared fewer"
    assert found.problems == ("promises of privacy that were measured: promised 1.0, measured 0.0",)


def test_what_breaks_among_fewer_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    found = report(Few(raw=True), monkeypatch, cells=59)
    assert privacy_row(found).verdict is Verdict.BROKEN
    assert not any(row.holds for row in found.unmeasured)


@pytest.mark.slow
def test_where_all_are_made_up_nothing_is_said_of_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    found = report(Few(), monkeypatch, cells=60)
    assert found.passed, found.problems
    assert not any(row.among for row in found.rows)


@pytest.mark.slow
def test_the_audit_of_many_tells_exact_counts_of_many() -> None:
    row = privacy_row(audit_mechanism(Counts(), TEN, MANY, seed=5, tries=0))
    assert (row.verdict, row.measured) == (Verdict.BROKEN, np.inf)
    sound = audit_mechanism(Counts(many=MANY), TEN, MANY, seed=5, tries=0)
    assert privacy_row(sound).verdict is Verdict.KEPT
    assert "only some of these people are compared" in privacy_row(sound).note
