"""Figure 2.2: identifiability and differential privacy against distortion, computed for a prior where they separate.

Two bits that agree with probability .9: p = (.45, .05, .05, .45). Formulas: spec privacy_notions 11 (own example).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from confide.channels.closed_forms import printed_bounds
from confide.channels.constants import PriorConstants
from confide.channels.distortion import privacy_distortion
from confide.channels.kernels import h, h_inverse
from confide.channels.notions import Notion
from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import Compared, Findings, Study, advance, bound, evaluated
from confide.evidence.wang_2016.privacy_notions.worked_priors import PAIR

__all__ = ["PAIR", "dp_level", "identifiability_level", "information"]

_A, _B = float(PAIR.table[0]), float(PAIR.table[1])
_OWN, _KERNEL = math.log(_A / _B), math.acosh(_A / _B)


def dp_level(distortion: float) -> float:
    """eps_d*(D) of the pair, in nats: D_d* = 2b + 2a e^-epsilon up to ln(a/b), h beyond."""
    if distortion <= h(_OWN, 2, 2):
        return h_inverse(distortion, 2, 2)
    return math.log(2 * _A / (distortion - 2 * _B)) if distortion < 1.0 else 0.0


def identifiability_level(distortion: float) -> float:
    """eps_i*(D) of the pair: D_i* = 1 + 2a - 2b e^epsilon between ln(a/b) and arccosh(a/b), h beyond."""
    if distortion <= h(_KERNEL, 2, 2):
        return h_inverse(distortion, 2, 2)
    return max(_OWN, math.log((1 + 2 * _A - distortion) / (2 * _B)))


def information(distortion: float) -> float:
    """eps_m*(D) of the pair, in nats: 2a (ln 2 - H_b((D - 2b)/(4a))) from h(arccosh(a/b)) to 1.

    Args:
        distortion: in this range.
    """
    share = (distortion - 2 * _B) / (4 * _A)
    return 2 * _A * (math.log(2) + share * math.log(share) + (1 - share) * math.log1p(-share))


def _run(quick: bool, progress: Progress | None) -> Findings:
    found = PriorConstants.of(PAIR)
    grid = np.linspace(0.01, 1.1, 40 if quick else 220).tolist()
    rows = [(d, identifiability_level(d), "least identifiability") for d in grid]
    rows += [(d, dp_level(d), "least differential privacy") for d in grid]
    rows += [(d, printed_bounds(PAIR, d, found).dp[0], "source's lower bound of the latter") for d in grid]
    end = h(found.kernel_level, 2, 2)
    picture = curves(
        rows, marks=[(end, found.kernel_level, "h(eps~_X)")], title="Two notions, one distortion",
        x="expected changed rows D, of 2", y="level, nats",
        alt="Least identifiability and least differential privacy are one curve up to h(eps~_X) = 0.1056 and further, "
            "until h(eps_X) = 0.2; then the first bends to the prior's own level and the second falls to 0.")
    gaps = [identifiability_level(d) - dp_level(d) for d in grid]
    inside = [gap for d, gap in zip(grid, gaps, strict=True) if d <= end]
    compared: tuple[Compared, ...] = (
        bound("eps_i* - eps_d*, largest for D <= h(eps~_X)", max(inside), at_most=found.prior_level,
              remark="an upper bound; it is 0", origin=evaluated("Wang 2016, Theorem 1, line 334")),
        Compared(quantity="eps_i* - eps_d*, largest for any D", published=None, ours=max(gaps),
                 agreement="not published", remark="eps_X bounds it everywhere"),
        Compared(quantity="eps~_X", published=None, ours=found.kernel_level, agreement="not published",
                 remark="arccosh 9"),
    )
    formulas: dict[Notion, Callable[[float], float]] = {
        "dp": dp_level, "identifiability": identifiability_level, "mutual-information": information}
    away = max(abs((privacy_distortion(notion, PAIR, d).value or math.nan) - formula(d))
               for notion, formula in formulas.items() for d in np.linspace(0.15, 0.95, 3 if quick else 9).tolist())
    compared += (Compared(quantity="programs and slopes less the formulas, largest, nats", published=None, ours=away,
                          agreement="not published", remark="certified to 1e-6"),)
    advance(progress, 1, 1)
    points = (0.05, end, 0.2, 0.4, 0.7, 1.0)
    table = Table(columns=("D", "eps_i*, nats", "eps_d*, nats", "eps_m*, nats", "source: eps_d* at least", "at most"),
                  rows=tuple((d, identifiability_level(d), dp_level(d), information(d) if d >= end else None,
                              *printed_bounds(PAIR, d, found).dp) for d in points))
    return Findings(compared=compared, blocks=(*picture, table))


STUDY = Study(
    name="channels-pair",
    title="Identifiability and differential privacy at one distortion",
    source="Wang 2016, Figure 2.2, Theorem 1",
    statement="eps_i* - eps_X <= eps_d* <= eps_i* for D in a certain range.",
    run=_run,
)
