"""Corollary 1: rates at which everything vanishes, and what they are worth at sizes that occur."""

from __future__ import annotations

import math

from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.cummings_2015.corollary import corollary_1, slopes
from confide.evidence.findings import Compared, Findings, Study, advance, evaluated, near

_FEATURES, _BOUND, _EXPONENT, _DELTA = 10, 1.0, 4.0, 0.3


def _run(quick: bool, progress: Progress | None) -> Findings:
    sizes = [int(10 ** (k / 2)) for k in range(8, 25, 4 if quick else 1)]
    rows, table = [], []
    for k, n in enumerate(sizes):
        at = corollary_1(n, _FEATURES, _BOUND, _BOUND, _EXPONENT, _DELTA)
        rows += [(float(n), at.gain_ratio, "eta / b, printed: a lie may gain this"),
                 (float(n), at.loss_ratio, "the most that any lie can lose, over b"),
                 (float(n), at.noise_power, "E||v||^2; publishing zeros errs by 1")]
        table.append((n, at.epsilon, at.noise_power, at.shrinkage, at.gain_ratio, at.loss_ratio,
                      "yes" if at.gain_vacuous else "no", "yes" if at.accuracy_vacuous else "no"))
        advance(progress, k + 1, len(sizes))
    million = corollary_1(10**6, _FEATURES, _BOUND, _BOUND, _EXPONENT, _DELTA)
    compared = []
    for slope in slopes(million):
        stated = not math.isnan(slope.claimed)
        words = f"exponent of n: {slope.quantity}"
        compared.append(near(
            words, slope.claimed, slope.fitted, within=0.02,
            remark="the proof ends in n^(-delta/2)" if slope.quantity == "squared error, printed" else "",
            origin=evaluated("Cummings, Ioannidis and Ligett 2015, Corollary 1, line 322"),
        ) if stated else Compared(quantity=words, published=None, ours=slope.fitted, agreement="not published"))
    compared += [
        Compared(quantity="E||v||^2 at n = 10^6", published=None, ours=million.noise_power, agreement="not published",
                 remark="publishing zeros errs by at most 1"),
        Compared(quantity="eta / b at n = 10^6", published=None, ours=million.gain_ratio, agreement="not published",
                 remark=f"no lie can lose more than {million.loss_ratio:.3g} b: the claim holds for every lie"),
    ]
    picture = curves(rows, title="Corollary 1 at d = 10, p = 4, delta = .3", x="people n", y="", log_x=True, log_y=True,
                     alt="What a lie may gain by the printed claim grows with n, while the most that a lie can lose "
                         "falls towards a constant; the noise is longer than the parameter up to about 10^12 people.")
    columns = ("people n", "epsilon", "E||v||^2", "share of the estimate that shrinks away", "eta / b",
               "largest loss / b", "incentive claim empty", "accuracy claim empty")
    return Findings(compared=tuple(compared), blocks=(*picture, Table(columns=columns, rows=tuple(table))))


STUDY = Study(
    name="regression-corollary",
    title="The headline setting",
    source="Cummings, Ioannidis and Ligett 2015, Corollary 1",
    statement="Privacy, incentives, accuracy and budget all vanish at polynomial rates as n grows.",
    run=_run,
)
