"""The ledger is a filter: it admits exactly what fits, refuses before anything changes, and never loses a charge."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.contract import Audience, BudgetExceeded, InvalidInput, Relation, Unsupported
from confide.privacy import (
    GDP,
    ZCDP,
    Account,
    Accountant,
    ApproxDP,
    ApproxEvent,
    BoundedRangeEvent,
    Event,
    GDPEvent,
    Ledger,
    PureDP,
    PureEvent,
    RandomizedResponseEvent,
    Repeated,
    ZCDPEvent,
)
from confide.privacy.accounting import float_up, written
from confide.privacy.filter import Cost, Filter, price
from confide.privacy.ledger import Rule

RECORD = Relation.REPLACE
ACCOUNT = Account(name="survey", neighbours=RECORD, audience=Audience.PUBLIC)


def _ledger(budget: PureDP | ApproxDP, rule: Rule = "basic") -> Ledger:
    ledger = Ledger()
    ledger.register(ACCOUNT, budget, rule)
    return ledger


def _pure(epsilon: float) -> PureEvent:
    return PureEvent(epsilon=epsilon, neighbours=RECORD)


@given(st.lists(st.floats(0.0, 1.0), max_size=30), st.floats(0.1, 5.0))
def test_pure_filter_admits_exactly_what_fits(epsilons: list[float], budget: float) -> None:
    ledger = _ledger(PureDP(budget))
    spent = Fraction(0)
    for epsilon in epsilons:
        fits = spent + written(epsilon) <= written(budget)
        before = ledger.events(ACCOUNT)
        if fits:
            ledger.charge(ACCOUNT, _pure(epsilon))
            spent += written(epsilon)
        else:
            with pytest.raises(BudgetExceeded):
                ledger.charge(ACCOUNT, _pure(epsilon))
            assert ledger.events(ACCOUNT) == before
    assert written(ledger.spent(ACCOUNT).epsilon) >= spent  # type: ignore[union-attr]


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


def test_budgets_are_the_decimals_that_people_write() -> None:
    ledger = _ledger(PureDP(1.0))
    ledger.charge(ACCOUNT, _pure(0.8), _pure(0.2))  # more than 1 as doubles
    assert ledger.spent(ACCOUNT) == PureDP(1.0)
    third = _ledger(PureDP(0.3))
    for _ in range(3):
        third.charge(ACCOUNT, _pure(0.1))
    with pytest.raises(BudgetExceeded, match=r"left: epsilon 0 of 0\.3"):
        third.charge(ACCOUNT, _pure(1e-12))


def test_what_rounding_leaves_is_shown_as_nothing_and_still_counts() -> None:
    """Parts of an epsilon are rounded down, so that a little is left of a budget that a campaign fills."""
    spent = price("basic", [_pure(math.nextafter(3.0, 0.0)), _pure(1.0)])
    full = Filter(PureDP(4.0)).charged(spent, "wishes")
    rest = 4 - full.total.epsilon
    assert 0 < rest < Fraction(1, 10**15)
    assert full.left == "epsilon 0 of 4"
    assert full.admits(Cost(epsilon=rest))  # the filter itself is exact
    assert not full.admits(Cost(epsilon=rest + Fraction(1, 10**30)))
    assert Filter(PureDP(4.0), total=Cost(epsilon=4 - Fraction(1, 10**9))).left == "epsilon 1e-09 of 4"
    small = Filter(ApproxDP(1e-9, 1e-20))  # small budgets are no rounding
    assert small.left == "epsilon 1e-09 of 1e-09, delta 1e-20 of 1e-20"
    mixed = Filter(ApproxDP(1.0, 1e-6), total=Cost(delta=written(1e-6) - Fraction(1, 10**24)))
    assert mixed.left == "epsilon 1 of 1, delta 0 of 1e-06"
    zcdp = Filter(ApproxDP(1.0, 1e-6), "zcdp")
    rho = Fraction(ZCDP.within(1.0, 1e-6).rho)
    assert replace(zcdp, total=Cost(rho=rho - rho / 10**14, pure=False)).left.startswith("rho 0 of ")
    assert replace(zcdp, total=Cost(epsilon=1 - Fraction(1, 10**14), rho=rho / 2)).left.endswith("at delta 1e-06)")


def test_a_release_of_mixed_events_is_charged_at_its_own_delta() -> None:
    # Pure payments 0.25 and a concentrated release within (1, 1e-6): 1.25 in all, as the plan says.
    ledger = _ledger(ApproxDP(1.25, 1e-6))
    concentrated = ZCDPEvent(rho=ZCDP.within(1.0, 1e-6).rho, neighbours=RECORD)
    ledger.charge(ACCOUNT, _pure(0.25), concentrated, delta=1e-6)
    assert ledger.spent(ACCOUNT).to_dict() == ApproxDP(1.25, 1e-6).to_dict() or ledger.spent(ACCOUNT).epsilon <= 1.25
    with pytest.raises(BudgetExceeded, match=r"left: .*delta 0 of 1e-06"):
        ledger.charge(ACCOUNT, concentrated, delta=1e-6)
    with pytest.raises(InvalidInput, match="must be above 0"):
        _ledger(ApproxDP(1.0, 1e-6)).charge(ACCOUNT, concentrated)


def test_the_rule_is_fixed_when_the_account_is_opened() -> None:
    # The better of two rules, chosen after the fact, is no filter once approximate events are about.
    ledger = _ledger(ApproxDP(1.0, 1e-6))
    with pytest.raises(InvalidInput, match="fixed when it is opened"):
        ledger.register(ACCOUNT, ApproxDP(1.0, 1e-6), "zcdp")
    with pytest.raises(InvalidInput, match="no delta"):
        _ledger(PureDP(1.0), "zcdp")


def test_zcdp_filter() -> None:
    budget = ApproxDP(1.0, 1e-6)
    rho = ZCDP.within(1.0, 1e-6).rho
    ledger = _ledger(budget, "zcdp")
    ledger.charge(ACCOUNT, ZCDPEvent(rho=rho * 0.999, neighbours=RECORD))
    with pytest.raises(BudgetExceeded):
        ledger.charge(ACCOUNT, ZCDPEvent(rho=rho * 0.002, neighbours=RECORD))
    with pytest.raises(InvalidInput, match="no zCDP cost"):  # no proved rule adds an approximate event to a zCDP sum
        ledger.charge(ACCOUNT, ApproxEvent(epsilon=1e-9, delta=0.0, neighbours=RECORD))
    assert ledger.spent(ACCOUNT) == ZCDP(rho * 0.999)


def test_many_small_pure_charges_pass_through_zcdp() -> None:
    ledger = _ledger(ApproxDP(4.0, 1e-6), "zcdp")
    for _ in range(200):  # 10 by basic composition
        ledger.charge(ACCOUNT, _pure(0.05))
    assert ledger.spent(ACCOUNT) == ZCDP(0.25)
    with pytest.raises(BudgetExceeded, match="rho"):
        ledger.charge(ACCOUNT, *[_pure(0.05)] * 100)


def test_the_zcdp_rule_also_admits_what_pure_epsilons_add_up_to() -> None:
    """Spec query_release A2: sum of epsilons, all pure, or delta of the zCDP sum."""
    ledger = _ledger(ApproxDP(1.0, 1e-9), "zcdp")
    ledger.charge(ACCOUNT, _pure(0.9))  # zCDP alone would give 6.2 at that delta
    assert ZCDP(0.405).epsilon_at(1e-9) > 1.0
    with pytest.raises(BudgetExceeded):
        ledger.charge(ACCOUNT, _pure(0.2))
    with pytest.raises(BudgetExceeded):  # with a concentrated event the sum of epsilons is no bound any more
        ledger.charge(ACCOUNT, ZCDPEvent(rho=1e-4, neighbours=RECORD))
    ledger.charge(ACCOUNT, _pure(0.1))


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
        ledger.charge(ACCOUNT, PureEvent(epsilon=0.1, neighbours=Relation.BIT))
    with pytest.raises(InvalidInput, match="not registered"):
        ledger.charge(Account(name="other", neighbours=RECORD, audience=Audience.PUBLIC), _pure(0.1))
    with pytest.raises(InvalidInput, match="unlimited"):
        _ledger(PureDP(float("inf"))).charge(ACCOUNT, _pure(0.1))


# ---- the filter's rules, event by event (spec query_release A2)


def test_an_exponential_mechanism_costs_an_eighth_under_zcdp() -> None:
    ledger = _ledger(ApproxDP(4.0, 1e-6), "zcdp")
    drawn = BoundedRangeEvent(epsilon=0.05, neighbours=RECORD)
    ledger.charge(ACCOUNT, Repeated(event=drawn, count=800, neighbours=RECORD))
    assert ledger.spent(ACCOUNT) == ZCDP(0.25)  # exactly: 800 * .05^2 / 8, of decimals
    basic = _ledger(PureDP(1.0))
    basic.charge(ACCOUNT, Repeated(event=drawn, count=20, neighbours=RECORD))
    with pytest.raises(BudgetExceeded):
        basic.charge(ACCOUNT, drawn)


def test_randomised_response_is_charged_as_pure() -> None:
    answer = RandomizedResponseEvent(epsilon=0.1, categories=5, neighbours=RECORD)
    basic, zcdp = _ledger(PureDP(0.3)), _ledger(ApproxDP(0.3, 1e-6), "zcdp")
    for ledger in (basic, zcdp):
        for _ in range(3):
            ledger.charge(ACCOUNT, answer)
        with pytest.raises(BudgetExceeded):
            ledger.charge(ACCOUNT, answer)
    assert basic.spent(ACCOUNT) == PureDP(0.3)
    assert zcdp.spent(ACCOUNT) == ZCDP(float_up(Fraction(15, 1000)))


def test_gaussian_releases() -> None:
    """Under "basic" a list of them is converted exactly, at its own delta; under "zcdp" it counts mu^2/2."""
    noise = GDPEvent(mu=0.5, neighbours=RECORD)
    basic = _ledger(ApproxDP(10.0, 1e-5))
    basic.charge(ACCOUNT, noise, noise, delta=1e-6)
    exact = GDP(0.5**0.5).epsilon_at(1e-6)
    spent = basic.spent(ACCOUNT)
    assert isinstance(spent, ApproxDP)
    assert exact <= spent.epsilon <= exact * (1 + 1e-12) < ZCDP(0.25).epsilon_at(1e-6)
    assert spent.delta == 1e-6
    zcdp = _ledger(ApproxDP(10.0, 1e-5), "zcdp")
    zcdp.charge(ACCOUNT, noise, noise)
    assert zcdp.spent(ACCOUNT) == ZCDP(0.25)
    with pytest.raises(InvalidInput, match="must be above 0"):
        basic.charge(ACCOUNT, noise)


def test_no_other_calculator_is_mixed_into_the_filter() -> None:
    """A list that per-round, optimal or advanced composition would admit is refused: they are no filters."""
    events = [Repeated(event=_pure(0.05), count=200, neighbours=RECORD)]
    bounds = Accountant(tuple(events)).bounds(1e-6)
    assert bounds["optimal"] < 3.3 < bounds["zcdp"] < bounds["per_round"] < 4.0 < bounds["advanced"] < 10.0
    for budget, rule in ((3.4, "zcdp"), (9.9, "basic")):
        ledger = _ledger(ApproxDP(budget, 1e-6), rule)  # type: ignore[arg-type]
        with pytest.raises(BudgetExceeded):
            ledger.charge(ACCOUNT, *events)
    _ledger(ApproxDP(3.6, 1e-6), "zcdp").charge(ACCOUNT, *events)
    _ledger(PureDP(10.0)).charge(ACCOUNT, *events)


@dataclass(frozen=True, kw_only=True)
class _Unknown(Event):
    strength: float


@pytest.mark.parametrize("rule", ["basic", "zcdp"])
def test_an_unknown_event_is_refused_and_changes_nothing(rule: Rule) -> None:
    ledger = _ledger(ApproxDP(1.0, 1e-6), rule)
    with pytest.raises(Unsupported, match="_Unknown"):
        ledger.charge(ACCOUNT, _pure(0.1), _Unknown(strength=0.0, neighbours=RECORD))
    assert ledger.events(ACCOUNT) == ()


def test_a_charge_takes_the_same_work_however_many_came_before():
    """Exact sums run along; nothing is added up again."""
    ledger = Ledger()
    account = Account(name="queries", neighbours=Relation.REPLACE, audience=Audience.PUBLIC)
    ledger.register(account, ApproxDP(2.0, 1e-6), rule="zcdp")
    event = PureEvent(epsilon=0.001, neighbours=Relation.REPLACE)
    for _ in range(2000):
        ledger.charge(account, event)
    assert len(ledger.events(account)) == 2000
    assert ledger.spent(account).rho == pytest.approx(2000 * 0.001**2 / 2, rel=1e-12)
    with pytest.raises(InvalidInput, match="converts the sum once"):
        ledger.charge(account, event, delta=1e-9)


def test_what_is_no_event_no_budget_and_no_account():
    account = Account(name="a", neighbours=Relation.REPLACE, audience=Audience.PUBLIC)
    ledger = Ledger()
    for budget in (1.0, ZCDP(0.5)):
        with pytest.raises(InvalidInput, match="is not a budget"):
            ledger.register(account, budget)
    ledger.register(account, PureDP(1.0))
    for wrong in (0.1, PureDP(0.1), (PureEvent(epsilon=0.1, neighbours=Relation.REPLACE),)):
        with pytest.raises(InvalidInput, match="is not an event"):
            ledger.charge(account, wrong)
    with pytest.raises(InvalidInput, match=r"audience: 'public' is not one of Audience; .*such as Audience.PUBLIC"):
        Account(name="a", neighbours=Relation.REPLACE, audience="public")
    with pytest.raises(InvalidInput, match=r"'replace' is not one of Relation; .*such as Relation.REPLACE"):
        Account(name="a", neighbours="replace", audience=Audience.PUBLIC)
    with pytest.raises(InvalidInput, match="not a relation"):
        PureEvent(epsilon=0.1, neighbours="replaced")
    with pytest.raises(InvalidInput, match="is not an event"):
        Accountant((0.1,))
    assert Accountant(PureEvent(epsilon=0.1, neighbours=Relation.REPLACE)).epsilon() == 0.1
