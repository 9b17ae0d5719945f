"""The kind `program`: it shares scarce resources by a convex program. This module connects all steps of a campaign: the
plan of its file, records, prices, each participant's own part, a study, and an audit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from confide.audit import AuditReport
from confide.campaign.kinds import CellCodec, PeoplesKind, SlotRows
from confide.campaign.kinds.programs import pages
from confide.campaign.kinds.programs.config import ProgramConfig, coding_of
from confide.campaign.kinds.programs.family_tables import (
    AggregativeGameTable,
    ElectricityTable,
    FlowTable,
    KnapsackTable,
)
from confide.campaign.kinds.programs.plan import SharingPlan, plan_of
from confide.campaign.kinds.skeleton import KindSkeleton
from confide.contract.asked import Field
from confide.contract.errors import InvalidInput
from confide.contract.file_words import FileWords
from confide.contract.kinds import Progress
from confide.contract.outcome import Outcome, SimulatedOutcome
from confide.contract.wire import wire_types
from confide.contract.words import as_sentence
from confide.programs.billboards import PathBillboard
from confide.programs.dude import Dude
from confide.programs.families.aggregative_game import AggregativeGame
from confide.programs.families.capped_additive import CappedAdditive
from confide.programs.families.electricity import Electricity
from confide.programs.families.flow import Flow
from confide.programs.families.knapsack import Knapsack
from confide.programs.families.shared_resources import SharedResources
from confide.programs.families.unit_demand import UnitDemand
from confide.programs.families.xor_bundles import XorBundles
from confide.programs.grids import NEIGHBOUR_WORDS
from confide.programs.guarantees import PathCertificate
from confide.programs.priv_dude import PrivDude
from confide.programs.reading import Bids, Choice, Column, Number, read_wide, typed_wide
from confide.programs.round_dude import RoundDude
from confide.programs.slots import any_row
from confide.programs.tight_dude import TightDude
from confide.programs.tighten_and_audit import TightenAndAudit
from confide.programs.true_dude import TrueDude
from confide.programs.whole_parts import AuditedBillboard, FlagBillboard
from confide.tables import Roster, TableSource
from confide.tables.cell_problems import Judged, ids_of
from confide.tables.column_rows import MOVED

__all__ = ["KIND", "ProgramKind", "fields_of", "handout_table"]


class ProgramKind(KindSkeleton, PeoplesKind):
    """Share scarce resources by a convex program. The resources are goods, bundles, paths, projects or power, or the
    program computes an equilibrium of a game.
    """

    name = "program"
    summary = "share goods, bundles, routes, projects or power by people's private needs, at prices from private sums"
    config: type[Any] = ProgramConfig
    runs = Dude
    part = "ran"
    file_words = FileWords(
        keys={"privacy.beta": "failure_probability"},
        values={"privacy.neighbours": {old: new for new, old in NEIGHBOUR_WORDS.items()}})
    types: ClassVar[Mapping[str, type]] = wire_types(
        AggregativeGame, AuditedBillboard, CappedAdditive, Electricity, FlagBillboard, Flow, Knapsack, PathBillboard,
        PathCertificate, PrivDude, RoundDude, SharedResources, TightDude, TightenAndAudit, TrueDude, UnitDemand,
        XorBundles)

    def plan(self, config: ProgramConfig) -> SharingPlan:
        """Calibrate the mechanism from the public parameters of the campaign file."""
        return plan_of(config, pages)

    def codec(self, plan: SharingPlan) -> CellCodec:
        """The codec that stores a record as bytes, cell by cell."""
        return CellCodec(plan.coding.layout.width)

    # ---- records

    def asked(self, config: ProgramConfig, plan: SharingPlan) -> Sequence[Field]:
        """The form for one participant: a field for each column or, for bundles, one text with a line for each
        bundle.
        """
        return fields_of(config)

    def read(
        self, config: ProgramConfig, plan: SharingPlan, source: TableSource, *, roster: Roster,
        rejected: dict[str, str],
        counted: list[int], rows: int | None = None,
    ) -> Iterator[SlotRows]:
        coding = coding_of(config)
        if coding.bids is not None:
            return coding.bids.read(source, roster=roster, id=config.people.id, rejected=rejected, counted=counted)
        return read_wide(source, columns=coding.columns, judge=coding.judge, limit=coding.limit, roster=roster,
                         id=config.people.id, rejected=rejected, rows=rows)

    def judged(self, config: ProgramConfig, plan: SharingPlan) -> Sequence[Judged]:
        coding = coding_of(config)
        columns = coding.columns if coding.bids is None else [coding.bids.value]
        return [*(Judged(column=each.name, judge=each.cells) for each in columns),
                *ids_of(self.roster(config), config.people.id)]

    def look(self, config: ProgramConfig, plan: SharingPlan, source: TableSource) -> None:
        bids = coding_of(config).bids
        if bids is None:
            super().look(config, plan, source)
        else:
            bids.check(source, config.people.id)

    def typed(self, config: ProgramConfig, plan: SharingPlan, index: int, values: Mapping[str, str]) -> SlotRows:
        """A batch with the row that one participant types. The given values map each column to the typed text. For
        bundles, the values map each bundle to its value, or hold the lines of the form.
        """
        coding = coding_of(config)
        cells = typed_wide(values, columns=coding.columns, judge=coding.judge, limit=coding.limit) \
            if coding.bids is None else coding.bids.typed(_listed_bids(coding.bids, values))
        return SlotRows(np.array([index]), cells[None])

    def retyped(self, config: ProgramConfig, plan: SharingPlan, batch: SlotRows) -> Mapping[str, str | float]:
        """Mapping from each column to the content of its cell; for bundles, the lines that the participant typed in the
        form.

        Raises:
            NotImplementedError: fewer cells are stored than were typed, as in a game whose costs are computed from the
                columns.
        """
        coding = coding_of(config)
        if coding.bids is not None:
            lines = [f"{bundle} = {worth:.12g}" for bundle, worth in coding.bids.listed(batch.cells[0])]
            return {_list_column(coding.bids): "\n".join(lines)}
        cells = batch.cells[0].tolist()
        if len(cells) != len(coding.columns):
            raise NotImplementedError("the store has fewer cells than the form")
        return {each.name: each.typed(cell) for each, cell in zip(coding.columns, cells, strict=True)}

    def one(self, plan: SharingPlan, batch: SlotRows, place: int) -> Any:
        return plan.coding.layout.record(batch.cells[place])

    # ---- results

    def handout(
        self, plan: SharingPlan, outcome: Outcome | SimulatedOutcome, identities: Sequence[str]
    ) -> pa.Table:
        """The list of the actions that participants get, as made by `handout_table`. Participants who withdrew are not
        in the list.
        """
        return handout_table(self.settled(plan, outcome), outcome.shares, identities)

    def audit(self, plan: SharingPlan, seed: int, progress: Progress | None = None) -> AuditReport:
        from confide.audit import audit
        from confide.campaign.kinds.programs.audited import sharing

        return audit(sharing(plan, seed), progress)


KIND = ProgramKind()


# ---- the form


def fields_of(config: ProgramConfig) -> list[Field]:
    """The form for one participant: a field for each column or, for bundles, one text with a line for each bundle."""
    coding = coding_of(config)
    if coding.bids is not None:
        return [_bundles(coding.bids)]
    together = _together(config, coding.limit) if coding.judge is not any_row else ""
    last = len(coding.columns) - 1
    return [_field(config, each, together if place == last else "") for place, each in enumerate(coding.columns)]


def _field(config: ProgramConfig, column: Column, together: str) -> Field:
    label = _label(config, column.name)
    if isinstance(column, Choice):
        return Field(column=column.name, label=label, form="choice", choices=column.names, note=together)
    if not isinstance(column, Number):
        raise InvalidInput("program", f"{column.name!r} has no kind of field")
    ends = f"Give a number from {column.lowest:.12g} to {column.highest:.12g}."
    notes = (ends, MOVED if column.clip else "",
             "" if column.empty is None else f"An empty field counts as {column.empty:.12g}.", together)
    return Field(
        column=column.name, label=label, form="number", lowest=None if column.clip else column.lowest,
        highest=None if column.clip else column.highest, required=column.empty is None,
        whole=_is_need(config, column.name), gaps=_gaps(config, column), note=" ".join(filter(None, notes)))


def _label(config: ProgramConfig, name: str) -> str:
    """The question of a column, in words."""
    table = config.program
    if isinstance(table, FlowTable):
        return {"source": "Where do you start?", "sink": "Where do you want to go?"}[name]
    if isinstance(table, KnapsackTable):
        return "How much is your item worth?" if name == config.data.value else (
            f"How much of {name} does your item need?")
    if _is_need(config, name):
        return f"How many slots of {name.removesuffix('.needs')} do you need?"
    if isinstance(table, AggregativeGameTable) and table.actions is not None and name not in table.actions:
        action, _, row = name.partition(".")
        return f"How much does {action} contribute to {row}?"
    return name


def _is_need(config: ProgramConfig, name: str) -> bool:
    """Whether a column states the number of slots that a participant needs in an interval."""
    table = config.program
    return isinstance(table, ElectricityTable) and (table.shortfall is not None or table.hard) and name.endswith(
        ".needs")


def _gaps(config: ProgramConfig, column: Number) -> tuple[tuple[float, float], ...]:
    """Ranges of numbers that a field excludes: an item uses nothing of a resource, or at least the smallest allowed
    weight.
    """
    table = config.program
    if not isinstance(table, KnapsackTable) or column.name == config.data.value:
        return ()
    least = table.least_weight if isinstance(table.least_weight, float | int) else table.least_weight[
        table.resources.index(column.name)]
    return ((0.0, float(least)),)


def _together(config: ProgramConfig, limit: str) -> str:
    """A sentence on the rule that a row must keep as a whole; empty where the limits of its single fields imply the
    rule.
    """
    table = config.program
    free = ((isinstance(table, KnapsackTable) and table.most_weight is None)
            or (isinstance(table, AggregativeGameTable) and table.largest_sum is None)
            or (isinstance(table, ElectricityTable) and table.shortfall is None and not table.hard))
    return "" if free else as_sentence(limit)


# ---- bundles


def _list_column(bids: Bids) -> str:
    """The name of the form's text with the list of bundles: it ends in a plus sign, unlike the name of any bundle."""
    return f"{bids.bundle}+"


