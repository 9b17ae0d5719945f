"""A test that may refute gross substitutes: it looks for one of the local patterns that such valuations cannot have.

A monotone valuation has gross substitutes exactly if, for every bundle S and further goods i, j, l, v is submodular and
the two largest of v(S+i+j) + v(S+l), v(S+i+l) + v(S+j) and v(S+j+l) + v(S+i) are equal. Copies of a good are goods of
their own here, each with its own price, as in an auction in which prices are sunk when a good is won.

Source: Reijnierse, van Gellekom and Potters 2002; Murota 2003 (valuated matroids); spec allocation 5.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from confide.allocation.bundles.bidders import Bidder
from confide.contract.checks import non_negative, whole
from confide.contract.errors import InvalidInput
from confide.privacy.noise.simulated import study_generator

__all__ = ["NotSubstitutes", "falsify_gross_substitutes"]


@dataclass(frozen=True, kw_only=True)
class NotSubstitutes:
    """A pattern that no gross-substitutes valuation has.

    Args:
        pattern: "loses" (a good lowers the value), "complements" (two goods are worth more together than apart), or
            "uneven" (of three sums of pairs one alone is the largest).
        bundle: S.
        goods: i, j, l, those of the pattern.
        gap: by how much it is one.
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
        return f"{what}, beside {self.bundle}"


def falsify_gross_substitutes(
    valuation: Bidder | Callable[[tuple[int, ...]], float], goods: int, trials: int, seed: int, *, copies: int = 1,
    tolerance: float = 1e-9,
) -> NotSubstitutes | None:
    """A pattern that shows that a valuation has no gross substitutes, if one is found.

    Where there are no more patterns than trials, all are looked at, and None is a proof, up to the tolerance.

    Args:
        valuation: a bidder, or a function from bundles (goods in ascending order) to values.
        goods: k.
        trials: patterns that are looked at, drawn with public coins.
        seed: of these.
        copies: of one good in a bundle at most.
        tolerance: gaps up to this are rounding.

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
                raise InvalidInput("record", f"bundle {bundle} is worth no number")
        return known[bundle]

    for inside, outside in _patterns(items, trials, seed):
        gap, pattern, named = _worst(worth, inside, outside)
        if gap > tolerance:
            return NotSubstitutes(pattern=pattern, bundle=tuple(sorted(item // copies for item in inside)),
                                  goods=tuple(item // copies for item in named), gap=gap)
    return None


def _patterns(items: int, trials: int, seed: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Bundles, and up to three more items beside each: all of them, or as many as may be looked at."""
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
    """The largest gap of any pattern of these items beside this bundle."""
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
