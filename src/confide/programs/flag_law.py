"""The exact law of when flags rise, for programs that are small enough to list all of their transcripts.

Given a transcript, the loads that are delivered up to each query are known, and rows are independent of each other:
the probability is a product over rows, each a sum over its level's noise (`confide.privacy.halting_law`). So the ratio
of two neighbours' probabilities is exact, and what `flag_loss` promises is compared with the largest of all.

Source: spec convex_programs 5 and 11.8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.privacy.halting_law import LaplaceLaw, log_halting_law

__all__ = ["FlagLaw"]

_MOST = 1 << 20  # transcripts


@dataclass(frozen=True, kw_only=True)
class FlagLaw:
    """All transcripts of flags, and their probabilities given everybody's contribution.

    Args:
        people: n.
        levels: (k,) public; whole numbers where the noise is on the integers.
        level: noise of each level.
        query: noise of each query.
        batch: people between two queries.
        stops: (k,) loads above which a flag rises whatever its noise; None for none.

    Raises:
        InvalidInput: more than 2^20 transcripts.

    Example:
        >>> law = FlagLaw(people=3, levels=(1.0, 1.0), level=LaplaceLaw(2.0, False), query=LaplaceLaw(2.0, False))
        >>> len(law.transcripts), round(float(np.exp(law.logs(np.eye(3, 2))).sum()), 12)
        (9, 1.0)
    """

    people: int
    levels: tuple[float, ...]
    level: LaplaceLaw
    query: LaplaceLaw
    batch: int = 1
    stops: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        whole("people", self.people, at_least=2)
        if whole("batch", self.batch, at_least=1) >= self.people:
            raise InvalidInput("batch", "leaves no query", f"must be below {self.people}")
        if (self.queries + 1) ** len(self.levels) > _MOST:
            raise InvalidInput("levels", f"{len(self.levels)} of them have too many transcripts", f"at most {_MOST}")

    @property
    def queries(self) -> int:
        """Of each row: after every batch but the last."""
        return -(-self.people // self.batch) - 1

    @property
    def transcripts(self) -> list[tuple[int, ...]]:
        """(k,) the query at which each flag rises, `queries` where it never does; all of them."""
        return list(product(range(self.queries + 1), repeat=len(self.levels)))

    def counted(self, contributions: NDArray[np.float64], transcript: tuple[int, ...]) -> NDArray[np.float64]:
        """(queries, k) the loads that are delivered before each query, if flags rise like this.

        Args:
            contributions: (n, k).
            transcript: (k,).
        """
        batches = np.arange(self.people) // self.batch
        shut = (contributions > 0) & (batches[:, None] > np.array(transcript))
        delivered = np.where(shut.any(axis=1, keepdims=True), 0.0, contributions)
        sums: NDArray[np.float64] = np.cumsum(delivered, axis=0)[self.batch - 1 :: self.batch][: self.queries]
        return sums

    def logs(self, contributions: ArrayLike) -> NDArray[np.float64]:
        """(transcripts,) ln of their probabilities.

        Args:
            contributions: (n, k), never negative, in the unit of the noise.
        """
        table = np.asarray(contributions, dtype=np.float64)
        if table.shape != (self.people, len(self.levels)):
            raise InvalidInput("contributions", f"of shape {table.shape}",
                               f"must be {(self.people, len(self.levels))}")
        found = []
        stops = np.full(len(self.levels), math.inf) if self.stops is None else np.array(self.stops)
        for transcript in self.transcripts:
            counted = self.counted(table, transcript)
            gaps, stopped = counted - np.array(self.levels), counted > stops
            forced = np.where(stopped.any(axis=0), stopped.argmax(axis=0), self.queries)
            found.append(sum(_row(tuple(gaps[:, j].tolist()), self.level, self.query, int(forced[j]))[at]
                             for j, at in enumerate(transcript)))
        return np.array(found)

    def loss(self, first: ArrayLike, second: ArrayLike) -> float:
        """The largest log ratio of both laws, over all transcripts and both directions.

        Args:
            first: (n, k) contributions.
            second: (n, k) another world's.
        """
        one, other = self.logs(first), self.logs(second)
        possible = np.isfinite(one) | np.isfinite(other)
        return float(np.abs(one[possible] - other[possible]).max())

    def delta(self, first: ArrayLike, second: ArrayLike, epsilon: float) -> float:
        """The least delta at which both laws are (epsilon, delta) apart, in both directions.

        Args:
            first: (n, k) contributions.
            second: (n, k) another world's.
            epsilon: >= 0.
        """
        one, other = np.exp(self.logs(first)), np.exp(self.logs(second))
        factor = math.exp(epsilon)
        return float(max(np.maximum(one - factor * other, 0.0).sum(), np.maximum(other - factor * one, 0.0).sum()))


@cache
def _row(gaps: tuple[float, ...], level: LaplaceLaw, query: LaplaceLaw, forced: int) -> tuple[float, ...]:
    """ln of the probability that one row's flag rises at each query, or never, given its answers less its level.

    Args:
        gaps: answers less the level.
        level: its noise.
        query: theirs.
        forced: the query at which it rises if it has not risen before.
    """
    logs = log_halting_law(np.array(gaps), level, query)
    logs[forced] = np.logaddexp.reduce(logs[forced:])
    logs[forced + 1 :] = -math.inf
    return tuple(logs.tolist())
