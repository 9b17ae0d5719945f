"""The private data of a search, which a custodian holds, and the files that a search writes. A search never replaces a
file that the search did not write.

Before the ledger is charged, the tables are opened, their columns are checked, and the public list of people is read.
Contacts and answers are read after the charge. A run writes a list of people to examine, and a folder with the noise of
the run. The list has an empty column whose name is the campaign's mark. If a file with the name of the list lacks this
column, the run does not replace the file.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from confide.campaign.kinds.searching.plan import SearchConfig
from confide.contract.errors import InvalidInput
from confide.contract.files import check_unpublished
from confide.search.graph import Graph
from confide.search.identifiers import as_ids, lookup
from confide.search.oracles import AnswersSoFar, Investigation, OracleInconsistent, spelled
from confide.tables import open_table
from confide.tables._cells import integers, strings
from confide.tables.sources import TableSource

__all__ = ["LISTED", "HeldNetwork", "check_places", "file_of", "list_mark", "marked", "read_list", "waiting_path"]

LISTED = "search-"
"""Prefix of the campaign's mark, which is the name of a column in the list of people to examine."""

_DIGITS = 16  # hexadecimal, of either half of a mark


def waiting_path(config: SearchConfig, folder: Path) -> Path:
    """The path of the list of people to examine next."""
    return folder / Path(config.oracle.waiting).expanduser()


def file_of(source: str, folder: Path) -> Path:
    """The path of a table, for a source that names a file.

    Args:
        source: source of the table, as written in the campaign file.
        folder: folder in which relative paths start.
    """
    return folder / Path(source).expanduser()


def list_mark(config: SearchConfig, campaign: str = "") -> str:
    """The campaign's mark: the name of an empty column in the list of people to examine.

    Args:
        config: tables of the campaign file.
        campaign: digest of the whole campaign file; empty for the first part of the mark, which all files with the same
            tables share.
    """
    tables = json.dumps(config.model_dump(mode="json", by_alias=True), sort_keys=True).encode()
    return f"{LISTED}{hashlib.sha256(tables).hexdigest()[:_DIGITS]}-{campaign[:_DIGITS]}"


def marked(config: SearchConfig, path: Path) -> str | None:
    """The campaign's mark in an existing list of people to examine; None where no file exists.

    Args:
        config: tables of the campaign file.
        path: path of the list.

    Raises:
        InvalidInput: the file at this path is not a list of people to examine that a search with these tables wrote.
    """
    if not os.path.lexists(path):
        return None
    header = [] if path.is_symlink() or not path.is_file() else _rows(path, 1)
    mine = [name for name in (header[0] if header else []) if name.startswith(list_mark(config))]
    if len(mine) != 1:
        raise InvalidInput(
            "oracle.waiting", f"{path} exists, but this search did not write it, so the run does not replace this file",
            "give the list another name; add the answers of another campaign's list to oracle.source")
    return mine[0]


def read_list(config: SearchConfig, path: Path) -> list[tuple[str, str]]:
    """The answers in a list of people to examine, as pairs of a person's id and the text of the answer. Lines without
    an answer are left out.

    Args:
        config: tables of the campaign file.
        path: path of a list with the campaign's mark.
    """
    header, *lines = _rows(path) or [[]]
    if not {config.oracle.id, config.oracle.targeted} <= set(header):
        return []
    one, other = header.index(config.oracle.id), header.index(config.oracle.targeted)
    return [(line[one], line[other]) for line in lines if len(line) > max(one, other) and line[other].strip()]


def check_places(config: SearchConfig, folder: Path) -> None:
    """Check, before the ledger is charged, that the paths to which a run writes are free or hold files of this search.

    Raises:
        InvalidInput: the path of the list or of the journal is also a table of the campaign, even under another name;
            the path lies in a pack; its folder is missing or cannot be written to; or the path holds something that
            this campaign did not write.
    """
    waiting, journal = waiting_path(config, folder), folder / config.oracle.journal
    tables = {key: file_of(source, folder) for key, source in (
        ("graph.source", config.graph.source), ("graph.vertices", config.graph.vertices),
        ("oracle.source", config.oracle.source)) if source is not None}
    for key, path in (("oracle.waiting", waiting), ("oracle.journal", journal)):
        for name, table in tables.items():
            if _same(path, table):
                raise InvalidInput(key, f"is the file of {name}", "give it another name")
        check_unpublished(key, path)
        check_unpublished(key, path.resolve())
    inner, outer = waiting.resolve(), journal.resolve()
    if inner == outer or outer in inner.parents:
        raise InvalidInput("oracle.waiting", "lies in the journal, which the run destroys at the end",
                           "choose another folder")
    if not waiting.parent.is_dir():
        raise InvalidInput("oracle.waiting", f"the folder {waiting.parent} does not exist", "make the folder first")
    if not os.access(waiting.parent, os.W_OK | os.X_OK):
        raise InvalidInput("oracle.waiting", f"the folder {waiting.parent} cannot be written to")
    if os.path.lexists(journal) and not journal.is_dir():
        raise InvalidInput("oracle.journal", f"{journal} exists, but is not a folder", "choose another name")
    marked(config, waiting)


