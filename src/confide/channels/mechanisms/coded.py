"""Coded channels: what a release draws from. Either every row has a small table of its own, or the database has one.

A release takes each letter to the row of its table and draws whole numbers below the row's sum: nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.channels.analyser import ChannelReport, analyse, row_pairs
from confide.channels.channel import Channel, FiniteChannel, RowProduct
from confide.channels.letters import as_letters
from confide.channels.mechanisms.integer_tables import IntegerTable, exact_dp, exact_identifiability
from confide.channels.priors import IndependentRows, Prior
from confide.contract.errors import InvalidInput, Unsupported
from confide.privacy.noise import Noise, Stream
from confide.privacy.primitives.choosing import draw_through

__all__ = ["CodedRows", "CodedTable", "as_rows"]

_CELLS = 2**24  # of all tables together
_AT_ONCE = 2**21  # of those that are measured together


def as_rows(rows: Any, letters: int, count: int) -> NDArray[np.int64]:
    """The private rows of a database: (n,) whole numbers below m; no message says what they hold."""
    found = as_letters(rows, letters, field="rows", kind=f"letter of {letters}")
    if len(found) != count:
        raise InvalidInput("rows", f"{len(found)} rows", f"must be {count}")
    return found


class CodedRows:
    """Every row goes through a table in whole numbers; equal tables are kept once.

    Args:
        tables: (u,) of one row each, all over the same letters and outputs, and with the same sum.
        which: (n,) which of them each row goes through; None for a single table that all rows share.
        rows: n.
    """

    def __init__(self, tables: Sequence[IntegerTable], which: NDArray[np.int64] | None, rows: int) -> None:
        if len({table.weights.shape[1] for table in tables}) > 1:
            raise Unsupported("table", "rows with different numbers of outputs", "add outputs of probability 0")
        if sum(table.weights.size for table in tables) > _CELLS:
            raise Unsupported("letters", f"{len(tables)} tables of {tables[0].weights.size} cells", "use fewer letters")
        self.tables, self.which, self.records = tuple(tables), which, rows
        self.letters = tables[0].letters

    @cached_property
    def _weights(self) -> NDArray[np.int64]:
        """(u m, k) all tables, one after another."""
        return np.concatenate([table.weights for table in self.tables])

    @property
    def channel(self) -> RowProduct:
        """The coded channel in doubles."""
        which = np.zeros(self.records, dtype=np.int64) if self.which is None else self.which
        return RowProduct([table.probabilities for table in self.tables], which)

    def dp(self) -> float:
        """Exact, rounded up."""
        return exact_dp(self._weights, self.letters, 1)

    def levels(self, prior: Prior) -> ChannelReport:
        """All levels under a prior; differential privacy, and identifiability of independent rows, are certified."""
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
    """One table in whole numbers for the whole database.

    Args:
        table: (m^n, k).
    """

    def __init__(self, table: IntegerTable) -> None:
        self.table, self.letters, self.records = table, table.letters, table.records

    @property
    def channel(self) -> FiniteChannel:
        """The coded channel in doubles."""
        return Channel(self.table.probabilities, self.letters, self.records)

    def dp(self) -> float:
        """Exact, rounded up."""
        return self.table.dp()

    def levels(self, prior: Prior) -> ChannelReport:
        """All levels under a prior; differential privacy and identifiability are certified."""
        return replace(analyse(self.channel, prior), dp=self.dp(),
                       identifiability=self.table.identifiability(prior.vector()))

    def release(self, rows: ArrayLike, noise: Noise, stream: Stream) -> NDArray[np.int64]:
        """Draw an output: a database where there are as many outputs as databases, else (1,), its position."""
        letters = as_rows(rows, self.letters, self.records)
        shape = (self.letters,) * self.records
        at = int(np.ravel_multi_index(letters.tolist(), shape))
        drawn = draw_through(noise, self.table.weights[at], [0], epsilon=self.dp(), stream=stream)
        if self.table.weights.shape[0] != self.table.weights.shape[1]:
            return drawn
        return np.array(np.unravel_index(int(drawn[0]), shape), dtype=np.int64)
