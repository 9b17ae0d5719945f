"""A run of a tree counter that receives its increments step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.errors import Refused
from confide.privacy.noise.arguments import StreamName
from confide.privacy.primitives.sessions import NoiseSession
from confide.privacy.tree_blocks import finished_level

if TYPE_CHECKING:
    from confide.privacy.tree_counter import TreeCounter

__all__ = ["RunningCounter"]

_Integers = NDArray[np.int64]


class RunningCounter:
    """A run of a tree counter; `TreeCounter.start` creates it.

    Args:
        counter: the public parameters of the counter.
        session: the paid session from which the noise is drawn.
        stream: the name under which the noise is drawn.
        part: the name of the part of the session that declares the counter's draws.
    """

    def __init__(
        self, counter: TreeCounter, session: NoiseSession, stream: StreamName, part: str = "block"
    ) -> None:
        self._counter = counter
        self._session, self._part = session, part
        self._stream = stream
        self._step = 0
        state = (counter.counters, counter.levels)
        self._sums = np.zeros(state, dtype=np.int64)
        self._noisy = np.zeros(state, dtype=np.int64)
        self._published = np.zeros(counter.counters, dtype=np.int64)

    def __repr__(self) -> str:
        return f"<tree counter, {self._step} of {self._counter.horizon} steps>"

    @property
    def step(self) -> int:
        """The number of steps that were fed to the counter so far."""
        return self._step

    @property
    def published(self) -> _Integers:
        """The most recently published counts, shape (k,); zeros before the first step."""
        return self._published.copy()

    def feed(self, increments: ArrayLike) -> _Integers:
        """Feed one step to all counters, and publish their counts.

        Args:
            increments: private whole numbers that this step adds to each counter, zeros included, shape (k,). Each
                increment is clipped at `TreeCounter.largest_increment` in both directions.

        Returns:
            The public counts, shape (k,).

        Raises:
            Refused: all steps of the horizon were fed before.
            InvalidInput: the increments have another shape or type.
        """
        counter = self._counter
        if self._step >= counter.horizon:
            raise Refused(f"this counter has counted all of its {counter.horizon} steps",
                                                    "choose a longer horizon, which has more levels and more noise")
        arrived = counter._increments("increments", increments, (counter.counters,))
        self._step += 1
        level = finished_level(self._step, counter.arity)
        finished = arrived + self._sums[:, :level].sum(axis=1)
        self._sums[:, :level] = 0
        self._sums[:, level] += finished
        released = counter._draw(self._session, (counter.counters,), (*self._stream, self._step), finished,
                                 self._part)
        self._noisy[:, :level] = 0
        self._noisy[:, level] += released
        raw = self._noisy[:, level:].sum(axis=1)
        counts = (raw + (1 << counter.grid >> 1)) >> counter.grid  # rounded half up
        self._published = np.maximum(self._published, counts) if counter.running_maximum else counts
        return self.published
