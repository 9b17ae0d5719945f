"""Every matching is made, fed and watched in one way: a budget, any kind of table, progress in public units."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from confide.allocation import (
    PAlloc,
    PMatch,
    PriceRelease,
    SinkhornMatch,
    Valuations,
    instance_a,
    instance_b,
)
from confide.allocation.bundles import CappedAdditiveValuation
from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise

SIZES = {"people": 300, "goods": 4, "supply": 60, "epsilon": 8.0}
BY_KIND = {
    "SinkhornMatch": SinkhornMatch(**SIZES),
    "PMatch": PMatch(**SIZES, increment=0.2, bid_cap=2, rounds=5, batch=60, arity=5),
    "PMatch that halts": PMatch(**SIZES, increment=0.2, bid_cap=2, rounds=5, batch=60, arity=5, halting="published",
                                halt_below=10**6),
    "PAlloc": PAlloc(**SIZES, increment=0.2, bid_cap=2, rounds=5, batch=60, arity=5,
                     valuation=CappedAdditiveValuation(cap=1)),
    "prices": PriceRelease(auction=SinkhornMatch(**SIZES)),
    "plenty": SinkhornMatch(**{**SIZES, "supply": 300}),
}


@pytest.mark.parametrize("name", BY_KIND)
def test_a_frame_is_read_as_its_array_and_progress_is_reported_to_the_end(name, tmp_path):
    """Bit for bit, in single and in double precision; progress counts rounds, which are public."""
    one = BY_KIND[name]
    for table in (instance_a(300, 4, seed=1), instance_b(300, 4, seed=2).astype(np.float64)):
        columns = {f"good {j}": table[:, j] for j in range(4)}
        arrow, reported = pa.table(columns), []
        pq.write_table(arrow, tmp_path / "values.parquet")
        expected = one.run(table, Noise.simulated(1), progress=lambda *at, reported=reported: reported.append(at))
        for given in (arrow, arrow.to_batches()[0], pd.DataFrame(columns), pl.DataFrame(columns), columns,
                      pd.DataFrame(columns, index=pd.Index(range(7, 307), name="id")), tmp_path / "values.parquet"):
            found = one.run(given, Noise.simulated(1))
            assert found.shares == expected.shares
            assert found.to_dict()["billboard"] == expected.to_dict()["billboard"]
        last, rounds = reported[-1]
        assert last == rounds
        assert [at for at, _ in reported] == sorted({at for at, _ in reported})
        assert {of for _, of in reported} == {rounds}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_column_of_text_is_refused_by_its_name(frame):
    columns = {"art": [0.5] * 300, "law": ["half"] * 300, "music": [1.0] * 300, "sport": [0] * 300}
    for one in (BY_KIND["SinkhornMatch"], BY_KIND["PAlloc"]):
        with pytest.raises(InvalidInput, match=r"^law: the column holds text; must be numbers"):
            one.run(frame(columns), Noise.simulated(1))


def test_a_csv_file_is_read_by_its_numbers(tmp_path):
    path = tmp_path / "values.csv"
    path.write_text("art,law\n0.5,0.25\n1,0\n")
    assert Valuations.of(path, people=2, goods=2).values.tolist() == [0.5, 0.25, 1.0, 0.0]
    path.write_text("art,law\n0.5,half\n1,0\n")
    with pytest.raises(InvalidInput, match="row 0 holds a value"):
        Valuations.of(str(path), people=2, goods=2)
    assert Valuations.of(path, people=2, goods=2, unusable="null").values.tolist() == [0.0, 0.0, 1.0, 0.0]


@pytest.mark.parametrize("kind", [SinkhornMatch, PMatch, PAlloc, PriceRelease])
def test_every_mechanism_is_made_for_a_budget(kind):
    more = {"valuation": CappedAdditiveValuation(cap=1)} if kind is PAlloc else {}
    epsilon = 4.0
    one = kind.for_budget(epsilon=epsilon, delta=0.0, people=2000, goods=4, supply=400, **more)
    assert one.guarantees().privacy[0].loss.epsilon <= epsilon * (1 + 1e-12)
    with pytest.raises(TypeError):
        kind.for_budget(2000, 4, 400, epsilon)