def _same(one: Path, other: Path) -> bool:
    """Whether two paths lead to the same file, even through symbolic or hard links."""
    if one.resolve() == other.resolve():
        return True
    return one.exists() and other.exists() and os.path.samefile(one, other)


def _rows(path: Path, most: int | None = None) -> list[list[str]]:
    """The rows of a CSV file, at most `most`; empty where the file cannot be read as CSV."""
    found: list[list[str]] = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for row in csv.reader(file):
                if row:
                    found.append(row)
                if most is not None and len(found) >= most:
                    break
    except (OSError, ValueError, csv.Error):
        return []
    return found


_NO_ID, _STRANGE, _NO_STATUS = "has no id", "nobody has this id", "the answer must be true, false, yes, no, 1 or 0"
_FILES = (".csv", ".parquet", ".arrow", ".feather")
_AHEAD = 4096
_NONE = int(np.iinfo(np.int64).min)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class HeldNetwork:
    """The tables of contacts and answers, which are opened and whose rows are not read yet.

    Args:
        config: tables of the campaign file.
        contacts: table of contacts, with two people in each line.
        answers: existing tables of answers, with one person in each line: the table of the campaign file, and the list
            of people to examine with the answers that were filled in. Each table comes with a suffix that names the
            table in the keys of `rejected`.
        vertices: public ids of all people; or the number n of people, if the ids are 0 to n - 1.
        rejected: mapping from a row of the tables of answers to the reason why the row is unusable. The mapping is
            complete after the answers were read once, and is for the operator alone.
    """

    config: SearchConfig
    contacts: TableSource
    answers: tuple[tuple[str, TableSource], ...]
    vertices: Any
    rejected: dict[str, str] = field(default_factory=dict)

    @classmethod
    def open(cls, config: SearchConfig, folder: Path) -> HeldNetwork:
        """Open the tables of a campaign, and check their columns.

        Raises:
            InvalidInput: a file or a column is missing; the public list has another number of ids than `people`, or
                lacks a seed; or the run would replace a file that this search did not write. The message names the key.
        """
        check_places(config, folder)
        graph, oracle = config.graph, config.oracle
        contacts = _opened("graph.source", graph.source, folder, (graph.first, graph.second) if graph.weight is None
                           else (graph.first, graph.second, graph.weight))
        columns, waiting = (oracle.id, oracle.targeted), waiting_path(config, folder)
        answers: list[tuple[str, TableSource]] = []
        if not _not_yet(file_of(oracle.source, folder)):
            answers.append(("", _opened("oracle.source", oracle.source, folder, columns)))
        if waiting.exists():
            answers.append((f" of {waiting.name}", _opened("oracle.waiting", str(waiting), folder, columns)))
        return cls(config=config, contacts=contacts, answers=tuple(answers), vertices=_vertices(config, folder))

    def read(self) -> Investigation:
        """The graph of contacts, the known members at which the search starts, and the answers. A known member without
        an answer counts as a member. The answers are an array where everybody has an answer, and `AnswersSoFar` where
        answers are missing.

        Raises:
            InvalidInput: a line of contacts names a person who is not on the list, or lacks a person.
            OracleInconsistent: the tables hold two different answers for the same person.
        """
        graph = self.graph()
        known = self.statuses(graph)
        seeds = graph.indices_of(list(self.config.search.seeds))
        known[seeds] = np.where(known[seeds] < 0, 1, known[seeds])  # the file says that they are confirmed
        answered, names = np.flatnonzero(known >= 0), graph.ids_of(seeds)
        if len(answered) == graph.people:
            return Investigation(graph, names, known == 1)
        found = dict(zip(graph.ids_of(answered), (known[answered] == 1).tolist(), strict=True))
        return Investigation(graph, names, AnswersSoFar(found), ahead=_AHEAD)

    def graph(self) -> Graph:
        """The graph of contacts.

        Raises:
            InvalidInput: a line of contacts names a person who is not on the list, or lacks a person.
        """
        table = self.config.graph
        try:
            return Graph.from_table(self.contacts, table.first, table.second, weight=table.weight,
                                    at_least=table.at_least, vertices=self.vertices,
                                    id="text" if self.config.texts else "integer")
        except InvalidInput as error:
            raise InvalidInput("graph.source", f"{error.field}: {error.problem}", error.limit) from None

    def statuses(self, graph: Graph) -> NDArray[np.int8]:
        """The answers of the tables about the n people, shape (n,): 1 for a member, 0 for a person who is no member, -1
        where no usable answer exists.

        Args:
            graph: network of contacts, with the ids of all people.

        Raises:
            OracleInconsistent: the tables hold two different answers for the same person.
        """
        known, clashing = self.answered(graph)
        if len(clashing):
            raise OracleInconsistent
        return known

    def answered(self, graph: Graph) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
        """The answers in the form of `statuses`, shape (n,), and the positions in the graph of all people with two
        different answers, in ascending order.

        An unreadable answer counts as missing.

        Args:
            graph: network of contacts, with the ids of all people.
        """
        self.rejected.clear()
        known, oracle, clashing = np.full(graph.people, -1, np.int8), self.config.oracle, list[NDArray[np.int64]]()
        places_of = lookup(graph.people, graph.ids)
        for name, table in self.answers:
            before = 0
            for batch in table.batches([oracle.id, oracle.targeted]):
                places = places_of(strings(oracle.id, batch.column(0)))
                said, unanswered = spelled(oracle.targeted, batch.column(1))
                for row in np.flatnonzero((places < 0) | (np.isnan(said) & ~unanswered)).tolist():
                    absent = not batch.column(0)[row].is_valid
                    self.rejected[f"row {before + row + 1}{name}"] = (
                        _NO_ID if absent else _STRANGE if places[row] < 0 else _NO_STATUS)
                kept = (places >= 0) & ~np.isnan(said)
                where, what = places[kept], said[kept].astype(np.int8)
                changed = (known[where] >= 0) & (known[where] != what)
                known[where] = what
                clashing.append(where[changed | (known[where] != what)])
                before += batch.num_rows
        return known, np.unique(np.concatenate([np.zeros(0, np.int64), *clashing]))

    @property
    def rows(self) -> int:
        """The number of lines in all tables of answers together, whether the lines are usable or not."""
        return sum(batch.num_rows for _, table in self.answers for batch in table.batches([self.config.oracle.id]))


