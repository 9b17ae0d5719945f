"""What people handed in: batches that are read when the run reads them, and the operator's list of what could not be
used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from confide.contract.kinds import Collection, HeldData
from confide.contract.running import Batches

__all__ = ["Reading", "Submissions", "as_data"]

Reading = Callable[[dict[str, str], list[int]], Iterator[Any]]
"""One pass over a file: it tells (id -> reason) what it rejects, and may tell how many rows there were."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Submissions:
    """A campaign's file as batches, each with the ranks of its people as `index`; it can be read again and again.

    Args:
        reading: one pass.
        rejected: id -> reason, complete after one pass; the operator's alone.
        counted: numbers that add up to the rows there were, after one pass; empty where every row is either used or
            rejected. Private.

    Example:
        >>> def reading(rejected, counted):
        ...     rejected["2"] = "is missing"
        ...     yield "the others"
        >>> found = Submissions(reading=reading)
        >>> list(found), list(found), found.rejected
        (['the others'], ['the others'], {'2': 'is missing'})
    """

    reading: Reading
    rejected: dict[str, str] = field(default_factory=dict)
    counted: list[int] = field(default_factory=list)

    def __iter__(self) -> Iterator[Any]:
        # Each pass finds the same rejections; the list is rebuilt so that a broken pass cannot leave half of one.
        self.rejected.clear()
        self.counted.clear()
        yield from self.reading(self.rejected, self.counted)

    def rows(self, usable: int) -> int:
        """How many rows there were.

        Args:
            usable: of them, as one pass found them.
        """
        return sum(self.counted) if self.counted else usable + len(self.rejected)


def as_data(collection: Collection) -> Any:
    """What a run takes of what was collected.

    Args:
        collection: as a kind's `collect` gives it; a custodian's table is read now.
    """
    data = collection.data
    if isinstance(data, Submissions):
        return Batches(data)
    return data.read() if isinstance(data, HeldData) else data
