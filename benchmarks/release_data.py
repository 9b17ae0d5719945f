"""Adult and KDD99 with the columns and bins of the published DualQuery experiments, and product data of any width."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from confide.privacy.noise.simulated import study_generator
from confide.release import Codes, PackedBits, Schema
from confide.release.columns import Binned, Column, Levels

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def published(name: str) -> tuple[Schema, Codes]:
    """The schema of "adult" or "kdd99_10pct", and the table in its cells."""
    roles = json.loads((DATA / "dualquery_binning.json").read_text())[name]
    table = parquet.read_table(DATA / f"{name}.parquet")
    schema = Schema(tuple(_role(role, table.column(role["column"])) for role in roles))
    return schema, schema.encode(table)


def _role(role: dict[str, Any], cells: pa.ChunkedArray) -> Column:
    if not pa.types.is_dictionary(cells.type):
        return Binned(column=role["column"], lower=role["low"], upper=role["high"], bins=role["bins"],
                      whole=pa.types.is_integer(cells.type))
    return Levels(column=role["column"], levels=tuple(cells.chunk(0).dictionary.to_pylist()), bins=role["bins"])


def product_data(records: int, attributes: int, seed: int = 1) -> PackedBits:
    """Independent bits whose shares are uniform in [0, 1]; packed attribute by attribute."""
    generator = study_generator(seed, "benchmark", "product")
    shares = generator.random(attributes)
    words = np.zeros((attributes, -(-records // 64)), dtype=np.uint64)
    for at in range(attributes):
        bits = generator.random(records, dtype=np.float32) < shares[at]
        padded = np.zeros(words.shape[1] * 64, dtype=np.bool_)
        padded[:records] = bits
        words[at] = np.packbits(padded, bitorder="little").view("<u8")
    return PackedBits(words=words, records=records)
