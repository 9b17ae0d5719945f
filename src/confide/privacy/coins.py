"""Public coins: one whole number for each participant, from a seed that is drawn when all reports are in.

They protect nobody. They decide who goes without where more ask for something than there is, so nobody may know
hers before she reports; afterwards everybody may check everybody's.
"""

from __future__ import annotations

import hashlib
import re

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise
from confide.privacy.public_randomness import public_bytes

__all__ = ["COINS", "coin_of", "coins", "draw_seed", "is_seed", "key_of"]

COINS = 1 << 32
"""How many sides a coin has."""

_BYTES = 32  # of a seed
_EACH = 8  # coins of one digest
_SEED = re.compile(r"[0-9a-f]{64}")


def draw_seed(noise: Noise, stream: str = "coins") -> str:
    """256 random bits in hexadecimal.

    Args:
        noise: where they come from.
        stream: name of the draw.
    """
    return public_bytes(noise, _BYTES, stream=stream).hex()


def is_seed(seed: object) -> bool:
    """Whether it is 64 hexadecimal digits, in small letters."""
    return isinstance(seed, str) and _SEED.fullmatch(seed) is not None


def coins(seed: str, people: int) -> NDArray[np.uint32]:
    """(n,) everybody's coin, in [0, 2^32): eight of them are one SHA-256 digest of the seed and their block's number.

    Args:
        seed: as `draw_seed` makes it.
        people: n.

    Raises:
        InvalidInput: no seed.

    Example:
        >>> seed = "00" * 32
        >>> bool((coins(seed, 20)[11:12] == coin_of(seed, 11)).all())
        True
    """
    key = key_of(seed)
    blocks = b"".join([_block(key, block) for block in range(-(-people // _EACH))])
    return np.frombuffer(blocks, dtype="<u4")[:people].astype(np.uint32)


def coin_of(seed: str, index: int) -> int:
    """One participant's coin.

    Args:
        seed: as `draw_seed` makes it.
        index: her place, from 0.

    Raises:
        InvalidInput: no seed.
    """
    return int(np.frombuffer(_block(key_of(seed), index // _EACH), dtype="<u4")[index % _EACH])


def key_of(seed: str) -> bytes:
    """A seed's 32 bytes.

    Raises:
        InvalidInput: no seed.
    """
    if not is_seed(seed):
        raise InvalidInput("seed", "is not 64 hexadecimal digits")
    return bytes.fromhex(seed)


def _block(key: bytes, number: int) -> bytes:
    return hashlib.sha256(key + number.to_bytes(8, "little")).digest()
