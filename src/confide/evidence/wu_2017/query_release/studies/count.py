"""Figure 2: error and run time of DualQuery as functions of the number of queries.

The simulated table has the columns and the size of KDD99, and each run has step size 1.2, 170 rounds and 1750 samples a
round; spec query_release F.
"""

from __future__ import annotations

import math
import time

from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import Compared, Findings, Study, advance, as_printed, bound, in_words, read_off
from confide.evidence.wu_2017.query_release.stand_ins import DELTA, FIGURE_2
from confide.evidence.wu_2017.query_release.studies.tables import NOTE, SHORT, Errors, errors, stand_in
from confide.privacy.gaussian import gdp_mu
from confide.release.calculators import all_epsilons
from confide.release.dual_query import DualQuery
from confide.release.oracle.local_search import LocalSearch

__all__ = ["STUDY"]


def _run(quick: bool, progress: Progress | None) -> Findings:
    n, eta, rounds, samples = FIGURE_2
    sizes = (5_000, 20_000) if quick else (40_000, 200_000, 500_000, 1_000_000, 2_000_000)
    search = SHORT if quick else LocalSearch()
    found: dict[int, Errors] = {}
    rows: list[tuple[float, ...]] = []
    for done, size in enumerate(sizes, 1):
        start = time.perf_counter()
        workload, answers = stand_in("KDD99", size, small=quick)
        counted = time.perf_counter() - start
        mechanism = DualQuery(records=n, eta=eta, rounds=rounds, samples=samples, workload=workload, oracle=search)
        if done == 1:  # what is compiled at its first use is not counted
            errors(DualQuery(records=n, eta=eta, rounds=2, samples=samples, workload=workload,
                             oracle=search), answers, 1)
        start = time.perf_counter()
        found[size] = errors(mechanism, answers, 1)
        seconds = time.perf_counter() - start
        sigma = math.sqrt(size) / gdp_mu(1.0, DELTA) / n
        rows.append((size, found[size].average, found[size].largest, sigma * math.sqrt(2 / math.pi),
                     sigma * math.sqrt(2 * math.log(2 * size)), seconds, counted))
        advance(progress, done, len(sizes))
    few, many = found[sizes[0]], found[sizes[-1]]
    epsilons = all_epsilons(n, eta, FIGURE_2[2], samples, DELTA)
    return Findings(compared=(
        bound("growth of the average error from fewest to most queries; the source: mostly stable",
              many.average / few.average, at_most=1.5, origin=in_words("Wu 2017, section 3.7, line 1385")),
        bound("growth of the largest error; the source: mostly stable", many.largest / few.largest, at_most=2.0,
              remark="more queries have a larger maximum of the same noise",
              origin=in_words("Wu 2017, section 3.7, line 1385")),
        bound("average error at most queries; published axis ends at .01", many.average, at_most=0.01,
              origin=read_off("Wu 2017, Figure 2, end of the axis, line 1326")),
        Compared(quantity="epsilon of the setting at delta = .001, by Theorem 3.4.2", published=1.0,
                 ours=epsilons["theorem-3.4.2"], agreement="differs", remark="erratum 2",
                 origin=as_printed("Wu 2017, section 3.7, line 1380")),
        Compared(quantity="epsilon of the setting at delta = .001, by zCDP", published=1.0, ours=epsilons["zcdp"],
                 agreement="differs", remark="less than what is claimed: the claim itself holds",
                 origin=as_printed("Wu 2017, section 3.7, line 1380")),
        Compared(quantity="queries weighed in a round, at most queries, each once and negated", published=None,
                 ours=2.0 * sizes[-1], agreement="not published", remark="linear"),
    ), blocks=(
        *curves([(row[0], row[k], name) for row in rows for k, name in (
            (1, "DualQuery, average"), (2, "DualQuery, largest"),
            (3, "Gaussian noise at (1, .001), average"), (4, "Gaussian noise at (1, .001), largest"))],
            title="Errors against the number of queries, KDD99's size", x="queries", y="error, share of the records",
            alt=f"From the fewest to the most queries, DualQuery's average error changes by "
                f"{100 * (many.average / few.average - 1):+.0f} %, and its largest error by "
                f"{100 * (many.largest / few.largest - 1):+.0f} %. The errors of naive Gaussian noise grow like the "
                f"square root of the number of queries. Both errors are below DualQuery's at "
                f"{sum(row[3] < row[1] and row[4] < row[2] for row in rows)} of {len(rows)} sizes."),
        *curves([(row[0], row[5], "all rounds") for row in rows], title="Run time against the number of queries",
                x="queries", y="seconds", alt="Seconds against the number of queries: nearly a straight line."),
        Table(columns=("queries", "average error", "largest error", "Gaussian noise, average", "and largest",
                       "seconds, rounds", "seconds, data and true answers"), rows=tuple(rows),
              note=f"{NOTE} {rounds} rounds. Gaussian noise: its mean and its usual largest value, not clipped to "
                   "[0, 1]. Seconds are those of this machine, and only they differ from run to run.")))


STUDY = Study(
    name="queries-count",
    title="Error and run time against the number of queries",
    source="Wu 2017, Figure 2",
    statement="Both errors of DualQuery stay mostly stable as queries are added, and its run time grows linearly.",
    run=_run,
)
