"""Laws of spend: repeat equals compose, order does not matter, more noise never costs more, unknown is unsupported."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations

import pytest
from event_lists import ALL, DELTAS, ONE_OF_EACH, RECORD, approx, gdp, pure, ranged, response, stronger, times, zcdp
from hypothesis import given
from hypothesis import strategies as st

from confide.contract import InvalidInput, NotGuaranteed, Relation, Unsupported
from confide.privacy import ZCDP, Accountant, Composed, Event, PureEvent, RandomizedResponseEvent, Repeated
from confide.privacy.accounting import CALCULATORS, FAST, counted, float_up, written

CALCULATED = [(event, name) for event in ONE_OF_EACH for name in Accountant((event,)).calculators]
EACH = pytest.mark.parametrize(("event", "name"), CALCULATED,
                               ids=[f"{type(event).__name__}-{name}" for event, name in CALCULATED])


@EACH
def test_repeat_means_compose(event: Event, name: str, dp_accounting: None) -> None:
    repeated = Accountant((times(event, 10),))
    nested = Accountant((Composed(events=(times(times(event, 2), 3), event), neighbours=RECORD), times(event, 3)))
    labelled = Accountant(tuple(replace(event, label=f"release {k}") for k in range(10)))
    for delta in (0.0, 1e-6, 1e-2):
        cost = repeated.epsilon(delta, calculator=name)
        assert cost == nested.epsilon(delta, calculator=name) == labelled.epsilon(delta, calculator=name)
        assert Accountant((times(event, 0),)).epsilon(delta, calculator=name) == 0.0
    assert repeated.delta(1.0, calculator=name) == labelled.delta(1.0, calculator=name)


@EACH
def test_repeats_are_not_lost_in_composition(event: Event, name: str, dp_accounting: None) -> None:
    """Twelve uses cost what twelve events of nearly the same level cost, one by one: no group hides a count."""
    together = Accountant((times(event, 12),))
    apart = Accountant(tuple(stronger(event, 1 - k * 1e-9) for k in range(12)))
    assert len(apart.spend) == 12
    for delta in (1e-5, 1e-2):
        cost = together.epsilon(delta, calculator=name)
        assert cost == pytest.approx(apart.epsilon(delta, calculator=name), rel=1e-5)
        assert cost > 1.5 * Accountant((event,)).epsilon(delta, calculator=name)


@pytest.mark.parametrize("name", CALCULATORS)
def test_order_does_not_matter(name: str, dp_accounting: None) -> None:
    events = [event for event in ONE_OF_EACH if type(event) in CALCULATORS[name].RULES][:4]
    answers = {Accountant(order).epsilon(1e-3, calculator=name) for order in permutations(events)}
    assert len(answers) == 1


@given(st.lists(ALL, min_size=1, max_size=5), DELTAS, st.floats(0.1, 1.0))
def test_more_noise_never_costs_more(events: list[Event], delta: float, factor: float) -> None:
    large, small = Accountant(tuple(events)), Accountant(tuple(stronger(event, factor) for event in events))
    costs, lower = large.bounds(delta), small.bounds(delta)
    for name, cost in costs.items():
        assert lower[name] <= cost * (1 + 1e-9)
        for epsilon in (0.5, 5.0):
            assert small.delta(epsilon, calculator=name) <= large.delta(epsilon, calculator=name) * (1 + 1e-9)


@given(st.lists(ALL, min_size=1, max_size=5), ALL, DELTAS)
def test_one_more_event_never_costs_less(events: list[Event], more: Event, delta: float) -> None:
    fewer, all_of_them = Accountant(tuple(events)), Accountant((*events, more))
    for name, cost in all_of_them.bounds(delta).items():
        assert fewer.epsilon(delta, calculator=name) <= cost * (1 + 1e-9)


@given(st.lists(ALL, min_size=1, max_size=5), DELTAS)
def test_the_least_bound_is_reported_and_inverted(events: list[Event], delta: float) -> None:
    accountant = Accountant(tuple(events))
    bounds = accountant.bounds(delta)
    assert set(bounds) == set(accountant.calculators) - {"pld"}
    assert accountant.epsilon(delta) == min(bounds.values()) == accountant.loss(delta).epsilon
    for name, epsilon in bounds.items():
        assert epsilon == accountant.epsilon(delta, calculator=name)
        if math.isfinite(epsilon):
            assert accountant.delta(epsilon, calculator=name) <= delta * (1 + 1e-8)
    assert accountant.delta(1.0) == min(accountant.delta(1.0, calculator=name) for name in bounds)


@given(st.lists(st.floats(1e-6, 2.0), min_size=1, max_size=50))
def test_pure_sum_is_exact_and_rounded_up(epsilons: list[float]) -> None:
    total = Accountant(tuple(map(pure, epsilons))).epsilon()
    exact = sum(map(written, epsilons))
    assert written(total) >= exact
    assert written(math.nextafter(total, 0)) < exact


def test_epsilons_add_up_as_they_are_written() -> None:
    def cost(*epsilons: float) -> float:
        return Accountant(tuple(map(pure, epsilons))).epsilon()

    assert cost(0.8, 0.2) == 1.0
    assert cost(0.1, 0.1, 0.1) == 0.3
    assert cost(1e-6) == 1e-6


@pytest.mark.parametrize("free", [pure(0.0), ranged(0.0), response(0.0, 5), zcdp(0.0), gdp(0.0)],
                         ids=lambda e: type(e).__name__)
def test_zero_distance_costs_zero(free: Event) -> None:
    assert counted((free,)) == {}
    for name in CALCULATORS:
        assert Accountant((times(free, 10),)).epsilon(0.0, calculator=name) == 0.0
        assert Accountant((free,)).delta(0.0, calculator=name) == 0.0
    assert Accountant((free, pure(0.3))).bounds(1e-6) == Accountant((pure(0.3),)).bounds(1e-6)
    assert Accountant(()).epsilon() == 0.0


@pytest.mark.parametrize("name", ["basic", "optimal", "split", "pld"])
def test_ten_uses_cost_ten_times(name: str, dp_accounting: None) -> None:
    # design section 3: a peer's accountant loses the repeat count of randomised response (1.0987 for ten uses)
    for event in (pure(1.0986), response(1.0986, 2)):
        cost = Accountant((times(event, 10),)).epsilon(1e-9, calculator=name)
        assert cost == pytest.approx(10.986, rel=2e-3)


def test_groups_of_events_add_by_basic_composition() -> None:
    rho = ZCDP.within(1.0, 1e-6).rho
    both = Accountant((pure(0.5), zcdp(rho)))
    assert both.epsilon(1e-6) == pytest.approx(1.5, abs=1e-9)  # all by zCDP would cost 2.67
    assert both.bounds(1e-6)["zcdp"] == pytest.approx(2.67, abs=5e-3)
    assert both.delta(both.epsilon(1e-6)) <= 1e-6 * (1 + 1e-9)
    three = Accountant((*both.events, approx(0.25, 1e-6)))
    assert three.epsilon(2e-6) == pytest.approx(1.75, abs=1e-6)
    assert three.epsilon(1e-6) == math.inf
    assert three.epsilon(0.9e-6) == math.inf
    gaussian = Accountant((pure(0.5), gdp(0.3), gdp(0.4)))
    assert gaussian.epsilon(1e-6, calculator="split") == pytest.approx(
        0.5 + Accountant((gdp(0.5),)).epsilon(1e-6, calculator="gdp"), abs=1e-12)


def test_approximate_events_have_no_zcdp() -> None:
    accountant = Accountant((approx(0.2, 1e-7), zcdp(0.01)))
    assert accountant.epsilon(1e-8) == math.inf
    with pytest.raises(NotGuaranteed, match="zCDP"):
        accountant.rho()
    with pytest.raises(Unsupported, match=r"ApproxEvent in 'zcdp' is unsupported; .* split"):
        accountant.epsilon(1e-6, calculator="zcdp")
    with pytest.raises(Unsupported, match="ZCDPEvent in 'pld'"):
        accountant.delta(1.0, calculator="pld")
    with pytest.raises(InvalidInput, match="calculator: 'rdp' is not known"):
        accountant.bounds(1e-6, calculators=(*FAST, "rdp"))


@dataclass(frozen=True, kw_only=True)
class _Unknown(Event):
    strength: float


@dataclass(frozen=True, kw_only=True)
class _Derived(PureEvent):
    """What a subclass promises is not known either."""


@pytest.mark.parametrize("event", [_Unknown(strength=1.0, neighbours=RECORD), _Derived(epsilon=1.0, neighbours=RECORD)])
def test_unknown_events_are_unsupported(event: Event) -> None:
    with pytest.raises(Unsupported, match=r"_(Unknown|Derived) is unsupported"):
        Accountant((times(event, 2),))
    for calculator in CALCULATORS.values():
        assert type(event) not in calculator.RULES


def test_bad_events_are_refused() -> None:
    for epsilon in (-0.1, math.inf, math.nan):
        for make in (pure, ranged, response):
            with pytest.raises(InvalidInput, match="epsilon"):
                make(epsilon)
        with pytest.raises(InvalidInput, match="mu"):
            gdp(epsilon)
    with pytest.raises(InvalidInput, match="categories"):
        RandomizedResponseEvent(epsilon=1.0, categories=1, neighbours=RECORD)


def test_relations_do_not_mix() -> None:
    other = PureEvent(epsilon=0.1, neighbours=Relation.ADD_OR_REMOVE)
    with pytest.raises(InvalidInput, match="2 neighbouring relations"):
        Accountant((pure(0.3), other))
    with pytest.raises(InvalidInput, match="neighbours"):
        Composed(events=(pure(0.3), other), neighbours=RECORD)


@given(st.fractions(min_value=0, max_value=1000))
def test_float_up(value: Fraction) -> None:
    up = float_up(value)
    assert Fraction(up) >= value
    assert up == 0.0 or Fraction(math.nextafter(up, -math.inf)) < value


def test_exact_fractions_are_taken_exactly():
    def pure(epsilon):
        return PureEvent(epsilon=epsilon, neighbours=Relation.REPLACE)

    assert Fraction(Accountant((pure(Fraction(2, 3)),)).epsilon()) >= Fraction(2, 3)
    assert Accountant((pure(Fraction(1, 3)),) * 3).epsilon() == 1.0
    tiny = Repeated(event=pure(Fraction(1, 10**400)), count=10**400, neighbours=Relation.REPLACE)
    assert Accountant((tiny,)).epsilon() == 1.0
    with pytest.raises(InvalidInput, match="too large for a 64-bit float"):
        pure(10**400)
