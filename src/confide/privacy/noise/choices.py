"""Exact draws from finite laws: outputs of a channel with integer weights, and positions with probability proportional
to exp(logit).

No floating-point uniform is used. All rows of a channel have the same public sum, so rejected draws say nothing about
the inputs. The doubles exp(logit) are used as exact numbers. Only the rounding of the logits and of the exponential
function changes the law of the draws, by a relative 2^-40 at most.

The module also draws random balanced partitions, which are public or post-processed. No privacy claim depends on a
random partition.

Source: spec query_release A3 (exact draws), privacy_notions section 4 (exact coding).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from confide.privacy.noise.entropy import Entropy

__all__ = ["LEAST_LOGIT", "balanced", "channel_outputs", "relative_weights", "select", "uniform_below", "words"]

# ---- splits


def balanced(people: int, generator: np.random.Generator) -> NDArray[np.bool_]:
    """A uniformly random arrangement of floor(people/2) entries False and all other entries True.

    Args:
        people: the number of people, >= 0.
        generator: the generator whose state decides the arrangement; its bounded integers are unbiased.
    """
    groups = np.ones(people, dtype=np.bool_)
    groups[: people // 2] = False
    generator.shuffle(groups)
    return groups


# ---- choices

LEAST_LOGIT = -700.0
"""The smallest difference between a logit and the largest logit that is not cut off. The exponential function of the
smallest difference is still a normal double.
"""

_FINE = 40  # bits of the integer weights below the largest
_BLOCK = 2**20  # inputs of a channel that are worked on together
_ROOM = 2**14  # items of a selection that are worked on together: they stay in the processor's cache


def words(count: int, entropy: Entropy) -> NDArray[np.uint64]:
    """Independent uniform integers in [0, 2^64)."""
    return np.frombuffer(entropy.random_bytes(8 * count), dtype="<u8").astype(np.uint64)


def uniform_below(total: int, count: int, entropy: Entropy) -> NDArray[np.int64]:
    """Independent uniform integers in [0, total), by rejection from the next power of two.

    Args:
        total: public number of possible values, in [1, 2^62].
        count: the number of draws.
        entropy: the source of the bits.
    """
    shift = np.uint64(64 - max(1, (total - 1).bit_length()))
    drawn = np.zeros(0, dtype=np.int64)
    while len(drawn) < count:
        numbers = (words(count - len(drawn), entropy) >> shift).astype(np.int64)
        drawn = np.concatenate([drawn, numbers[numbers < total]])
    return drawn


def channel_outputs(
    table: NDArray[np.int64], inputs: NDArray[np.int64], uniforms: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The outputs of the channel, (n,), one for each pair of an input and a uniform integer. A binary search finds each
    output, with the same number of steps for every input.

    Args:
        table: (m, k) weights, where all rows have the same sum.
        inputs: (n,) row numbers of the table.
        uniforms: (n,) uniform integers below the row sum.
    """
    rows, outputs = table.shape
    width = 1 << (outputs - 1).bit_length()
    ends = np.full((rows, width), table[0].sum(), dtype=np.int64)
    ends[:, :outputs] = np.cumsum(table, axis=1)
    flat = ends.reshape(-1)
    result = np.empty(len(inputs), dtype=np.int64)
    for start in range(0, len(inputs), _BLOCK):
        some = slice(start, start + _BLOCK)
        origin, drawn = inputs[some] * width, uniforms[some]
        position = np.zeros_like(origin)
        step = width // 2
        while step:
            position += step * (flat[origin + position + (step - 1)] <= drawn)
            step //= 2
        result[some] = position
    return result


