"""Randomness that protects nobody: splits, public seeds, orders. It is part of the public record.

It comes from the same sources as noise, but through functions of its own: a mechanism that used it to protect somebody
would publish numbers that differ for neighbours while all that is drawn is the same, and its audit would say so.

A public seed is drawn when all reports are in, and gives each participant a whole number. These numbers decide who goes
without where more ask for something than there is. So nobody may know theirs before they report; afterwards everybody
may check everybody's.
"""

from __future__ import annotations

import hashlib
import re

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.privacy.noise.arguments import Stream
from confide.privacy.noise.base import Noise, as_noise

__all__ = ["PUBLIC_RANGE", "draw_public_seed", "is_public_seed", "key_of", "public_bytes", "public_number_of",
           "public_numbers", "public_split"]

PUBLIC_RANGE = 1 << 32
"""Public numbers of participants are below it."""

_BYTES = 32  # of a seed
_EACH = 8  # numbers of one digest
_SEED = re.compile(r"[0-9a-f]{64}")


def _opened(noise: Noise, stream: Stream) -> Noise:
    source = as_noise(noise)
    if source.meter is not None:
        source.meter.public(stream)
    return source


def public_split(noise: Noise, people: int, *, stream: Stream) -> NDArray[np.bool_]:
    """Split people into two groups at random: floor(people/2) times False, True for the others.

    Args:
        noise: the noise of the run.
        people: the number of people, >= 0.
        stream: name of the draw.

    Source: spec truthful_regression 4.1, step 2.

    Example:
        >>> int(public_split(Noise.simulated(1), 5, stream="split").sum())
        3
    """
    return _opened(noise, stream).split(people, stream=stream)


def public_bytes(noise: Noise, count: int, *, stream: Stream) -> bytes:
    """Draw uniform bytes, such as a public seed.

    Args:
        noise: the noise of the run.
        count: the number of bytes.
        stream: name of the draw.
    """
    alike = np.ones((1, 256), dtype=np.int64)
    drawn = _opened(noise, stream).channel(alike, np.zeros(count, dtype=np.int64), stream=stream)
    return drawn.astype(np.uint8).tobytes()


# ---- public seeds


def draw_public_seed(noise: Noise, stream: str = "coins") -> str:
    """Draw 256 random bits, in hexadecimal.

    Args:
        noise: the source of the bits.
        stream: name of the draw.
    """
    return public_bytes(noise, _BYTES, stream=stream).hex()


def is_public_seed(seed: object) -> bool:
    """Whether a text is 64 hexadecimal digits, in small letters."""
    return isinstance(seed, str) and _SEED.fullmatch(seed) is not None


def public_numbers(seed: str, people: int) -> NDArray[np.uint32]:
    """Everybody's public number, shape (n,), in [0, 2^32): eight are one SHA-256 digest of the seed and their block's
    number.

    Args:
        seed: a seed that `draw_public_seed` made.
        people: the number n of people.

    Raises:
        InvalidInput: no seed.

    Example:
        >>> seed = "00" * 32
        >>> bool((public_numbers(seed, 20)[11:12] == public_number_of(seed, 11)).all())
        True
    """
    key = key_of(seed)
    blocks = b"".join([_block(key, block) for block in range(-(-people // _EACH))])
    return np.frombuffer(blocks, dtype="<u4")[:people].astype(np.uint32)


def public_number_of(seed: str, index: int) -> int:
    """One participant's public number.

    Args:
        seed: a seed that `draw_public_seed` made.
        index: the participant's place, from 0.

    Raises:
        InvalidInput: no seed.
    """
    return int(np.frombuffer(_block(key_of(seed), index // _EACH), dtype="<u4")[index % _EACH])


def key_of(seed: str) -> bytes:
    """The 32 bytes of a seed.

    Raises:
        InvalidInput: no seed.
    """
    if not is_public_seed(seed):
        raise InvalidInput("seed", "is not 64 hexadecimal digits")
    return bytes.fromhex(seed)


def _block(key: bytes, number: int) -> bytes:
    return hashlib.sha256(key + number.to_bytes(8, "little")).digest()
