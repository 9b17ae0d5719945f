"""`XorBundles`: each participant lists a few sets of goods, each with a value, and wants at most one of the sets.

Source: Wu 2017, section 5.4.1; spec convex_programs 4 (d-demand, explicit XOR lists).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from numbers import Integral, Real
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from confide._compiled import kernel
from confide.contract.errors import InvalidInput
from confide.contract.mechanism import Unusable
from confide.contract.parameters import Parameter
from confide.contract.wire import wire
from confide.programs.grids import LOAD_BITS, LOAD_UNIT
from confide.programs.linear import LinearProgram, choices
from confide.programs.program import MOST_ROWS, ProgramRecords
from confide.programs.sets_of_goods import SetsOfGoods
from confide.programs.tables import bad_rows, each_aside, number, refused_or_null, value_units

__all__ = ["BundleRecords", "XorBundles"]

_CHUNK = 1 << 16
_Listed = tuple[list[list[int]], list[float]]
_A_BID = "each bid must be (goods, value): different goods, and a value in [0, 1]"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BundleRecords(ProgramRecords):
    """Bids of all participants. The data are private and must not be published.

    Args:
        goods: (n, bids, size) int32 indices of the goods of each bid, from 0, ascending; k in empty places.
        worth: (n, bids) int32 value of each bid, in units of 2^-24; 0 for an empty bid.
    """

    goods: NDArray[np.int32]
    worth: NDArray[np.int32]


@wire("XorBundles", "people supply tau goods size bids")
@dataclass(frozen=True)
class XorBundles(SetsOfGoods):
    """A program of n people and k goods in several copies each. A record is a list of up to `bids` sets of up to `size`
    goods, each with a value in [0, 1].

    The value of a set of goods is the largest value among the bids with all goods in the set, as in auctions with
    exclusive-or bids. The action is the set of goods, not the number of the bid, so the action reveals nothing else of
    the record.

    Raises:
        InvalidInput: a number out of range.

    Example:
        >>> program = XorBundles(3, (1, 2, 2), size=2, bids=2)
        >>> records = program.read([[((0, 2), 0.75), ((1,), 0.5)], [((2, 1), 1.0)], []])
        >>> program.respond(records, np.array([1 << 23, 0, 0])).tolist()
        [[1, -1], [1, 2], [-1, -1]]
    """

    size: Annotated[int, Parameter("largest number of goods in a bundle",
                                   symbol="d", at_least=1, at_most=MOST_ROWS)] = field(
        kw_only=True)
    bids: Annotated[int, Parameter("largest number of bundles of one participant",
                                   at_least=1, at_most=MOST_ROWS)] = field(
        kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._size("size", self.size)

    @property
    def width(self) -> int:
        return self.size

    def _read(self, data: Any, unusable: Unusable) -> ProgramRecords:
        """Checked records of all participants.

        Args:
            data: n lists of bids, each a pair (goods, value) with a value in [0, 1], or None for a slot without bids.
                The data may also be a tuple of two arrays, which is much faster: goods (n, bids, size), whole numbers
                with -1 in empty places, and values (n, bids), 0 for a bid without goods.
            unusable: treatment of a bad row, "refuse" or "null".
        """
        if isinstance(data, tuple) and len(data) == 2 and all(isinstance(one, np.ndarray) for one in data):
            goods, values = data
            shape = (self.people, self.bids)
            bad = np.zeros(self.people, dtype=bool)
        else:
            goods, values, bad = self._listed(data)
            shape = values.shape
        if goods.dtype.kind not in "iu" or goods.shape != (*shape, self.size):
            raise InvalidInput("records", f"goods of {goods.dtype} in the shape {goods.shape}",
                               f"must be whole numbers in the shape {(*shape, self.size)}")
        if values.dtype.kind not in "fiub" or values.shape != shape:
            raise InvalidInput("records", f"values of {values.dtype} in the shape {values.shape}",
                               f"must be numbers in the shape {shape}")
        records, more = self._checked(goods, values)
        refused_or_null("records", bad | more, _A_BID, unusable)
        return records

    def one(self, record: Any) -> BundleRecords:
        """One participant's record, checked without any other record.

        Args:
            record: a list of bids, each a pair (goods, value); or a tuple of two arrays, goods (bids, size) and values
                (bids,).
        """
        if isinstance(record, tuple) and len(record) == 2 and all(isinstance(each, np.ndarray) for each in record):
            goods, values = record
            if goods.dtype.kind not in "iu" or goods.shape != (self.bids, self.size):
                raise InvalidInput("record", f"goods of {goods.dtype} in the shape {goods.shape}",
                                   f"must be whole numbers in the shape {(self.bids, self.size)}")
            if values.dtype.kind not in "fiub" or values.shape != (self.bids,):
                raise InvalidInput("record", f"values of {values.dtype} in the shape {values.shape}",
                                   f"must be numbers in the shape {(self.bids,)}")
        else:
            [listed] = each_aside(self._reported, [record])
            if isinstance(listed, InvalidInput):
                raise listed
            goods, values = self._empty(1)
            goods, values = goods[0], values[0]
            _put(listed, goods, values)
        records, bad = self._checked(goods[None], values[None])
        if bool(bad.any()):
            raise InvalidInput("record", f"a bid has goods that are not in 0..{self.rows - 1} or occur twice, or a "
                               "value that is not in [0, 1]", _A_BID)
        return records

    def _empty(self, people: int) -> tuple[NDArray[Any], NDArray[Any]]:
        return np.full((people, self.bids, self.size), -1, dtype=np.int64), np.zeros((people, self.bids))

    def _listed(self, data: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
        """Arrays of the bids in the given lists, and whether each list is invalid."""
        if not isinstance(data, Sequence) or isinstance(data, str | bytes):
            raise InvalidInput("records", f"{type(data).__name__} is neither lists of bids nor two arrays")
        if len(data) != self.people:
            raise InvalidInput("records", f"{len(data)} records", f"must be {self.people} records, one for each slot")
        goods, values = self._empty(self.people)
        bad = np.zeros(self.people, dtype=bool)
        for i, listed in enumerate(each_aside(self._reported, data)):
            bad[i] = isinstance(listed, InvalidInput)
            if not isinstance(listed, InvalidInput):
                _put(listed, goods[i], values[i])
        return goods, values, bad

    def _reported(self, record: Any) -> _Listed | InvalidInput:
        """One list of bids, or the error that it causes, for any object. The method must be called on another thread
        than the main one.
        """
        try:
            return self._bids_of(record)
        except InvalidInput as fault:
            return fault
        except BaseException:  # noqa: BLE001, as in `answered`
            return InvalidInput("record", "is not a readable list of bids", _A_BID)

    def _bids_of(self, record: Any) -> _Listed:
        """Goods of each bid, with -1 in empty places, and values. The ranges of goods and values are not checked."""
        rows: list[list[int]] = []
        values: list[float] = []
        if record is None:
            return rows, values
        if not isinstance(record, Sequence) or isinstance(record, str | bytes):
            raise InvalidInput("record", f"{type(record).__name__} is not a list of bids", _A_BID)
        for place, bid in enumerate(islice(record, self.bids + 1)):
            if place == self.bids:
                raise InvalidInput("record", "has too many bids", f"must have at most {self.bids} bids")
            try:
                bundle, value = bid
                wanted = list(islice(bundle, self.size + 1))
            except (TypeError, ValueError):
                raise InvalidInput("record", f"bid {place} is not a pair of goods and a value", _A_BID) from None
            if not 1 <= len(wanted) <= self.size or not all(map(_is_whole, wanted)):
                raise InvalidInput("record", f"bid {place} does not have 1 to {self.size} whole numbers as goods",
                                   _A_BID)
            if type(value) is not float and not isinstance(value, Real):
                raise InvalidInput("record", f"the value of bid {place} is not a number", _A_BID)
            whole_goods = [int(good) for good in wanted]
            rows.append([good if 0 <= good < self.rows else self.rows for good in whole_goods]
                        + [-1] * (self.size - len(wanted)))
            values.append(number(value))
        return rows, values

    def _checked(self, goods: NDArray[Any], values: NDArray[Any]) -> tuple[BundleRecords, NDArray[np.bool_]]:
        """Bids with sorted goods and in units, and whether each participant's bids are bad. Bad bids are left out."""
        k, people = self.rows, len(goods)
        kept = np.empty(goods.shape, dtype=np.int32)
        bad = bad_rows(values, 0.0, 1.0)
        for at in range(0, people, _CHUNK):
            part = slice(at, at + _CHUNK)
            wide = goods[part].astype(np.int64)
            strange = ((wide < -1) | (wide >= k) | (wide != goods[part])).any(axis=(1, 2))
            wanted = np.sort(np.where(wide == -1, k, wide), axis=2)
            twice = ((wanted[:, :, 1:] == wanted[:, :, :-1]) & (wanted[:, :, 1:] < k)).any(axis=(1, 2))
            unnamed = ((wanted[:, :, 0] == k) & (values[part] != 0)).any(axis=1)
            bad[part] |= strange | twice | unnamed
            kept[part] = np.where(bad[part, None, None], k, wanted)
        return BundleRecords(people=people, goods=kept, worth=value_units(values, bad, np.int32)), bad

    def respond(self, records: BundleRecords, prices: NDArray[np.int64]) -> NDArray[np.int32]:
        return self._best(records, prices)[0]

    def load_at(self, records: BundleRecords, prices: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._best(records, prices)[1] << LOAD_BITS

    def _best(
        self, records: BundleRecords, prices: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        chosen = np.empty((records.people, self.size), dtype=np.int32)
        taken = np.zeros(self.rows + 1, dtype=np.int64)
        _best_bids(records.goods, records.worth, np.append(prices, 0), chosen, taken)
        return chosen, taken[:-1]

    def values(self, records: BundleRecords, actions: NDArray[np.int32]) -> NDArray[np.int64]:
        out = np.empty(len(actions), dtype=np.int64)
        _best_held(records.goods, records.worth, actions, np.int32(self.rows), out)
        return out

    def linear_program(self, records: BundleRecords) -> LinearProgram:
        people, bids = np.nonzero(records.worth)
        goods = records.goods[people, bids]
        entries, places = np.nonzero(goods < self.rows)
        return choices(self, values=records.worth[people, bids], people=people, rows=goods[entries, places],
                       loads=np.full(len(entries), LOAD_UNIT), entries=entries)


@kernel
def _best_bids(goods: Any, worth: Any, prices: Any, chosen: Any, taken: Any) -> None:
    """Bid with the largest gain of each participant; the first one if several are equal.

    Args:
        goods: (n, bids, size) int32 goods, k in empty places.
        worth: (n, bids) int32 values.
        prices: (k + 1,) int64 prices, the last one 0.
        chosen: (n, size) int32 output.
        taken: (k + 1,) int64 number of choices of each good, to which the new choices are added; the last entry counts
            empty places.
    """
    n, bids, size = goods.shape
    none = np.int32(len(prices) - 1)
    for i in range(n):
        best, which = np.int64(0), -1
        for b in range(bids):
            gain = np.int64(worth[i, b])
            for s in range(size):
                gain -= prices[np.uint32(goods[i, b, s])]
            which = b if gain > best else which
            best = max(best, gain)
        for s in range(size):
            good = goods[i, which, s] if which >= 0 else none
            taken[np.uint32(good)] += 1
            chosen[i, s] = good if good != none else np.int32(-1)


@kernel
def _best_held(goods: Any, worth: Any, actions: Any, none: Any, out: Any) -> None:
    """Largest value of a bid whose goods an action contains, for each participant.

    Args:
        goods: (n, bids, size) int32 goods, ascending, `none` in empty places.
        worth: (n, bids) int32 values.
        actions: (n, size) int32 goods, ascending, then -1.
        none: int32 number that stands for an empty place.
        out: (n,) int64 output.
    """
    n, bids, size = goods.shape
    for i in range(n):
        best = np.int64(0)
        for b in range(bids):
            at, held = 0, True
            for s in range(size):
                good = goods[i, b, s]
                if good == none:
                    break
                while at < size and actions[i, at] < good and actions[i, at] >= 0:
                    at += 1
                if at == size or actions[i, at] != good:
                    held = False
                    break
            if held:
                best = max(best, np.int64(worth[i, b]))
        out[i] = best


def _put(listed: _Listed, goods: NDArray[Any], values: NDArray[Any]) -> None:
    """Copy bids into arrays."""
    rows, worth = listed
    if rows:
        goods[: len(rows)] = rows
        values[: len(worth)] = worth


def _is_whole(good: Any) -> bool:
    return type(good) is int or (isinstance(good, Integral) and not isinstance(good, bool | np.bool_))
