"""The favourite good of each bidder at given prices, computed with the same subtractions as in an auction and in
decoding.

The module also computes public biases: a small number for each bidder and good, which breaks ties among goods that the
bidder likes equally well.

Values are often coarse, such as ranks, stars, or yes and no. At some prices thousands of bidders like two goods equally
well, and all change from one good to the other at once, so no price sells both goods. With biases that differ between
bidders, each bidder likes one of the two goods a little better. The biases follow from a seed that is drawn after all
bids are in. The biases add no privacy, and everybody can compute the biases of all bidders. A bidder loses at most
`spread`, in units of value, because of their biases.
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

__all__ = ["NONE", "PublicBiases", "best_goods", "public_bias"]

# ---- public biases

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S44 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(44)
_UNIT = 2.0**-20


@kernel
def public_bias(key: np.uint64, place: int, spread: float) -> float:
    """One bidder's bias for one good: a multiple of spread 2^-20 in [0, spread), in units of value, computed by the
    public mixing function of SplitMix64.

    Args:
        key: key of 64 bits, from `PublicBiases`.
        place: index of the pair of bidder and good: the bidder's position, from 0, times the number of goods, plus the
            number of the good, from 0.
        spread: upper bound of all biases, in units of value.

    Source: Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators".
    """
    z = key + np.uint64(place + 1) * _STEP
    z = (z ^ (z >> _S30)) * _FIRST
    z = (z ^ (z >> _S27)) * _SECOND
    z = z ^ (z >> _S31)
    return spread * (np.float64(z >> _S44) * _UNIT)


@dataclass(frozen=True, kw_only=True)
class PublicBiases:
    """The biases of all bidders for all goods.

    Args:
        key: key of 64 bits that follows from a public seed.
        spread: upper bound >= 0 of all biases, in units of value; 0 for no biases.
    """

    key: np.uint64
    spread: float

    @classmethod
    def of(cls, seed: str, spread: float) -> PublicBiases:
        """The biases that follow from a seed.

        Args:
            seed: seed of 64 hexadecimal digits.
            spread: upper bound of all biases, in units of value, in [0, 1].

        Raises:
            InvalidInput: a seed that is not 64 hexadecimal digits, or a spread out of range.
        """
        non_negative("spread", spread, at_most=1.0)
        digest = hashlib.sha256(key_of(seed) + b"leanings").digest()
        return cls(key=np.uint64(int.from_bytes(digest[:8], "little")), spread=spread)

    def row(self, index: int, goods: int) -> NDArray[np.float64]:
        """One bidder's biases for all goods, shape (k,), with the numbers that `public_bias` gives.

        Args:
            index: bidder's position in the public order of bidders, from 0.
            goods: number k of goods.

        Example:
            >>> biases = PublicBiases.of("00" * 32, 0.5)
            >>> bool(biases.row(3, 4)[1] == public_bias(biases.key, 13, 0.5)), bool(biases.row(3, 4).max() < 0.5)
            (True, True)
        """
        place = np.arange(index * goods + 1, (index + 1) * goods + 1, dtype=np.uint64)
        z = self.key + place * _STEP
        z = (z ^ (z >> _S30)) * _FIRST
        z = (z ^ (z >> _S27)) * _SECOND
        z = z ^ (z >> _S31)
        return np.asarray(self.spread * ((z >> _S44).astype(np.float64) * _UNIT))


NONE = PublicBiases(key=np.uint64(0), spread=0.0)
"""Biases that are all 0."""


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
                gain += public_bias(key, (first_place + i) * goods + j, spread)
            if gain > surplus and value > 0.0:
                best, surplus = j, gain
        out[i] = best


def best_goods(
    values: Valuations, prices: _Reals, biases: PublicBiases = NONE, *, first: int = 0
) -> NDArray[np.int32]:
    """The good with the largest gain (value less price) of each bidder, shape (n,), or -1 for a bidder without a
    positive gain. Among goods with equal gains the first good counts. The result is private.

    Args:
        values: valuations of all bidders.
        prices: price >= 0 of each good, shape (k,).
        biases: biases that are added to the positive values of the bidders. By default all biases are 0.
        first: position, in the public order of bidders, of the first row of `values`, from 0.
    """
    out = np.empty(values.people, dtype=np.int32)
    _best(*values.rows, np.ascontiguousarray(prices), first, biases.key,
          biases.spread, out)
    return out
