"""What a plan of a regression says of second identities and agreements."""

from __future__ import annotations

import math

from confide.contract.presentation import Section, Table, Text
from confide.contract.words import few, number, percent
from confide.regression.planner import RegressionPlan
from confide.regression.second_identities import fewest_moving, moved_by
from confide.tables import Numeric

__all__ = ["deciding", "identities_section", "identity_warnings"]


def _setting(plan: RegressionPlan, response: Numeric) -> tuple[int, float, float, float]:
    """People, the largest residual and the typical error in the answer's unit, and the average leverage."""
    m = plan.mechanism
    return (m.setting.people, response.upper - response.lower,
            math.sqrt(m.release.prediction_error(m.setting)) * response.scale, float(m.setting.features))


def deciding(plan: RegressionPlan, response: Numeric) -> int | None:
    """The fewest identities with average features that move predictions by their typical error.

    Args:
        plan: the calibrated plan.
        response: role of the answer.
    """
    people, residual, error, leverage = _setting(plan, response)
    return fewest_moving(error, people, residual, leverage)


def identities_section(plan: RegressionPlan, response: Numeric, money: str) -> Section:
    """The fewest identities that gain, what each gains, and what they do to the coefficients.

    Args:
        plan: the calibrated plan.
        response: role of the answer.
        money: a typical payment in words.
    """
    people, residual, error, leverage = _setting(plan, response)
    many, unit = deciding(plan, response), response.unit or f"units of {response.column}"
    rows = [
        ("ids of one person, who earns more than with one", "2"),
        ("  a second id with a copy of her record is paid, on average", money),
        (f"  predictions move by at most ({unit})", number(moved_by(1, people, residual, leverage))),
        ("identities alike that can move predictions by their typical error",
         "none can" if many is None else f"{many:,} ({percent(many / people, 2)} of the invited)"),
        (f"  the typical error ({unit})", number(error)),
    ]
    return Section(title="Second identities and agreements", blocks=(
        Table(columns=("what", "figure"), rows=tuple(rows),
              note="Closed sums, for least squares without noise: a ridge makes it less. Moves are in root mean square "
                   "over all people, of records whose features are as far from the middle as an average person's, and "
                   "whose answer is wrong by the whole range."),
        Text((f"With 2 ids of one person they gain {money} more than with one, on average and before the cost of "
              "privacy: the second id hands in a copy of the first one's record.",
              "A promise of truth is about one person alone: what a group gains is not stated. Two people in different "
              "groups of the split who shift their answers alike can each be paid more. The operator has to see to it "
              "that nobody has two ids, and to check the features.",))))


def identity_warnings(plan: RegressionPlan, response: Numeric) -> tuple[str, ...]:
    """What the operator should know before anybody is asked.

    Args:
        plan: the calibrated plan.
        response: role of the answer.
    """
    said = few(deciding(plan, response), plan.mechanism.setting.people, "identities")
    return () if said is None else (
        f"{said}, can move predictions by their typical error: whoever has so many ids can choose them within that",)
