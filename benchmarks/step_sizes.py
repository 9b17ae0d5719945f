"""How long DualQuery's calculators take to find a step size for a budget.

`python -m benchmarks.step_sizes PYTHON` measures the same beside another build of confide, the one that this
interpreter has installed, in turn and in processes of their own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

from benchmarks.report import Report, Table, Target

TITLE = "Step sizes"

ROUNDS = (1_000, 10_000, 50_000)
_JOB = """
import json, sys, time
from confide.release.calculators import solve
solve(1000, 1.0, 1e-6, rounds=5, samples=10)
start = time.process_time()
found = solve(500_000, 1.0, 1e-6, rounds=int(sys.argv[1]), samples=1000)
print(json.dumps({"cpu": time.process_time() - start, "eta": found.eta}))
"""


def measured(python: str, rounds: int) -> dict[str, float]:
    """CPU seconds and the step size, in a process of its own."""
    done = subprocess.run([python, "-c", _JOB, str(rounds)], check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def run(*, quick: bool) -> Report:
    """CPU seconds by rounds."""
    start = time.perf_counter()
    found = {rounds: measured(sys.executable, rounds) for rounds in ROUNDS[:1 if quick else None]}
    most = max(found)
    return Report(
        title=TITLE,
        method=["Each figure is one search in a process of its own, with n = 500,000, epsilon = 1, delta = 1e-6 and "
                "1,000 draws a round. Imports are not counted."],
        targets=[Target(f"a step size for {most:,} rounds", 6.8, found[most]["cpu"], "s",
                        note="a twentieth of 136 s, the time with one event for each round and a search by halving")],
        tables=[Table("A step size for a budget", ("rounds", "CPU seconds", "eta"),
                      [(rounds, each["cpu"], each["eta"]) for rounds, each in found.items()])],
        details={"wall_seconds": time.perf_counter() - start},
    )


def beside(python: str) -> None:
    """Print CPU seconds here and there, and how many times faster this is."""
    for rounds in ROUNDS:
        here, there = measured(sys.executable, rounds), measured(python, rounds)
        print(f"{rounds:,} rounds: {here['cpu']:.3f} s here, {there['cpu']:.3f} s there, "
              f"{there['cpu'] / here['cpu']:.0f} times faster; step sizes differ by a relative "
              f"{abs(here['eta'] / there['eta'] - 1.0):.1e}", flush=True)


if __name__ == "__main__":
    beside(sys.argv[1])
