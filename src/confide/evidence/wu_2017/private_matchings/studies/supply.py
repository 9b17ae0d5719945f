"""Welfare of private matchings as a function of the product of supply and epsilon, which mostly determines the welfare,
and welfare of rules without privacy.

Instances A and B have 10^5 bidders and 20 goods of 4,000 copies; spec allocation 4.3. A quick run has 10,000 bidders
and 10 goods of 800 copies.
"""

from __future__ import annotations

import math

from confide.allocation.pmatch import PMatch
from confide.allocation.sinkhorn_match import SinkhornMatch
from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Picture, Table
from confide.evidence.findings import Compared, Findings, Study, advance, bound, evaluated
from confide.evidence.wu_2017.private_matchings.studies.runs import NOTE, Rung, baselines, bidders, ran, rung_auction

__all__ = ["RUNGS", "STUDY"]

RUNGS: tuple[Rung, ...] = ((1.0, 1, 1), (0.3, 3, 10), (0.2, 5, 20), (0.1, 8, 30), (0.05, 14, 50))
"""Settings (alpha, C, R) of PMatch that are tried."""


def _run(quick: bool, progress: Progress | None) -> Findings:
    n, k, s = (10_000, 10, 800) if quick else (100_000, 20, 4_000)
    signals = (800, 8_000) if quick else (400, 800, 1_600, 4_000, 8_000, 40_000)
    rungs = RUNGS[:2] if quick else RUNGS
    kinds, runs, done = ("A", "B"), 1 if quick else 2, 0
    compared: list[Compared] = []
    pictures: list[Picture] = []
    rows: list[tuple[str | float, ...]] = []
    for kind in kinds:
        of = bidders(kind, n, k, s)
        beside = baselines(of)
        points = [(float(signal), share, name) for name, share in beside.items() for signal in signals]
        lost: dict[int, float] = {}
        for signal in signals:
            epsilon = signal / s
            market = PMatch.for_budget(people=n, goods=k, supply=s, epsilon=epsilon, certify_with=0.0)
            auction = ran(market, of, runs)
            tried = {f"{rung}": ran(rung_auction(rung, people=n, goods=k, supply=s, epsilon=epsilon, certify_with=0.0),
                                    of, runs).share for rung in rungs}
            tried["as recommended"] = auction.share
            rung, best = max(tried.items(), key=lambda one: one[1])
            smooth = ran(SinkhornMatch.for_budget(people=n, goods=k, supply=s, epsilon=epsilon, certify_with=0.0), of,
                         runs)
            lost[signal] = 1.0 - best
            points += [(signal, auction.share, "PMatch, recommended"), (signal, smooth.share, "SinkhornMatch")]
            rows.append((kind, signal, epsilon, auction.share, best, rung, smooth.share,
                         auction.over + smooth.over))
            compared += [Compared(quantity=f"share of the optimum, {name}, s epsilon = {signal:,}, instance {kind}",
                                  published=None, ours=share, agreement="not published") for name, share in (
                ("PMatch recommended", auction.share), ("PMatch at its best", best), ("SinkhornMatch", smooth.share))]
            done += 1
            advance(progress, done, len(kinds) * len(signals))
        slope = math.log(lost[signals[-1]] / lost[signals[0]]) / math.log(signals[-1] / signals[0])
        compared.append(bound(
            f"exponent of s epsilon in PMatch's loss at its best, instance {kind}; the source: -1/3 or less", slope,
            at_most=-1.0 / 3.0, remark="alpha = (s epsilon)^(-1/3), without logarithms and constants",
            origin=evaluated("Wu 2017, Theorem 4.1.1, line 1621")))
        pictures += curves(points, title=f"Welfare of private matchings, instance {kind}", x="supply times epsilon",
                           y="share of the optimum", log_x=True,
                           alt="Share of the optimum against supply times epsilon. PMatch rises from about half to "
                               "nearly all, and SinkhornMatch is above PMatch almost throughout. Without privacy, the "
                               "greedy rule reaches nearly the optimum, and a lottery of favourites about half.")
        compared += [Compared(quantity=f"share of the optimum, {name}, instance {kind}, no privacy", published=None,
                              ours=share, agreement="not published") for name, share in beside.items()]
    return Findings(compared=tuple(compared), blocks=(*pictures, Table(
        columns=("instance", "s epsilon", "epsilon", "PMatch, recommended", "PMatch, best", "at (alpha, C, R)",
                 "SinkhornMatch", "copies beyond supply"), rows=tuple(rows),
        note=f"n = {n:,}, k = {k}, s = {s:,}, gamma = .01, means over {runs}, no certificate. {NOTE}")))


STUDY = Study(
    name="allocation-supply",
    title="The effect of supply times epsilon",
    source="Wu 2017, Theorem 4.1.1",
    statement="Welfare OPT - alpha n takes a supply of 1/(alpha^3 epsilon), up to logarithms.",
    run=_run,
)
