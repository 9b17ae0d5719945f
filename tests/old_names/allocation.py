"""Old names of `confide.allocation` in use: what is done with each, and what the new one gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from confide.privacy.noise import Noise

MARKET: dict[str, Any] = {"people": 300, "goods": 2, "supply": 100, "epsilon": 8.0}


def uses() -> dict[tuple[str, str], tuple[Any, Any]]:
    """What is done with old names of `confide.allocation`, and what the new ones give."""
    from confide import allocation as al
    from confide.allocation import bundles

    class PlainAscending(al.Ascending):
        """The base with nothing of its own."""

        rules = run = decode = None  # type: ignore[assignment]

    auction = {**MARKET, "increment": 0.2, "bid_cap": 2, "rounds": 3, "batch": 20, "arity": 4}
    smooth = al.SinkhornMatch(**MARKET)
    made: dict[str, Any] = {"Ascending": PlainAscending(**auction), "PMatch": al.PMatch(**auction),
                            "PAlloc": al.PAlloc(**auction, valuation=bundles.UnitDemandValuation())}
    board = smooth.run([[0.5, 0.25]] * 300, Noise.simulated(1)).billboard
    promises = al.EquilibriumPromises(people=9, supply=(4, 4), reserve=0, error=0.0, batch=1, increment=0.5)
    planned = al.plan(300, 2, 100, epsilon=8.0)
    crowd: dict[str, Any] = {"welfare": 0.9, "lowest": 0.8, "highest": 1.0, "certificate": None, "runs": 1,
                             "people": 9, "goods": 2}
    measured = made["PMatch"].measure("counts", 0.5, 1, 1)
    found = dict[tuple[str, str], tuple[Any, Any]]()

    def attributes(place: str, it: Any, **names: str) -> None:
        for old, new in names.items():
            found[place, old] = (lambda old=old: getattr(it, old), getattr(it, new))

    def failure(place: str, entry: Callable[..., Any], *given: Any, old: str = "gamma", **more: Any) -> None:
        """The probability that a promise fails, by its old keyword."""
        found[place, old] = (lambda: entry(*given, **more, **{old: 0.1}),
                             entry(*given, **more, failure_probability=0.1))

    for name, it in made.items():
        attributes(name, it, cell_distance="cell_sensitivities", distance="l1_sensitivity",
                   failure="overflow_probability", held_back="effective_reserve",
                   report_distance="report_l1_sensitivity", unit="relation")
        failure(name, type(it), **auction, **({"valuation": bundles.UnitDemandValuation()} if name == "PAlloc" else {}))
    attributes("SinkhornMatch", smooth, distance="l1_sensitivity", failure="overflow_probability",
               unit="relation")
    attributes("ScalingBillboard", board, seed="public_seed")
    attributes("AllocationPlan", planned, held_back="reserve")
    attributes("EquilibriumPromises", promises, trivial_loss="baseline_loss")
    failure("SinkhornMatch", al.SinkhornMatch, **MARKET)
    return {
        **found,
        ("", "Billboard"): (lambda: al.Billboard, al.AuctionBillboard),  # type: ignore[attr-defined]
        ("", "BundleWalk"): (lambda: al.BundleWalk, al.BundleReplay),  # type: ignore[attr-defined]
        ("", "Walk"): (lambda: al.Walk, al.Replay),  # type: ignore[attr-defined]
        ("", "walk"): (lambda: al.walk, al.replay),  # type: ignore[attr-defined]
        ("", "walk_bundle"): (lambda: al.walk_bundle, al.replay_bundle),  # type: ignore[attr-defined]
        ("", "Optimum"): (lambda: al.Optimum, al.OptimalAllocation),  # type: ignore[attr-defined]
        ("", "Prediction"): (lambda: al.Prediction, al.CrowdPrediction),  # type: ignore[attr-defined]
        ("CrowdPrediction", "blind"): (lambda: al.CrowdPrediction(**crowd, blind=0.5, baselines={}),
                                       al.CrowdPrediction(**crowd, baseline=0.5, baselines={})),
        ("CrowdPrediction", "beside"): (lambda: al.CrowdPrediction(**crowd, baseline=0.5, beside={}),
                                        al.CrowdPrediction(**crowd, baseline=0.5, baselines={})),
        ("auction_reach", "add_remove"): (
            lambda: al.auction_reach(3, add_remove=True),  # type: ignore[call-arg]
            al.auction_reach(3, absent=True)),
        ("bundle_reach", "add_remove"): (
            lambda: al.bundle_reach(3, tested="slot", add_remove=True),  # type: ignore[call-arg]
            al.bundle_reach(3, tested="slot", absent=True)),
        ("PMatch", "add_remove"): (lambda: replace(made["PMatch"], neighbours="add_remove"),
                                   replace(made["PMatch"], neighbours="add_or_remove")),
        ("SinkhornMatch", "coolest"): (lambda: al.SinkhornMatch(**MARKET, coolest=0.1),
                                       replace(smooth, end_temperature=0.1)),
        ("SinkhornMatch", "hottest"): (lambda: al.SinkhornMatch(**MARKET, hottest=0.3),
                                       replace(smooth, start_temperature=0.3)),
        ("SinkhornMatch", "substitution"): (
            lambda: al.SinkhornMatch(**MARKET, neighbours="substitution"), smooth),  # type: ignore[arg-type]
        ("SinkhornMatch", "recommended"): (
            lambda: al.SinkhornMatch.recommended(300, 2, 100, 8.0, spread=0.1),
            al.SinkhornMatch.for_budget(people=300, goods=2, supply=100, epsilon=8.0, spread=0.1)),
        ("WelfareCertificate", "gamma"): (
            lambda: al.WelfareCertificate(ratio=0.5, welfare=1.0, optimum=2.0,
                                          gamma=0.1).failure_probability, 0.1),  # type: ignore[call-arg]
        ("plan", "by position"): (lambda: al.plan(300, 2, 100, 8.0).to_dict(),  # type: ignore[call-arg, misc]
                                  planned.to_dict()),
        ("Ascending.measure", "distance"): (
            lambda: made["PMatch"].measure("counts", 0.5, distance=1, squared_l2_sensitivity=1), measured),
        ("Ascending.measure", "squared"): (
            lambda: made["PMatch"].measure("counts", 0.5, 1, squared=1), measured),
        ("AllocationPlan", "predicted"): (
            lambda: al.AllocationPlan(mechanism=smooth, error=0.0, reserve=0, draws=1, seconds=1.0, megabytes=1.0,
                                      predicted=planned.crowds).crowds, planned.crowds),  # type: ignore[call-arg]
        ("plan", "predicted"): (lambda: planned.predicted["A"], planned.crowds["A"]),
        ("bundles", "CappedAdditive"): (lambda: bundles.CappedAdditive(cap=2),  # type: ignore[attr-defined]
                                        bundles.CappedAdditiveValuation(cap=2)),
        ("bundles", "UnitDemand"): (lambda: bundles.UnitDemand,  # type: ignore[attr-defined]
                                    bundles.UnitDemandValuation),
    }
