"""The power of a statistical audit: the size of a loss that it can detect with a given number of samples."""

from __future__ import annotations

import math

from confide.audit.statistical import epsilon_lower_bound
from confide.contract.checks import fraction, non_negative, positive, whole
from confide.contract.errors import InvalidInput

__all__ = ["detectable", "flag_probability", "samples_needed"]

_MOST = 2**50


def detectable(
    epsilon_true: float,
    samples: int,
    alpha: float,
    *,
    power: float = 0.999,
    rate: float | None = None,
    delta: float = 0.0,
) -> float:
    """Largest claim that `statistical_audit` refutes with at least the given power, for a mechanism with a larger true
    loss.

    The mechanism is assumed to have a threshold event of probability `rate` under one data set, and of probability
    delta + e^epsilon_true * rate under the other data set. The first half of the samples is assumed to find the
    threshold event.

    Args:
        epsilon_true: true loss of the mechanism at `delta`, in nats, > 0.
        samples: number of runs under each of the two data sets, both halves together, >= 2.
        alpha: the audit's false-alarm probability, in (0, 1).
        power: probability of a flag, in (0, 1).
        rate: probability of the event under the data set that makes it rare; if left out, (1 - delta) / (1 +
            e^epsilon_true), the most favourable value, which randomised response has.
        delta: failure probability that the claim allows, in [0, 1).

    Returns:
        A loss in nats: every claim strictly below it is flagged with probability at least `power`. A negative number
            means that no claim is flagged.

    Raises:
        InvalidInput: a parameter is out of range, or the event would have a probability above 1.

    Example:
        >>> round(detectable(1.5, 100_000, 1e-9), 3)
        1.393
    """
    epsilon_true = positive("epsilon_true", epsilon_true)
    samples = whole("samples", samples, at_least=2)
    power = fraction("power", power)
    delta = fraction("delta", delta, zero=True)
    if rate is None:
        rate = (1.0 - delta) / (1.0 + math.exp(epsilon_true))
    rate = fraction("rate", rate)
    often = delta + math.exp(epsilon_true) * rate
    if often > 1.0 + 1e-12:
        raise InvalidInput("rate", f"{rate!r} is too large", "delta + e^epsilon_true * rate must be at most 1")
    from scipy.stats import binom

    runs = samples - samples // 2
    # Each count is at least this good with probability 1 - miss/2, whatever the other does.
    miss = (1.0 - power) / 2
    hits = int(binom.ppf(miss, runs, min(often, 1.0)))
    other_hits = int(binom.isf(miss, runs, rate))
    return float(epsilon_lower_bound(hits, runs, other_hits, runs, alpha, delta=delta))


def flag_probability(
    epsilon_true: float, claim: float, samples: int, alpha: float, *, rate: float | None = None, delta: float = 0.0
) -> float:
    """Lower bound of the probability that `statistical_audit` refutes a claim; the counterpart of `detectable`.

    Args:
        epsilon_true: true loss of the mechanism at `delta`, in nats, > 0.
        claim: claimed epsilon at `delta`, in nats.
        samples: number of runs under each of the two data sets, >= 2.
        alpha: the audit's false-alarm probability, in (0, 1).
        rate: probability of the event under the data set that makes it rare; see `detectable`.
        delta: failure probability that the claim allows, in [0, 1).

    Returns:
        Probability in [0, 1). The function tries probabilities of a miss, and takes the smallest one at which
            `detectable` returns more than the claim. The result is 1 minus this probability; 0 where no tried
            probability suffices. The tried probabilities of a miss start at 2^-40 and grow by a tenth in each step.

    Example:
        >>> flag_probability(1.5, 1.3, 20_000, 1e-9) < 0.99 < flag_probability(1.5, 1.3, 100_000, 1e-9)
        True
    """
    non_negative("claim", claim)
    miss = 2.0**-40
    while miss < 1.0:
        if detectable(epsilon_true, samples, alpha, power=1.0 - miss, rate=rate, delta=delta) > claim:
            return 1.0 - miss
        miss *= 1.1
    return 0.0


def samples_needed(
    epsilon_true: float,
    claim: float,
    alpha: float,
    *,
    power: float = 0.999,
    rate: float | None = None,
    delta: float = 0.0,
) -> int:
    """Number of runs under each of two data sets with which `statistical_audit` refutes `claim`, for a mechanism with a
    larger true loss.

    Args:
        epsilon_true: true loss of the mechanism at `delta`, in nats.
        claim: claimed epsilon at `delta`, in nats, below `epsilon_true`.
        alpha: the audit's false-alarm probability, in (0, 1).
        power: probability of a flag, in (0, 1).
        rate: probability of the event under the data set that makes it rare; see `detectable`.
        delta: failure probability that the claim allows, in [0, 1).

    Returns:
        A number of runs at which `detectable` returns more than the claim. Not many fewer runs would suffice.

    Raises:
        InvalidInput: the claim is not below `epsilon_true`, or so close that 2^50 runs do not separate them.

    Example:
        >>> runs = samples_needed(1.5, 1.0, 1e-9)
        >>> detectable(1.5, runs, 1e-9) > 1.0
        True
    """
    if not non_negative("claim", claim) < epsilon_true:
        raise InvalidInput("claim", f"{claim!r} is not below {epsilon_true!r}", "a kept promise cannot be refuted")

    def shows(runs: int) -> bool:
        return detectable(epsilon_true, runs, alpha, power=power, rate=rate, delta=delta) > claim

    high = 2
    while not shows(high):
        high *= 2
        if high > _MOST:
            raise InvalidInput("claim", f"{claim!r} is too close to {epsilon_true!r}", "no feasible number of runs")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shows(middle) else (middle, high)
    return high
