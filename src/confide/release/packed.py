"""Binary records as packed bits, one row of words for each attribute."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.contract.wire import wire

__all__ = ["PackedBits", "as_bits"]

_BLOCK = 1 << 13  # records packed at a time, a multiple of 64


@wire("PackedBits", "words records")
@dataclass(frozen=True, eq=False, kw_only=True)
class PackedBits:
    """n records of d binary attributes, attribute by attribute. `repr` shows their numbers, never a record.

    Args:
        words: uint64 (d, ceil(n / 64)); bit i % 64 of word i // 64 of row a says whether record i has attribute a.
            Unused bits are 0.
        records: n, at least 1.

    Raises:
        InvalidInput: shapes that do not fit, or an unused bit that is set.

    Example:
        >>> packed = PackedBits.pack([[1, 0], [1, 1], [0, 1]])
        >>> packed.words[:, 0], packed.record(2)
        (array([3, 6], dtype=uint64), array([False,  True]))
    """

    words: np.ndarray = field(repr=False)
    records: int

    def __post_init__(self) -> None:
        whole("records", self.records, at_least=1)
        words = np.asarray(self.words)
        if words.dtype != np.uint64 or words.ndim != 2 or words.shape[1] != -(-self.records // 64):
            raise InvalidInput("words", f"are {words.dtype} of shape {words.shape}",
                               f"must be uint64 of shape (d, {-(-self.records // 64)})")
        used = self.records % 64
        if used and np.any(words[:, -1] >> np.uint64(used)):
            raise InvalidInput("words", "a bit beyond the last record is set")
        object.__setattr__(self, "words", np.ascontiguousarray(words))

    @property
    def attributes(self) -> int:
        """d, the number of attributes."""
        return int(self.words.shape[0])

    @classmethod
    def pack(cls, bits: Any) -> PackedBits:
        """Records as rows of bits.

        Args:
            bits: (n, d) of booleans, or of numbers that are all 0 or 1.

        Raises:
            InvalidInput: another shape, no record, or a value that is no bit.
        """
        given = as_bits("bits", bits, 2)
        n, d = given.shape
        words = np.zeros((d, -(-n // 64)), np.uint64)
        whole("records", n, at_least=1)
        for start in range(0, n, _BLOCK):
            block = np.packbits(given[start : start + _BLOCK].T, axis=1, bitorder="little")
            block = np.pad(block, ((0, 0), (0, -block.shape[1] % 8)))
            found = np.ascontiguousarray(block).view("<u8")
            words[:, start // 64 : start // 64 + found.shape[1]] = found
        return cls(words=words, records=n)

    def unpack(self) -> np.ndarray:
        """The records as rows, bool (n, d)."""
        data = self.words.astype("<u8", copy=False).view(np.uint8)
        return np.ascontiguousarray(np.unpackbits(data, axis=1, count=self.records, bitorder="little").T).view(np.bool_)

    def record(self, number: int) -> np.ndarray:
        """One record, bool (d,).

        Args:
            number: in [0, n).
        """
        if not 0 <= whole("number", number) < self.records:
            raise InvalidInput("number", f"{number} is out of range", f"must be below {self.records}")
        found: np.ndarray = (self.words[:, number // 64] >> np.uint64(number % 64)) & np.uint64(1) == 1
        return found


def as_bits(name: str, values: Any, dimensions: int) -> np.ndarray:
    """Values as a bool array of so many dimensions.

    Raises:
        InvalidInput: another number of dimensions, or a value that is neither 0 nor 1.
    """
    try:
        array = np.asarray(values)
    except ValueError:
        raise InvalidInput(name, "are rows of different lengths") from None
    if array.ndim != dimensions:
        raise InvalidInput(name, f"have {array.ndim} dimensions", f"must have {dimensions}")
    if array.dtype == np.bool_:
        return array
    if array.dtype.kind not in "iuf" or not bool(np.all((array == 0) | (array == 1))):
        raise InvalidInput(name, "are not all bits", "each must be true or false, 1 or 0")
    return array.astype(np.bool_)
