"""What a campaign that shares by a program asks of people: the fields of a form."""

from __future__ import annotations

from collections.abc import Mapping

from confide.campaign.kinds.programs.coding import any_row
from confide.campaign.kinds.programs.config import ProgramConfig, coding_of
from confide.campaign.kinds.programs.family_tables import (
    AggregativeGameTable,
    ElectricityTable,
    FlowTable,
    KnapsackTable,
)
from confide.contract.asked import Field
from confide.contract.errors import InvalidInput
from confide.contract.words import as_sentence
from confide.people.column_fields import MOVED
from confide.programs.reading.bids import Bids
from confide.programs.reading.columns import Choice, Column, Number

__all__ = ["fields_of", "list_column", "listed_bids"]


def fields_of(config: ProgramConfig) -> list[Field]:
    """The form of one participant.

    Args:
        config: of the file.
    """
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
        raise InvalidInput("program", f"{column.name!r} is of no form")
    ends = f"From {column.lowest:.12g} to {column.highest:.12g}."
    notes = (ends, MOVED if column.clip else "",
             "" if column.empty is None else f"Left empty, it counts as {column.empty:.12g}.", together)
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
        return "What is your item worth?" if name == config.data.value else f"How much of {name} does it take?"
    if _is_need(config, name):
        return f"How many slots of {name.removesuffix('.needs')} do you need?"
    if isinstance(table, AggregativeGameTable) and table.actions is not None and name not in table.actions:
        action, _, row = name.partition(".")
        return f"What does {action} contribute to {row}?"
    return name


def _is_need(config: ProgramConfig, name: str) -> bool:
    """Whether a column says how many slots of an interval are needed."""
    table = config.program
    return isinstance(table, ElectricityTable) and (table.shortfall is not None or table.hard) and name.endswith(
        ".needs")


def _gaps(config: ProgramConfig, column: Number) -> tuple[tuple[float, float], ...]:
    """Of what an item takes: nothing, or no less than the least."""
    table = config.program
    if not isinstance(table, KnapsackTable) or column.name == config.data.value:
        return ()
    least = table.least_weight if isinstance(table.least_weight, float | int) else table.least_weight[
        table.resources.index(column.name)]
    return ((0.0, float(least)),)


def _together(config: ProgramConfig, limit: str) -> str:
    """What a row has to keep as a whole; empty where the limits of its fields see to it."""
    table = config.program
    free = ((isinstance(table, KnapsackTable) and table.most_weight is None)
            or (isinstance(table, AggregativeGameTable) and table.largest_sum is None)
            or (isinstance(table, ElectricityTable) and table.shortfall is None and not table.hard))
    return "" if free else as_sentence(limit)


# ---- bundles


def list_column(bids: Bids) -> str:
    """The name of the text that lists bundles: it ends in a plus, as no bundle does.

    Args:
        bids: the rule of bundles.
    """
    return f"{bids.bundle}+"


def _bundles(bids: Bids) -> Field:
    value = bids.value
    return Field(
        column=list_column(bids), label="Which bundles do you want, and what is each worth to you?", form="text",
        required=False,
        note=f"A line for each bundle, {bids.most} at most: its goods with a plus between them, an equals sign, and "
             f"what it is worth, a number from {value.lowest:.12g} to {value.highest:.12g}. For instance: "
             f"{'+'.join(bids.goods[: bids.size])} = {value.highest:.12g}. A bundle has 1 to {bids.size} different "
             f"goods. Goods: {', '.join(bids.goods)}. Left empty, you take no part.")


def listed_bids(bids: Bids, values: Mapping[str, str]) -> Mapping[str, str]:
    """bundle -> what it is worth, of the lines of a form or as they are.

    Args:
        bids: the rule of bundles.
        values: what she typed: the text of the form alone, or bundles one by one.

    Raises:
        InvalidInput: a line that says nothing of a bundle, or a bundle twice. The message is hers.
    """
    column = list_column(bids)
    if set(values) != {column}:
        return values
    found = dict[str, str]()
    for number, line in enumerate(values[column].splitlines(), 1):
        if not line.strip():
            continue
        name, equals, worth = line.rpartition("=")
        if not equals:
            raise InvalidInput("record", f"line {number} has no equals sign", "must be a bundle = what it is worth")
        if name.strip() in found:
            raise InvalidInput("record", f"line {number} is about a bundle that stands above", "each bundle once")
        found[name.strip()] = worth.strip()
    return found
