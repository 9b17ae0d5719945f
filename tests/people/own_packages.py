"""Packages with a kind of their own, as `pip install --target` leaves them, and a campaign of the tutorial's."""

from __future__ import annotations

import shutil
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from confide.contract import kind, kinds

__all__ = ["CODE", "PACKAGE", "WAYS", "commute", "histogram_module", "installed_histogram", "installed_module"]

PACKAGE = Path(__file__).resolve().parents[2] / "examples" / "private_histogram"
CODE = PACKAGE / "src" / "private_histogram" / "__init__.py"

WAYS = ("bus", "bicycle", "car", "on foot")
"""What people may answer."""


def _forget() -> None:
    kinds._entries.cache_clear()
    kind.cache_clear()


@contextmanager
def installed_module(
    module: Path, name: str, points: dict[str, str], target: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """A folder on the path with a package of one module, and a dist-info with its entry points.

    Args:
        module: the file, which becomes the package's `__init__.py`.
        name: of the package.
        points: kind -> module:object.
        target: the folder.
        monkeypatch: takes it from the path again.
    """
    (target / name).mkdir(parents=True)
    shutil.copy(module, target / name / "__init__.py")
    info = target / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[confide.kinds]\n" + "".join(f"{k} = {v}\n" for k, v in points.items()))
    monkeypatch.syspath_prepend(str(target))
    monkeypatch.delitem(sys.modules, name, raising=False)  # of another place, which some test has imported for good
    _forget()
    yield target
    sys.modules.pop(name, None)
    _forget()


@contextmanager
def installed_histogram(target: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The package of the tutorial, with the entry points that its own project file names."""
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    name = project["name"].replace("-", "_")
    with installed_module(CODE, name, project["entry-points"]["confide.kinds"], target, monkeypatch) as found:
        yield found


def commute(folder: Path) -> Path:
    """A campaign of the package, where that is installed: 450 of 500 people answer, by three of four ways."""
    rows = "".join(f"{i},{WAYS[i % 3]}\n" for i in range(1, 451))
    (folder / "answers.csv").write_text("id,way\n" + rows)
    path = folder / "commute.toml"
    path.write_text(kind("histogram").template)
    return path


def histogram_module() -> Any:
    """The package's one module, where it is installed."""
    import private_histogram

    return private_histogram
