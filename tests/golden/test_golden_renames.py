"""Whoever renames a class, or a field, breaks nothing that was written: golden files are read under other names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import renamed
from golden_files import FOUND, PACKS
from test_golden_packs import SLOW
from wire_names import declaring

from cases import fast

NAMES = [name for name in PACKS if name not in SLOW]
KINDS = [next(name for name in NAMES if FOUND["files"][name]["kind"] == kind)
         for kind in sorted({FOUND["files"][name]["kind"] for name in NAMES})]
"""One of each kind."""


def run(mode: str, seed: int, names: list[str], to: Path) -> dict[str, Any]:
    """What `renamed.py` finds, in a process of its own."""
    done = subprocess.run([sys.executable, renamed.__file__, mode, str(seed), to, *names], capture_output=True,
                          text=True, check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    assert said["renamed"] == len(declaring()) > 150
    found: dict[str, Any] = said["found"]
    return found


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("seed", "names"), [
    (1, KINDS[::3]), *fast(0, [(2, KINDS), (3, sorted({*PACKS} - {*KINDS}))])],
    ids=["some kinds", "one of each kind", "others"])
def test_files_are_read_and_written_alike_under_other_names(seed: int, names: list[str], tmp_path: Path) -> None:
    """Loaded, verified, decoded; and written again with the same bytes: outcomes, promises, charges, plans, forms."""
    (tmp_path / "now").mkdir()
    (tmp_path / "then").mkdir()
    there = run("declared", seed, names, tmp_path / "then")
    assert there.pop("") == renamed.plain(renamed.others())
    for name in names:
        said = there[name].pop("verified")
        assert said == {"digest": FOUND["packs"][name]["digest"], "unexpected": {}, "wrong": []}, name
        assert there[name] == renamed.plain(renamed.found(name, tmp_path / "now")), name
    assert there.keys() == set(names)


@pytest.mark.parametrize(("mode", "said"), fast(0, [("undeclared", "belongs to no installed kind"),
                                                    ("fields", "cannot be rebuilt")]))
def test_names_of_python_would_not_do(mode: str, said: str, tmp_path: Path) -> None:
    """So that the test above can fail: with the new names written and read, no pack of a kind of ours is read."""
    ours = [name for name in KINDS if FOUND["files"][name]["kind"] != "histogram"]
    for name, found in run(mode, 1, ours, tmp_path).items():
        assert said in found["refused"], name
