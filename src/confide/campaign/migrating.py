"""The command `confide migrate`, which rewrites older campaign files with the present names of keys and values. A copy
of each old file is kept beside the rewritten file.

Every version of confide reads the former names, so no file has to be rewritten. A rewritten file has the same contents
and the same digest, so it stays the same campaign. Comments, order and layout stay as they are, letter by letter. All
other files that confide has written (packs, stores, people's own files) stay readable as they are.

The standard library's reader of TOML returns values without their positions. To find positions, `places` scans the
letters of a document that the standard reader has accepted. `places` does not detect invalid TOML, and its callers
compare the contents before and after a rewrite.
"""

from __future__ import annotations

import json
import os
import re
import stat
import tarfile
import tomllib
import zipfile
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Literal

from confide.campaign.file import CampaignFile, parse
from confide.campaign.pack import CAMPAIGN, MANIFEST, NOTE
from confide.contract.errors import ConfideError, InvalidInput
from confide.contract.file_words import FileWords
from confide.contract.files import parse_json, read_bytes, reading, replace_whole, write_new
from confide.contract.kinds import NarrowedKind
from confide.contract.words import cause

__all__ = ["NOTHING_TO_DO", "Looked", "Place", "What", "WordChange", "look", "places", "rewrite"]

_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BLANK = re.compile(r"[ \t]*")
_TEXT = re.compile(r'"""(?:[^\\]|\\.)*?"""(?:"{0,2})' r"|'''.*?'''(?:'{0,2})"
                   r'|"(?:[^"\\]|\\.)*"' r"|'[^']*'", re.DOTALL)
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_PLAIN = re.compile(r"[^,\]}#\r\n]+")  # numbers, dates, true and false


@dataclass(frozen=True)
class Place:
    """The position of a key or of a quoted text in a TOML document.

    Args:
        path: the keys that lead to the place, as they are written, without positions in lists. If the place belongs to
            a key, the path ends with this key.
        start: the position of the first character in the document, from 0.
        end: the position after the last character.
        text: the key or the text, without quotes.
        is_key: True for a key, False for a text.
    """

    path: tuple[str, ...]
    start: int
    end: int
    text: str
    is_key: bool


def places(document: str) -> Iterator[Place]:
    """The positions of all keys and quoted texts of a document, in the order of the document.

    Args:
        document: a text that `tomllib.loads` accepts.

    Example:
        >>> [(".".join(each.path), each.text) for each in places('goods = { name = "a" } # b = "c"')]
        [('goods', 'goods'), ('goods.name', 'name'), ('goods.name', 'a')]
    """
    table: tuple[str, ...] = ()
    at = _after(_SPACE, document, 0)
    while at < len(document):
        if document[at] == "[":
            deep = 2 if document.startswith("[[", at) else 1
            keys = list(_keys(document, at + deep, ()))
            yield from keys
            table, at = keys[-1].path, document.index("]", keys[-1].end) + deep
        else:
            at = yield from _pair(document, at, table)
        at = _after(_SPACE, document, at)


def _after(pattern: re.Pattern[str], document: str, at: int) -> int:
    found = pattern.match(document, at)
    return found.end() if found else at


def _keys(document: str, at: int, above: tuple[str, ...]) -> Iterator[Place]:
    """The places of the parts of a dotted key."""
    while True:
        at = _after(_BLANK, document, at)
        end = _after(_TEXT, document, at) if document[at] in "\"'" else _after(_BARE, document, at)
        text = _said(document[at:end]) if document[at] in "\"'" else document[at:end]
        above = (*above, text)
        yield Place(above, at, end, text, is_key=True)
        at = _after(_BLANK, document, end)
        if document[at] != ".":
            return
        at += 1


def _pair(document: str, at: int, table: tuple[str, ...]) -> Generator[Place, None, int]:
    """The places in a key and its value; the generator returns the position after them."""
    keys = list(_keys(document, at, table))
    yield from keys
    at = _after(_BLANK, document, document.index("=", keys[-1].end) + 1)
    return (yield from _value(document, at, keys[-1].path))


