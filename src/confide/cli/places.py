"""The list of the files that a run writes, with the audience of each file. The list does not depend on the records."""

from __future__ import annotations

from pathlib import Path

from confide.campaign.pack import EVENTS, NOTE, OPERATOR, PICTURES, REJECTED, REPORT
from confide.contract.presentation import Section, Table

__all__ = ["places", "where"]

_HOLDS = {
    REPORT: ("this result as a page", True),
    PICTURES: ("the data of the page's pictures", True),
    "manifest.json": ("parameters, billboard, guarantees; the arrays are in columns/", True),
    NOTE: ("the signed list of these files", True),
    EVENTS: ("the operator's actions, as a hash chain", True),
    "campaign.toml": ("the campaign file", True),
    "shares": ("each participant's share", False),
    f"{OPERATOR}/{REJECTED}": ("rejected records, and the reasons", False),
}


def _found(folder: Path, shares: bool) -> dict[str, tuple[str, bool]]:
    tables = {path.name: ("the result as a table, in natural units", True) for path in sorted(folder.glob("*.csv"))}
    tables |= {path.name: ("the rows of the result, to be read by programs",
                           True) for path in sorted(folder.glob("*.parquet"))}
    held = {name: entry for name, entry in _HOLDS.items() if (folder / name).exists() and (shares or name != "shares")}
    return {REPORT: _HOLDS[REPORT], **tables, **held}


def places(folder: Path, *, shares: bool) -> dict[str, str]:
    """Mapping from name to path, for the files in the folder of an outcome. The argument `shares` states whether
    participants have shares.
    """
    return {name: str(folder / name) for name in _found(folder, shares)}


def where(folder: Path, *, study: bool, shares: bool) -> Section:
    """A section with the list of the files in the folder of an outcome, and the audience of each file."""
    rows = tuple((name, holds, "public" if public and not study else "the operator alone")
                 for name, (holds, public) in _found(folder, shares).items())
    table = Table(columns=("file", "list of contents", "for"), rows=rows)
    return Section(title="The files of the outcome", study=study, blocks=(table,))
