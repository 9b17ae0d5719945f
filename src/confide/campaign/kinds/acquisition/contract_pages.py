"""Contracts on the operator's pages and on a participant's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from confide.acquisition.release.losses import least_right
from confide.campaign.kinds.acquisition.plan import PlannedMean
from confide.campaign.kinds.acquisition.rounds import as_drawn, lattice_contract
from confide.contract.presentation import Block, Section, Table, Text
from confide.contract.words import number

__all__ = ["round_sections", "terms_sections"]

_SHOWN = 10  # rejected reports


def round_sections(plan: PlannedMean, drawn: Mapping[str, Any]) -> Sequence[Section]:
    """The operator's look at a round."""
    it, made = plan.mechanism, as_drawn(drawn, plan.mechanism.people)
    read = [Section(title="Reports (private: for the operator alone)", private=True, blocks=_read(drawn))]
    if not len(made.index):
        return [*read, Section(
            title="Contracts: nothing is bought (private: for the operator alone)", private=True, blocks=(Text((
                "By these reports too few people are within the price, or the mean would cost more than the error "
                "of what is known without it. Nobody is asked for a record.",)),))]
    steps, total = made.steps.astype(np.float64), float(made.steps.sum())
    noise = math.sqrt(float(made.variance)) / total * it.width
    error = math.sqrt(noise**2 + it.scaled_variance * it.width**2 * float(((steps / total) ** 2).sum()))
    rows = (
        ("people asked for a record", f"{len(made.index):,}"),
        ("payments in all, if each of them sends it", plan.coins(int(made.payment.sum()))),
        ("largest payment", plan.coins(int(made.payment.max()))),
        ("standard error of the mean, with records of the stated variance", plan.measured(error)),
        ("  of it noise alone", plan.measured(noise)),
        ("largest local loss", f"{number(float(made.epsilon_local.max()))} nats at order {it.order:g}"),
        ("largest central loss", f"{number(float(made.epsilon_central.max()))} nats"),
    )
    return [*read, Section(title="Contracts (private: for the operator alone)", private=True, blocks=(
        Table(columns=("what", "in this round"), rows=rows, note="All of it follows from the reports."),))]


def terms_sections(plan: PlannedMean, terms: Mapping[str, Any]) -> Sequence[Section]:
    """A contract as she reads it."""
    it = plan.mechanism
    contract = lattice_contract(it, terms)
    if not contract.active:
        return [Section(title="Your contract: nothing is asked of you", private=True, blocks=(Text((
            "No record is asked of you, and nothing is paid. What you reported stays with the operator.",)),))]
    noise = it.width * contract.noise_std / contract.steps
    right = [least_right(level, it.order) for level in (contract.epsilon_local, contract.epsilon_central)]
    return [Section(title=f"Your contract: {plan.coins(int(terms['payment']))} for one noisy record", private=True,
                    blocks=(
        Table(columns=("what", "for you"), rows=(
            ("you are paid, once your record has come in", plan.coins(int(terms["payment"]))),
            ("noise that your device adds, standard deviation", plan.measured(noise)),
            ("local loss, towards the operator", f"{number(contract.epsilon_local)} nats at order {it.order:g}"),
            ("central loss, towards the public", f"{number(contract.epsilon_central)} nats"),
            ("weight of your record, in steps", f"{contract.steps:,}"))),
        Text((f"What that means: who must guess whether your record is at the lower or the upper end of the "
              f"range, even money beforehand, is right {right[0]:.1%} of the time at most from what the operator "
              f"sees, and {right[1]:.1%} from what the public sees, as long as the others add their noise.",)),))]


def _read(drawn: Mapping[str, Any]) -> tuple[Block, ...]:
    """How many reports could be used, and who is rejected and why; reports are no secret from the operator."""
    rejected = drawn["rejected"]
    lost = f"{len(rejected):,} row{'s' * (len(rejected) != 1)} cannot:" if rejected else "no row is rejected."
    said = Text((f"{drawn['usable']:,} reports can be used; {lost}",))
    if not rejected:
        return (said,)
    first = tuple(rejected.items())[:_SHOWN]
    more = f"{len(rejected) - _SHOWN:,} more; the file of the round has them all." if len(rejected) > _SHOWN else ""
    return said, Table(columns=("id", "why"), rows=first, note=more)