def _value(document: str, at: int, path: tuple[str, ...]) -> Generator[Place, None, int]:
    """The places in a value; the generator returns the position after it."""
    if document[at] in "\"'":
        end = _after(_TEXT, document, at)
        yield Place(path, at, end, _said(document[at:end]), is_key=False)
        return end
    if document[at] not in "[{":
        return _after(_PLAIN, document, at)
    last = "]" if document[at] == "[" else "}"
    at = _after(_SPACE, document, at + 1)
    while document[at] != last:
        at = yield from (_value if last == "]" else _pair)(document, at, path)
        at = _after(_SPACE, document, at)
        if document[at] == ",":
            at = _after(_SPACE, document, at + 1)
    return at + 1


def _said(literal: str) -> str:
    text: str = tomllib.loads(f"it = {literal}")["it"]
    return text


What = Literal["campaign", "pack", "store", "backup", "own record", "contracts", "channel"]

NOTHING_TO_DO: Mapping[What, str] = {
    "pack": "is a pack. Packs are signed, and every version reads them without a change",
    "store": "is a store. A command that opens it brings its tables up to date",
    "backup": "is a copy of an installation. `confide restore` reads it, and brings its tables up to date",
    "own record": "is a participant's own file. Every version reads it without a change",
    "contracts": "holds contracts. Every version reads them without a change",
    "channel": "is a channel file. Every version reads it without a change",
}
"""Mapping from each sort of file that is no campaign file to the reason why a migration leaves it unchanged."""

_SQLITE, _ZIP = b"SQLite format 3\0", b"PK\x03\x04"
_OWN, _CONTRACTS, _CHANNEL = {"content", "record", "share"}, {"content", "round"}, {"channel", "response"}
_MOST_COPIES = 1000


@dataclass(frozen=True, kw_only=True)
class WordChange:
    """The change of one name of a key, or of one value, in a campaign file.

    Args:
        line: the number of the line, from 1.
        place: the dotted key, such as `privacy.epsilon`, as the file writes it.
        old: the former name, which stands in the file.
        new: the present name.
    """

    line: int
    place: str
    old: str
    new: str


@dataclass(frozen=True, kw_only=True)
class Looked:
    """The sort of a file, and the changes that a migration would make in the file.

    Args:
        path: the path of the file; for a store that is given by its URL, the URL without its password.
        what: "campaign" for a campaign file; otherwise a key of `NOTHING_TO_DO`.
        changes: the changes from former to present names, in the order of the file.
        refused: the reason why a new campaign with this file would be refused; empty if the campaign would not be
            refused.
        before: the bytes of the file as it stands; empty if the file is no campaign file.
        after: the bytes of the file with the present names; empty if the file is no campaign file.
    """

    path: PurePath
    what: What
    changes: tuple[WordChange, ...] = ()
    refused: str = ""
    before: bytes = b""
    after: bytes = b""


def look(name: str) -> Looked:
    """Find out the sort of a file, and the former names in the file. Nothing is written.

    Args:
        name: a file, a folder, or the URL of a store.

    Raises:
        InvalidInput: the file is missing, unreadable, not a file of confide, or an invalid campaign file; the message
            names the file.
    """
    if "://" in name:
        return Looked(path=PurePath(re.sub(r"//.*@", "//***@", name)), what="store")
    path = Path(name)
    other = _other(path)
    if other is not None:
        return Looked(path=path, what=other)
    data = read_bytes("file", path)
    try:
        file = parse(data, path, stored=True)
    except InvalidInput as error:
        if error.field == "campaign":  # of the whole file, which is named
            raise
        raise InvalidInput(f"{path}: {error.field}", error.problem, error.ways) from None
    after, changes = _in_today(file)
    return Looked(path=path, what="campaign", changes=changes, refused=_refused(file), before=data,
                  after=after.encode())


def rewrite(found: Looked) -> Path:
    """Rewrite a campaign file with the present names of keys and values. If the path is a link, the file behind the
    link is rewritten.

    Args:
        found: the result of `look`, with changes.

    Returns:
        Path of the copy of the old file, which lies beside the rewritten file.

    Raises:
        InvalidInput: the file was changed after `look`, or its folder cannot be written to.
    """
    path = Path(found.path).resolve()
    if read_bytes("file", path) != found.before:
        raise InvalidInput("file", f"{found.path} was changed in the meantime", "run `confide migrate` again")
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        copy = _copied(path, found.before, mode)
        replace_whole(path, found.after, mode)
    except OSError as error:
        raise InvalidInput("file", f"{found.path} cannot be written: {cause(error)}") from None
    return copy


