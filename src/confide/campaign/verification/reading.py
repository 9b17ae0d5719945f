"""Reading a stranger's folder once into memory. Only regular files that a pack can have are read.

No link is followed, no file is opened that could block or never end, and numbers and sizes of files are bounded. All
checks use the bytes that were read, so a later change of the folder changes nothing.

A pack must hold exactly the parts that its claimed version of confide writes: see `check_part`.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import field as made
from pathlib import Path
from typing import Any

from confide.campaign.pack import CAMPAIGN, EVENTS, MANIFEST, NOTE, PICTURES, REPORT
from confide.campaign.verification.archive import members
from confide.campaign.verification.findings import Broken
from confide.contract.digests import canonical
from confide.contract.errors import InvalidInput
from confide.contract.files import TEXT_LIMIT, parse_json
from confide.contract.words import cause

__all__ = ["Folder", "check_part", "is_column", "is_first", "is_table", "json_of", "read_folder"]

COLUMNS = "columns"
LARGEST = 1 << 30
"""Largest number of bytes of all files of a pack together."""
MOST = 4096
"""Largest number of files of a pack."""

_TEXTS = {NOTE, MANIFEST, EVENTS, CAMPAIGN}
_SHOWN = {PICTURES, REPORT}
_SHORT = {*_TEXTS, PICTURES}
_COLUMN = re.compile(rf"{COLUMNS}/[0-9a-f]{{64}}\.arrow")
_OPEN = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
_KINDS = ((stat.S_ISLNK, "is a link"), (stat.S_ISDIR, "is a folder"), (stat.S_ISFIFO, "is a pipe"),
          (stat.S_ISSOCK, "is a socket"), (stat.S_ISBLK, "is a device"), (stat.S_ISCHR, "is a device"))


@dataclass(frozen=True, kw_only=True)
class Folder:
    """The contents of a folder.

    Args:
        place: the path of the folder.
        field: the name of the argument with the path, for error messages.
        files: mapping from a path below the folder to the bytes, for all files that a pack can have.
        strange: mapping from a path below the folder to a description, for everything else in the folder.
    """

    place: Path
    field: str
    files: Mapping[str, bytes]
    strange: Mapping[str, str]

    def __getitem__(self, path: str) -> bytes:
        """The bytes of a file.

        Raises:
            InvalidInput: the file is missing, or is no file of a pack.
        """
        try:
            return self.files[path]
        except KeyError:
            raise InvalidInput(self.field, f"{path} {self.strange.get(path, 'is missing')}") from None


def is_table(path: str) -> bool:
    """Whether a table of the result may have this path."""
    return path.endswith((".csv", ".parquet")) and "/" not in path


def is_column(path: str) -> bool:
    """Whether an array of the manifest may have this path."""
    return _COLUMN.fullmatch(path) is not None


def json_of(data: bytes) -> Any:
    """The value in a JSON file of a pack.

    Raises:
        InvalidInput: the file is not canonical JSON (RFC 8785), which is the only form of JSON in packs. A file in
            which a key occurs twice is not canonical, for example.
    """
    found = parse_json(data)
    if canonical(found) != data:
        raise InvalidInput("json", "is not canonical", "must be exactly as confide wrote it")
    return found


def read_folder(place: Path, *, field: str = "pack", tables: bool = True) -> Folder:
    """Read the contents of a folder that a stranger may have made, or of a .zip of such a folder. The path of the
    folder or the .zip may itself be a link.

    Args:
        place: the path of the folder, or of the .zip.
        field: the name of the argument with the path, for error messages.
        tables: whether the tables, the page and the data of its pictures are read, too.

    Raises:
        InvalidInput: the folder does not exist or cannot be read, or has too many or too large files.
    """
    found = _Found(place, field, tables)
    if place.exists() and not place.is_dir():
        files, strange = members(place, most=MOST, largest=LARGEST, room=found.room, refused=found.refused)
        return Folder(place=place, field=field, files=files, strange={**found.strange, **strange})
    with found.reported("the folder"):
        top = os.open(place, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
        try:
            found.look(top, "")
        finally:
            os.close(top)
    return Folder(place=place, field=field, files=found.files, strange=found.strange)


@dataclass
class _Found:
    place: Path
    field: str
    tables: bool
    files: dict[str, bytes] = made(default_factory=dict)
    strange: dict[str, str] = made(default_factory=dict)
    seen: int = 0
    size: int = 0

    def look(self, folder: int, before: str) -> None:
        """Read everything in an open folder; `before` is the folder's path."""
        with os.scandir(folder) as entries:
            for entry in entries:
                self.seen += 1
                if self.seen > MOST:
                    raise self.refused("holds too many files", f"a pack holds at most {MOST:,}")
                self.take(folder, entry, f"{before}{entry.name}")

    def take(self, folder: int, entry: os.DirEntry[str], path: str) -> None:
        with self.reported(path):
            mode = entry.stat(follow_symlinks=False).st_mode
            if path == COLUMNS and stat.S_ISDIR(mode):
                before = self.seen
                inner = os.open(COLUMNS, _OPEN | os.O_DIRECTORY, dir_fd=folder)
                try:
                    self.look(inner, f"{COLUMNS}/")
                finally:
                    os.close(inner)
                if self.seen == before:
                    self.strange[path] = "holds nothing"
            elif not stat.S_ISREG(mode):
                self.strange[path] = next((word for fits, word in _KINDS if fits(mode)), "is not a file")
            elif self.wanted(path):
                self.files[path] = self.read(folder, entry.name, path)
            elif not is_table(path) and path not in _SHOWN:
                self.strange[path] = "belongs to no pack"

    def room(self, path: str) -> int:
        """Largest number of bytes of a file in an archive; below 0 where the file is not read."""
        if self.wanted(path):
            return TEXT_LIMIT if path in _SHORT else LARGEST
        if not is_table(path) and path not in _SHOWN:
            self.strange[path] = "belongs to no pack"
        return -1

    def wanted(self, path: str) -> bool:
        return path in _TEXTS or is_column(path) or (self.tables and (path in _SHOWN or is_table(path)))

    def read(self, folder: int, name: str, path: str) -> bytes:
        # What was a file a moment ago may be a pipe by now: opening must not wait for its other end.
        with os.fdopen(os.open(name, _OPEN | os.O_NONBLOCK | os.O_NOCTTY, dir_fd=folder), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise self.refused(f"{path} is not a file")
            if status.st_size > min(LARGEST - self.size, TEXT_LIMIT if path in _SHORT else LARGEST):
                raise self.refused(f"{path} is too large",
                                   f"a pack can have at most {LARGEST:,} bytes, and each text in it {TEXT_LIMIT:,}")
            data = file.read(status.st_size + 1)
            if len(data) != status.st_size:
                raise self.refused(f"{path} changes while it is read")
        self.size += len(data)
        return data

    @contextmanager
    def reported(self, path: str) -> Iterator[None]:
        """Run a block; an error of the operating system in it is raised as a fault of the given path."""
        try:
            yield
        except OSError as error:
            raise self.refused(f"{path} cannot be read: {cause(error)}") from None

    def refused(self, problem: str, limit: str = "") -> InvalidInput:
        return InvalidInput(self.field, f"{self.place}: {problem}", limit)


_FIRST = "0.1.0"
"""The only version that wrote no meter, no data of pictures and no content security policy of a page. All later
versions write the meter, the data of pictures and the policy.
"""


def is_first(version: str) -> bool:
    """Whether a version wrote packs without a meter, without data of pictures, and without a content security policy of
    the page.
    """
    return version == _FIRST


def check_part(version: str, part: str, *, held: bool) -> None:
    """Check that a pack holds a part if, and only if, the claimed version writes it.

    Args:
        version: the version of confide that the pack names as its writer.
        part: the part in words, for the message: the meter, the data of pictures, or the policy of the page.
        held: whether the pack holds the part.

    Raises:
        Broken: the pack holds a part that the claimed version never writes, or lacks a part that it always writes.
    """
    if held == is_first(version):
        raise Broken(f"{part} {'is there' if held else 'is missing'}; confide {version} "
                     f"{'never' if held else 'always'} writes it")
