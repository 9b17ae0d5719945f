"""The custodian's table: opened and checked for its columns before the charge, read by the run after it.

No value of a row decides whether there is a charge, or whether a run goes on: a row that cannot be used counts as the
null record. What can stop a run is a file that is missing, is damaged, or has other columns: these are public, or told
to the custodian alone, and after the charge they leave it as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from confide.contract.errors import InvalidInput
from confide.release.codes import Codes
from confide.release.reading import encode_batch, read_codes, read_records
from confide.release.schema import Schema
from confide.tables.roster import Roster
from confide.tables.sources import TableSource

__all__ = ["HeldTable"]


@dataclass(frozen=True, kw_only=True, eq=False)
class HeldTable:
    """A table of n records whose rows are not read yet.

    A row that cannot be used, or is missing, counts as the null record: cell 0 of every column, fixed and public. Rows
    beyond the n, and second rows of one id, are ignored.

    Args:
        source: the table.
        schema: the public columns.
        records: n.
        identity: the id column, or "row".
        rejected: id or row -> reason, complete after one read; the operator's alone.
    """

    source: TableSource
    schema: Schema
    records: int
    identity: str
    rejected: dict[str, str] = field(default_factory=dict, repr=False)

    def check(self) -> None:
        """Raise now if a column is missing or of a type that cannot hold its role. A first row is read for its types;
        its values change nothing.

        Raises:
            InvalidInput: names the column.
        """
        names = [column.column for column in self.schema.columns]
        ids = [] if self.identity == "row" else [self.identity]
        if not ids and not self.source.ordered:
            raise InvalidInput("data.id", "the rows of a query have no order, and \"row\" makes the i-th row record i",
                               "name a column of ids")
        first = next(self.source.batches([*names, *ids], 1), None)
        if first is not None:
            encode_batch(self.schema, first)
            if ids:
                Roster(self.records).index(first.column(self.identity), self.identity)

    def read(self) -> Codes:
        """All n records as cells."""
        self.rejected.clear()
        codes, _ = read_codes(self.schema, self.source, self.records, self.identity, "null", self.rejected)
        return codes

    def count(self) -> int:
        """How many rows there are, in one pass that also lists the rejected ones; private."""
        self.rejected.clear()
        rows = 0

        def seen(done: int, _total: int | None) -> None:
            nonlocal rows
            rows = done

        for _ in read_records(self.schema, self.source.watched(seen), Roster(self.records), self.identity, "null",
                              self.rejected):
            pass
        return rows
