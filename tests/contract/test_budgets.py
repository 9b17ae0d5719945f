"""What `for_budget` gives keeps to the budget to the last digit: its charge, and every promise in (epsilon, delta)."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide
from confide import allocation, channels, market, programs, regression, release, search
from confide.allocation.bundles import Additive
from confide.contract import Mechanism, Privacy
from confide.contract.errors import ConfideError
from confide.contract.parameters import Declared
from confide.privacy import ApproxDP, PureDP
from confide.privacy.accounting import Accountant
from confide.privacy.filter import Filter, price

PAIRS = release.Workload.complete(4, width=2)
GOODS: dict[str, Any] = {"people": 300, "goods": 3, "supply": 100}
ROUNDS: dict[str, Any] = {"increment": 0.2, "bid_cap": 2, "rounds": 5, "batch": 60}
FEW: dict[str, Any] = {"program": programs.UnitDemand(20_000, 6_000, goods=3), "rounds": 6, "burn_in": 2}
BITS: dict[str, Any] = {"people": 50, "signal_accuracy": 0.8, "prior_one": 0.7}
LINE: dict[str, Any] = {"people": 20_000, "features": 2, "parameter_bound": 1.0, "noise_bound": 0.5,
                        "truth_radius": 1.0}


@dataclass(frozen=True)
class Entry:
    """A `for_budget` at public sizes that are small.

    Args:
        make: takes the budget.
        pure: whether there is a mechanism without a delta.
        least, most: epsilon.
    """

    make: Callable[..., Mechanism[Any, Any]]
    pure: bool = True
    least: float = 0.05
    most: float = 10.0


ENTRIES = {
    "MWEM": Entry(lambda **b: release.MWEM.for_budget(records=5_000, workload=PAIRS, **b)),
    "DualQuery": Entry(lambda **b: release.DualQuery.for_budget(records=5_000, workload=PAIRS, samples=20, **b)),
    "Reweighted": Entry(lambda **b: release.Reweighted.for_budget(records=50_000, workload=PAIRS, samples=20,
                                                                  measured=2, **b), pure=False),
    "MarginalFit": Entry(lambda **b: release.MarginalFit.for_budget(records=5_000, schema=release.Schema.bits(4), **b),
                         pure=False),
    "NoisyAnswers": Entry(lambda **b: release.NoisyAnswers.for_budget(records=5_000, workload=PAIRS, **b)),
    "IndependentMarginals": Entry(
        lambda **b: release.IndependentMarginals.for_budget(records=5_000, workload=PAIRS, **b), pure=False),
    "SinkhornMatch": Entry(lambda **b: allocation.SinkhornMatch.for_budget(**GOODS, **b)),
    "PriceRelease": Entry(lambda **b: allocation.PriceRelease.for_budget(**GOODS, **b)),
    "PMatch": Entry(lambda **b: allocation.PMatch.for_budget(**GOODS, **ROUNDS, **b), least=1.0),
    "PAlloc": Entry(lambda **b: allocation.PAlloc.for_budget(**GOODS, **ROUNDS, valuation=Additive(), **b), least=1.0),
    "PrivDude": Entry(lambda **b: programs.PrivDude.for_budget(**FEW, **b), pure=False),
    "TrueDude": Entry(lambda **b: programs.TrueDude.for_budget(**FEW, **b), pure=False),
    "RoundDude": Entry(lambda **b: programs.RoundDude.for_budget(**FEW, **b), pure=False),
    "TightDude": Entry(lambda **b: programs.TightDude.for_budget(
        program=programs.UnitDemand(5_000, (2_500.0,)), rounds=1_000, alpha=0.5, **b), pure=False, least=1.0),
    "TightenAndAudit": Entry(lambda **b: programs.TightenAndAudit.for_budget(**FEW, **b), pure=False),
    "PTarget": Entry(lambda **b: search.PTarget.for_budget(people=1_000, components=3, stopping_target=10,
                                                           degree_bound=20, **b)),
    "TopK": Entry(lambda **b: channels.TopK.for_budget(prior=[[0.2, 0.3, 0.5]], **b)),
    "RandomizedResponse": Entry(lambda **b: channels.RandomizedResponse.for_budget(letters=3, **b)),
    "PrivateTruthfulRegression": Entry(
        lambda **b: regression.PrivateTruthfulRegression.for_budget(**LINE, **b), least=1.0),
    "MajorityMarket": Entry(lambda **b: market.BitCollection(market=market.MajorityMarket.for_budget(
        **BITS, cost=market.LinearCost(1.0), **b)), most=4.0),
    "PairMarket": Entry(lambda **b: market.BitCollection(market=market.PairMarket.for_budget(
        prior=market.PairPrior.beta_binomial(2.0, 3.0, 10), cost=market.LinearCost(1.0), **b)), most=4.0),
    "ThresholdMarket": Entry(lambda **b: market.BitCollection(market=market.ThresholdMarket.for_budget(
        **BITS, cost_law=market.LogNormalLaw(0.0, 1.0), **b)), most=4.0),
}


def beyond(made: Mechanism[Any, Any], epsilon: float, delta: float) -> list[str]:
    """What of a mechanism is above a budget: what its events cost, or an account's sum of them, or its best promise.

    An account adds up in a plainer way, and may ask for clearly more; here the last digits are looked at.
    """
    found, events = list[str](), tuple(made.events())
    spent = Accountant(events).epsilon(delta)
    if spent > epsilon:
        found.append(f"its events cost {spent!r}")
    cost = price("basic", events, delta)
    if abs(cost.epsilon - Fraction(epsilon)) < Fraction(epsilon) / 2**48 and not Filter(
            ApproxDP(epsilon, delta) if delta else PureDP(epsilon)).admits(cost):
        found.append(f"an account with this budget would not admit {float(cost.epsilon)!r}")
    losses = [each.loss for each in made.guarantees() if isinstance(each, Privacy)]
    if not any(each.epsilon <= epsilon and getattr(each, "delta", 0.0) <= delta for each in losses
               if isinstance(each, PureDP | ApproxDP)):
        found.append(f"no promise is within it: {losses}")
    return found


def budgets(entry: Entry, *, pure: bool) -> st.SearchStrategy[tuple[float, float]]:
    """Budgets as people write them, and any doubles."""
    whole = st.floats(entry.least, entry.most, allow_subnormal=False)
    epsilon = st.one_of(whole, st.builds(round, whole, st.integers(1, 3)).filter(lambda it: it >= entry.least))
    delta = st.one_of(st.sampled_from([1e-9, 1e-6, 3e-5, 1e-3]), st.floats(1e-9, 1e-2))
    return st.tuples(epsilon, st.just(0.0) if pure else delta)


@pytest.mark.parametrize("pure", [True, False])
@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_the_charge_is_within_the_budget(name: str, pure: bool) -> None:
    entry = ENTRIES[name]
    made, refused = list[Any](), list[ConfideError]()

    @settings(max_examples=12, deadline=None)
    @given(budgets(entry, pure=pure))
    def holds(budget: tuple[float, float]) -> None:
        epsilon, delta = budget
        try:
            made.append(entry.make(epsilon=epsilon, delta=delta))
        except ConfideError as error:
            refused.append(error)
            return
        assert beyond(made[-1], epsilon, delta) == []

    holds()
    assert (bool(made), bool(refused)) == ((False, True) if pure and not entry.pure else (True, False))


@pytest.mark.parametrize(("made", "said"), [
    (release.NoisyAnswers(records=5_000, workload=PAIRS, epsilon=0.8, delta=1e-6, law="gaussian"),
     ["its events cost 0.8000000000000002", "an account with this budget would not admit 0.8"]),
    (release.MWEM(records=5_000, workload=PAIRS, rounds=3, epsilon=0.9),
     ["its events cost 0.9", "no promise is within"]),
])
def test_a_charge_above_the_budget_is_found(made: Mechanism[Any, Any], said: list[str]) -> None:
    """So that the test above can fail: a plain constructor calibrates to the double, which may be above the decimal."""
    found = beyond(made, 0.8, 1e-6 if isinstance(made, release.NoisyAnswers) else 0.0)
    assert len(found) == len(said)
    assert all(each.startswith(start) for each, start in zip(found, said, strict=True)), found


def test_every_mechanism_with_such_an_entry_function_is_tested() -> None:
    for each in pkgutil.walk_packages(confide.__path__, "confide."):
        if not each.name.startswith(("confide.cli.demo", "confide.campaign.")) and not each.name.endswith("__main__"):
            importlib.import_module(each.name)

    def below(one: type) -> set[type]:
        return {each for sub in one.__subclasses__() for each in (sub, *below(sub))}

    entries = {each.__name__ for each in {*below(Declared), *below(Mechanism)} if hasattr(each, "for_budget")
               and each.__module__.startswith("confide.") and not inspect.isabstract(each)
               and each.__name__[0] != "_"
               and each.__module__.split(".")[1] != "evidence"  # which has a test of its own
               and "audited" not in each.__module__ and ".audit." not in each.__module__}
    assert entries == ENTRIES.keys()