def _bundles(bids: Bids) -> Field:
    value = bids.value
    return Field(
        column=_list_column(bids), label="Which bundles do you want, and how much is each bundle worth to you?",
        form="text",
        required=False,
        note=f"Write at most {bids.most} lines, one for each bundle: the goods with a plus between them, an equals "
             f"sign, and the value of the bundle, a number from {value.lowest:.12g} to {value.highest:.12g}. Example: "
             f"{'+'.join(bids.goods[:bids.size])} = {value.highest:.12g}. A bundle has 1 to {bids.size} different "
             f"goods. Goods: {', '.join(bids.goods)}. An empty field means that you take no part.")


def _listed_bids(bids: Bids, values: Mapping[str, str]) -> Mapping[str, str]:
    """Mapping from bundle to its value, read from the lines of a form; if the values are already a mapping, they are
    returned unchanged.

    Raises:
        InvalidInput: a line names no bundle with its value, or a bundle appears twice. The message repeats private
            data: it is for the participant alone.
    """
    column = _list_column(bids)
    if set(values) != {column}:
        return values
    found = dict[str, str]()
    for number, line in enumerate(values[column].splitlines(), 1):
        if not line.strip():
            continue
        name, equals, worth = line.rpartition("=")
        if not equals:
            raise InvalidInput("record", f"line {number} has no equals sign", "write a line as bundle = value")
        if name.strip() in found:
            raise InvalidInput("record", f"line {number} repeats a bundle", "write each bundle once")
        found[name.strip()] = worth.strip()
    return found


