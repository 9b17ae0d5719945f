"""Coded channels, from which releases are drawn: channels with whole numbers in place of probabilities. Either every
row has its own small table, or the whole database has one table.

To draw the output of a row, a release takes the line of the row's letter in the table and draws a whole number below
the sum of this line. Nothing is rounded.

A channel over joint types is coded in whole numbers with as many digits as its least likely joint type needs. A joint
type counts how many rows with letter a become letter b.

A release from a channel over joint types first draws the joint type, and then draws which rows change. Nothing is
rounded: whole numbers are drawn digit by digit, and the changed rows follow from a random order of the rows.

Source: spec privacy_notions 4 ("exact coding for releases", joint types) and 6.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.channels.analyser import ChannelReport, analyse, row_pairs
from confide.channels.channel import Channel, FiniteChannel, JointTypeChannel, JointTypes, RowProduct
from confide.channels.constants import prior_level
from confide.channels.mechanisms.integer_tables import (
    IntegerTable,
    exact_dp,
    exact_identifiability,
    least_mixed,
    log_up,
)
from confide.channels.priors import Exchangeable, IndependentRows, Prior, as_letters
from confide.contract.errors import InvalidInput, NotGuaranteed, Unsupported
from confide.contract.words import counted
from confide.privacy.noise import Noise, Stream
from confide.privacy.noise.arguments import as_stream
from confide.privacy.primitives.choosing import draw_digits, draw_through

__all__ = ["CodedRows", "CodedTable", "CodedTypes", "as_rows", "coded_types"]

# ---- coded

_CELLS = 2**24  # of all tables together
_AT_ONCE = 2**21  # of those that are measured together


def as_rows(rows: Any, letters: int, count: int) -> NDArray[np.int64]:
    """The private rows of a database as whole numbers below m, shape (n,). No error message states the values of the
    rows.
    """
    found = as_letters(rows, letters, field="rows", kind="a letter")
    if len(found) != count:
        raise InvalidInput("rows", counted(len(found), "row"), f"must be {count}")
    return found


class CodedRows:
    """A channel in which every row goes through a table of whole numbers independently. Equal tables are stored once.

    Args:
        tables: the u distinct tables of one row each, all over the same letters and outputs, and with the same sum.
        which: position in `tables` of the table that each row goes through, shape (n,); None if all rows share a single
            table.
        rows: number of rows, n.
    """

    def __init__(self, tables: Sequence[IntegerTable], which: NDArray[np.int64] | None, rows: int) -> None:
        if len({table.weights.shape[1] for table in tables}) > 1:
            raise Unsupported("table", "a channel of rows with different numbers of outputs",
                              "add outputs of probability 0")
        if sum(table.weights.size for table in tables) > _CELLS:
            raise Unsupported("letters", f"a channel of {len(tables)} tables of {tables[0].weights.size} cells",
                              "use fewer letters")
        self.tables, self.which, self.records = tuple(tables), which, rows
        self.letters = tables[0].letters

    @cached_property
    def _weights(self) -> NDArray[np.int64]:
        """All tables, one below the other, shape (u m, k)."""
        return np.concatenate([table.weights for table in self.tables])

    @property
    def channel(self) -> RowProduct:
        """The coded channel, with its probabilities as doubles."""
        which = np.zeros(self.records, dtype=np.int64) if self.which is None else self.which
        return RowProduct([table.probabilities for table in self.tables], which)

    def dp(self) -> float:
        """Exact differential privacy in nats, rounded up."""
        return exact_dp(self._weights, self.letters, 1)

    def levels(self, prior: Prior) -> ChannelReport:
        """All levels under a prior. Differential privacy is certified, and so is identifiability if the rows are
        independent.
        """
        channel = self.channel
        found = replace(analyse(channel, prior), dp=self.dp())
        if not isinstance(prior, IndependentRows):
            return found
        pairs, _ = row_pairs(prior, channel)
        step = max(1, _AT_ONCE // self.tables[0].weights.size)
        levels = []
        for start in range(0, pairs.shape[1], step):
            laws, tables = pairs[:, start : start + step]
            weights = np.concatenate([self.tables[k].weights for k in tables.tolist()])
            levels.append(exact_identifiability(weights, self.letters, prior.laws[laws].reshape(-1)))
        return replace(found, identifiability=max(levels))

    def release(self, rows: ArrayLike, noise: Noise, stream: Stream) -> NDArray[np.int64]:
        """Draw an output for each row."""
        letters = as_rows(rows, self.letters, self.records)
        if self.which is not None:
            letters += self.letters * self.which
        return draw_through(noise, self._weights, letters, epsilon=self.dp(), stream=stream)


class CodedTable:
    """One table of whole numbers for the whole database.

    Args:
        table: table of whole numbers, shape (m^n, k), with one line for each database and k outputs.
    """

    def __init__(self, table: IntegerTable) -> None:
        self.table, self.letters, self.records = table, table.letters, table.records

    @property
    def channel(self) -> FiniteChannel:
        """The coded channel, with its probabilities as doubles."""
        return Channel(self.table.probabilities, self.letters, self.records)

    def dp(self) -> float:
        """Exact differential privacy in nats, rounded up."""
        return self.table.dp()

    def levels(self, prior: Prior) -> ChannelReport:
        """All levels under a prior; differential privacy and identifiability are certified."""
        return replace(analyse(self.channel, prior), dp=self.dp(),
                       identifiability=self.table.identifiability(prior.vector()))

    def release(self, rows: ArrayLike, noise: Noise, stream: Stream) -> NDArray[np.int64]:
        """Draw an output. If there are as many outputs as databases, the result is a database, shape (n,); otherwise
        the result is the position of the output, shape (1,).
        """
        letters = as_rows(rows, self.letters, self.records)
        shape = (self.letters,) * self.records
        at = int(np.ravel_multi_index(letters.tolist(), shape))
        drawn = draw_through(noise, self.table.weights[at], [0], epsilon=self.dp(), stream=stream)
        if self.table.weights.shape[0] != self.table.weights.shape[1]:
            return drawn
        return np.array(np.unravel_index(int(drawn[0]), shape), dtype=np.int64)


# ---- coded types

_DIGIT = 10  # bits
_LEAST_BITS = 60  # of each probability
_CLOSE = 1e-9  # logs of ratios that may be the largest one


class CodedTypes:
    """A channel over joint types in whole numbers. The numbers of all joint types with one input type sum to 2^bits.

    Args:
        types: all joint types.
        counts: whole number that stands for the probability of each joint type, shape (k,); Python integers of any
            size, at least 0.
        bits: number b such that the whole numbers of each input type sum to 2^b; a multiple of 10.
    """

    def __init__(self, types: JointTypes, counts: list[int], bits: int) -> None:
        self.types, self.counts, self.bits = types, counts, bits
        self.letters, self.records = types.letters, types.records

    @cached_property
    def channel(self) -> JointTypeChannel:
        """The coded channel, with its probabilities as doubles."""
        return JointTypeChannel(self.types, [math.ldexp(count, -self.bits) for count in self.counts])

    def dp(self) -> float:
        """Exact differential privacy in nats, rounded up. The level is infinite if an output has probability 0 under
        one input and a positive probability under a neighbour.
        """
        worst = self._worst(None)
        return math.inf if worst is None else log_up(worst)

    def identifiability(self, prior: Exchangeable) -> float:
        """Identifiability in nats under a prior with probabilities in doubles, rounded up."""
        worst = self._worst(prior)
        return math.inf if worst is None else log_up(worst)

    def levels(self, prior: Prior) -> ChannelReport:
        """All levels under a prior. Differential privacy is certified, and so is identifiability if the prior is
        exchangeable.
        """
        found = replace(analyse(self.channel, prior), dp=self.dp())
        return replace(found, identifiability=self.identifiability(prior)) if isinstance(prior, Exchangeable) else found

    def _worst(self, prior: Exchangeable | None) -> Fraction | None:
        """The largest ratio of the probabilities of one output under neighbours. With a prior, the result is the
        largest ratio of the joint probabilities of database and output. None stands for an infinite ratio.
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
        """Mapping from letter counts of the input to the joint types with this input type, and to the cumulative sums
        of their numbers.
        """
        found = {}
        order = np.argsort(self.types.inputs, kind="stable")
        ends = np.cumsum(np.bincount(self.types.inputs))
        for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
            which = order[start:end]
            tau = tuple(self.types.counts[which[0]].sum(axis=1).tolist())
            found[tau] = (which, list(accumulate(self.counts[k] for k in which.tolist())))
        return found

    def release(self, rows: ArrayLike, noise: Noise, stream: Stream) -> NDArray[np.int64]:
        """Draw a released database."""
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
        dp: limit of the channel's differential privacy, in nats; None for no limit.
        identifiability: limit of the channel's identifiability under `prior`, in nats; None for no limit. Close to the
            level of the prior, which no release lowers, the result may exceed the limit by a part in 10^12.
        prior: prior of the database; needed for `identifiability`.

    Raises:
        NotGuaranteed: the channel's own level is above the limit by more than rounding.
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
        raise NotGuaranteed("the requested level", "the level of the channel is higher",
                            "ask for the channel's own "
                            "level")
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
    """Probabilities in units of 2^-bits. Each probability is rounded down, but to at least 1 unit where it is positive.
    The remaining units go to the largest probability of each input type.
    """
    counts = []
    for value in probabilities.tolist():
        over, under = value.as_integer_ratio()
        counts.append(max((over << bits) // under, 1 if value > 0 else 0))
    for which in np.split(np.argsort(types.inputs, kind="stable"), np.cumsum(np.bincount(types.inputs))[:-1]):
        largest = int(which[probabilities[which].argmax()])
        counts[largest] += (1 << bits) - sum(counts[k] for k in which.tolist())
    return counts
