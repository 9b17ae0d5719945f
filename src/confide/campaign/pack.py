"""The pack of a settled campaign: its public files, with a signed statement about them.

The statement `campaign.json` has the digest of the campaign file and the SHA-256 of every other file of the pack. The
statement is signed with the operator's key. All files of a pack are public, so their folder may be published as it is.
"""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace as replace_fields
from pathlib import Path

import pyarrow as pa

from confide.campaign.file import CampaignFile
from confide.campaign.report import page, pictures, placed
from confide.contract.digests import canonical, digest
from confide.contract.errors import InvalidInput
from confide.contract.files import MANIFEST, NOTE, make_folder, private_folder, read_json, sync, write_new
from confide.contract.kinds import CampaignPlan, is_rows
from confide.contract.outcome import FORMAT, Outcome, PublicOutcome, SimulatedOutcome, check_release
from confide.contract.presentation import Section

__all__ = ["CAMPAIGN", "EVENTS", "MANIFEST", "NOTE", "OPERATOR", "PICTURES", "REJECTED", "REPORT", "as_csv",
           "as_parquet", "check_empty", "check_place", "earlier_study", "fill", "hidden_beside", "picture_data",
           "public_files", "replace", "report", "row_files", "sections", "signed_digest", "table_files",
           "tidy", "write_pack", "write_rejected"]

CAMPAIGN = "campaign.toml"
EVENTS = "events.json"
PICTURES = "pictures.json"

_NO_TIME = 315_619_200  # 1980-01-02: an archive of any format can hold it


def public_files(file: CampaignFile, plan: CampaignPlan, outcome: Outcome) -> dict[str, bytes]:
    """Mapping from path to bytes of all files of a pack, except the list of events and the signed statement.

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
    """Mapping from path to CSV text, for the tables of a result that people read."""
    return {f"{name}.csv": as_csv(table) for name, table in found.items() if not is_rows(table)}


def row_files(found: Mapping[str, pa.Table]) -> dict[str, bytes]:
    """Mapping from path to Parquet bytes, for the long tables of a result that programs read."""
    return {f"{name}.parquet": as_parquet(table) for name, table in found.items() if is_rows(table)}


def sections(file: CampaignFile, plan: CampaignPlan, outcome: PublicOutcome) -> list[Section]:
    """The sections of a result's page, with the plan and the offer in folded sections. All sections follow from the
    public part of an outcome.
    """
    before = [replace_fields(section, folded=True) for section in (*plan.sections(), *plan.offer())]
    return [*file.kind.result(plan, outcome), *before]


def picture_data(shown: Sequence[Section], text: str) -> bytes:
    """The data of all pictures of a page, in order: for each picture its description, its Vega-Lite specification, and
    whether the page holds a drawing of it.

    Args:
        shown: the sections of the page.
        text: the HTML text of the page.
    """
    return canonical([{"alt": each.alt, "drawn": there.state, "vega_lite": each.spec}
                      for each, there in zip(pictures(shown), placed(text), strict=True)])


def report(file: CampaignFile, shown: Sequence[Section], *, draw: bool = True) -> str:
    """The HTML page of the result. If `draw` is False, the page has no pictures."""
    lead = "Settled with secure noise. Everything on this page is public."
    return page(file.title, lead, shown, drawn="checked" if draw else "none")


def signed_digest(files: Mapping[str, bytes]) -> str:
    """The SHA-256 digest of the signed statement, as `confide verify` shows it. Everybody should see the same digest.

    Args:
        files: the files of the pack, as a mapping from path to bytes.
    """
    note = json.loads(files[NOTE])
    return digest(canonical({name: value for name, value in note.items() if name != "signature"}))


def write_pack(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write a pack into its folder in one step. Where the folder already holds the same pack, nothing is written.

    Raises:
        InvalidInput: the folder holds something else, or an altered copy of this pack.
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
            raise InvalidInput("out", f"{folder / path} differs from the settled file",
                               "move the folder away, or choose another one with --out; the store has the outcome")
    more = sorted({path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()} - set(files))
    if more:
        raise InvalidInput("out", f"{folder / more[0]} does not belong to the pack",
                           "move it away: everything in this folder is public")


OPERATOR = "operator"
REJECTED = "rejected.csv"
REPORT = "report.html"

_TABLES = (".csv", ".parquet")
_STUDY_FILES = {MANIFEST, "columns", "shares", OPERATOR, REPORT}


def check_place(folder: Path) -> None:
    """Refuse a path that cannot become the folder of an outcome."""
    there = folder.absolute()
    if folder.name == "..":
        raise InvalidInput("out", f"{folder} is not the name of a new folder", "choose another folder with --out")
    if there.is_symlink() or (there.exists() and not there.is_dir()):
        raise InvalidInput("out", f"{folder} is not a folder", "choose another folder with --out")
    if there.exists() and there.samefile(Path.cwd()):
        raise InvalidInput("out", f"{folder} is the working directory", "choose another folder with --out")
    while not there.exists():
        there = there.parent
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise InvalidInput("out", f"{folder} cannot be written", "choose another folder with --out")


def check_empty(folder: Path) -> None:
    """Refuse a folder that is not empty."""
    if _names(folder):
        raise InvalidInput("out", f"{folder} is not empty", "choose another folder with --out")


def earlier_study(folder: Path, tables: Collection[str] | None = None) -> list[Path]:
    """The files of an earlier study in a folder, which a new study may replace.

    Args:
        folder: the folder into which the study is written.
        tables: names of the tables that the new study writes; None if the names are not known yet, so that any table
            may be replaced.

    Raises:
        InvalidInput: the folder holds anything else.
    """
    if (folder / NOTE).exists():
        raise InvalidInput("out", f"{folder} holds a settled campaign", "choose another folder for a study")
    found = _names(folder)
    if not found:
        return []
    try:
        manifest, _ = read_json("out", folder / MANIFEST)
    except InvalidInput:
        manifest = None
    study = isinstance(manifest, dict) and manifest.get("format") == FORMAT and manifest.get("release_safe") is False
    others = [name for name in found if name not in _STUDY_FILES
              and not (name.endswith(_TABLES) and (tables is None or name.rpartition(".")[0] in tables))]
    if not study or others:
        raise InvalidInput("out", f"{folder} holds files that do not belong to a study",
                           "choose another folder with --out")
    return [folder / name for name in found]


def fill(
    folder: Path, outcome: SimulatedOutcome, tables: Mapping[str, pa.Table], rejected: Mapping[str, str]
) -> None:
    """Write a study's outcome, its tables and the list of rejected records, readable by their owner alone."""
    outcome.save(folder)
    for name, table in tables.items():
        if is_rows(table):
            write_new("out", folder / f"{name}.parquet", as_parquet(table), private=True)
        else:
            write_new("out", folder / f"{name}.csv", as_csv(table), private=True)
    write_rejected(private_folder(folder / OPERATOR) / REJECTED, rejected)