def _copied(path: Path, data: bytes, mode: int) -> Path:
    """Write a copy of a file beside it, under the first free name."""
    copy = next((each for number in range(1, _MOST_COPIES) if not os.path.lexists(
        each := path.with_name(f"{path.name}.before{'' if number == 1 else f'-{number}'}"))), None)
    if copy is None:
        raise InvalidInput("file", f"{path} has {_MOST_COPIES - 1} copies beside it",
                           "move some of these copies to another folder")
    write_new("file", copy, data, private=mode & 0o077 == 0)
    copy.chmod(mode)
    return copy


def _other(path: Path) -> What | None:
    """The sort of a file or folder that is no campaign file; None where it may be a campaign file.

    Raises:
        InvalidInput: a folder that is no pack, or JSON that confide has not written.
    """
    with reading("file", path):
        is_folder = path.is_dir()
    if is_folder:
        if any((path / name).exists() for name in (NOTE, MANIFEST)):
            return "pack"
        raise InvalidInput("file", f"{path} is a folder, and no pack", "name a campaign file")
    if path.name == CAMPAIGN and (path.parent / NOTE).exists():
        return "pack"  # its signature covers this file
    if not path.is_file():
        return None
    with reading("file", path), path.open("rb") as file:
        begins = file.read(len(_SQLITE))
    if begins == _SQLITE:
        return "store"
    with reading("file", path):
        if begins.startswith(_ZIP) and NOTE in _names(path):
            return "pack"
        if _begins_with_a_store(path):
            return "backup"
        if path.suffix == ".json" or begins.lstrip().startswith(b"{"):
            return _of_json(parse_json(read_bytes("file", path)))
    return None


def _names(path: Path) -> set[str]:
    """The names of files in an archive, without their folders."""
    try:
        with zipfile.ZipFile(path) as archive:
            return {each.rpartition("/")[2] for each in archive.namelist()}
    except zipfile.BadZipFile:
        return set()


def _begins_with_a_store(path: Path) -> bool:
    """Whether a file is an archive of `confide backup`, which begins with a copy of the store."""
    try:
        with tarfile.open(path, "r:") as archive:
            first = archive.next()
    except tarfile.TarError:
        return False
    return first is not None and first.name == "store"


def _of_json(said: Any) -> What:
    keys = set(said) if isinstance(said, dict) else set()
    if keys >= _OWN:
        return "own record"
    if keys >= _CONTRACTS:
        return "contracts"
    if keys & _CHANNEL:
        return "channel"
    raise InvalidInput("keys", "are not those of a participant's own file, of contracts, or of a channel",
                       "name a campaign file, which is TOML")


def _refused(file: CampaignFile) -> str:
    if isinstance(file.kind, NarrowedKind):
        try:
            file.kind.check_new(file.config)
        except InvalidInput as error:
            return str(error)
    return ""


def _in_today(file: CampaignFile) -> tuple[str, tuple[WordChange, ...]]:
    """The file's text with the present names of keys and values, and the changes."""
    found = [(each, new) for each in places(file.text) if (new := _today(each, file.words)) != each.text]
    text = file.text
    for place, new in reversed(found):
        text = text[: place.start] + _literal(new, file.text[place.start]) + text[place.end :]
    if found:
        said = parse(text.encode(), file.path, stored=True)
        if repr(file.document) != repr(tomllib.loads(text)) or said.digest != file.digest:
            raise ConfideError(f"{file.path} would have another meaning with the present words, because of a fault in "
                               "confide; nothing was written")
    return text, tuple(WordChange(line=file.text.count("\n", 0, place.start) + 1, place=".".join(place.path),
                                  old=place.text, new=new) for place, new in found)


def _today(place: Place, words: FileWords) -> str:
    """The present name for a key or a text."""
    above: tuple[str, ...] = ()
    for key in place.path[:-1]:
        above = (*above, words.key_today(above, key))
    key = words.key_today(above, place.path[-1])
    return key if place.is_key else words.value_today((*above, key), place.text)


def _literal(word: str, begins: str) -> str:
    """A word in the form of the old one: a plain key, or a text between the same quotes where possible."""
    if begins not in "\"'":
        return word
    return f"'{word}'" if begins == "'" and re.fullmatch(r"[^'\n]*", word) else json.dumps(word, ensure_ascii=False)
