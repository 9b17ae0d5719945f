"""Which small changes of the privacy core no test and no type notices: `make mutants`.

mutmut makes one change at a time in `privacy/` and in the meter's other half, `contract/metered.py`, and runs the tests
that pass through the changed function. A change is noticed where a test fails, or where mypy, which `make test` runs
too, finds an error in the changed function. `[tool.mutmut]` of `pyproject.toml` says what is changed, and how; messages
of errors are not. The others stand in `tests/mutants_alive.txt`, each as the line before and after.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ALIVE = Path(__file__).with_name("mutants_alive.txt")
_MADE = Path("mutants")
_NOTICED = {1: "tests", 3: "tests", 36: "tests", 24: "tests", -24: "tests", 152: "tests", 255: "tests", 37: "types"}
"""mutmut's codes: a failed test, an error or the end of the time that a mutant has, or an error that mypy finds."""


_OWN = ("has-type", "misc", "no-redef", "var-annotated")
"""Errors that may follow from how mutmut lays out its changes."""


def main() -> None:
    """Run all mutants that have not been run yet, and write down those that live."""
    began = time.monotonic()
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # mutmut starts `python` for types
    subprocess.run([sys.executable, "-m", "mutmut", "run", *sys.argv[1:]], check=True, env={**os.environ, "PATH": path})
    codes = dict(_codes())
    noticed = Counter(_NOTICED.get(code, "") for code in codes.values())
    alive = sorted(name for name, code in codes.items() if code not in _NOTICED)
    commit = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], capture_output=True, check=True, text=True)
    head = (f"{time.strftime('%Y-%m-%d')}, commit {commit.stdout.strip()}: {len(codes)} mutants, {noticed['tests']} "
            f"noticed by tests, {noticed['types']} by types, {len(alive)} alive: "
            f"{1 - len(alive) / len(codes):.1%} noticed")
    ALIVE.write_text("\n".join([head, "", *(line for name in alive for line in _change(name))]) + "\n", "utf-8")
    print(f"{head}, in {(time.monotonic() - began) / 60:.0f} minutes; {ALIVE}")


def _codes() -> Iterator[tuple[str, int]]:
    """Each mutant that was run, and mutmut's code of what came of it."""
    for meta in sorted(_MADE.rglob("*.py.meta")):
        for name, code in json.loads(meta.read_text("utf-8"))["exit_code_by_key"].items():
            if code is not None:
                yield name, code


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
