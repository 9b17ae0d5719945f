"""Old names of `confide.evidence` in use: what is done with each, and what the new one gives."""

from __future__ import annotations

from typing import Any


def _of_bits() -> dict[str, tuple[Any, Any]]:
    """Where a signal model was called nature."""
    from confide import market as m
    from confide.evidence.wang_2016 import data_market as e

    other, cost = m.SignalModel(prior_one=0.6, signal_accuracy=0.7), m.LinearCost(1.0)
    genie = e.GenieMarket(people=4, signal_accuracy=0.8, prior_one=0.7, epsilon=1.0, cost=cost)
    levels = e.HeterogeneousMarket(0.8, 0.7, [cost] * 4, 1.0)
    profile = [m.Strategy.randomised(1.0)] * 2

    def rule(reports: Any) -> Any:
        return [float(each) for each in reports]

    def pair(call: Any) -> tuple[Any, Any]:
        return lambda: call(nature=other), call(signal_model=other)

    return {
        "GenieMarket": (lambda: genie.nature, genie.signal_model),  # type: ignore[attr-defined]
        "HeterogeneousMarket": (lambda: levels.nature, levels.signal_model),  # type: ignore[attr-defined]
        "GenieMarket.interim_matrix": pair(lambda **law: genie.interim_matrix(**law).tolist()),
        "enumerated_interim": pair(lambda **law: e.enumerated_interim(rule, 0, profile, **law).tolist()),
        "genie_replica": pair(lambda **law: e.genie_replica(rule, 0, profile, **law).tolist()),
    }


def uses() -> dict[tuple[str, str], tuple[Any, Any]]:
    """What is done with old names of `confide.evidence`, and what the new ones give."""
    from confide.evidence import claims

    row, = claims("regression/lemma-6")
    return {
        ("Claim", "ours"): (lambda: row.ours, row.correction),  # type: ignore[attr-defined]
        **{(f"wang_2016.data_market.{name}", "nature"): use for name, use in _of_bits().items()},
    }
