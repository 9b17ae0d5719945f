"""Theorem 3: what the best lie gains, exactly, for one player among truthful peers."""

from __future__ import annotations

import numpy as np

from confide.charts import curves
from confide.contract.kinds import Progress
from confide.evidence.findings import Compared, Findings, Study, advance, bound, evaluated
from confide.regression.bounds import RidgeBounds
from confide.regression.posterior import PosteriorMean
from confide.regression.priors import UniformBall, UniformNoise
from confide.regression.scoring import ScoringRule
from confide.regression.spectrum import Spectrum, ridge_shrinkage

_PEERS, _RIDGE, _DIMENSION = 400, 20.0, 3
_ROW, _ANSWER = np.array([0.7, 0.4, 0.1]), 0.9


def _run(quick: bool, progress: Progress | None) -> Findings:
    rule = ScoringRule(0.0, 1.0, centred=True)
    prior, noise = UniformBall(dimension=_DIMENSION, radius=1.0), UniformNoise(bound=0.5)
    belief = PosteriorMean(prior, noise)
    truth = float(belief([_ROW], [_ANSWER])[0])
    shrinkage = ridge_shrinkage(_PEERS, _DIMENSION, _RIDGE)
    reports = np.linspace(-1.5, 1.5, 301 if quick else 2001)
    said = belief(np.tile(_ROW, (len(reports), 1)), reports)
    rows, best, gains = [], {}, {}
    cases = (("as printed: peers shrink towards zero", (1 - shrinkage) * truth), ("debiased", truth))
    for k, (label, mean) in enumerate(cases):
        paid = rule(mean, said) - rule(mean, truth)
        gains[label] = max(0.0, rule.best_gain(mean, truth, said))
        best[label] = float(reports[int(np.argmax(paid))])
        rows += [(float(y), float(value), label) for y, value in zip(reports, paid, strict=True)]
        advance(progress, k + 1, len(cases))
    estimate = RidgeBounds(
        spectrum=Spectrum.uniform_ball(rows=_PEERS, dimension=_DIMENSION, tolerance=0.5), ridge=_RIDGE,
        prior_radius=1.0, noise_bound=0.5, radius=1.25, noise_variance=noise.variance,
    )
    shrunk = cases[0][0]
    picture = curves(
        rows, title="What an answer earns, less what the truth earns", x="reported answer (the true one is 0.9)",
        y="expected gain, in units of b", marks=[(best[shrunk], gains[shrunk], "best lie")],
        alt="Among peers whose ridge estimate shrinks, reporting a little less than the truth gains 0.012 b; with the "
            "estimate divided by what it shrinks, nothing gains.",
    )
    printed = _RIDGE / (_RIDGE + 0.5 * 2 * _PEERS / (_DIMENSION + 2))
    return Findings(
        compared=(
            bound("bias of the peers' estimate (printed bound: 800 rows, xi = 1/2)", shrinkage, at_most=printed,
                  remark="the print counts all rows for a group of 400; at xi = .1 it is .122",
                  origin=evaluated("Cummings, Ioannidis and Ligett 2015, Theorem 3, line 260")),
            Compared(quantity="what the peers predict of her, on average", published=None,
                     ours=(1 - shrinkage) * truth, agreement="not published"),
            Compared(quantity="best gain of a lie, in b", published=None, ours=gains[shrunk],
                     agreement="not published", remark=f"the proved bound e^2 is {estimate.peer_error**2:.3g}"),
            Compared(quantity="best gain of a lie, debiased payments, in b", published=None, ours=gains["debiased"],
                     agreement="not published"),
        ),
        blocks=tuple(picture),
    )


STUDY = Study(
    name="regression-lies",
    title="What a lie is worth",
    source="Cummings, Ioannidis and Ligett 2015, Theorem 3",
    statement="Truth is an approximate equilibrium: no lie gains more than b times the squared bias of the peers.",
    run=_run,
)
