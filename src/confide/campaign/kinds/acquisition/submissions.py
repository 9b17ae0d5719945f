"""A campaign's files, read row by row: reports of sensitivity, and the noisy records that came in on contracts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.acquisition.beliefs.virtual_cost import VirtualCost
from confide.acquisition.records import ContractedRecords, ContractTerms
from confide.acquisition.release.sums import plausible
from confide.campaign.kinds.acquisition.plan import allowed
from confide.tables import FirstRows, Measured, Roster, TableSource, Word, rejections
from confide.tables.roles import FINE, MISSING

__all__ = ["Submissions", "read_reports"]

_ROWS = 65536


def _columns(column: str, identity: str) -> list[str]:
    return [column, *([] if identity == "row" else [identity])]


def read_reports(
    source: TableSource, role: Measured, roster: Roster, identity: str, rule: VirtualCost | None,
    rejected: dict[str, str],
) -> NDArray[np.float64]:
    """(n,) reports; nan where there is none, or none that the belief allows.

    Args:
        source: the table.
        role: of the column of reports.
        roster: the public list of ids.
        identity: the id column, or "row".
        rule: of the prior, which not every number is a report of; None where any is.
        rejected: receives id -> reason; the operator's alone.
    """
    found = np.full(roster.count, np.nan)
    first = FirstRows(roster, identity)
    for batch in source.batches(_columns(role.column, identity), _ROWS):
        index = first.claim(batch)
        values, problems = role.encode(batch.column(role.column))
        possible = np.ones(len(values), np.bool_) if rule is None else rule.admits(values)
        absent = (problems == MISSING) & (index >= 0)
        lost = ~absent & ((problems != FINE) | ~possible | (index < 0))
        if lost.any():
            unlikely = "" if rule is None else (f"{role.column}: is not a report that the belief of the file allows; "
                                                f"must be {allowed(rule)}")
            reasons = {row: role.reason(int(problems[row])) if problems[row] != FINE else unlikely
                       for row in np.flatnonzero(lost & (index >= 0)).tolist()}
            rejected.update(rejections(first, batch, index, lost, reasons))
        kept = ~lost & ~absent
        found[index[kept]] = values[kept]
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Submissions:
    """What people sent on their contracts, from the file that the campaign names.

    An empty cell sent nothing. What no honest device sends is told to the operator, and counts as nothing.

    Args:
        source: the table.
        role: of the column of records.
        roster: the public list of ids.
        identity: the id column, or "row".
        drawn: the final contracts.
        rejected: id -> reason, complete after one pass; the operator's alone.
    """

    source: TableSource
    role: Word
    roster: Roster
    identity: str
    drawn: ContractTerms
    rejected: dict[str, str] = field(default_factory=dict, repr=False)

    def check(self) -> None:
        """Raise `InvalidInput` now if a column is missing; looks at types, not at values."""
        next(self._batches(1), None)

    def _batches(self, rows: int) -> Iterator[pa.RecordBatch]:
        return self.source.batches(_columns(self.role.column, self.identity), rows)

    def __iter__(self) -> Iterator[ContractedRecords]:
        """One batch: the contracts, each with its message."""
        self.rejected.clear()
        it = self.drawn
        message, sent = np.zeros(len(it.index), np.int64), np.zeros(len(it.index), np.bool_)
        first = FirstRows(self.roster, self.identity)
        for batch in self._batches(_ROWS):
            index = first.claim(batch)
            values, problems = self.role.encode(batch.column(self.role.column))
            place = np.minimum(np.searchsorted(it.index, index), max(0, len(it.index) - 1))
            asked = np.zeros(len(index), np.bool_) if not len(it.index) else it.index[place] == index
            absent = (problems == MISSING) & (index >= 0)
            wild = asked.copy()
            wild[asked] = ~plausible(values[asked], it.steps[place[asked]], it.noise_std[place[asked]])
            lost = ~absent & ((problems != FINE) | ~asked | wild | (index < 0))
            if lost.any():
                reasons = {row: self._reason(int(problems[row]), asked=bool(asked[row]))
                           for row in np.flatnonzero(lost & (index >= 0)).tolist()}
                self.rejected.update(rejections(first, batch, index, lost, reasons))
            kept = ~lost & ~absent
            message[place[kept]], sent[place[kept]] = values[kept], True
        yield it.with_columns(message, sent)

    def _reason(self, problem: int, *, asked: bool) -> str:
        if problem != FINE:
            return self.role.reason(problem)
        if not asked:
            return f"{self.role.column}: no record is asked of this id"
        return f"{self.role.column}: is beyond what a device sends on this contract"
