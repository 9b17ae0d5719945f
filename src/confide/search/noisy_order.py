"""Items in decreasing order of noisy scores. Only as many items are drawn as the caller requests.

*Laziness.* A search among millions of people examines only some hundreds of people. To draw noise for all people and to
sort the people would take longer than the search. Among items with equal scores the noises are exchangeable. The order
statistics of these noises have a simple joint law, and the noises belong to the items in a uniformly random order.
Therefore each level of equal scores yields its members one by one, and a heap merges the levels. After the items are
grouped by score, the first q items take O(levels + q log levels) operations. The order that results has the same law as
an order with noise drawn for every item.

*Rounding.* Computed exponential variables have a relative error of at most 2^-50, and their compensated sum s has a
relative error of at most 2^-49. With a probability above 1 - 2^-60, none of 2^31 items has s > 64. So the maps from
exponential variables to noise change a noisy score by at most 2^-43 noise scales, and the rounding of these maps by
less than 2^-45. Adding a score of at most 2^12 scales rounds by 2^-41. All roundings of a noisy score together are
below 2^-40 scales, the eta of spec targeted_search 3.2. A selection with sensitivity Delta and noise scale b therefore
costs 2 Delta / b + 2^-38 nats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide._compiled import kernel
from confide.contract.checks import finite, positive, whole
from confide.contract.errors import InvalidInput
from confide.privacy.charge import PUBLIC, DrawCost
from confide.privacy.noise import Noise
from confide.privacy.noise.arguments import Stream, as_stream
from confide.privacy.primitives.sessions import NoiseSession, Part, open_session
from confide.search.noise_kinds import NoiseKind, as_kind

__all__ = ["NoisyOrder"]

_CODES = {"laplace": 0, "exponential": 1, "gumbel": 2}
_FIRST_BLOCK = 1 << 10  # draws that are asked for at first; each further block is twice as large, to a limit
_LARGEST_BLOCK = 1 << 17
_NARROW = 1 << 16  # levels up to which a sort is by counting
_WHOLE_LIMIT = 2.0**53
_LN2 = math.log(2.0)


class NoisyOrder:
    """The order of items by score plus independent noise, the largest first. The order is drawn block by block.

    The order does not depend on the sizes of the blocks that the caller takes. Among equal noisy scores the lower
    position comes first and the fake item last; with continuous noise such ties have probability 0. Random numbers are
    drawn in sub-streams of `stream`, in blocks whose sizes do not depend on the scores. The number of blocks depends on
    the scores, and on the number of items that the caller takes. The order is private. The caller must prove the
    privacy of everything that is published about the order.

    Args:
        scores: private scores of the n items, shape (n,); finite numbers, and whole numbers for discrete noise. For
            scores of up to `MOST_IN_SCALES` noise scales, the noisy scores differ from ideal noisy scores by at most
            2^-40 noise scales.
        scale: public noise scale b > 0.
        kind: kind of the noise, one of `NoiseKind`.
        noise: source of the random draws, such as `Noise.secure()`.
        stream: first words of the names of the random streams. A stream can be used only once.
        fake: score of the fake item, one additional item at position n with independent noise; None for no fake item.
        plain: whether to draw noise for every item and then sort all items. The probability law of the order is the
            same for True and False, but the random numbers differ. Discrete noise is always drawn for every item.
        sensitivity: sensitivity Delta of a score; 0 for scores that are public.
        room: additional privacy loss for the rounding of doubles, in nats.
        line: name of the entry in the run's privacy charge that pays for one selection, which costs 2 Delta / b plus
            `room`.

    Raises:
        InvalidInput: scores that are not finite numbers, a scale that is not positive, an unknown kind, or a stream
            that was used before.
        Overspent: the entry `line` of the charge does not pay for the selection.

    Source: spec targeted_search 9 (lazy and exact), 3.2 (floating point).

    Example:
        >>> order = NoisyOrder([0.0, 50.0, 0.0, 90.0], 1.0, "gumbel", Noise.simulated(1), stream=("call", 0), fake=70.0)
        >>> order.take(3).tolist()
        [3, 4, 1]
        >>> sorted(order.take(10).tolist()), order.take(1).tolist()
        ([0, 2], [])
    """

    def __init__(
        self, scores: ArrayLike, scale: float, kind: NoiseKind, noise: Noise, *, stream: Stream,
        fake: float | None = None, plain: bool = False, sensitivity: float = 0.0, room: float = 0.0,
        line: str | None = None,
    ) -> None:
        kind, scale = as_kind(kind), positive("scale", scale)
        values = _scores(scores, fake)
        if kind == "discrete_laplace" and not _are_whole(values):
            raise InvalidInput("scores", "an entry is not whole",
                               "discrete noise needs whole scores, also for the fake target")
        name = as_stream(stream)
        session = _opened(noise, kind, scale, sensitivity, room, name, line)
        if kind == "discrete_laplace":
            drawn = session.draw("discrete", len(values), stream=(*name, "noise"))
            self._next: _Plain | _Lazy = _Plain((values.astype(np.int64) + drawn).astype(np.int64))
        elif plain:
            noisy = np.empty(len(values))
            _noisy(_CODES[kind], scale, values, session.draw("levels", len(values), stream=(*name, "noise")),
                   noisy)
            self._next = _Plain(noisy)
        else:
            self._next = _Lazy(values, scale, kind, fake is not None, _blocks(session, name))

    def take(self, count: int) -> NDArray[np.int64]:
        """The next positions in the order, or fewer at the end of the items. The position `len(scores)` stands for the
        fake item.

        Args:
            count: number of positions, >= 0.
        """
        return self.take_scored(count)[0]

    def take_scored(self, count: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The next positions in the order, and their noisy scores. Only the operator may see the scores; they are never
        published.

        Args:
            count: number of positions, >= 0.
        """
        return self._next.take(whole("count", count))

    def __repr__(self) -> str:
        return "<NoisyOrder>"  # scores and draws are private


