"""Simulated noise: reproducible and fast draws in doubles, for studies and tests. Simulated noise must not be used for
a release.
"""

from __future__ import annotations

import hashlib
import math
import struct
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import whole
from confide.privacy.noise.arguments import Points, StreamName
from confide.privacy.noise.base import Noise, RealLaw
from confide.privacy.noise.choices import balanced, channel_outputs, relative_weights
from confide.privacy.noise.discrete import DiscreteLaw
from confide.privacy.noise.laws import onto_grid

__all__ = ["SimulatedNoise", "study_generator"]


def _words(stream: StreamName) -> tuple[int, ...]:
    """A seed of 256 bits that no two stream names share, and that is the same in every process, unlike Python's own
    hash.
    """
    text = "\n".join(f"i{part}" if isinstance(part, int) else f"s{part}" for part in stream)  # names hold no newline
    return struct.unpack("<8I", hashlib.sha256(text.encode()).digest())


def study_generator(seed: int, *stream: str | int) -> np.random.Generator:
    """A numpy random generator for a study of simulated people, derived from a seed and the name of a stream; never for
    noise.

    Example:
        >>> int(study_generator(3, "people").integers(100)) == int(study_generator(3, "people").integers(100))
        True
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(whole("seed", seed), spawn_key=_words(stream))))


class SimulatedNoise(Noise):
    """Simulated noise; see `Noise.simulated`. The same seed and stream give the same draw with the same version of
    numpy.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._seed = whole("seed", seed)

    @property
    def kind(self) -> str:
        return "simulated"

    def __reduce__(self) -> tuple[type[SimulatedNoise], tuple[int]]:
        """A pickled copy keeps the seed, and starts with no stream drawn."""
        return type(self), (self._seed,)

    def _generator(self, stream: StreamName) -> np.random.Generator:
        return study_generator(self._seed, *stream)

    def _integers(
        self, law: DiscreteLaw, scale: Fraction, shape: tuple[int, ...], stream: StreamName
    ) -> NDArray[np.int64]:
        sampler = _discrete_laplace if law == "discrete_laplace" else _discrete_gaussian
        return sampler(float(scale), math.prod(shape), self._generator(stream)).reshape(shape)

    def _reals(
        self, law: RealLaw, scale: Fraction, points: Points, grid: int, shape: tuple[int, ...], stream: StreamName
    ) -> NDArray[np.float64]:
        generator = self._generator(stream)
        count = math.prod(shape)
        unit = generator.laplace(size=count) if law == "laplace" else generator.standard_normal(count)
        with np.errstate(over="ignore"):
            return onto_grid(points, float(scale) * unit, grid)

    def _vector(
        self, scale: Fraction, points: Points, stretch: NDArray[np.float64], grid: int, stream: StreamName
    ) -> NDArray[np.float64]:
        with np.errstate(over="ignore"):
            vector = _vectors(float(scale), len(stretch), 1, self._generator(stream))[0]
            return onto_grid(points, stretch * vector, grid)

    def _channel(
        self, table: NDArray[np.int64], inputs: NDArray[np.int64], stream: StreamName
    ) -> NDArray[np.int64]:
        uniforms = self._generator(stream).integers(0, int(table[0].sum()), len(inputs))
        return channel_outputs(table, inputs, uniforms)

    def _selection(self, logits: NDArray[np.float64], count: int, stream: StreamName) -> NDArray[np.int64]:
        ends = np.cumsum(relative_weights(logits))
        places = self._generator(stream).random(count) * ends[-1]
        # A place that rounds up to the very end belongs to the last item with a weight.
        found: NDArray[np.int64] = np.minimum(np.searchsorted(ends, places, side="right"), len(ends) - 1)
        return found

    def _split(self, people: int, stream: StreamName) -> NDArray[np.bool_]:
        return balanced(people, self._generator(stream))

    def _exponential(self, shape: tuple[int, ...], stream: StreamName) -> NDArray[np.float64]:
        drawn: NDArray[np.float64] = self._generator(stream).standard_exponential(shape)
        return np.maximum(drawn, np.finfo(np.float64).tiny)  # numpy's may be 0, which no exponential is

    def _words(self, shape: tuple[int, ...], stream: StreamName) -> NDArray[np.uint64]:
        return self._generator(stream).integers(0, 2**64, shape, dtype=np.uint64)


def _vectors(scale: float, dimension: int, count: int, generator: np.random.Generator) -> NDArray[np.float64]:
    """`count` independent vectors with density proportional to exp(-||v||/scale), one per row."""
    radii = scale * generator.standard_gamma(dimension, (count, 1))
    normals = generator.standard_normal((count, dimension))
    vectors: NDArray[np.float64] = radii * (normals / np.linalg.norm(normals, axis=1, keepdims=True))
    return vectors


def _discrete_laplace(scale: float, count: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Discrete Laplace noise as the difference of two geometric draws, each the floor of an exponential."""
    geometric: NDArray[np.int64] = np.floor(scale * generator.standard_exponential((2, count))).astype(np.int64)
    difference: NDArray[np.int64] = geometric[0] - geometric[1]
    return difference


def _discrete_gaussian(sigma: float, count: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Discrete Gaussian noise by rejection from the discrete Laplace law (Canonne, Kamath and Steinke 2020, Algorithm
    3).
    """
    width = float(math.floor(sigma) + 1)
    kept = np.zeros(0, dtype=np.int64)
    while len(kept) < count:
        candidates = _discrete_laplace(width, 2 * (count - len(kept)) + 8, generator)
        thresholds = ((np.abs(candidates) - sigma**2 / width) / sigma) ** 2 / 2
        kept = np.concatenate([kept, candidates[generator.standard_exponential(len(candidates)) >= thresholds]])
    return kept[:count]
