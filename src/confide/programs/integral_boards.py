"""Billboards of runs where everybody gets one whole action: the public seed, and what keeps supplies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.privacy.public_randomness import PUBLIC_RANGE
from confide.programs.billboards import BOARD_WORDS, PathBillboard, numbers_of
from confide.programs.grids import LOAD_UNIT
from confide.programs.program import Program

__all__ = ["AuditedBillboard", "FlagBillboard", "coin_slip", "packing_only", "sparse_rows"]

_CELLS = 1 << 21  # of contributions that are held at once


@renamed()
@wire("FlagBillboard", "prices slacks burn_in deviation discrete tau two_sided beta trivial most_excess plan inexact "
      "seed raised", **BOARD_WORDS)
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FlagBillboard(PathBillboard):
    """The path, the public seed, and when each row's flag rose.

    Args:
        raised: (k,) int64, how many places had been counted when the flag of a row rose; n where it never did. Who
            comes later and would add to that row has nothing.
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
    """The path of a program with less supply, the public seed, and the audit of what they led to.

    Slacks are what was released: the smaller supply less the noisy load. A certificate made from this billboard is
    about the whole supply: with b in place of b - xi its proof is the same, word for word.

    Args:
        reserve_units: (k,) int64 by how much supplies were smaller, in units of load.
        audit: (k,) int64 the load of everybody's action, with noise, in units of load.
        accepted: whether it was certified; if not, everybody has nothing.
    """

    reserve_units: NDArray[np.int64]
    audit: NDArray[np.int64]
    accepted: bool

    def require_form(self) -> None:
        super().require_form()
        for name in ("reserve_units", "audit"):
            numbers_of(self, name, (self.prices.shape[1],), np.int64)
        if not isinstance(self.accepted, bool):
            raise InvalidInput("accepted", f"{type(self.accepted).__name__} is of another type", "must be bool")

    @property
    def natural_slacks(self) -> NDArray[np.float64]:
        """(burn_in + T, k) the whole supply less noisy load, in loads: what all promises of the path are about."""
        return (self.slacks + self.reserve_units) / LOAD_UNIT


def packing_only(program: Program, what: str) -> None:
    """Refuse a program where nobody can be given nothing, or where that may break another row.

    Args:
        program: public.
        what: needs it.

    Raises:
        InvalidInput: it is no packing program.
    """
    if program.not_packing:
        raise InvalidInput("program", f"{type(program).__name__} is no packing program: {program.not_packing}",
                           f"{what} keeps supplies by giving nothing: must be a packing program, such as UnitDemand")


def coin_slip(rounds: int) -> float:
    """By how much the probabilities of rounds are off, all together: a draw has 2^32 values.

    Args:
        rounds: T.
    """
    return rounds / PUBLIC_RANGE


def sparse_rows(
    program: Program, records: Any, actions: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """What everybody's action adds, without the zeros: how many entries each has, their rows, and their loads in units.

    Args:
        program: whose they are.
        records: of m participants.
        actions: (m, width).
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
