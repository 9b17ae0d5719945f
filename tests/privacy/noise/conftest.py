"""Bytes that the tests know, in place of the operating system's."""

from __future__ import annotations

import numpy as np
import pytest

from confide.privacy.noise.entropy import Entropy


class SeededEntropy(Entropy):
    """Reproducible bytes; `given` comes first. `requests` counts the calls: one per round of an exact rounding."""

    def __init__(self, seed: int = 0, given: bytes = b"") -> None:
        self.generator = np.random.default_rng(seed)
        self.given = given
        self.handed_out = b""
        self.requests = 0

    def random_bytes(self, count: int) -> bytes:
        self.requests += 1
        head, self.given = self.given[:count], self.given[count:]
        block = head + self.generator.bytes(count - len(head))
        self.handed_out += block
        return block


@pytest.fixture(scope="session")
def entropy():
    """A maker of seeded entropy: `entropy(seed)`, `entropy(seed, given=...)`."""
    return SeededEntropy