def relative_weights(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights exp(logit - largest logit), between exp(-700) and 1. A difference of more than 700 from the largest
    logit counts as 700.
    """
    weights: NDArray[np.float64] = np.empty(logits.shape)
    largest = logits.max()
    for start in range(0, len(logits), _ROOM):
        some = weights[start : start + _ROOM]
        np.subtract(logits[start : start + _ROOM], largest, out=some)
        np.maximum(some, LEAST_LOGIT, out=some)
        np.exp(some, out=some)
    return weights


def select(logits: NDArray[np.float64], count: int, entropy: Entropy) -> NDArray[np.int64]:
    """Independent positions j with probability exactly proportional to `relative_weights(logits)[j]`.

    Each weight, in units of 2^-h, is rounded up to an integer. A uniform integer below the sum of these integers
    selects a position and a place r within its integer weight. With a uniform u in [0, 1), r + u is uniform in [0,
    integer weight). The position is kept if r + u is below the exact weight. The uniform number u matters only in the
    last unit of a weight, so its bits are drawn only when they are needed.

    Args:
        logits: (k,) finite, 1 <= k <= 2^24.
        count: the number of draws.
        entropy: the source of the bits.
    """
    items = len(logits)
    height = min(_FINE, 62 - (items - 1).bit_length())
    exact = relative_weights(logits)
    ends = np.empty(-(-items // _ROOM), dtype=np.int64)  # of the blocks: a draw looks into one of them only
    for block, start in enumerate(range(0, items, _ROOM)):
        some = exact[start : start + _ROOM]
        np.multiply(some, 2.0**height, out=some)  # exact: a normal double stays one
        ends[block] = np.ceil(some).astype(np.int64).sum()
    np.cumsum(ends, out=ends)
    kept: list[int] = []
    while len(kept) < count:
        # A few more than asked for: less than one in 2^13 is rejected, so that there is no second round, which would
        # tell how the weights round.
        missing = count - len(kept)
        places = np.array(_below(int(ends[-1]), missing + 8 + missing // 64, entropy), dtype=np.int64)
        found, within = _located(exact, ends, places)
        some = exact[found]
        whole = np.floor(some)
        part = some - whole  # exact: the tail of the double's own bits
        kept += [
            j for j, sure, rest in zip(found.tolist(), (within < whole).tolist(), part.tolist(), strict=True)
            if sure or _falls_below(rest, entropy)
        ]
    return np.array(kept[:count], dtype=np.int64)


def _located(
    exact: NDArray[np.float64], ends: NDArray[np.int64], places: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The item to which each place belongs, and the distance of the place from the start of the item's integer weight.

    Args:
        exact: (k,) exact weights; the integer weight of an item is its exact weight rounded up.
        ends: (number of blocks,) cumulative sums of the integer weights at the end of each block.
        places: whole numbers in [0, ends[-1]).
    """
    blocks = np.searchsorted(ends, places, side="right")
    order = np.argsort(blocks, kind="stable")
    found, within = np.empty_like(places), np.empty_like(places)
    cuts = np.flatnonzero(np.diff(blocks[order])) + 1
    for some in np.split(order, cuts) if len(order) else ():
        block = int(blocks[some[0]])
        inner = np.cumsum(np.ceil(exact[block * _ROOM : (block + 1) * _ROOM]).astype(np.int64))
        asked = places[some] - (ends[block - 1] if block else 0)
        item = np.searchsorted(inner, asked, side="right")
        found[some] = block * _ROOM + item
        within[some] = asked - np.where(item > 0, inner[item - 1], 0)
    return found, within


def _below(total: int, count: int, entropy: Entropy) -> list[int]:
    """Uniform integers below a private total, from products of the total with 128 random bits. A draw is repeated with
    probability below 2^-64.
    """
    drawn: list[int] = []
    most = (1 << 128) % total
    while len(drawn) < count:
        raw = entropy.random_bytes(16 * (count - len(drawn)))
        products = [int.from_bytes(raw[at : at + 16], "little") * total for at in range(0, len(raw), 16)]
        drawn += [product >> 128 for product in products if product & ((1 << 128) - 1) >= most]
    return drawn


def _falls_below(bound: float, entropy: Entropy) -> bool:
    """Whether a uniform real number in [0, 1) is below a double, exactly."""
    exact, leading, known = Fraction(bound), 0, 0
    while True:
        leading, known = (leading << 64) | entropy.random_bits(64), known + 64
        scaled = exact * (1 << known)
        if leading + 1 <= scaled:
            return True
        if leading >= scaled:
            return False
