"""Stand-ins for the published tables, and the published bins beside the list of them that comes with the data."""

from __future__ import annotations

import numpy as np
import pytest

from confide.contract.errors import InvalidInput
from confide.evidence.wu_2017.query_release.stand_ins import (
    ADULT,
    KDD99,
    made_up_codes,
    made_up_views,
    product_answers_of,
    published_schema,
    repeated_answers,
)
from confide.release.records import PackedBits
from confide.release.workload import Workload
from release.tables_of_people import published


@pytest.mark.slow
@pytest.mark.parametrize(("name", "file", "table"), [("adult", "adult", ADULT), ("kdd99", "kdd99_10pct", KDD99)])
def test_published_bins(name, file, table):
    schema = published_schema(name)
    assert schema.attributes == table.bits
    theirs, found = published(file)
    codes = theirs.encode(found)
    assert codes.records == table.records
    assert [column.column for column in schema.columns] == [column.column for column in theirs.columns]
    assert np.array_equal(schema.starts, theirs.starts)
    for mine, other in zip(schema.columns, theirs.columns, strict=True):
        assert set(mine.reachable) <= set(other.reachable)  # whole numbers reach fewer bins


def test_the_published_table_fits_its_schema():
    theirs, found = published("adult")
    codes = theirs.encode(found)
    mine = published_schema("adult")
    on = np.flatnonzero(np.bitwise_count(codes.packed().words).sum(axis=1))
    assert set(on) <= set(np.concatenate(mine.cell_attributes))
    assert theirs.attributes == mine.attributes


def test_made_up_records():
    schema = published_schema("adult")
    codes = made_up_codes(schema, 4_000, seed=1)
    assert codes.records == 4_000
    assert np.array_equal(codes.cells, made_up_codes(schema, 4_000, seed=1).cells)
    assert not np.array_equal(codes.cells, made_up_codes(schema, 4_000, seed=2).cells)
    bits = codes.packed().unpack()
    assert (bits.sum(axis=1) == len(schema.columns)).all()
    # Columns depend on each other: a product of shares is off by far more than sampling.
    pairs = Workload.complete(schema, width=2)
    shares = bits.mean(axis=0)
    off = pairs.counts(codes) / 4_000 - shares[pairs.index].prod(axis=1)
    assert np.abs(off).max() > 0.03
    with pytest.raises(InvalidInput, match="evenness"):
        made_up_codes(schema, 10, seed=1, evenness=0.0)
    with pytest.raises(InvalidInput, match="name"):
        published_schema("netflix")


def test_made_up_views():
    views = made_up_views(2_000, seed=1, items=3_000)
    shares = np.bitwise_count(views.words).sum(axis=1) / 2_000
    assert shares.mean() == pytest.approx(0.0118, rel=0.3)
    assert shares.max() <= 0.55
    assert shares[:100].mean() > 10 * shares[-1000:].mean()


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("n", [40, 97, 100])
def test_repeated_records_are_counted_like_written_ones(packed, n):
    schema = published_schema("adult")
    base = made_up_codes(schema, 40, seed=3)
    workload = Workload.random(schema, 500, seed=1)
    written = base.packed().unpack()[np.arange(n) % 40]
    found = repeated_answers(base.packed() if packed else base, workload, n)
    assert found.records == n
    assert np.array_equal(found.counts, workload.counts(PackedBits.pack(written)))


def test_counts_of_independent_attributes():
    biases = np.array([0.2, 0.7, 0.5])
    workload = Workload.complete(3, width=2, positive=False)
    found = product_answers_of(biases, workload, 10**6, seed=1)
    chance = np.where(workload.bits, biases[workload.index], 1 - biases[workload.index]).prod(axis=1)
    assert np.abs(found.fractions - chance).max() < 6 * 0.5 / 1000
