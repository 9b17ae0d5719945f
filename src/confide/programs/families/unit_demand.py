"""`UnitDemand`: each participant wants one of k goods, each in several copies.

Source: Wu 2017, section 5.4.1 with d = 1; spec convex_programs 4 (d-demand).

The module computes each participant's favourite good at posted prices. An action is one good, or none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide._compiled import kernel
from confide.contract.mechanism import Unusable
from confide.contract.wire import wire
from confide.programs.grids import LOAD_BITS, LOAD_UNIT
from confide.programs.linear import LinearProgram, choices
from confide.programs.program import ProgramRecords
from confide.programs.sets_of_goods import SetsOfGoods, WorthRecords, one_worth, read_worth

__all__ = ["UnitDemand", "favourite_counts", "favourites", "favourites_along"]

# ---- favourites

_FEW = 1 << 16  # numbers at once up to which numpy answers, since the kernels' compiler takes half a second to import
_MANY = 1 << 26  # numbers in all after which numpy has taken as long as this import
_answered = [0]  # numbers that numpy has answered in this process

_TOGETHER = 1024  # people whose best goods so far stay in the fastest cache


def favourites(worth: Any, prices: Any, chosen: Any) -> None:
    """Write the best good of each participant at given prices to `chosen`: the first among equals, or -1 if no value
    exceeds its price.

    Args:
        worth: (n, k) int32 values, in units of 2^-24.
        prices: (k,) int32 prices, in units of 2^-24.
        chosen: (n, 1) int32 array for the output.
    """
    if _is_little(worth.size):
        chosen[:, 0] = _best(worth - prices)
    else:
        compiled_favourites(worth, prices, chosen)


def favourites_along(worth: Any, prices: Any, chosen: Any, *, blocks: int = 1) -> None:
    """Write the best good of each participant in each of T rounds to `chosen`: the first among equals, or -1 if no
    value exceeds its price.

    Args:
        worth: (n, k) int32 values, in units of 2^-24.
        prices: (k, T) int32 prices of all rounds, in units of 2^-24.
        chosen: (n, T, 1) int32 array for the output.
        blocks: number of calls with tables of this size. The number decides whether the import of compiled code saves
            time.
    """
    if not _is_little(worth.size * blocks):
        compiled_favourites_along(worth, prices, chosen)
        return
    for i, row in enumerate(worth):
        chosen[i, :, 0] = _best(row - prices.T)


def favourite_counts(columns: Any, prices: Any, counts: Any) -> None:
    """Add to `counts` the number of participants who choose each good, where everybody chooses the good that
    `favourites` gives.

    Args:
        columns: (k, n) int32 values, in units of 2^-24; each row has all participants' values of one good.
        prices: (k,) int32 prices, in units of 2^-24.
        counts: (1 + k,) int64 counts, to which the new counts are added. The first entry of `counts` is the number of
            participants who choose nothing.
    """
    if _is_little(columns.size):
        counts += np.bincount(1 + _best((columns - prices[:, None]).T), minlength=len(counts))
    else:
        compiled_favourite_counts(columns, prices, counts)


def _is_little(numbers: int) -> bool:
    """Whether numpy computes the answer, without compiled code. This is so for few numbers at once, as long as all
    numbers so far are too few to be worth the import of the compiler.
    """
    if numbers > _FEW or _answered[0] > _MANY:
        return False
    _answered[0] += numbers
    return True


def _best(surplus: Any) -> Any:
    """Place of the largest number in each row of an (n, k) table; the first one if several are equal, and -1 where no
    number is positive. The result has shape (n,).
    """
    best = surplus.argmax(axis=1)
    return np.where(np.take_along_axis(surplus, best[:, None], axis=1)[:, 0] > 0, best, -1)


@kernel
def compiled_favourites(worth: Any, prices: Any, chosen: Any) -> None:
    """Compiled `favourites`, in two passes without branches."""
    k, none = np.int32(len(prices)), np.int32(0)
    for i in range(len(worth)):
        best = none
        for j in range(k):
            best = max(best, np.int32(worth[i, j] - prices[j]))
        left = none  # goods from the first best one on
        for j in range(k):
            left = max(left, np.int32(k - j) if np.int32(worth[i, j] - prices[j]) == best else none)
        chosen[i, 0] = np.int32(k - left) if best > 0 else np.int32(-1)


@kernel
def compiled_favourites_along(worth: Any, prices: Any, chosen: Any) -> None:
    """Compiled `favourites_along`. The inner loops run over rounds, so that each participant's values are read once for
    all rounds.
    """
    k, rounds = prices.shape
    best, left, none = np.empty(rounds, dtype=np.int32), np.empty(rounds, dtype=np.int32), np.int32(0)
    for i in range(len(worth)):
        best[:] = none
        left[:] = none
        for j in range(k):
            value = worth[i, j]
            for t in range(rounds):
                best[t] = max(best[t], np.int32(value - prices[j, t]))
        for j in range(k):
            value, from_here = worth[i, j], np.int32(k - j)
            for t in range(rounds):
                left[t] = max(left[t], from_here if np.int32(value - prices[j, t]) == best[t] else none)
        for t in range(rounds):
            chosen[i, t, 0] = np.int32(k) - left[t] if best[t] > 0 else np.int32(-1)


@kernel
def compiled_favourite_counts(columns: Any, prices: Any, counts: Any) -> None:
    """Compiled `favourite_counts`. The code processes one good after the other, for many people at once."""
    k, n = columns.shape
    top, which, none = np.empty(_TOGETHER, dtype=np.int32), np.empty(_TOGETHER, dtype=np.int32), np.int32(0)
    for at in range(0, n, _TOGETHER):
        size = min(_TOGETHER, n - at)
        best, good = top[:size], which[:size]
        best[:] = none
        good[:] = none
        for j in range(k):
            price, number, row = prices[j], np.int32(j + 1), columns[j, at : at + size]
            for i in range(len(row)):
                surplus, before = np.int32(row[i] - price), best[i]
                good[i] = max(good[i] if surplus <= before else number, none)
                best[i] = max(before, surplus)
        for i in range(size):
            counts[good[i]] += 1


# ---- unit demand

_FEW_GOODS = 48  # goods up to which good by good is faster than person by person


@wire("UnitDemand", "people supply tau goods")
@dataclass(frozen=True)
class UnitDemand(SetsOfGoods):
    """A program of n people who each want one of k goods, in several copies each. A record is k values in [0, 1].

    Raises:
        InvalidInput: a number out of range.

    Example:
        >>> program = UnitDemand(3, (1, 2))
        >>> records = program.read([[1.0, 0.5], [0.25, 0.5], [0.0, 0.0]])
        >>> program.respond(records, np.zeros(2, dtype=np.int64)).ravel().tolist()
        [0, 1, -1]
    """

    @property
    def width(self) -> int:
        return 1

    def _read(self, data: Any, unusable: Unusable) -> ProgramRecords:
        """Checked records of all participants.

        Args:
            data: (n, k) values in [0, 1].
            unusable: treatment of a bad row, "refuse" or "null".
        """
        return read_worth(data, self.people, self.rows, unusable)

    def one(self, record: Any) -> WorthRecords:
        """One participant's record, checked without any other record.

        Args:
            record: (k,) values in [0, 1].
        """
        return one_worth(record, self.rows)

    def respond(self, records: WorthRecords, prices: NDArray[np.int64]) -> NDArray[np.int32]:
        chosen = np.empty((records.people, 1), dtype=np.int32)
        favourites(records.worth, prices.astype(np.int32), chosen)
        return chosen

    def respond_along(self, records: WorthRecords, prices: NDArray[np.int64]) -> NDArray[np.int32]:
        chosen = np.empty((records.people, len(prices), 1), dtype=np.int32)
        blocks = self.people // records.people if records.people > 1 else 1  # a share asks about one record alone
        favourites_along(records.worth, np.ascontiguousarray(prices.T, dtype=np.int32), chosen, blocks=blocks)
        return chosen

    def load_at(self, records: Any, prices: NDArray[np.int64]) -> NDArray[np.int64]:
        if self.rows > _FEW_GOODS:
            return super().load_at(records, prices)
        counts = np.zeros(1 + self.rows, dtype=np.int64)
        favourite_counts(records.columns, prices.astype(np.int32), counts)
        return counts[1:] << LOAD_BITS

    def values(self, records: WorthRecords, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        found = np.take_along_axis(records.worth, np.maximum(actions, 0), axis=1)[:, 0].astype(np.int64)
        return np.where(actions[:, 0] >= 0, found, 0)

    def linear_program(self, records: WorthRecords) -> LinearProgram:
        people, goods = np.nonzero(records.worth)
        return choices(self, values=records.worth[people, goods], people=people, rows=goods,
                       loads=np.full(len(goods), LOAD_UNIT), entries=np.arange(len(goods)))
