"""Lemma 3: up to which privacy cost players are counted on to be truthful."""

from __future__ import annotations

from confide.charts import curves
from confide.contract.kinds import Progress
from confide.evidence.findings import Findings, Study, advance, bound, evaluated
from confide.regression.costs import ParetoCosts, threshold

_SHARE, _FAILURE, _EXPONENT = 0.05, 1e-6, 2.0


def _run(quick: bool, progress: Progress | None) -> Findings:
    costs = ParetoCosts(exponent=_EXPONENT)
    people = [int(10 ** (k / 2)) for k in range(4, 13, 2 if quick else 1)]
    rows = []
    for k, n in enumerate(people):
        for mode, label in (("lemma3", "Lemma 3"), ("exact", "exact, independent costs")):
            rows.append((float(n), threshold(n, _SHARE, _FAILURE, costs, mode=mode), label))
        advance(progress, k + 1, len(people))
    picture = curves(rows, title="Cost threshold", x="people n", y="tau", log_x=True, log_y=True,
                     alt="Lemma 3's threshold is the same for every n, a thousand times the exact one, which falls to "
                         "the quantile at the tolerated share.")
    compared = []
    for n, failure in ((10**6, _FAILURE), (10**4, 1e-3)):
        printed = (_SHARE * failure) ** (-1 / _EXPONENT)  # the quantile at 1 - alpha beta, as the lemma has it
        exact = threshold(n, _SHARE, failure, costs)
        compared.append(bound(
            f"tau, n = {n:,}, alpha = .05, beta = {failure:g}, Pareto exponent 2", exact, at_most=printed,
            remark=f"the bound is {printed / exact:.0f} times too large",
            origin=evaluated("Cummings, Ioannidis and Ligett 2015, Lemma 3, line 310")))
    return Findings(compared=tuple(compared), blocks=tuple(picture))


STUDY = Study(
    name="regression-threshold",
    title="Whose truth can be bought",
    source="Cummings, Ioannidis and Ligett 2015, Lemma 3",
    statement="tau is at most the larger of the cost quantiles at 1 - alpha beta and 1 - alpha.",
    run=_run,
)
