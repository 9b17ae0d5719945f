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
    """The cost of a draw, computed from the largest log ratio between the probabilities under two neighbours. If the
    log ratio is infinite, no line of a charge can pay for the draw.

    Args:
        epsilon: the largest log ratio in nats. A double counts as the decimal number that is written for it, as in the
            events.
    """
    return DrawCost() if epsilon == math.inf else DrawCost.laplace(written(epsilon))


def draw_by_logits(
    noise: Noise, logits: ArrayLike, *, bounded_range: Fraction, stream: Stream, count: int = 1,
    line: str | None = None,
) -> NDArray[np.int64]:
    """Draw positions with probability proportional to exp(logit), where each draw is of bounded range.

    Args:
        noise: the noise of the run.
        logits: (k,) finite logits minus the largest logit, private.
        bounded_range: upper bound, in nats, of the difference between the largest and the smallest log ratio of the
            probabilities under two neighbours, over all positions. The bound includes a margin for the rounding of the
            logits.
        stream: the name under which the draws are made.
        count: the number of draws.
        line: the line of the charge that pays for each draw.

    Returns:
        (count,) positions in `logits`.

    Raises:
        InvalidInput: an argument is out of range, or the charge has no line of the given name.
        Overspent: the line cannot pay for the draws.

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
        base: the number of possible digits, in 1..2^16. A digit is a whole number in 0..base - 1.
        count: the number of digits.
        epsilon: privacy loss, in nats and rounded up, of the draw that the caller computes from the digits; 0 if this
            draw was paid for before.
        stream: the name under which the draws are made.
        line: the name of the line of the run's charge that pays for the draw; None if the charge has one line only.

    Raises:
        InvalidInput: an argument is out of range, or the charge has no line of the given name.
        Overspent: the line cannot pay for the draw.
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
        noise: the noise of the run, or of a participant's device.
        table: (m, k) public weights in whole numbers, where all rows have the same sum.
        inputs: (n,) row numbers, private.
        epsilon: the largest log ratio between the table rows of two neighbours, in nats, rounded up. If `epsilon` is
            left out, the largest log ratio over all pairs of rows is used.
        stream: the name under which the draws are made.
        line: the name of the line of the run's charge that pays for the draw; None if the charge has one line only.

    Returns:
        (n,) column numbers of the table.

    Raises:
        InvalidInput: an argument is out of range, or the charge has no line of the given name.
        Overspent: the line cannot pay for the draw.
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
