"""Exact draws with rational parameters from random bytes, bit for bit as a participant's own device makes them.

`browser/noise.ts` implements the same samplers: the same bytes give the same draws in the browser and in Python. No
logarithm, no double and no rounding is used, so each draw follows exactly the law in the name of its function.

Bytes become draws as follows:

- A uniform number below n takes the least number of whole bytes that can hold n - 1. The bytes are read as one number,
  the highest byte first. Of this number only the lowest bits are kept, as many as the number n - 1 has. A result of n
  or more is discarded, and new bytes are taken. n = 1 takes no bytes.
- All other laws are built from uniform whole numbers alone, in the order in which the functions of this module request
  these numbers.

The time and the number of bytes of a draw depend on the drawn noise, and never on a private value. A caller adds the
private value, or compares the noise with the answer, only after the noise was drawn. An observer who sees both the
exact time of the noise and the report could still infer something. To hide the time of the draw, a report is drawn
first, and sent later, when the participant chooses to send the report.

Source: Canonne, Kamath and Steinke 2020, Algorithms 1 to 3.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput, SolverFailed

__all__ = [
    "ByteSource", "bernoulli", "bernoulli_exp", "discrete_gaussian", "discrete_laplace", "shift_at_level",
    "shift_with_keep", "uniform_below",
]

ByteSource = Callable[[int], bytes]
"""Function that returns the requested number of independent, uniformly random bytes. `entropy.random_bytes` is one."""

_STUCK = 2000
"""Number of consecutive failed rounds after which a byte source counts as broken. Each round of a sampler fails with
probability at most 0.65, so an honest source has this many failures in a row less than once in 2^1000 draws.
"""


def uniform_below(limit: int, source: ByteSource) -> int:
    r"""A uniform whole number in 0..limit - 1.

    Args:
        limit: the number of possible results, at least 1.
        source: the source of the bytes.

    Raises:
        InvalidInput: the limit is below 1, or no whole number.
        SolverFailed: the source is broken: it returns a wrong number of bytes, or never a usable result.

    Example:
        >>> given = [b"\x0c", b"\x0f"]
        >>> uniform_below(6, lambda count: given.pop())  # 15 gives 7 (bits 111), too large; 12 gives 4 (100)
        4
    """
    whole("limit", limit, at_least=1)
    bits = (limit - 1).bit_length()
    if bits == 0:
        return 0
    count, mask = (bits + 7) // 8, (1 << bits) - 1
    for _ in range(_STUCK):
        block = source(count)
        if len(block) != count:
            break
        found = int.from_bytes(block, "big") & mask
        if found < limit:
            return found
    raise _broken()


def bernoulli(numerator: int, denominator: int, source: ByteSource) -> bool:
    r"""A random boolean that is True with probability numerator/denominator.

    Args:
        numerator: a whole number in 0..denominator.
        denominator: a whole number, at least 1.
        source: the source of the bytes.

    Raises:
        InvalidInput: the two numbers form no probability.

    Example:
        >>> bernoulli(1, 4, lambda count: b"\x00" * count), bernoulli(1, 4, lambda count: b"\x01" * count)
        (True, False)
    """
    _fraction(numerator, denominator)
    if numerator > denominator:
        raise InvalidInput("numerator", "is above the denominator", "must be a probability")
    return uniform_below(denominator, source) < numerator


def bernoulli_exp(numerator: int, denominator: int, source: ByteSource) -> bool:
    r"""A random boolean that is True with probability exp(-numerator/denominator).

    Args:
        numerator: a whole number, at least 0.
        denominator: a whole number, at least 1.
        source: the source of the bytes.

    Raises:
        InvalidInput: an argument out of range.

    Example:
        >>> bernoulli_exp(1, 2, lambda count: b"\xff" * count)  # the first coin fails
        True
    """
    _fraction(numerator, denominator)
    while numerator > denominator:
        if not _within_one(1, 1, source):
            return False
        numerator -= denominator
    return _within_one(numerator, denominator, source)


def _within_one(numerator: int, denominator: int, source: ByteSource) -> bool:
    """A random boolean that is True with probability exp(-x), for x in [0, 1]. Coins with success probabilities x, x/2,
    x/3, ... are tossed until one fails, and the result is True if the number of tosses is odd.
    """
    for k in range(1, _STUCK):
        if not bernoulli(numerator, denominator * k, source):
            return k % 2 == 1
    raise _broken()


def shift_with_keep(numerator: int, denominator: int, categories: int, source: ByteSource) -> int:
    r"""Draw the shift of an answer modulo k in k-ary randomised response. The shift is 0, so that the true answer is
    kept, with the given probability.

    All other shifts are equally likely.

    Args:
        numerator: the numerator of the probability that the answer is kept.
        denominator: the denominator of the probability that the answer is kept.
        categories: the number k of possible answers, >= 2.
        source: the source of the bytes.

    Raises:
        InvalidInput: a parameter out of range.

    Example:
        >>> given = [b"\x01", b"\x03"]
        >>> shift_with_keep(3, 4, 3, lambda count: given.pop())
        2
    """
    whole("categories", categories, at_least=2)
    if bernoulli(numerator, denominator, source):
        return 0
    return 1 + uniform_below(categories - 1, source)


def shift_at_level(numerator: int, denominator: int, categories: int, source: ByteSource) -> int:
    r"""Draw the shift of an answer modulo k in k-ary randomised response at a rational level epsilon. The shift 0,
    which keeps the true answer, has odds of exactly e^epsilon against each other shift.

    Each round proposes a uniform shift. A shift other than 0 is accepted with probability e^-epsilon, and the shift 0
    always. A coin with probability e^-epsilon is tossed even for the shift 0, so that every round takes the same steps.

    Args:
        numerator: the numerator of the level epsilon in nats.
        denominator: the denominator of the level.
        categories: the number k of possible answers, >= 2.
        source: the source of the bytes.

    Raises:
        InvalidInput: a parameter out of range.

    Example:
        >>> given = [b"\x01", b"\x00", b"\x00"]  # the truth; coins for 1/1, without a byte, 1/2, 1/3
        >>> shift_at_level(1, 1, 2, lambda count: given.pop())
        0
    """
    whole("categories", categories, at_least=2)
    for _ in range(_STUCK * categories):
        shift = uniform_below(categories, source)
        taken = bernoulli_exp(numerator, denominator, source)
        if shift == 0 or taken:
            return shift
    raise _broken()


def discrete_laplace(numerator: int, denominator: int, source: ByteSource) -> int:
    """A random whole number y with probability proportional to exp(-|y|/scale).

    Args:
        numerator: the numerator of the scale, at least 1.
        denominator: the denominator of the scale.
        source: the source of the bytes.

    Raises:
        InvalidInput: the scale is not a positive rational number.

    Example:
        >>> from confide.privacy.noise.entropy import random_bytes
        >>> abs(discrete_laplace(1, 1, random_bytes)) < 100
        True
    """
    _fraction(numerator, denominator, least=1)
    for _ in range(_STUCK):
        part = uniform_below(numerator, source)
        if not bernoulli_exp(part, numerator, source):
            continue
        times = 0
        while times < _STUCK and bernoulli_exp(1, 1, source):
            times += 1
        size = (part + numerator * times) // denominator
        negative = bernoulli(1, 2, source)
        if not (negative and size == 0):
            return -size if negative else size
    raise _broken()


def discrete_gaussian(numerator: int, denominator: int, source: ByteSource) -> int:
    """A random whole number y with probability proportional to exp(-y^2/(2 variance)), where `variance` is the
    parameter. For a small parameter, the variance of the law is a little smaller than the parameter.

    Args:
        numerator: the numerator of the parameter `variance`, at least 1.
        denominator: the denominator of the parameter `variance`.
        source: the source of the bytes.

    Raises:
        InvalidInput: the parameter is not a positive rational number.

    Example:
        >>> from confide.privacy.noise.entropy import random_bytes
        >>> abs(discrete_gaussian(4, 1, random_bytes)) < 100
        True
    """
    _fraction(numerator, denominator, least=1)
    width = isqrt(numerator // denominator) + 1
    for _ in range(_STUCK):
        found = discrete_laplace(width, 1, source)
        far = abs(found) * denominator * width - numerator
        if bernoulli_exp(far * far, 2 * numerator * denominator * width * width, source):
            return found
    raise _broken()


def _broken() -> SolverFailed:
    return SolverFailed("exact draws", "the source of randomness is broken")


def _fraction(numerator: int, denominator: int, least: int = 0) -> None:
    whole("numerator", numerator, at_least=least)
    whole("denominator", denominator, at_least=1)
