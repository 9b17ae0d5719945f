"""The study beside a simulated run: the same campaign without privacy. Uses private data; never a release."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow.compute as pc

from confide.charts import intervals
from confide.contract.outcome import SimulatedOutcome
from confide.contract.presentation import Section, Table, Text
from confide.contract.words import money_at_most
from confide.regression.planner import RegressionPlan
from confide.regression.private_truthful_regression import RegressionBillboard
from confide.regression.records import Batch, as_batches
from confide.tables import Design, Numeric

__all__ = ["least_squares", "r_squared", "study_sections"]


def least_squares(batches: Iterable[Batch], features: int) -> np.ndarray:
    """The least-squares coefficients (d,) of streamed records, without privacy."""
    gram, cross = np.zeros((features, features)), np.zeros(features)
    for batch in batches:
        gram += batch.X.T @ batch.X
        cross += batch.X.T @ batch.y
    return np.linalg.lstsq(gram, cross, rcond=None)[0]


def r_squared(batches: Iterable[Batch], coefficients: dict[str, np.ndarray]) -> dict[str, float]:
    """R^2 of several coefficient vectors on streamed records."""
    errors = dict.fromkeys(coefficients, 0.0)
    count, total, squares = 0, 0.0, 0.0
    for batch in batches:
        count += len(batch.y)
        total += float(batch.y.sum())
        squares += float(batch.y @ batch.y)
        for name, theta in coefficients.items():
            errors[name] += float(np.sum((batch.y - batch.X @ theta) ** 2))
    spread = squares - total**2 / max(1, count)
    return {name: 1.0 - error / spread for name, error in errors.items()}


def study_sections(
    plan: RegressionPlan, billboard: RegressionBillboard, data: Iterable[Batch], outcome: SimulatedOutcome,
    design: Design, response: Numeric,
) -> list[Section]:
    """Released beside least squares, the fit of both, and what would have been paid in all."""
    m = plan.mechanism
    plain = least_squares(as_batches(data, m.setting.features), m.setting.features)
    fits = r_squared(as_batches(data, m.setting.features), {"released": billboard.coef, "least squares": plain})
    names, units = design.natural_names(), design.natural_units(response)
    ours = design.natural(billboard.coef, response).coefficients
    theirs = design.natural(plain, response).coefficients
    together = zip(names, ours, theirs, units, strict=True)
    rows = tuple((name, float(a), float(b), float(a - b), unit) for name, a, b, unit in together)
    bars: dict[str, list[tuple[str, str, float, float, float]]] = {}  # one picture for each unit
    for name, a, b, unit in zip(names, ours, theirs, units, strict=True):
        bars.setdefault(unit, []).extend(
            (name, source, float(v), float(v), float(v))
            for source, v in (("released (simulated noise)", a), ("least squares, no privacy", b)))
    coins = pc.sum(outcome.shares["payment"]).as_py() / m.payment.minor_units
    paid = outcome.shares["payment"].to_numpy() / m.payment.minor_units
    money = tuple((f"{q:.0%} of payments are at most", float(np.quantile(paid, q))) for q in (0.0, 0.1, 0.5, 0.9, 1.0))
    return [
        Section(title="Beside least squares without privacy", study=True, blocks=(
            Table(columns=("coefficient", "released", "least squares", "difference", "unit"), rows=rows),
            Table(columns=("fit on these records", "R squared"), rows=tuple(fits.items())),
            *(picture for unit, group in bars.items() for picture in intervals(
                group, title="With and without privacy", axis=unit,
                alt=f"Released coefficients in {unit} beside the least-squares coefficients of the same records.")),
        )),
        Section(title="What would have been paid", study=True, blocks=(
            Text((f"In all {coins:,.2f} {m.payment.currency}; promised in public: at most "
                  f"{money_at_most(plan.figures.expected_total, m.payment.minor_units, m.payment.currency)} on "
                  "average.",)),
            Table(columns=("payments", m.payment.currency), rows=money),
        )),
    ]
