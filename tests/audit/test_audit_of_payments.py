"""The audit says which draws cost more than a run paid for them, and of which its meter never heard."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cases import fast
from confide.allocation import PAlloc, PMatch, SinkhornMatch, instance_a
from confide.allocation.bundles import CappedAdditiveValuation
from confide.audit import AuditReport, AuditRow, Verdict
from confide.audit.mechanism_audit import audit_mechanism
from confide.audit.paid_for import underpaid
from confide.contract import Billboard, Guarantees, Mechanism, Privacy, Relation, Source
from confide.contract.guarantees import Audience
from confide.privacy import SparseVector, TreeCounter, report_noisy_max
from confide.privacy.charge import PUBLIC, Allowance, DrawCost, FixedList, Line, Parallel, Session, lines_of
from confide.privacy.events import Event, PureEvent, Repeated, ZCDPEvent
from confide.privacy.noise import ForcedNoise, Noise, RecordingNoise
from confide.privacy.primitives import (
    add_discrete_gaussian,
    add_discrete_laplace,
    add_gaussian,
    draw_by_logits,
    draw_through,
    open_session,
    pay,
)
from confide.privacy.primitives.sessions import Part
from confide.privacy.public_randomness import public_split
from confide.privacy.required_charge import composed
from confide.programs import PrivDude, RoundDude, TrueDude, UnitDemand
from confide.programs.instances import popular
from confide.release.audited_tables import neighbours, twins
from confide.tables import Category
from people.asked_on_devices import OnDevices

PEOPLE = 24
ROLES = tuple(Category(column=name, levels=("no", "yes")) for name in "ab")
RECORD = Relation.REPLACE

Rule = Callable[[np.ndarray, np.ndarray, Any], Any]
"""(n,) slots of those who are there, (n, 2) their cells, noise -> what is published."""


def pure(epsilon: float = 1.0, label: str = "it") -> PureEvent:
    return PureEvent(epsilon=epsilon, neighbours=RECORD, label=label)


def rho(amount: float) -> ZCDPEvent:
    return ZCDPEvent(rho=amount, neighbours=RECORD, label="it")


@dataclass(frozen=True, kw_only=True, eq=False)
class Board(Billboard):
    """What a rule publishes."""

    values: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Paying(Mechanism):
    """A rule of `MISTAKES`, `PAST` or `SOUND`, which promises as much as it is charged."""

    name: str
    people: int = PEOPLE

    def guarantees(self) -> Guarantees:
        return Guarantees((Privacy(source=Source(document="a", statement="b"), neighbours=RECORD,
                                   loss=composed(self.events()), audience=Audience.PUBLIC),))

    def events(self) -> tuple[Event, ...]:
        return tuple(event for line in self.lines() for event in line.events)

    def lines(self) -> tuple[Line, ...]:
        return ALL[self.name][0]

    def unreleased_streams(self) -> dict[str, Any]:
        return UNRELEASED.get(self.name, {})

    def run(self, data: Any, noise: Any) -> Any:
        slots = np.concatenate([np.zeros(0, np.int64), *(batch.index for batch in data)])
        cells = np.vstack([np.zeros((0, 2)), *(batch.cells for batch in data)]).astype(np.int64)
        values = ALL[self.name][1](slots, cells, noise)
        return self._outcome(noise, billboard=Board(values=np.asarray(values, np.float64).reshape(-1)),
                             shares=pa.table({"it": np.zeros(self.people)}))

    def decode(self, record: Any, index: int, billboard: Any) -> dict[str, Any]:
        return {"it": 0.0}


ONE = lines_of((pure(),))


def count(cells: np.ndarray, column: int = 0) -> list[int]:
    return [int(cells[:, column].sum())]


def laplace(noise: Any, center: Any, sensitivity: Any = 1, scale: float = 1.0, **how: Any) -> Any:
    """Discrete Laplace noise, on the line "it" and in the stream "count" unless others are named."""
    return add_discrete_laplace(noise, center, noise_scale=scale, l1_sensitivity=sensitivity,
                                **({"stream": "count", "line": "it"} | how))


# ---- mistakes: a stream or a line, what was paid for it, and what it costs


def as_public(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    return pay(noise, PUBLIC, stream="count").discrete_laplace(1.0, 1, stream="count", center=count(cells))


def without_sensitivity(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    return laplace(noise, count(cells), 0)


def gaussian_without_sensitivity(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    return add_discrete_gaussian(noise, count(cells), noise_std=1.0, l2_sensitivity_squared=0, stream="count",
                                 line="it")


def half_of_the_sensitivity(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    """Two counts of the same people, of which one alone was thought of."""
    return laplace(noise, [*count(cells), *count(cells, 1)], 1)


def half_of_the_gaussian(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    return add_gaussian(noise, [*count(cells), *count(cells, 1)], noise_std=1.0, l2_sensitivity_squared=1,
                        stream="count", line="it")


def second_of_a_family(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    """Two tables are released together, and the first alone is paid for."""
    first = laplace(noise, count(cells), stream=("counts", 0))
    return [*first, *noise.discrete_laplace(1.0, 1, stream=("counts", 1), center=count(cells, 1))]


def overlapping_groups(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    """Everybody is in both groups."""
    return [*laplace(noise, count(cells), stream="low", group="low"),
            *laplace(noise, count(cells, 1), stream="high", group="high")]


def session_of_one(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    """Its theorem is about one number, and two are drawn."""
    session = open_session(noise, lambda scales: DrawCost.laplace(1 / scales["part"]),
                           {"part": Part("discrete_laplace", 1, 2)}, stream="session", line="it")
    return [session.draw("part", 1, stream=("session", k), center=count(cells, k))[0] for k in range(2)]


def odds_of_nothing(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    """Her answer through a table of odds, which is said to cost nothing."""
    answers = np.zeros(PEOPLE, np.int64)
    answers[slots] = cells[:, 0]
    return draw_through(noise, [[3, 1], [1, 3]], answers, epsilon=0.0, stream="answers", line="it")


def one_answer_of_two(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    """Both answers of a person go through the table, and the ratio of one is paid."""
    answers = np.zeros((PEOPLE, 2), np.int64)
    answers[slots] = cells
    return draw_through(noise, [[2, 1], [1, 2]], answers.reshape(-1), stream="answers", line="it")


def narrow_range(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    there = count(cells)[0]
    logits = np.array([there, len(cells) - there, 0], np.float64)
    return draw_by_logits(noise, logits - logits.max(), bounded_range=Fraction(1, 2), stream="mode", line="it")


def public_mark(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    """What is said to be public tells whether many said yes, below so much noise that nothing else shows it."""
    many = int(count(cells)[0] > 137)
    mark = pay(noise, PUBLIC, stream="mark").discrete_laplace(1e9, 1, stream="mark", center=[many])
    return [*laplace(noise, count(cells)), *mark]


def few_left_out(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    there = count(cells)
    return laplace(noise, there if there[0] > 9 else [0])


def few_left_out_of_gaussian(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    there = count(cells)
    return add_discrete_gaussian(noise, there if there[0] > 9 else [0], noise_std=1.0, l2_sensitivity_squared=1,
                                 stream="count", line="it")


MISTAKES: dict[str, tuple[tuple[Line, ...], Rule, str]] = {
    "a public door": (ONE, as_public, "'count' cost epsilon 1, and these draws were declared public"),
    "sensitivity 0": (ONE, without_sensitivity, "'count' cost epsilon 1, and these draws were declared public"),
    "half of the sensitivity": (ONE, half_of_the_sensitivity, "'count' cost epsilon 2, and epsilon 1 was charged"),
    "one of a family": (ONE, second_of_a_family, "'counts/1' cost epsilon 2, and epsilon 1 is charged for these and "
                                                 "all other draws, since the meter does not see these draws"),
    "groups that overlap": ((Parallel(name="it", event=pure(), groups=("low", "high")),), overlapping_groups,
                            "'it' cost epsilon 2, and epsilon 1 is charged for each of its groups"),
    "a session of one": ((Session(name="it", event=pure()),), session_of_one,
                         "'session' cost epsilon 2, and epsilon 1 was charged"),
    "odds of nothing": (ONE, odds_of_nothing, "'answers' cost epsilon 1.09861, and these draws were declared public"),
    "one answer of two": (ONE, one_answer_of_two, "'answers' cost epsilon 1.38629, and epsilon 0.693147 was charged"),
    "Gaussian sensitivity 0": (lines_of((rho(0.5),)), gaussian_without_sensitivity,
                               "'count' cost rho 0.5, and these draws were declared public"),
    "half of a Gaussian sensitivity": (lines_of((rho(0.5),)), half_of_the_gaussian,
                                       "'count' cost rho 1, and rho 0.5 was charged"),
    "few are left out": (ONE, few_left_out, "'count' cost epsilon 10, and epsilon 1 was charged"),
    "few are left out of Gaussian counts": (lines_of((rho(0.5),)), few_left_out_of_gaussian,
                                            "'count' cost rho 50, and rho 0.5 was charged"),
    "a narrow range": (lines_of((rho(0.5),)), narrow_range, "'mode' cost rho 0.5, and rho 0.03125 was charged"),
}


# ---- what draws past its meter; `noise._from` is what no mechanism has any business with


def no_meter(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    noise._from._meter = None
    return noise.discrete_laplace(1.0, 1, stream="count", center=count(cells))


def no_meter_for_a_while(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    own, noise._from._meter = noise._from._meter, None
    values = [*noise.discrete_laplace(1.0, 1, stream="more", center=count(cells, 1))]
    noise._from._meter = own
    return [*values, *laplace(noise, count(cells))]


def a_copy(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    other = copy.copy(noise._from)
    other._meter = None
    return [*laplace(noise, count(cells)), *other.discrete_laplace(1.0, 1, stream="more", center=count(cells, 1))]


def a_meter_of_its_own(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    """Which pays for everything once more."""
    values = [*laplace(noise, count(cells))]
    noise._from._meter = noise._from._running = None
    noise.open_meter(Paying(name="a meter of its own"))
    return [*values, *laplace(noise, count(cells, 1), stream="more")]


def past_the_record(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    source = getattr(noise._from, "_source", None) or Noise.simulated(1)
    return [*laplace(noise, count(cells)), *source.discrete_laplace(1.0, 1, stream="more", center=count(cells, 1))]


def where_many_are(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    """In few of all runs."""
    first = laplace(noise, count(cells), scale=2.0)
    if first[0] > 20:
        noise._from._meter = None
    return [*first, *noise.discrete_laplace(2.0, 1, stream="more", center=count(cells, 1))]


PAST: dict[str, tuple[tuple[Line, ...], Rule, str]] = {
    "no meter": (ONE, no_meter, "'count'"), "no meter for a while": (ONE, no_meter_for_a_while, "'more'"),
    "a copy": (ONE, a_copy, "'more'"), "a meter of its own": (ONE, a_meter_of_its_own, "'more'"),
    "past the record": (ONE, past_the_record, "'more'"), "where many are": (ONE, where_many_are, "'more'"),
}


# ---- sound


def one_count(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    return laplace(noise, count(cells))


def two_counts(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    return laplace(noise, [*count(cells), *count(cells, 1)], 2, 2.0)


def adaptive(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    """How much is paid for the second count, and of which column it is, follow from the noisy first one."""
    first = laplace(noise, count(cells), scale=4.0, stream="first")
    if first[0] > 12:
        return [*first, *laplace(noise, count(cells, 1), scale=2.0)]
    return [*first, *laplace(noise, [*count(cells), *count(cells, 1)], 2, 3.0)]


def disjoint_groups(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    """By slots, which are public."""
    low = slots < PEOPLE // 2
    return [*laplace(noise, count(cells[low]), stream="low", group="low"),
            *laplace(noise, count(cells[~low]), stream="high", group="high")]


def one_draw_of_groups(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    """Each group pays for its own number of one draw."""
    low = slots < PEOPLE // 2
    for group in ("low", "high"):
        pay(noise, DrawCost.laplace(Fraction(1)), stream="both", line="it", group=group)
    return noise.discrete_laplace(1.0, 2, stream="both", center=[*count(cells[low]), *count(cells[~low])])


def seeded(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    """Half of the slots, which a public split names, are counted."""
    half = public_split(noise, PEOPLE, stream="split")
    return [*laplace(noise, count(cells[half[slots]])),
            *pay(noise, PUBLIC, stream="ties").discrete_laplace(1.0, 3, stream="ties", center=[1, 2, 3])]


def listed(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    return [laplace(noise, count(cells, k), scale=2.0, stream=("round", k))[0] for k in range(2)]


def winner(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    return report_noisy_max([*count(cells), *count(cells, 1), len(cells) // 2], 1.0, 1, noise, stream="winner",
                            line="it")


def above(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    """Which of some counts is the first above 8."""
    found = SparseVector(threshold=8, epsilon=1.0).run([count(cells, k)[0] for k in (0, 1, 0)], noise, "above",
                                                        line="it")
    return 3 if found is None else found


def counted_on(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    """Who said yes up to each of four groups of slots."""
    running = TREE.start(noise, "tree", line="it")
    return [running.feed(count(cells[slots // 6 == k]))[0] for k in range(4)]


def through_odds(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    answers = np.zeros(PEOPLE, np.int64)
    answers[slots] = cells[:, 0]
    return draw_through(noise, [[2, 1], [1, 2]], answers, stream="answers", line="it")


def gaussian_counts(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    return add_gaussian(noise, [*count(cells), *count(cells, 1)], noise_std=1.0, l2_sensitivity_squared=2,
                        stream="count", line="it")


def chosen(slots: np.ndarray, cells: np.ndarray, noise: Any) -> Any:
    there = count(cells)[0]
    logits = np.array([there, len(cells) - there, 0], np.float64) / 2
    return draw_by_logits(noise, logits - logits.max(), bounded_range=Fraction(101, 100), stream="mode", line="it",
                          count=2)


TREE = TreeCounter.for_epsilon(1.0, l1_sensitivity=1, horizon=4, arity=2)
GROUPS = (Parallel(name="it", event=pure(), groups=("low", "high")),)

SOUND: dict[str, tuple[tuple[Line, ...], Rule]] = {
    "adaptive": (ONE, adaptive), "groups": (GROUPS, disjoint_groups),
    "a fixed list": ((FixedList(name="it", listed=(Repeated(event=pure(0.5), count=2, neighbours=RECORD),)),), listed),
    "a tree": ((Session(name="it", event=pure()),), counted_on), "odds": (lines_of((pure(0.7),)), through_odds),
    "a choice": ((FixedList(name="it", listed=(Repeated(event=rho(0.13), count=2, neighbours=RECORD),)),), chosen),
    "a count": (ONE, one_count), "two counts": (ONE, two_counts),
    "one draw of groups": (GROUPS, one_draw_of_groups), "seeded": (ONE, seeded),
    "a winner": (ONE, winner), "a winner that is not named": (ONE, winner),
    "above": ((Session(name="it", event=pure()),), above),
    "Gaussian": ((Allowance(name="it", event=rho(1.0)),), gaussian_counts),
}
UNRELEASED: dict[str, dict[str, Any]] = {"a winner": {"winner": "noisy max"}, "above": {"above": "sparse vector"}}
ALL: dict[str, Any] = MISTAKES | PAST | SOUND | {"a public mark": (ONE, public_mark)}


def report(name: str) -> AuditReport:
    return audit_mechanism(Paying(name=name), ROLES, PEOPLE, seed=5, tries=2)


def row(found: AuditReport) -> AuditRow:
    (its,) = (each for each in found.rows if each.promise.startswith("draws without a line"))
    return its


@pytest.mark.parametrize("name", fast(1, MISTAKES))
def test_what_costs_more_than_was_paid_is_found(name: str) -> None:
    found = row(report(name))
    assert found.flagged
    assert found.evidence.startswith(f"the draws of {MISTAKES[name][2]}")


@pytest.mark.parametrize("name", fast(1, ["few are left out of Gaussian counts", "few are left out"]))
def test_a_record_that_moves_others_is_reported_from_a_sensitivity_too_small(name: str) -> None:
    found = row(report(name))
    assert found.evidence.endswith(
        "; this record moves the protected value by 10 among these people (declared: 1), and by 0 without other "
        "people. So the record's effect depends on other records, as with a bound, a selection or a standardisation "
        "from the data: see the tutorial 'A mechanism of your own'")


@pytest.mark.parametrize("name", fast(1, ["half of the sensitivity", "half of a Gaussian sensitivity", "a public door",
                                          "groups that overlap"]))
def test_a_sensitivity_too_small_is_not_called_otherwise(name: str) -> None:
    assert "other records" not in row(report(name)).evidence


@pytest.mark.slow
def test_where_a_public_draw_begins_to_move_is_looked_for() -> None:
    found = row(audit_mechanism(Paying(name="a public mark", people=500), ROLES, 500, seed=5, tries=0))
    assert found.flagged
    assert found.evidence.startswith("the draws of 'mark' cost epsilon 1e-09, and these draws were declared public")


@pytest.mark.parametrize("name", fast(1, PAST))
def test_what_the_meter_never_observed_is_found(name: str) -> None:
    found = row(report(name))
    assert found.flagged
    assert found.evidence.startswith(f"the run's meter has no record of the draws of {PAST[name][2]}")


@pytest.mark.slow
@pytest.mark.parametrize("name", fast(1, [name for name in SOUND if name != "a winner that is not named"]))
def test_what_is_paid_for_is_left_alone(name: str) -> None:
    found = report(name)
    assert row(found).verdict is Verdict.KEPT, row(found)
    assert "no draw cost more than its charge" in row(found).evidence
    assert not [each for each in found.rows if each.flagged]


@pytest.mark.slow
def test_what_is_not_published_is_not_called_underpaid() -> None:
    """All noisy scores cost more than was paid, and which of them is the largest does not."""
    found = row(report("a winner that is not named"))
    assert found.verdict is Verdict.NOT_MEASURED
    assert "'winner' cost epsilon 1.5, and epsilon 1 was charged for these draws, if all noisy answers" in found.note


@dataclass(frozen=True, kw_only=True)
class Understated(OnDevices):
    """Devices that pay half of what their odds cost."""

    stated: float | None = None

    def submit(self, private: Any, offer: Any = None, noise: Any = None) -> int | None:
        if private is None:
            return None
        return int(draw_through(noise, [[3, 1], [1, 3]], private.astype(int), epsilon=self.stated, stream="report")[0])


def test_devices_pay_for_what_they_draw() -> None:
    for stated, verdict in ((None, Verdict.KEPT), (0.5, Verdict.BROKEN)):
        found = row(audit_mechanism(Understated(people=PEOPLE, epsilon=1.1, stated=stated), ROLES[:1], PEOPLE, seed=5,
                                    tries=20))
        assert found.verdict is verdict
    assert found.evidence.startswith("the draws of 'report' cost epsilon 1.09861, and epsilon 0.5 was charged for "
                                     "these draws")


# ---- confide's own mechanisms, which are audited by their families


def moved(run: Callable[[Any, Any], Any], first: Any, second: Any) -> tuple[RecordingNoise, ForcedNoise]:
    """What two runs on neighbours draw along one history."""
    observed = RecordingNoise(Noise.simulated(3))
    run(first, observed)
    forced = ForcedNoise(observed.draws)
    run(second, forced)
    return observed, forced


GOODS: dict[str, Any] = {"people": 300, "goods": 3, "supply": 60, "epsilon": 20.0, "increment": 0.3, "bid_cap": 3,
                         "rounds": 4, "batch": 50, "arity": 4}
UNIT: Any = UnitDemand(400, 150, goods=3)
MATCHED: dict[str, Callable[[], Any]] = {
    "a match": lambda: PMatch(**GOODS), "a match that halts": lambda: PMatch(**GOODS, halting="unsatisfied"),
    "a Gaussian match": lambda: PMatch(**GOODS, law="gaussian", delta=1e-3, halting="bids"),
    "bundles": lambda: PAlloc(**GOODS, valuation=CappedAdditiveValuation(cap=2), halting="unsatisfied"),
    "by Sinkhorn": lambda: SinkhornMatch(people=300, goods=3, supply=80, epsilon=20.0),
}
PROGRAMS: dict[str, Callable[[], Any]] = {
    "a program": lambda: PrivDude(UNIT, 2.0, 1e-4, rounds=30, burn_in=5),
    "rounded": lambda: RoundDude(UNIT, 8.0, 1e-4, rounds=30, burn_in=5),
    "truthful": lambda: TrueDude(UNIT, 2.0, 1e-4, alpha=0.5, rounds=30, burn_in=5),
}


@pytest.mark.parametrize("name", fast(3, sorted(twins())))
def test_releases_pay_for_what_moves(name: str) -> None:
    mechanism: Any = twins()[name]
    for pair in islice(neighbours(mechanism, 6), 6):
        observed, forced = moved(mechanism.run, pair.first, pair.second)
        assert observed.draws
        assert underpaid(observed.draws, forced.draws, {}) == observed.unmetered == forced.unmetered == []


@pytest.mark.parametrize("name", [*MATCHED, *PROGRAMS])
def test_matches_and_programs_pay_for_what_moves(name: str) -> None:
    """Each of some people wants the contrary, or nothing."""
    mechanism, changed = (MATCHED | PROGRAMS)[name](), False
    first = instance_a(mechanism.people, mechanism.goods, seed=1) if name in MATCHED else popular(400, 3, seed=1)
    for person in range(0, 300, 50):
        second = np.array(first)
        second[person] = 1 - first[person] if name in MATCHED else 0
        observed, forced = moved(mechanism.run, first, second)
        changed |= any(one.center != other.center for one, other in zip(observed.draws, forced.draws, strict=True))
        assert underpaid(observed.draws, forced.draws, {}) == observed.unmetered == forced.unmetered == []
    assert changed
