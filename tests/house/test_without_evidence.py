"""The evidence is apart: without its folder everything but `confide claims` and `confide reproduce` works."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import confide

SOURCE = Path(confide.__file__).parent
TESTS = Path(__file__).parents[1]

IMPORT_ALL = """
import importlib, pkgutil, warnings
import confide
from confide.contract import ConfideDeprecationWarning

warnings.simplefilter("error", ConfideDeprecationWarning)
assert confide.__file__.startswith({copy!r}), confide.__file__
names = [each.name for each in pkgutil.walk_packages(confide.__path__, "confide.")
         if "migrations" not in each.name and not each.name.endswith(("__main__", "cli.demo"))]
for name in names:
    module = importlib.import_module(name)
    for public in getattr(module, "__all__", ()):
        getattr(module, public)
print(len(names))
"""
FAST = (
    "contract/test_contract_guarantees.py", "privacy/test_losses.py", "market/test_market_costs.py",
    "acquisition/test_inner.py", "allocation/test_decode.py", "programs/test_knapsack.py", "regression/test_costs.py",
    "release/test_calculators.py", "search/test_search_graph.py", "channels/test_mechanisms.py",
    "campaign/test_campaign_records.py",
)
"""Of every room, what is tested in seconds."""


STILL = {"privacy/test_metered_runs.py", "programs/test_plans_and_boards.py", "programs/test_programs_audit.py",
         "house/test_remedies_do.py", "typed/what_runs_give.py"}
"""Tests of other rooms that try printed mechanisms beside the others. This set may shrink, and must never grow."""


def test_other_rooms_do_not_test_the_evidence() -> None:
    own = ("evidence/", "golden/", "old_names/", "cli/test_cli_claims.py", "cli/test_cli_reproduce.py",
           "cli/test_cli_widths.py", "house/test_without_evidence.py")
    found = {path.relative_to(TESTS).as_posix() for path in TESTS.rglob("*.py")
             if "confide.evidence" in path.read_text(encoding="utf-8")}
    assert {each for each in found if not each.startswith(own)} <= STILL


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package without its evidence."""
    place = tmp_path_factory.mktemp("apart")
    shutil.copytree(SOURCE, place / "confide", ignore=shutil.ignore_patterns("evidence", "__pycache__"))
    return place


def run(copy: Path, *words: str, timeout: float = 280.0) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, timeout=timeout,
                          cwd=TESTS.parent, env={**os.environ, "PYTHONPATH": str(copy)})


@pytest.mark.slow  # it imports all of confide, from a copy without compiled files
def test_everything_imports(copy: Path) -> None:
    done = run(copy, "-c", IMPORT_ALL.format(copy=str(copy)))
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 500


@pytest.mark.slow
def test_the_command_line_works_but_for_two_verbs(copy: Path) -> None:
    assert "regression" in run(copy, "-m", "confide", "kinds").stdout
    for verb in ("claims", "reproduce"):
        done = run(copy, "-m", "confide", verb)
        assert done.returncode != 0
        assert "ModuleNotFoundError" in done.stderr


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_other_rooms_pass_their_tests(copy: Path) -> None:
    done = run(copy, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not slow",
               *(str(TESTS / name) for name in FAST), timeout=880.0)
    assert done.returncode == 0, done.stdout[-3000:]
