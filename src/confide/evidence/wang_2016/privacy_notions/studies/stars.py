"""Figure 2.4b: privacy against distortion for the ratings of one movie, with the exact curves beyond the print."""

from __future__ import annotations

import math

import numpy as np

from confide.channels.closed_forms import closed_form, printed_bounds
from confide.channels.constants import PriorConstants
from confide.channels.kernels import h
from confide.channels.notions import Notion
from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import Compared, Findings, Study, advance, as_printed, bound, evaluated, printed_digits
from confide.evidence.wang_2016.privacy_notions.worked_priors import FIVE_STARS


def _level(notion: Notion, share: float) -> float:
    found = closed_form(notion, FIVE_STARS, share)
    return math.nan if found is None else found


def _run(quick: bool, progress: Progress | None) -> Findings:
    found = PriorConstants.of(FIVE_STARS)
    end = h(found.kernel_level, 5, 1)
    grid = np.linspace(0.02, 0.8, 40 if quick else 240).tolist()
    rows = []
    for share in grid:
        rows += [(share, _level("identifiability", share), "least identifiability"),
                 (share, _level("dp", share), "least differential privacy"),
                 (share, printed_bounds(FIVE_STARS, share, found).dp[0], "source's lower bound of the latter")]
    picture = curves(rows, marks=[(end, found.kernel_level, "h(eps~_X) = 0.73 n")],
                     title="Ratings of one movie", x="expected changed rows, share of n", y="level, nats",
                     alt="Both least levels are one curve up to .7283 n. The source's lower bound for differential "
                         "privacy is .33 below it and is not attained. From .7467 n on a constant release does.")
    at, beyond = printed_bounds(FIVE_STARS, 0.4, found), printed_bounds(FIVE_STARS, 0.74, found)
    information = _level("mutual-information", 0.4)
    compared = (
        printed_digits("eps_X", "0.33", found.prior_level, origin=as_printed("Wang 2016, section 2.3, line 430")),
        printed_digits("eps~_X", "0.41", found.kernel_level, "a two-decimal grid, rounded up",
                       origin=as_printed("Wang 2016, section 2.3, line 430")),
        printed_digits("h(eps~_X)/n", "0.73", end, origin=as_printed("Wang 2016, section 2.3, line 430")),
        bound("eps_d* at D = .4 n; the source: a lower bound", _level("dp", 0.4), at_least=at.dp[0],
              remark="equals eps_i*", origin=evaluated("Wang 2016, section 2.3, line 430")),
        bound("eps_i* at D = .4 n; the source: a lower bound", _level("identifiability", 0.4),
              at_least=at.identifiability[0], remark="it is reached",
              origin=evaluated("Wang 2016, section 2.3, line 430")),
        Compared(quantity="eps_m* at D = .4 n, nats a row", published=None, ours=information,
                 agreement="not published"),
        Compared(quantity="eps_m* at D = .4 n, bits a row", published=None, ours=information / math.log(2),
                 agreement="not published"),
        Compared(quantity="eps_i* at D = .74 n", published=None, ours=_level("identifiability", 0.74),
                 agreement="not published"),
        bound("eps_d* at D = .74 n; the source: an upper bound", _level("dp", 0.74), at_most=beyond.dp[1],
              origin=evaluated("Wang 2016, section 2.3, line 430")),
    )
    table = Table(columns=("D/n", "eps_i*", "eps_d*", "eps_m*", "source: eps_d* at least", "at most"),
                  rows=tuple((share, _level("identifiability", share), _level("dp", share),
                              _level("mutual-information", share), *printed_bounds(FIVE_STARS, share, found).dp)
                             for share in (0.1, 0.2, 0.4, 0.6, end, 0.74, 0.7467, 0.8)), note="Nats, a row.")
    advance(progress, 1, 1)
    return Findings(compared=compared, blocks=(*picture, table))


STUDY = Study(
    name="channels-stars",
    title="How private the ratings of one movie can be",
    source="Wang 2016, Figure 2.4b",
    statement="eps_i* = h^-1 up to .73 n, and eps_d* lies within .33 below it.",
    run=_run,
)
