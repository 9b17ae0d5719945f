"""Secure noise: exact draws from the operating system's randomness, without a seed. Settlement uses such noise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from confide.privacy.noise import choices, discrete, laws
from confide.privacy.noise.arguments import Points, StreamName
from confide.privacy.noise.base import Noise, RealLaw
from confide.privacy.noise.choices import balanced
from confide.privacy.noise.entropy import OPERATING_SYSTEM

__all__ = ["SecureNoise"]


class SecureNoise(Noise):
    """Secure noise; see `Noise.secure`. The streams are only names: every draw reads fresh randomness."""

    @property
    def kind(self) -> str:
        return "secure"

    @property
    def release_safe(self) -> bool:
        return True

    def _integers(
        self, law: discrete.DiscreteLaw, scale: Fraction, shape: tuple[int, ...], stream: StreamName
    ) -> NDArray[np.int64]:
        return discrete.draw(law, scale, math.prod(shape), OPERATING_SYSTEM).reshape(shape)

    def _reals(
        self, law: RealLaw, scale: Fraction, points: Points, grid: int, shape: tuple[int, ...], stream: StreamName
    ) -> NDArray[np.float64]:
        sampler = laws.laplace if law == "laplace" else laws.gaussian
        return sampler(scale, points, grid, OPERATING_SYSTEM)

    def _vector(
        self, scale: Fraction, points: Points, stretch: NDArray[np.float64], grid: int, stream: StreamName
    ) -> NDArray[np.float64]:
        return laws.vector_laplace(scale, points, stretch, grid, OPERATING_SYSTEM)

    def _channel(
        self, table: NDArray[np.int64], inputs: NDArray[np.int64], stream: StreamName
    ) -> NDArray[np.int64]:
        uniforms = choices.uniform_below(int(table[0].sum()), len(inputs), OPERATING_SYSTEM)
        return choices.channel_outputs(table, inputs, uniforms)

    def _selection(self, logits: NDArray[np.float64], count: int, stream: StreamName) -> NDArray[np.int64]:
        return choices.select(logits, count, OPERATING_SYSTEM)

    def _split(self, people: int, stream: StreamName) -> NDArray[np.bool_]:
        # The privacy proof needs a partition that does not depend on the data; it may even be public. So a fast
        # generator that no one can predict at the start is enough. 256 bits fill the pool of the seed sequence.
        words = np.frombuffer(OPERATING_SYSTEM.random_bytes(32), dtype=np.uint32)
        seed = np.random.SeedSequence(words.tolist(), pool_size=8)
        return balanced(people, np.random.Generator(np.random.PCG64(seed)))

    def _exponential(self, shape: tuple[int, ...], stream: StreamName) -> NDArray[np.float64]:
        from confide.privacy.noise.exponentials import exponentials  # compiled when the first one is drawn

        return exponentials(math.prod(shape), OPERATING_SYSTEM).reshape(shape)

    def _words(self, shape: tuple[int, ...], stream: StreamName) -> NDArray[np.uint64]:
        return choices.words(math.prod(shape), OPERATING_SYSTEM).reshape(shape)
