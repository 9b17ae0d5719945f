"""The ledger is a filter: it admits exactly what fits, refuses before anything changes, and never loses a charge."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.contract import Audience, BudgetExceeded, InvalidInput, Unit
from confide.privacy import ZCDP, Account, ApproxDP, ApproxEvent, Ledger, PureDP, PureEvent, ZCDPEvent

RECORD = Unit.RECORD_REPLACED
ACCOUNT = Account(name="survey", neighbours=RECORD, audience=Audience.PUBLIC)


def _ledger(budget: PureDP | ApproxDP) -> Ledger:
    ledger = Ledger()
    ledger.register(ACCOUNT, budget)
    return ledger


def _pure(epsilon: float) -> PureEvent:
    return PureEvent(epsilon=epsilon, neighbours=RECORD)


@given(st.lists(st.floats(0.0, 1.0), max_size=30), st.floats(0.1, 5.0))
def test_pure_filter_admits_exactly_what_fits(epsilons: list[float], budget: float) -> None:
    ledger = _ledger(PureDP(budget))
    spent = Fraction(0)
    for epsilon in epsilons:
        fits = spent + Fraction(epsilon) <= Fraction(budget)
        before = ledger.events(ACCOUNT)
        if fits:
            ledger.charge(ACCOUNT, _pure(epsilon))
            spent += Fraction(epsilon)
        else:
            with pytest.raises(BudgetExceeded):
                ledger.charge(ACCOUNT, _pure(epsilon))
            assert ledger.events(ACCOUNT) == before
    assert Fraction(ledger.spent(ACCOUNT).epsilon) >= spent  # type: ignore[union-attr]


def test_a_tiny_spend_beyond_the_budget_is_refused() -> None:
    ledger = _ledger(PureDP(1.0))
    ledger.charge(ACCOUNT, _pure(1.0))
    with pytest.raises(BudgetExceeded, match="survey"):
        ledger.charge(ACCOUNT, _pure(5e-324))


def test_all_or_none() -> None:
    ledger = _ledger(PureDP(1.0))
    with pytest.raises(BudgetExceeded):
        ledger.charge(ACCOUNT, _pure(0.6), _pure(0.6))
    assert ledger.events(ACCOUNT) == ()


def test_zcdp_filter() -> None:
    budget = ApproxDP(1.0, 1e-6)
    rho = ZCDP.within(1.0, 1e-6).rho
    ledger = _ledger(budget)
    ledger.charge(ACCOUNT, ZCDPEvent(rho=rho * 0.999, neighbours=RECORD))
    with pytest.raises(BudgetExceeded):
        ledger.charge(ACCOUNT, ZCDPEvent(rho=rho * 0.002, neighbours=RECORD))
    with pytest.raises(BudgetExceeded):  # no proved rule adds an approximate event to a zCDP sum
        ledger.charge(ACCOUNT, ApproxEvent(epsilon=1e-9, delta=0.0, neighbours=RECORD))
    assert ledger.spent(ACCOUNT) == ZCDP(rho * 0.999)


def test_many_small_pure_charges_pass_through_zcdp() -> None:
    ledger = _ledger(ApproxDP(4.0, 1e-6))
    for _ in range(200):
        ledger.charge(ACCOUNT, _pure(0.05))
    assert ledger.spent(ACCOUNT) == PureDP(ledger.spent(ACCOUNT).epsilon)  # type: ignore[union-attr]
    with pytest.raises(BudgetExceeded):
        ledger.charge(ACCOUNT, *[_pure(0.05)] * 100)


def test_concurrent_charges_are_serialised() -> None:
    ledger = _ledger(PureDP(1.0))

    def attempt(_: int) -> bool:
        try:
            ledger.charge(ACCOUNT, _pure(0.125))
        except BudgetExceeded:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        admitted = sum(pool.map(attempt, range(64)))
    assert admitted == 8


def test_budgets_can_only_be_lowered() -> None:
    ledger = _ledger(PureDP(1.0))
    ledger.register(ACCOUNT, PureDP(0.5))
    with pytest.raises(InvalidInput, match="never raise"):
        ledger.register(ACCOUNT, PureDP(0.75))
    with pytest.raises(BudgetExceeded):
        ledger.charge(ACCOUNT, _pure(0.75))


def test_wrong_relation_and_unknown_account() -> None:
    ledger = _ledger(PureDP(1.0))
    with pytest.raises(InvalidInput, match="neighbours"):
        ledger.charge(ACCOUNT, PureEvent(epsilon=0.1, neighbours=Unit.BIT))
    with pytest.raises(InvalidInput, match="not registered"):
        ledger.charge(Account(name="other", neighbours=RECORD, audience=Audience.PUBLIC), _pure(0.1))
    with pytest.raises(InvalidInput, match="unlimited"):
        _ledger(PureDP(float("inf"))).charge(ACCOUNT, _pure(0.1))
