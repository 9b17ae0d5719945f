"""The meter by itself: what each form of line admits, and that what exceeds it raises before anything is drawn."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.audit import DampedNoise
from confide.contract import InvalidInput, Relation
from confide.contract.metered import Overspent
from confide.privacy.accounting import Accountant
from confide.privacy.charge import (
    PUBLIC,
    Allowance,
    Bundle,
    DrawCost,
    FixedList,
    Line,
    OnDevices,
    Parallel,
    Session,
    Unprotected,
    WithoutDraw,
    lines_of,
)
from confide.privacy.events import (
    ApproxEvent,
    BoundedRangeEvent,
    Event,
    GDPEvent,
    PureEvent,
    Repeated,
    UnprotectedEvent,
    ZCDPEvent,
)
from confide.privacy.losses import GDP, ZCDP
from confide.privacy.meter import Meter
from confide.privacy.noise import Noise, RecordingNoise
from confide.privacy.primitives import (
    add_discrete_gaussian,
    add_discrete_laplace,
    add_gaussian,
    add_laplace,
    add_missing_noise,
    add_vector_laplace,
    draw_by_logits,
    draw_through,
    open_session,
    pay,
)
from confide.privacy.primitives.sessions import Part
from confide.privacy.public_randomness import public_bytes, public_split
from confide.privacy.response import response_table
from confide.privacy.selection import exponential_mechanism, report_noisy_max
from confide.privacy.sparse_vector import SparseVector
from confide.privacy.tree_counter import TreeCounter

HALF, ONE = Fraction(1, 2), Fraction(1)


def pure(epsilon: float, label: str = "sum") -> PureEvent:
    return PureEvent(epsilon=epsilon, neighbours=Relation.BIT, label=label)


def zcdp(rho: float, label: str = "sum") -> ZCDPEvent:
    return ZCDPEvent(rho=rho, neighbours=Relation.BIT, label=label)


def repeated(event: Event, count: int) -> Repeated:
    return Repeated(event=event, count=count, neighbours=Relation.BIT, label=event.label)


def meter(*lines: Line) -> Meter:
    return Meter(lines)


@dataclass
class Charged:
    """What a mechanism shows to a meter."""

    charged: tuple[Event, ...]
    named: tuple[Line, ...] = field(default=())

    def events(self) -> tuple[Event, ...]:
        return self.charged

    def lines(self) -> tuple[Line, ...]:
        return self.named


# ---- lines


def test_an_allowance_adds_up_exactly() -> None:
    """Ten draws of a tenth fit an epsilon of one; sums of doubles would not tell."""
    found = meter(Allowance(name="sum", event=pure(1.0)))
    for k in range(10):
        found.spend("sum", DrawCost.laplace(Fraction(1, 10)), ("draw", k))
    with pytest.raises(Overspent, match="epsilon 1 of this was spent before"):
        found.spend("sum", DrawCost.laplace(Fraction(1, 10**30)), "more")


@given(st.lists(st.fractions(min_value=Fraction(1, 1000), max_value=2, max_denominator=10**6), min_size=1, max_size=8))
def test_an_allowance_admits_what_its_accountant_does(costs: list[Fraction]) -> None:
    """For rho: the k-th draw is refused exactly where the sum of squares over two exceeds the event."""
    found, total = meter(Allowance(name="sum", event=zcdp(1.0))), Fraction(0)
    for k, cost in enumerate(costs):
        after = total + cost**2 / 2
        if after <= 1:
            found.spend("sum", DrawCost.laplace(cost), ("draw", k))
            total = after
        else:
            with pytest.raises(Overspent):
                found.spend("sum", DrawCost.laplace(cost), ("draw", k))
    assert total <= 1


@pytest.mark.parametrize(("event", "cost", "admitted"), [
    (pure(0.5), DrawCost.laplace(HALF), True),
    (pure(0.5), DrawCost.selection(HALF), True),
    (pure(0.5), DrawCost.concentrated(Fraction(1, 10**9)), False),
    (zcdp(0.125), DrawCost.laplace(HALF), True),
    (zcdp(0.03125), DrawCost.selection(HALF), True),
    (zcdp(0.03125), DrawCost.laplace(HALF), False),
    (zcdp(0.5), DrawCost.gaussian(ONE), True),
    (GDPEvent(mu=1.0, neighbours=Relation.BIT), DrawCost.gaussian(ONE), True),
    (GDPEvent(mu=1.0, neighbours=Relation.BIT), DrawCost.concentrated(HALF), False),
    (BoundedRangeEvent(epsilon=0.5, neighbours=Relation.BIT), DrawCost.selection(HALF), True),
    (BoundedRangeEvent(epsilon=0.5, neighbours=Relation.BIT), DrawCost.laplace(HALF), False),
    (ApproxEvent(epsilon=0.5, delta=1e-6, neighbours=Relation.BIT), DrawCost.laplace(HALF), True),
])
def test_which_event_pays_for_which_draw(event: Event, cost: DrawCost, admitted: bool) -> None:
    assert cost.within(event) is admitted


def test_two_draws_of_bounded_range_are_none() -> None:
    """Their sum is pure, and no longer of bounded range: an event of that kind pays for one."""
    found = meter(Allowance(name="choice", event=BoundedRangeEvent(epsilon=1.0, neighbours=Relation.BIT)))
    found.spend("choice", DrawCost.selection(HALF), "one")
    with pytest.raises(Overspent):
        found.spend("choice", DrawCost.selection(HALF), "two")


def test_an_approximate_allowance_converts() -> None:
    epsilon = GDP(1.0).epsilon_at(1e-6)
    found = meter(Allowance(name="sum", event=ApproxEvent(epsilon=epsilon, delta=1e-6, neighbours=Relation.BIT)))
    found.spend("sum", DrawCost.gaussian(ONE), "one")
    with pytest.raises(Overspent):
        found.spend("sum", DrawCost.gaussian(Fraction(1, 100)), "two")
    by_rho = ZCDP(0.5).epsilon_at(1e-6)
    other = meter(Allowance(name="sum", event=ApproxEvent(epsilon=by_rho, delta=1e-6, neighbours=Relation.BIT)))
    other.spend("sum", DrawCost.concentrated(HALF), "one")


def test_a_fixed_list_pays_in_its_order() -> None:
    found = meter(FixedList(name="rounds", listed=(repeated(pure(0.1), 3), pure(0.4))))
    found.spend("rounds", DrawCost.laplace(Fraction(1, 10)), "a", count=2)
    with pytest.raises(Overspent, match=r"the line still pays for 1 draw of epsilon 0\.1"):
        found.spend("rounds", DrawCost.laplace(Fraction(1, 10)), "b", count=2)
    with pytest.raises(Overspent, match="for each of the draws"):
        found.spend("rounds", DrawCost.laplace(Fraction(2, 10)), "b")
    found.spend("rounds", DrawCost.laplace(Fraction(1, 10)), "b")
    found.spend("rounds", DrawCost.laplace(Fraction(4, 10)), "c")
    with pytest.raises(Overspent, match="the run has made all charged draws"):
        found.spend("rounds", DrawCost.laplace(Fraction(1, 10**9)), "d")


def test_a_session_opens_once_however_little_it_costs() -> None:
    found = meter(Session(name="counter", event=pure(1.0)))
    found.spend("counter", DrawCost.laplace(Fraction(1, 100)), "one")
    with pytest.raises(Overspent, match="openings"):
        found.spend("counter", DrawCost.laplace(Fraction(1, 100)), "two")


def test_groups_spend_side_by_side() -> None:
    found = meter(Parallel(name="peers", event=pure(1.0), groups=("first", "second")))
    for group in ("first", "second"):
        found.spend("peers", DrawCost.laplace(ONE), group, group=group)
    with pytest.raises(Overspent, match="'peers, first'"):
        found.spend("peers", DrawCost.laplace(Fraction(1, 10)), "again", group="first")
    with pytest.raises(InvalidInput, match="is not a group of 'peers'"):
        found.spend("peers", DrawCost.laplace(Fraction(1, 10)), "nobody's")


@pytest.mark.parametrize("line", [
    OnDevices(name="it", event=pure(1.0)),
    Unprotected(name="it", event=UnprotectedEvent(neighbours=Relation.BIT)),
    WithoutDraw(name="it", delta=1e-6),
])
def test_lines_that_pay_for_no_draw(line: Line) -> None:
    with pytest.raises(Overspent):
        meter(line).spend("it", DrawCost.laplace(Fraction(1, 10**9)), "draw")


def test_a_device_spends_its_own_allowance() -> None:
    of = Charged((pure(1.0, "report"),), (OnDevices(name="report", event=pure(1.0, "report")),))
    found = Meter.of(of, device=True)
    found.spend("report", DrawCost.laplace(ONE), "report")
    with pytest.raises(Overspent):
        found.spend("report", DrawCost.laplace(ONE), "again")


def test_a_bundle_covers_its_parts() -> None:
    noise = Session(name="flags", event=pure(1.0, "flags"))
    Bundle(name="all", event=ApproxEvent(epsilon=1.0, delta=1e-6, neighbours=Relation.BIT), proof="",
           parts=(noise, WithoutDraw(name="stops", delta=1e-6)))
    for epsilon, delta in ((0.9, 1e-6), (1.0, 1e-7)):
        with pytest.raises(InvalidInput, match="does not cover its parts"):
            Bundle(name="all", event=ApproxEvent(epsilon=epsilon, delta=delta, neighbours=Relation.BIT), proof="",
                   parts=(noise, WithoutDraw(name="stops", delta=1e-6)))
    with pytest.raises(InvalidInput, match="does not cover its parts"):
        Bundle(name="all", event=pure(1.0), proof="", parts=(noise,))


def test_lines_are_the_events() -> None:
    """A mechanism whose lines are other than what it is charged for cannot run."""
    events = (pure(1.0, "a"), repeated(pure(0.5, "b"), 3))
    assert [(line.name, line.form) for line in lines_of(events)] == [("a", "allowance"), ("b", "fixed list")]
    assert [line.name for line in lines_of((pure(1.0), pure(1.0), pure(2.0, "")))] == ["sum", "sum 2", "event 3"]
    assert Meter.of(Charged(events)).record().around is False
    for wrong in ((Allowance(name="a", event=pure(2.0, "a")),), lines_of(events[:1]), (*lines_of(events), *lines_of(
            (pure(1.0, "c"),)))):
        with pytest.raises(InvalidInput, match="do not have the events of the mechanism"):
            Meter.of(Charged(events, wrong))
    with pytest.raises(InvalidInput, match="two lines have the name 'a'"):
        meter(*lines_of((pure(1.0, "a"),)), *lines_of((pure(1.0, "a"),)))


def test_a_line_must_be_named_where_there_are_several() -> None:
    found = meter(*lines_of((pure(1.0, "a"), pure(1.0, "b"))))
    with pytest.raises(InvalidInput, match=r"is missing \(one of 'a', 'b'\)|one of 'a', 'b'"):
        found.spend(None, DrawCost.laplace(ONE), "draw")
    with pytest.raises(InvalidInput, match="'c' is not charged"):
        found.spend("c", DrawCost.laplace(ONE), "draw")
    meter(*lines_of((pure(1.0, "a"),))).spend(None, DrawCost.laplace(ONE), "draw")


# ---- primitives


def metered(*events: Event, lines: tuple[Line, ...] = ()) -> Noise:
    noise = RecordingNoise(Noise.simulated(1))
    noise.open_meter(Charged(events, lines))
    return noise


PRIMITIVES: dict[str, tuple[Event, Any]] = {  # an event that pays for it, and a draw with so much noise
    "discrete_laplace": (pure(0.5), lambda noise, much, k: add_discrete_laplace(
        noise, [3, 4], noise_scale=Fraction(4) * much, l1_sensitivity=2, stream=("s", k))),
    "laplace": (pure(0.5), lambda noise, much, k: add_laplace(
        noise, [3.0], noise_scale=Fraction(4) * much, l1_sensitivity=2, stream=("s", k))),
    "discrete_gaussian": (zcdp(0.125), lambda noise, much, k: add_discrete_gaussian(
        noise, [3, 4], noise_std=Fraction(4) * much, l2_sensitivity_squared=4, stream=("s", k))),
    "gaussian": (GDPEvent(mu=0.5, neighbours=Relation.BIT), lambda noise, much, k: add_gaussian(
        noise, [3.0], noise_std=Fraction(4) * much, l2_sensitivity_squared=4, stream=("s", k))),
    "vector_laplace": (pure(0.5), lambda noise, much, k: add_vector_laplace(
        noise, [3.0, 1.0], noise_scale=Fraction(4) * much, l2_sensitivity=2, stream=("s", k))),
    "exponential_mechanism": (BoundedRangeEvent(epsilon=0.5, neighbours=Relation.BIT), lambda noise, much, k:
                              exponential_mechanism([3, 1], float(HALF / much), 1.0, noise, stream=("s", k))),
    "draw_by_logits": (BoundedRangeEvent(epsilon=0.5, neighbours=Relation.BIT), lambda noise, much, k:
                       draw_by_logits(noise, [0.0, -1.0], bounded_range=HALF / much, stream=("s", k))),
    "report_noisy_max": (pure(0.5), lambda noise, much, k: report_noisy_max(
        [3, 1], float(HALF / much), 1, noise, stream=("s", k))),
    "draw_through": (pure(0.5), lambda noise, much, k: draw_through(
        noise, response_table(float(HALF / much)).weights, [0, 1], stream=("s", k))),
    "sparse vector": (pure(0.5), lambda noise, much, k: SparseVector(
        threshold=5, epsilon=float(HALF / much)).run([1, 9], noise, ("s", k))),
    "tree counter": (pure(0.5), lambda noise, much, k: TreeCounter(
        horizon=3, scale=4.0 * float(much), arity=2).start(noise, ("s", k)).feed([1])),
}


@pytest.mark.parametrize("name", PRIMITIVES)
def test_a_primitive_pays_before_it_draws(name: str) -> None:
    """With as much noise as was charged it draws; with a part in 10^9 less, or a second time, it raises instead."""
    event, draw = PRIMITIVES[name]
    noise = metered(event)
    draw(noise, ONE, 0)
    assert isinstance(noise, RecordingNoise)
    before = len(noise.draws)
    assert before
    assert {each.line for each in noise.draws} == {event.label or "event 1"}
    for again in (1, 2):
        with pytest.raises(Overspent):
            draw(noise, ONE, again)
    fresh = metered(event)
    with pytest.raises(Overspent):
        draw(fresh, ONE - Fraction(1, 10**9), 0)
    assert isinstance(fresh, RecordingNoise)
    assert len(noise.draws) == before
    assert not fresh.draws


@pytest.mark.parametrize(("draw", "event"), [
    (lambda noise, moved: add_discrete_laplace(noise, [3], noise_scale=2, l1_sensitivity=moved, stream="s"), pure(0.5)),
    (lambda noise, moved: add_laplace(noise, [3], noise_scale=2, l1_sensitivity=moved, stream="s"), pure(0.5)),
    (lambda noise, moved: add_vector_laplace(noise, [3], noise_scale=2, l2_sensitivity=moved, stream="s"), pure(0.5)),
    (lambda noise, moved: add_discrete_gaussian(noise, [3], noise_std=2, l2_sensitivity_squared=moved, stream="s"),
     zcdp(0.125)),
    (lambda noise, moved: add_gaussian(noise, [3], noise_std=2, l2_sensitivity_squared=moved, stream="s"), zcdp(0.125)),
])
def test_a_larger_sensitivity_raises(draw: Any, event: Event) -> None:
    draw(metered(event), 1)
    with pytest.raises(Overspent):
        draw(metered(event), 2)
    with pytest.raises(InvalidInput, match=r"^l[12]_sensitivity(_squared)?: -1 is out of range; must be at least 0"):
        draw(metered(event), -1)


def test_a_session_draws_no_more_than_it_declared() -> None:
    counter = TreeCounter(horizon=3, scale=3.0, counters=2, arity=2)
    noise = metered(*counter.events(Relation.BIT))
    session = counter.open(noise, "c")
    counter.draw_block(session, (2, 3), ("c", 0))
    with pytest.raises(Overspent, match="the session still pays for 0 draws"):
        counter.draw_block(session, (2, 1), ("c", 1))
    with pytest.raises(Overspent):
        counter.open(noise, "again")


def test_armings_are_paid_one_by_one() -> None:
    twice = SparseVector(threshold=5, epsilon=0.5, armings=2)
    noise = metered(*twice.events(Relation.BIT))
    assert [twice.run([9], noise, arming=k) is not None for k in (0, 1)]
    with pytest.raises(Overspent):
        SparseVector(threshold=5, epsilon=0.5, armings=3).arm(noise, arming=2)


def test_noise_in_the_place_of_absentees_is_as_wide_as_theirs() -> None:
    """Their variance is 25: a sigma of 5 stands for it; one of 4 would let the public see more than was promised."""
    noise = metered(pure(1.0))
    add_missing_noise(noise, 100, 5, missing_variance=25)
    with pytest.raises(Overspent, match="the variance must be at least 25"):
        add_missing_noise(noise, 100, 4, missing_variance=25, stream="more")


# ---- what was paid for a draw


def test_a_draw_knows_what_was_paid_for_it() -> None:
    noise = metered(pure(1.0), ZCDPEvent(rho=1.0, neighbours=Relation.BIT, label="rest"))
    add_laplace(noise, [3.0], noise_scale=2.0, l1_sensitivity=1, stream="count", line="sum")
    session = open_session(noise, lambda scales: DrawCost.concentrated(1 / scales["part"]),
                           {"part": Part("laplace", 4)}, stream="session", line="rest")
    for k in range(2):
        session.draw("part", 1, stream=("session", k), center=[1.0])
    pay(noise, PUBLIC, stream="tie").laplace(1.0, 1, stream="tie", center=[0.0])
    noise.laplace(1.0, 1, stream="own", center=[0.0])
    assert isinstance(noise, RecordingNoise)
    one, *both, tie, own = (draw.payment for draw in noise.draws)
    assert one is not None
    assert (one.stream, one.whole, one.free) == (("count",), DrawCost.laplace(HALF), False)
    assert both[0] is both[1]
    assert both[0] is not None
    assert (both[0].stream, both[0].whole) == (("session",), DrawCost.concentrated(Fraction(1, 4)))
    assert tie is not None
    assert (tie.line, tie.free) == (None, True)
    assert own is None
    assert noise.unmetered == []


def test_who_pays_twice_for_a_stream_has_paid_both() -> None:
    """And who calls it public afterwards has paid all the same."""
    noise = metered(pure(1.0))
    for _ in range(2):
        pay(noise, DrawCost.laplace(Fraction(1, 4)), stream="count")
    assert noise.meter is not None
    noise.meter.public("count")
    paid = noise.meter.payment_of(("count",))
    assert paid is not None
    assert paid.whole.pure == HALF


# ---- around the meter


def test_public_randomness_pays_nothing() -> None:
    noise = metered(pure(1.0))
    public_split(noise, 5, stream="split")
    public_bytes(noise, 4, stream="seed")
    assert isinstance(noise, RecordingNoise)
    assert [draw.line for draw in noise.draws] == ["", ""]
    assert noise.meter is not None
    assert not noise.meter.record().around


def test_a_draw_that_nothing_paid_for_is_noted_or_refused() -> None:
    noise = metered(pure(1.0))
    noise.laplace(2.0, 1, stream="own", center=[3.0])
    assert isinstance(noise, RecordingNoise)
    assert noise.draws[0].line is None
    assert noise.meter is not None
    assert noise.meter.record().around
    strict = Noise.simulated(1)
    strict._meter = Meter(lines_of((pure(1.0),)), strict=True)
    with pytest.raises(InvalidInput, match="no line of the charge pays for this draw"):
        strict.laplace(2.0, 1, stream="own", center=[3.0])


def test_costs_are_those_of_the_accountant() -> None:
    """The meter's exact costs, beside what the accountant makes of the same events."""
    assert float(DrawCost.laplace(HALF).rho or 0) == Accountant((pure(0.5),)).rho()
    ranged = BoundedRangeEvent(epsilon=0.5, neighbours=Relation.BIT)
    assert float(DrawCost.selection(HALF).rho or 0) == Accountant((ranged,)).rho()
    assert float(DrawCost.gaussian(HALF).rho or 0) == pytest.approx(
        Accountant((GDPEvent(mu=0.5**0.5, neighbours=Relation.BIT),)).rho(), rel=1e-15)


