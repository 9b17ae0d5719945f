"""Figure 1: the largest error of DualQuery as a function of epsilon, on three tables.

The step size is 2, there are 1000 samples a round (5000 for Netflix), delta is .001, and the number of rounds follows
from Theorem 3.4.2; spec query_release F. The queries are 500,000 marginals with random signs. There are five runs for
Adult, two for KDD99 and one for Netflix.
"""

from __future__ import annotations

from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import Compared, Findings, Study, advance, bound, in_words
from confide.evidence.wu_2017.query_release.stand_ins import EPSILONS, FIGURE_1
from confide.evidence.wu_2017.query_release.studies.tables import (
    HEALTH,
    NOTE,
    SHORT,
    Errors,
    by_budget,
    errors,
    health,
    stand_in,
)
from confide.release.answers import true_answers
from confide.release.oracle.local_search import LocalSearch
from confide.release.workload import Workload

__all__ = ["STUDY"]

_RUNS = {"Adult": 5, "KDD99": 2, "Netflix": 1}
_QUICK = {"Adult": 4_000, "KDD99": 4_000, "Netflix": 2_000}


def _run(quick: bool, progress: Progress | None) -> Findings:
    epsilons, search = ((0.25, 1.0, 5.0), SHORT) if quick else (EPSILONS, LocalSearch())
    steps = (len(FIGURE_1) + 2) * len(epsilons)
    found: dict[tuple[str, float], Errors] = {}
    rows: list[tuple[str | float, ...]] = []
    points: list[tuple[float, float, str]] = []

    def note(series: str, epsilon: float, rounds: int, calculator: str, seen: Errors) -> None:
        found[series, epsilon] = seen
        rows.append((series, epsilon, calculator, rounds, seen.average, seen.largest))
        points.append((epsilon, seen.largest, series))
        advance(progress, min(len(rows), steps), steps)

    for name, (_, eta, samples) in FIGURE_1.items():
        case = stand_in(name, _QUICK[name] if quick else 500_000, small=quick)
        sizes = (1.0,) if quick and name == "Netflix" else epsilons
        for epsilon in sizes:
            mechanism = by_budget(case, epsilon, eta=eta, samples=samples, oracle=search)
            note(f"stand-in for {name}", epsilon, mechanism.rounds, "Theorem 3.4.2",
                 errors(mechanism, case[1], 1 if quick else _RUNS[name]))
            if name == "Adult":
                mechanism = by_budget(case, epsilon, eta=eta, samples=samples, calculator="zcdp",
                                      oracle=search)
                note("stand-in for Adult, rounds by zCDP", epsilon, mechanism.rounds, "zCDP",
                     errors(mechanism, case[1], 1 if quick else _RUNS[name]))
    real = health()
    if real is not None:
        workload = Workload.random(real.schema, 2_000 if quick else 20_000, seed=1)
        answers = true_answers(real, workload)
        for epsilon in epsilons:
            mechanism = by_budget((workload, answers), epsilon, eta=2.0, samples=100, oracle=search)
            note(HEALTH, epsilon, mechanism.rounds, "Theorem 3.4.2", errors(mechanism, answers, 1 if quick else 5))
    advance(progress, steps, steps)
    return Findings(compared=tuple(_compared(found)), blocks=(
        *curves(points, title="Largest error of DualQuery on 3-way marginals, delta = .001", x="epsilon, nats",
                y="largest error, share of the records",
                alt="The largest error against epsilon. The error falls steeply from .25 to 1, then slowly, and is "
                    "lower on larger tables. On the smallest table, the rounds of zCDP halve the error."),
        Table(columns=("table", "epsilon", "rounds by", "rounds T", "average error", "largest error"),
              rows=tuple(rows), note=f"{NOTE} The published curves are not in the text, only their axes.")))


def _compared(found: dict[tuple[str, float], Errors]) -> list[Compared]:
    compared: list[Compared] = []
    for name in ("stand-in for Adult", "stand-in for KDD99"):
        low, one, high = (found[name, epsilon].largest for epsilon in (0.25, 1.0, 5.0))
        compared.append(bound(
            f"fall of the largest error from epsilon = .25 to 1, {name}; the source: more than from 1 to 5",
            low - one, at_least=one - high, remark="noticeably, then less",
            origin=in_words("Wu 2017, section 3.7, lines 1364 and 1371")))
    adult = found["stand-in for Adult", 1.0].largest
    compared += [bound(f"largest error at epsilon = 1, stand-in for {name}; the source: less than Adult's",
                       found[f"stand-in for {name}", 1.0].largest, at_most=adult,
                       origin=in_words("Wu 2017, section 3.7, line 1373")) for name in ("KDD99", "Netflix")]
    compared += [Compared(quantity=f"largest error at epsilon = {epsilon:g}, {series}", published=None,
                          ours=seen.largest, agreement="not published")
                 for (series, epsilon), seen in found.items()]
    return compared


STUDY = Study(
    name="queries-accuracy",
    title="The largest error against epsilon",
    source="Wu 2017, Figure 1",
    statement="The error of DualQuery falls noticeably as epsilon grows to 1, then less, and with more records.",
    run=_run,
)
