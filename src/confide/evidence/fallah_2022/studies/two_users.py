"""The case study of two people: what the first is offered as her report grows.

Uniform sensitivities, alpha = 2, VAR = 1/12, gamma in {10, 100, 400}. The source's appendix is missing from the text
that we read, so no published number stands beside ours. Formulas and numbers: spec two_part_acquisition section 11.
"""

from __future__ import annotations

import numpy as np

from confide.acquisition.optimum.solver import solve
from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Picture, Table
from confide.evidence.fallah_2022.two_users import TwoUsers
from confide.evidence.findings import OWN_COMPARISON, Compared, Findings, Study, advance, bound

__all__ = ["PRICES", "STUDY", "case"]

PRICES = (10.0, 100.0, 400.0)
_OTHERS = (0.1, 0.5, 0.9)
_SHOWN = (0.05, 0.25, 0.5, 0.75, 1.0)
_DRAWN = (("local loss", "nats"), ("central loss", "nats"), ("payment", ""), ("rent", ""))


def case(gamma: float) -> TwoUsers:
    """The case study at this price of the error."""
    return TwoUsers(variance_price=gamma / 12.0, noise_price=gamma)


def _first(gamma: float, reports: np.ndarray, other: float) -> np.ndarray:
    """(reports, 4): local loss, central loss, payment and rent of the first."""
    offers = case(gamma).offers(np.column_stack([reports, np.full(len(reports), other)]))
    return np.stack([offers.epsilon_local, offers.epsilon_central, offers.payments, offers.rents], axis=-1)[:, 0]


def _solver_difference(gamma: float, reports: np.ndarray) -> float:
    """The largest relative difference between the closed form and the general solver."""
    pairs = [(a, b) for a in reports for b in _OTHERS]
    closed = case(gamma).values(pairs)
    general = [solve(2.0 * np.array(pair), variance_price=gamma / 12.0, noise_price=gamma).value for pair in pairs]
    return float(np.max(np.abs(np.array(general) / closed - 1.0)))


def _run(quick: bool, progress: Progress | None) -> Findings:
    grid = np.linspace(0.01, 1.0, 12 if quick else 100)
    compared: list[Compared] = []
    pictures: list[Picture] = []
    rows: list[tuple[float, ...]] = []
    for done, gamma in enumerate(PRICES, 1):
        expected, name = case(gamma).expected(), f"gamma = {gamma:g}"
        compared += [Compared(quantity=f"{words}, {name}", published=None, ours=ours, agreement="not published",
                              remark=remark)
                     for words, ours, remark in (
                         ("c1 c2 from which one alone is bought from", case(gamma).switch, "never, above 1"),
                         ("expected cost", expected.cost, ""), ("expected payments", expected.payments, ""),
                         ("expected MSE", expected.error_cost / gamma, ""),
                         ("cost under full information", expected.full_information, ""),
                         ("largest relative difference to the solver", _solver_difference(gamma, grid), ""))]
        compared.append(bound(f"expected cost of the optimum, beside pooling, {name}", expected.cost,
                              at_most=expected.pooling, origin=OWN_COMPARISON))
        drawn = {other: _first(gamma, grid, other) for other in _OTHERS}
        for k, (quantity, unit) in enumerate(_DRAWN):
            points = [(float(c), float(table[j, k]), f"c2 = {other:g}")
                      for other, table in drawn.items() for j, c in enumerate(grid)]
            pictures += curves(points, title=f"{quantity.capitalize()} of the first, {name}", x="c1, her report",
                               y=f"{quantity}, {unit}" if unit else quantity, alt=_words(quantity, gamma))
        rows += [(gamma, other, c, *map(float, row)) for other in _OTHERS
                 for c, row in zip(_SHOWN, _first(gamma, np.array(_SHOWN), other), strict=True)]
        advance(progress, done, len(PRICES))
    return Findings(compared=tuple(compared), blocks=(*pictures, Table(
        columns=("gamma", "c2", "c1", *(" ".join(each).strip() for each in _DRAWN)), rows=tuple(rows),
        note="The rent is what a truthful person is left with. Payments may rise with the report where the other is "
             "dropped; the rent never does.")))


def _words(quantity: str, gamma: float) -> str:
    always = case(gamma).switch > max(_OTHERS) or quantity == "rent"
    return (f"{quantity.capitalize()} of the first person against her report at gamma = {gamma:g}, for three reports "
            "of the other: it falls with her report" + ("." if always else
            ", up to where one person alone is bought from: there it jumps up if she minds the platform less than the "
            "other, and to 0 if she minds it more."))


STUDY = Study(
    name="acquisition-two-users",
    title="Two people: what the first is offered",
    source="Fallah et al. 2022, case study with two users",
    statement="Privacy levels and payments of two people as functions of the reported sensitivities.",
    run=_run,
)
