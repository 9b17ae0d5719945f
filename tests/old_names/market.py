"""Old names of `confide.market` in use: what is done with each, and what the new one gives."""

from __future__ import annotations

import dataclasses
from typing import Any


def _of_signal_models() -> dict[str, tuple[Any, Any]]:
    """Where a signal model was called nature."""
    from confide import market as m

    other = m.SignalModel(prior_one=0.6, signal_accuracy=0.7)
    crowd: Any = {"people": 4, "signal_accuracy": 0.8, "prior_one": 0.7, "epsilon": 1.0}
    cost = m.LinearCost(1.0)
    majority = m.MajorityMarket(**crowd, cost=cost)
    capped = m.OptimalCountMechanism(**crowd, cost=cost)
    types = m.ThresholdMarket(**crowd, cost_law=m.LogNormalLaw(0.0, 1.0), participation=0.5)

    def pair(call: Any) -> tuple[Any, Any]:
        return lambda: call(nature=other), call(signal_model=other)

    return {
        "MajorityMarket": (lambda: majority.nature, majority.signal_model),  # type: ignore[attr-defined]
        "OptimalCountMechanism": (lambda: capped.nature, capped.signal_model),  # type: ignore[attr-defined]
        "ThresholdMarket": (lambda: types.nature, types.signal_model),  # type: ignore[attr-defined]
        "MajorityMarket.interim_matrix": pair(lambda **law: majority.interim_matrix(**law).tolist()),
        "ThresholdMarket.interim_matrix": pair(lambda **law: types.interim_matrix(**law).tolist()),
        "check_equilibrium": pair(lambda **law: m.check_equilibrium(majority, **law).rows[0].regret),
        "check_types": pair(lambda **law: m.check_types(types, types=3, **law).regret),
        "common_equilibria": pair(lambda **law: [each.name for each in m.common_equilibria(types, **law)]),
        "interim_matrix": pair(lambda **law: m.interim_matrix(majority, majority.peers, **law).tolist()),
        "simulate": pair(lambda **law: m.simulate(majority, rounds=10, seed=1, **law).ones.tolist()),
        "symmetric_equilibria": pair(
            lambda **law: [each.name for each in m.symmetric_equilibria(majority, points=20, **law)]),
    }


def uses() -> dict[tuple[str, str], tuple[Any, Any]]:
    """What is done with old names of `confide.market`, and what the new ones give."""
    from confide import market as m

    prior, cost = m.PairPrior.beta_binomial(2.0, 3.0, people=50), m.LinearCost(1.0)
    pairs = m.PairMarket(prior, cost, epsilon=1.0)
    types = m.ThresholdMarket(50, 0.8, 0.7, m.LogNormalLaw(0.0, 1.0), epsilon=2.0, participation=0.5)
    found = m.plan_mean(prior, cost, error=0.3, failure_probability=0.1)
    estimate = pairs.estimate(ones=20, zeros=30)
    same: Any = {"prior": prior, "cost": cost}
    parts = {each.name: getattr(found, each.name) for each in dataclasses.fields(found)}

    def made(**old: str) -> Any:
        return lambda: m.MeanPlan(**{old.get(name, name): value for name, value in parts.items()})

    few: dict[str, Any] = {"criterion": "hoeffding", "people": 9, "attempt": lambda **_: None}
    return {
        **{(name, "nature"): use for name, use in _of_signal_models().items()},
        ("MeanEstimate.interval", "delta"): (lambda: estimate.interval(delta=0.1), estimate.interval(0.1)),
        ("MeanPlan", "alpha"): (lambda: found.alpha, 0.3),
        ("MeanPlan", "delta"): (made(failure_probability="delta"), found),
        ("MeanPlan", "failure"): (lambda: found.failure, found.exact_failure_probability),
        ("PairMarket.failure_probability", "alpha"): (
            lambda: pairs.failure_probability(alpha=0.3), pairs.failure_probability(0.3)),
        ("PairMarket.guarantees", "delta"): (lambda: list(pairs.guarantees(delta=0.1)), list(pairs.guarantees(0.1))),
        ("PairMarket.half_width", "delta"): (lambda: pairs.half_width(delta=0.1), pairs.half_width(0.1)),
        ("TooFewPeople", "alpha"): (lambda: m.TooFewPeople(alpha=0.3, error_reached=0.4, **few).error, 0.3),
        ("TooFewPeople", "alpha_reached"): (lambda: m.TooFewPeople(error=0.3, alpha_reached=0.4, **few).error, 0.3),
        ("ThresholdMarket.rounds_until_nonnegative", "delta"): (
            lambda: types.rounds_until_nonnegative(delta=0.1), types.rounds_until_nonnegative(0.1)),
        ("", "BestResponse"): (lambda: m.BestResponse, m.BestReply),  # type: ignore[attr-defined]
        ("", "Nature"): (lambda: m.Nature, m.SignalModel),  # type: ignore[attr-defined]
        ("", "OutOfReach"): (lambda: m.OutOfReach, m.TargetUnreachable),  # type: ignore[attr-defined]
        ("plan_mean", "alpha"): (lambda: m.plan_mean(**same, alpha=0.3, failure_probability=0.1).to_dict(),
                                 found.to_dict()),
        ("plan_mean", "delta"): (lambda: m.plan_mean(**same, error=0.3, delta=0.1).to_dict(), found.to_dict()),
    }
