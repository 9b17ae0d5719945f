"""Exact rounding of random real numbers, by ball arithmetic that is refined on demand. A ball is an interval, given by
a midpoint and a radius, that contains the exact number.

A uniform real number is known by its leading bits: b bits that form the integer u say that it lies in [u, u+1] 2^-b.
Ball arithmetic (python-flint's `arb`) carries that interval, and every rounding error, through the formula of a law.
The result is a ball that contains the ideal real draw. If the whole ball rounds to one integer, that integer is the
exact rounding. If the ball does not round to one integer, more random bits are appended *to the same uniforms*, and the
formula is evaluated again. The rounded output is therefore a function of the ideal real-valued draw, and thus free
post-processing of the ideal mechanism. No floating-point error ever changes the law.

The number of bits that are drawn at the start depends on public parameters only. The number of bits is so large that a
second round is needed with a probability below 2^-60 for each value, whatever number the noise is added to. In the
first round of an evaluation, the running time depends on private values only through Python's integer arithmetic, which
takes some nanoseconds more for longer integers.

Source: spec truthful_regression 4.4 (iii).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from confide.contract.errors import SolverFailed

if TYPE_CHECKING:
    from confide.privacy.noise.arguments import Points
    from confide.privacy.noise.entropy import Entropy

__all__ = ["Law", "Offset", "independent", "magnitude", "offsets", "precision", "rounded", "starting_bits"]

Law = Callable[[Sequence[Any]], Sequence[Any]]
"""Function from balls of independent uniforms in (0, 1) to balls of noise, in units of the grid."""

Offset = tuple[int, Any]
"""A pair (whole, part) for the point whole + part, in units of the grid. The number `part` lies in (-1, 1), and is a
double or flint's rational.
"""

_GUARD = 32  # working bits beyond those of the uniforms: rounding errors stay far below the ball's width
_ROOM = 80  # bits by which the first ball is narrower than the noise it encloses (60, and room for the law's tails)
_STUCK = 2**20  # bits of one uniform that no honest source of randomness leaves undecided
_TOGETHER = 512  # independent draws that are rounded in one go; larger groups save no more time
_HUGE = 2.0**900  # doubles up to here can be scaled by any grid without overflow

_LOCK = threading.RLock()


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Set flint's working precision while holding a lock, and restore the earlier precision afterwards.

    The lock is needed because the precision is a global variable of the process. Code outside confide that changes the
    precision in between cannot make a result wrong: the balls only become wider, and an undecided rounding is repeated.

    Args:
        bits: working precision in bits, >= 2.
    """
    from flint import ctx

    with _LOCK:
        before = ctx.prec
        ctx.prec = bits
        try:
            yield
        finally:
            ctx.prec = before


def magnitude(value: Fraction) -> int:
    """An integer e with 2^(e-1) < value < 2^(e+1), for value > 0."""
    return value.numerator.bit_length() - value.denominator.bit_length()


def starting_bits(spread: int, values: int) -> int:
    """The number of bits of each uniform that are drawn at the start, a function of public parameters.

    Args:
        spread: rounded log2 of the noise scale in units of the grid; negative if the noise scale is below one unit.
        values: the number of values that are rounded in one evaluation.
    """
    # abs: noise far below the grid decides a tie between two grid points, so that its own digits are needed too.
    bits = _ROOM + abs(spread) + 2 * values.bit_length()
    return -(-bits // 8) * 8


def offsets(points: Points, grid: int) -> list[Offset]:
    """The given points in units of the grid, each split exactly into a whole number and a rest in (-1, 1).

    The whole part of a point stays outside the balls, so large points cost neither precision nor time.

    Args:
        points: doubles or fractions, used without rounding.
        grid: exponent of the grid 2^-grid.
    """
    import numpy as np  # the conversions of losses, which need only `precision`, do without numpy
    from flint import fmpq

    if isinstance(points, np.ndarray) and (np.abs(points) < _HUGE).all():
        parts, wholes = np.modf(np.ldexp(points, grid))  # both exact: the part is the tail of the double's own bits
        return [(int(whole), part) for whole, part in zip(wholes.tolist(), parts.tolist(), strict=True)]
    exact = []
    for point in points:
        numerator, denominator = point.as_integer_ratio()
        whole, part = divmod(int(numerator) << grid, int(denominator))
        exact.append((whole, fmpq(part, int(denominator))))
    return exact


def independent(
    law: Law, points: Sequence[Offset], *, uniforms: int, values: int, bits: int, entropy: Entropy
) -> list[int]:
    """The integers nearest to points + noise, for any number of independent draws. The draws are processed in parts,
    and the function `rounded` rounds each part.

    Args:
        law: a law that takes any number of groups of `uniforms` uniforms, and gives `values` values for each group.
        points: the numbers to which the noise is added, one per value. If the last group gives more values than are
            needed, the rest is dropped.
        uniforms: number of uniform random numbers in a group.
        values: number of noise values that the law computes from one group of uniforms.
        bits: bits of each uniform at the start, a multiple of 8.
        entropy: the source of the bits.
    """
    result: list[int] = []
    for start in range(0, len(points), _TOGETHER):
        some = points[start : start + _TOGETHER]
        groups = -(-len(some) // values)
        result += rounded(law, some, uniforms=groups * uniforms, bits=bits, entropy=entropy)
    return result


def rounded(law: Law, points: Sequence[Offset], *, uniforms: int, bits: int, entropy: Entropy) -> list[int]:
    """The integers nearest to points + noise, in units of the grid, exactly.

    Args:
        law: the law of the noise, in units of the grid, with at least one value per point.
        points: the numbers that the noise is added to.
        uniforms: the number of independent uniforms that the law takes.
        bits: bits of each uniform at the start, a multiple of 8.
        entropy: the source of the bits.

    Raises:
        SolverFailed: the source of randomness is broken, for example because it returns the same byte for ever.
    """
    from flint import arb

    half = arb(0.5)
    leading = [0] * uniforms
    known = 0  # bits of each uniform so far
    fresh = bits
    while known <= _STUCK:
        # Appended bits keep each uniform inside the interval it had: the draw is refined, never replaced.
        raw, width = entropy.random_bytes(uniforms * fresh // 8), fresh // 8
        leading = [
            (value << fresh) | int.from_bytes(raw[at * width : (at + 1) * width], "big")
            for at, value in enumerate(leading)
        ]
        known += fresh
        fresh = known
        with precision(known + _GUARD):
            unit, middle = arb(1) / (1 << known), arb(0.5, 0.5)
            noise = law([(arb(value) + middle) * unit for value in leading])
            # Rounding to nearest is the floor of the sum plus one half; a floor that is not unique comes out as None.
            sums = [ball + part + half for ball, (_, part) in zip(noise, points, strict=False)]
            floors = [total.floor().unique_fmpz() for total in sums]
        if None not in floors:
            return [whole + int(floor) for floor, (whole, _) in zip(floors, points, strict=True)]
    raise SolverFailed("exact rounding", "the source of randomness repeats the same values")
