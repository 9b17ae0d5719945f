"""Privacy loss distributions by dp-accounting: never below what is exact, and close to it."""

from __future__ import annotations

import math
import sys

import pytest
from event_lists import approx, gdp, pure, ranged, response, times, zcdp

from cases import fast
from confide.contract import InvalidInput
from confide.privacy import GDP, Accountant, Event, ZCDPEvent
from confide.privacy.accounting import CALCULATORS, counted, pld

LISTS: dict[str, tuple[Event, ...]] = {
    "one": (pure(1.0),),
    "short": (times(pure(0.3), 3), pure(1.1)),
    "long": (times(pure(0.05), 200),),
    "strong": (times(pure(3.0), 40),),
    "weak": (times(pure(0.001), 5000),),
    "levels": (times(pure(0.1), 20), times(pure(0.02), 200), pure(0.5)),
    "draws": (times(ranged(0.1), 50),),
    "response": (times(response(1.0986, 2), 10),),
    "categories": (times(response(1.0986, 10), 10), times(response(0.7, 4), 30)),
    "approximate": (times(approx(0.1, 1e-7), 50), pure(0.3)),
}


@pytest.mark.parametrize("events", LISTS.values(), ids=LISTS)
@pytest.mark.parametrize("delta", fast(1, [1e-5, 1e-2, 1e-8]))
def test_never_below_the_optimum_and_within_a_hundredth(
    events: tuple[Event, ...], delta: float, dp_accounting: None
) -> None:
    accountant = Accountant(events)
    exact = accountant.epsilon(delta, calculator="optimal")
    found = accountant.epsilon(delta, calculator="pld")
    if exact == math.inf:
        assert found == math.inf
        return
    assert exact * (1 - 1e-9) <= found <= exact * 1.01 + 1e-3
    for epsilon in (0.5 * exact, exact):
        least = accountant.delta(epsilon, calculator="optimal")
        assert accountant.delta(epsilon, calculator="pld") >= least * (1 - 1e-9)


def test_gaussian_events_and_mixtures(dp_accounting: None) -> None:
    alone = Accountant((gdp(0.6), gdp(0.8)))
    exact = GDP(1.0).epsilon_at(1e-5)
    assert exact <= alone.epsilon(1e-5, calculator="pld") <= exact * 1.001
    mixed = Accountant((gdp(1.0), times(pure(0.1), 5)))
    assert exact < mixed.epsilon(1e-5, calculator="pld") < mixed.epsilon(1e-5)


def test_not_part_of_what_is_reported(dp_accounting: None) -> None:
    """Its arithmetic is not rounded outwards, so it answers when it is asked."""
    accountant = Accountant((gdp(1.0), times(pure(0.1), 5)))
    assert "pld" in accountant.calculators
    assert "pld" not in accountant.bounds(1e-5)
    assert accountant.bounds(1e-5, calculators=("pld", "gdp")) == {
        "pld": accountant.epsilon(1e-5, calculator="pld"), "gdp": accountant.epsilon(1e-5, calculator="gdp")}
    assert accountant.epsilon(0.0, calculator="pld") == math.inf


def test_the_grid_follows_the_events() -> None:
    """A two-thousandth of the total's root mean square, or a tenth of one event's where that is finer."""
    assert pld.interval(counted((pure(1.0),))) == pytest.approx(1 / 2000)
    assert pld.interval(counted((times(pure(0.01), 10**6),))) == pytest.approx(0.001)
    assert pld.interval(counted((gdp(3.0), pure(4.0)))) == pytest.approx(5 / 2000)


def test_without_the_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    accountant = Accountant((pure(1.0),))
    with pytest.raises(InvalidInput, match="dp-accounting, which is not installed; install confide with the extra"):
        accountant.epsilon(1e-6, calculator="pld")
    assert accountant.epsilon(0.0) == 1.0


def test_what_has_no_dominating_pair_is_unsupported() -> None:
    assert ZCDPEvent not in CALCULATORS["pld"].RULES
    assert Accountant((zcdp(0.1), pure(0.1))).calculators == ("zcdp", "split")