def _scores(scores: ArrayLike, fake: float | None) -> NDArray[np.float64]:
    """The checked scores, followed by the fake item's score. An error does not reveal the scores."""
    try:
        values = np.asarray(scores)
        if values.dtype.kind not in "biuf" and values.size:
            raise TypeError
        values = values.astype(np.float64)
    except (TypeError, ValueError):
        raise InvalidInput("scores", "are not an array of numbers") from None
    if values.ndim != 1:
        raise InvalidInput("scores", f"have shape {values.shape}", "must be one-dimensional")
    if not np.isfinite(values).all():
        raise InvalidInput("scores", "an entry is not finite")
    return values if fake is None else np.append(values, finite("fake", fake))


def _are_whole(values: NDArray[np.float64]) -> bool:
    return bool((np.rint(values) == values).all() and (np.abs(values) < _WHOLE_LIMIT).all())


class _Plain:
    """A sort by (-noisy score, position). Only as many items are sorted as are needed, in chunks of doubling size."""

    def __init__(self, noisy: NDArray[Any]) -> None:
        self._noisy = noisy
        self._sorted = np.empty(0, dtype=np.int64)
        self._taken = 0

    def take(self, count: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        end = min(self._taken + count, len(self._noisy))
        if end > len(self._sorted):
            self._sort(max(end, 2 * len(self._sorted), _FIRST_BLOCK))
        taken = self._sorted[self._taken : end].copy()
        self._taken = end
        return taken, self._noisy[taken].astype(np.float64)

    def _sort(self, least: int) -> None:
        """Sort at least the first `least` items. All items equal to the last one are included, since positions decide
        between them.
        """
        some = np.arange(len(self._noisy))
        if least < len(some):
            worst = np.partition(self._noisy, len(some) - least)[len(some) - least]
            some = np.flatnonzero(self._noisy >= worst)
        self._sorted = some[np.argsort(-self._noisy[some], kind="stable")]


class _Blocks:
    """One stream of random numbers, drawn in blocks of given sizes."""

    def __init__(self, draw: Callable[[int, int], NDArray[Any]]) -> None:
        self._draw = draw
        self._number = 0

    def next(self) -> NDArray[Any]:
        drawn = self._draw(self._number, min(_FIRST_BLOCK << self._number, _LARGEST_BLOCK))
        self._number += 1
        return np.ascontiguousarray(drawn)


def _opened(
    noise: Noise, kind: NoiseKind, scale: float, sensitivity: float, room: float, name: tuple[str | int, ...],
    line: str | None,
) -> NoiseSession:
    """A session that pays for one selection, at the cost of 2 Delta / b plus `room`. With Gumbel noise the selection
    has bounded range.
    """
    def cost(scales: Mapping[str, Fraction]) -> DrawCost:
        if not sensitivity:
            return PUBLIC
        epsilon = 2 * Fraction(sensitivity) / scales["discrete"] + Fraction(room)
        return DrawCost.selection(epsilon) if kind == "gumbel" else DrawCost.laplace(epsilon)

    return open_session(noise, cost, {
        "discrete": Part("discrete_laplace", scale), "levels": Part("exponential"), "members": Part("words"),
    }, stream=name, line=line)


def _blocks(session: NoiseSession, name: tuple[str | int, ...]) -> tuple[_Blocks, _Blocks]:
    """Two streams: of exponential random numbers, and of random words."""
    return (
        _Blocks(lambda number, size: session.draw("levels", size, stream=(*name, "levels", number))),
        _Blocks(lambda number, size: session.draw("members", size, stream=(*name, "members", number))),
    )


_HEAP, _EXPONENTIALS, _WORDS, _STARTED, _COUNT = range(5)  # what stands where in a lazy order's state
_DONE, _MORE_EXPONENTIALS, _MORE_WORDS = range(3)  # what the compiled loop comes back with


class _Lazy:
    """Levels of equal scores, each with its own order statistics, merged by a heap.

    Each level keeps the number of its remaining members, and the sum s of Exp(1)/left so far, where left is the number
    of members left at each step. The sum s is kept as two doubles: a value and its rounding error.
    """

    def __init__(
        self, values: NDArray[np.float64], scale: float, kind: NoiseKind, fake: bool, blocks: tuple[_Blocks, _Blocks]
    ) -> None:
        own = values[: len(values) - fake]
        members = _decreasing(own)
        ordered = own[members]
        starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if len(own) else np.empty(0, np.int64)
        self._members, self._starts, self._levels = members, starts, ordered[starts]
        self._left = np.diff(np.append(starts, len(own)))
        if fake:  # a level of its own even where its score is another's: it comes last among equals
            self._members = np.append(members, len(own))
            self._starts = np.append(starts, len(own))
            self._levels = np.append(self._levels, values[-1])
            self._left = np.append(self._left, 1)
        levels = len(self._levels)
        self._sums, self._keys = np.zeros((2, levels)), np.zeros(levels)
        self._heap, self._state = np.zeros(levels, dtype=np.int64), np.zeros(_COUNT, dtype=np.int64)
        self._code, self._scale = _CODES[kind], scale
        self._source, self._coins = blocks
        self._exponentials, self._words = np.empty(0), np.empty(0, dtype=np.uint64)
        self._remaining = len(values)

    def take(self, count: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        taken = np.empty(min(count, self._remaining), dtype=np.int64)
        scored = np.empty(len(taken))
        filled = 0
        while filled < len(taken):
            found, missing = _advance(
                self._code, self._scale, self._levels, self._starts, self._members, self._left, self._sums, self._keys,
                self._heap, self._state, self._exponentials, self._words, taken[filled:],
                scored[filled:],
            )
            filled += found
            if missing == _MORE_EXPONENTIALS:
                self._exponentials, self._state[_EXPONENTIALS] = self._source.next(), 0
            elif missing == _MORE_WORDS:
                self._words, self._state[_WORDS] = self._coins.next(), 0
        self._remaining -= filled
        return taken, scored


def _decreasing(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Positions by decreasing score, with equal scores in the order of positions. Scores that are whole numbers in a
    small range are sorted by counting.
    """
    if len(scores) and _are_whole(scores):
        highest = float(scores.max())
        if highest - float(scores.min()) < _NARROW:
            return np.argsort((highest - scores).astype(np.uint16), kind="stable")
    return np.argsort(-scores, kind="stable")


@kernel
def _quantile(code: int, scale: float, s: float) -> float:
    """The noise z whose distribution function is exp(-s), for s > 0. The noise z depends little on small relative
    errors in s.
    """
    if code == 2:
        return -scale * math.log(s)
    if code == 1:
        return -scale * (math.log(-math.expm1(-s)) if s < _LN2 else math.log1p(-math.exp(-s)))
    return -scale * math.log(-2.0 * math.expm1(-s)) if s < _LN2 else scale * (_LN2 - s)


@kernel
def _noisy(
    code: int, scale: float, values: NDArray[np.float64], drawn: NDArray[np.float64], noisy: NDArray[np.float64]
) -> None:
    """Write score plus noise of every item to `noisy`. The draws s = -ln F(noise) are standard exponentials, where F is
    the distribution function of the noise.
    """
    for k in range(len(values)):
        noisy[k] = values[k] + _quantile(code, scale, drawn[k])


@kernel
def _before(a: int, b: int, keys: NDArray[np.float64]) -> bool:
    """Whether the next item of level a comes before the next item of level b. Among equal keys the lower level comes
    first, and the fake item's level is the last.
    """
    return keys[a] > keys[b] or (keys[a] == keys[b] and a < b)


@kernel
def _sift_down(heap: NDArray[np.int64], size: int, keys: NDArray[np.float64]) -> None:
    """Move the first level of the heap down to its place."""
    level, at = heap[0], 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and _before(heap[child + 1], heap[child], keys):
            child += 1
        if not _before(heap[child], level, keys):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = level


@kernel
def _sift_up(heap: NDArray[np.int64], at: int, keys: NDArray[np.float64]) -> None:
    """Move the last level of the heap up to its place."""
    level = heap[at]
    while at > 0 and _before(level, heap[(at - 1) // 2], keys):
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = level


@kernel
def _next_key(
    code: int, scale: float, level: int, drawn: float, values: NDArray[np.float64], left: NDArray[np.int64],
    sums: NDArray[np.float64], keys: NDArray[np.float64],
) -> None:
    """Compute the next largest noisy score of a level, by s += Exp(1)/left. The rounding error of the addition is kept
    beside the sum s.
    """
    term, total = drawn / left[level], sums[0, level]
    longer = total + term
    part = longer - total
    sums[1, level] += (total - (longer - part)) + (term - part)
    sums[0, level] = longer
    keys[level] = values[level] + _quantile(code, scale, sums[0, level] + sums[1, level])


@kernel
def _advance(
    code: int, scale: float, values: NDArray[np.float64], starts: NDArray[np.int64], members: NDArray[np.int64],
    left: NDArray[np.int64], sums: NDArray[np.float64], keys: NDArray[np.float64], heap: NDArray[np.int64],
    state: NDArray[np.int64], exponentials: NDArray[np.float64], words: NDArray[np.uint64], out: NDArray[np.int64],
    scored: NDArray[np.float64],
) -> tuple[int, int]:
    """Fill `out` and `scored`, or return early if random numbers run out. A later call continues from the same state.

    Returns:
        The number of filled entries, and a code for the kind of missing random numbers.
    """
    while state[_STARTED] < len(values):
        if state[_EXPONENTIALS] == len(exponentials):
            return 0, _MORE_EXPONENTIALS
        level = state[_STARTED]
        _next_key(code, scale, level, exponentials[state[_EXPONENTIALS]], values, left, sums, keys)
        state[_EXPONENTIALS] += 1
        heap[state[_HEAP]] = level
        _sift_up(heap, state[_HEAP], keys)
        state[_HEAP] += 1
        state[_STARTED] += 1
    for filled in range(len(out)):
        level = heap[0]
        last = starts[level] + left[level] - 1
        chosen = last
        if left[level] > 1:
            if state[_EXPONENTIALS] == len(exponentials):
                return filled, _MORE_EXPONENTIALS
            among = np.uint64(left[level])
            most = np.uint64(0xFFFFFFFFFFFFFFFF) - (np.uint64(0) - among) % among  # 2^64 - 1 - (2^64 mod left)
            while True:  # words beyond the largest multiple of `left` would favour the first members
                if state[_WORDS] == len(words):
                    return filled, _MORE_WORDS
                word = words[state[_WORDS]]
                state[_WORDS] += 1
                if word <= most:
                    break
            chosen = starts[level] + np.int64(word % among)
        out[filled], scored[filled] = members[chosen], keys[level]
        members[chosen], members[last] = members[last], members[chosen]
        left[level] -= 1
        if left[level]:
            _next_key(code, scale, level, exponentials[state[_EXPONENTIALS]], values, left, sums, keys)
            state[_EXPONENTIALS] += 1
        else:
            state[_HEAP] -= 1
            heap[0] = heap[state[_HEAP]]
        _sift_down(heap, state[_HEAP], keys)
    return len(out), _DONE
