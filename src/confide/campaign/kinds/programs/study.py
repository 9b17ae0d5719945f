"""The study beside a simulated run: what everybody got, and what else there could have been. Never a release."""

from __future__ import annotations

from typing import Any

import numpy as np

from confide.campaign.kinds.programs.baselines import in_order, lottery
from confide.campaign.kinds.programs.plan import SharingPlan
from confide.contract.errors import Refused, SolverFailed
from confide.contract.outcome import SimulatedOutcome
from confide.contract.presentation import Section, Table, Text
from confide.programs.exact_optimum import exact
from confide.programs.grids import PRICE_UNIT
from confide.programs.program import Program
from confide.programs.reading.slots import collected

__all__ = ["study_sections"]

_MOST_CELLS = 4_000_000  # people x rows, up to which the optimum is found
_SERVED = 50_000  # people, up to which rules of thumb are tried out
_SHOWN = 20


def study_sections(plan: SharingPlan, data: Any, outcome: SimulatedOutcome) -> list[Section]:
    """Value beside the optimum and rules of thumb, and the load of every row beside what it holds.

    Args:
        plan: as it was run.
        data: everybody's rows.
        outcome: of the simulated run.
    """
    program, names = plan.mechanism.program, plan.coding
    records = collected(program, data)
    told: dict[str, Any] = dict(outcome.diagnostics or {})
    excess = np.asarray(told["excess"]) * names.load_units
    load = np.asarray(told["load"]) * names.load_units
    order = np.argsort(-excess / np.maximum(np.abs(names.supplies), 1e-9), kind="stable")[:_SHOWN].tolist()
    loads = Table(
        columns=("row", "target" if program.two_sided else "supply", "load", "excess"),
        rows=tuple((names.rows[j], float(names.supplies[j]), float(load[j]), float(excess[j])) for j in order),
        note=f"All rows together are above by {float(excess.sum()):.5g}. Loads follow from everybody's records: they "
             "are never published.")
    if program.constants.most_value == 0.0 and program.constants.least_value == 0.0:
        return [Section(title="How near the target is", study=True, blocks=(loads,))]
    rows = [(f"this run ({plan.mode}, simulated noise)", float(told["value"])), *_thumbs(program, records)]
    best, note = _best(program, records)
    if best is not None:
        rows.append((note, best))
    shown = tuple((name, value * names.unit, value / best if best else None) for name, value in rows)
    return [Section(title="Value, beside what there could have been", study=True, blocks=(
        Table(columns=("allocation", f"value, in {names.worth}", "share of the optimum"), rows=shown,
              note="Averages may be above the optimum where they are above supply. Only the run itself hides anybody's "
                   "record." + ("" if best is not None else f" {note}")),
        loads, *_paid(plan, told)))]


def _paid(plan: SharingPlan, told: dict[str, Any]) -> tuple[Text, ...]:
    if "paid" not in told:
        return ()
    return (Text((f"Everybody together owes {float(told['paid']) * plan.coding.unit:,.5g} {plan.coding.worth}; "
                  f"{int(told.get('unsatisfied', 0)):,} people got their favourite in place of what the draw or the "
                  "average gave.",)),)


def _best(program: Program, records: Any) -> tuple[float | None, str]:
    """The optimum, or why it is not shown."""
    if program.people * program.rows > _MOST_CELLS:
        return None, "The optimum is not looked for at this size."
    try:
        return exact(program, records).value, "the optimum (exact, not private)"
    except (Refused, SolverFailed) as error:
        return None, f"The optimum was not found: {error}."


def _thumbs(program: Program, records: Any) -> list[tuple[str, float]]:
    """Rules of thumb, none of them private."""
    if not program.constants.packing or program.people > _SERVED:
        return []
    return [("one after another, by lot, the best of what is left (serial dictatorship)",
             in_order(program, records, seed=0) / PRICE_UNIT),
            ("a lottery: everybody's favourite, by lot, while it fits", lottery(program, records, seed=0) / PRICE_UNIT)]
