"""The pack of a settled campaign: its public files, with a signed statement of what they are.

`campaign.json` names the campaign by its content and every other file by its SHA-256, and is signed with the operator's
key. All files of a pack are public: the folder that holds it may be published as it is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confide.campaign.file import CampaignFile
from confide.campaign.folder import NOTE, REPORT, as_csv, as_parquet, check_empty, check_place, replace, tidy
from confide.campaign.report import page, pictures, placed
from confide.contract.encoding import canonical, digest
from confide.contract.errors import InvalidInput
from confide.contract.kinds import CampaignPlan, is_rows
from confide.contract.outcome import FORMAT, Outcome, PublicOutcome, check_release
from confide.contract.presentation import Section

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["CAMPAIGN", "EVENTS", "MANIFEST", "NOTE", "PICTURES", "REPORT", "picture_data", "public_files", "report",
           "row_files", "sections", "signed_digest", "statement", "table_files", "write_pack"]

CAMPAIGN = "campaign.toml"
EVENTS = "events.json"
MANIFEST = "manifest.json"
PICTURES = "pictures.json"

_NO_TIME = 315_619_200  # 1980-01-02: an archive of any format can hold it


def public_files(file: CampaignFile, plan: CampaignPlan, outcome: Outcome) -> dict[str, bytes]:
    """What a pack holds of a campaign and its outcome, path -> bytes: all but the events and the signed statement.

    Raises:
        Refused: the outcome was made with an audit's noise.
    """
    check_release(outcome)
    seen = outcome.published()  # a kind of one's own might publish what people got
    manifest, columns = outcome.public()
    found, shown = file.kind.tables(plan, seen), sections(file, plan, seen)
    text = report(file, shown)
    return {MANIFEST: canonical(manifest), CAMPAIGN: file.text.encode(),
            **{f"columns/{name}.arrow": data for name, data in columns.items()},
            **{path: text.encode() for path, text in table_files(found).items()}, **row_files(found),
            PICTURES: picture_data(shown, text), REPORT: text.encode()}


def table_files(found: Mapping[str, pa.Table]) -> dict[str, str]:
    """Those tables of a result that people read, path -> CSV."""
    return {f"{name}.csv": as_csv(table) for name, table in found.items() if not is_rows(table)}


def row_files(found: Mapping[str, pa.Table]) -> dict[str, bytes]:
    """Its long tables, which are for programs, path -> Parquet."""
    return {f"{name}.parquet": as_parquet(table) for name, table in found.items() if is_rows(table)}


def sections(file: CampaignFile, plan: CampaignPlan, outcome: PublicOutcome) -> list[Section]:
    """What the page of a result shows; it follows from the public part of an outcome."""
    return [*file.kind.result(plan, outcome), *plan.sections(), *plan.offer()]


def picture_data(shown: Sequence[Section], text: str) -> bytes:
    """The data of all pictures of a page, in order: Vega-Lite specifications, words, and whether each was drawn.

    Args:
        shown: what the page shows.
        text: the page.
    """
    return canonical([{"alt": each.alt, "drawn": there.state, "vega_lite": each.spec}
                      for each, there in zip(pictures(shown), placed(text), strict=True)])


def report(file: CampaignFile, shown: Sequence[Section], *, draw: bool = True) -> str:
    """The page of the result; without its pictures where none is to be drawn."""
    lead = "Settled with secure noise. Everything on this page is public."
    return page(file.title, lead, shown, drawn="checked" if draw else "none")


def statement(kind: str, title: str, content: str, files: Mapping[str, bytes]) -> dict[str, Any]:
    """What the operator signs."""
    return {"format": FORMAT, "kind": kind, "title": title, "content": content, "manifest": digest(files[MANIFEST]),
            "files": {path: digest(data) for path, data in sorted(files.items())}}


def signed_digest(files: Mapping[str, bytes]) -> str:
    """SHA-256 of what was signed, as `confide verify` shows it: everybody should have been given the same.

    Args:
        files: of the pack, path -> bytes.
    """
    note = json.loads(files[NOTE])
    return digest(canonical({name: value for name, value in note.items() if name != "signature"}))


def write_pack(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write a pack into its folder, in one step; nothing, where it lies there already.

    Raises:
        InvalidInput: the folder holds something else, or this pack altered.
    """
    check_place(folder)
    if (folder / NOTE).exists():
        _compare(folder, files)
        tidy(folder)
        return

    def write(draft: Path) -> None:
        for path, data in files.items():
            place = draft / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
            os.utime(place, (_NO_TIME, _NO_TIME))  # copies keep it, and when a run ended may tell of records

    def replaceable() -> list[Path]:
        check_empty(folder)
        return []

    try:
        check_empty(folder)
        replace(folder, write, replaceable, private=False)
    except (InvalidInput, OSError):
        if not (folder / NOTE).exists():
            raise
        _compare(folder, files)  # another process was faster


def _compare(folder: Path, files: Mapping[str, bytes]) -> None:
    for path, data in files.items():
        if not (folder / path).is_file() or (folder / path).read_bytes() != data:
            raise InvalidInput("out", f"{folder / path} is not what was settled",
                               "move the folder away, or choose another one with --out; the store has the outcome")
    more = sorted({path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()} - set(files))
    if more:
        raise InvalidInput("out", f"{folder / more[0]} is not of the pack", "move it away: all here is public")
