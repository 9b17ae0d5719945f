"""Which small changes of the privacy core no test and no type notices: `make mutants`.

mutmut makes one change at a time in `privacy/` and in the meter's other half, `contract/metered.py`, and runs the tests
that pass through the changed function, of which this file, a plugin of pytest, keeps the fastest. A change is noticed
where a test fails, or where mypy, as in `make test`, finds an error in the changed function. `[tool.mutmut]` of
`pyproject.toml` says what is changed, and how; messages of errors are not. The others stand in
`tests/mutants_alive.txt`, each as the line before and after.

`python tests/mutants.py 'confide.privacy.noise.*'` runs some modules alone. All others keep their part of the file,
with the day and the commit of their own run.
"""

from __future__ import annotations

import ast
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from pathlib import Path

import pytest

ALIVE = Path(__file__).with_name("mutants_alive.txt")
_MADE = Path("mutants")
_NOTICED = {1: "tests", 3: "tests", 36: "tests", 24: "tests", -24: "tests", 152: "tests", 255: "tests", 37: "types"}
"""mutmut's codes: a failed test, an error or the end of the time that a mutant has, or an error that mypy finds."""


_MOST = 4.0
"""Seconds of tests that a mutant meets, its fastest first: so what they notice is the least that the suite notices."""

_IDLE = 5
"""Seconds of processor time beside three times what the tests take, after which a mutant counts as an endless loop."""

_COUNTS = re.compile(r"(\S+): (\d+) mutants, (\d+) noticed by tests, (\d+) by types, (\d+) alive \(")
"""The head of a module's part in the file of those alive."""

_OWN = ("has-type", "misc", "no-redef", "var-annotated")
"""Errors that may follow from how mutmut lays out its changes."""


def main() -> None:
    """Run all mutants that have not been run yet, and write down those that live."""
    began = time.monotonic()
    paths = {"PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),  # mutmut starts `python`
             "PYTHONPATH": str(Path(__file__).parent.resolve())}  # and pytest takes this file as a plugin
    subprocess.run([sys.executable, "-m", "mutmut", "run", *sys.argv[1:]], check=True, env={**os.environ, **paths})
    commit = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], capture_output=True, check=True, text=True)
    parts = _written() | {module: _part(module, codes, commit.stdout.strip()) for module, codes in _codes()}
    made, by_tests, by_types, alive = (sum(int(found[k]) for part in parts.values() if (found := _COUNTS.match(part)))
                                       for k in range(2, 6))
    total = (f"{made} mutants: {by_tests} noticed by tests, {by_types} by types, {alive} alive; "
             f"{1 - alive / made:.1%} noticed")
    ALIVE.write_text("\n\n".join([total, *(parts[module] for module in sorted(parts))]) + "\n", "utf-8")
    print(f"{total}, in {(time.monotonic() - began) / 60:.0f} minutes; {ALIVE}")


def _written() -> dict[str, str]:
    """The parts of the file, by module."""
    parts = ALIVE.read_text("utf-8").strip().split("\n\n") if ALIVE.exists() else []
    return {found[1]: part for part in parts if (found := _COUNTS.match(part))}


def _part(module: str, codes: dict[str, int], commit: str) -> str:
    """What came of a module's mutants, with those that live."""
    noticed = Counter(_NOTICED.get(code, "") for code in codes.values())
    alive = sorted(name for name, code in codes.items() if code not in _NOTICED)
    head = (f"{module}: {len(codes)} mutants, {noticed['tests']} noticed by tests, {noticed['types']} by types, "
            f"{len(alive)} alive ({time.strftime('%Y-%m-%d')}, commit {commit})")
    return "\n".join([head, *(line for name in alive for line in _change(name))])


def pytest_configure(config: pytest.Config) -> None:
    """Give a mutant folders of its own: the process that it was forked from has ended its session and removed them."""
    if _is_mutant():
        own = tempfile.mkdtemp(prefix="mutant-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT", "") and "/dev/shm")
        os.environ["PYTEST_DEBUG_TEMPROOT"] = os.environ["CONFIDE_HOME"] = own
        config.add_cleanup(lambda: shutil.rmtree(own, ignore_errors=True))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of the tests of a mutant keep the fastest, and stop them where they take much longer than without the change."""
    if not _is_mutant():
        return
    items.sort(key=lambda item: _seconds().get(item.nodeid, 0.0))
    together = list(accumulate(_seconds().get(item.nodeid, 0.0) for item in items))
    del items[max(1, bisect_right(together, _MOST)):]
    limit = int(time.process_time() + 3 * together[len(items) - 1]) + _IDLE
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))


def _is_mutant() -> bool:
    return "__mutmut_" in os.environ.get("MUTANT_UNDER_TEST", "")


@cache
def _seconds() -> dict[str, float]:
    found: dict[str, float] = json.loads(Path("mutmut-stats.json").read_text("utf-8"))["duration_by_test"]
    return found


def _codes() -> Iterator[tuple[str, dict[str, int]]]:
    """Each module whose mutants have all been run: mutmut's code of what came of each."""
    for meta in sorted(_MADE.rglob("*.py.meta")):
        codes = json.loads(meta.read_text("utf-8"))["exit_code_by_key"]
        if codes and None not in codes.values():
            yield next(iter(codes)).rpartition(".")[0], codes


def _change(name: str) -> Iterator[str]:
    from mutmut.mutation.diff_apply import get_diff_for_mutant

    yield name
    for line in get_diff_for_mutant(name).splitlines()[3:]:
        if line[:1] in "+-":
            yield f"    {line[0]} {line[1:].strip()}"


def types() -> None:
    """Print the errors that mypy finds in mutants, as mutmut reads them; those elsewhere are mutmut's own code."""
    found = subprocess.run([sys.executable, "-m", "mypy", "--num-workers", "0", "--no-warn-unused-ignores", "--output",
                            "json", "src/confide/privacy", "src/confide/contract/metered.py"],
                           capture_output=True, check=False, text=True)
    for line in found.stdout.splitlines():
        error = json.loads(line)
        if error["severity"] == "error" and error["code"] not in _OWN and error["line"] in _mutated(error["file"]):
            print(line)


@cache
def _mutated(file: str) -> frozenset[int]:
    """The lines of a file that mutants stand on."""
    mutants = [node for node in ast.walk(ast.parse(Path(file).read_text("utf-8")))
               if isinstance(node, ast.FunctionDef) and node.name.rpartition("__mutmut_")[2].isdigit()]
    return frozenset(line for node in mutants for line in range(node.lineno, (node.end_lineno or node.lineno) + 1))


if __name__ == "__main__":
    types() if sys.argv[1:] == ["mypy"] else main()
