"""Tables that several tests of query release use: small made-up ones, and the published data where it is there."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from confide.privacy.noise.simulated import study_generator
from confide.release import Binned, Bit, Codes, Levels, Schema
from missing import missing

DATA = Path(__file__).parents[3] / "shared" / "data"
"""Beside the checkout; what is read from it is optional."""

SMALL = Schema((
    Levels(column="sex", levels=("female", "male")), Binned(column="age", lower=0, upper=100, bins=4),
    Bit(column="smoker"), Levels(column="kin", levels=("wife", "child", "other"), bins=5), Bit(column="rich"),
))
"""2 + 4 + 1 + 5 + 1 attributes; two bins of kin are unreachable."""


def people(count: int, seed: int = 1) -> pa.Table:
    """So many rows that SMALL accepts, with dependent columns."""
    random = study_generator(seed, "people")
    male, age = random.integers(0, 2, count), random.uniform(0, 100, count)
    return pa.table({
        "sex": pa.array(["female", "male"]).take(pa.array(male)), "age": age,
        "smoker": random.random(count) < 0.2 + 0.3 * male,
        "kin": pa.array(["wife", "child", "other"]).take(pa.array(random.integers(0, 3, count))),
        "rich": (age > 40).astype(int) * random.integers(0, 2, count),
    })


def codes(count: int, seed: int = 1) -> Codes:
    """The same people as cells."""
    return SMALL.encode(people(count, seed))


@cache
def published(name: str) -> tuple[Schema, pa.Table]:
    """The schema of a published experiment and its table: "adult" or "kdd99_10pct"."""
    if not (DATA / f"{name}.parquet").is_file():
        missing(f"{name} is not here")
    columns: list[Binned | Levels] = []
    table = pq.read_table(DATA / f"{name}.parquet")
    for each in json.loads((DATA / "dualquery_binning.json").read_text("utf-8"))[name]:
        kind = table.schema.field(each["column"]).type
        if pa.types.is_dictionary(kind):
            levels = tuple(table[each["column"]].chunk(0).dictionary.to_pylist())
            assert each["high"] == len(levels) - 1
            columns.append(Levels(column=each["column"], levels=levels, bins=each["bins"]))
        else:
            columns.append(Binned(column=each["column"], lower=each["low"], upper=each["high"], bins=each["bins"],
                                  whole=pa.types.is_integer(kind)))
    return Schema(tuple(columns)), table
