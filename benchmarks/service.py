"""The service under load: people who hand in at a fixed rate, whatever the service does, on both databases."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.processes import in_own_process
from benchmarks.report import Report, Table, Target
from benchmarks.store import _cluster

TITLE = "The service"
RATE, WORKERS = 200, 2


def run(*, quick: bool) -> Report:
    """The service in processes of its own, and those who hand in, in another one, on the same machine."""
    seconds = 5 if quick else 60
    rows: list[tuple[Any, ...]] = []
    wrong = dict[str, int]()
    with tempfile.TemporaryDirectory() as temporary, ExitStack() as stack:
        folder = Path(temporary)
        for name in ("SQLite", "PostgreSQL"):
            home = folder / name
            url = "" if name == "SQLite" else _cluster(stack).create("service")
            found = in_own_process("service_worker", str(RATE), str(seconds), str(WORKERS), url, str(home),
                                   env={"CONFIDE_HOME": str(home)})
            wrong[name] = found["wrong"]
            rows.append((name, found["sent"], found["acknowledged"], found["stored"], found["p50_ms"], found["p99_ms"],
                         found["worst_ms"], found["seconds"]))
    return Report(
        title=TITLE,
        method=[f"The client sends {RATE} reports a second for {seconds} s, each for another participant with their "
                "own session. Each report is sent when it is due, even if earlier reports have no answer yet. Times "
                "are from this moment to the whole answer.",
                f"{WORKERS} processes serve, and the client runs on the same cores. Acknowledged reports are on the "
                "disk."],
        tables=[Table(title="Handing in over the API",
                      columns=("database", "sent", "acknowledged", "stored", "half within, ms", "99% within, ms",
                               "worst, ms", "all, s"), rows=rows)],
        targets=[
            *(Target(f"99% of answers on {row[0]}", 250.0, row[5], "ms") for row in rows),
            *(Target(f"reports lost or doubled on {row[0]}", 0.0,
                     abs(row[1] - row[3]) + abs(row[1] - row[2]) + wrong[row[0]])
              for row in rows),
        ],
    )
