"""The pair mechanism on a real survey: what answers cost, and who knows enough of her peers to cheat it.

6,366 women by how they rate their marriage, and how many in each group had an affair (Fair 1978, as statsmodels ships
it; the counts are public). Her peers are those of a group that she does not know: spec data_market 6.
"""

from __future__ import annotations

import numpy as np

from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import Compared, Findings, Study, advance
from confide.market.costs import LinearCost
from confide.market.pairs.market import PairMarket, audit_groups
from confide.market.pairs.prior import PairPrior

__all__ = ["STUDY"]

_SIZES = (99, 348, 993, 2242, 2684)  # rate_marriage 1 to 5
_ONES = (74, 221, 547, 724, 487)
_COST = LinearCost(1.0)


def _run(quick: bool, progress: Progress | None) -> Findings:
    prior = PairPrior.of_groups(_SIZES, _ONES)
    levels = np.geomspace(0.3, 4.0, 8 if quick else 40).tolist()
    points: list[tuple[float, float, str]] = []
    for level in levels:
        market = PairMarket(prior, _COST, level)
        points.append((level, market.quote().expected_payment, "expected payment"))
        gains = [row.gain for row in audit_groups(market, _SIZES, _ONES)]
        points += [(level, gain, f"gain of who knows that her group is {k}") for k, gain in enumerate(gains, 1)]
    at_one = PairMarket(prior, _COST, 1.0)
    found = audit_groups(at_one, _SIZES, _ONES)
    advance(progress, 1, 1)
    compared = (
        Compared(quantity="expected payment at epsilon = 1, g(x) = x", published=None,
                 ours=at_one.quote().expected_payment, agreement="not published"),
        Compared(quantity="share of ones", published=None, ours=prior.signal_one, agreement="not published"),
        Compared(quantity="covariance of two bits of one group", published=None, ours=prior.covariance,
                 agreement="not published"),
        Compared(quantity="correlation", published=None, ours=prior.correlation, agreement="not published"),
        Compared(quantity="groups, of 5, whose members still do best by the mechanism's report once they know them",
                 published=None, ours=float(sum(row.truthful for row in found)), agreement="not published",
                 remark="the theorem needs that nobody knows her own group"),
    )
    table = Table(columns=("group", "women", "ones", "best report of who knows the group", "gain over the mechanism's"),
                  rows=tuple((k, size, ones, row.best.name, row.gain) for k, (size, ones, row) in
                             enumerate(zip(_SIZES, _ONES, found, strict=True), 1)),
                  note="At epsilon = 1. Within a known group bits are independent, so that nothing can be learned from "
                       "peers, and a constant report is best.")
    picture = curves(points, title="A real survey: what a report costs, and what knowing one's group gains",
                     x="epsilon", y="in units of the cost of one nat", log_y=True,
                     alt="Payment and gains, logarithmic, against epsilon: the payment is least near 1.3, and whoever "
                         "knows her group gains by a constant report at every level.")
    return Findings(compared=compared, blocks=(*picture, table))


STUDY = Study(
    name="market-affairs",
    title="Correlated bits of a real survey",
    source="Wang 2016, Theorem 9 (the source has no experiment)",
    statement="That everybody blurs her bit at the level that is paid for is an equilibrium.",
    run=_run,
)