@given(st.lists(st.tuples(st.sampled_from(["3/7", "1/9", "0", "2/5"]), st.integers(1, 4)), max_size=12))
def test_an_allowance_adds_up_unequal_draws_exactly(asked: list[tuple[str, int]]) -> None:
    """In whatever order: repeated draws are counted down, and others added, to the same end."""
    known = {text: DrawCost.concentrated(Fraction(text)) for text, _ in asked}
    meter = Meter(lines_of([ZCDPEvent(rho=2.5, neighbours=Relation.BIT, label="path")]))
    spent = Fraction(0)
    for step, (text, count) in enumerate(asked):
        if spent + count * Fraction(text) > Fraction(5, 2):
            with pytest.raises(Overspent):
                meter.spend("path", known[text], ("draw", step), count=count)
        else:
            meter.spend("path", known[text], ("draw", step), count=count)
            spent += count * Fraction(text)


def test_a_run_cannot_begin_its_meter_again() -> None:
    noise, mechanism = Noise.simulated(1), Charged((pure(0.5),))
    with noise.metering(mechanism):
        add_laplace(noise, [3.0], noise_scale=2.0, l1_sensitivity=1, stream="once")
        noise.open_meter(mechanism)
        with pytest.raises(Overspent):
            add_laplace(noise, [3.0], noise_scale=2.0, l1_sensitivity=1, stream="again")
    assert noise.meter is None


def test_noise_around_noise_of_a_run_spends_from_that_meter() -> None:
    """Two meters of one run would each see half of it: who draws below has paid above."""
    root, mechanism = Noise.simulated(1), Charged((pure(0.5),))
    with root.metering(mechanism):
        around = DampedNoise(root, 1.0)
        around.open_meter(mechanism)
        assert around.meter is root.meter is not None
        add_laplace(around, [3.0], noise_scale=2.0, l1_sensitivity=1, stream="once")
        with pytest.raises(Overspent):
            add_laplace(around, [3.0], noise_scale=2.0, l1_sensitivity=1, stream="again")


def test_a_release_is_metered_whatever_a_mechanism_calls_itself() -> None:
    """Faults that audits plant run without a meter, which would stop them; under secure noise nothing does."""
    injected = type("Planted", (Charged,), {"__module__": "confide.audit.faulty_noise"})((pure(0.5),))
    for noise, metered_run in ((Noise.simulated(1), False), (Noise.secure(), True)):
        with noise.metering(injected):
            assert (noise.meter is not None) is metered_run
