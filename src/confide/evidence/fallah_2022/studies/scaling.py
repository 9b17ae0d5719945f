"""What more people are worth: two-part contracts get cheaper like n^(-1/4), one contract for all does not.

c_i = (i - 1/2)/n, uniform prior, alpha = 2, VAR = 1/12. Formulas and numbers: spec two_part_acquisition section 12.
"""

from __future__ import annotations

import math

import numpy as np

from confide.acquisition.comparisons import central_only, full_information, pooling, scaling_law
from confide.acquisition.optimum.solver import Solution, solve
from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Picture, Table
from confide.evidence.findings import Compared, Findings, Study, advance

__all__ = ["STUDY"]

_PRICES = (10.0, 1e4)


def _reports(people: int) -> np.ndarray:
    found: np.ndarray = (np.arange(people) + 0.5) / people
    return found


def _run(quick: bool, progress: Progress | None) -> Findings:
    sizes = [10**k for k in range(2, 5 if quick else 7)]
    compared: list[Compared] = []
    pictures: list[Picture] = []
    rows: list[tuple[float, ...]] = []
    for step, gamma in enumerate(_PRICES):
        prices = {"variance_price": gamma / 12.0, "noise_price": gamma}
        points: list[tuple[float, float, str]] = []
        found: dict[int, Solution] = {}
        for done, n in enumerate(sizes, 1):
            found[n], law = solve(2.0 * _reports(n), **prices), scaling_law(n, **prices)
            active = int(np.count_nonzero(found[n].weights))
            points += [(n, cost, name) for name, cost in (
                ("pooling, or local losses alone", pooling(n, **prices).cost), ("two-part contracts", found[n].value),
                ("the law n^(-1/4)", law.cost),
                ("full information", full_information(_reports(n), **prices).cost),
                ("everybody trusts the platform", central_only(n, **prices).cost))]
            rows.append((gamma, n, found[n].value, law.cost, active, law.active,
                         float(found[n].epsilon_local.max()), float(found[n].epsilon_central.max())))
            compared.append(Compared(quantity=f"cost, gamma = {gamma:g}, n = {n:,}", published=None,
                                     ours=found[n].value, agreement="not published"))
            advance(progress, step * len(sizes) + done, len(_PRICES) * len(sizes))
        slope = math.log10(found[sizes[-1]].value / found[sizes[-2]].value)
        compared.append(Compared(quantity=f"slope of ln cost over ln n at the largest n, gamma = {gamma:g}",
                                 published=None, ours=slope, agreement="not published", remark="tends to -1/4"))
        pictures += curves(points, title=f"What more people are worth, gamma = {gamma:g}", x="people n",
                           y="gamma MSE + payments", log_x=True, log_y=True,
                           alt="Cost against the number of people, both logarithmic: level for one contract for all, "
                               "falling like n^(-1/4) for two-part contracts, close to the law from 10,000 people on, "
                               "and like n^(-1/2) if everybody trusted the platform.")
    return Findings(compared=tuple(compared), blocks=(*pictures, Table(
        columns=("gamma", "people n", "cost", "law", "bought from", "law", "largest local loss, nats",
                 "largest central loss, nats"), rows=tuple(rows),
        note="From those who hardly mind the platform records are bought with hardly any noise: their local losses are "
             "far above 1 unless virtual costs have a floor.")))


STUDY = Study(
    name="acquisition-scaling",
    title="What more people are worth",
    source="Fallah et al. 2022, problem (7)",
    statement="Different privacy levels for different people minimise the error plus the payments.",
    run=_run,
)
