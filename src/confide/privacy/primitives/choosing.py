"""Primitives that select one of several items: with exponential weights, or through a table of probabilities."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import whole
from confide.privacy.accounting import written
from confide.privacy.charge import DrawCost
from confide.privacy.noise.arguments import Stream, as_table
from confide.privacy.noise.balls import precision
from confide.privacy.noise.base import Noise
from confide.privacy.primitives.sessions import pay

__all__ = ["draw_by_logits", "draw_digits", "draw_through"]

_BITS = 192  # of a logarithm


def law_cost(epsilon: Fraction | float) -> DrawCost:
    """The cost of a draw with a known largest log ratio between neighbours. An infinite log ratio gives a cost that no
    line pays for.

    Args:
        epsilon: the largest log ratio in nats; a double counts as the decimal that it is written as, as in events.
    """
    return DrawCost() if epsilon == math.inf else DrawCost.laplace(written(epsilon))


def draw_by_logits(
    noise: Noise, logits: ArrayLike, *, bounded_range: Fraction, stream: Stream, count: int = 1,
    line: str | None = None,
) -> NDArray[np.int64]:
    """Draw positions with probability proportional to exp(logit), where each draw is of bounded range.

    Args:
        noise: the noise of the run.
        logits: (k,) finite, private, relative to the largest one.
        bounded_range: the largest variation, over all positions, of the log ratio of two neighbouring laws, in nats,
            with a margin for the rounding of the logits.
        stream: the name under which all these draws are made.
        count: the number of draws.
        line: the line of the charge that pays for each draw.

    Returns:
        (count,) positions.

    Raises:
        InvalidInput: an argument is out of range, or the charge has no line of the given name.
        Overspent: the line has less left than the draws cost.

    Source: McSherry and Talwar 2007; spec query_release A2 and A3.
    """
    many = whole("count", count)
    source = pay(noise, DrawCost.selection(bounded_range), stream=stream, line=line, count=many)
    return source.selection(logits, many, stream=stream)


def draw_digits(
    noise: Noise, base: int, count: int, *, epsilon: Fraction | float, stream: Stream, line: str | None = None
) -> NDArray[np.int64]:
    """Draw uniform digits, which the caller turns into a draw from another law.

    Args:
        noise: the noise of the run.
        base: the number of possible digits, in 1..2^16; a digit is below it.
        count: the number of digits.
        epsilon: the cost of the law that the digits are turned into, in nats, rounded up; 0 if that law was paid for
            before.
        stream: the name under which all these draws are made.
        line: the name of the line of the run's charge that pays for the draw; None if the charge has one line only.

    Raises:
        InvalidInput: an argument is out of range, or the charge has no line of the given name.
        Overspent: the line has less left than the draw costs.
    """
    source = pay(noise, law_cost(epsilon), stream=stream, line=line)
    return source.channel(np.ones((1, base), dtype=np.int64), np.zeros(count, dtype=np.int64), stream=stream)


def draw_through(
    noise: Noise, table: ArrayLike, inputs: ArrayLike, *, stream: Stream, epsilon: Fraction | float | None = None,
    line: str | None = None,
) -> NDArray[np.int64]:
    """Draw an output for each private input through a table of probabilities. The inputs must be about different
    people.

    Args:
        noise: the noise of the run, or of a device.
        table: (m, k) public weights in whole numbers, where all rows have the same sum.
        inputs: (n,) row numbers, private.
        epsilon: the largest log ratio between the rows of two neighbours, in nats, rounded up. The default of `epsilon`
            is computed from the table, over all pairs of rows.
        stream: the name under which all these draws are made.
        line: the name of the line of the run's charge that pays for the draw; None if the charge has one line only.

    Returns:
        (n,) column numbers of the table.

    Raises:
        InvalidInput: an argument is out of range, or the charge has no line of the given name.
        Overspent: the line has less left than the draw costs.
    """
    source = pay(noise, law_cost(_log_ratio(table) if epsilon is None else epsilon), stream=stream, line=line)
    return source.channel(table, inputs, stream=stream)


def _log_ratio(table: ArrayLike) -> Fraction | float:
    """The largest log ratio between two rows of a table, rounded up by less than 2^-150; infinity if a weight is 0 in
    one row and positive in another.
    """
    from flint import arb

    weights = as_table(table)
    ends = zip(weights.min(axis=0).tolist(), weights.max(axis=0).tolist(), strict=True)
    columns = {(least, most) for least, most in ends if most}
    if not all(least for least, _ in columns):
        return math.inf
    with precision(_BITS):
        above = max(Fraction(most, least) for least, most in columns)
        found = (arb(above.numerator) / above.denominator).log().upper().fmpq()
    return Fraction(int(found.p), int(found.q))