def _not_yet(path: Path) -> bool:
    """Whether the table of answers does not exist yet: its path has the ending of a table, in an existing folder, and
    no file is there.
    """
    return path.suffix.lower() in _FILES and path.parent.is_dir() and not os.path.lexists(path)


def _opened(key: str, source: str, folder: Path, columns: Sequence[str]) -> TableSource:
    """Open a table, and check that it has these columns."""
    try:
        table = open_table(source, folder=folder)
        next(table.batches(columns, 1), None)
    except InvalidInput as error:
        where = key if error.field == "source" else f"{key}: {error.field}"
        raise InvalidInput(where, error.problem, error.limit) from None
    return table


def _vertices(config: SearchConfig, folder: Path) -> Any:
    """The ids of all people, or their number where no file lists them; public, so they may be read at any time."""
    graph = config.graph
    if graph.vertices is None:
        return graph.people
    table = _opened("graph.vertices", graph.vertices, folder, (graph.id,))
    batches = [batch.column(0) for batch in table.batches([graph.id])]
    column = pa.chunked_array(batches) if batches else pa.chunked_array([], pa.large_string())
    if len(column) != graph.people:
        raise InvalidInput("graph.people", f"is {graph.people:,}",
                           f"must be {len(column):,}, the number of ids in the list")
    texts = config.texts
    try:
        names = strings(graph.id, column) if texts else integers(graph.id, column, _NONE)
        if not texts and bool((names == _NONE).any()):
            raise InvalidInput("vertices", "an id is not a whole number",
                               "the seeds' ids are whole numbers, so all ids must be whole numbers")
        as_ids("vertices", names, kind="text" if texts else "integer")
    except InvalidInput as error:
        raise InvalidInput("graph.vertices", error.problem, error.limit) from None
    seeds = pc.is_in(strings("seeds", pa.array(list(config.search.seeds))), value_set=strings("ids", pa.array(names)))
    if not pc.all(seeds).as_py():
        raise InvalidInput("search.seeds", "has a person who is not on the list of ids")
    return names
