"""Replacements of unreleased noisy answers from which the same published values follow. A run that gets the replaced
answers must publish the same values.

Unreleased answers must be unpublished in every respect: their sizes, their distances, their signs, and their order.
Therefore a replacement preserves only what is published about the answers, such as the position of the largest. In a
replacement, every entry has another value, and the second largest answer, or the largest answer above a threshold, has
another position.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from confide.privacy.noise import Draw, Noise

__all__ = ["armings", "kept_entries", "other_losers", "other_pattern"]

_FAR = 1024  # scales from one side to the next, at most, and what there was
_EXACT = 2**52  # steps within which doubles are exact

_Whole = NDArray[np.int64]


def armings(draws: Sequence[Draw]) -> list[tuple[int, int]]:
    """Start and end positions of each arming in a list of a sparse vector's draws. An arming is one search, and begins
    with the draw of the noisy threshold. The end position is one past the last answer of the arming.
    """
    starts = [k for k, draw in enumerate(draws) if draw.stream[-1] == "threshold"]
    return list(zip(starts, [*starts[1:], len(draws)], strict=True)) if starts else []


def other_losers(draws: Sequence[Draw]) -> list[Draw]:
    """Replacements of vectors of noisy scores, with the same position of the largest entry and another order of all
    other entries.

    Args:
        draws: recorded draws, each with a vector as the answer.

    Returns:
        As many draws as given. If two entries of a replacement tie for the largest, the tie is broken in favour of the
        entry that was the largest.

    Example:
        >>> from confide.privacy.noise import RecordingNoise
        >>> observed = RecordingNoise(Noise.simulated(1))
        >>> _ = observed.discrete_laplace(3.0, 5, stream="winner", center=[9, 6, 0, 0, 0])
        >>> one, other = observed.draws[0].value, other_losers(observed.draws)[0].value
        >>> bool(one.argmax() == other.argmax()), bool((one == other).any())
        (True, False)
        >>> bool(np.argsort(one)[-2] == np.argsort(other)[-2])
        False
    """
    return [changed for draw in draws for changed in _group([draw], _winner(draw))]


def _winner(draw: Draw) -> _Whole:
    flat = draw.value.reshape(-1)
    return np.asarray(np.arange(flat.size) == np.argmax(flat), dtype=np.int64) if flat.size else np.zeros(0, np.int64)


def other_pattern(draws: Sequence[Draw]) -> list[Draw]:
    """Replacements of the noisy answers of sparse vectors. The same answers are above the threshold as before, and the
    order of the answers on each side of the threshold is another one.

    Args:
        draws: recorded draws: each noisy threshold, followed by the answers that were compared with this threshold.

    Returns:
        As many draws as given; draws before the first threshold are left out.
    """
    out = []
    for start, end in armings(draws):
        group = draws[start:end]
        level = group[0].value.reshape(-1)[0]
        values = _flat(group)
        sides = np.where(values > level, 2, 0)
        sides[0] = 1
        out += _group(group, sides)
    return out


def kept_entries(draws: Sequence[Draw], others: Sequence[Draw]) -> bool:
    """Whether a replacement of noisy answers omits an entry, or leaves an entry unchanged although another value is
    possible.

    Args:
        draws: recorded draws of one part of the noise.
        others: the same draws with replaced answers.

    Example:
        >>> from confide.privacy.noise import RecordingNoise
        >>> observed = RecordingNoise(Noise.simulated(1))
        >>> _ = observed.laplace(1.0, 2, stream="a", center=[0.0, 0.0])
        >>> kept_entries(observed.draws, observed.draws), kept_entries(observed.draws, other_losers(observed.draws))
        (True, False)
    """
    values = {draw.stream: draw.value for draw in others}
    for draw in draws:
        if draw.law == "split" or (draw.law == "selection" and len(draw.center) < 2):
            continue
        if draw.law == "channel" and len(draw.table[0]) < 2:
            continue
        value = values.get(draw.stream)
        if value is None or value.shape != draw.value.shape or bool(np.any(value == draw.value)):
            return True
    return False


def _flat(group: Sequence[Draw]) -> NDArray[np.generic]:
    return np.concatenate([draw.value.reshape(-1) for draw in group])


def _group(group: Sequence[Draw], sides: _Whole) -> list[Draw]:
    """Draws with all entries changed. Entries of a lower side stay below entries of a higher side.

    Args:
        group: draws with entries that are compared with each other.
        sides: side of each entry, in order, shape (n,).
    """
    old = _flat(group)
    if not old.size:
        return list(group)
    # The coins follow from the answers that are changed, and so from the audit's seed: it can be done again.
    coins = Noise.simulated(zlib.crc32(old.tobytes())).words((2, old.size + 3), stream="other answers")
    scale = max(float(max(draw.scale for draw in group)), 1.0)
    far = _FAR * scale + float(np.abs(old.astype(np.float64)).max())
    unit = _unit(group, far)
    most = max(1, int(min(far / unit, _EXACT / 8)))
    new = unit * _places(_order(old, sides, coins[0]), sides, coins[1], max(1, int(most * (scale / _FAR / far))), most)
    while np.any(new == old):  # at most as many times as there are entries
        new = new + unit
    parts = np.split(new, np.cumsum([draw.value.size for draw in group])[:-1])
    return [replace(draw, value=part.astype(draw.value.dtype).reshape(draw.value.shape))
            for draw, part in zip(group, parts, strict=True)]


def _unit(group: Sequence[Draw], far: float) -> float | int:
    """The smallest distance of two answers: the spacing of their grid, or a power of two where doubles are coarser than
    the grid.
    """
    if any(draw.value.dtype.kind != "f" for draw in group):
        return 1
    return float(max(2.0 ** -max(draw.grid for draw in group), 2.0 ** math.ceil(math.log2(far * 8 / _EXACT))))


def _places(order: _Whole, sides: _Whole, coins: NDArray[np.uint64], least: int, most: int) -> _Whole:
    """New values in units, all different, shape (n,).

    Args:
        order: positions of the entries, starting with the entry of the least new value, shape (n,).
        sides: side of each entry, shape (n,).
        coins: random words that decide the values, shape (n+3,).
        least: least size of distances that may have any size.
        most: largest distance.
    """
    sort = int(coins[-1] % 4)
    gaps = _gaps(coins[:-3], sort, least, max(1, most // order.size))
    edges = np.flatnonzero(np.diff(sides[order])) + 1
    gaps[edges] = _gaps(coins[edges], sort, least, most)  # from one side to the next it may be far
    out = np.empty(order.size, dtype=np.int64)
    out[order] = np.cumsum(gaps)
    largest = int(_between(coins[-2:-1], least, most)[0])  # on either side of zero, near or far
    return np.asarray(out + ((largest if coins[-3] % 2 else -largest) - out[order[-1]]))


def _order(old: NDArray[np.generic], sides: _Whole, coins: NDArray[np.uint64]) -> _Whole:
    """Positions of the entries by their new values, the least first, shape (n,). Each side is reversed, or shuffled so
    that another entry is the largest.
    """
    before = np.lexsort((-np.arange(old.size), old, sides))  # of two that are alike, the earlier one leads
    mixed = np.lexsort((coins[: old.size], sides))
    out = []
    for side in np.unique(sides):
        was, now = before[sides[before] == side], mixed[sides[mixed] == side]
        out.append(was[::-1] if coins[-1] % 2 or was[-1] == now[-1] else now)
    return np.concatenate(out)


def _gaps(coins: NDArray[np.uint64], sort: int, least: int, most: int) -> _Whole:
    """Random distances, shape (n,): all as small as possible, all large, or of every size."""
    if sort == 0:
        return np.ones(len(coins), dtype=np.int64)
    return most // 2 + _between(coins, 1, most) // 2 + 1 if sort == 1 else _between(coins, least, most)


def _between(coins: NDArray[np.uint64], least: int, most: int) -> _Whole:
    """Random whole numbers of every size up to `most`, with uniform logarithms, shape (n,)."""
    part = (coins >> np.uint64(11)) * 2.0**-53
    return np.asarray(np.maximum(1, most * np.exp2(-part * math.log2(max(1.0, most / least)))), dtype=np.int64)
