"""Public randomness, which anyone can draw again: shuffles, resampling and Gibbs draws from a seed. No privacy noise.

A fitted population must follow from what was measured, bit for bit, on any machine and with any number of threads: so
each draw is a function of a key and a position, in whole-number arithmetic. The generator is SplitMix64, in counter
form.

Source: Steele, Lea and Flood 2014, Figure 15.
"""

from __future__ import annotations

import hashlib

import numpy as np
import scipy
from numpy.typing import NDArray

from confide.numerics.compiled import kernel

__all__ = ["key_of", "normals", "permutation", "uniform", "uniforms"]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_BITS = 2.0**-53


def key_of(seed: int, *name: str | int) -> np.uint64:
    """The key of a named stream.

    Example:
        >>> len({int(key_of(1, *name)) for name in (("shuffle", 0), ("shuffle", 1), ("shuffle", 0), ("shuffle0",))})
        3
    """
    text = "\n".join([str(seed), *(f"i{part}" if isinstance(part, int) else f"s{part}" for part in name)])
    return np.uint64(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little"))


@kernel
def uniform(key: np.uint64, position: np.uint64) -> float:
    """A uniform number in [0, 1): one of the 2^53 multiples of 2^-53."""
    z = key + (position + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) * 1.1102230246251565e-16


def _words(key: np.uint64, count: int) -> NDArray[np.uint64]:
    z = key + np.arange(1, count + 1, dtype=np.uint64) * _STEP
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return np.asarray(z ^ (z >> np.uint64(31)))


def uniforms(key: np.uint64, count: int) -> NDArray[np.float64]:
    """(count,) `uniform` at the positions 0, 1, ...

    Example:
        >>> k = key_of(1, "x")
        >>> uniforms(k, 3).tolist() == [uniform(k, np.uint64(i)) for i in range(3)]
        True
    """
    return np.asarray((_words(key, count) >> np.uint64(11)).astype(np.float64) * _BITS)


def normals(key: np.uint64, count: int) -> NDArray[np.float64]:
    """(count,) standard normals, from the quantile function at uniforms moved off zero by half a unit."""
    return np.asarray(scipy.special.ndtri(uniforms(key, count) + _BITS / 2))


def permutation(key: np.uint64, count: int) -> NDArray[np.int64]:
    """A random order of 0, 1, ..., count - 1: by 64-bit words, equal ones in their old order."""
    return np.argsort(_words(key, count), kind="stable").astype(np.int64)
