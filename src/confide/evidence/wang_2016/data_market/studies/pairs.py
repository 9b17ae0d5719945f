"""Chapter 5: what a pair of reports costs against its lower bound, with the ratio that the source calls 1.

Beta-binomial(2, 3) bits of 10 people, g(x) = x. Formulas: spec data_market section 4, errata E2 and E3.
"""

from __future__ import annotations

import numpy as np

from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import Compared, Findings, Study, advance, in_words
from confide.evidence.wang_2016.data_market.least_pair import least_pair_payment
from confide.market.costs import LinearCost
from confide.market.pairs.prices import cheapest_level, pair_floor, pair_prices
from confide.market.pairs.prior import PairPrior

__all__ = ["STUDY"]

_PRIOR, _COST = PairPrior.beta_binomial(2.0, 3.0, people=10), LinearCost(1.0)


def _run(quick: bool, progress: Progress | None) -> Findings:
    levels = np.geomspace(0.2, 8.0, 16 if quick else 120)
    prices, floors = pair_prices(_PRIOR, _COST, levels), pair_floor(_COST, levels)
    least = np.array([least_pair_payment(_PRIOR, _COST, float(level)).payment for level in levels])
    points = [(float(level), float(each), name)
              for name, column in (("mechanism", prices), ("least at N = 10", least), ("Proposition 1", floors))
              for level, each in zip(levels, column, strict=True)]
    limit = (1.0 + 1.0 / abs(_PRIOR.correlation)) / 2.0
    far = 20.0
    ratio = float(pair_prices(_PRIOR, _COST, far) / pair_floor(_COST, far))
    best = cheapest_level(_PRIOR, _COST)
    advance(progress, 1, 1)
    compared = (
        Compared(quantity=f"payment over its lower bound at epsilon = {far:g}", published=1.0, ours=ratio,
                 agreement="differs", remark="the term that is left out is of the same order (erratum E2)",
                 origin=in_words("Wang 2016, section 5.3, after (5.21), line 1651")),
        Compared(quantity="limit of that ratio, (1 + 1/|correlation|)/2", published=None, ours=limit,
                 agreement="not published"),
        Compared(quantity="cheapest epsilon", published=None, ours=best, agreement="not published",
                 remark="a smaller epsilon costs more"),
        Compared(quantity="payment at it", published=None, ours=float(pair_prices(_PRIOR, _COST, best)),
                 agreement="not published"),
    )
    shown = (0.5, 1.0, best, 2.0, 4.0, 8.0)
    table = Table(columns=("epsilon", "payment", "least at N = 10", "Proposition 1", "ratio to it"), rows=tuple(
        (level, float(pair_prices(_PRIOR, _COST, level)), least_pair_payment(_PRIOR, _COST, level).payment,
         float(pair_floor(_COST, level)), float(pair_prices(_PRIOR, _COST, level) / pair_floor(_COST, level)))
        for level in shown))
    picture = curves(
        points, title="What one report costs, general prior", x="epsilon", y="expected payment", log_y=True,
        alt="Expected payment of one person against epsilon: the mechanism's curve has a minimum near 1.27 and stays "
            "above its lower bound by a factor that tends to 3.5; the least at 10 people lies between.")
    return Findings(compared=compared, blocks=(*picture, table))


STUDY = Study(
    name="market-pairs",
    title="A general prior: what a report costs",
    source="Wang 2016, section 5.4, (5.17)-(5.21)",
    statement="The pair mechanism's payment is asymptotically optimal as epsilon grows.",
    run=_run,
)
