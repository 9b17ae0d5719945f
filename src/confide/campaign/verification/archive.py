"""A reader for a stranger's pack as one .zip, in the form in which the service offers it. Entries are read into memory
one by one, and never unpacked to disk.

The list of entries in an archive may differ from its contents, and some programs read the list while other programs
read the contents. The entries must fill the archive without gaps, each as the list describes it, with nothing before,
between or after them. The standard library's reader looks at the list alone, so this module has a reader of its own.
Sizes are counted while data are decompressed, whatever the archive states.
"""

from __future__ import annotations

import os
import stat
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from confide.contract.errors import InvalidInput
from confide.contract.words import cause

__all__ = ["members"]

_LOCAL = struct.Struct("<4s5H3L2H")  # before each entry
_LISTED = struct.Struct("<4s6H3L5H2L")  # of each entry in the list
_END = struct.Struct("<4s4H2LH")  # behind the list
_LOCAL_MARK, _LISTED_MARK, _END_MARK, _LARGE_MARK = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"PK\x06\x07"
_STORED, _DEFLATED = 0, 8
_NEEDED = (10, 20)  # the version that an entry takes
_SYSTEMS = (0, 3)  # what made it
_UNICODE = 1 << 11  # the only flag that a plain entry may have
_LONGEST_ENTRY = 1024  # bytes, of one entry in the list
_BLOCK = 1 << 16
_FOLDER = 0x10  # the attribute of a folder, of the system that began with archives


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """An entry of the archive's list.

    Args:
        name: the path of the entry; a folder's path ends with a slash.
        header: the fields that the entry's local header has to repeat.
        method: the method of compression.
        checksum: the checksum of its contents.
        packed: number of its compressed bytes in the archive.
        size: number of bytes of its contents.
        mode: the Unix mode of the file; 0 where the archive does not state it, and -1 where the attributes are not the
            attributes of a file.
        start: the position of its local header.
    """

    name: str
    header: tuple[int, ...]
    method: int
    checksum: int
    packed: int
    size: int
    mode: int
    start: int


class _Odd(Exception):
    """The error for an archive that is not plain; the message names the difference."""


def members(
    place: Path, *, most: int, largest: int, room: Callable[[str], int], refused: Callable[..., InvalidInput]
) -> tuple[dict[str, bytes], dict[str, str]]:
    """The files in a .zip archive, read into memory.

    Args:
        place: the path of the archive.
        most: largest number of files and folders in the archive.
        largest: largest number of bytes of all files together, after decompression.
        room: a function from the path of a file in the archive to the largest number of bytes of this file. For a
            result below 0, the file is not read.
        refused: a function that makes the error from a description of the problem, and perhaps a description of the
            limit.

    Returns:
        Mapping from path to bytes for the files that were read, and mapping from path to a description for everything
        in the archive that is no regular file.

    Raises:
        InvalidInput: the file is no .zip archive, the entries do not fill the archive without gaps, or there are too
            many or too large files.
    """
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError as error:
        raise refused(f"cannot be read: {cause(error)}") from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise refused("is neither a folder nor a .zip")
        try:
            start, listed = _listed(file, most, refused)
            return _members(file, list(_entries(listed)), start, largest, room, refused)
        except _Odd as odd:
            raise refused(f"is not a plain .zip of a pack: {odd}", "unpack it, and name the folder") from None
        except (zlib.error, struct.error, OSError):
            raise refused("is not a complete .zip of a pack") from None