# ---- after



def handout_table(plan: SharingPlan, shares: pa.Table, identities: Sequence[str]) -> pa.Table:
    """A table with a line for each participant and each action that the participant gets. An action is a good, a
    bundle, a path or another choice of the program.

    Args:
        plan: plan with which the campaign was settled.
        shares: table of the participants' shares, in the order of the public list of ids.
        identities: ids of all invited people, in the order of the public list.

    Returns:
        A table with the columns "id" and "good", which is the action in words. Where shares are averages over rounds,
        the column "part" is the fraction of the main rounds with this action. Where prices are charged, the column
        "price_points" has the whole debt of the participant on their first line, and 0 on their further lines.
    """
    found = list[tuple[str, str, float, float]]()
    width, rounds = plan.mechanism.program.width, plan.mechanism.rounds
    for identity, share in zip(identities, shares.to_pylist(), strict=True):
        owed = float(share.get("price") or 0.0) * plan.coding.unit
        for some, part in _actions(share, width, rounds):
            found.append((identity, plan.coding.described(some), part, owed))
            owed = 0.0
    columns = {"id": pa.array([row[0] for row in found], pa.string()),
               "good": pa.array([row[1] for row in found], pa.string())}
    if not plan.whole:
        columns["part"] = pa.array([row[2] for row in found], pa.float64())
    if plan.charges:
        columns["price_points"] = pa.array([row[3] for row in found], pa.float64())
    return pa.table(columns)


def _actions(share: dict[str, Any], width: int, rounds: int) -> list[tuple[list[int], float]]:
    """The nonempty actions of one share, each with its part of the rounds; empty for a participant who withdrew."""
    if "action" in share:
        given = share["action"]
        some = [given] if isinstance(given, int) else list(given or [])
        used = [one for one in some if one >= 0]
        return [(used, 1.0)] if used else []
    if share["actions"] is None:
        return []
    table = np.array(share["actions"], dtype=np.int64).reshape(-1, width)
    parts = [([int(one) for one in row if one >= 0], times / rounds)
             for row, times in zip(table, share["times"], strict=True)]
    return [(used, part) for used, part in parts if used]
