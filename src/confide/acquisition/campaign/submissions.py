"""A campaign's files, read row by row: reports of sensitivity, and the noisy records that came in on contracts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from confide.acquisition.beliefs.virtual_cost import VirtualCost
from confide.acquisition.campaign.plan import allowed
from confide.acquisition.records import ContractedRecords
from confide.acquisition.release.sums import plausible
from confide.contract.errors import InvalidInput
from confide.tables import FirstRows, Measured, Roster, Source, Word, rejections
from confide.tables.roles import FINE, MISSING

__all__ = ["Drawn", "Submissions", "check_ranks", "of_batches", "read_reports"]

_ROWS = 65536


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Drawn:
    """A round of contracts, as it lies in its file.

    Args:
        index: (k,) ranks of those with a contract, increasing.
        steps: (k,) a_i.
        sigma: (k,) s_i.
        epsilon_local: (k,) towards the platform.
        epsilon_central: (k,) towards the public.
        payment: (k,) in the smallest coin.
        variance: sum of s_i^2.
    """

    index: NDArray[np.int64]
    steps: NDArray[np.int64]
    sigma: NDArray[np.int64]
    epsilon_local: NDArray[np.float64]
    epsilon_central: NDArray[np.float64]
    payment: NDArray[np.int64]
    variance: int

    def with_messages(self, message: NDArray[np.int64], sent: NDArray[np.bool_]) -> ContractedRecords:
        """The contracts with what was sent on them, (k,) each."""
        return ContractedRecords(**vars(self), message=message, sent=sent)


def read_reports(
    source: Source, role: Measured, roster: Roster, identity: str, rule: VirtualCost | None, rejected: dict[str, str]
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
    for batch in source.batches([role.column, *([] if identity == "row" else [identity])], _ROWS):
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

    source: Source
    role: Word
    roster: Roster
    identity: str
    drawn: Drawn
    rejected: dict[str, str] = field(default_factory=dict, repr=False)

    def check(self) -> None:
        """Raise `InvalidInput` now if a column is missing; looks at types, not at values."""
        columns = [self.role.column, *([] if self.identity == "row" else [self.identity])]
        next(self.source.batches(columns, 1), None)

    def __iter__(self) -> Iterator[ContractedRecords]:
        """One batch: the contracts, each with its message."""
        self.rejected.clear()
        it = self.drawn
        message, sent = np.zeros(len(it.index), np.int64), np.zeros(len(it.index), np.bool_)
        first = FirstRows(self.roster, self.identity)
        columns = [self.role.column, *([] if self.identity == "row" else [self.identity])]
        for batch in self.source.batches(columns, _ROWS):
            index = first.claim(batch)
            values, problems = self.role.encode(batch.column(self.role.column))
            place = np.minimum(np.searchsorted(it.index, index), max(0, len(it.index) - 1))
            asked = np.zeros(len(index), np.bool_) if not len(it.index) else it.index[place] == index
            absent = (problems == MISSING) & (index >= 0)
            wild = asked.copy()
            wild[asked] = ~plausible(values[asked], it.steps[place[asked]], it.sigma[place[asked]])
            lost = ~absent & ((problems != FINE) | ~asked | wild | (index < 0))
            if lost.any():
                reasons = {row: self._reason(int(problems[row]), asked=bool(asked[row]))
                           for row in np.flatnonzero(lost & (index >= 0)).tolist()}
                self.rejected.update(rejections(first, batch, index, lost, reasons))
            kept = ~lost & ~absent
            message[place[kept]], sent[place[kept]] = values[kept], True
        yield it.with_messages(message, sent)

    def _reason(self, problem: int, *, asked: bool) -> str:
        if problem != FINE:
            return self.role.reason(problem)
        if not asked:
            return f"{self.role.column}: no record is asked of this id"
        return f"{self.role.column}: is beyond what a device sends on this contract"


def check_ranks(drawn: Drawn, people: int) -> Drawn:
    """The round, if its ranks are of these people.

    Raises:
        InvalidInput: they are not.
    """
    if drawn.index.size and not (drawn.index[0] >= 0 and drawn.index[-1] < people and (np.diff(drawn.index) > 0).all()):
        raise InvalidInput("contracts", "name people who were not invited, or one of them twice")
    return drawn


def of_batches(batches: Iterable[ContractedRecords]) -> Drawn:
    """The round that some batches hold, in the order of ranks."""
    parts = [batch for batch in batches if len(batch.index)]
    if not parts:
        whole, real = np.zeros(0, np.int64), np.zeros(0)
        return Drawn(index=whole, steps=whole, sigma=whole, epsilon_local=real, epsilon_central=real, payment=whole,
                     variance=0)
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in (
        "index", "steps", "sigma", "epsilon_local", "epsilon_central", "payment")}
    order = np.argsort(columns["index"])
    return Drawn(**{name: column[order] for name, column in columns.items()}, variance=parts[0].variance)
