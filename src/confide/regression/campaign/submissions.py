"""A campaign's submissions as batches of records: read when the run reads them, one pass at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from confide.tables import Design, Numeric, Records, Roster, Source, read_records

__all__ = ["Submissions"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Submissions:
    """What people handed in, from the file that the campaign names.

    Args:
        source: the table.
        design: coding of the features.
        response: role of the response.
        roster: the public list of ids.
        identity: the id column, or "row".
        rejected: id -> reason, complete after one pass; the operator's alone.
    """

    source: Source
    design: Design
    response: Numeric
    roster: Roster
    identity: str
    rejected: dict[str, str] = field(default_factory=dict, repr=False)

    def check(self) -> None:
        """Raise `InvalidInput` now if a column is missing or of a wrong type; looks at types, not at values."""
        next(self._pass({}, rows=1), None)

    def _pass(self, rejected: dict[str, str], rows: int = 65536) -> Iterator[Records]:
        return read_records(self.source, design=self.design, response=self.response, roster=self.roster,
                            id=self.identity, rows=rows, rejected=rejected)

    def __iter__(self) -> Iterator[Records]:
        # Each pass finds the same rejections; the list is rebuilt so that a broken pass cannot leave half of one.
        self.rejected.clear()
        yield from self._pass(self.rejected)
