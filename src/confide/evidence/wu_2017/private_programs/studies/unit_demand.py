"""Measured welfare loss and excess for unit demand, with the certificate's bound on the excess, under the noise by
exact accounting and under the printed noise.

Values are uniform on [0, 1] times a popularity uniform on [.3, 1]. The supply is enough for half of all people, and 200
rounds follow a burn-in of 100. Spec convex_programs 9.3.
"""

from __future__ import annotations

import math

from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import OWN_CERTIFICATE, Compared, Findings, Study, advance, bound, evaluated
from confide.evidence.wu_2017.private_programs.printed_bounds import printed_accuracy
from confide.evidence.wu_2017.private_programs.studies.runs import DELTA, REFERENCE, market, printed_epsilon, ran
from confide.programs.priv_dude import PrivDude

__all__ = ["STUDY"]

_Spec = tuple[float, float, float]
_SIZES: tuple[tuple[int, int, float, bool, _Spec], ...] = (
    (2_000, 5, 1.0, False, (0.011, 0.033, 0.092)),
    (20_000, 10, 1.0, False, (0.0007, 0.009, 0.022)),
    (20_000, 10, 1.0, True, (0.026, 0.15, 0.35)),
    (20_000, 10, 0.1, False, (0.009, 0.079, 0.18)),
    (100_000, 10, 1.0, False, (0.0002, 0.0018, 0.0042)),
    (100_000, 10, 1.0, True, (0.004, 0.029, 0.069)),
    (100_000, 10, 0.1, False, (0.002, 0.015, 0.036)),
)
"""Sizes (n, k), epsilon, whether the noise is the printed one, and the specification's gap, largest excess and
certificate.
"""


def _run(quick: bool, progress: Progress | None) -> Findings:
    sizes, runs = (_SIZES[:4], 1) if quick else (_SIZES, 4)
    compared: list[Compared] = []
    rows: list[tuple[str | float, ...]] = []
    points: list[tuple[float, float, str]] = []
    for done, (n, k, epsilon, printed, spec) in enumerate(sizes, 1):
        program, values, best = market(n, k)
        of = printed_epsilon(epsilon, 300) if printed else epsilon
        found = ran(PrivDude(program, of, DELTA), values, best, runs)
        name = f"n = {n:,}, k = {k}, epsilon = {epsilon:g}, {'noise of the print' if printed else 'exact noise'}"
        rows.append((n, k, epsilon, "print" if printed else "exact", found.lost, found.gap, found.largest,
                     found.certified, *spec))
        said = printed_accuracy(people=n, rows=k, tau=1.0, width=float(n), sensitivity=math.sqrt(2.0), epsilon=epsilon,
                                delta=DELTA, failure_probability=0.05)
        compared += [
            bound(f"lost welfare over the optimum, {name}", found.lost, at_most=said.welfare_loss / best,
                  remark="the print's bound says nothing above 1",
                  origin=evaluated("Wu 2017, Theorem 5.3.17 and Corollary 5.4.1, lines 4273 and 4446")),
            bound(f"largest excess over supply, {name}; the certificate claims", found.largest,
                  at_most=found.certified if found.kept else 0.0, origin=OWN_CERTIFICATE)]
        if not printed:
            points += [(n * epsilon / (2.0 * k), found.largest, "excess"),
                       (n * epsilon / (2.0 * k), found.certified, "certified excess"),
                       (n * epsilon / (2.0 * k), found.gap, "lost welfare, without its sign")]
        advance(progress, done, len(sizes))
    return Findings(compared=tuple(compared), blocks=(
        *curves(sorted(points, key=lambda one: (one[2], one[0])), title="Unit demand: what privacy costs",
                x="supply of a good times epsilon", y="share", log_x=True, log_y=True,
                alt="Shares against supply times epsilon, both logarithmic. Excess, certified excess and lost welfare "
                    "all fall. The certified excess is about twice the excess."),
        Table(columns=("n", "k", "epsilon", "noise", "lost welfare", "without its sign", "largest excess",
                       "certified", "reference: lost", "reference: excess",
                       "reference: certified"), rows=tuple(rows),
              note="Welfare may be above the optimum, since excess has a value. Shares of the optimum and of a row's "
                   f"supply, mean of {runs}, T = 200 + 100. From 50,000 people times goods on, the optimum is "
                   f"the dual value of prices without noise. {REFERENCE}")))


STUDY = Study(
    name="programs-measured",
    title="The cost of privacy with unit demand",
    source="Wu 2017, Theorem 5.3.17 and Corollary 5.4.1",
    statement="Welfare and supply are off by the order of k/epsilon, in all.",
    run=_run,
)
