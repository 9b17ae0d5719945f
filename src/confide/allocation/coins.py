"""Public coins: one whole number for each bidder, from a seed that is drawn when all bids are in.

They protect nobody. They decide who goes without where more ask for a good than there are copies, so nobody may know
hers before she bids; afterwards everybody may check everybody's.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise

__all__ = ["COINS", "coin_of", "coins", "draw_seed"]

COINS = 1 << 32
"""How many sides a coin has."""

_WORDS = 16  # of 16 bits in a seed
_EACH = 8  # coins of one digest


def draw_seed(noise: Noise, stream: str = "coins") -> str:
    """256 random bits in hexadecimal."""
    words = noise.selection(np.zeros(1 << 16), _WORDS, stream=stream)
    return "".join(f"{int(word):04x}" for word in words)


def coins(seed: str, people: int) -> NDArray[np.uint32]:
    """(n,) everybody's coin, in [0, 2^32).

    Args:
        seed: 64 hexadecimal digits.
        people: n.

    Example:
        >>> seed = "00" * 32
        >>> bool((coins(seed, 20)[11:12] == coin_of(seed, 11)).all())
        True
    """
    blocks = b"".join(_block(seed, block) for block in range(-(-people // _EACH)))
    return np.frombuffer(blocks, dtype="<u4")[:people].astype(np.uint32)


def coin_of(seed: str, index: int) -> int:
    """One bidder's coin.

    Args:
        seed: 64 hexadecimal digits.
        index: her place, from 0.
    """
    return int(np.frombuffer(_block(seed, index // _EACH), dtype="<u4")[index % _EACH])


def _block(seed: str, number: int) -> bytes:
    try:
        key = bytes.fromhex(seed)
    except ValueError:
        raise InvalidInput("seed", "is not hexadecimal") from None
    return hashlib.sha256(key + number.to_bytes(8, "little")).digest()
