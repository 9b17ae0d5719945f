"""Old names of `confide.evidence` in use: what is done with each, and what the new one gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np


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


def _of_matchings() -> dict[tuple[str, str], tuple[Any, Any]]:
    """Where the probability that a promise fails was called gamma, or failure."""
    from confide.evidence.wu_2017 import private_matchings as e

    printed: dict[str, Any] = {"people": 1000, "goods": 3, "epsilon": 1.0, "increment": 0.5}
    literal = {**printed, "epsilon": 1e9, "supply": 20, "tolerance": 0.5, "reserve": 0, "halt_below": 1}
    few = {"goods": 2, "increment": 0.5, "epsilon": 1.0}
    settings: dict[str, Any] = {
        "MatchingSetting": e.MatchingSetting(**printed, tolerance=0.5, failure_probability=0.1),
        "BundleSetting": e.BundleSetting(**printed, tolerance=0.5, failure_probability=0.1),
        "BidsSetting": e.BidsSetting(**printed, least=1.0, optimum=240.0, failure_probability=0.1)}
    found = dict[tuple[str, str], tuple[Any, Any]]()

    def attributes(place: str, it: Any, **names: str) -> None:
        for old, new in names.items():
            found[place, old] = (lambda old=old: getattr(it, old), getattr(it, new))

    def failure(entry: Callable[..., Any], *given: Any, old: str = "gamma", **more: Any) -> None:
        """The probability that a promise fails, by its old keyword."""
        found[entry.__name__, old] = (lambda: entry(*given, **more, **{old: 0.1}),
                                      entry(*given, **more, failure_probability=0.1))

    attributes("PrintedPMatch", e.PrintedPMatch(**literal, failure_probability=0.1), held_back="effective_reserve")
    for name, it in settings.items():
        attributes(name, it, distance="l1_sensitivity", gamma="failure_probability")
    failure(e.OptimumRange, low=1.0, high=2.0)
    failure(e.OptimumRelease, epsilon=1.0)
    failure(e.PrintedBundles, **printed, supply=9, unsatisfied=0.5)
    failure(e.multiplicative_auction, people=300, goods=2, supply=100, epsilon=1e9, increment=0.1, least=1.0,
            optimum=e.OptimumRange.known(240.0))
    failure(e.PrintedPMatch, **literal)
    failure(e.matching_threshold, people=1000, **few)
    failure(e.bundle_threshold, people=1000, **few)
    failure(e.smallest_people, **few)
    failure(e.smallest_epsilon, people=10**7, goods=2, supply=10**6, increment=0.5)
    for entry in (e.reconstruction_floor, e.price_floor, e.allocation_floor):
        failure(entry, 0.1, old="failure")
    failure(e.supply_floor, 1, 0.1, old="failure")
    failure(e.least_supply, 0.001, 0.1, old="failure")
    return {
        **found,
        ("OptimumRelease", "unit"): (
            lambda: e.OptimumRelease(epsilon=1.0, failure_probability=0.1,
                                     unit="add_or_remove"),  # type: ignore[call-arg]
            e.OptimumRelease(epsilon=1.0, failure_probability=0.1, neighbours="add_or_remove")),
        ("printed_supply_floor", "failure"): (
            lambda: e.printed_supply_floor(1, failure=0.005),  # type: ignore[call-arg]
            e.printed_supply_floor(1, failure_probability=0.005)),
    }


def _of_programs() -> dict[str, tuple[Any, Any]]:
    """Old words of the printed DUDE."""
    from confide import programs as p
    from confide.evidence.wu_2017.private_programs import PrintedDude

    given: dict[str, Any] = {"program": p.UnitDemand(20, 9, goods=2), "epsilon": 1.0, "delta": 1e-3}
    it: Any = PrintedDude(**given)
    names = {"averaged": "noise_std", "kept_back": "reserve", "trivial": "baseline_gap",
             "squared_sensitivity": "squared_l2_sensitivity", "unit": "relation", "tosses": "public_randomness",
             "sigma": "used_l2_sensitivity",
             "deviation": "round_noise_std"}

    def plain(value: Any) -> Any:
        return value.tolist() if isinstance(value, np.ndarray) else value

    return {
        **{old: (lambda old=old: plain(getattr(it, old)), plain(getattr(it, new))) for old, new in names.items()},
        "beta": (lambda: PrintedDude(**given, beta=0.1), PrintedDude(**given, failure_probability=0.1)),
        "sensitivity": (lambda: replace(it, sensitivity=2.0), replace(it, l2_sensitivity=2.0)),
    }


def _of_regression() -> dict[tuple[str, str], tuple[Any, Any]]:
    """Old words of the printed formulas."""
    from confide import regression as r
    from confide.evidence import cummings_2015 as e

    setting = r.Setting(people=100, features=2, prior=r.GaussianBall(2, std=0.1, radius=1.0),
                        noise=r.TruncatedGaussianNoise(noise_std=0.1, bound=0.5))
    printed: Any = e.PrintedRidge(epsilon=1.0, ridge=3.0)
    one: Any = e.Corollary1(people=10**6, features=2, square_bound=1.0, noise_bound=0.5, exponent=4.0, delta=0.1)
    return {
        ("Corollary1", "failure"): (lambda: one.failure, one.failure_probability),
        ("PrintedRidge", "scale"): (lambda: printed.scale(setting), printed.noise_scale(setting)),
        ("compare_spectrum", "failure"): (
            lambda: e.compare_spectrum(3, tolerance=0.2, failure=1e-6),  # type: ignore[call-arg]
            e.compare_spectrum(3, tolerance=0.2, failure_probability=1e-6)),
    }


def _of_queries() -> dict[str, tuple[Any, Any]]:
    """Old words of DualQuery as printed."""
    from confide.evidence.wu_2017.query_release import PrintedDualQuery

    given: dict[str, Any] = {"eta": 1.0, "rounds": 2, "samples": 3}
    it: Any = PrintedDualQuery(records=10, **given)
    return {
        "n": (lambda: PrintedDualQuery(n=10, **given), it),
        "beta": (lambda: it.beta, it.failure_probability),
    }


def uses() -> dict[tuple[str, str], tuple[Any, Any]]:
    """What is done with old names of `confide.evidence`, and what the new ones give."""
    from confide.evidence import claims
    from confide.evidence.findings import OWN_COMPARISON, bound

    row, = claims("regression/lemma-6")
    compared = bound("pi", 3.14159, at_most=22 / 7, origin=OWN_COMPARISON)
    return {
        ("Compared", "told"): (lambda: compared.told, compared.stated),  # type: ignore[attr-defined]
        ("Claim", "ours"): (lambda: row.ours, row.correction),  # type: ignore[attr-defined]
        **{(f"wang_2016.data_market.{name}", "nature"): use for name, use in _of_bits().items()},
        **{(f"cummings_2015.{name}", old): use for (name, old), use in _of_regression().items()},
        **{(f"wu_2017.private_matchings.{name}", old): use for (name, old), use in _of_matchings().items()},
        **{("wu_2017.query_release.PrintedDualQuery", old): use for old, use in _of_queries().items()},
        **{("wu_2017.private_programs.PrintedDude", old): use for old, use in _of_programs().items()},
    }
