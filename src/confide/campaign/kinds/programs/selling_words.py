"""What a plan that shares by a program says of second identities and agreements."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.campaign.kinds.programs.made_up import made_up
from confide.campaign.kinds.programs.words import said
from confide.contract.guarantees import Truthfulness
from confide.contract.presentation import Section, Table, Text
from confide.contract.words import few, percent
from confide.numerics.fewest import fewest
from confide.people.slot_rows import SlotRows
from confide.privacy.groups import SIZES
from confide.privacy.noise import Noise
from confide.programs.reading.slots import collected

if TYPE_CHECKING:
    from confide.campaign.kinds.programs.plan import SharingPlan

__all__ = ["part_of_another", "selling_section", "selling_warnings"]

_CROWDS = 3  # made up, each with people and noise of its own
_MOST_CELLS = 20_000_000  # people x rows x rounds, up to which a run on made-up people is made


def part_of_another(plan: SharingPlan) -> tuple[float, float] | None:
    """What an identity is handed on average over all people, in value less its price, at the prices of made-up crowds.

    A second identity with the record of somebody drawn from such a crowd is handed about as much; one of a given
    person more or less, by the record.

    Args:
        plan: of the file; where nothing is charged, the price is 0.

    Returns:
        In units of value, the mean over crowds and its standard error, each crowd with its own people and noise; None
        where a run of the plan's size takes long.
    """
    it = plan.mechanism
    if it.program.people * it.program.rows * it.rounds > _MOST_CELLS:
        return None
    found = list[float]()
    for seed in range(1, _CROWDS + 1):
        records = collected(it.program, iter([SlotRows(np.arange(it.program.people), made_up(it.program, seed))]))
        told: Any = it.run(records, Noise.simulated(seed)).diagnostics
        found.append((float(told["value"]) - float(told.get("paid", 0.0))) / it.program.people)
    return float(np.mean(found)), float(np.std(found, ddof=1) / math.sqrt(_CROWDS))


def _fewest_to_fill(plan: SharingPlan) -> int:
    """The fewest people whose parts can use up some row, each with the largest part that there is."""
    one = plan.mechanism.program
    return math.ceil(float(np.min(np.abs(np.asarray(one.supplies)))) / one.constants.largest_entry)


def selling_section(plan: SharingPlan) -> Section:
    """What a second identity is handed, and what a group gains at most.

    Args:
        plan: of the file.
    """
    it, names = plan.mechanism, plan.coding
    gain: Any = getattr(it, "gain_of", None)
    most, people = it.program.constants.most_value, it.program.people
    told = [_second(plan)]
    rows: list[tuple[int, str]] = []
    if gain is not None and any(not each.vacuous for each in plan.guarantees.of(Truthfulness)):
        rows = [(size, f"{said(names, gain(size))} {names.worth}" if gain(size) < most else "nothing is promised")
                for size in (1, *SIZES)]
        least = fewest(lambda size: gain(size) >= most, people)
        told.append("Up to everybody together, the bound below says something." if least is None else
                    f"From {least:,} people who agree on ({percent(least / people, 2)} of the invited), nothing is "
                    "promised of what each of them gains.")
    else:
        told.append("Nothing is promised of what one person alone gains by a lie, or a group.")
    many = _fewest_to_fill(plan)
    decide = " and so decide its price" if plan.charges else " and so decide what others get of it"
    told += ["A second id moves what is published by no more than the promise of privacy says of one record.",
             f"{many:,} people ({percent(many / people, 2)} of the invited) with the largest parts can use up a row,"
             f"{decide}." if many <= people else "Not even all people together can use up a row.",
             "The operator has to see to it that nobody has two ids."]
    bound = Table(columns=("people who report something else together", "each gains at most"), rows=tuple(rows),
                  note="By the total variation of the prices, whose deviations add up over a group: in the mean over "
                       "the noise.")
    return Section(title="Second identities and agreements",
                   blocks=(Text(tuple(told)), *((bound,) if rows else ())))


def _second(plan: SharingPlan) -> str:
    """What two ids of one person gain, in sentences."""
    found, names = plan.another, plan.coding
    if found is None:
        return "No run on made-up people was made at this size: what a second id is handed is not stated."
    part = f"{said(names, found[0])} +- {said(names, found[1])} {names.worth}"
    which = (f"on average over all people of {_CROWDS} made-up crowds of {plan.mechanism.program.people:,} (+- is one "
             "standard error, between crowds). A second part is worth more or less than that, by its owner's record")
    if plan.charges:
        return (f"One second id, with the same record, is handed a part of its own. The part of an id is worth {part} "
                f"more than its price, {which}. Its owner gains what it is worth beyond its price where they can use "
                "both parts, and loses the price where they cannot.")
    return ("With 2 ids of one person, with the same record, they are handed two parts, and pay nothing. The part of "
            f"an id is worth {part} by its record, {which}. Its owner gains what it is worth where they can use both "
            "parts, and nothing where they cannot. It comes out of what all others share.")


def selling_warnings(plan: SharingPlan) -> list[str]:
    """What the operator should know before anybody is asked.

    Args:
        plan: of the file.
    """
    filling = few(_fewest_to_fill(plan), plan.mechanism.program.people)
    return [] if filling is None else [f"{filling}, can use up a row: they decide "
            + ("its price" if plan.charges else "what others get of it")]
