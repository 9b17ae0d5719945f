"""Valuations that are programs: a value for each bundle, or the next good at some prices.

A program runs where its bidder's good is found: in the auction and on her own device, with the same answers. Whatever
it answers or raises there, the auction goes on: a program that fails, or answers with what is no number or no good, or
a good that she holds where copies are worth nothing, wants nothing. It is still a program: who runs others' programs
lets them do what programs can, so run them apart from everything else.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.allocation.bundles.bidders import MOST, Bidder, Bundle, BundleClass, refuse_total
from confide.allocation.bundles.falsifier import falsify_gross_substitutes
from confide.contract.errors import InvalidInput
from confide.contract.parameters import Parameter

__all__ = ["OracleRecord", "UserOracle"]

_Reals = NDArray[np.float64]
_FAULTS = (Exception, SystemExit, GeneratorExit)  # not the operator's own interrupt


@dataclass(frozen=True, kw_only=True)
class OracleRecord:
    """One bidder's programs, at least one of them; both always give the same answers to the same questions.

    Args:
        value: of a bundle, goods in ascending order, copies repeated: a number in [0, 1].
        demand: (prices (k,), held) to the good that is bid on next, in a most-preferred superset of what is held, or -1
            where there is none strictly better. Without `value`, welfare counts her as 0, and certificates as 1.
    """

    value: Callable[[tuple[int, ...]], float] | None = None
    demand: Callable[[_Reals, tuple[int, ...]], int] | None = None

    def __post_init__(self) -> None:
        if not (callable(self.value) or callable(self.demand)):
            raise InvalidInput("record", "has no program", "value or demand must be there")


def _number(value: Any) -> float:
    """A number in [0, 1], or nan."""
    found = float(value)
    return min(found, 1.0) if 0.0 <= found <= MOST else math.nan


class _OracleBidder(Bidder):
    def __init__(self, record: OracleRecord, goods: int, most: int, *, repeats: bool) -> None:
        self.goods, self._record, self._most, self._repeats = goods, record, most, repeats

    def value(self, bundle: Bundle) -> float:
        found = self._asked(bundle)
        return found if found == found else 0.0  # noqa: PLR0124 (not a number)

    def _asked(self, bundle: Bundle) -> float:
        if self._record.value is None:
            return math.nan
        try:
            return _number(self._record.value(tuple(sorted(int(good) for good in bundle))))
        except _FAULTS:  # an error would tell others of her program
            return math.nan

    def gains(self, held: Bundle) -> _Reals:
        now = self._asked(held)
        return np.array([0.0 if not self._repeats and good in held else self._asked((*held, good)) - now
                         for good in range(self.goods)])

    def pick(self, held: Bundle, prices: ArrayLike) -> int:
        at = np.asarray(prices, dtype=np.float64)
        if self._record.demand is None:
            above = self.gains(held) - at
            above[~np.isfinite(above)] = -1.0
            best = int(np.argmax(above))
            return best if bool(above[best] > 0.0) else -1
        try:
            good = int(self._record.demand(at.copy(), tuple(sorted(int(one) for one in held))))
        except _FAULTS:
            return -1
        return good if 0 <= good < self.goods and (self._repeats or good not in held) else -1

    def surplus(self, prices: _Reals) -> float:
        if self._record.value is None:
            return 1.0
        bundle = self.demand((), prices, self._most)
        return max(0.0, self.value(bundle) - math.fsum(float(prices[good]) for good in bundle))


@dataclass(frozen=True, kw_only=True)
class UserOracle(BundleClass):
    """Any gross-substitutes valuations: a record is a program from bundles to values, an `OracleRecord`, or a bidder of
    another class.

    A program is tested at submission, alone: v(empty) = 0, v(all) <= 1, and `trials` questions that a valuation
    without gross substitutes may fail. None can prove that it has them.

    Example:
        >>> oracle = UserOracle(most=2)
        >>> oracle.bidder(lambda bundle: min(len(bundle), 2) / 2, goods=3).value((0, 2))
        1.0
        >>> from confide.contract.errors import InvalidInput
        >>> try:
        ...     oracle.bidder(lambda bundle: float({0, 1} <= set(bundle)), goods=3)
        ... except InvalidInput as error:
        ...     print(error.problem)
        has no gross substitutes: goods 0 and 1 are worth more together than apart, beside ()
    """

    most: Annotated[int, Parameter("size of the largest bundle that is worth more than any smaller one", at_least=1)]
    trials: Annotated[int, Parameter("number of trials of `falsify_gross_substitutes` for each program",
                                     at_least=0)] = 64
    copies: Annotated[int, Parameter("copies of one good that may be worth something together", at_least=1)] = 1

    @property
    def repeats(self) -> bool:
        return self.copies > 1

    def largest(self, goods: int) -> int:
        return min(self.most, goods * self.copies)

    def bidder(self, record: Any, goods: int) -> Bidder:
        if record is None:
            record = OracleRecord(value=lambda bundle: 0.0)  # noqa: ARG005
        if isinstance(record, Bidder):
            if record.goods != goods:
                raise InvalidInput("record", f"is of {record.goods} goods", f"must be of {goods}")
            record = _programs_of(record)
        if callable(record):
            record = OracleRecord(value=record)
        if not isinstance(record, OracleRecord):
            raise InvalidInput("record", "is no program", "must be a function of bundles, an OracleRecord or a Bidder")
        if record.value is not None:
            self._tested(record.value, goods)
        if record.demand is not None:
            _asked_once(record.demand, goods)
        return _OracleBidder(record, goods, self.largest(goods), repeats=self.repeats)

    def _tested(self, value: Callable[[tuple[int, ...]], float], goods: int) -> None:
        everything = tuple(good for good in range(goods) for _ in range(self.copies))
        try:
            nothing, total = float(value(())), float(value(everything))
        except _FAULTS as error:
            raise InvalidInput("record", f"its program fails ({type(error).__name__})") from None
        if nothing != 0.0:
            raise InvalidInput("record", f"no good at all is worth {nothing:.6g}", "must be 0")
        if not 0.0 <= total <= MOST:
            raise refuse_total(total)
        if not self.trials:
            return
        try:
            found = falsify_gross_substitutes(value, goods, self.trials, 0, copies=self.copies)
        except InvalidInput:
            raise
        except _FAULTS as error:
            raise InvalidInput("record", f"its program fails ({type(error).__name__})") from None
        if found is not None:
            raise InvalidInput("record", f"has no gross substitutes: {found}",
                               "a valuation for which prices of other goods never lower demand")


def _programs_of(bidder: Bidder) -> OracleRecord:
    """A bidder of any class, as programs: what she answers is checked as every program's is."""
    return OracleRecord(value=bidder.value, demand=lambda prices, held: bidder.pick(held, prices))


def _asked_once(demand: Callable[[_Reals, tuple[int, ...]], int], goods: int) -> None:
    try:
        int(demand(np.zeros(goods), ()))
    except _FAULTS as error:
        raise InvalidInput("record", f"its program fails ({type(error).__name__})") from None
