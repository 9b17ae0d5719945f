"""Public randomness, which protects nobody and is part of the public record: random splits, public seeds and random
orders.

Public randomness comes from the same sources as noise, but through its own functions. A mechanism that misused public
randomness to protect somebody would fail an audit: the published numbers would differ between neighbours although all
draws are the same.

A public seed is drawn after all reports have arrived, and gives each participant a whole number. If more participants
ask for an item than there are units, these numbers decide who gets none. Participants must not know their public
numbers before they report. Once the seed is published, everybody can check everybody's public number.
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
"""Number of possible public numbers of a participant: each public number is at least 0 and below this bound."""

_BYTES = 32  # of a seed
_EACH = 8  # numbers of one digest
_SEED = re.compile(r"[0-9a-f]{64}")


def _opened(noise: Noise, stream: Stream) -> Noise:
    source = as_noise(noise)
    if source.meter is not None:
        source.meter.public(stream)
    return source


def public_split(noise: Noise, people: int, *, stream: Stream) -> NDArray[np.bool_]:
    """Split people into two groups at random, as an array with floor(people/2) entries False and all other entries
    True.

    Args:
        noise: the noise of the run.
        people: the number of people, >= 0.
        stream: the name of the draw; each name can be used only once per `noise`.

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
        stream: the name of the draw; each name can be used only once per `noise`.
    """
    alike = np.ones((1, 256), dtype=np.int64)
    drawn = _opened(noise, stream).channel(alike, np.zeros(count, dtype=np.int64), stream=stream)
    return drawn.astype(np.uint8).tobytes()


# ---- public seeds


def draw_public_seed(noise: Noise, stream: str = "coins") -> str:
    """Draw a public seed of 256 random bits, as 64 hexadecimal digits.

    Args:
        noise: the source of the bits.
        stream: the name of the draw; each name can be used only once per `noise`.
    """
    return public_bytes(noise, _BYTES, stream=stream).hex()


def is_public_seed(seed: object) -> bool:
    """Whether a value is a public seed, which is a text of 64 hexadecimal digits with lower-case letters."""
    return isinstance(seed, str) and _SEED.fullmatch(seed) is not None


def public_numbers(seed: str, people: int) -> NDArray[np.uint32]:
    """The public numbers of all participants, shape (n,), whole numbers in [0, 2^32).

    Each block of eight consecutive numbers is the SHA-256 digest of the seed and the index of the block.

    Args:
        seed: a seed that `draw_public_seed` made.
        people: the number n of people.

    Raises:
        InvalidInput: the text is not a public seed.

    Example:
        >>> seed = "00" * 32
        >>> bool((public_numbers(seed, 20)[11:12] == public_number_of(seed, 11)).all())
        True
    """
    key = key_of(seed)
    blocks = b"".join([_block(key, block) for block in range(-(-people // _EACH))])
    return np.frombuffer(blocks, dtype="<u4")[:people].astype(np.uint32)


def public_number_of(seed: str, index: int) -> int:
    """The public number of one participant, a whole number in [0, 2^32).

    Args:
        seed: a seed that `draw_public_seed` made.
        index: the participant's index, from 0.

    Raises:
        InvalidInput: the text is not a public seed.
    """
    return int(np.frombuffer(_block(key_of(seed), index // _EACH), dtype="<u4")[index % _EACH])


def key_of(seed: str) -> bytes:
    """The 32 bytes of a public seed.

    Raises:
        InvalidInput: the text is not a public seed.
    """
    if not is_public_seed(seed):
        raise InvalidInput("seed", "is not 64 hexadecimal digits")
    return bytes.fromhex(seed)


def _block(key: bytes, number: int) -> bytes:
    return hashlib.sha256(key + number.to_bytes(8, "little")).digest()