def _listed(file: BinaryIO, most: int, refused: Callable[..., InvalidInput]) -> tuple[int, bytes]:
    """The position of the list of entries, and its bytes; a list that is too long is refused."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END.size - 20))
    tail = file.read()
    if len(tail) < _END.size or tail[-_END.size :][:4] != _END_MARK or tail.startswith(_LARGE_MARK):
        raise refused("is neither a folder nor a .zip of a pack",
                      "name the folder that holds the pack, or the pack.zip that the service hands out")
    _, disk, first, here, count, length, start, comment = _END.unpack(tail[-_END.size :])
    if comment:
        raise refused("is not a .zip of a pack", "it has a comment, and no pack of confide has one")
    if max(here, count) > most or length > most * _LONGEST_ENTRY:
        raise refused("holds too many files", f"a pack holds at most {most:,}")
    if (disk, first, here) != (0, 0, count):
        raise _Odd("it is one part of several")
    if start + length + _END.size != size:
        raise _Odd("its list of files does not reach from the last file to the end of the archive")
    file.seek(start)
    listed = file.read(length)
    if len(list(_entries(listed))) != count:
        raise _Odd("it lists another number of files than it states")
    return start, listed


def _entries(listed: bytes) -> Iterator[_Entry]:
    place = 0
    while place < len(listed):
        if len(listed) - place < _LISTED.size:
            raise _Odd("its list of files is cut off")
        (mark, made, needed, flags, method, time, day, checksum, packed, size, name_size, extra, comment, disk, inner,
         outer, start) = _LISTED.unpack_from(listed, place)
        place += _LISTED.size
        name = listed[place : place + name_size]
        place += name_size
        if mark != _LISTED_MARK or len(name) < name_size:
            raise _Odd("its list of files is cut off")
        if extra or comment or disk or flags & ~_UNICODE or inner > 1 or needed not in _NEEDED or (
            made >> 8 not in _SYSTEMS
        ):
            raise _Odd("one of its files has more than a name and contents")
        if method not in (_STORED, _DEFLATED):
            raise _Odd("one of its files is packed in an unknown way")
        yield _Entry(name=_name(name, flags), method=method, checksum=checksum, packed=packed, size=size, start=start,
                     header=(needed, flags, method, time, day, checksum, packed, size, name_size),
                     mode=outer >> 16 if not outer & 0xFFFF & ~_FOLDER else -1)


def _name(name: bytes, flags: int) -> str:
    try:
        text = name.decode("utf-8" if flags & _UNICODE else "ascii")
    except UnicodeDecodeError:
        raise _Odd("the name of one of its files is in an unknown encoding") from None
    if not text or not text.isprintable() or "\\" in text:
        raise _Odd("one of its files has no plain name")
    return text


def _members(
    file: BinaryIO, entries: list[_Entry], end: int, largest: int, room: Callable[[str], int],
    refused: Callable[..., InvalidInput],
) -> tuple[dict[str, bytes], dict[str, str]]:
    files: dict[str, bytes] = {}
    strange: dict[str, str] = {}
    size = place = 0
    names = [entry.name.removesuffix("/") for entry in entries]
    if len(set(names)) < len(names):
        raise refused("holds two files with the same name")
    for name, entry in zip(names, entries, strict=True):
        if entry.start != place:
            raise _Odd(f"there are other bytes before {entry.name}")
        _check_local(file, entry)
        own = _wanted(entry, name, room, strange)
        data = _read(file, entry, min(own, largest - size) if own >= 0 else -1, refused)
        place += _LOCAL.size + len(entry.name.encode()) + entry.packed
        if own >= 0:
            files[name] = data
            size += len(data)
    if place != end:
        raise _Odd("there are other bytes before its list of files")
    return files, strange


def _wanted(entry: _Entry, name: str, room: Callable[[str], int], strange: dict[str, str]) -> int:
    """Largest number of bytes of an entry; below 0 for an entry that is not read, and whose description is noted if it
    is no file.
    """
    if entry.mode < 0 or stat.S_IFMT(entry.mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        strange[name] = "is a link" if stat.S_ISLNK(max(0, entry.mode)) else "is not a file"
    elif entry.name.endswith("/"):
        if entry.size or entry.packed:
            raise _Odd(f"the folder {name} has contents")
        if name != "columns":
            strange[name] = "is a folder"
    elif stat.S_ISDIR(entry.mode):
        strange[name] = "is not a file"
    else:
        return room(name)
    return -1


def _check_local(file: BinaryIO, entry: _Entry) -> None:
    """Check that the local header of an entry repeats the list."""
    file.seek(entry.start)
    mark, *header, extra = _LOCAL.unpack(file.read(_LOCAL.size))
    name = file.read(header[-1])
    if mark != _LOCAL_MARK or tuple(header) != entry.header or extra or name != entry.name.encode():
        raise _Odd(f"{entry.name} is another file than the list says")


def _read(file: BinaryIO, entry: _Entry, limit: int, refused: Callable[..., InvalidInput]) -> bytes:
    """The contents of an entry, counted while they are decompressed; empty for an entry that is not wanted."""
    if limit < 0:
        return b""
    unpack = zlib.decompressobj(-zlib.MAX_WBITS) if entry.method == _DEFLATED else None
    data, left = bytearray(), entry.packed
    while left:
        block = file.read(min(_BLOCK, left))
        if not block or (unpack is not None and unpack.eof):
            raise _Odd(f"there are other bytes after {entry.name}, or it is cut off")
        left -= len(block)
        for piece in [block] if unpack is None else _unpacked(unpack, block):
            data += piece
            if len(data) > limit:
                raise refused(f"{entry.name} is too large")
    if unpack is not None:
        data += unpack.flush()
        if unpack.unused_data:
            raise _Odd(f"there are other bytes after {entry.name}")
    if len(data) != entry.size or zlib.crc32(data) != entry.checksum or (unpack is not None and not unpack.eof):
        raise refused("is not a complete .zip of a pack")
    return bytes(data)


def _unpacked(unpack: Any, block: bytes) -> Iterator[bytes]:
    """The decompressed data of a block, in pieces of limited size."""
    while block and not unpack.eof:
        yield unpack.decompress(block, _BLOCK)
        block = unpack.unconsumed_tail
