"""Made-up people for the speed benchmarks, who answer by a linear model; in memory, or streamed to Parquet."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SEED = 20
CHUNK = 2**20

CAMPAIGN = """\
format = 1
kind = "regression"
title = "Benchmark: {people} made-up people"

[budget]
data_set = "made-up people"
epsilon = 2.0

[people]
count = {people}

[data]
source = "people.parquet"

[response]
column = "y"
lower = -1
upper = 1

{features}
[model]
parameter_bound = 0.5
noise_bound = 0.5
{noise}
smallest_eigenvalue = 0.03
largest_eigenvalue = 0.11

[privacy]
epsilon_release = 0.8
epsilon_payment = 0.2

[payment]
currency = "USD"
truth_radius = 0.25

[costs]
scale = 0.01
misreports = 1e-4
"""
"""A constant and nine numbers between -1 and 1: d = 10."""

NOISES = {
    "uniform": 'noise = "uniform"',
    "truncated gaussian": 'noise = "truncated gaussian"\nnoise_std = 0.15',
}


def records(people: int, features: int) -> tuple[np.ndarray, np.ndarray]:
    """(X, y): rows uniform in the unit ball, a parameter of length 0.9, noise uniform on [-0.5, 0.5]."""
    rng = np.random.default_rng(SEED)
    X = np.empty((people, features))
    for start in range(0, people, CHUNK):
        rows = rng.standard_normal((min(CHUNK, people - start), features))
        rows *= rng.random((len(rows), 1)) ** (1 / features) / np.linalg.norm(rows, axis=1, keepdims=True)
        X[start : start + len(rows)] = rows
    theta = rng.standard_normal(features)
    theta *= 0.9 / np.linalg.norm(theta)
    return X, X @ theta + rng.uniform(-0.5, 0.5, people)


def write_campaign(folder: Path, people: int, noise: str) -> Path:
    """A campaign file beside `people.parquet`."""
    features = "".join(f'[[features]]\ncolumn = "x{k}"\nlower = -1\nupper = 1\n\n' for k in range(1, 10))
    path = folder / f"{noise.replace(' ', '_')}.toml"
    path.write_text(CAMPAIGN.format(people=people, features=features, noise=NOISES[noise]), encoding="utf-8")
    return path


def write_people(path: Path, people: int) -> None:
    """Nine features and a response in doubles, a row group at a time."""
    rng = np.random.default_rng(SEED)
    theta = rng.standard_normal(10)
    theta *= 0.4 / np.linalg.norm(theta)
    names = [*(f"x{k}" for k in range(1, 10)), "y"]
    schema = pa.schema([(name, pa.float64()) for name in names])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, people, CHUNK):
            columns = rng.uniform(-1, 1, (9, min(CHUNK, people - start)))
            y = (theta[0] + theta[1:] @ columns) / np.sqrt(10) + rng.uniform(-0.5, 0.5, columns.shape[1])
            writer.write_table(pa.table([*columns, y], schema=schema))
