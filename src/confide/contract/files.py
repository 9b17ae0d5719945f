"""Safe reading and writing of files: untrusted files, private files, and files that survive a loss of power."""

from __future__ import annotations

import errno
import fcntl
import glob
import json
import os
import re
import shlex
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from confide.contract.errors import ConfideError, InvalidInput
from confide.contract.words import cause, printable

__all__ = ["MANIFEST", "NOTE", "TEXT_LIMIT", "as_path", "check_private", "check_unpublished", "is_locked", "locked",
           "make_folder", "parse_json", "private_folder", "read_bytes", "read_json", "reading", "replace_private",
           "replace_whole", "sweep_drafts", "sync", "write_new", "write_once", "write_private"]

TEXT_LIMIT = 1 << 24
"""Largest size in bytes of a manifest, a note (`campaign.json`) or a campaign file. Arrays are stored in separate
columns, so no honest file comes near the limit.
"""

MANIFEST = "manifest.json"
"""Name of the file in an outcome's folder that describes the parts of the outcome."""

NOTE = "campaign.json"
"""Name of the note, a file that every evidence pack has and no other folder. A folder with a file of this name is
public.
"""

_LONGEST = 300  # letters of a hostile text that a message repeats

_BROKEN = (ArithmeticError, AttributeError, LookupError, MemoryError, OSError, RecursionError, TypeError, ValueError,
           ConfideError)


def _broken() -> tuple[type[BaseException], ...]:
    """The exceptions that can occur when objects are rebuilt from an untrusted file; Arrow's exceptions are included
    only if Arrow is imported.
    """
    arrow = sys.modules.get("pyarrow")
    return _BROKEN if arrow is None else (*_BROKEN, arrow.ArrowException)



def as_path(field: str, value: str | os.PathLike[str]) -> Path:
    """The given text or path object as a `Path`.

    Raises:
        InvalidInput: the argument is neither a text nor a path object, for example a data frame.
    """
    if isinstance(value, str | os.PathLike):
        return Path(value)
    raise InvalidInput(field, f"{type(value).__module__}.{type(value).__qualname__} is not a path",
                       "pass a path, as text or pathlib.Path; records stay in a file, which the campaign names")


@contextmanager
def reading(field: str, path: Path) -> Iterator[None]:
    """Context manager that replaces any exception caused by the contents of a file by an error that names the file.

    Raises:
        InvalidInput: the contents of the file cause an exception. The message names the file and the fault.
    """
    try:
        yield
    except InvalidInput as error:
        problem = f"{path} cannot be read: {error.field}: {printable(error.problem, _LONGEST)}"
        raise InvalidInput(field, problem, printable(error.limit, _LONGEST)) from None
    except _broken() as error:
        raise InvalidInput(field, f"{path} cannot be read: {cause(error)}") from None


def read_bytes(field: str, path: Path, limit: int = TEXT_LIMIT) -> bytes:
    """The bytes of a whole file.

    Raises:
        InvalidInput: the file is missing, no regular file, larger than the limit, or unreadable.
    """
    with reading(field, path):
        there, usable = path.exists(), path.is_file()
    if not usable:  # a pipe or a device might never end
        raise InvalidInput(field, f"{path} {'is not a file' if there else 'does not exist'}")
    with reading(field, path):
        size = path.stat().st_size
        if size > limit:
            raise InvalidInput("size", f"{size} bytes", f"must be at most {limit}")
        return path.read_bytes()


def read_json(field: str, path: Path) -> tuple[Any, bytes]:
    """The value of a JSON file, and the file's bytes.

    Raises:
        InvalidInput: the file is missing, too large, or not accepted by `parse_json`.
    """
    data = read_bytes(field, path)
    with reading(field, path):
        return parse_json(data), data


