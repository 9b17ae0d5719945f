"""One whole action for everybody: of a round that public randomness draws, at the average prices or for nothing.

Whoever would gain more than alpha by another choice at the charged prices has her favourite instead. In the mean over
the draw everybody else's action is worth her average, and costs what that costs.

Source: Wu 2017, Algorithms 9 and 11; spec convex_programs 5 and 6.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.programs.averages import tally_of
from confide.programs.billboards import PathBillboard
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT
from confide.programs.incentives import Judged, judged
from confide.programs.program import Program, Shard
from confide.programs.reading.slots import own_records
from confide.programs.rounding import drawn_round, responses_in
from confide.tables.frames import arrow_numbers

__all__ = ["Payments", "Terms", "WholeParts", "delivered", "own_part", "share_of", "share_table", "whole_parts"]

Payments = Literal["average", "scaled"]


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What is charged.

    Args:
        alpha: who is satisfied, in units of value times the program's scale; None where nothing is charged and nobody
            has anything but what is drawn.
        payments: "average": the price of what she gets; "scaled": as much of its value as her average would cost of
            its own.
    """

    alpha: int | None = None
    payments: Payments = "average"


class WholeParts(NamedTuple):
    """What a shard's participants get. Private.

    Args:
        actions: (m, width).
        price: (m,) in units of value times the scale; empty where nothing is charged.
        unsatisfied: how many have their favourite instead.
        not_worth: how many have nothing, because their average is not worth its price (scaled payments).
    """

    actions: NDArray[np.int32]
    price: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
    unsatisfied: int = 0
    not_worth: int = 0

    @classmethod
    def joined(cls, parts: list[WholeParts]) -> WholeParts:
        """Those of all shards, in their order."""
        return cls(np.concatenate([part.actions for part in parts]), np.concatenate([part.price for part in parts]),
                   sum(part.unsatisfied for part in parts), sum(part.not_worth for part in parts))


def whole_parts(
    shard: Shard, program: Program, board: PathBillboard, which: NDArray[np.int64], terms: Terms,
) -> WholeParts:
    """One whole part for everybody of a shard.

    Args:
        shard: of the records.
        program: whose actions they are.
        board: the path.
        which: (n,) everybody's main round.
        terms: what is charged.
    """
    records, prices, charged = shard.records, board.main_prices, board.charged_prices
    drawn = responses_in(program, records, prices, which[shard.start : shard.start + records.people])
    if terms.alpha is None:
        return WholeParts(drawn)
    found = judged(program, records, tally_of(records, program, prices), charged, board.rounds, terms.alpha)
    actions = np.where(found.unsatisfied[:, None], found.favourites, drawn)
    if terms.payments == "average":
        return WholeParts(actions, program.paid(records, actions, charged), int(found.unsatisfied.sum()))
    not_worth = ~found.unsatisfied & (found.paid > found.value * program.scale)
    actions[not_worth | ~found.unsatisfied & (found.value == 0)] = -1
    price = program.paid(records, actions, charged)
    some = np.flatnonzero(~found.unsatisfied & ~not_worth & (found.value > 0))
    price[some] = _scaled(program, records.take(some), actions[some], found, some)
    return WholeParts(actions, price, int(found.unsatisfied.sum()), int(not_worth.sum()))


def _scaled(
    program: Program, records: Any, actions: NDArray[np.int32], found: Judged, some: NDArray[np.int64],
) -> NDArray[np.int64]:
    """As much of each action's value as the average costs of its own, rounded down: so never more than the value."""
    exact = program.values(records, actions).astype(object) * found.paid[some].astype(object)
    down: NDArray[np.int64] = (exact // found.value[some].astype(object)).astype(np.int64)
    return down


def own_part(program: Program, record: Any, index: int, board: PathBillboard, terms: Terms) -> WholeParts:
    """One participant's whole part, as she finds it herself.

    Args:
        program: whose action it is.
        record: hers; None of a slot without one.
        index: her place.
        board: the path, with the seed of the public randomness.
        terms: what is charged.
    """
    which = np.array([drawn_round(board.public_seed, index, board.rounds)], dtype=np.int64)
    return whole_parts(Shard(start=0, records=own_records(program, record)), program, board, which, terms)


def share_table(program: Program, parts: WholeParts, *, charged: bool) -> pa.Table:
    """Everybody's share: the column "action", as `program.describe` has it, and "price" where one is charged.

    Args:
        program: whose actions they are.
        parts: everybody's.
        charged: whether prices are.
    """
    columns = {"action": _column(program, parts.actions)}
    return pa.table(columns | ({"price": arrow_numbers(_natural(program, parts.price))} if charged else {}))


def share_of(program: Program, part: WholeParts, *, charged: bool) -> dict[str, Any]:
    """One participant's share, as the table has it.

    Args:
        program: whose action it is.
        part: hers alone.
        charged: whether prices are.
    """
    share: dict[str, Any] = {"action": program.describe(part.actions[0])}
    return share | ({"price": float(_natural(program, part.price)[0])} if charged else {})


def delivered(program: Program, records: Any, actions: NDArray[np.int32]) -> dict[str, Any]:
    """Value, load and excess of whole actions: for studies alone.

    Args:
        program: whose they are.
        records: of all participants.
        actions: (n, width).
    """
    value, load, at = 0, np.zeros(program.rows, dtype=np.int64), 0
    for block in records.blocks():
        some = actions[at : at + block.people]
        value, load = value + int(program.values(block, some).sum()), load + program.load(block, some)
        at += block.people
    return {"value": value / PRICE_UNIT, "load": load / LOAD_UNIT,
            "excess": np.maximum(0, load - program.supply_units) / LOAD_UNIT}


def _natural(program: Program, paid: NDArray[np.int64]) -> NDArray[np.float64]:
    return paid / float(PRICE_UNIT * program.scale)


def _column(program: Program, actions: NDArray[np.int32]) -> pa.Array:
    if type(program).describe is not Program.describe:
        return pa.array([program.describe(action) for action in actions], pa.list_(pa.float64()))
    if program.width == 1:
        return arrow_numbers(actions[:, 0])
    used = actions >= 0
    ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(used.sum(axis=1))])
    return pa.LargeListArray.from_arrays(arrow_numbers(ends), arrow_numbers(actions[used]))
