"""Where a search writes: nothing that is not its own is ever replaced, removed, or published.

A run writes two things beside the campaign file: the list of whom to examine, and the folder of its noise. The list
has a column whose name is a mark of the campaign. A file without the mark is somebody else's, whatever it is called.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
from pathlib import Path

from confide.campaign.kinds.searching.config import SearchConfig
from confide.contract.errors import InvalidInput
from confide.contract.files import check_unpublished

__all__ = ["LISTED", "check_places", "file_of", "list_mark", "marked", "read_list", "waiting_path"]

LISTED = "search-"
"""What the name of the list's own column begins with."""

_DIGITS = 16  # hexadecimal, of either half of a mark


def waiting_path(config: SearchConfig, folder: Path) -> Path:
    """The list of whom to examine."""
    return folder / Path(config.oracle.waiting).expanduser()


def file_of(source: str, folder: Path) -> Path:
    """Where a table would be, if its source is a file.

    Args:
        source: as the campaign file names it.
        folder: where relative paths start.
    """
    return folder / Path(source).expanduser()


def list_mark(config: SearchConfig, campaign: str = "") -> str:
    """The name of the list's own column.

    Args:
        config: the campaign file's tables.
        campaign: digest of the whole file; empty for what is known before it.
    """
    tables = json.dumps(config.model_dump(mode="json", by_alias=True), sort_keys=True).encode()
    return f"{LISTED}{hashlib.sha256(tables).hexdigest()[:_DIGITS]}-{campaign[:_DIGITS]}"


def marked(config: SearchConfig, path: Path) -> str | None:
    """The mark of a list that is there; None where there is none.

    Args:
        config: the campaign file's tables.
        path: of the list.

    Raises:
        InvalidInput: what is there is no list of this campaign.
    """
    if not os.path.lexists(path):
        return None
    header = [] if path.is_symlink() or not path.is_file() else _rows(path, 1)
    mine = [name for name in (header[0] if header else []) if name.startswith(list_mark(config))]
    if len(mine) != 1:
        raise InvalidInput(
            "oracle.waiting", f"{path} is there, and is no list that this search wrote: it is not replaced",
            "give the list a name of its own; answers that stand in another campaign's list belong in oracle.source")
    return mine[0]


def read_list(config: SearchConfig, path: Path) -> list[tuple[str, str]]:
    """(id, answer) of every line of a list that has something in its column of answers, as it stands there.

    Args:
        config: the campaign file's tables.
        path: of a list with the mark.
    """
    header, *lines = _rows(path) or [[]]
    if not {config.oracle.id, config.oracle.targeted} <= set(header):
        return []
    one, other = header.index(config.oracle.id), header.index(config.oracle.targeted)
    return [(line[one], line[other]) for line in lines if len(line) > max(one, other) and line[other].strip()]


def check_places(config: SearchConfig, folder: Path) -> None:
    """Refuse to write where something else is, before anything is charged.

    Raises:
        InvalidInput: the list or the journal is a table of the campaign, by whatever name; lies in a pack; has no
            folder that can be written to; or is something that this campaign did not write.
    """
    waiting, journal = waiting_path(config, folder), folder / config.oracle.journal
    tables = {key: file_of(source, folder) for key, source in (
        ("graph.source", config.graph.source), ("graph.vertices", config.graph.vertices),
        ("oracle.source", config.oracle.source)) if source is not None}
    for key, path in (("oracle.waiting", waiting), ("oracle.journal", journal)):
        for name, table in tables.items():
            if _same(path, table):
                raise InvalidInput(key, f"is the file of {name}", "give it one of its own")
        check_unpublished(key, path)
        check_unpublished(key, path.resolve())
    inner, outer = waiting.resolve(), journal.resolve()
    if inner == outer or outer in inner.parents:
        raise InvalidInput("oracle.waiting", "lies in the journal, which is destroyed at the end",
                           "give it a place of its own")
    if not waiting.parent.is_dir():
        raise InvalidInput("oracle.waiting", f"there is no folder {waiting.parent}", "make it first")
    if not os.access(waiting.parent, os.W_OK | os.X_OK):
        raise InvalidInput("oracle.waiting", f"the folder {waiting.parent} cannot be written to")
    if os.path.lexists(journal) and not journal.is_dir():
        raise InvalidInput("oracle.journal", f"{journal} is there, and is no folder", "choose another name")
    marked(config, waiting)


def _same(one: Path, other: Path) -> bool:
    """Whether two names are of the same file, also by links of either kind."""
    if one.resolve() == other.resolve():
        return True
    return one.exists() and other.exists() and os.path.samefile(one, other)


def _rows(path: Path, most: int | None = None) -> list[list[str]]:
    """Lines of a file with commas; none where it is something else."""
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
