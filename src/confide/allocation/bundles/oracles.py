"""Valuations that are programs, and a test of gross substitutes. A program answers with the value of a bundle, or with
the next good to bid on at given prices.

A program runs in the auction and on the bidder's own device, with the same answers. The auction continues whatever
answer the program gives, and whatever error it raises. A program counts as wanting nothing if it fails, or if its
answer is not a number or not one of the goods. A program also counts as wanting nothing if its answer is a good that
the bidder already holds, in a class in which further copies are worth 0. A bidder's program is not isolated: it can do
anything that a program can do. So an operator who runs programs of others must isolate them from everything else.

The test looks for local patterns that no gross-substitutes valuation has, and may refute the property. For every bundle
S and further goods i, j, l, consider the three sums

    v(S+i+j) + v(S+l),  v(S+i+l) + v(S+j),  v(S+j+l) + v(S+i)

A monotone valuation has gross substitutes exactly if v is submodular and the two largest of the three sums are equal,
for all S, i, j, l. The test treats copies of a good as separate goods, each with its own price. The reason is that the
auction fixes the price of a copy at the moment when a bidder wins it.

Source: Reijnierse, van Gellekom and Potters 2002; Murota 2003 (valuated matroids); spec allocation 5.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.allocation.bundles.bidders import MOST, Bidder, Bundle, BundleClass, refuse_total
from confide.contract.checks import non_negative, whole
from confide.contract.errors import InvalidInput
from confide.contract.parameters import Parameter
from confide.contract.words import counted
from confide.privacy.noise.simulated import study_generator

__all__ = ["NotSubstitutes", "OracleRecord", "UserOracle", "falsify_gross_substitutes"]

# ---- falsifier


@dataclass(frozen=True, kw_only=True)
class NotSubstitutes:
    """A pattern of values that no gross-substitutes valuation has.

    Args:
        pattern: name of the kind of pattern: "loses" (a good lowers the value), "complements" (two goods are worth more
            together than apart), or "uneven" (the two largest of the three sums in the module's description differ).
        bundle: bundle S to which the goods of the pattern are added.
        goods: further goods of the pattern: one good for "loses", two for "complements", and three for "uneven".
        gap: amount, in units of value, by which the pattern violates gross substitutes.
    """

    pattern: str
    bundle: tuple[int, ...]
    goods: tuple[int, ...]
    gap: float

    def __str__(self) -> str:
        match self.pattern:
            case "loses":
                what = f"good {self.goods[0]} lowers the value"
            case "complements":
                what = f"goods {self.goods[0]} and {self.goods[1]} are worth more together than apart"
            case _:
                what = "goods {} and {} are worth more together than either with {}".format(*self.goods)
        return f"{what}, if the bundle already holds the goods {self.bundle}"


def falsify_gross_substitutes(
    valuation: Bidder | Callable[[tuple[int, ...]], float], goods: int, trials: int, seed: int, *, copies: int = 1,
    tolerance: float = 1e-9,
) -> NotSubstitutes | None:
    """Search for a pattern of values that shows that a valuation does not have gross substitutes. Returns None if no
    such pattern is found.

    If there are at most `trials` patterns, all are tested, and the result None then proves gross substitutes up to the
    tolerance.

    Args:
        valuation: bidder, or function from a bundle to the value of the bundle, where the bundle is a tuple of goods in
            ascending order.
        goods: number k of goods.
        trials: largest number of patterns that are tested, drawn with public randomness.
        seed: public seed of the drawn patterns.
        copies: number of copies of each good that a tested bundle may hold.
        tolerance: largest violation, in units of value, that counts as rounding.

    Raises:
        InvalidInput: a value that is not a number.

    Example:
        >>> found = falsify_gross_substitutes(lambda bundle: float({0, 2} <= set(bundle)), 3, 1000, 1)
        >>> found.pattern, sorted(found.goods)
        ('complements', [0, 2])
    """
    items = whole("goods", goods, at_least=1) * whole("copies", copies, at_least=1)
    whole("trials", trials)
    non_negative("tolerance", tolerance)
    value = valuation.value if isinstance(valuation, Bidder) else valuation
    known: dict[tuple[int, ...], float] = {}

    def worth(*parts: int) -> float:
        bundle = tuple(sorted(item // copies for item in parts))
        if bundle not in known:
            known[bundle] = float(value(bundle))
            if not math.isfinite(known[bundle]):
                raise InvalidInput("record", f"the value of bundle {bundle} is not a number")
        return known[bundle]

    for inside, outside in _patterns(items, trials, seed):
        gap, pattern, named = _worst(worth, inside, outside)
        if gap > tolerance:
            return NotSubstitutes(pattern=pattern, bundle=tuple(sorted(item // copies for item in inside)),
                                  goods=tuple(item // copies for item in named), gap=gap)
    return None


def _patterns(items: int, trials: int, seed: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Pairs of a bundle and up to three further items: all pairs, or a random choice of as many as there are trials."""
    size = min(3, items)
    if items < 40 and math.comb(items, size) << (items - size) <= trials:
        for outside in itertools.combinations(range(items), size):
            rest = [item for item in range(items) if item not in outside]
            for number in range(len(rest) + 1):
                yield from ((inside, outside) for inside in itertools.combinations(rest, number))
        # Patterns of one and two items beside nearly everything are not among those of three.
        for number in range(1, size):
            for outside in itertools.combinations(range(items), number):
                yield tuple(item for item in range(items) if item not in outside), outside
        return
    draw = study_generator(seed, "gross substitutes")
    for _ in range(trials):
        order = draw.permutation(items)
        number = int(draw.integers(items))
        yield tuple(order[:number].tolist()), tuple(order[number : number + size].tolist())


def _worst(
    worth: Callable[..., float], inside: tuple[int, ...], outside: tuple[int, ...]
) -> tuple[float, str, tuple[int, ...]]:
    """The largest gap of any pattern of the items `outside`, added to the bundle `inside`."""
    alone = worth(*inside)
    one = {item: worth(*inside, item) for item in outside}
    two = {pair: worth(*inside, *pair) for pair in itertools.combinations(outside, 2)}
    found: list[tuple[float, str, tuple[int, ...]]] = [(alone - one[item], "loses", (item,)) for item in outside]
    found += [(two[i, j] + alone - one[i] - one[j], "complements", (i, j)) for i, j in two]
    if len(outside) == 3:
        sums = sorted(((two[pair] + one[other], pair, other) for pair in two for other in outside
                       if other not in pair), reverse=True)
        found.append((sums[0][0] - sums[1][0], "uneven", (*sums[0][1], sums[0][2])))
    return max(found, key=lambda each: each[0])


# ---- oracles

_Reals = NDArray[np.float64]
_FAULTS = (Exception, SystemExit, GeneratorExit)  # not the operator's own interrupt


@dataclass(frozen=True, kw_only=True)
class OracleRecord:
    """The record of a bidder who bids by programs: a value program, a demand program, or both.

    The value program and the demand program must always give the same answers to the same questions.

    Args:
        value: function from a bundle (goods in ascending order, copies repeated) to a number in [0, 1].
        demand: function from (prices of shape (k,), held goods) to the next good to bid on. The good lies in a
            most-preferred superset of the held goods. The function returns -1 if no superset is strictly better. For a
            bidder without `value`, the welfare counts a value of 0, and the certificate counts a surplus of 1.
    """

    value: Callable[[tuple[int, ...]], float] | None = None
    demand: Callable[[_Reals, tuple[int, ...]], int] | None = None

    def __post_init__(self) -> None:
        if not (callable(self.value) or callable(self.demand)):
            raise InvalidInput("record", "has no program", "must have a function value or demand")


def _number(value: Any) -> float:
    """A program's answer as a number in [0, 1]. A number above 1 by no more than rounding errors counts as 1. Any other
    number outside [0, 1] becomes nan.
    """
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
        except _FAULTS:  # an error would reveal the bidder's program to others
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
    """The class of all gross-substitutes valuations, given by programs. A record is a function from a bundle to its
    value, an `OracleRecord`, or a `Bidder` of another class.

    Each value program is tested at submission, without any other bidder's program. The tests are v(empty) = 0, v(all)
    <= 1, and `trials` questions that a valuation without gross substitutes may fail. Passing the tests does not prove
    gross substitutes.

    Example:
        >>> oracle = UserOracle(most=2)
        >>> oracle.bidder(lambda bundle: min(len(bundle), 2) / 2, goods=3).value((0, 2))
        1.0
        >>> from confide.contract.errors import InvalidInput
        >>> try:
        ...     oracle.bidder(lambda bundle: float({0, 1} <= set(bundle)), goods=3)
        ... except InvalidInput as error:
        ...     print(error.problem)
        does not have gross substitutes: goods 0 and 1 are worth more together than apart, if the bundle already \
holds the goods ()
    """

    most: Annotated[int, Parameter("size of the largest bundle that is worth more than any smaller one", at_least=1)]
    trials: Annotated[int, Parameter("number of trials of `falsify_gross_substitutes` for each program",
                                     at_least=0)] = 64
    copies: Annotated[int, Parameter("number of copies of one good that may add to the value of a bundle",
                                     at_least=1)] = 1

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
                raise InvalidInput("record", f"is for {counted(record.goods, 'good')}",
                                   f"must be for {counted(goods, 'good')}")
            record = _programs_of(record)
        if callable(record):
            record = OracleRecord(value=record)
        if not isinstance(record, OracleRecord):
            raise InvalidInput("record", "is not a program",
                               "must be a function of bundles, an OracleRecord or a Bidder")
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
            raise InvalidInput("record", f"the program of the record fails ({type(error).__name__})") from None
        if nothing != 0.0:
            raise InvalidInput("record", f"the value of the empty bundle is {nothing:.6g}", "must be 0")
        if not 0.0 <= total <= MOST:
            raise refuse_total(total)
        if not self.trials:
            return
        try:
            found = falsify_gross_substitutes(value, goods, self.trials, 0, copies=self.copies)
        except InvalidInput:
            raise
        except _FAULTS as error:
            raise InvalidInput("record", f"the program of the record fails ({type(error).__name__})") from None
        if found is not None:
            raise InvalidInput("record", f"does not have gross substitutes: {found}",
                               "no good may lower the value of a bundle, and a higher price of one good must never "
                               "lower the demand for another good")


def _programs_of(bidder: Bidder) -> OracleRecord:
    """Programs that answer as a bidder of any class does, so that the answers are checked like those of
    every program.
    """
    return OracleRecord(value=bidder.value, demand=lambda prices, held: bidder.pick(held, prices))


def _asked_once(demand: Callable[[_Reals, tuple[int, ...]], int], goods: int) -> None:
    try:
        int(demand(np.zeros(goods), ()))
    except _FAULTS as error:
        raise InvalidInput("record", f"the program of the record fails ({type(error).__name__})") from None
