"""What a refusal names as doing does, when it is followed exactly as it is printed: every planner and constructor."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import few
from confide.acquisition import TwoPartMechanism
from confide.acquisition.priors import UniformPrior
from confide.acquisition.targeting import PriceSetting as Buying
from confide.acquisition.targeting import price_for_error
from confide.allocation import PMatch
from confide.allocation import plan as plan_allocation
from confide.channels import FullPrior, IndependentRows, KernelMechanism, WaterFilling, least_distortion, translate
from confide.contract.errors import ConfideError, NotGuaranteed
from confide.contract.kinds import kind
from confide.contract.replanned import changed
from confide.evidence.wu_2017.private_matchings import PrintedPMatch
from confide.evidence.wu_2017.private_matchings.multiplicative import OptimumRange, multiplicative_auction
from confide.market import (
    LinearCost,
    LogNormalLaw,
    MajorityMarket,
    OptimalCountMechanism,
    PairPrior,
    ThresholdMarket,
    UniformLaw,
    plan_mean,
    plan_unknown_costs,
)
from confide.market import plan as plan_market
from confide.privacy.accounting import corollary_step
from confide.privacy.accounting.advanced import theorem
from confide.programs import PrivDude, RoundDude, TightDude, TightenAndAudit, UnitDemand
from confide.programs import plan as plan_program
from confide.regression import plan as plan_regression
from confide.regression.bounds import scale_for_radius
from confide.release import DualQuery, Workload
from confide.release.calculators import CALCULATORS, solve
from confide.release.reweighted import Reweighted

QUERIES = Workload.complete(6, width=2)


def log(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(math.log(low), math.log(high)).map(math.exp)


def log_ints(low: int, high: int) -> st.SearchStrategy[int]:
    return log(low, high + 1).map(int)


@dataclass(frozen=True)
class Entry:
    """A planner or constructor.

    Args:
        name: for test ids.
        call: by the settings.
        drawn: random settings.
        refused: settings that are refused with at least one number that does.
        quick: examples in every run of the suite.
    """

    name: str
    call: Callable[..., Any]
    drawn: st.SearchStrategy[dict[str, Any]]
    refused: dict[str, Any] = field(default_factory=dict)
    quick: int = 25


def law(weights: list[float]) -> list[float]:
    return (np.array(weights) / sum(weights)).tolist()


def laws(size: int) -> st.SearchStrategy[list[float]]:
    return st.lists(st.floats(0.05, 1.0), min_size=size, max_size=size).map(law)


PRIORS = st.one_of(st.integers(2, 4).flatmap(laws).map(lambda row: IndependentRows([row], [2])),
                   laws(4).map(lambda cells: FullPrior(cells, letters=2, records=2)))


def solved(*, missing: str, calculator: str, **settings: Any) -> Any:
    others = {name: value for name, value in settings.items() if name != missing}
    delta = 0.0 if calculator == "pure" else 1e-6
    return solve(delta=delta, calculator=calculator, **{missing: None} | others)  # type: ignore[arg-type]


SOLVED = st.fixed_dictionaries({
    "records": log_ints(20, 10**5), "epsilon": log(1e-3, 2.0), "eta": log(0.01, 10.0), "samples": log_ints(1, 2000),
    "rounds": st.integers(1, 60), "calculator": st.sampled_from(CALCULATORS)})


def for_budget(*, free: str, **settings: Any) -> DualQuery:
    return DualQuery.for_budget(delta=1e-6, free=free, workload=QUERIES, **settings)


def reweighted(**settings: Any) -> Reweighted:
    return Reweighted.for_budget(delta=1e-6, workload=QUERIES, **settings)


def halves(*, kind: type[Any], people: int, supply: float, goods: int, factor: float = 1.0, times: float = 1.0,
           epsilon: float, **settings: Any) -> Any:
    return kind(UnitDemand(people, factor * supply, goods=goods), epsilon=times * epsilon, delta=1e-6, **settings)


def planned_program(*, people: int, supply: float, goods: int, factor: float = 1.0, epsilon: float, mode: str) -> Any:
    return plan_program(UnitDemand(people, factor * supply, goods=goods), epsilon=epsilon, delta=1e-6,
                        mode=mode, timed=False)  # type: ignore[arg-type]


PROGRAMS = {"people": log_ints(30, 10**5), "goods": st.integers(1, 8), "supply": log(0.5, 1000.0),
            "epsilon": log(0.1, 10.0)}


def auction(*, optimum: float, **settings: Any) -> PMatch:
    return multiplicative_auction(optimum=OptimumRange.known(optimum), **settings)


def two_part(**settings: Any) -> TwoPartMechanism:
    return TwoPartMechanism(prior=UniformPrior(), approximation=0.05, psi_floor=0.1, **settings)


def error_bought(*, people: int, variance: float, mse: float) -> Any:
    return price_for_error(Buying(prior=UniformPrior(), people=people, variance=variance, outside_mse=0.25), mse,
                           draws=2)


def capped(*, cap: float, **settings: Any) -> float:
    return OptimalCountMechanism(cost=LinearCost(1.0), prior_one=0.6, cap=cap, **settings).expected_payment


def threshold(*, cost: float, people: int, **settings: Any) -> float:
    market = ThresholdMarket(people, 0.8, 0.55, UniformLaw(0.0, cost), **settings)
    return market.quote().expected_payment + market.largest_payment().amount


def steep(*, rate: float, people: int, **settings: Any) -> MajorityMarket:
    return MajorityMarket(people, prior_one=0.5, cost=LinearCost(rate), **settings)


def market(*, people: int, error: float, signal_accuracy: float, criterion: str) -> Any:
    return plan_market(error, signal_accuracy, 0.6, LinearCost(1.0), criterion, max_people=people)


def pairs(*, people: int, error: float, failure_probability: float, criterion: str) -> Any:
    return plan_mean(PairPrior.beta_binomial(2.0, 3.0, people), LinearCost(1.0), error, failure_probability, criterion)


def step_of_corollary(*, step: float | None = None, **each: Any) -> None:
    """Its step, or that of the remedy, which the theorem has to confirm."""
    if step is None:
        corollary_step(**each)
    elif theorem(step, each["count"], each["slack"]) > each["epsilon"]:
        raise NotGuaranteed("the step", "it is too large")


def unknown(*, people: int, error: float, criterion: str) -> Any:
    return plan_unknown_costs(error, 0.75, 0.6, LogNormalLaw(0.0, 1.0), criterion, people=people)


@dataclass(frozen=True)
class Campaign:
    """The whole plan of a kind, from its template with other values of some keys.

    Args:
        name: of the kind.
        keys: setting -> key of the file.
    """

    name: str
    keys: dict[str, str]

    def __call__(self, **settings: Any) -> Any:
        found = kind(self.name)
        tables = {key: value for key, value in tomllib.loads(found.template).items()
                  if key in found.config.model_fields}
        values = {self.keys[name]: {"name": value} if name == "method" else value for name, value in settings.items()}
        return found.plan(changed(found.config.model_validate(tables), values))


MEAN = Campaign("mean", {
    "count": "people.count", "largest_local_loss": "privacy.largest_local_loss", "error": "price.error"})
ANSWERS = Campaign("queries", {
    "queries": "workload.count", "records": "data.records", "epsilon": "privacy.epsilon", "delta": "privacy.delta",
    "method": "method", "eta": "method.eta", "rounds": "method.rounds", "samples": "method.samples"})
SLEEP = Campaign("regression", {
    "count": "people.count", "people": "people.count", "misreports": "costs.misreports",
    "smallest_eigenvalue": "model.smallest_eigenvalue", "truth_radius": "payment.truth_radius",
    "epsilon_release": "privacy.epsilon_release", "epsilon_payment": "privacy.epsilon_payment"})
BITS = {"count": "people.count", "people": "people.count", "epsilon": "privacy.epsilon",
        "prior_one": "state.prior_one", "signal_accuracy": "state.signal_accuracy", "rate": "cost.rate"}


ENTRIES = (
    Entry("solve-rounds", lambda **each: solved(missing="rounds", **each), SOLVED,
          {"records": 4125, "epsilon": 0.02651504891527319, "eta": 2.7140073259451074, "samples": 217,
           "calculator": "zcdp"}),
    Entry("solve-samples", lambda **each: solved(missing="samples", **each), SOLVED,
          {"records": 100, "epsilon": 0.001, "eta": 2.0, "rounds": 50, "calculator": "zcdp"}),
    Entry("solve-eta", lambda **each: solved(missing="eta", **each), SOLVED,
          {"records": 100, "epsilon": 1e-9, "samples": 10**9, "rounds": 1000, "calculator": "pure"}),
    Entry("DualQuery.for_budget", for_budget, st.fixed_dictionaries({
        "records": log_ints(20, 10**5), "epsilon": log(1e-3, 1.0), "free": st.sampled_from(["zeros", "marginals"])},
        optional={"eta": log(0.01, 10.0), "rounds": st.integers(2, 40)}),
        {"records": 320, "epsilon": 0.0321043556164766, "eta": 3.036272962459051, "free": "marginals"}, quick=5),
    Entry("Reweighted.for_budget", reweighted, st.fixed_dictionaries({
        "records": log_ints(20, 10**5), "epsilon": log(1e-3, 1.0), "eta": log(0.01, 10.0),
        "samples": log_ints(1, 2000)}),
        {"records": 100, "epsilon": 0.1, "eta": 2.0, "samples": 1000}, quick=5),
    Entry("PrintedPMatch", lambda **each: PrintedPMatch(failure_probability=0.05, **each), st.fixed_dictionaries({
        "people": log_ints(10, 10**5), "goods": st.integers(1, 8), "supply": log_ints(1, 10**4),
        "increment": st.floats(0.02, 1.0), "tolerance": st.floats(0.02, 1.0), "epsilon": log(0.1, 100.0),
        "corrected": st.booleans()}),
        {"people": 8754, "goods": 4, "supply": 767, "increment": 0.4062364505710304, "tolerance": 0.23897759991100792,
         "epsilon": 1.2810462697300464, "corrected": True}),
    Entry("PMatch", lambda **each: PMatch(increment=0.1, rounds=20, bid_cap=5, batch=1, arity=2, reclear=0.0, **each),
          st.fixed_dictionaries({"people": log_ints(10, 300), "goods": st.integers(1, 5), "supply": log_ints(1, 500),
                                 "epsilon": log(0.05, 20.0), "failure_probability": log(1e-9, 0.1),
                                 "delta": st.just(1e-6)},
                                optional={"reserve": st.integers(0, 100),
                                          "on_overflow": st.sampled_from(["flag", "truncate"])}),
          {"people": 50, "goods": 2, "supply": 20, "epsilon": 0.5, "failure_probability": 0.05, "delta": 1e-6},
          quick=5),
    Entry("multiplicative_auction", auction, st.fixed_dictionaries({
        "people": log_ints(50, 2000), "goods": st.integers(2, 6), "supply": log_ints(5, 200),
        "increment": st.sampled_from([0.125, 0.25, 0.5]), "epsilon": log(1.0, 1e6), "least": st.just(0.5),
        "optimum": log(10.0, 500.0)}),
        {"people": 300, "goods": 6, "supply": 40, "increment": 0.125, "epsilon": 100.0, "least": 1.0,
         "optimum": 240.0}, quick=4),
    Entry("allocation.plan", plan_allocation, st.fixed_dictionaries({
        "people": log_ints(100, 600), "goods": st.integers(2, 5), "supply": log_ints(5, 80), "epsilon": log(0.005, 1.0),
        "runs": st.just(1)}), {"people": 500, "goods": 5, "supply": 80, "epsilon": 0.02, "runs": 1}, quick=1),
    *(Entry(kind.__name__, lambda kind=kind, **each: halves(kind=kind, rounds=40, burn_in=20, **each),
            st.fixed_dictionaries(PROGRAMS),
            {"people": 337, "goods": 5, "supply": 1.17397605434903, "epsilon": 1.9063216032589283})
      for kind in (TightenAndAudit, RoundDude)),
    Entry("TightDude", lambda **each: halves(kind=TightDude, rounds=1000, burn_in=100, alpha=0.5, **each),
          st.fixed_dictionaries(PROGRAMS), {"people": 4000, "goods": 1, "supply": 1000.0, "epsilon": 1.0}),
    *(Entry(f"programs.plan-{mode}", lambda mode=mode, **each: planned_program(mode=mode, **each),
            st.fixed_dictionaries(PROGRAMS), {"people": 1000, "goods": 10, "supply": 50.0, "epsilon": 0.5}, quick=4)
      for mode in ("PrivDude", "TightenAndAudit", "RoundDude")),
    Entry("KernelMechanism", lambda **each: KernelMechanism(**each).coded, st.fixed_dictionaries({
        "prior": PRIORS, "epsilon": log(0.01, 3.0)}),
        {"prior": FullPrior([0.45, 0.05, 0.05, 0.45], letters=2, records=2), "epsilon": 1.0}),
    Entry("WaterFilling", lambda **each: WaterFilling(**each).coded, st.fixed_dictionaries({
        "prior": st.integers(2, 4).flatmap(laws).map(lambda row: IndependentRows([row], [2])),
        "identifiability": log(0.01, 3.0)}),
        {"prior": IndependentRows([[0.2, 0.3, 0.5]], [2]), "identifiability": 0.5}),
    Entry("least_distortion", lambda **each: least_distortion("identifiability", **each).mechanism,
          st.fixed_dictionaries({"prior": PRIORS, "epsilon": log(0.01, 3.0)}),
        {"prior": IndependentRows([[0.2, 0.3, 0.5]], [2]), "epsilon": 0.5}, quick=8),
    Entry("translate", lambda **each: translate("identifiability", **each), st.fixed_dictionaries({
        "prior": PRIORS, "level": log(0.01, 3.0)}),
        {"prior": IndependentRows([[0.2, 0.3, 0.5]], [2]), "level": 0.5}),
    Entry("TwoPartMechanism", two_part, st.fixed_dictionaries({
        "people": log_ints(1, 5000), "mse_price": log(1.0, 1e5), "largest_local_loss": log(0.01, 3.0)}),
        {"people": 100, "mse_price": 1e4, "largest_local_loss": 0.05}),
    Entry("price_for_error", error_bought, st.fixed_dictionaries({
        "people": log_ints(1, 100), "variance": st.floats(0.01, 0.25), "mse": log(1e-4, 1.0)}),
        {"people": 20, "variance": 0.1, "mse": 0.4}, quick=3),
    Entry("OptimalCountMechanism", capped, st.fixed_dictionaries({
        "people": st.integers(2, 60), "signal_accuracy": st.floats(0.55, 0.95), "epsilon": log(0.1, 4.0),
        "cap": log(0.1, 100.0)}), {"people": 20, "signal_accuracy": 0.8, "epsilon": 1.0, "cap": 1.0}),
    Entry("ThresholdMarket", threshold, st.fixed_dictionaries({
        "people": log_ints(2, 1000), "cost": log(1e-3, 1e12), "participation": log(1e-4, 0.9),
        "epsilon": st.floats(600.0, 700.0)}),
        {"people": 6, "cost": 2e7, "participation": 1e-3, "epsilon": 700.0}),
    Entry("MajorityMarket", steep, st.fixed_dictionaries({
        "people": log_ints(2, 1000), "rate": log(1e-300, 1e12), "signal_accuracy": st.floats(0.5001, 0.95),
        "epsilon": st.one_of(st.floats(600.0, 700.0), log(1e-308, 1e-290))}),
        {"people": 1000, "rate": 1.0, "signal_accuracy": 0.50001, "epsilon": 700.0}),
    Entry("market.plan", market, st.fixed_dictionaries({
        "people": log_ints(2, 200), "error": log(1e-5, 0.3), "signal_accuracy": st.floats(0.6, 0.95),
        "criterion": st.sampled_from(["exact", "chernoff", "thesis"])}),
        {"people": 5, "error": 0.01, "signal_accuracy": 0.7, "criterion": "exact"}, quick=8),
    Entry("plan_mean", pairs, st.fixed_dictionaries({
        "people": log_ints(10, 2000), "error": log(0.01, 0.5), "failure_probability": log(1e-4, 0.3),
        "criterion": st.sampled_from(["hoeffding", "chebyshev", "thesis"])}),
        {"people": 100, "error": 0.1, "failure_probability": 0.05, "criterion": "hoeffding"}, quick=5),
    Entry("plan_unknown_costs", unknown, st.fixed_dictionaries({
        "people": log_ints(2, 60), "error": log(1e-3, 0.3), "criterion": st.sampled_from(["exact", "pgf", "thesis"])}),
        {"people": 5, "error": 0.01, "criterion": "exact"}, quick=1),
    Entry("regression.plan", lambda **each: plan_regression(parameter_bound=1.0, release="ridge", **each),
          st.fixed_dictionaries({
             "people": log_ints(100, 10**6), "features": st.integers(1, 10), "noise_bound": st.floats(0.1, 1.0),
             "epsilon": log(0.01, 1.0), "truth_radius": log(0.05, 1.5), "misreports": log(1e-5, 1e-2)}),
          {"people": 19051, "features": 10, "noise_bound": 0.2395, "epsilon": 0.0766, "truth_radius": 0.0984,
           "misreports": 0.002}, quick=6),
    Entry("regression.plan-budget", lambda **each: plan_regression(
        parameter_bound=1.0, noise_bound=0.5, features=3, release="ridge", **each), st.fixed_dictionaries({
            "people": log_ints(1000, 10**6), "epsilon": log(0.01, 1.0), "budget": log(1e-4, 1e6)}),
        {"people": 10**6, "epsilon": 0.1, "budget": 1e-3}, quick=6),
    Entry("scale_for_radius", scale_for_radius, st.fixed_dictionaries({
        "rho": log(0.01, 1.0), "error": log(0.01, 1.0), "privacy_cost": st.just(0.1)}),
        {"rho": 0.1, "error": 0.0731, "privacy_cost": 0.1}),
    Entry("corollary_step", step_of_corollary, st.fixed_dictionaries({
        "epsilon": st.floats(0.01, 0.99), "slack": st.floats(0.5, 0.999), "count": st.integers(1, 200)}),
        {"epsilon": 0.9, "slack": 0.95, "count": 1}),
    Entry("campaign-mean", MEAN, st.fixed_dictionaries({
        "count": log_ints(2, 300), "largest_local_loss": log(0.05, 20.0), "error": log(0.1, 100.0)}),
        {"count": 30, "largest_local_loss": 1.0, "error": 10.0}, quick=1),
    Entry("campaign-queries", ANSWERS, st.fixed_dictionaries({
        "queries": log_ints(1, 3000), "records": log_ints(10, 10**4), "epsilon": log(1e-5, 1.0),
        "delta": st.sampled_from([0.0, 1e-6]), "method": st.sampled_from([
            "recommended", "marginal-fit", "dual-query", "mwem", "gaussian", "laplace", "product"])}),
        {"queries": 5000, "records": 3000, "epsilon": 0.01, "method": "dual-query"}, quick=1),
    Entry("campaign-queries-recommended", ANSWERS, st.fixed_dictionaries({
        "queries": log_ints(1, 3000), "records": log_ints(10, 10**4), "epsilon": log(1e-5, 0.1)}),
        {"queries": 1, "records": 3000, "epsilon": 1e-4}, quick=1),
    Entry("campaign-regression", SLEEP, st.fixed_dictionaries({
        "count": log_ints(4, 10**5), "misreports": log(1e-5, 1e-2), "truth_radius": log(0.05, 1.5),
        "epsilon_release": log(0.01, 2.0)}), {"count": 500, "misreports": 0.0005}, quick=1),
    Entry("campaign-regression-lies", SLEEP, st.fixed_dictionaries({
        "count": log_ints(4, 10**5), "smallest_eigenvalue": st.floats(0.005, 0.06), "epsilon_payment": log(0.01, 2.0)}),
        {"count": 2000, "misreports": 0.002}, quick=1),
    Entry("campaign-bits", Campaign("bits", BITS), st.fixed_dictionaries({
        "count": log_ints(2, 1000), "epsilon": log(1e-3, 10.0), "prior_one": st.floats(0.01, 0.99),
        "signal_accuracy": st.floats(0.51, 0.95)}),
        {"count": 2, "epsilon": 0.1, "prior_one": 0.9}, quick=3),
    Entry("campaign-bits-pair", Campaign("bits-pair", BITS), st.fixed_dictionaries({
        "count": log_ints(2, 1000), "epsilon": log(1e-3, 10.0)}), {"count": 2}, quick=3),
    Entry("campaign-bits-unknown-costs", Campaign("bits-unknown-costs", BITS), st.fixed_dictionaries({
        "count": log_ints(2, 100), "epsilon": log(1e-3, 3.0), "prior_one": st.floats(0.01, 0.99)}), quick=1),
    Entry("PrivDude", lambda **each: halves(kind=PrivDude, **each), st.fixed_dictionaries(
        PROGRAMS | {"rounds": log_ints(1, 10**5), "burn_in": st.integers(0, 10)})),
)


def refusal(entry: Entry, asked: dict[str, Any]) -> ConfideError | None:
    try:
        entry.call(**asked)
    except ConfideError as error:
        return error
    return None


def check(entry: Entry, asked: dict[str, Any]) -> int:
    error = refusal(entry, asked)
    if error is None:
        return 0
    for remedy in error.remedies:
        assert str(remedy) in str(error)
        if not remedy.settings:  # no number: another method of the file, see below
            continue
        shown = [float(re.sub("[,_]", "", each))
                 for each in re.findall(r"\d[\d,_]*\.?\d*(?:e[+-]?\d+)?", str(remedy))]
        assert set(map(float, remedy.settings.values())) <= set(shown)  # it is what stands there
        again = refusal(entry, asked | dict(remedy.settings)) if remedy.tried else None
        assert again is None, f"{asked}: {error}\n{remedy}: {again}"
    return len(error.remedies)


@pytest.mark.slow
@pytest.mark.parametrize("entry", few([each for each in ENTRIES if each.refused], "campaign-mean"),
                         ids=lambda entry: entry.name)
def test_a_refusal_names_what_does(entry: Entry) -> None:
    assert check(entry, entry.refused) >= 1


LONG = ("plan_unknown_costs", "plan_mean", "multiplicative_auction", "campaign-mean", "campaign-queries-recommended")
"""One random example takes a second or more; what refuses them is tried by `test_a_refusal_names_what_does`."""


@pytest.mark.parametrize("entry", few(ENTRIES, LONG), ids=lambda entry: entry.name)
def test_remedies_do_as_printed(entry: Entry) -> None:
    @settings(max_examples=entry.quick)
    @given(entry.drawn)
    def looked_at(asked: dict[str, Any]) -> None:
        check(entry, asked)

    looked_at()


@pytest.mark.parametrize(("settings_", "able"), [
    ({"queries": 5000, "records": 3000, "epsilon": 1.0, "delta": 0.0, "method": "marginal-fit"},
     {"mwem", "dual-query"}),
    ({"queries": 5000, "records": 3000, "epsilon": 0.01, "method": "dual-query"}, {"marginal-fit"}),
    ({"queries": 1000, "records": 3000, "epsilon": 0.1, "delta": 1e-6, "method": "laplace"}, {"marginal-fit", "mwem"}),
])
def test_a_method_is_named_that_can_run_in_this_file(settings_: dict[str, Any], able: set[str]) -> None:
    with pytest.raises(ConfideError) as refused:
        ANSWERS(**settings_)
    named = set(re.findall(r'\[method\] name = "([a-z-]+)"', str(refused.value)))
    assert named == able
    for each in named:
        ANSWERS(**(settings_ | {"method": each}))


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_remedies_do_as_printed_wherever_one_looks(entry: Entry) -> None:
    @settings(max_examples=3 * entry.quick)
    @given(entry.drawn)
    def looked_at(asked: dict[str, Any]) -> None:
        check(entry, asked)

    looked_at()
