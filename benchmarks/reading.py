"""What it takes to read a column: a million cells of each kind, beside Arrow's bare cast of the same cells."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.report import Report, Table
from confide.privacy.noise.simulated import study_generator
from confide.release import Binned, Levels, Schema
from confide.tables import Roster
from confide.tables._cells import numbers, strings

TITLE = "Reading columns"

THIRDS = Schema((Binned(column="x", lower=0.0, upper=1.0, bins=3),))
TENTHS = Schema((Binned(column="x", lower=0.0, upper=100.0, bins=1000),))


def columns(rows: int) -> dict[str, tuple[pa.Array, Callable[[pa.Array], Any], Callable[[pa.Array], Any]]]:
    """Kinds of cells, how they are read, and Arrow's bare cast to the same type."""
    random = study_generator(1, "cells")
    doubles = pa.array(random.random(rows) * 100)
    whole = pa.array(random.integers(1, rows + 1, rows))
    roster = Roster(rows)
    text = pa.array(["north", "south", "east", "west"]).take(pa.array(random.integers(0, 4, rows)))
    places = Levels(column="x", levels=("north", "south", "east", "west"))

    def bare(array: pa.Array) -> Any:
        return pc.cast(array, pa.float64())

    return {
        "doubles": (doubles, lambda cells: numbers("x", cells), bare),
        "32-bit floats": (pc.cast(doubles, pa.float32(), safe=False), lambda cells: numbers("x", cells), bare),
        "numbers in text": (pc.cast(doubles, pa.string()), lambda cells: numbers("x", cells), bare),
        "ids in text": (pc.cast(whole, pa.string()), lambda cells: roster.index(strings("id", cells)),
                        lambda cells: pc.cast(cells, pa.int64())),
        "levels": (text, places.encode, pc.dictionary_encode),
        "1,000 bins of doubles": (doubles, TENTHS.columns[0].encode, bare),
    }


def seconds(job: Callable[[], Any], repeats: int) -> float:
    found = []
    for _ in range(repeats):
        start = time.process_time()
        job()
        found.append(time.process_time() - start)
    return statistics.median(found)


def by_engine(rows: int, schema: Schema, folder: Path) -> Callable[[], Any]:
    """Counts of a column's bins, where DuckDB bins a Parquet file and only small numbers leave it."""
    limit = schema.columns[0].upper  # type: ignore[union-attr]
    path = folder / f"{limit:g}-{rows}.parquet"
    duckdb.from_arrow(pa.table({"x": study_generator(2, "file").random(rows) * limit})).write_parquet(str(path))
    table = ibis.duckdb.connect().read_parquet(path)
    return lambda: schema.encode(table)


def run(*, quick: bool) -> Report:
    sizes = (10_000, 20_000, 40_000) if quick else (1_000_000, 2_000_000, 4_000_000)
    repeats = 1 if quick else 5
    rows: list[tuple[Any, ...]] = []
    for size in sizes:
        for name, (cells, read, bare) in columns(size).items():
            read(cells)
            rows.append((name, size, 1e3 * seconds(lambda c=cells, r=read: r(c), repeats),  # type: ignore[misc]
                         1e3 * seconds(lambda c=cells, b=bare: b(c), repeats)))  # type: ignore[misc]
    engine: list[tuple[Any, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            for name, schema in (("1,000 bins of tenths", TENTHS), ("3 bins of thirds", THIRDS)):
                job = by_engine(size, schema, Path(folder))
                job()
                engine.append((name, size, 1e3 * seconds(job, repeats)))
    return Report(
        title=TITLE,
        method=[f"Times are CPU milliseconds of a warm process, the median of {repeats} runs. The last column is "
                "Arrow's bare cast of the same cells (for levels, Arrow's dictionary), which checks nothing.",
                "A 32-bit float is read as the decimal that it prints as, by way of its text. Every cell of a type is "
                "read in the same way, so the time does not reveal a column's contents."],
        targets=[],
        tables=[Table("Cells in memory", ("cells", "rows", "read, ms", "bare cast, ms"), rows),
                Table("Bins by DuckDB, from a Parquet file", ("bins", "rows", "CPU ms"), engine)],
        details={},
    )
