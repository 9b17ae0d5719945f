"""Laws of spend: repeat equals compose, order does not matter, more noise never costs more, unknown is unsupported."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.contract import InvalidInput, NotGuaranteed, Unit
from confide.privacy import ZCDP, Accountant, ApproxEvent, Composed, Event, PureEvent, Repeated, ZCDPEvent
from confide.privacy.accounting import float_up, written

RECORD = Unit.RECORD_REPLACED
EVENTS = [
    PureEvent(epsilon=0.3, neighbours=RECORD),
    ApproxEvent(epsilon=0.2, delta=1e-7, neighbours=RECORD),
    ZCDPEvent(rho=0.01, neighbours=RECORD),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("count", [0, 1, 3, 10])
def test_repeat_means_compose(event: Event, count: int) -> None:
    repeated = Accountant((Repeated(event=event, count=count, neighbours=RECORD),))
    composed = Accountant((Composed(events=(event,) * count, neighbours=RECORD),))
    written = Accountant((event,) * count)
    for delta in (0.0, 1e-6, 1e-5):
        assert repeated.epsilon(delta) == composed.epsilon(delta) == written.epsilon(delta)


@pytest.mark.parametrize("delta", [0.0, 1e-6, 1e-2])
def test_order_does_not_matter(delta: float) -> None:
    answers = {Accountant(order).epsilon(delta) for order in permutations(EVENTS)}
    assert len(answers) == 1


@given(st.lists(st.floats(1e-3, 2.0), min_size=1, max_size=20), st.floats(1e-9, 1e-2), st.floats(0.1, 1.0))
def test_smaller_events_never_cost_more(epsilons: list[float], delta: float, factor: float) -> None:
    large = Accountant(tuple(PureEvent(epsilon=e, neighbours=RECORD) for e in epsilons))
    small = Accountant(tuple(PureEvent(epsilon=e * factor, neighbours=RECORD) for e in epsilons))
    assert small.epsilon(delta) <= large.epsilon(delta)
    assert small.delta(1.0) <= large.delta(1.0)


@given(st.lists(st.floats(1e-6, 2.0), min_size=1, max_size=50))
def test_pure_sum_is_exact_and_rounded_up(epsilons: list[float]) -> None:
    total = Accountant(tuple(PureEvent(epsilon=e, neighbours=RECORD) for e in epsilons)).epsilon()
    exact = sum(map(written, epsilons))
    assert written(total) >= exact
    assert written(math.nextafter(total, 0)) < exact


def test_epsilons_add_up_as_they_are_written() -> None:
    def pure(*epsilons: float) -> float:
        return Accountant(tuple(PureEvent(epsilon=e, neighbours=RECORD) for e in epsilons)).epsilon()

    assert pure(0.8, 0.2) == 1.0
    assert pure(0.1, 0.1, 0.1) == 0.3
    assert pure(1e-6) == 1e-6


def test_zero_distance_costs_zero() -> None:
    assert Accountant(()).epsilon() == 0.0
    assert Accountant((ZCDPEvent(rho=0.0, neighbours=RECORD),)).epsilon(0.0) == 0.0


def test_ten_uses_cost_ten_times() -> None:
    # design section 3: a peer's accountant loses the repeat count of randomised response (1.0987 for ten uses)
    event = PureEvent(epsilon=1.0986, neighbours=RECORD)
    assert Accountant((Repeated(event=event, count=10, neighbours=RECORD),)).epsilon() == pytest.approx(10.986)


def test_groups_of_events_add_by_basic_composition() -> None:
    rho = ZCDP.within(1.0, 1e-6).rho
    both = Accountant((PureEvent(epsilon=0.5, neighbours=RECORD), ZCDPEvent(rho=rho, neighbours=RECORD)))
    assert both.epsilon(1e-6) == pytest.approx(1.5, abs=1e-9)  # all by zCDP would cost 2.67
    assert both.bounds(1e-6)["zcdp"] == pytest.approx(2.67, abs=5e-3)
    assert both.delta(both.epsilon(1e-6)) <= 1e-6 * (1 + 1e-9)
    three = Accountant((*both.events, ApproxEvent(epsilon=0.25, delta=1e-6, neighbours=RECORD)))
    assert three.epsilon(2e-6) == pytest.approx(1.75, abs=1e-6)
    assert three.epsilon(1e-6) == math.inf
    assert three.epsilon(0.9e-6) == math.inf


def test_approximate_events_have_no_zcdp() -> None:
    accountant = Accountant((EVENTS[1], EVENTS[2]))
    assert accountant.epsilon(1e-8) == math.inf
    with pytest.raises(NotGuaranteed, match="zCDP"):
        accountant.rho()


@dataclass(frozen=True, kw_only=True)
class _Unknown(Event):
    strength: float


def test_unknown_events_are_unsupported() -> None:
    with pytest.raises(InvalidInput, match="_Unknown is unsupported"):
        Accountant((_Unknown(strength=1.0, neighbours=RECORD),))


def test_relations_do_not_mix() -> None:
    other = PureEvent(epsilon=0.1, neighbours=Unit.RECORD_ADDED_OR_REMOVED)
    with pytest.raises(InvalidInput, match="2 neighbouring relations"):
        Accountant((EVENTS[0], other))
    with pytest.raises(InvalidInput, match="neighbours"):
        Composed(events=(EVENTS[0], other), neighbours=RECORD)


@given(st.fractions(min_value=0, max_value=1000))
def test_float_up(value: Fraction) -> None:
    up = float_up(value)
    assert Fraction(up) >= value
    assert up == 0.0 or Fraction(math.nextafter(up, -math.inf)) < value
