"""The audit of any mechanism finds what is broken in one place alone: a slot, a column, a full house, a device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cases import fast
from confide.audit import Verdict
from confide.audit.mechanism_audit import audit_mechanism
from confide.audit.random_pairs import random_pairs
from confide.audit.worst_case_neighbours import changes, corners, neighbours, sets_of_others
from confide.contract import Billboard, Guarantees, Mechanism, Privacy, Relation, Source
from confide.contract.guarantees import Audience
from confide.privacy import GDP, PureDP, RenyiDP
from confide.privacy.events import PureEvent
from confide.privacy.primitives import add_discrete_laplace
from confide.tables import Category, Measured, Numeric

PEOPLE = 60
ROLES = tuple(Category(column=name, levels=("no", "yes")) for name in "abcde")
SOURCE = Source(document="a", statement="b")
RECORD = Relation.REPLACE


@dataclass(frozen=True, kw_only=True, eq=False)
class Board(Billboard):
    """Noisy counts of yes, and what a broken mechanism shows besides."""

    yes: np.ndarray
    shown: float


FAULTS: dict[str, Callable[[np.ndarray], Any]] = {
    "none": lambda cells: 0,
    "the first slot": lambda cells: cells[0, 0] == 1,
    "a slot between": lambda cells: cells[PEOPLE // 2, 0] == 1,
    "the last slot": lambda cells: cells[-1, 0] == 1,
    "the third column": lambda cells: cells[-1, 2] == 1,
    "whether there is a record": lambda cells: np.isnan(cells[-1, 0]),
    "a full house": lambda cells: np.isfinite(cells[:, 0]).all() and cells[-1, 4] == 1,
    "nobody else": lambda cells: np.isfinite(cells[:-1, 0]).sum() == 0 and cells[-1, 1] == 1,
    "all others alike": lambda cells: np.nanmax(cells[:-1], initial=0) == 0 and cells[-1, 3] == 1,
}
"""What is shown past the noise, of everybody's cells: NaN of who has no record."""


@dataclass(frozen=True, kw_only=True)
class Counts(Mechanism):
    """How many said yes to each of five questions; a record moves each count by one, so five in all.

    Args:
        fault: one of `FAULTS`.
    """

    epsilon: float = 1.0
    charged: float = 1.0
    promise: Privacy | None = None
    fault: str = "none"
    altered: bool = False

    def guarantees(self) -> Guarantees:
        own = Privacy(loss=PureDP(self.epsilon), neighbours=RECORD, audience=Audience.PUBLIC, source=SOURCE)
        return Guarantees((own,) if self.promise is None else (own, self.promise))

    def events(self) -> tuple[PureEvent, ...]:
        return (PureEvent(epsilon=self.charged, neighbours=RECORD),)

    def run(self, data: Any, noise: Any) -> Any:
        cells = np.full((PEOPLE, len(ROLES)), np.nan)
        for batch in data:
            cells[batch.index] = batch.cells
        counts = np.nansum(cells, axis=0).astype(np.int64)
        yes = noise.discrete_laplace(len(ROLES) / self.epsilon, len(ROLES), stream="yes", center=counts)
        board = Board(yes=yes, shown=float(FAULTS[self.fault](cells)))
        shares = [self.decode(None if np.isnan(row[0]) else row, i, board) for i, row in enumerate(cells)]
        if self.altered:
            shares[7] = {"like": -1}
        return self._outcome(noise, billboard=board, shares=pa.Table.from_pylist(shares))

    def decode(self, record: Any, index: int, billboard: Any) -> dict[str, int]:
        return {"like": 0 if record is None else int(billboard.yes[int(np.sum(record)) % len(ROLES)])}


def report(**how: Any) -> Any:
    """With few random pairs: nearly all of what is looked for here is gone through."""
    return audit_mechanism(Counts(**how), ROLES, PEOPLE, seed=5, tries=2)


def test_a_sound_mechanism_passes() -> None:
    found = report()
    assert found.passed, found.problems
    assert [row.measured for row in found.rows if row.holds] == [pytest.approx(1.0)]
    assert all(control.flagged for control in found.controls)
    assert {control.mutant for control in found.controls} == {
        "half the noise", "no noise", "one share altered after the run", "everything released twice",
        "half of the promised loss is charged", "a millionth of the promised loss is charged"}


@pytest.mark.parametrize("fault", [name for name in FAULTS if name != "none"])
def test_what_leaks_in_one_place_alone_is_found(fault: str) -> None:
    found = report(fault=fault)
    assert not found.passed
    assert found.problems[0].endswith("measured inf")


@pytest.mark.slow
def test_a_charge_beside_the_promise_is_found() -> None:
    for charged in (1e-9, 0.99):
        together, refused, beside = [row for row in report(charged=charged).rows if row.flagged]
        assert (together.promised, together.measured) == (charged, pytest.approx(1.0))
        assert (refused.measured, beside.measured) == (1.0, pytest.approx(charged))
        assert "must be charged for at least the promised loss" in refused.evidence  # as settlement says
        assert beside.note == "the ledger is charged less than the promised loss"
    (more,) = (row for row in report(charged=1.01).rows if row.flagged)
    assert more.measured == pytest.approx(1.01)


@pytest.mark.slow
def test_a_promise_to_the_collector_is_held_against_the_device() -> None:
    """`submit` hands the record over as it is: local privacy is promised and not there, whatever the run does."""
    local = Privacy(loss=PureDP(1.0), neighbours=RECORD, audience=Audience.COLLECTOR, source=SOURCE)
    found = report(promise=local)
    (row,) = (row for row in found.rows if row.flagged)
    assert (row.holds, row.measured) == ((local.sentence(),), float("inf"))


