"""Welfare of PAlloc on bidders with capped additive valuations of bundles, compared with the optimum and with the
auction without noise.

The cap is the largest number of goods that a bidder wants. Values are those of instance A divided by the cap, so that a
bundle is worth at most 1. The cap is 2, and all copies together are .8 times the 2 n goods that n bidders want; spec
allocation 5.
"""

from __future__ import annotations

from typing import Any

from confide.allocation.bundles import CappedAdditiveValuation
from confide.allocation.duality import bundle_dual_bound
from confide.allocation.instances import instance_a
from confide.allocation.optimum.solver import exact_optimum
from confide.allocation.palloc import PAlloc
from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import OWN_CERTIFICATE, Compared, Findings, Study, advance, bound, evaluated
from confide.privacy.noise import Noise

__all__ = ["STUDY"]

_CAP = 2
_RUNGS = ((0.25, 3, 10), (0.15, 6, 12), (0.05, 12, 24), (0.025, 20, 40))
"""Settings (alpha, C, R) that are tried: price increment, largest number of bids of a bidder, and number of rounds."""


def _auction(public: dict[str, Any], rung: tuple[float, int, int]) -> PAlloc:
    """The auction with the arity of the counters that has the least error."""
    tried = [PAlloc(**public, increment=rung[0], bid_cap=rung[1], rounds=rung[2], arity=arity) for arity in (8, 16, 32)]
    return min(tried, key=lambda auction: auction.error)


def _run(quick: bool, progress: Progress | None) -> Findings:
    n, k = (5_000, 6) if quick else (100_000, 20)
    signals = (2_400, 24_000) if quick else (2_000, 4_000, 8_000, 16_000, 40_000, 160_000)
    s = round(0.8 * _CAP * n / k / 100) * 100
    rows_of = instance_a(n, k) / _CAP
    optimum = exact_optimum(rows_of, s, each=_CAP).welfare
    common: dict[str, Any] = {"people": n, "goods": k, "supply": s, "valuation": CappedAdditiveValuation(cap=_CAP)}
    quiet = PAlloc(**common, epsilon=1e9, increment=0.025, bid_cap=80, rounds=160, batch=max(1, s // 40), arity=2,
                   reclear=0.0, reserve=0, certify_with=0.0, halting="published")
    free: Any = quiet.run(rows_of, Noise.simulated(1))
    prices, held = free.billboard.prices, free.diagnostics["held"]
    least = quiet.increment * held + free.diagnostics["unsatisfied"] + float(prices.sum()) * (quiet.batch - 1)
    above = bundle_dual_bound(quiet.valuation.population(rows_of, people=n, goods=k), s, prices)
    compared: list[Compared] = [
        bound("welfare lost without noise; the source: at most alpha for each good held, plus the unsold copies",
              optimum - free.diagnostics["welfare"], at_most=least, remark="the proof's own bound, with batches",
              origin=evaluated("Wu 2017, Theorem 4.4.2, line 2570")),
        bound("optimum, beside the bound of the final prices", optimum, at_most=above, remark="weak duality",
              origin=OWN_CERTIFICATE),
        Compared(quantity="share of the optimum without noise", published=None,
                 ours=free.diagnostics["welfare"] / optimum, agreement="not published")]
    table: list[tuple[str | float, ...]] = []
    points: list[tuple[float, float, str]] = []
    for done, signal in enumerate(signals, 1):
        found = {}
        for rung in _RUNGS:
            auction = _auction({**common, "epsilon": signal / s, "batch": s // 2}, rung)
            outcome: Any = auction.run(rows_of, Noise.simulated(1))
            found[rung] = outcome.diagnostics["welfare"] / optimum
            table.append((signal, signal / s, *rung, auction.arity, auction.error / s, found[rung],
                          outcome.certificate.ratio, outcome.diagnostics["over_allocated"]))
        best = max(found, key=lambda one: found[one])  # used at once
        points += [(signal, found[rung], f"alpha = {rung[0]:g}, {rung[1]} bids") for rung in _RUNGS]
        compared.append(Compared(quantity=f"share of the optimum, s epsilon = {signal:,}", published=None,
                                 ours=found[best], agreement="not published", remark=f"(alpha, C, R) = {best}"))
        advance(progress, done, len(signals))
    return Findings(compared=tuple(compared), blocks=(
        *curves(points, title="Welfare of private auctions of bundles", x="supply times epsilon",
                y="share of the optimum", log_x=True,
                alt="Share of the optimum against supply times epsilon, for four settings. All settings rise. Coarse "
                    "prices are best if there is little supply, and finer prices are better if there is much."),
        Table(columns=("s epsilon", "epsilon", "alpha", "bids C", "rounds R", "arity", "E over s",
                       "share of the optimum", "certified", "copies beyond supply"), rows=tuple(table),
              note=f"n = {n:,}, k = {k}, s = {s:,}, two goods each, one run; the final clearing takes 30% of epsilon, "
                   "the certificate 2%.")))


STUDY = Study(
    name="allocation-bundles",
    title="Auctions of bundles",
    source="Wu 2017, Theorem 4.4.2",
    statement="PAlloc loses alpha for each good that is held, plus the unsold copies of goods with a price.",
    run=_run,
)
