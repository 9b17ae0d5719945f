"""The number of copies of each good at which a small excess is guaranteed: by the printed bound, by the bound of this
project before a run, and by the certificate after a run.

Programs have unit demand with twice as many people as copies, delta = 10^-6 and failure probability .05. The guaranteed
total excess is at most 5% of the total supply. Spec convex_programs 9.2.
"""

from __future__ import annotations

import numpy as np

from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import OWN_CERTIFICATE, Compared, Findings, Study, advance, bound, evaluated
from confide.evidence.wu_2017.private_programs.printed_bounds import smallest_supply
from confide.evidence.wu_2017.private_programs.studies.runs import DELTA, best_of, ran
from confide.programs.families.unit_demand import UnitDemand
from confide.programs.instances import popular
from confide.programs.priv_dude import PrivDude

__all__ = ["STUDY"]

_SIZES = ((10, 1.0), (10, 0.1), (100, 1.0))


def _run(quick: bool, progress: Progress | None) -> Findings:
    compared: list[Compared] = []
    rows: list[tuple[float, ...]] = []
    for goods, epsilon in _SIZES:
        found = smallest_supply(goods=goods, epsilon=epsilon)
        rows.append((goods, epsilon, found.printed, 2.0 * goods * found.printed, found.a_priori, found.certificate))
        compared.append(bound(f"copies of each good for a promise of 5%, k = {goods}, epsilon = {epsilon:g}",
                              found.certificate, at_most=found.printed,
                              remark=f"{found.a_priori:,} before the run, with unlimited rounds",
                              origin=evaluated("Wu 2017, Theorem 5.3.17 and Corollary 5.4.1, lines 4273 and 4446")))
    advance(progress, 1, 2)
    supply = smallest_supply(goods=10, epsilon=1.0).certificate
    program, values = UnitDemand(20 * supply, float(supply), goods=10), popular(20 * supply, 10, 1)
    runs = ran(PrivDude(program, 1.0, DELTA), values, best_of(program, values), 2 if quick else 10)
    compared += [
        Compared(quantity=f"certified excess of a row over its supply, {supply} copies, n = {20 * supply:,}",
                 published=None, ours=runs.certified, agreement="not published",
                 remark="planned: 5%, where prices stay inside their box"),
        bound("excess of a row over its supply there; the certificate claims", runs.largest, at_most=runs.certified,
              origin=OWN_CERTIFICATE)]
    points: list[tuple[float, float, str]] = []
    for epsilon in np.geomspace(0.05, 10.0, 6 if quick else 24):
        found = smallest_supply(goods=10, epsilon=float(epsilon))
        points += [(float(epsilon), float(each), name) for name, each in (
            ("the print", found.printed), ("our bound before a run", found.a_priori),
            ("a run's certificate", found.certificate))]
    advance(progress, 2, 2)
    return Findings(compared=tuple(compared), blocks=(
        *curves(points, title="Copies of each good from which on 5% of excess is promised, k = 10", x="epsilon",
                y="copies", log_x=True, log_y=True,
                alt="Copies of a good against epsilon, both logarithmic. The printed bound needs millions of copies, "
                    "our bound before a run needs hundreds to thousands, and a certificate needs about half of our "
                    "bound."),
        Table(columns=("goods k", "epsilon", "print", "people that takes", "before the run", "certificate"),
              rows=tuple(rows), note="Unit demand with supply for half of all people, delta = 10^-6, beta = .05.")))


STUDY = Study(
    name="programs-supply",
    title="How much supply a promise takes",
    source="Wu 2017, Theorem 5.3.17 and Corollary 5.4.1",
    statement="With probability 1 - beta all rows together are exceeded by 2 R_p/tau at most.",
    run=_run,
)
