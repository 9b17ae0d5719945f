"""Whole shares: each participant receives their response in one main round, which public randomness draws. The share is
charged at the average prices, or is free of charge.

Participants who would gain more than alpha by another choice at the charged prices receive their favourite instead, the
best action at these prices. For every other participant, the mean value and price of the drawn action equal the value
and price of the participant's average response.

Source: Wu 2017, Algorithms 9 and 11; spec convex_programs 5 and 6.2.

Public randomness draws one main round for each participant. The response in the drawn round is a whole action, and the
mean over the draw is the participant's average response.

The seed is drawn after all records have been collected, because participants who knew their round while reporting would
report for that round alone. The seed is public after the run, so that everybody can verify every draw. A draw has 2^32
values, so a round's probability differs from 1/T by at most 2^-32.

Source: Wu 2017, Algorithm 9; spec convex_programs 2 and 5.

The module also defines the billboards of runs with whole shares. They contain the public seed, and the public numbers
that keep the load within the supplies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.privacy.public_randomness import PUBLIC_RANGE, public_number_of, public_numbers
from confide.programs.billboards import BOARD_WORDS, PathBillboard, numbers_of, tally_of
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT
from confide.programs.incentives import Judged, judged
from confide.programs.program import Program, Shard
from confide.programs.slots import own_records
from confide.tables.frames import arrow_numbers

__all__ = [
    "AuditedBillboard",
    "FlagBillboard",
    "Payments",
    "Terms",
    "WholeParts",
    "coin_slip",
    "delivered",
    "drawn_round",
    "drawn_rounds",
    "own_part",
    "packing_only",
    "responses_in",
    "share_of",
    "share_table",
    "sparse_rows",
    "whole_parts",
]

# ---- rounding

_COIN_BITS = 32


def drawn_rounds(seed: str, people: int, rounds: int) -> NDArray[np.int64]:
    """The main round that is drawn for each participant, in 0..T-1, shape (n,).

    Args:
        seed: seed of the public randomness, 64 hexadecimal digits.
        people: number of participants n.
        rounds: number of main rounds T, at most 2^31.
    """
    return (public_numbers(seed, people).astype(np.int64) * rounds) >> _COIN_BITS


def drawn_round(seed: str, index: int, rounds: int) -> int:
    """The main round that is drawn for one participant, in 0..T-1.

    Args:
        seed: seed of the public randomness, 64 hexadecimal digits.
        index: the participant's place on the public list of slots, in 0..n-1.
        rounds: number of main rounds T, at most 2^31.
    """
    return (public_number_of(seed, index) * rounds) >> _COIN_BITS


def responses_in(
    program: Program, records: Any, prices: NDArray[np.int64], which: NDArray[np.int64],
) -> NDArray[np.int32]:
    """The best response of each participant in their drawn round, shape (m, width).

    Args:
        program: program that the records belong to.
        records: records of m participants.
        prices: (T, k) prices of the main rounds, in price units of 2^-24.
        which: (m,) drawn main round of each of the m participants, in 0..T-1.
    """
    out = np.full((records.people, program.width), -1, dtype=np.int32)
    order = np.argsort(which, kind="stable")
    ends = np.searchsorted(which[order], np.arange(len(prices) + 1))
    for t in range(len(prices)):
        rows = order[ends[t] : ends[t + 1]]
        if len(rows):
            out[rows] = program.respond(records.take(rows), prices[t])
    return out


# ---- whole parts

Payments = Literal["average", "scaled"]


@dataclass(frozen=True, kw_only=True)
class Terms:
    """Rule for the payments of participants.

    Args:
        alpha: largest gain by another choice at which a participant counts as satisfied, a whole number of units of
            2^-24/`program.scale` of value. None if nothing is charged and everybody receives the drawn action.
        payments: rule for the price of a share. With "average", the price is the price of the received action at the
            charged prices. With "scaled", the price is the value of the drawn action, times the price of the average
            response, divided by the value of the average response.
    """

    alpha: int | None = None
    payments: Payments = "average"


class WholeParts(NamedTuple):
    """Whole shares of the participants in one shard, a consecutive part of the records. The data are private and must
    not be published.

    Args:
        actions: (m, width) action of each participant.
        price: (m,) prices in units of 2^-24/`program.scale` of value; empty where nothing is charged.
        unsatisfied: number of participants who receive their favourite in place of the drawn action.
        not_worth: number of participants who receive nothing, because the value of their average response is below its
            price. The number is 0 without scaled payments.
    """

    actions: NDArray[np.int32]
    price: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
    unsatisfied: int = 0
    not_worth: int = 0

    @classmethod
    def joined(cls, parts: list[WholeParts]) -> WholeParts:
        """The whole shares of all shards, in the order of the shards."""
        return cls(np.concatenate([part.actions for part in parts]), np.concatenate([part.price for part in parts]),
                   sum(part.unsatisfied for part in parts), sum(part.not_worth for part in parts))


def whole_parts(
    shard: Shard, program: Program, board: PathBillboard, which: NDArray[np.int64], terms: Terms,
) -> WholeParts:
    """One whole share for each participant of a shard.

    Args:
        shard: shard of the records.
        program: program that the actions belong to.
        board: billboard of the run, with the path of prices.
        which: (n,) drawn main round of each of the n participants of the run, in 0..T-1.
        terms: rule for the payments.
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
    """Scaled prices: each action's value times the price of the average, divided by the value of the average, rounded
    down. A price therefore never exceeds the value.
    """
    exact = program.values(records, actions).astype(object) * found.paid[some].astype(object)
    down: NDArray[np.int64] = (exact // found.value[some].astype(object)).astype(np.int64)
    return down


def own_part(program: Program, record: Any, index: int, board: PathBillboard, terms: Terms) -> WholeParts:
    """One participant's whole share, computed from their record and the billboard.

    Args:
        program: program that the action belongs to.
        record: the participant's record; None for an empty slot.
        index: the participant's place on the public list of slots, in 0..n-1.
        board: billboard of the run, with the path of prices and the seed of the public randomness.
        terms: rule for the payments.
    """
    which = np.array([drawn_round(board.public_seed, index, board.rounds)], dtype=np.int64)
    return whole_parts(Shard(start=0, records=own_records(program, record)), program, board, which, terms)


def share_table(program: Program, parts: WholeParts, *, charged: bool) -> pa.Table:
    """Table of all shares, with one row for each participant. The column "action" has the form of `program.describe`;
    if prices are charged, the column "price" has amounts in units of value.

    Args:
        program: program that the actions belong to.
        parts: whole shares of all participants.
        charged: whether prices are charged.
    """
    columns = {"action": _column(program, parts.actions)}
    return pa.table(columns | ({"price": arrow_numbers(_natural(program, parts.price))} if charged else {}))


def share_of(program: Program, part: WholeParts, *, charged: bool) -> dict[str, Any]:
    """One participant's share, with the same entries as the participant's row in the table of shares.

    Args:
        program: program that the action belongs to.
        part: whole share of the single participant.
        charged: whether prices are charged.
    """
    share: dict[str, Any] = {"action": program.describe(part.actions[0])}
    return share | ({"price": float(_natural(program, part.price)[0])} if charged else {})


def delivered(program: Program, records: Any, actions: NDArray[np.int32]) -> dict[str, Any]:
    """Total value, load and excess over the supplies of whole actions, in natural units, for simulated studies only.

    Args:
        program: program that the actions belong to.
        records: records of all participants.
        actions: (n, width) action of each participant.
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


# ---- integral boards

_CELLS = 1 << 21  # of contributions that are held at once


@renamed()
@wire("FlagBillboard", "prices slacks burn_in deviation discrete tau two_sided beta trivial most_excess plan inexact "
      "seed raised", **BOARD_WORDS)
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FlagBillboard(PathBillboard):
    """Billboard with the path of prices, the public seed, and the time at which the flag of each constraint rose.

    Args:
        raised: (k,) int64 number of participants who had been processed when the flag of each constraint rose; n if the
            flag never rose. A participant with a later place who would add to this constraint receives nothing.
    """

    raised: NDArray[np.int64]

    def require_form(self) -> None:
        super().require_form()
        numbers_of(self, "raised", (self.prices.shape[1],), np.int64)


@renamed(tightened="reserve_units")
@wire("AuditedBillboard", "prices slacks burn_in deviation discrete tau two_sided beta trivial most_excess plan "
      "inexact seed tightened audit accepted", reserve_units="tightened", **BOARD_WORDS)
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AuditedBillboard(PathBillboard):
    """Billboard with the path of prices for a smaller supply, the public seed, and the audit of the resulting load.

    The field `slacks` has the smaller supply less the noisy load. A certificate that is computed from the billboard is
    about the whole supply: the proof is the same with the supply b in place of b - xi, where xi is the reserve.

    Args:
        reserve_units: (k,) int64 reserve by which the supplies were reduced for the prices, in load units of 2^-20.
        audit: (k,) int64 noisy total load of all actions, in load units of 2^-20.
        accepted: whether the audit accepted the run; if not, everybody receives nothing.
    """

    reserve_units: NDArray[np.int64]
    audit: NDArray[np.int64]
    accepted: bool

    def require_form(self) -> None:
        super().require_form()
        for name in ("reserve_units", "audit"):
            numbers_of(self, name, (self.prices.shape[1],), np.int64)
        if not isinstance(self.accepted, bool):
            raise InvalidInput("accepted", f"is of type {type(self.accepted).__name__}", "must be of type bool")

    @property
    def natural_slacks(self) -> NDArray[np.float64]:
        """Whole supply less noisy load of every round, in natural units, shape (burn_in + T, k). All promises about the
        path of prices refer to the whole supply.
        """
        return (self.slacks + self.reserve_units) / LOAD_UNIT


def packing_only(program: Program, what: str) -> None:
    """Refuse a program that is no packing program. Outside packing programs, giving nothing to a participant may be
    impossible, or may not lower the loads.

    Args:
        program: program to check.
        what: name of the mechanism that needs a packing program, for the error message.

    Raises:
        InvalidInput: the program is no packing program.
    """
    if program.not_packing:
        raise InvalidInput("program", f"{type(program).__name__} is not a packing program: {program.not_packing}",
                           f"must be a packing program, such as UnitDemand, since {what} keeps supplies by giving "
                           "nothing")


def coin_slip(rounds: int) -> float:
    """Upper bound on the sum, over all main rounds, of the difference between the probability of the round and 1/T. The
    difference is not exactly 0, since a draw has only 2^32 values.

    Args:
        rounds: number of main rounds T.
    """
    return rounds / PUBLIC_RANGE


def sparse_rows(
    program: Program, records: Any, actions: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Nonzero contributions of each participant's action, as three arrays. The first, shape (m,), has the number of
    nonzero contributions of each participant. The other two arrays, shape (z,), have the constraint and the size, in
    load units of 2^-20, of each nonzero contribution.

    Args:
        program: program that the records belong to.
        records: records of m participants.
        actions: (m, width) action of each participant.
    """
    counts, rows, loads = [], [], []
    size = max(1, _CELLS // program.rows)
    for at in range(0, records.people, size):
        some = slice(at, min(at + size, records.people))
        table = program.contributions(records.take(some), actions[some])
        who, which = np.nonzero(table)
        counts.append(np.bincount(who, minlength=len(table)))
        rows.append(which)
        loads.append(table[who, which])
    return tuple(np.concatenate(parts).astype(np.int64) for parts in (counts, rows, loads))  # type: ignore[return-value]