@pytest.mark.slow
@pytest.mark.parametrize(("promise", "why"), fast(1, [
    (Privacy(loss=PureDP(1.0), neighbours=RECORD, audience=Audience.FELLOWS, source=SOURCE), "fellow participants"),
    (Privacy(loss=PureDP(1.0), neighbours=Relation.BIT, audience=Audience.PUBLIC, source=SOURCE),
     "the promise is about one bit"),
]))
def test_what_cannot_be_measured_says_so(promise: Privacy, why: str) -> None:
    row, around = report(promise=promise).unmeasured  # by concern
    assert "the meter does not see" in around.note
    assert row.holds == (promise.sentence(),)
    assert why in row.note


@pytest.mark.slow
def test_a_share_that_is_no_decode_is_found() -> None:
    found = report(altered=True)
    (row,) = (row for row in found.rows if row.flagged)
    assert row.measured == 1.0


@pytest.mark.parametrize("promise", fast(0, [
    Privacy(loss=GDP(9.0), neighbours=RECORD, audience=Audience.PUBLIC, source=SOURCE),
    Privacy(loss=RenyiDP(2.0, 9.0), neighbours=RECORD, audience=Audience.PUBLIC, source=SOURCE),
    Privacy(loss=PureDP(9.0), neighbours=RECORD, audience=Audience.PUBLIC, source=SOURCE, part="the counts"),
    Privacy(loss=PureDP(1.0), neighbours=Relation.BIT, audience=Audience.PUBLIC, source=SOURCE),
]), ids=["GDP", "Renyi", "a part", "another neighbour"])
def test_every_promise_is_held_against_the_charge(promise: Privacy) -> None:
    """In whatever notion, of whatever part, for whatever neighbours: as settlement does before it charges."""
    (row,) = (row for row in report(promise=promise).rows if row.concern == "budget" and row.flagged)
    assert row.promise.startswith("the charge to the ledger covers every promise")


def test_every_column_reaches_its_ends() -> None:
    roles = (*ROLES, Numeric(column="age", lower=20, upper=60), Measured(column="worth", lower=0.0, upper=9.0),
             Category(column="place", levels=tuple(map(str, range(50)))))
    rows = np.array(corners(roles))
    assert [(column.min(), column.max()) for column in rows.T] == [(0, 1)] * 5 + [(-1, 1), (0, 9), (0, 49)]
    assert len(rows) == len({tuple(row) for row in rows.tolist()}) == 2 + 2 * 7 + 2 * 7
    kinds = {None if move.second is None else tuple(np.flatnonzero(move.first != move.second))
             for move in changes(roles, RECORD)}
    assert {None, *((place,) for place in range(len(roles)))} <= kinds
    assert all(move.second is None for move in changes(roles, Relation.ADD_OR_REMOVE))


def as_records(data: Any) -> dict[int, tuple[float, ...]]:
    """Slot -> record; a slot that comes twice fails."""
    found = [(int(slot), tuple(cells)) for batch in data for slot, cells in
             zip(batch.index, batch.cells.tolist(), strict=True)]
    assert len(dict(found)) == len(found)
    return dict(found)


@pytest.mark.parametrize("people", [1, 2, 30, 500])
def test_numbers_of_people_and_slots(people: int) -> None:
    sizes = [len(others) for others in sets_of_others(ROLES, people)]
    assert sizes[0] == 0
    assert max(sizes) == people - 1
    slots = set()
    for pair in (*neighbours(ROLES, people, RECORD), *random_pairs(ROLES, people, RECORD, 20, 3)):
        there = [as_records(data) for data in (pair.first, pair.second)]
        changed = [slot for slot in there[0] if there[0][slot] != there[1].get(slot)]
        assert set(there[1]) <= set(there[0]) <= set(range(people))
        assert len(changed) <= 1  # two random records may be alike
        slots |= set(changed)
    assert {0, people // 2, people - 1} <= slots
    assert people > 100 or slots == set(range(people))


def test_everybody_is_left_out_where_that_is_too_many() -> None:
    assert max(len(others) for others in sets_of_others(ROLES, 10_000_000)) == 40


# ---- what is paid for


@dataclass(frozen=True, kw_only=True)
class Paying(Counts):
    """The same by a primitive, which pays on the line of the one event."""

    moved: int = len(ROLES)

    def run(self, data: Any, noise: Any) -> Any:
        cells = np.full((PEOPLE, len(ROLES)), np.nan)
        for batch in data:
            cells[batch.index] = batch.cells
        yes = add_discrete_laplace(noise, np.nansum(cells, axis=0).astype(np.int64), stream="yes",
                                   noise_scale=len(ROLES) / self.epsilon, l1_sensitivity=self.moved)
        board = Board(yes=yes, shown=0.0)
        shares = [self.decode(None if np.isnan(row[0]) else row, i, board) for i, row in enumerate(cells)]
        return self._outcome(noise, billboard=board, shares=pa.Table.from_pylist(shares))


def paid(mechanism: Any) -> Any:
    found = audit_mechanism(mechanism, ROLES, PEOPLE, seed=5, tries=0)
    return next(row for row in found.rows if row.promise.startswith("draws without a line"))


@pytest.mark.slow
def test_an_audit_says_whether_all_draws_are_paid_for() -> None:
    row = paid(Paying())
    assert (row.verdict, row.measured) == (Verdict.KEPT, 0.0)
    around = paid(Counts())
    assert around.verdict is Verdict.NOT_MEASURED
    assert "the meter does not see 1 of 1 draws, such as 'yes'" in around.note
    beyond = paid(Paying(moved=2 * len(ROLES)))
    assert beyond.flagged
    assert "would spend epsilon 2; epsilon 1 was charged" in beyond.evidence
