"""The code of a mechanism that is not confide's, as a digest: whether what is run is what was charged."""

from __future__ import annotations

import hashlib
import importlib.machinery
from collections.abc import Iterator
from pathlib import Path

from confide.audit.own_modules import outermost, own_modules, place
from confide.contract.errors import InvalidInput
from confide.contract.kinds import Kind
from confide.contract.mechanism import Mechanism

__all__ = ["code_digest", "is_ours"]

_OURS = __name__.partition(".")[0]


def is_ours(*its: Mechanism | Kind) -> bool:
    """Whether a mechanism, and its kind, come with confide: none of them from somebody else."""
    return all(type(it).__module__.partition(".")[0] == _OURS for it in its)


def code_digest(*objects: object) -> str:
    """SHA-256 over the source files and compiled modules in which the classes of objects lie, and their bases.

    Of a class that lies in a package, all of the outermost package that has an `__init__` counts, whether it is used or
    not; of one that lies in a module alone, that file. Where the files lie, and what Python makes of them
    (`__pycache__`), does not count; nor do confide, Python's own library, and other packages that are only called.

    Args:
        objects: a mechanism, and its kind.

    Raises:
        InvalidInput: a class lies in no file, as one that was typed into a session does.

    Example:
        >>> code_digest(1, "text")  # nothing but Python's own
        'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
    """
    files: dict[str, Path] = {}
    for module in own_modules(*objects):
        files |= _files(module)
    found = hashlib.sha256()
    for name in sorted(files):
        found.update(f"{name} {hashlib.sha256(files[name].read_bytes()).hexdigest()}\n".encode())
    return found.hexdigest()


def _files(module: str) -> Iterator[tuple[str, Path]]:
    """(name from the package on, file) of all code beside a module."""
    top = outermost(module)
    if top is None or (file := place(top)) is None:
        raise InvalidInput("mechanism", f"the code of {module} lies in no file",
                           "put it into a module or a package: what is charged and what is run are compared by it")
    if not hasattr(top, "__path__"):
        return iter([(top.__name__, file)])
    ends = tuple(importlib.machinery.all_suffixes())
    return ((f"{top.__name__}/{path.relative_to(file.parent).as_posix()}", path) for path in file.parent.rglob("*")
            if path.name.endswith(ends) and path.is_file() and "__pycache__" not in path.parts)