def parse_json(data: bytes) -> Any:
    """The value of a JSON text. Call `parse_json` only inside a `with reading(...)` block, because a hostile text can
    make the parser fail.

    Raises:
        InvalidInput: the text is no JSON (the message gives the place of the fault), a key is repeated, or the text has
            NaN or Infinity in place of a number. Different JSON readers would choose different values of a repeated
            key.
    """
    try:
        return json.loads(data, parse_constant=_no_number, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InvalidInput(where, f"is not JSON ({error.msg})") from None


def check_private(field: str, path: Path) -> None:
    """Refuse a file unless the current user owns the file and nobody else has access. The check does not open the file.

    Raises:
        InvalidInput: somebody else owns the file, or others may access it; the message says what to do.
    """
    found = path.stat()
    if found.st_uid != os.geteuid():
        raise InvalidInput(field, f"{path} belongs to another user", "run the command as the owner of the file")
    if found.st_mode & 0o077:
        raise InvalidInput(field, f"other users may read {path}", f"run `chmod 600 {shlex.quote(str(path))}`")


def sync(path: Path) -> None:
    """Wait until a file's contents, or the names in a folder, are on disk and would survive a loss of power."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some file systems keep a folder's names without being asked, and say this
            raise
    finally:
        os.close(descriptor)


def make_folder(path: Path, *, private: bool = False) -> Path:
    """Create a folder and its parent folders, if they are missing, so that the folders survive a loss of power.

    Args:
        path: the path of the folder.
        private: whether a new folder is accessible to its owner alone; an existing folder keeps its permissions.
    """
    missing = [each for each in (path, *path.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700 if private and each == path else 0o777, exist_ok=True)
        sync(each.parent)
    return path


def check_unpublished(field: str, path: Path) -> None:
    """Refuse a path for a private file that lies inside a published folder.

    Args:
        field: the name of the file or folder in the error message.
        path: the planned path of the file.

    Raises:
        InvalidInput: a folder that contains the path is published.
    """
    for folder in path.absolute().parents:
        if (folder / NOTE).exists():
            raise InvalidInput(field, f"the file is private, and the folder {folder} is a pack, which is public",
                               "choose another folder")


def private_folder(path: Path) -> Path:
    """Create a folder if it is missing, and give access to its owner alone, also if the folder existed before."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.chmod(0o700)
    return path


def write_private(path: Path, data: bytes | str) -> None:
    """Write a file that only its owner may read. An older file of the same name is replaced."""
    path.unlink(missing_ok=True)  # a file keeps its mode when it is written again
    _create(path, data, 0o600)


def replace_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read, either completely or not at all.

    Args:
        path: the path of the file; an older file there is replaced.
        text: the text to write.
    """
    replace_whole(path, text.encode(), 0o600)


def replace_whole(path: Path, data: bytes, mode: int) -> None:
    """Write a file either completely or not at all.

    Args:
        path: the path of the file; an older file there is replaced.
        data: the bytes to write.
        mode: the permissions of the file.
    """
    descriptor, draft = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)  # 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            os.fchmod(file.fileno(), mode)
        sync(Path(draft))
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise
    sync(path.parent)


def sweep_drafts(path: Path) -> None:
    """Remove temporary files that were left when a process crashed while it wrote a file. Call the function only while
    no other process writes the file.

    Args:
        path: the path of a file that `replace_private` writes.
    """
    for each in path.parent.glob(f".{glob.escape(path.name)}-*"):
        if re.fullmatch(re.escape(f".{path.name}-") + "[a-z0-9_]{8}", each.name) and each.is_file():
            each.unlink(missing_ok=True)


@contextmanager
def locked(field: str, path: Path, *, shared: bool = False) -> Iterator[None]:
    """Context manager that waits until nobody else holds a lock, and holds the lock inside the block. The lock also
    ends with the process.

    Args:
        field: the name of the locked object in error messages.
        path: the path of the lock file, which is created and stays; its folder is created for its owner alone.
        shared: whether the lock is shared. Several holders can share the lock at once; an exclusive holder waits for
            all others.

    Raises:
        InvalidInput: the file cannot be written, or its file system has no locks.
    """
    with _lockable(field, path) as descriptor:
        _lock(field, path, descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield


def is_locked(field: str, path: Path) -> bool:
    """Whether another holder has the lock at this moment. The call does not wait. If two callers ask at the same
    moment, the result of one call may be True because of the other call.

    Args:
        field: the name of the locked object in error messages.
        path: the path of the lock file, which is created if it does not exist.

    Raises:
        InvalidInput: the file cannot be written, or its file system has no locks.

    Example:
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "lock"
        ...     with locked("home", path, shared=True), locked("home", path, shared=True):
        ...         held = is_locked("home", path)
        ...     held, is_locked("home", path)
        (True, False)
    """
    with _lockable(field, path) as descriptor:
        try:
            _lock(field, path, descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


@contextmanager
def _lockable(field: str, path: Path) -> Iterator[int]:
    """The open lock file; closing it releases the lock."""
    try:
        make_folder(path.parent, private=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise InvalidInput(field, f"{path} cannot be written: {cause(error)}") from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _lock(field: str, path: Path, descriptor: int, how: int) -> None:
    try:
        fcntl.flock(descriptor, how)
    except BlockingIOError:  # only where nobody waits
        raise
    except OSError as error:
        raise InvalidInput(field, f"{path} cannot be locked: {cause(error)}",
                           "keep it on a file system with locks") from None


def write_once(field: str, path: Path, data: str) -> None:
    """Write a private file once and for all, if it does not exist. A reader always finds the file complete, and the
    file survives a loss of power.

    If several processes write the file at once, only one content is kept. Read the file afterwards to see which content
    was kept.

    Args:
        field: the name of the file, for the error message.
        path: the path of the file; a missing folder is created, with access for its owner only.
        data: the text to write.

    Raises:
        InvalidInput: the file cannot be written.
    """
    try:
        make_folder(path.parent, private=True)
        if not path.exists():
            descriptor, draft = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
            try:
                with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(descriptor)
                os.link(draft, path)
            except FileExistsError:
                pass
            finally:
                os.unlink(draft)
        sync(path.parent)  # also where another process has only just written it
    except OSError as error:
        raise InvalidInput(field, f"{path} cannot be written: {cause(error)}") from None


def write_new(
    field: str, path: Path, data: bytes | str, *, private: bool, taken: str = "choose another file", barred: str = ""
) -> None:
    """Write a file that does not exist yet.

    Args:
        field: the name of the file, for the error message.
        path: the path of the file.
        data: bytes, or text that is written as UTF-8.
        private: whether only the file's owner may read the file. A private file is refused inside a published folder.
        taken: advice in the error message if the file already exists.
        barred: advice in the error message if the file cannot be written.

    Raises:
        InvalidInput: the file exists already, cannot be written, or is named "-"; or a private file would lie in a
            published folder.
    """
    if str(path) == "-":  # elsewhere the standard output, on which a page is shown
        raise InvalidInput(field, "- is not a file", "name a file: this command writes nothing to the standard output")
    if private:
        check_unpublished(field, path)
    try:
        _create(path, data, 0o600 if private else 0o666)
    except FileExistsError:
        raise InvalidInput(field, f"{path} exists", taken) from None
    except OSError as error:
        raise InvalidInput(field, f"{path} cannot be written: {cause(error)}", barred) from None


def _create(path: Path, data: bytes | str, mode: int) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InvalidInput("key", f"{Counter(key for key, _ in pairs).most_common(1)[0][0]!r} stands twice")
    return found


def _no_number(text: str) -> NoReturn:
    raise InvalidInput("number", f"{text} is not JSON")
