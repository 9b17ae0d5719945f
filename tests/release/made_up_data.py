"""Data of the release tests: made-up correlated records, and the published tables where they lie beside the project."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from confide.privacy.noise.simulated import study_generator
from confide.release.codes import Codes
from confide.release.columns import Binned, Levels
from confide.release.schema import Schema

__all__ = ["brute_answers", "latent_classes", "published", "uneven_classes"]

_SHARED = Path(__file__).parents[3] / "shared" / "data"


def latent_classes(seed: int, n: int, d: int, classes: int, flip: float | None = None) -> np.ndarray:
    """(n, d) bits of a mixture of product laws: each class prefers a pattern from which `flip` of the bits differ; or,
    with None, each class has probabilities of its own.
    """
    g = study_generator(seed, "latent classes")
    p = g.random((classes, d))
    if flip is not None:
        p = np.where(p < 0.5, flip, 1 - flip)
    return g.random((n, d)) < p[g.integers(0, classes, n)]


def uneven_classes(seed: int, n: int, d: int, classes: int) -> np.ndarray:
    """(n, d) bits of a mixture of product laws with probabilities of Beta(1/2, 1/2) and shares of Dirichlet(5)."""
    g = study_generator(seed, "uneven classes")
    p, shares = g.beta(0.5, 0.5, (classes, d)), g.dirichlet(np.full(classes, 5.0))
    return g.random((n, d)) < p[g.choice(classes, n, p=shares)]


def brute_answers(law: np.ndarray, workload) -> np.ndarray:
    """(k,) answers of a whole histogram (2^d,), query by query."""
    d = workload.attributes
    bits = np.arange(1 << d)[:, None] >> np.arange(d) & 1
    out = []
    for row in range(len(workload)):
        if workload.kind == "predicates":
            inside = workload.truth[row]
        else:
            these = workload.index[row][workload.index[row] >= 0]
            values = bits[:, these] == workload.bits[row][: len(these)]
            inside = values.all(axis=1) if workload.kind == "conjunctions" else bits[:, these].sum(axis=1) % 2 == 0
        out.append(law[inside].sum())
    return np.array(out)


def published(name: str) -> tuple[Schema, Codes]:
    """Schema and records of "adult" (15 columns, 235 attributes) or "kdd99_10pct" (41, 396), by the published bins;
    skips where the files are not there.
    """
    if not (_SHARED / f"{name}.parquet").exists():
        pytest.skip("the published data is not here")
    import pyarrow.parquet as pq

    table = pq.read_table(_SHARED / f"{name}.parquet")
    columns: list[Binned | Levels] = []
    arrays = {}
    for entry in json.loads((_SHARED / "dualquery_binning.json").read_text())[name]:
        column = table[entry["column"]].combine_chunks()
        if hasattr(column.type, "value_type") and hasattr(column, "indices"):
            levels = tuple(range(len(column.dictionary)))
            arrays[entry["column"]] = column.indices
            bins = entry["bins"]
            columns.append(Levels(column=entry["column"], levels=levels, bins=bins if bins != len(levels) else None))
        else:
            arrays[entry["column"]] = column
            columns.append(Binned(column=entry["column"], lower=entry["low"], upper=entry["high"], bins=entry["bins"]))
    schema = Schema(tuple(columns))
    return schema, schema.encode(arrays)
