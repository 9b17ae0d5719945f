"""Fits of the same data without a ledger: their losses add up, and whoever fits is told.

Data are known again by a keyed digest of their values. The key is drawn for this process; key and digests stay in its
memory and are written nowhere. What is not known again: other rows, other columns, another order, another process.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from confide.privacy.filter import Cost
from confide.privacy.noise.entropy import random_bytes

__all__ = ["Refits"]

_BYTES = 32


@dataclass
class Refits:
    """What was spent on each data set, by its digest; safe under threads.

    Example:
        >>> refits, data = Refits(), np.arange(6.0).reshape(3, 2)
        >>> known = refits.digest([data])
        >>> refits.add(known, Cost()), refits.add(refits.digest([data.copy()]), Cost())[0]
        ((1, Cost(epsilon=Fraction(0, 1), delta=Fraction(0, 1), rho=Fraction(0, 1), pure=True)), 2)
    """

    _key: bytes = field(default_factory=lambda: random_bytes(_BYTES), repr=False)
    _spent: dict[bytes, tuple[int, Cost]] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def digest(self, parts: Iterable[np.ndarray], note: bytes = b"") -> bytes:
        """The keyed digest of some columns of doubles, the same for every layout in memory.

        Args:
            parts: arrays (m, d).
            note: what else tells data sets apart.
        """
        found = hashlib.blake2b(note, key=self._key, digest_size=_BYTES)
        for part in parts:
            found.update(repr(part.shape).encode())
            for column in part.T:
                found.update(np.ascontiguousarray(column + 0.0).data)  # -0 and 0 are one number
        return found.digest()

    def with_one_more(self, digest: bytes, cost: Cost) -> tuple[int, Cost]:
        """How many fits there are with one more, and what they spend together; nothing is noted."""
        with self._lock:
            return self._plus(digest, cost)

    def add(self, digest: bytes, cost: Cost) -> tuple[int, Cost]:
        """Note a fit before it is made; the same answer."""
        with self._lock:
            self._spent[digest] = self._plus(digest, cost)
            return self._spent[digest]

    def _plus(self, digest: bytes, cost: Cost) -> tuple[int, Cost]:
        count, before = self._spent.get(digest, (0, Cost()))
        return count + 1, before + cost
