"""A channel over joint types in whole numbers, of as many digits as its least likely joint type needs.

A release draws how many rows with letter a become letter b, all at once, then which ones. Nothing is rounded: whole
numbers are drawn digit by digit, places by a drawn order of the rows.

Source: spec privacy_notions 4 ("exact coding for releases", joint types) and 6.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.channels.analyser import ChannelReport, analyse
from confide.channels.constants import prior_level
from confide.channels.joint_types import JointTypeChannel, JointTypes
from confide.channels.mechanisms.coded import as_rows
from confide.channels.mechanisms.integer_tables import least_mixed, log_up
from confide.channels.priors import Exchangeable, Prior
from confide.contract.errors import NotGuaranteed
from confide.privacy.noise import Noise, Stream
from confide.privacy.noise.arguments import as_stream
from confide.privacy.primitives.choosing import draw_digits

__all__ = ["CodedTypes", "coded_types"]

_DIGIT = 10  # bits
_LEAST_BITS = 60  # of each probability
_CLOSE = 1e-9  # logs of ratios that may be the largest one


class CodedTypes:
    """Whole numbers for the joint types; those of one input type sum to 2^bits.

    Args:
        types: all joint types.
        counts: (k,) Python's own, of any size, at least 0.
        bits: of their sum; a multiple of 10.
    """

    def __init__(self, types: JointTypes, counts: list[int], bits: int) -> None:
        self.types, self.counts, self.bits = types, counts, bits
        self.letters, self.records = types.letters, types.records

    @cached_property
    def channel(self) -> JointTypeChannel:
        """The coded channel in doubles."""
        return JointTypeChannel(self.types, [math.ldexp(count, -self.bits) for count in self.counts])

    def dp(self) -> float:
        """Exact, rounded up; infinite where 0 stands beside a positive number."""
        worst = self._worst(None)
        return math.inf if worst is None else log_up(worst)

    def identifiability(self, prior: Exchangeable) -> float:
        """Under a prior in doubles; rounded up."""
        worst = self._worst(prior)
        return math.inf if worst is None else log_up(worst)

    def levels(self, prior: Prior) -> ChannelReport:
        """All levels under a prior; differential privacy, and identifiability of exchangeable priors, are certified."""
        found = replace(analyse(self.channel, prior), dp=self.dp())
        return replace(found, identifiability=self.identifiability(prior)) if isinstance(prior, Exchangeable) else found

    def _worst(self, prior: Exchangeable | None) -> Fraction | None:
        """The largest ratio of the probabilities of one output under neighbours, or of the joint ones under a prior;
        None where it is infinite.
        """
        first, second, over, under = self.types.neighbours
        logs = np.array([math.log(count) if count else -math.inf for count in self.counts])
        weights = None
        if prior is not None:
            # The prior's logs are its definition; to a common factor, which all ratios share.
            sequence = prior.log_sequence - prior.log_sequence.max()
            weights = [Fraction(math.exp(value)) for value in sequence.tolist()]
            with np.errstate(divide="ignore"):
                logs = logs + np.log(np.array([float(weight) for weight in weights]))[self.types.inputs]
        possible = (logs[first] > -np.inf) | (logs[second] > -np.inf)
        first, second, over, under = (each[possible] for each in (first, second, over, under))
        gap = logs[first] - logs[second] - np.log(over / under)
        if np.isinf(gap).any():
            return None
        size, worst = np.abs(gap), Fraction(1)
        for k in np.flatnonzero(size >= size.max(initial=0.0) - _CLOSE).tolist():
            i, j = int(first[k]), int(second[k])
            ratio = Fraction(self.counts[i] * int(under[k]), self.counts[j] * int(over[k]))
            if weights is not None:
                ratio *= weights[self.types.inputs[i]] / weights[self.types.inputs[j]]
            worst = max(worst, ratio, 1 / ratio)
        return worst

    # ---- a release

    @cached_property
    def _by_input(self) -> dict[tuple[int, ...], tuple[NDArray[np.int64], list[int]]]:
        """Letter counts -> the joint types that they may become, and the sums of numbers up to each."""
        found = {}
        order = np.argsort(self.types.inputs, kind="stable")
        ends = np.cumsum(np.bincount(self.types.inputs))
        for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
            which = order[start:end]
            tau = tuple(self.types.counts[which[0]].sum(axis=1).tolist())
            found[tau] = (which, list(accumulate(self.counts[k] for k in which.tolist())))
        return found

    def release(self, rows: ArrayLike, noise: Noise, stream: Stream) -> NDArray[np.int64]:
        """Draw a database."""
        letters, name = as_rows(rows, self.letters, self.records), as_stream(stream)
        which, sums = self._by_input[tuple(np.bincount(letters, minlength=self.letters).tolist())]
        digits = draw_digits(noise, 2**_DIGIT, self.bits // _DIGIT, epsilon=self.dp(), stream=(*name, "type"))
        drawn = 0
        for digit in digits.tolist():
            drawn = (drawn << _DIGIT) | digit
        counts = self.types.counts[which[bisect_right(sums, drawn)]]
        # Rows in an order drawn from public numbers alone; in it, the first of letter a become letter 0, then 1, ...
        order = np.arange(self.records)
        for i in range(self.records - 1):
            j = i + int(draw_digits(noise, self.records - i, 1, epsilon=0.0, stream=(*name, "place", i))[0])
            order[[i, j]] = order[[j, i]]
        out = np.empty(self.records, dtype=np.int64)
        for letter in range(self.letters):
            out[order[letters[order] == letter]] = np.repeat(np.arange(self.letters), counts[letter])
        return out


def coded_types(
    channel: JointTypeChannel, *, dp: float | None = None, identifiability: float | None = None,
    prior: Exchangeable | None = None,
) -> CodedTypes:
    """A channel over joint types in whole numbers.

    Args:
        channel: probabilities of joint types.
        dp: what its differential privacy must not exceed, in nats.
        identifiability: what its identifiability under `prior` must not exceed; next to the prior's own level, where no
            mixing lowers it, by more than a part in 10^12.
        prior: needed for `identifiability`.

    Raises:
        NotGuaranteed: the channel's own level is above what is asked for by more than rounding.
    """
    types, exact = channel.types, channel.probabilities
    if identifiability is not None and prior is not None:
        identifiability = max(identifiability, prior_level(prior))
    least = float(exact[exact > 0].min())
    bits = -(-(_LEAST_BITS + max(0, math.ceil(-math.log2(least)))) // _DIGIT) * _DIGIT
    constant = np.exp(types.log_sequences - types.records * math.log(types.letters))  # every database alike
    found = least_mixed(
        lambda share: CodedTypes(types, _units(types, (1.0 - share) * exact + share * constant, bits), bits),
        lambda found, slack: _within(found, dp, identifiability, prior, slack))
    if found is None:
        raise NotGuaranteed("the level that was asked for", "the channel is above it", "ask for what it has")
    return found


def _within(
    found: CodedTypes, dp: float | None, identifiability: float | None, prior: Exchangeable | None, slack: float
) -> bool:
    if dp is not None and found.dp() > dp:
        return False
    if identifiability is None or prior is None:
        return True
    return found.identifiability(prior) <= identifiability + slack * (1.0 + identifiability)


def _units(types: JointTypes, probabilities: NDArray[np.float64], bits: int) -> list[int]:
    """Units of 2^-bits: rounded down, at least 1 where positive, what is left over to the largest of an input type."""
    counts = []
    for value in probabilities.tolist():
        over, under = value.as_integer_ratio()
        counts.append(max((over << bits) // under, 1 if value > 0 else 0))
    for which in np.split(np.argsort(types.inputs, kind="stable"), np.cumsum(np.bincount(types.inputs))[:-1]):
        largest = int(which[probabilities[which].argmax()])
        counts[largest] += (1 << bits) - sum(counts[k] for k in which.tolist())
    return counts
