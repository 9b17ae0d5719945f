"""What is read after the settlement: the mean, a participant's payment, and a study's truth beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from confide.acquisition.mechanism import MeanBillboard, TwoPartMechanism
from confide.campaign.kinds.acquisition.plan import PlannedMean
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import stated
from confide.contract.kinds import Collection
from confide.contract.outcome import Outcome, PublicOutcome, SimulatedOutcome, settled_coins
from confide.contract.presentation import Section, Table, Text
from confide.contract.words import number
from confide.privacy.groups import group_blocks

__all__ = ["explained", "result_sections", "result_tables", "study_sections"]


def result_sections(plan: PlannedMean, outcome: PublicOutcome | SimulatedOutcome) -> Sequence[Section]:
    """The mean, how far off it can be, and what is promised to whom."""
    plan, board = _as_settled(plan, outcome), _billboard(outcome)
    it, known = plan.mechanism, plan.mechanism.certify(board)
    if not board.steps:
        found = Text(("No record came in: there is no mean.",))
    else:
        found = Text((
            f"The mean: {plan.measured(it.estimate(board))}.",
            *([] if it.low <= it.estimate(board) <= it.high else [
                f"It is outside of the range from {it.low:g} to {it.high:g}: by chance, where noise is large "
                "beside it, or because somebody's device did not do what it says. It is published as it is, uncut: a "
                "mean that is cut to its range is no longer right on average."]),
            "It estimates the mean of the population from which these people were drawn at random. "
            f"Its standard error is at most {plan.measured(math.sqrt(known.mse))}, whatever was reported, if "
            f"records lie in the range; {min(1.0, known.share):.1%} of the weight came in. Planned, in the mean "
            f"over the belief, was {plan.measured(plan.here.root_error)}. That of these very contracts is "
            "not published: it would tell of the reports.",
            f"It is {board.total:,} of {board.steps:,} steps of the range: both are public, and nothing else is.",
        ))
    return [
        Section(title="What was bought", blocks=(found,)),
        Section(title="What is promised, and to whom", blocks=(
            Text(stated(plan.guarantees)), *group_blocks(it, plan.guarantees.privacy))),
    ]


def result_tables(plan: PlannedMean, outcome: PublicOutcome | SimulatedOutcome) -> Mapping[str, pa.Table]:
    """`mean`: the estimate, and the bound of its standard error."""
    plan, board = _as_settled(plan, outcome), _billboard(outcome)
    it = plan.mechanism
    return {"mean": pa.table({
        "mean": [it.estimate(board) if board.steps else None],
        "standard_error_at_most": [math.sqrt(it.certify(board).mse)], "unit": [plan.config.record.unit]})}


def explained(
    plan: PlannedMean, outcome: Outcome | PublicOutcome | SimulatedOutcome, record: Any, index: int
) -> Sequence[Section]:
    """One participant's share: what, from what, and why."""
    plan, board = _as_settled(plan, outcome), _billboard(outcome)
    share = plan.mechanism.decode(record, index, board)
    stored = None if isinstance(outcome, PublicOutcome) else settled_coins(outcome, index)
    who = f"Participant {index + 1}"
    if stored is not None and stored != share["payment"]:
        return [Section(title=f"{who}: settled at {plan.coins(stored)}", private=True, blocks=(Text((
            f"What the files hold today would be paid {plan.coins(share['payment'])}: it is not what was settled. "
            f"What counts is the settlement: {plan.coins(stored)}.",)),))]
    if record is None or not record.steps:
        return [Section(title=f"{who}: nothing was asked", private=True, blocks=(Text((
            "No record was asked of this id, or none of its contract arrived; nothing is paid.",)),))]
    if not record.sent:
        return [Section(title=f"{who}: no record arrived", private=True, blocks=(Text((
            "There was a contract, and no record that a device sends came in on it; nothing is paid.",)),))]
    it = plan.mechanism
    return [Section(title=f"{who}: payment {plan.coins(share['payment'])}", private=True, blocks=(Text((
        f"For one noisy record, as the contract says: at most {number(record.epsilon_local)} nats towards the "
        f"operator and {number(record.epsilon_central)} towards the public, at order {it.order:g}.",
        f"The record counted {record.steps:,} of {board.steps:,} steps. The payment follows from everybody's "
        "reports and not from records: the public result does not give it, the operator's signature on the "
        "contract does.",
    )),))]


def study_sections(plan: PlannedMean, collection: Collection, outcome: SimulatedOutcome) -> Sequence[Section]:
    """The true mean beside what was bought, and what it cost."""
    it, board, data = plan.mechanism, _billboard(outcome), collection.data
    truth = data.truth[~np.isnan(data.truth)]
    inside = np.clip(truth, it.low, it.high)
    paid = int(outcome.shares["payment"].to_numpy().sum())
    rows: tuple[tuple[str, str], ...] = (
        ("mean of all records", plan.measured(float(truth.mean()))),
        ("  of those within the range", plan.measured(float(inside.mean()))),
        ("mean that was bought", plan.measured(it.estimate(board))),
        ("their variance, in squared widths", number(float(inside.var()) / it.width**2)),
        ("  that of the plan", number(it.scaled_variance)),
        ("paid in all", plan.coins(paid)),
        ("  expected", plan.money(plan.here.payments)),
    )
    return [Section(title="Beside the true records", study=True, blocks=(
        Table(columns=("what", "value"), rows=rows, note="The people who are asked are a sample: that is part of "
              "the error."),))]


def _billboard(outcome: Outcome | PublicOutcome | SimulatedOutcome) -> MeanBillboard:
    if not isinstance(outcome.billboard, MeanBillboard):
        raise InvalidInput("outcome", "is of another kind of campaign", "must be of the kind 'mean'")
    return outcome.billboard


def _as_settled(plan: PlannedMean, outcome: Outcome | PublicOutcome | SimulatedOutcome) -> PlannedMean:
    """The plan with the mechanism that ran: another version may plan another one."""
    it = outcome.mechanism
    if not isinstance(it, TwoPartMechanism):
        raise InvalidInput("outcome", "is of another kind of campaign", "must be of the kind 'mean'")
    return plan if it == plan.mechanism else PlannedMean(mechanism=it, config=plan.config)
