"""The least sizes at which the printed theorems promise more than a trivial bound: the supplies and numbers of bidders
that the printed constants require.

There are 100 goods, and the failure probability is .05; spec allocation 3.3 and 5.
"""

from __future__ import annotations

import math

import numpy as np

from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import Compared, Findings, Study, advance, bound, evaluated, in_words
from confide.evidence.wu_2017.private_matchings.settings import BidsSetting
from confide.evidence.wu_2017.private_matchings.smallest import (
    bids_threshold,
    bundle_threshold,
    matching_threshold,
    smallest_epsilon,
    smallest_people,
)

__all__ = ["ASKED", "STUDY"]

_GOODS, _GAMMA = 100, 0.05
ASKED = ((0.1, 1.0), (0.5, 1.0), (0.5, 10.0), (0.9, 10.0))
"""Pairs (alpha, epsilon) of the required error and the privacy loss."""


def _supplies(people: int, alpha: float) -> tuple[float, float, float]:
    """Numbers of copies that Theorems 4.3.5, 4.3.11 and 4.4.2 require at epsilon = 1. For Theorem 4.3.11 positive
    values are 1, and the optimum is half the number of bidders.
    """
    share = BidsSetting(people=people, goods=_GOODS, epsilon=1.0, failure_probability=_GAMMA, increment=alpha,
                        least=1.0,
                        optimum=people / 2.0)
    return (matching_threshold(people, _GOODS, alpha, 1.0, _GAMMA).supply, bids_threshold(share)[0],
            bundle_threshold(people, _GOODS, alpha, 1.0, _GAMMA).supply)


def _run(quick: bool, progress: Progress | None) -> Findings:
    compared: list[Compared] = []
    rows: list[tuple[float, ...]] = []
    for done, (alpha, epsilon) in enumerate(ASKED, 1):
        people = smallest_people(_GOODS, alpha, epsilon, _GAMMA)
        supply = matching_threshold(people, _GOODS, alpha, epsilon, _GAMMA).supply
        million = smallest_epsilon(10**6, _GOODS, 50_000, alpha, _GAMMA)
        rows.append((alpha, epsilon, people, supply, million))
        compared.append(Compared(quantity=f"fewest bidders of Theorem 4.3.5, alpha = {alpha:g}, epsilon = {epsilon:g}",
                                 published=None, ours=float(people), agreement="not published"))
        advance(progress, done, len(ASKED) + 1)
    wanted = matching_threshold(10**6, 50, 0.5, 1.0, _GAMMA)
    compared += [bound("copies of each good, n = 10^6, k = 50, alpha = .5, epsilon = 1; the source: fewer than n",
                       wanted.supply, at_most=1e6, remark="if s >= n, no theorem is needed",
                       origin=in_words("Wu 2017, Theorem 4.3.5, line 2056")),
                 bound("bidders over those that the printed conditions ask for, where s is as small as it may be; "
                       "the source: 1", wanted.people / wanted.supply, at_most=1.0,
                       remark="Lemma 4.3.9 needs n >= 24E'/alpha, the theorem says n > s >= 16E'/alpha",
                       origin=evaluated("Wu 2017, Theorem 4.3.5, line 2056"))]
    points: list[tuple[float, float, str]] = []
    for people in np.geomspace(1e4, 1e13, 10 if quick else 60).round().astype(int).tolist():
        points += [(people, _supplies(people, alpha)[0], f"Theorem 4.3.5, alpha = {alpha:g}")
                   for alpha in (0.1, 0.5, 0.9)]
        points += [(people, _supplies(people, 0.5)[1], "Theorem 4.3.11, alpha = .5"),
                   (people, _supplies(people, 0.5)[2], "Theorem 4.4.2, alpha = .5"),
                   (people, people, "a copy for everybody")]
    advance(progress, len(ASKED) + 1, len(ASKED) + 1)
    return Findings(compared=tuple(compared), blocks=(
        *curves(points, title="Copies of each good that the printed theorems ask for, epsilon = 1", x="bidders n",
                y="copies s", log_x=True, log_y=True,
                alt="Required copies against bidders, both logarithmic. For every requested error, the theorems "
                    "require far more than a copy for everybody, up to some ten thousand million bidders."),
        Table(columns=("alpha", "epsilon", "fewest bidders", "copies of each good with these",
                       "least epsilon for 10^6 bidders, 50,000 copies"),
              rows=tuple(tuple(math.nan if math.isinf(x) else x for x in row) for row in rows),
              note=f"Theorem 4.3.5 with n >= 24E'/alpha, k = {_GOODS}, gamma = {_GAMMA:g}.")))


STUDY = Study(
    name="allocation-vacuity",
    title="From where on the printed theorems say anything",
    source="Wu 2017, Theorems 4.3.5, 4.3.11 and 4.4.2",
    statement="With s >= (16E' + 4)/alpha copies and n > s bidders PMatch loses at most alpha n of welfare.",
    run=_run,
)
