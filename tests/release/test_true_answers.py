"""True answers: exact, the same on every way, from arrays, blocks, files and engines."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables_of_people import SMALL, codes, people, published

from cases import fast
from confide.contract import InvalidInput
from confide.privacy.noise.simulated import study_generator
from confide.release import (
    Binned,
    Bit,
    Codes,
    Levels,
    PackedBits,
    Schema,
    TrueAnswers,
    Workload,
    counting,
    true_answers,
)
from confide.tables import Roster, open_table

pytestmark = pytest.mark.filterwarnings("ignore:.* have no usable row:UserWarning")  # tables of few rows


def slowly(workload: Workload, bits: np.ndarray, weights=None) -> np.ndarray:
    """By the definition, one query after the other."""
    weights = np.ones(len(bits)) if weights is None else weights
    found = []
    for index, required in zip(workload.index, workload.bits, strict=True):
        there = index >= 0
        if workload.kind == "parities":
            fine = bits[:, index[there]].sum(axis=1) % 2 == 0
        else:
            fine = (bits[:, index[there]] == required[there]).all(axis=1)
        found.append(weights[fine].sum())
    return np.array(found)


WORKLOADS = {
    "signed": lambda: Workload.random(SMALL, 300, seed=1),
    "independent columns": lambda: Workload.random(SMALL, 600, seed=2, distinct_columns=False),
    "wide": lambda: Workload.random(SMALL, 100, width=5, seed=3),
    "singles and pairs": lambda: Workload.complete(SMALL, width=2, positive=False, smaller=True),
    "parities": lambda: Workload.complete(SMALL, width=3, kind="parities"),
}


@pytest.mark.parametrize("records", [1, 64, 130, 700])
@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS)
def test_every_way_counts_the_same(records, workload):
    workload, found = workload(), codes(records)
    bits = found.packed().unpack()
    expected = slowly(workload, bits)
    assert np.array_equal(workload.counts(found.packed()), expected)
    assert np.array_equal(workload.counts(found), expected)
    cells, counts = found.distinct()
    words, starts, weights, unused = counting.planes(SMALL, cells, counts)
    assert np.array_equal(counting._count(workload, words, starts, weights, unused, records), expected)
    if workload.kind == "conjunctions" and workload.width <= 3:
        assert np.array_equal(counting._Groups(workload, SMALL).answers(cells, counts.astype(float)), expected)
    assert np.array_equal(true_answers(bits, workload).counts, expected)
    assert np.array_equal(true_answers(people(records), workload, SMALL).counts, expected)


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS)
def test_weighted_populations(workload):
    """The tables with inclusion and exclusion equal the bits one by one."""
    workload, found = workload(), codes(500)
    weights = study_generator(3, "weights").random(500)
    weights /= weights.sum()
    expected = slowly(workload, found.packed().unpack(), weights)
    assert np.abs(workload.answers(found, weights) - expected).max() < 5e-13
    assert np.abs(workload.answers(found.packed(), weights) - expected).max() < 5e-13
    assert np.array_equal(workload.answers(found), workload.counts(found) / 500)


@settings(max_examples=25)
@given(records=st.integers(1, 200), attributes=st.integers(1, 9), width=st.integers(1, 9), seed=st.integers(0, 9))
def test_counts_of_bits(records, attributes, width, seed):
    width = min(width, attributes)
    bits = study_generator(seed, "bits").random((records, attributes)) < 0.6
    workload = Workload.complete(attributes, width=width, positive=False)
    assert np.array_equal(workload.counts(PackedBits.pack(bits)), slowly(workload, bits))


def test_many_words_and_many_queries():
    """More records than a block of words, more queries than a thread takes at once."""
    bits = study_generator(1, "bits").random((40000, 30)) < study_generator(1, "rates").random(30)
    workload = Workload.random(30, 9000, seed=1)
    some = np.arange(0, 9000, 97)
    packed = PackedBits.pack(bits)
    assert np.array_equal(workload.counts(packed)[some], slowly(workload.some(some), bits))
    blocks = (PackedBits.pack(bits[at : at + 7000]) for at in range(0, 40000, 7000))
    assert np.array_equal(true_answers(blocks, workload).counts, workload.counts(packed))


@pytest.mark.parametrize(("name", "count"), fast(1, [("adult", 20000), ("kdd99_10pct", 100000)]))
def test_the_published_tables(name, count):
    schema, table = published(name)
    found = schema.encode(table)
    for distinct in (True, False):
        workload = Workload.random(schema, count, seed=7, distinct_columns=distinct)
        fast_counts = workload.counts(found)
        assert np.array_equal(fast_counts, workload.counts(found.packed()))
        some = np.arange(0, count, count // 30)
        assert np.array_equal(fast_counts[some], slowly(workload.some(some), found.packed().unpack()))


# ---- the object


def test_true_answers_are_counts_and_private():
    found = true_answers([[1, 0], [1, 1], [0, 0]], Workload.conjunctions([[0], [1]], attributes=2))
    assert (found.counts.tolist(), found.records, len(found)) == ([2, 1], 3, 2)
    assert found.fractions.tolist() == [2 / 3, 1 / 3]
    assert repr(found) == "TrueAnswers(2 queries, 3 records)"


@pytest.mark.parametrize("make", [
    lambda: TrueAnswers(counts=np.array([4]), records=3), lambda: TrueAnswers(counts=np.array([-1]), records=3),
    lambda: TrueAnswers(counts=np.array([0.5]), records=3),
    lambda: TrueAnswers(counts=np.zeros((1, 1), int), records=3),
    lambda: TrueAnswers(counts=np.zeros(0, int), records=3), lambda: TrueAnswers(counts=np.array([0]), records=0),
    lambda: true_answers(people(3), WORKLOADS["signed"]()), lambda: true_answers(iter([]), WORKLOADS["signed"]()),
    lambda: true_answers(iter([people(3)]), WORKLOADS["signed"]()), lambda: true_answers([], WORKLOADS["signed"]()),
    lambda: true_answers(people(3), Workload.random(7, 5, seed=1), SMALL),
    lambda: true_answers(people(3), WORKLOADS["signed"](), SMALL, unusable="drop"),
    lambda: true_answers(people(3).slice(0, 0), WORKLOADS["signed"](), SMALL),
])
def test_answers_that_are_refused(make):
    with pytest.raises(InvalidInput):
        make()


def test_bits_with_a_schema():
    """As without one; the same for packed bits."""
    bits, workload = codes(20).packed().unpack(), WORKLOADS["signed"]()
    expected = workload.counts(codes(20))
    for given_ in (bits, PackedBits.pack(bits)):
        assert np.array_equal(true_answers(given_, workload, SMALL).counts, expected)
    with pytest.raises(InvalidInput, match="has no column names"):
        true_answers(bits.astype(int), workload, SMALL)


@pytest.mark.parametrize("wrong", ["x", 3, 2.5, [None], {"a": 1}, np.int64(3), np.zeros((2, 2)), people(1).to_pandas()],
                         ids=lambda each: type(each).__name__)
def test_other_types_are_named(wrong):
    workload, good = WORKLOADS["signed"](), codes(3)
    answers = true_answers(good, workload)
    for field, call in {
        "workload": lambda: true_answers(good, wrong), "workload ": lambda: true_answers(people(3), wrong, SMALL),
        "schema": lambda: true_answers(people(3), workload, wrong),
        "schema ": lambda: TrueAnswers(counts=answers.counts, records=3, workload=workload, schema=wrong),
        "workload  ": lambda: TrueAnswers(counts=answers.counts, records=3, workload=wrong),
        "records": lambda: workload.counts(wrong), "records ": lambda: workload.answers(wrong),
    }.items():
        with pytest.raises(InvalidInput) as error:
            call()
        assert error.value.field == field.strip()


@pytest.mark.slow
def test_many_unequal_bins_are_read_here(tmp_path):
    """The engine would compare with each edge; the answers are the same."""
    schema = Schema((Binned(column="v", edges=np.arange(2000) ** 1.5),))
    table = pa.table({"v": study_generator(5, "values").uniform(0, 1999, 300)})
    workload = Workload.complete(schema, width=1)
    assert np.array_equal(true_answers(query(table, tmp_path), workload, schema).counts,
                          workload.counts(schema.encode(table)))


# ---- tables in a stream, and engines


def test_a_stream_counts_what_one_piece_counts(tmp_path, monkeypatch):
    monkeypatch.setattr("confide.release.answers._HELD", 1000)
    monkeypatch.setattr("confide.release.reading._ROWS", 64)
    pq.write_table(people(1000), tmp_path / "people.parquet")
    workload = WORKLOADS["signed"]()
    assert np.array_equal(true_answers(tmp_path / "people.parquet", workload, SMALL).counts,
                          workload.counts(codes(1000)))
    padded = true_answers(tmp_path / "people.parquet", workload, SMALL, records=1100, unusable="null")
    assert padded.records == 1100
    assert np.array_equal(padded.counts, workload.counts(SMALL.encode(people(1000), records=1100, unusable="null")))
    first = true_answers(tmp_path / "people.parquet", workload, SMALL, records=100, unusable="null")
    assert np.array_equal(first.counts, workload.counts(Codes(schema=SMALL, cells=codes(1000).cells[:100])))


def query(table: pa.Table, folder):
    import ibis

    pq.write_table(table, folder / "table.parquet")
    return ibis.duckdb.connect().read_parquet(folder / "table.parquet")


HARD = Schema((
    Binned(column="rate", lower=0, upper=1, bins=10), Binned(column="clipped", lower=-3, upper=0.7, bins=7,
                                                             out_of_bounds="clip"),
    Binned(column="whole", lower=0.5, upper=20.5, bins=30, whole=True, out_of_bounds="clip"),
    Binned(column="big", lower=0, upper=2.0**60, bins=3), Bit(column="flag"), Bit(column="number"),
    Levels(column="text", levels=("a", "b b", "c"), bins=7), Levels(column="digit", levels=("7", "08", "9")),
    Levels(column="truth", levels=("True", "FALSE")), Levels(column="spelled", levels=("TRUE", "false")),
    Binned(column="uneven", edges=(-1, 0, 0.1, 1 / 3, 2.5, 7), out_of_bounds="clip"),
    Binned(column="years", edges=(0.5, 0.9, 18, 25, 2.0**52, 2.0**53), whole=True, out_of_bounds="clip"),
))

FEWER = Schema(HARD.columns[:10])


def hard(rows: int = 400) -> pa.Table:
    """Values at and beside edges, beyond bounds, missing, infinite, padded with spaces."""
    random = study_generator(8, "hard")
    inf, nan = float("inf"), float("nan")

    def some(values, kind=None):
        return pa.array([values[k] for k in random.integers(0, len(values), rows)], kind)

    edges = [e for k in range(11) for e in (k / 10, np.nextafter(k / 10, 2), np.nextafter(k / 10, -1))]
    return pa.table({
        "rate": some([*edges, -0.0, nan, inf, -inf, None, 1e300]),
        "clipped": some([*np.linspace(-4, 2, 50), -3 + 3.7 / 7 * 3, nan, inf, -1e308, None], pa.float32()),
        "whole": some([0, 1, 2, 7, 20, 21, 3.5, 0.5, 20.5, nan, None, 1e18], pa.float64()),
        "big": some([0, 2**53 + 1, 2**60, 2**60 + 1, 2**60 // 3, 2**60 // 3 + 1, -1, None], pa.int64()),
        "flag": some([True, False, None]), "number": some([0, 1, 2, None], pa.int32()),
        "text": some(["a", " a\t", "b b", "c\n", "", "  ", "d", "A", None]),
        "digit": some([7, 8, 9, -7, None], pa.int8()),
        "truth": some([True, False, None]), "spelled": some(["true", "False", "TRUE ", "yes", None]),
        "uneven": some([e for v in (-1, 0, 0.1, 1 / 3, 2.5, 7) for e in (v, np.nextafter(v, 9), np.nextafter(v, -9))]
                       + [-1e300, 1e300]),
        "years": some([-5, 0, 1, 17, 18, 24, 25, 2**52, 2**52 + 1, 2**60 + 1], pa.int64()),
    })


def test_an_engine_bins_as_the_columns_do(tmp_path):
    """Row by row: the same cells, and the same words about what is wrong."""
    table = hard().append_column("who", pa.array([f"p{k}" for k in range(400)]))
    roster = Roster.from_ids([f"p{k}" for k in range(400)])
    here, there = {}, {}
    expected = HARD.encode(table, records=roster, id="who", unusable="null", rejected=here)
    found = HARD.encode(query(table, tmp_path), records=roster, id="who", unusable="null", rejected=there)
    assert np.array_equal(found.cells, expected.cells)
    assert there == here
    assert 20 < len(here) < 400


def test_an_engine_counts_by_itself(tmp_path, monkeypatch):
    """Few choices of columns: only counts leave the engine; with many, cells are streamed. Both count the same."""
    table, data = hard(), query(hard(), tmp_path)
    expected = FEWER.encode(table, unusable="null")
    few = Workload.random(FEWER, 40, seed=1).some(np.arange(8))
    many = Workload.random(FEWER, 400, seed=1)
    parity = Workload.parities([[0, 60], [12, 31]], attributes=FEWER)
    assert np.array_equal(true_answers(data, many, FEWER, unusable="null").counts, many.counts(expected))
    monkeypatch.setattr("confide.release.answers._streamed", None)  # no row leaves from here on
    for workload in (few, parity):
        found = true_answers(data, workload, FEWER, unusable="null")
        assert (found.records, found.counts.tolist()) == (400, workload.counts(expected).tolist())
    with pytest.raises(InvalidInput) as error:
        true_answers(data, few, FEWER)
    assert str(error.value).startswith("rate: the column has a value that it does not accept; must be in [0, 1]; or ")


def test_an_engine_counts_predicates_and_clean_tables(tmp_path, monkeypatch):
    schema = Schema.bits(4)
    bits = study_generator(4, "bits").random((90, 4)) < 0.4
    data = query(pa.table({f"x{k}": bits[:, k] for k in range(4)}), tmp_path)
    monkeypatch.setattr("confide.release.answers._streamed", None)
    truth = study_generator(4, "truth").random((5, 16)) < 0.5
    for workload in (Workload.predicates(truth), Workload.complete(4, width=2)):
        assert np.array_equal(true_answers(data, workload, schema).counts,
                              workload.counts(PackedBits.pack(bits)))
    with pytest.raises(InvalidInput, match="has no records"):
        true_answers(data.filter(data.x0 & ~data.x0), Workload.complete(4, width=2), schema)


@pytest.mark.parametrize("cells", [pa.array(["1", "0"]), pa.array([1, 0], pa.decimal128(5, 1))])
def test_other_types_are_read_here(tmp_path, cells):
    schema = Schema((Bit(column="v"),))
    workload = Workload.conjunctions([[0]], attributes=1)
    data = query(pa.table({"v": cells}), tmp_path)
    assert true_answers(data, workload, schema).counts.tolist() == [1]
    with pytest.raises(InvalidInput, match="no such column"):
        true_answers(data, workload, Schema((Bit(column="w"),)))
    flags, letters = query(pa.table({"v": [True]}), tmp_path), Schema((Levels(column="v", levels=("a", "b")),))
    with pytest.raises(InvalidInput, match="the levels must be true and false"):
        true_answers(flags, Workload.conjunctions([[0]], attributes=2), letters)


WHOLE = {
    "text": pa.array(["1", "1.0", "2.00", "1e+05", "x", " 2 ", "01", None, "1..", "100000"]),
    "whole": pa.array([1, 1, 2, 100000, 7, 2, 0, None, -1, 100000]),
    "floating": pa.array([1.0, 1.0, 2.0, 1e5, 1.5, 2.0, 0.0, None, -1.0, 1e5]),
    "32 bits": pa.array([1.0, 1.0, 2.0, 1e5, 1.5, 2.0, 0.0, None, -1.0, 1e5], pa.float32()),
}


@pytest.mark.parametrize("spelled", [("1", "2", "100000", "y"), ("1.0", "2.0", "1e+05", "y")], ids=["plain", "pointed"])
@pytest.mark.parametrize("kind", WHOLE)
def test_a_level_that_is_a_whole_number_may_be_written_in_many_ways(tmp_path, kind, spelled):
    schema = Schema((Levels(column="v", levels=spelled), Bit(column="b", true=spelled[1], false=spelled[0])))
    table = pa.table({"v": WHOLE[kind], "b": WHOLE[kind]})
    wanted = [0, 0, 1, 2, -1, 1, -1, -1, -1, 2]
    (tmp_path / "v.csv").write_text("v,b\n" + "".join(f"{v or ''},{v or ''}\n" for v in WHOLE["text"].to_pylist()))
    data = query(table, tmp_path)
    for each in (table, data, table.to_pandas(), tmp_path / "v.csv"):
        found = [np.concatenate([np.where(problems == 0, values, -1) for values, problems in (
            role.encode(batch.column(0)) for batch in open_table(each).batches([role.column]))])
            for role in schema.columns]
        assert found[0].tolist() == wanted
        assert found[1].tolist() == [rank if rank < 2 else -1 for rank in wanted]
    workload = Workload.conjunctions([[name] for name in schema.names], attributes=schema)
    assert np.array_equal(true_answers(data, workload, schema, unusable="null").counts,
                          true_answers(table, workload, schema, unusable="null").counts)


@pytest.mark.parametrize("bins", [3, 60, 300, 5000])
@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.int64()], ids=str)
def test_an_engine_places_values_on_and_beside_edges_as_the_column_does(tmp_path, monkeypatch, bins, kind):
    column = Binned(column="v", lower=-0.7, upper=29.3, bins=bins, out_of_bounds="clip")
    edges = np.array([float(cut) for cut in column.cuts])[:: max(1, bins // 50)]
    values = np.concatenate([np.append(edges, [-9, 40, 1, 2]).astype(kind.to_pandas_dtype())] * 3)
    if kind != pa.int64():
        third = len(values) // 3
        values[third: 2 * third] = np.nextafter(values[third: 2 * third], values.dtype.type(-99))
        values[2 * third:] = np.nextafter(values[2 * third:], values.dtype.type(99))
    schema, table = Schema((column,)), pa.table({"v": pa.array(values, kind)})
    workload = Workload.conjunctions([[name] for name in schema.names], attributes=schema)
    expected = true_answers(table, workload, schema).counts
    if bins == 3 or (bins in (60, 300) and kind != pa.float32()):  # few edges, or edges that follow by a rule
        monkeypatch.setattr("confide.release.answers._streamed", None)
    assert np.array_equal(true_answers(query(table, tmp_path), workload, schema).counts, expected)


def test_rows_of_a_query_have_no_order(tmp_path):
    with pytest.raises(InvalidInput, match=r"no order.* makes the i-th row record i; name the column .*\.order_by"):
        true_answers(query(people(5), tmp_path), WORKLOADS["signed"](), SMALL, records=5)
    ordered = query(people(50), tmp_path).order_by("age")
    expected = SMALL.encode(people(50).sort_by("age"))
    assert np.array_equal(SMALL.encode(ordered, records=50).cells, expected.cells)
