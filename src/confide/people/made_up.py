"""Made-up crowds on which a mechanism of anybody's is tried out: nobody at all, and records at the ends of columns and
between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel

from confide.audit.worst_case_neighbours import corners, interior
from confide.contract.kinds import Trial
from confide.people.mechanism_plan import MechanismPlan
from confide.tables.slot_rows import SlotRows

if TYPE_CHECKING:
    from confide.people.peoples_kind import PeoplesKind

__all__ = ["made_up"]

_PEOPLE = 1000  # invited slots of a trial, where it can be so few
_SEED = 0
_MOST = 100_000  # where it cannot; a campaign of more people than that has no trial


def made_up(kind: PeoplesKind, config: Any, plan: MechanismPlan, *, cells: bool = True) -> Iterator[Trial]:
    """The trials of a campaign: one in which nobody takes part, and one in which three of four do, in two batches.

    Where more than a thousand are invited, the trials are of the same campaign with a thousand, if the kind plans such
    a one; else of the whole one, up to a hundred thousand.

    Args:
        kind: of the campaign.
        config: its tables.
        plan: of it.
        cells: whether its records are rows of `columns`, so that some can be made up.
    """
    if config.people.count > _PEOPLE:
        config, plan = _smaller(kind, config) or (config, plan)
    people = config.people.count
    if people > _MOST:
        return
    yield Trial(config=config, plan=plan, batches=())
    if cells:
        slots = np.array([slot for slot in range(people) if slot % 4 != 3])
        roles = kind.columns(config)
        first, *others = corners(roles)
        rows = np.resize(np.array([first, *interior(roles, _SEED), *others]), (len(slots), len(roles)))
        halves = [half for half in np.array_split(np.arange(len(slots)), 2) if len(half)]
        yield Trial(config=config, plan=plan, batches=[SlotRows(slots[half], rows[half]) for half in halves])


def _smaller(kind: PeoplesKind, config: Any) -> tuple[Any, MechanismPlan] | None:
    """The tables and the plan of the same campaign with fewer people; None where there is no such campaign."""
    if not isinstance(config, BaseModel):
        return None
    tables = config.model_dump()
    tables["people"]["count"] = _PEOPLE
    try:
        found = type(config).model_validate(tables)
        plan = kind.plan(found)  # type: ignore[attr-defined] # a kind has it; this is the part that follows from records
    except Exception:  # noqa: BLE001 - too few people for what is promised, or for how it is computed
        return None
    return (found, plan) if isinstance(plan, MechanismPlan) else None
