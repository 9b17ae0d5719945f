"""Everybody's favourite good at given prices, with the same subtraction as an auction and a decode.

Public leanings: a small number for each bidder and good, that breaks ties among goods that they like as well.

Values are often coarse: ranks, stars, yes and no. Then thousands of bidders like two goods exactly as well at some
prices, and all of them move to the same good at once: no price sells either. With a bias of their own each of them
likes one a little better. Leanings follow from the seed that is drawn when all bids are in; they protect nobody, and
everybody may compute everybody's. A bidder may lose up to one spread by theirs.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide._compiled import kernel
from confide.allocation.valuations import Valuations
from confide.contract.checks import non_negative
from confide.privacy.public_randomness import key_of

__all__ = ["NONE", "Leanings", "best_goods", "leaning"]

# ---- leanings

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S44 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(44)
_UNIT = 2.0**-20


@kernel
def leaning(key: np.uint64, place: int, spread: float) -> float:
    """A multiple of spread 2^-20 in [0, spread): the mixing function of SplitMix64, which is public.

    Args:
        key: 64 bits.
        place: bidder times goods plus good.
        spread: how far leanings lie apart at most.

    Source: Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators".
    """
    z = key + np.uint64(place + 1) * _STEP
    z = (z ^ (z >> _S30)) * _FIRST
    z = (z ^ (z >> _S27)) * _SECOND
    z = z ^ (z >> _S31)
    return spread * (np.float64(z >> _S44) * _UNIT)


@dataclass(frozen=True, kw_only=True)
class Leanings:
    """Everybody's leanings.

    Args:
        key: 64 bits, from the seed.
        spread: >= 0; 0 for none.
    """

    key: np.uint64
    spread: float

    @classmethod
    def of(cls, seed: str, spread: float) -> Leanings:
        """The leanings of a seed.

        Args:
            seed: 64 hexadecimal digits.
            spread: how far leanings of two goods lie apart at most, in [0, 1].

        Raises:
            InvalidInput: no seed; a spread out of range.
        """
        non_negative("spread", spread, at_most=1.0)
        digest = hashlib.sha256(key_of(seed) + b"leanings").digest()
        return cls(key=np.uint64(int.from_bytes(digest[:8], "little")), spread=spread)

    def row(self, index: int, goods: int) -> NDArray[np.float64]:
        """One bidder's leanings, (k,), the same numbers as the kernels'.

        Args:
            index: the bidder's place, from 0.
            goods: k.

        Example:
            >>> lean = Leanings.of("00" * 32, 0.5)
            >>> bool(lean.row(3, 4)[1] == leaning(lean.key, 13, 0.5)), bool(lean.row(3, 4).max() < 0.5)
            (True, True)
        """
        place = np.arange(index * goods + 1, (index + 1) * goods + 1, dtype=np.uint64)
        z = self.key + place * _STEP
        z = (z ^ (z >> _S30)) * _FIRST
        z = (z ^ (z >> _S27)) * _SECOND
        z = z ^ (z >> _S31)
        return np.asarray(self.spread * ((z >> _S44).astype(np.float64) * _UNIT))


NONE = Leanings(key=np.uint64(0), spread=0.0)
"""Nobody leans."""


# ---- favourites

_Reals = NDArray[np.float64]


@kernel
def _best(
    values: NDArray[Any], starts: NDArray[np.int64], named: NDArray[np.int32], dense: bool, prices: _Reals,
    first_place: int, key: np.uint64, spread: float, out: NDArray[np.int32],
) -> None:
    goods = len(prices)
    for i in range(len(out)):
        first, last = (i * goods, (i + 1) * goods) if dense else (starts[i], starts[i + 1])
        best, surplus = -1, 0.0
        for x in range(first, last):
            j = x - first if dense else named[x]
            value = np.float64(values[x])
            gain = value - prices[j]
            if spread > 0.0 and value > 0.0:
                gain += leaning(key, (first_place + i) * goods + j, spread)
            if gain > surplus and value > 0.0:
                best, surplus = j, gain
        out[i] = best


def best_goods(
    values: Valuations, prices: _Reals, leanings: Leanings = NONE, *, first: int = 0
) -> NDArray[np.int32]:
    """The good that each bidder gains most from at some prices, (n,), the first of equals; -1 for none. Private.

    Args:
        values: everybody's valuations.
        prices: (k,) >= 0.
        leanings: leanings that are added to what goods are worth to a bidder, if any.
        first: place of the first row.
    """
    out = np.empty(values.people, dtype=np.int32)
    _best(*values.rows, np.ascontiguousarray(prices), first, leanings.key,
          leanings.spread, out)
    return out
