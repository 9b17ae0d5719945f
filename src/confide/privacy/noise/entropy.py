"""The operating system's randomness, which no other module of confide reads.

Samplers take an `Entropy`, so that a test can inject known bytes. `Noise.secure()` always passes `OPERATING_SYSTEM` and
offers no way to pass another source. All noise that is marked fit for release therefore comes from the operating
system.
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod

from confide.contract.checks import whole

__all__ = ["OPERATING_SYSTEM", "Entropy", "OperatingSystem", "random_bits", "random_bytes"]


class Entropy(ABC):
    """A source of independent, uniformly random bytes."""

    @abstractmethod
    def random_bytes(self, count: int) -> bytes:
        """The next `count` bytes; no byte is handed out twice."""

    def random_bits(self, count: int) -> int:
        """A uniformly random integer in [0, 2^count)."""
        count = whole("count", count)
        return int.from_bytes(self.random_bytes((count + 7) // 8), "little") >> (-count % 8)


class OperatingSystem(Entropy):
    """The operating system's cryptographic generator. Nothing is buffered, so a forked process never repeats the bytes
    of its parent.
    """

    def random_bytes(self, count: int) -> bytes:
        return secrets.token_bytes(whole("count", count))


OPERATING_SYSTEM = OperatingSystem()


def random_bytes(count: int) -> bytes:
    """`count` random bytes from the operating system.

    Example:
        >>> len(random_bytes(16))
        16
    """
    return OPERATING_SYSTEM.random_bytes(count)


def random_bits(count: int) -> int:
    """A uniformly random integer in [0, 2^count) from the operating system.

    Example:
        >>> 0 <= random_bits(5) < 32
        True
    """
    return OPERATING_SYSTEM.random_bits(count)
