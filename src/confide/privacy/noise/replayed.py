"""Replayed noise, whose draws are given in advance, for tests and for stepping through a run. Replayed noise must not
be used for a release.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.errors import InvalidInput
from confide.contract.words import counted
from confide.privacy.noise.arguments import Points, Stream, StreamName, as_stream
from confide.privacy.noise.base import Noise, RealLaw
from confide.privacy.noise.discrete import DiscreteLaw
from confide.privacy.noise.laws import onto_grid

__all__ = ["ReplayedNoise"]


class ReplayedNoise(Noise):
    """Noise that replays given draws; see `Noise.replayed`. Scales are checked but otherwise ignored, because the
    stored numbers are the noise itself.
    """

    def __init__(self, draws: Mapping[Stream, ArrayLike]) -> None:
        super().__init__()
        self._stored: dict[StreamName, NDArray[np.generic]] = {}
        for stream, values in draws.items():
            name = as_stream(stream)
            if name in self._stored:
                raise InvalidInput("draws", f"{stream!r} is given twice")
            try:
                array = np.array(values)
            except ValueError:
                raise InvalidInput("draws", f"{stream!r} is not an array") from None
            if array.size and (array.dtype.kind not in "biuf" or not np.isfinite(array).all()):
                raise InvalidInput("draws", f"{stream!r} is not an array of finite numbers")
            self._stored[name] = array

    @property
    def kind(self) -> str:
        return "replayed"

    def _take(self, stream: StreamName, shape: tuple[int, ...], kinds: str, asked: str) -> NDArray[np.generic]:
        if stream not in self._stored:
            raise InvalidInput("draws", f"nothing is stored for stream {stream!r}")
        array = self._stored[stream]
        if array.shape != shape:
            raise InvalidInput("draws", f"stream {stream!r} has shape {array.shape}", f"must be {shape}")
        if array.size and array.dtype.kind not in kinds:
            raise InvalidInput("draws", f"stream {stream!r} holds {array.dtype}", f"must be {asked}")
        return array

    def _integers(
        self, law: DiscreteLaw, scale: Fraction, shape: tuple[int, ...], stream: StreamName
    ) -> NDArray[np.int64]:
        return self._take(stream, shape, "iu", "whole numbers").astype(np.int64)

    def _reals(
        self, law: RealLaw, scale: Fraction, points: Points, grid: int, shape: tuple[int, ...], stream: StreamName
    ) -> NDArray[np.float64]:
        return onto_grid(points, self._take(stream, shape, "iuf", "numbers").astype(np.float64).reshape(-1), grid)

    def _vector(
        self, scale: Fraction, points: Points, stretch: NDArray[np.float64], grid: int, stream: StreamName
    ) -> NDArray[np.float64]:
        vector = self._take(stream, stretch.shape, "iuf", "numbers").astype(np.float64)
        with np.errstate(over="ignore"):
            return onto_grid(points, stretch * vector, grid)

    def _channel(
        self, table: NDArray[np.int64], inputs: NDArray[np.int64], stream: StreamName
    ) -> NDArray[np.int64]:
        return self._positions(stream, inputs.shape, table.shape[1])

    def _selection(self, logits: NDArray[np.float64], count: int, stream: StreamName) -> NDArray[np.int64]:
        return self._positions(stream, (count,), len(logits))

    def _positions(self, stream: StreamName, shape: tuple[int, ...], choices: int) -> NDArray[np.int64]:
        positions = self._take(stream, shape, "iu", "whole numbers").astype(np.int64)
        if positions.size and not (positions.min() >= 0 and positions.max() < choices):
            raise InvalidInput("draws", f"stream {stream!r} has a choice that does not exist",
                               f"must be in 0..{choices - 1}")
        return positions

    def _split(self, people: int, stream: StreamName) -> NDArray[np.bool_]:
        groups = self._take(stream, (people,), "b", "booleans").astype(np.bool_)
        if people - int(groups.sum()) != people // 2:
            raise InvalidInput("draws", f"stream {stream!r} is not balanced",
                               f"must hold False exactly {counted(people // 2, 'time')}")
        return groups

    def _exponential(self, shape: tuple[int, ...], stream: StreamName) -> NDArray[np.float64]:
        drawn = self._take(stream, shape, "iuf", "numbers").astype(np.float64)
        if drawn.size and not drawn.min() > 0:
            raise InvalidInput("draws", f"stream {stream!r} has a value that is not an exponential draw",
                               "must be positive")
        return drawn

    def _words(self, shape: tuple[int, ...], stream: StreamName) -> NDArray[np.uint64]:
        drawn = self._take(stream, shape, "iu", "whole numbers")
        if drawn.size and drawn.dtype.kind == "i" and not drawn.min() >= 0:
            raise InvalidInput("draws", f"stream {stream!r} has a value that is not a 64-bit word",
                               "must be in 0..2^64 - 1")
        return drawn.astype(np.uint64)
