"""Basic, advanced and per-round composition and zCDP, against the specification's numbers and exact laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from event_lists import (
    DELTAS,
    LEVELS,
    PURE_EVENTS,
    RECORD,
    approx,
    as_pure,
    product,
    pure,
    ranged,
    response,
    times,
    worst_pair,
)
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from confide.contract import InvalidInput, NotGuaranteed
from confide.privacy import Accountant, BoundedRangeEvent, Event, PureEvent, hockey_stick, renyi_divergence
from confide.privacy.accounting import CALCULATORS, advanced, corollary_step, counted, largest_step, per_round
from confide.privacy.accounting.sums import ball, written
from confide.privacy.noise.balls import precision

# ---- the specification's numbers


def test_composition_numbers() -> None:
    # spec query_release, acceptance 1: relative 1e-6
    hundred = Accountant((times(pure(0.1), 100),))
    assert hundred.epsilon(1e-6, calculator="advanced") == pytest.approx(6.308231, rel=1e-6)
    assert advanced.theorem(0.1, 100, 1e-6) == hundred.bounds(1e-6)["advanced"]
    levels = Accountant((times(pure(0.05), 50), times(pure(0.1), 50)))
    assert per_round.epsilon(levels.spend, 1e-5, drift="printed") == pytest.approx(4.447600, rel=1e-6)
    assert levels.epsilon(1e-5, calculator="per_round") == pytest.approx(4.105847, rel=1e-6)
    assert Accountant((times(ranged(0.1), 80),)).epsilon(1e-6, calculator="zcdp") == pytest.approx(2.141939, rel=1e-6)


def test_kdd_triple() -> None:
    # spec query_release, acceptance 2 and erratum 2: eta 1.2, T 170, s 1750, n 494021, delta 1e-3
    def draws(kind: type[PureEvent | BoundedRangeEvent]) -> Accountant:
        return Accountant(tuple(times(kind(epsilon=2 * 1.2 * (t - 1) / 494_021, neighbours=RECORD), 1750)
                                for t in range(1, 171)))

    merely, drawn = draws(PureEvent), draws(BoundedRangeEvent)
    assert merely.epsilon() == drawn.epsilon() == pytest.approx(122.126387, rel=1e-6)
    assert merely.epsilon(1e-3, calculator="advanced") == pytest.approx(1.859019, rel=1e-6)
    assert per_round.epsilon(merely.spend, 1e-3, drift="printed") == pytest.approx(1.029474, rel=1e-6)
    assert merely.epsilon(1e-3, calculator="per_round") == pytest.approx(0.995932, rel=1e-6)
    assert drawn.rho() == pytest.approx(0.008380382, rel=1e-6)
    assert drawn.epsilon(1e-3, calculator="zcdp") == drawn.epsilon(1e-3) == pytest.approx(0.319555, rel=2e-6)
    assert drawn.epsilon(1e-3, calculator="per_round") < 0.5 * merely.epsilon(1e-3, calculator="per_round")


def test_the_corollary_is_verified_with_the_theorem() -> None:
    # spec query_release A2, erratum 9: k = 1, eps' = .999, delta' = .9 gives 2.64
    step = 0.999 / (2 * math.sqrt(2 * -math.log(0.9)))
    assert advanced.theorem(step, 1, 0.9) == pytest.approx(2.64, abs=5e-3)
    with pytest.raises(NotGuaranteed, match=r"the theorem gives 2\.64173 .*choose an epsilon of 0\.688795"):
        corollary_step(0.999, 0.9, 1)
    assert advanced.theorem(largest_step(0.999, 0.9, 1), 1, 0.9) <= 0.999
    for target, slack, count in ((1.0, 0.1, 3), (0.0, 0.1, 3), (0.5, 1.0, 3), (0.5, 0.1, 0)):
        with pytest.raises(InvalidInput):
            corollary_step(target, slack, count)


@given(st.floats(1e-3, 0.999), st.floats(1e-12, 0.7), st.integers(1, 10_000))
def test_the_corollary_is_safe_up_to_a_slack_of_seven_tenths(target: float, slack: float, count: int) -> None:
    step = corollary_step(target, slack, count)
    best = largest_step(target, slack, count)
    assert step <= best
    assert advanced.theorem(best, count, slack) <= target < advanced.theorem(best * (1 + 1e-9), count, slack)


# ---- rounding


@given(LEVELS, st.integers(1, 10**6), DELTAS)
def test_advanced_composition_is_rounded_up(level: float, count: int, delta: float) -> None:
    found = Accountant((times(pure(level), count),)).epsilon(delta, calculator="advanced")
    with precision(1000):
        e = ball(written(level))
        exact = (2 * count * -arb(delta).log()).sqrt() * e + count * e * (e.exp() - 1)
        assert exact <= ball(written(found))
        assert found <= float(exact.mid()) * (1 + 1e-14)


@given(st.lists(PURE_EVENTS, min_size=1, max_size=6), DELTAS)
def test_per_round_composition_is_rounded_up(events: list[Event], delta: float) -> None:
    with precision(1000):
        squares = drifts = arb(0)
        for event in events:
            e = ball(written(event.epsilon))  # type: ignore[attr-defined]
            if isinstance(event, BoundedRangeEvent):
                squares, drifts = squares + e**2, drifts + e**2 / 8
            else:
                k = getattr(event, "categories", 2)
                squares, drifts = squares + 4 * e**2, drifts + e * (e.exp() - 1) / (e.exp() + k - 1)
        exact = (-arb(delta).log() / 2 * squares).sqrt() + drifts
        found = Accountant(tuple(events)).epsilon(delta, calculator="per_round")
        assert exact <= ball(written(found))
        assert found <= float(exact.mid()) * (1 + 1e-14)


# ---- against exact laws


@given(st.lists(PURE_EVENTS | st.builds(approx, LEVELS, st.floats(0.0, 0.1)), min_size=1, max_size=5),
       st.floats(0.0, 6.0))
def test_every_bound_covers_the_worst_product(events: list[Event], epsilon: float) -> None:
    """What no independent mechanisms may exceed, they do not: the product of the dominating pairs, enumerated.

    A bounded range is dominated by its pure pair, but promises more: `test_bounded_range` has its laws.
    """
    events = [as_pure(event) for event in events]
    accountant = Accountant(tuple(events))
    exact = hockey_stick(*product([worst_pair(event) for event in events]), epsilon)
    for name in accountant.bounds(0.5):
        assert accountant.delta(epsilon, calculator=name) >= exact * (1 - 1e-12) - 1e-15


@given(LEVELS, st.integers(2, 9))
def test_what_per_round_says_of_randomised_response_is_its_law(level: float, categories: int) -> None:
    p, q = worst_pair(response(level, categories))
    losses = np.log(p / q)
    assert losses.max() - losses.min() == pytest.approx(2 * level)
    nearly = math.nextafter(1, 0)  # a slack that leaves the drift almost alone
    found = per_round.epsilon(counted((response(level, categories),)), nearly)
    drift = found - level * math.sqrt(-2 * math.log(nearly))
    assert drift == pytest.approx(renyi_divergence(p, q, 1.0), rel=1e-6, abs=1e-12)


def test_an_approximate_event_needs_its_own_delta() -> None:
    events = Accountant((times(approx(0.1, 1e-7), 50), pure(0.3)))
    for name in ("basic", "advanced", "per_round", "optimal", "split"):
        assert events.epsilon(4e-6, calculator=name) == math.inf
    for name in ("advanced", "per_round"):
        assert events.epsilon(5e-6, calculator=name) == math.inf
        without = Accountant((times(pure(0.1), 50), pure(0.3))).epsilon(5e-6, calculator=name)
        assert events.epsilon(1e-5, calculator=name) == pytest.approx(without, rel=1e-9)
    assert events.epsilon(5e-6) == events.epsilon(5e-6, calculator="optimal") < 5.3
    assert events.delta(0.1) == pytest.approx(CALCULATORS["optimal"].delta(events.spend, 0.1))
