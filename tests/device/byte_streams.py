"""Bytes that tests know: a stream that any language can make again."""

from __future__ import annotations

import hashlib
from itertools import count

__all__ = ["HashStream"]


class HashStream:
    """SHA-256 of a name and a counter; `taken` are the bytes handed out."""

    def __init__(self, name: str) -> None:
        self.blocks = (hashlib.sha256(f"{name}/{k}".encode()).digest() for k in count())
        self.rest, self.taken = b"", bytearray()

    def __call__(self, size: int) -> bytes:
        while len(self.rest) < size:
            self.rest += next(self.blocks)
        found, self.rest = self.rest[:size], self.rest[size:]
        self.taken += found
        return found
