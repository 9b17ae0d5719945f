"""Randomness that protects nobody: splits, seeds of published coins, orders. It is part of the public record.

It comes from the same sources as noise, but by another door: a mechanism that used it to protect somebody would publish
numbers that differ for neighbours while all that is drawn is the same, and its audit would say so.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from confide.privacy.noise.arguments import Stream
from confide.privacy.noise.base import Noise, as_noise

__all__ = ["public_bytes", "public_split"]


def _opened(noise: Noise, stream: Stream) -> Noise:
    source = as_noise(noise)
    if source.meter is not None:
        source.meter.public(stream)
    return source


def public_split(noise: Noise, people: int, *, stream: Stream) -> NDArray[np.bool_]:
    """Split people into two groups at random: floor(people/2) times False, True for the others.

    Args:
        noise: of the run.
        people: how many, >= 0.
        stream: name of the draw.

    Source: spec truthful_regression 4.1, step 2.

    Example:
        >>> int(public_split(Noise.simulated(1), 5, stream="split").sum())
        3
    """
    return _opened(noise, stream).split(people, stream=stream)


def public_bytes(noise: Noise, count: int, *, stream: Stream) -> bytes:
    """Draw uniform bytes, such as the seed of coins that are published.

    Args:
        noise: of the run.
        count: how many.
        stream: name of the draw.
    """
    alike = np.ones((1, 256), dtype=np.int64)
    drawn = _opened(noise, stream).channel(alike, np.zeros(count, dtype=np.int64), stream=stream)
    return drawn.astype(np.uint8).tobytes()
