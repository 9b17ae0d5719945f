"""The folder of an outcome: `manifest.json` and `columns/`, which are public, and `shares/`, which is for the operator
alone.

The files may come from a stranger. Reading an outcome checks digests, and rebuilds only objects of types that the
mechanism's kind names. Any other error while a file is read is replaced by an error that names the file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from confide.contract.digests import canonical, digest
from confide.contract.encoding import column_bytes, decode, table_from_bytes
from confide.contract.errors import InvalidInput
from confide.contract.files import (
    MANIFEST,
    as_path,
    parse_json,
    private_folder,
    read_bytes,
    read_json,
    reading,
    write_private,
)
from confide.contract.kinds import types_of
from confide.contract.mechanism import Mechanism
from confide.contract.metered import Metered, MeteredLine
from confide.contract.outcome import FORMAT, Billboard, Certificate, Provenance
from confide.contract.upgrades import printed_types, type_said
from confide.contract.wire import named, wire_name, wire_of, wire_types

__all__ = ["known_types", "public_parts", "read_public", "read_shares", "rebuild", "write"]

_COLUMN_LIMIT = 1 << 32
"""Largest size of one column in bytes."""

_DIGEST = re.compile("[0-9a-f]{64}")
_PARTS: dict[str, tuple[type, ...]] = {
    "mechanism": (Mechanism,), "billboard": (Billboard,), "certificate": (Certificate, type(None)),
    "provenance": (Provenance,),
}


_LATER: dict[str, tuple[type, ...]] = {"meter": (Metered, type(None))}
"""Mapping from the parts of an outcome that older outcomes lack to the types of these parts."""


def write(folder: Path, manifest: dict[str, Any], columns: Mapping[str, bytes], shares: pa.Table) -> None:
    """Write an outcome. A simulated outcome follows from private data and a seed, so all its files are accessible to
    their owner alone.

    Raises:
        InvalidInput: the folder already holds an outcome.
    """
    if (folder / MANIFEST).exists():
        raise InvalidInput("folder", f"{folder} already holds an outcome", "choose another folder")
    put: Callable[[Path, bytes], object] = write_private
    if manifest["release_safe"]:
        put = Path.write_bytes
        (folder / "columns").mkdir(parents=True, exist_ok=True)
    else:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # one that was there may be shared: its files are not
        private_folder(folder / "columns")
    for name, data in columns.items():
        put(folder / "columns" / f"{name}.arrow", data)
    private = private_folder(folder / "shares")
    data = column_bytes(shares)
    write_private(private / f"{digest(data)}.arrow", data)
    write_private(private / MANIFEST, canonical({"format": FORMAT, "shares": digest(data)}))
    put(folder / MANIFEST, canonical(manifest))


def read_public(folder: str | os.PathLike[str], sha256: str | None, *, release_safe: bool) -> dict[str, Any]:
    """The fields of an outcome that are stored in its public files.

    Args:
        folder: the folder of the outcome.
        sha256: the SHA-256 digest that the manifest must have, in hexadecimal; None if it is unknown.
        release_safe: True if the outcome must be a release, False if it must be a simulated outcome.

    Raises:
        InvalidInput: a file is missing, altered or no part of an outcome, or the outcome is not of the kind that
            `release_safe` states. The message names the fault.
    """
    folder = as_path("folder", folder)
    path = folder / MANIFEST
    if not path.exists():
        raise InvalidInput("folder", f"{folder} holds no outcome", f"{path} is missing")
    manifest, data = read_json("manifest", path)
    if sha256 is not None and digest(data) != sha256:
        raise InvalidInput("manifest", f"{path} was altered", f"its SHA-256 must be {sha256}")
    with reading("manifest", path):
        return _rebuilt(manifest, _Columns(folder / "columns"), release_safe)


def _rebuilt(manifest: Any, columns: Mapping[str, bytes], release_safe: bool) -> dict[str, Any]:
    if not isinstance(manifest, dict):
        raise InvalidInput("manifest", "is not the manifest of an outcome", "must be an object")
    if manifest.get("format") != FORMAT:
        raise InvalidInput("format", f"{manifest.get('format')!r} is unknown", f"this version reads {FORMAT}")
    safe = manifest.get("release_safe")
    if not isinstance(safe, bool):
        raise InvalidInput("release_safe", "is missing" if safe is None else "is neither true nor false",
                           "must be true or false")
    if safe is not release_safe:
        found, wanted = ("simulated", "released") if release_safe else ("released", "simulated")
        raise InvalidInput("release_safe", f"this is a {found} outcome", f"a {wanted} outcome was asked for")
    missing = [key for key in _PARTS if key not in manifest]
    if missing:
        raise InvalidInput("manifest", "is not complete", f"missing keys: {', '.join(missing)}")
    known = known_types(manifest)
    parts = {key: decode(manifest.get(key), known, columns) for key in (*_PARTS, *_LATER)}
    for key, kinds in (_PARTS | _LATER).items():
        if not isinstance(parts[key], kinds):
            raise InvalidInput(key, f"is of type {wire_name(parts[key])}", f"must be a {kinds[0].__name__}")
    if (parts["provenance"].noise == "secure") is not release_safe:
        raise InvalidInput("provenance", f"the label does not fit the {parts['provenance'].noise} noise of the outcome")
    return {**parts, "guarantees": parts["mechanism"].guarantees()}


def known_types(manifest: Mapping[str, Any]) -> dict[str, type]:
    """Mapping from wire name to type, for all types that a manifest may hold: the types that the kind of the mechanism
    names, the types of mechanisms as printed in a source, and the types that every outcome has.

    Args:
        manifest: the contents of the manifest, which may come from a stranger.

    Raises:
        InvalidInput: no installed kind knows the mechanism.
    """
    mechanism = manifest["mechanism"]
    if not isinstance(mechanism, dict) or not isinstance(mechanism.get("type"), str):
        raise InvalidInput("mechanism", "has no type", "must be an object with the key 'type'")
    name, printed = named(type_said(mechanism, "type"))[0], printed_types(mechanism)
    if name in printed:
        above = (each for each in printed[name].__mro__[1:] if issubclass(each, Mechanism))
        name = next((wire_of(each).name for each in above), name)
    return {**types_of(name), **printed, **wire_types(Provenance, Metered, MeteredLine)}


def rebuild(files: Mapping[str, bytes], shares: bytes) -> dict[str, Any]:
    """The fields of a released outcome, from its public files and its shares.

    Raises:
        InvalidInput: the files do not have the form in which outcomes are written.
    """
    return {**public_parts(files), "shares": table_from_bytes(shares)}


def public_parts(
    files: Mapping[str, bytes], folder: Path = Path(), *, release_safe: bool = True
) -> dict[str, Any]:
    """The fields of an outcome that are stored in its public files. The files may come from a stranger.

    Args:
        files: mapping from the path of a file, relative to the folder, to the contents as bytes.
        folder: the folder from which the files come, for the error message.
        release_safe: True if the outcome must be a release, False if it must be a simulated outcome.

    Raises:
        InvalidInput: a file is missing, altered or no part of an outcome, or the outcome is not of the kind that
            `release_safe` states. The message names the fault.
    """
    place = folder / MANIFEST
    columns = {path.removeprefix("columns/").removesuffix(".arrow"): data for path, data in files.items()
               if path.startswith("columns/")}
    if MANIFEST not in files:
        raise InvalidInput("manifest", f"{place} is missing")
    with reading("manifest", place):
        return _rebuilt(parse_json(files[MANIFEST]), columns, release_safe)


def read_shares(folder: str | os.PathLike[str]) -> pa.Table:
    """The shares in an outcome's folder.

    Raises:
        InvalidInput: a file is missing or altered. The message names the file.
    """
    folder = as_path("folder", folder) / "shares"
    path = folder / MANIFEST
    if not path.exists():
        raise InvalidInput("shares", f"{folder} does not exist", "a published pack has no such folder: use "
                                                               "PublicOutcome.load")
    note, _ = read_json("shares", path)
    with reading("shares", path):
        name = note["shares"]
        if not _DIGEST.fullmatch(name):
            raise InvalidInput("shares", "the name of the file of shares is wrong", "must be a SHA-256")
    path = folder / f"{name}.arrow"
    data = read_bytes("shares", path, _COLUMN_LIMIT)
    if digest(data) != name:
        raise InvalidInput("shares", f"{path} was altered", "its SHA-256 must equal its name")
    with reading("shares", path):
        return table_from_bytes(data)


class _Columns(Mapping[str, bytes]):
    """The columns of a folder by their digests; each is read only when it is requested."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, bytes] = {}

    def __getitem__(self, name: str) -> bytes:
        path = self._folder / f"{name}.arrow"
        if not _DIGEST.fullmatch(name) or not path.exists():  # the name is a stranger's, and no path to elsewhere
            raise KeyError(name)
        if name not in self._read:
            self._read[name] = read_bytes("column", path, _COLUMN_LIMIT)
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return (path.stem for path in self._folder.glob("*.arrow"))

    def __len__(self) -> int:
        return sum(1 for _ in self)
