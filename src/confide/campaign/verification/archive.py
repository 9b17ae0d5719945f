"""A stranger's pack as one .zip, as the service hands it out: read into memory, member by member, never unpacked.

Sizes are counted as bytes come out, whatever the archive says of them, and its list of members is read only where it is
no longer than a pack's.
"""

from __future__ import annotations

import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from confide.contract.errors import InvalidInput
from confide.contract.words import cause

__all__ = ["members"]

_END = struct.Struct("<4s4H2LH")  # the record at the end of an archive: where its list is, and how long
_LARGE = b"PK\x06\x07"  # stands before it in an archive of the large format, whose list could have any length
_LONGEST_ENTRY = 1024  # bytes, of one member in the list
_BLOCK = 1 << 16
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)
"""What a broken, locked or unknown archive raises."""


def members(
    place: Path, *, most: int, largest: int, room: Callable[[str], int], refused: Callable[..., InvalidInput]
) -> tuple[dict[str, bytes], dict[str, str]]:
    """What an archive holds.

    Args:
        place: the file.
        most: members at most.
        largest: bytes of all members together at most.
        room: path -> bytes that a member may have by itself; below 0, it is not read.
        refused: makes the error of a problem.

    Returns:
        path -> bytes of the files that were read, and path -> what it is of everything that is no file.

    Raises:
        InvalidInput: no archive, too many members, or too large ones.
    """
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError as error:
        raise refused(f"cannot be read: {cause(error)}") from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise refused("is no folder and no .zip")
        _check_list(file, most, refused)
        try:
            with zipfile.ZipFile(file) as archive:
                return _members(archive, largest, room, refused)
        except InvalidInput:
            raise
        except (*_UNREADABLE, OSError):
            raise refused("is no whole .zip of a pack") from None


def _check_list(file: BinaryIO, most: int, refused: Callable[..., InvalidInput]) -> None:
    """Whether the list of members is short enough to be read."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END.size - 20))
    tail = file.read()
    if len(tail) < _END.size or tail[-_END.size :][:4] != b"PK\x05\x06" or tail.startswith(_LARGE):
        raise refused("is no folder and no .zip of a pack", "name the folder that holds the pack, or the pack.zip that "
                      "the service hands out")
    _, _, _, _, count, length, _, comment = _END.unpack(tail[-_END.size :])
    if comment:
        raise refused("is no .zip of a pack", "it has a comment, which none of ours has")
    if count > most or length > most * _LONGEST_ENTRY:
        raise refused("holds too many files", f"a pack holds at most {most:,}")


def _members(
    archive: zipfile.ZipFile, largest: int, room: Callable[[str], int], refused: Callable[..., InvalidInput]
) -> tuple[dict[str, bytes], dict[str, str]]:
    files: dict[str, bytes] = {}
    strange: dict[str, str] = {}
    size = 0
    entries = archive.infolist()
    names = [entry.filename.removesuffix("/") for entry in entries]
    if len(set(names)) < len(names):
        raise refused("holds two files of one name")
    for name, entry in zip(names, entries, strict=True):
        mode = entry.external_attr >> 16
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
            strange[name] = "is a link" if stat.S_ISLNK(mode) else "is no file"
        elif entry.is_dir():
            if name != "columns":
                strange[name] = "is a folder"
        else:
            own = room(name)
            if own >= 0:
                files[name] = _read(archive, entry, min(own, largest - size), refused)
                size += len(files[name])
    return files, strange


def _read(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, limit: int, refused: Callable[..., InvalidInput]
) -> bytes:
    with archive.open(entry) as inner:
        data = bytearray()
        while block := inner.read(_BLOCK):
            data += block
            if len(data) > limit:
                raise refused(f"{entry.filename} is too large")
    return bytes(data)
