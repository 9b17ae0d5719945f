"""Noise that survives a crash: every draw is written to disk before it is handed out, and a restart hands out the same
draws.

A run that publishes its output step by step must not draw its noise again after a crash, because two draws for one step
reveal more than one draw does. The journal is as secret as the data. The journal's file is readable by its owner only,
and is destroyed when the run has ended.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import json
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput, StoreFailed
from confide.contract.files import as_path, check_private, check_unpublished, make_folder, sync
from confide.contract.words import cause
from confide.privacy.noise.arguments import Points, Stream, StreamName, as_stream
from confide.privacy.noise.base import Noise, RealLaw, as_noise
from confide.privacy.noise.discrete import DiscreteLaw
from confide.privacy.noise.recorded import PassingNoise

__all__ = ["JournalNoise"]

_FORMAT = 1
_BLOCK = 1 << 20  # bytes that are overwritten at a time
_TYPES = {"<i8": np.int64, "<u8": np.uint64, "<f8": np.float64, "|b1": np.bool_}

_Answer = NDArray[Any]


@dataclass(frozen=True, eq=False)
class _Kept:
    """A draw that an earlier process wrote down: the fingerprint of its request, and its answer."""

    asked: str
    value: _Answer


class JournalNoise(PassingNoise):
    """Noise from another source that is written to a journal before it is handed out. A journal that is opened again
    hands out the same draws.

    A stored draw is found by its stream. The request must be the same as before, including its center. A changed
    request is refused, because the stored answer does not fit the request, and two answers would together reveal more
    than one answer does.

    A draw takes two writes, each of which is synchronised to disk: first the draw itself, then the end of its line. A
    line without an end belongs to a draw that was never handed out, and is dropped when the journal is opened. A line
    with an end was complete on disk. If the checksum of such a line is wrong, the file is damaged, and the journal is
    refused. Only one process at a time can hold a journal.

    Args:
        path: the path of the journal. A missing folder is created, with access for its owner only.
        source: the source of new draws. A journal that was begun with another kind of source is refused.
        existing: True if the journal must exist already (for a run that continues), False if it must not exist, None if
            both are allowed.
        sealed: an earlier value of `seal` of this journal, kept elsewhere; None for no check. A journal is refused if
            it does not begin with the lines of that seal.

    Raises:
        InvalidInput: the source is not a source of noise; the file is readable by others, is no journal, or was begun
            with another kind of source; the file exists, or is missing, contrary to `existing`; or the journal is cut
            off, or is an older copy, contrary to `sealed`.
        StoreFailed: another process holds the journal, the file is damaged, or nothing can be written. After a failure
            of the journal, the draw is not handed out.

    Source: spec targeted_search 9 (service), trap 3; design 10.4.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> path = Path(tempfile.mkdtemp()) / "noise.journal"
        >>> with JournalNoise(path, Noise.simulated(1)) as first:
        ...     drawn = first.exponential(3, stream="call")
        >>> again = JournalNoise(path, Noise.simulated(2), existing=True)  # the stored draw is used, not the new source
        >>> bool((again.exponential(3, stream="call") == drawn).all())
        True
        >>> again.destroy()
        >>> path.exists()
        False
    """

    def __init__(self, path: str | os.PathLike[str], source: Noise, *, existing: bool | None = None,
                 sealed: tuple[int, str] | None = None) -> None:
        super().__init__()
        self._source = as_noise(source)
        self._path = as_path("path", path)
        self._kept: dict[StreamName, _Kept] = {}
        self._notes: dict[StreamName, str] = {}
        self._lines, self._chain = 0, ""
        self._writing = threading.Lock()
        check_unpublished("path", self._path)
        self._file = self._opened(existing)
        try:
            self._read(sealed)
        except BaseException:
            self.close()
            raise

    @property
    def kind(self) -> str:
        return self._source.kind

    @property
    def release_safe(self) -> bool:
        return self._source.release_safe

    @property
    def audited(self) -> bool:
        return self._source.audited

    @property
    def seal(self) -> tuple[int, str]:
        """The number of lines and the digest of all lines, from which a journal that is opened later must continue."""
        return self._lines, self._chain

    def note(self, stream: Stream, text: str) -> None:
        """Write down, before the first draw, the purpose of all streams whose names begin with the given words.

        Raw material, which `exponential` and `words` draw, is requested without parameters. Requests for raw material
        look the same in every run, so only a note keeps stored draws from serving another run.

        Args:
            stream: first words of the draws' names.
            text: the text of the note, such as a digest; private, like the journal.

        Raises:
            InvalidInput: another text was noted for the same words, or draws of these streams were made before a
                restart without this note.
            StoreFailed: the note cannot be written to disk.
        """
        name = as_stream(stream)
        with self._writing:
            self._need_open()
            if name not in self._notes:
                if any(kept[: len(name)] == name for kept in self._kept):
                    raise InvalidInput("noise", "the journal has draws without a purpose",
                                       "begin with a new journal")
                self._write(json.dumps({"note": list(name), "text": text}))
                self._notes[name] = text
            elif self._notes[name] != text:
                raise InvalidInput("noise", "the journal belongs to another run, with other data or other parameters",
                                   "noise serves one run: continue the run of this journal, or begin a new journal")

    def noted(self, stream: Stream) -> str | None:
        """The note that was written for a stream; None if there is no note.

        Args:
            stream: first words of the draws' names, as in `note`.
        """
        return self._notes.get(as_stream(stream))

    def close(self) -> None:
        """Close the file. No draw is handed out afterwards, and the journal remains on disk for a restart."""
        with self._writing:
            if self._file >= 0:
                os.close(self._file)
            self._file = -1
            self._kept.clear()

    def destroy(self) -> None:
        """Overwrite the journal and remove it, when the run has ended and none of its draws will be needed again.

        Overwriting reaches only the place that the journal's file occupies now. Overwriting does not reach copies that
        a file system, a disk or a backup keeps elsewhere. It is therefore best to keep journals on an encrypted disk,
        and out of backups.

        Raises:
            StoreFailed: the journal could not be removed.
        """
        self._need_open()
        with self._writing:
            try:
                left = os.lseek(self._file, 0, os.SEEK_END)
                os.lseek(self._file, 0, os.SEEK_SET)
                while left > 0:
                    left -= os.write(self._file, bytes(min(left, _BLOCK)))
                os.fsync(self._file)
                self._path.unlink(missing_ok=True)
                sync(self._path.parent)
            except OSError as error:
                raise self._failed(f"could not be destroyed: {cause(error)}") from None
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _failed(self, problem: str) -> StoreFailed:
        return StoreFailed(str(self._path), problem)

    def _need_open(self) -> None:
        if self._file < 0:
            raise InvalidInput("noise", f"the journal {self._path} is closed", "open it again")

    def _opened(self, existing: bool | None) -> int:
        """The opened and locked file. If another process holds the lock, the call fails at once."""
        new = {True: 0, False: os.O_CREAT | os.O_EXCL, None: os.O_CREAT}[existing]
        file = -1
        try:
            make_folder(self._path.parent, private=True)
            file = os.open(self._path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | new, 0o600)
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            check_private("path", self._path)
        except OSError as error:
            problem, limit = f"{self._path} cannot be opened: {cause(error)}", ""
            if isinstance(error, FileNotFoundError):
                problem = f"the journal {self._path} does not exist"
                limit = "find the journal: the run must not draw its noise a second time"
            elif isinstance(error, FileExistsError):
                problem, limit = f"{self._path} exists already", "continue this journal, or choose another path"
            if file >= 0:
                os.close(file)
            if isinstance(error, BlockingIOError):
                raise self._failed("is in use by another process: try again after the end of that process") \
                    from None
            raise InvalidInput("path", problem, limit) from None
        except InvalidInput:
            os.close(file)
            raise
        return file

    def _read(self, sealed: tuple[int, str] | None) -> None:
        """Read all complete lines. All bytes after the last complete line of the journal belong to a draw that was
        never handed out, and are cut off.
        """
        with os.fdopen(os.dup(self._file), "rb") as file:
            lines = file.read().split(b"\n")
        torn = lines.pop()
        head = json.dumps({"journal": "confide noise", "format": _FORMAT, "kind": self.kind}, separators=(",", ":"))
        if not lines and not _line(0, head.encode()).startswith(torn):
            raise InvalidInput("path", f"{self._path} is not a journal of noise")  # whatever it is, it stays whole
        for number, line in enumerate(lines):
            entry = self._checked(line, number)
            self._chain = _chained(self._chain, line)
            if sealed is not None and number + 1 == sealed[0] and self._chain != sealed[1]:
                raise self._cut()
            if number == 0:
                self._check_head(entry)
                continue
            if "note" in entry:
                self._notes[tuple(entry["note"])] = entry["text"]
                continue
            stream = tuple(entry["stream"])
            if entry["type"] not in _TYPES or stream in self._kept:
                raise self._failed(f"is damaged in line {number + 1}")
            value = np.frombuffer(base64.b64decode(entry["value"]), dtype=entry["type"])
            self._kept[stream] = _Kept(entry["asked"], value.astype(_TYPES[entry["type"]]).reshape(entry["shape"]))
        if sealed is not None and len(lines) < sealed[0]:
            raise self._cut()
        if torn:
            os.ftruncate(self._file, sum(map(len, lines)) + len(lines))
            os.fsync(self._file)
        os.lseek(self._file, 0, os.SEEK_END)
        self._lines = len(lines)
        if not lines:
            self._write(head)
            sync(self._path.parent)

    def _cut(self) -> InvalidInput:
        return InvalidInput("path", f"{self._path} was shortened, or is an older copy",
                            "find the complete journal: the run must not draw its noise a second time")

    def _checked(self, line: bytes, number: int) -> dict[str, Any]:
        _, _, body = line.partition(b" ")
        if number == 0 and not body.startswith(b'{"journal":"confide noise"'):
            raise InvalidInput("path", f"{self._path} is not a journal of noise")
        if line != _line(number, body):
            raise self._failed(f"is damaged in line {number + 1}")
        entry: dict[str, Any] = json.loads(body)
        return entry

    def _check_head(self, entry: dict[str, Any]) -> None:
        if entry.get("format") != _FORMAT:
            raise InvalidInput("path", f"{self._path} has format {entry.get('format')!r}", f"must be {_FORMAT}")
        if entry.get("kind") != self.kind:
            raise InvalidInput("source", f"the run has {self.kind} noise, but the journal has {entry.get('kind')} "
                                         "noise",
                               "continue with the kind of noise of the journal")

    def _write(self, entry: str) -> None:
        """Write a line to disk, and then its end. If either write fails, the draw is not handed out and the journal is
        closed.
        """
        line = _line(self._lines, entry.encode())
        try:
            for part in (line, b"\n"):
                view = memoryview(part)
                while view:
                    view = view[os.write(self._file, view) :]
                os.fsync(self._file)
        except OSError as error:
            # What reached the disk is not known: only reading it again tells whether this draw is kept.
            os.close(self._file)
            self._file = -1
            raise self._failed(f"could not be written: {cause(error)}") from None
        self._lines, self._chain = self._lines + 1, _chained(self._chain, line)

    def _answer(self, stream: StreamName, request: tuple[object, ...], ask: Callable[[Noise], _Answer]) -> _Answer:
        """The stored answer for this stream, or a new draw that is stored first."""
        asked = _fingerprint(stream, request)
        with self._writing:
            self._need_open()
            kept = self._kept.pop(stream, None)
            if kept is None:
                value = ask(self._source)
                plain = np.ascontiguousarray(value)
                self._write(json.dumps({
                    "stream": list(stream), "asked": asked, "type": plain.dtype.str, "shape": list(value.shape),
                    "value": base64.b64encode(plain.tobytes()).decode(),
                }))
                return value
        if kept.asked != asked:
            raise InvalidInput("stream", f"before the restart, the run drew {stream!r} with another request",
                               "after a restart, a run must request the same noise: use the same data, parameters and "
                               "version")
        return kept.value

    def _lattice(
        self, law: DiscreteLaw, scale: Fraction, center: list[int] | None, shape: tuple[int, ...], stream: StreamName
    ) -> NDArray[np.int64]:
        return self._answer(
            stream, (law, scale, shape, center),
            lambda noise: noise._lattice(law, scale, center, shape, noise._claim(stream)),
        )

    def _reals(
        self, law: RealLaw, scale: Fraction, points: Points, grid: int, shape: tuple[int, ...], stream: StreamName
    ) -> NDArray[np.float64]:
        return self._answer(
            stream, (law, scale, shape, grid, points),
            lambda noise: noise._reals(law, scale, points, grid, shape, noise._claim(stream)),
        )

    def _vector(
        self, scale: Fraction, points: Points, stretch: NDArray[np.float64], grid: int, stream: StreamName
    ) -> NDArray[np.float64]:
        return self._answer(
            stream, ("vector_laplace", scale, grid, stretch, points),
            lambda noise: noise._vector(scale, points, stretch, grid, noise._claim(stream)),
        )

    def _channel(
        self, table: NDArray[np.int64], inputs: NDArray[np.int64], stream: StreamName
    ) -> NDArray[np.int64]:
        return self._answer(
            stream, ("channel", table, inputs), lambda noise: noise._channel(table, inputs, noise._claim(stream))
        )

    def _selection(self, logits: NDArray[np.float64], count: int, stream: StreamName) -> NDArray[np.int64]:
        return self._answer(
            stream, ("selection", logits, count), lambda noise: noise._selection(logits, count, noise._claim(stream))
        )

    def _split(self, people: int, stream: StreamName) -> NDArray[np.bool_]:
        return self._answer(stream, ("split", people), lambda noise: noise._split(people, noise._claim(stream)))

    def _exponential(self, shape: tuple[int, ...], stream: StreamName) -> NDArray[np.float64]:
        return self._answer(
            stream, ("exponential", shape), lambda noise: noise._exponential(shape, noise._claim(stream))
        )

    def _words(self, shape: tuple[int, ...], stream: StreamName) -> NDArray[np.uint64]:
        return self._answer(stream, ("words", shape), lambda noise: noise._words(shape, noise._claim(stream)))


def _line(number: int, body: bytes) -> bytes:
    """A line of the journal without its end. The digest covers the line's number too, so a missing or misplaced line is
    detected.
    """
    return hashlib.sha256(number.to_bytes(8, "little") + body).hexdigest().encode() + b" " + body


def _chained(before: str, line: bytes) -> str:
    return hashlib.sha256(before.encode() + line).hexdigest()


def _fingerprint(stream: StreamName, request: tuple[object, ...]) -> str:
    """A digest of 256 bits that no two requests share. The digest is computed from private data, and stays in the
    journal.
    """
    found = hashlib.sha256(repr(stream).encode())
    for part in request:
        if isinstance(part, np.ndarray):
            found.update(f"\n{part.dtype.str}{part.shape}".encode() + np.ascontiguousarray(part).tobytes())
        else:
            found.update(f"\n{part!r}".encode())
    return found.hexdigest()
