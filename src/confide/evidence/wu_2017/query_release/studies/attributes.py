"""Figure 3: the error of DualQuery as a function of the number of independent attributes.

The queries are 100,000 positive marginals, or all 19,600 positive marginals for 50 attributes. The number n = 100,000
of records is from the authors' prototype and not in the text. The step size is .4, there are 200 to 50,000 samples a
round, and the number of rounds follows from Theorem 3.4.2 at (1, .001); spec query_release F. True answers are drawn
query by query from the law of each count.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import Compared, Findings, Study, advance, as_printed, bound, in_words, near
from confide.evidence.wu_2017.query_release.stand_ins import (
    FIGURE_3,
    FIGURE_3_ETA,
    FIGURE_3_RECORDS,
    product_answers_of,
)
from confide.evidence.wu_2017.query_release.studies.tables import Errors, by_budget, errors
from confide.privacy.noise.simulated import study_generator
from confide.release.answers import TrueAnswers
from confide.release.oracle.local_search import LocalSearch
from confide.release.workload import Workload

__all__ = ["STUDY"]

_SEARCH = LocalSearch(flips_per_variable=4, flips=500, random_starts=0)  # errors as with five times the flips
_ALL_RULES = 16_000  # attributes up to which the other rules are run too
_RULES: tuple[tuple[str, bool, Any], ...] = (
    ("positive literals, coins (as published)", False, "random"), ("positive literals, zeros", False, "zeros"),
    ("random literals, coins", True, "random"), ("random literals, zeros", True, "zeros"))


def _case(attributes: int, queries: int, signed: bool) -> tuple[Workload, TrueAnswers]:
    biases = study_generator(1, "biases").random(attributes)
    most = attributes * (attributes - 1) * (attributes - 2) // 6
    workload = Workload.complete(attributes) if queries >= most and not signed else \
        Workload.random(attributes, queries, seed=1, signed=signed)
    return workload, product_answers_of(biases, workload, FIGURE_3_RECORDS, seed=1)


def _run(quick: bool, progress: Progress | None) -> Findings:
    sizes = {50: 200, 250: 400} if quick else FIGURE_3
    queries = 2_000 if quick else 100_000
    found: dict[tuple[int, str], Errors] = {}
    rows: list[tuple[str | float, ...]] = []
    for done, (attributes, samples) in enumerate(sizes.items(), 1):
        for series, signed, free in _RULES:
            if series != _RULES[0][0] and attributes > _ALL_RULES:
                continue
            case = _case(attributes, queries, signed)
            mechanism = by_budget(case, 1.0, eta=FIGURE_3_ETA, samples=samples, free=free, oracle=_SEARCH)
            start = time.perf_counter()
            found[attributes, series] = errors(mechanism, case[1], 1)
            rows.append((attributes, samples, mechanism.rounds, series, *found[attributes, series],
                         time.perf_counter() - start))
        advance(progress, done, len(sizes))
    published = [found[attributes, _RULES[0][0]] for attributes in sizes]
    mean = float(np.mean([each.average for each in published]))
    last = found[list(sizes)[-1], _RULES[0][0]]
    common = max(attributes for attributes in sizes if attributes <= _ALL_RULES)
    zeros, coins = found[common, _RULES[1][0]].average, found[common, _RULES[0][0]].average
    mixed = found[common, _RULES[3][0]].average, found[common, _RULES[2][0]].average
    return Findings(compared=(
        near("average error, mean over all sizes", 0.08, mean, within=0.02,
             remark="small sizes alone" if quick else "", origin=as_printed("Wu 2017, section 3.7, line 1419")),
        Compared(quantity=f"average error, {list(sizes)[-1]:,} attributes", published=None, ours=last.average,
                 agreement="not published"),
        Compared(quantity=f"largest error, {list(sizes)[-1]:,} attributes", published=None, ours=last.largest,
                 agreement="not published"),
        bound(f"coins over zeros for free attributes, average error, {common:,} attributes, positive literals; "
              "the source: below 1", coins / zeros, at_most=1.0, remark="dense data, but sparse answers",
              origin=in_words("Wu 2017, section 3.7, line 1462")),
        bound(f"the same, random literals, {common:,} attributes", mixed[1] / mixed[0], at_most=1.0,
              origin=in_words("Wu 2017, section 3.7, line 1462")),
    ), blocks=(
        *curves([(attributes, each.average, series) for (attributes, series), each in found.items()],
                title="Average error against the number of attributes, (1, .001)", x="binary attributes",
                y="average error, share of the records", log_x=True,
                alt="The average error grows with the logarithm of the number of attributes, up to some 10 %. On "
                    "positive marginals the error is lower with zeros for free attributes than with random bits."),
        *curves([(attributes, each.largest, series) for (attributes, series), each in found.items()],
                title="Largest error against the number of attributes, (1, .001)", x="binary attributes",
                y="largest error, share of the records", log_x=True,
                alt="The largest error grows from less than a tenth to about a third."),
        Table(columns=("attributes", "samples s", "rounds T", "queries and free attributes", "average error",
                       "largest error", "seconds"), rows=tuple(rows),
              note=f"{queries:,} marginals of {FIGURE_3_RECORDS:,} records, one run each; with few attributes, all "
                   "positive marginals. The text gives the first and the last s; the others are those of the authors' "
                   "prototype. Seconds are those of this machine, without the true answers.")))


STUDY = Study(
    name="queries-attributes",
    title="Error against the number of attributes",
    source="Wu 2017, Figure 3",
    statement="On up to 512,000 independent attributes the average error of 100,000 marginals is 8 %.",
    run=_run,
)