def write_rejected(path: Path, rejected: Mapping[str, str]) -> Path:
    """Write the list of rejected records with the reasons. The list follows from private records, so it is for the
    operator alone, and is never published.

    Raises:
        InvalidInput: the file exists, or cannot be written.
    """
    write_new("write", path, _lines([("id", "reason"), *rejected.items()]), private=True)
    return path


def as_csv(table: pa.Table) -> str:
    """A small table as CSV text. A reader of the text gets exactly the same numbers."""
    return _lines([tuple(table.column_names), *(tuple(row.values()) for row in table.to_pylist())])


def as_parquet(table: pa.Table) -> bytes:
    """A long table as the bytes of a Parquet file. With one version of pyarrow, equal values give equal bytes."""
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table.combine_chunks().replace_schema_metadata(None), sink, compression="zstd")
    return bytes(sink.getvalue().to_pybytes())


def replace(
    folder: Path, write: Callable[[Path], None], replaceable: Callable[[], Sequence[Path]], *, private: bool
) -> None:
    """Write a new directory beside a folder, and then move it into the folder's place. Even after a loss of power, the
    directory is there as a whole or not at all.

    Args:
        folder: the path that the new directory gets.
        write: a function that fills the new directory.
        replaceable: a function that returns the files of the folder that may be removed, called just before the move.
            Any other file in the folder stops the move.
        private: whether only the owner may read the directory.
    """
    make_folder(folder.parent)
    with hidden_beside(folder) as hidden:
        draft = hidden / folder.name
        draft.mkdir(mode=0o700 if private else 0o777)
        write(draft)
        for place, _, names in os.walk(draft):
            for path in (*(Path(place, name) for name in names), Path(place)):
                sync(path)
        for path in replaceable():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        os.replace(draft, folder)
        sync(folder.parent)


@contextmanager
def hidden_beside(folder: Path) -> Iterator[Path]:
    """A hidden directory beside a folder, readable by its owner alone. The directory is locked until the end of the
    block, and then removed.

    Args:
        folder: the folder. The hidden directory may hold only an entry with the name of the folder, by which `tidy`
            recognises the directory.
    """
    tidy(folder)
    with ExitStack() as stack:
        with _locked(folder.parent):  # nobody takes one that is just being made for one that was left
            hidden = Path(tempfile.mkdtemp(prefix=_prefix(folder), dir=folder.parent))
            stack.callback(shutil.rmtree, hidden, ignore_errors=True)
            stack.enter_context(_locked(hidden))
        yield hidden


def tidy(folder: Path) -> None:
    """Remove the hidden directories that ended processes of this user have left beside a folder. A directory that a
    process has locked stays.
    """
    with suppress(OSError), _locked(folder.parent):  # if its writer has just removed one: there is a next time
        for path in folder.parent.iterdir():
            if re.fullmatch(re.escape(_prefix(folder)) + "[a-z0-9_]{8}", path.name) and _is_draft(path, folder.name):
                with _locked(path, wait=False) as left:
                    if left:
                        shutil.rmtree(path, ignore_errors=True)


def _prefix(folder: Path) -> str:
    return f".{folder.name}-draft-"


def _is_draft(path: Path, name: str) -> bool:
    """Whether a directory belongs to this user, and holds nothing but the entry that a draft holds."""
    found = path.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and set(_names(path)) <= {name}


@contextmanager
def _locked(folder: Path, *, wait: bool = True) -> Iterator[bool]:
    """A lock on a folder until the end of the block or of the process. The yielded value is whether the lock was
    obtained, since some file systems have no locks.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield _lock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    finally:
        os.close(descriptor)


def _lock(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how)
    except OSError:
        return False
    return True


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def _lines(rows: Sequence[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
