"""A graph on disk, in a folder that its owner alone may enter: arrays that are mapped into memory, and a short note."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.contract.files import check_unpublished, parse_json, private_folder, write_new
from confide.contract.words import cause
from confide.search.identifiers import Ids

__all__ = ["open_arrays", "save_arrays"]

_NOTE, _STARTS, _LISTS, _NUMBERS, _WORDS = "graph.json", "indptr.npy", "indices.npy", "ids.npy", "ids.arrow"
_FORMAT = 1
_KEYS = {"format", "people", "entries", "ids", "self_loops", "parallel"}


@contextmanager
def _new(path: Path) -> Iterator[BinaryIO]:
    path.unlink(missing_ok=True)  # left by a save that was cut short: the note is written last
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def save_arrays(
    folder: str | os.PathLike[str], indptr: NDArray[np.int64], indices: NDArray[np.int32], ids: Ids,
    dropped: tuple[int, int],
) -> None:
    """See `Graph.save`."""
    path = Path(folder)
    if (path / _NOTE).exists():
        raise InvalidInput("folder", f"{path} holds a graph already", "choose another folder")
    check_unpublished("folder", path / _NOTE)
    kind = "rank" if ids is None else "integer" if isinstance(ids, np.ndarray) else "text"
    note = {"format": _FORMAT, "people": len(indptr) - 1, "entries": len(indices), "ids": kind,
            "self_loops": dropped[0], "parallel": dropped[1]}
    try:
        private_folder(path)
        arrays = {_STARTS: indptr, _LISTS: indices, **({_NUMBERS: ids} if kind == "integer" else {})}
        for name, array in arrays.items():
            with _new(path / name) as file:
                np.save(file, array, allow_pickle=False)
        if kind == "text":
            with _new(path / _WORDS) as file, pa.ipc.new_file(file, pa.schema([("id", pa.large_string())])) as out:
                out.write_batch(pa.record_batch([ids], names=["id"]))
    except OSError as error:
        raise InvalidInput("folder", f"{path} cannot be written: {cause(error)}") from None
    write_new("folder", path / _NOTE, json.dumps(note, indent=1) + "\n", private=True)


def open_arrays(
    folder: str | os.PathLike[str]
) -> tuple[NDArray[np.int64], NDArray[np.int32], Ids, tuple[int, int]]:
    """See `Graph.open`."""
    path = Path(folder)
    try:
        note = parse_json((path / _NOTE).read_bytes())
        if not isinstance(note, dict) or set(note) != _KEYS or note["format"] != _FORMAT:
            raise _broken(path)
        counts = [note[key] for key in ("people", "entries", "self_loops", "parallel")]
        if any(type(count) is not int or count < 0 for count in counts):
            raise _broken(path)
        people, entries, loops, parallel = counts
        indptr = _mapped(path, _STARTS, np.int64, people + 1)
        indices = _mapped(path, _LISTS, np.int32, entries)
        ids: Ids = None
        if note["ids"] == "integer":
            ids = _mapped(path, _NUMBERS, np.int64, people)
        elif note["ids"] == "text":
            ids = pa.ipc.open_file(pa.memory_map(str(path / _WORDS))).get_batch(0).column(0)
            if len(ids) != people or ids.type != pa.large_string():
                raise _broken(path)
        elif note["ids"] != "rank":
            raise _broken(path)
    except (OSError, pa.ArrowException, ValueError, EOFError) as error:
        if isinstance(error, InvalidInput) and error.field == "folder":
            raise
        raise _broken(path) from None
    return indptr, indices, ids, (loops, parallel)


def _mapped(path: Path, name: str, dtype: Any, length: int) -> NDArray[Any]:
    """Copy-on-write: the pages are shared, and arrays of one kind need one compiled form of each loop."""
    found = np.load(path / name, mmap_mode="c" if length else None, allow_pickle=False)
    if found.dtype != dtype or found.shape != (length,):
        raise _broken(path)
    return np.asarray(found).view(np.ndarray)


def _broken(path: Path) -> InvalidInput:
    return InvalidInput("folder", f"{path} holds no graph that can be read", "make it with graph.save(folder)")
