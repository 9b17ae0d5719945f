"""The store: what a settlement costs beyond its mechanism, and what a debit of many people costs, on both databases."""

from __future__ import annotations

import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.population import write_campaign, write_people
from benchmarks.processes import in_own_process
from benchmarks.report import Report, Table, Target

TITLE = "The store"
ROOT = Path(__file__).resolve().parent.parent


def run(*, quick: bool) -> Report:
    """Run every size in a process of its own, and report its largest memory."""
    sizes = (50_000, 100_000, 200_000) if quick else (250_000, 500_000, 1_000_000)
    subjects = (10_000, 20_000, 40_000) if quick else (100_000, 200_000, 400_000)
    settled: list[tuple[Any, ...]] = []
    debited: list[tuple[Any, ...]] = []
    with tempfile.TemporaryDirectory() as temporary, ExitStack() as stack:
        folder = Path(temporary)
        stores = {"SQLite": None, "PostgreSQL": _cluster(stack)}
        for people in sizes:
            place = folder / f"people-{people}"
            place.mkdir()
            write_people(place / "people.parquet", people)
            campaign = write_campaign(place, people, "uniform")
            for name, cluster in stores.items():
                url = f"sqlite:///{place}/store.db" if cluster is None else cluster.create(f"settle_{people}")
                found = _worker("settle", str(campaign), url, place / name)
                settled.append((name, people, found["all"], found["mechanism"], found["all"] - found["mechanism"],
                                found["again"], found["peak_mb"]))
        for number in subjects:
            for name, cluster in stores.items():
                url = f"sqlite:///{folder}/debit-{number}.db" if cluster is None else cluster.create(f"debit_{number}")
                found = _worker("debit", str(number), url, folder / f"debit-{name}-{number}")
                debited.append((name, number, found["first"], found["second"], found["peak_mb"]))
    largest = [row for row in settled if row[1] == sizes[-1]]
    return Report(
        title=TITLE,
        tables=[
            Table(title="A campaign from Parquet to its pack (10 features)",
                  columns=("database", "people", "all, s", "mechanism, s", "beyond the mechanism, s",
                           "the stored outcome again, s", "memory, MB"), rows=settled),
            Table(title="One debit of a data set and all its subjects, in one transaction",
                  columns=("database", "subjects", "new accounts, s", "known accounts, s", "memory, MB"), rows=debited),
        ],
        targets=[
            *(Target(f"{row[1]:,} people on {row[0]}, beyond the mechanism", 60.0, row[4], "s") for row in largest),
            *(Target(f"{row[1]:,} people on {row[0]}, memory", 1500.0, row[6], "MB") for row in largest),
            *(Target(f"{row[1]:,} subjects debited on {row[0]}", 5.0, max(row[2:4]), "s")
              for row in debited if row[1] == subjects[0]),
        ],
    )


def _cluster(stack: ExitStack) -> Any:
    """A throw-away PostgreSQL that keeps what it commits, as in use."""
    sys.path.insert(0, str(ROOT / "tests"))
    from databases import Cluster, find_postgresql

    programs = find_postgresql()
    if programs is None:
        raise SystemExit("PostgreSQL is not installed")
    return stack.enter_context(Cluster(programs, fsync=True))


def _worker(*arguments: object) -> dict[str, float]:
    found: dict[str, float] = in_own_process("store_worker", *arguments, env={"CONFIDE_HOME": str(arguments[-1])})
    return found
