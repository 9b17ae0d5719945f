"""Conversion of contracts to JSON, and row-by-row reading of a campaign's files of reports and of noisy records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.acquisition.mechanism import TwoPartMechanism
from confide.acquisition.records import ContractedRecords, ContractTerms
from confide.acquisition.release.lattice import LatticeContract
from confide.acquisition.release.losses import plausible
from confide.acquisition.virtual_cost import VirtualCost
from confide.contract.errors import InvalidInput
from confide.tables import FirstRows, Measured, Roster, TableSource, Word, rejections
from confide.tables.roles import FINE, MISSING

__all__ = ["Submissions", "as_document", "as_drawn", "lattice_contract", "read_reports", "terms_of"]

_COLUMNS = ("index", "steps", "sigma", "epsilon_local", "epsilon_central", "payment")
"""Names of the columns in a stored set of contracts. The column `sigma` is called `noise_std` in Python."""


def lattice_contract(it: TwoPartMechanism, terms: Mapping[str, Any]) -> LatticeContract:
    """The contract for a person's device, made from the stored terms.

    Raises:
        InvalidInput: the terms are not the terms of a contract.
        NotGuaranteed: the contract's noise does not keep its level.
    """
    try:
        steps, noise_std = int(terms["steps"]), int(terms["sigma"])
        local, central = float(terms["epsilon_local"]), float(terms["epsilon_central"])
    except (LookupError, TypeError, ValueError):
        raise InvalidInput("contract", "has no terms of a record",
                           "use the file of the operator without changes") from None
    return LatticeContract(steps, noise_std, local, central, it.order, it.low, it.high)


def as_document(terms: ContractTerms) -> dict[str, Any]:
    """All contracts of a campaign as JSON, one row for each contract. Noise scales exceed the integers that some JSON
    readers can represent, so they are written as text.
    """
    columns = [map(str, terms.noise_std.tolist()) if name == "sigma" else getattr(terms, name).tolist()
               for name in _COLUMNS]
    return {"columns": list(_COLUMNS), "rows": [list(row) for row in zip(*columns, strict=True)],
            "variance": str(terms.variance)}


def as_drawn(document: Mapping[str, Any], people: int) -> ContractTerms:
    """All contracts of a campaign, read from their JSON.

    Raises:
        InvalidInput: a rank belongs to no invited person, or a rank has two contracts.
    """
    columns = dict(zip(_COLUMNS, zip(*document["rows"], strict=True), strict=False))
    found = ContractTerms.of_columns({**columns, "noise_std": [int(each) for each in columns.get("sigma", ())]},
                                     int(document["variance"]))
    ranks = found.index
    if ranks.size and not (ranks[0] >= 0 and ranks[-1] < people and (np.diff(ranks) > 0).all()):
        raise InvalidInput("contracts", "have people who were not invited, or a person twice")
    return found


def terms_of(document: Mapping[str, Any], rank: int) -> dict[str, Any]:
    """The contract of one person. For a person who is asked for nothing, all numbers of the contract are 0.

    Args:
        document: JSON document of all contracts.
        rank: the person's rank in the public list of ids.
    """
    names = document["columns"]
    for row in document["rows"]:
        if row[0] == rank:
            return dict(zip(names[1:], row[1:], strict=True))
    return {"steps": 0, "sigma": "0", "epsilon_local": 0.0, "epsilon_central": 0.0, "payment": 0}


_ROWS = 65536


def _columns(column: str, identity: str) -> list[str]:
    return [column, *([] if identity == "row" else [identity])]


def read_reports(
    source: TableSource, role: Measured, roster: Roster, identity: str, rule: VirtualCost | None,
    rejected: dict[str, str],
) -> NDArray[np.float64]:
    """The reports, shape (n,). An entry is nan where there is no report, or a report that the belief does not allow.

    Args:
        source: the table of reports.
        role: the campaign file's entry for the column of reports, with the column's name.
        roster: the public list of ids.
        identity: name of the id column, or "row" if the row number is the id.
        rule: virtual cost of the prior, which rejects impossible reports; None where every number is possible.
        rejected: dictionary that receives a reason for each rejected id. Only the operator may see the reasons of
            rejections.
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
            unlikely = "" if rule is None else (f"{role.column}: is impossible by the belief of the file; "
                                                f"must be {rule.allowed()}")
            reasons = {row: role.reason(int(problems[row])) if problems[row] != FINE else unlikely
                       for row in np.flatnonzero(lost & (index >= 0)).tolist()}
            rejected.update(rejections(first, batch, index, lost, reasons))
        kept = ~lost & ~absent
        found[index[kept]] = values[kept]
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Submissions:
    """The messages that people sent under their contracts, from the file that the campaign names.

    An empty cell means that nothing was sent. Messages that no honest device sends are reported to the operator and do
    not count.

    Args:
        source: the table of messages.
        role: the campaign file's entry for the column of records.
        roster: the public list of ids.
        identity: name of the id column, or "row" if the row number is the id.
        drawn: the final contracts.
        rejected: dictionary from each rejected id to a reason, complete after one pass. Only the operator may see the
            reasons of rejections.
    """

    source: TableSource
    role: Word
    roster: Roster
    identity: str
    drawn: ContractTerms
    rejected: dict[str, str] = field(default_factory=dict, repr=False)

    def check(self) -> None:
        """Raise `InvalidInput` now if a column is missing. The check looks at types and not at values."""
        next(self._batches(1), None)

    def _batches(self, rows: int) -> Iterator[pa.RecordBatch]:
        return self.source.batches(_columns(self.role.column, self.identity), rows)

    def __iter__(self) -> Iterator[ContractedRecords]:
        """A single batch: all contracts, each with its message."""
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
            return f"{self.role.column}: no record was asked for under this id"
        return f"{self.role.column}: is beyond the range of a device on this contract"
