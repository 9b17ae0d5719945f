"""Measured welfare of private matchings for several instances and settings. The study shows the welfare as a share of
the optimum, the share that the public certificate claims, and rules without privacy for comparison.

Spec allocation 4.3. A quick run has the same products of supply and epsilon on small markets.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from confide.allocation.baselines import exact_auction
from confide.allocation.instances import instance_a
from confide.allocation.optimum.solver import exact_optimum
from confide.allocation.pmatch import PMatch
from confide.allocation.sinkhorn_match import SinkhornMatch
from confide.charts import intervals
from confide.contract.errors import Refused
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import OWN_COMPARISON, Compared, Findings, Study, advance, bound, evaluated
from confide.evidence.wu_2017.private_matchings.studies.runs import (
    NOTE,
    Bidders,
    Rung,
    baselines,
    bidders,
    ran,
    rung_auction,
)

__all__ = ["STUDY"]

_COARSE, _MIDDLE, _FINE, _FINEST = (0.3, 3, 10), (0.2, 5, 20), (0.1, 8, 30), (0.05, 14, 50)


class _Case(NamedTuple):
    kind: str
    people: int
    goods: int
    supply: int
    epsilon: float
    rungs: tuple[Rung, ...]
    failure_probability: float = 0.01

    @property
    def name(self) -> str:
        return f"{self.kind} {self.people:,} x {self.goods}, s = {self.supply:,}, epsilon = {self.epsilon:g}"


_CASES = (
    _Case("A", 10**6, 50, 16_000, 1.0, (_COARSE, _FINE, _FINEST)),
    _Case("A", 10**5, 20, 4_000, 1.0, (_COARSE,)),
    _Case("A", 10**5, 20, 4_000, 4.0, (_FINE, _COARSE)),
    _Case("B", 10**5, 20, 4_000, 1.0, (_MIDDLE,)),
    _Case("B", 10**6, 50, 8_000, 1.0, (_COARSE,)),
    _Case("A", 10**5, 100, 800, 1.0, (_COARSE,)),
)
_QUICK = (
    _Case("A", 10_000, 10, 800, 20.0, (_COARSE,), 0.1),
    _Case("B", 10_000, 10, 800, 5.0, (_COARSE,), 0.1),
)


def _settings(case: _Case, rung: Rung, **changes: Any) -> PMatch:
    return rung_auction(rung, people=case.people, goods=case.goods, supply=case.supply, epsilon=case.epsilon,
                        failure_probability=case.failure_probability, **changes)


def _reserved(case: _Case, rung: Rung, of: Bidders) -> tuple[str | float, str | float]:
    """Share of the optimum with a reserve in place of the final clearing, and the size of that reserve."""
    try:
        auction = _settings(case, rung, reclear=0.0, certify_with=0.0)
    except Refused:
        return 0.0, "more than there are"
    return ran(auction, of, 1).share, float(auction.effective_reserve)


def _without_noise(quick: bool) -> list[tuple[float, float, float, float, float]]:
    """For each price increment alpha: alpha, the share of the optimum, the mean and the largest number of bids of a
    bidder, and the ratio of the welfare loss to its bound. The bound on the welfare loss is alpha n, for n bidders,
    plus the value of copies that batches leave unsold.
    """
    n, k, s = (5_000, 10, 400) if quick else (20_000, 20, 800)
    values = instance_a(n, k)
    optimum = exact_optimum(values, s).welfare
    rows = []
    for alpha in (0.05, 0.1, 0.2):
        run = exact_auction(values, s, alpha, batch=max(1, s // 40))
        unsold = float(run.prices.sum()) * (max(1, s // 40) - 1)
        rows.append((alpha, run.welfare / optimum, float(run.bids.mean()), float(run.bids.max()),
                     (optimum - run.welfare) / (alpha * n + unsold)))
    return rows


def _run(quick: bool, progress: Progress | None) -> Findings:
    cases = _QUICK if quick else _CASES
    compared: list[Compared] = []
    rows: list[tuple[str | float, ...]] = []
    dots: list[tuple[str, str, float, float, float]] = []
    before: tuple[tuple[Any, ...], Bidders, dict[str, float]] | None = None
    for done, case in enumerate(cases, 1):
        sizes = case[:4]
        if before is None or before[0] != sizes:
            of = bidders(*sizes)
            before = sizes, of, baselines(of)
        _, of, beside = before
        smooth = ran(SinkhornMatch.for_budget(people=sizes[1], goods=sizes[2], supply=sizes[3], epsilon=case.epsilon,
                                              failure_probability=case.failure_probability),
                     of, 1)
        for rung in case.rungs:
            auction = ran(_settings(case, rung), of, 1)
            # To simulate a reserve takes long; from 10^6 bidders on it is bounded.
            quickly = rung == _COARSE or case.people >= 10**6
            reserved, held_back = _reserved(case, rung, of) if quickly else ("not looked at", "")
            rows.append((case.name, f"{rung}", auction.share, auction.claimed, reserved, held_back, auction.over,
                         smooth.share, smooth.claimed, *beside.values()))
            name = f"{case.name}, {rung}"
            dots += [(name, "welfare", auction.share, auction.claimed, auction.share)]
            compared += [Compared(quantity=f"share of the optimum, PMatch, {name}", published=None, ours=auction.share,
                                  agreement="not published"),
                         bound(f"what its certificate claims, {name}", auction.claimed, at_most=auction.share,
                               remark="welfare beside it", origin=OWN_COMPARISON)]
        dots += [(f"{case.name}, SinkhornMatch", "welfare", smooth.share, smooth.claimed, smooth.share)]
        compared.append(Compared(quantity=f"share of the optimum, SinkhornMatch, {case.name}", published=None,
                                 ours=smooth.share, agreement="not published"))
        advance(progress, done, len(cases) + 1)
    free = _without_noise(quick)
    compared += [bound(f"loss without noise over alpha n and unsold copies, alpha = {alpha:g}; the source: at most 1",
                       loss, at_most=1.0,
                       remark=f"share of the optimum {share:.3f}, {mean:.1f} bids of a bidder in the mean",
                       origin=evaluated("Wu 2017, Theorem 4.3.5, line 2056"))
                 for alpha, share, mean, _, loss in free]
    advance(progress, len(cases) + 1, len(cases) + 1)
    return Findings(compared=tuple(compared), blocks=(
        *intervals(dots, title="Welfare, and what its certificate claims", axis="share of the optimum",
                   alt="Each dot is the welfare of one setting. A line leads from the dot down to the claim of the "
                       "public certificate, which is lower by .03 to .15."),
        Table(columns=("alpha", "share of the optimum", "bids of a bidder, mean", "largest", "loss over its bound"),
              rows=tuple(free), note="Without noise, batches of s/40."),
        Table(columns=("market", "(alpha, C, R)", "PMatch", "certified", "with a reserve", "reserve",
                       "copies beyond supply", "SinkhornMatch", "certified", *beside), rows=tuple(rows),
              note=f"One run each, gamma = {cases[0].failure_probability:g}, 30% of epsilon for the clearing and 2% "
                   f"for the certificate. {NOTE} With more than 200,000 bidders, shares are shares of an upper bound "
                   "on the optimum, and greedy is left out because it is slow.")))


STUDY = Study(
    name="allocation-measured",
    title="Private matchings, measured",
    source="Wu 2017, Theorem 4.3.5",
    statement="PMatch loses at most alpha for each bidder, plus the unsold copies of goods with a price.",
    run=_run,
)
