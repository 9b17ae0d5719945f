"""The public list of ids: ranks, unknown ids, duplicates, first rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.contract import InvalidInput
from confide.tables import FirstRows, Roster
from confide.tables import roster as module

KINDS = {
    "int8": lambda: pa.array([3, 1, None, 0, 4, -1], pa.int8()),
    "uint64": lambda: pa.array([3, 1, None, 0, 2**64 - 1, 2**63], pa.uint64()),
    "float": lambda: pa.array([3.0, 1.0, float("nan"), 1.5, float("inf"), 1e300]),
    "text": lambda: pa.array([" 3", "1", None, "01", "9" * 30, "+1"]),
    "view": lambda: pa.array(["3", "1", "", "x", "0x1", "1.5"], pa.string_view()),
    "decimal": lambda: pa.array([3, 1, None, 0, 4, 5], pa.decimal128(5, 0)),
    "dictionary": lambda: pa.array(["3", "1", None, "x", "y", "z"]).dictionary_encode(),
    "numpy": lambda: np.array([3, 1, 0, 4, -5, 2**62]),
    "list": lambda: [3, "1", None, 0.5, True, 4],
    "null first": lambda: pa.concat_arrays([pa.array(["0", "3", "1", "7"])[1:3], pa.array([None] * 4, pa.string())]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_ids_are_compared_by_their_text(kind):
    expected = [2, 0, -1, -1, -1, -1]
    assert Roster(3).index(KINDS[kind]()).tolist() == expected
    assert Roster.from_ids([1, 2, 3]).index(KINDS[kind]()).tolist() == expected
    assert Roster.from_ids(["1", "2", "3"]).index(KINDS[kind]()).tolist() == expected
    # Far apart, and no integers at all.
    assert Roster.from_ids(["1", 10**15, "3"]).index(KINDS[kind]()).tolist() == expected
    assert Roster.from_ids(["1", "ann", "3"]).index(KINDS[kind]()).tolist() == expected


WRITTEN = {
    "with a gap": (["3.0", "1.0", None, "0.0", "4.0", "-1.0"]),
    "to two places": (["3.00", "1.", "", "1.01", "01.0", "1.."]),
    "as R writes": (["3", "1e+00", "1e+", "1e0", "+1e+00", "1e-00"]),
}


@pytest.mark.parametrize("cells", WRITTEN.values(), ids=WRITTEN)
def test_an_id_that_is_a_whole_number_may_have_a_point(cells):
    expected = [2, 0, -1, -1, -1, -1]
    for column in (cells, pa.array(cells), pa.array(cells, pa.string_view()), pa.array(cells).dictionary_encode()):
        for roster in (Roster(3), Roster.from_ids([1, 2, 3]), Roster.from_ids(["1.0", "2.0", "3.0"]),
                       Roster.from_ids(["1", "ann", "3"]), Roster.from_ids(["1.0", "ann", "3"])):
            assert roster.index(column).tolist() == expected
    assert Roster(10**6).index(["1e+05", "1.2e+05", "100000.0", "1e+06"]).tolist() == [99999, 119999, 99999, 999999]
    assert Roster(3).rank("2.0") == 1
    assert Roster.from_ids(["a", "7.0"]).rank(7) == 1


def test_an_id_is_first_the_one_that_is_spelled_alike():
    roster = Roster.from_ids(["1", "1.0", "2.0", "x.0"])
    assert roster.index(["1.0", "1", "2", "1.00", "x", "x.0", "2.0"]).tolist() == [1, 0, 2, -1, -1, 3, 2]
    assert [roster.identity(rank) for rank in range(4)] == ["1", "1.0", "2.0", "x.0"]
    first = FirstRows(Roster(3), id="who")
    assert first.claim(pa.record_batch({"who": ["2", "2.0", "1.0"]})).tolist() == [1, -2, 0]


@settings(max_examples=40, deadline=None)
@given(ids=st.lists(st.text(min_size=1, max_size=5).map(str.strip).filter(bool) | st.integers(-(2**63), 2**63 - 1),
                    min_size=1, max_size=30, unique_by=str), data=st.data())
def test_every_list_finds_its_own(ids, data):
    roster = Roster.from_ids(ids)
    order = data.draw(st.permutations(range(len(ids))))
    assert roster.index([str(ids[i]) for i in order]).tolist() == list(order)
    assert [roster.identity(i) for i in range(len(roster))] == [str(i) for i in ids]
    assert [roster.rank(i) for i in ids] == list(range(len(ids)))
    absent = data.draw(st.text(max_size=5).filter(lambda t: t.strip() not in {str(i) for i in ids}))
    assert roster.index([absent]).tolist() == [-1]


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=4) | st.from_regex(r"\s?[+-]?0?[0-9]{1,21}\s?", fullmatch=True) | st.integers(-5, 40)
       | st.floats() | st.none() | st.booleans())
def test_one_id_is_read_as_in_a_column(identity):
    for roster in (Roster(30), Roster.from_ids([3, 7, 10**15]), Roster.from_ids(["a", "7", "true"])):
        (found,) = roster.index([identity])
        if found < 0:
            with pytest.raises(InvalidInput, match="not on the public list"):
                roster.rank(identity)
        else:
            assert roster.rank(identity) == found


@pytest.mark.parametrize("cells", [pa.array([1e12, 12345678901.0, 0.5, None]), [1e12, 12345678901.0, "x", None],
                                   [10**12, "12345678901", 0.5, None]])
def test_long_ids_as_floats(cells):
    assert Roster.from_ids([12345678901, 10**12]).index(cells).tolist() == [1, 0, -1, -1]


def test_a_collision_of_hashes_only_costs_time(monkeypatch):
    monkeypatch.setattr(module, "_hash", lambda texts: np.zeros(len(texts), np.uint64))
    roster = Roster.from_ids(["ann", "bob", "cy"])
    assert roster.index(["cy", "dee", "ann", None]).tolist() == [2, -1, 0, -1]
    with pytest.raises(InvalidInput, match="'bob' stands twice"):
        Roster.from_ids(["ann", "bob", "bob"])


@pytest.mark.parametrize(("ids", "words"), [
    ([], "empty"), (["a", None], "an id is empty"), (["a", " "], "an id is empty"),
    (["a", "b", "a"], "'a' stands twice"),
    ([1, 2, "1"], "1 stands twice"), ([1, 10**12, 1], "1 stands twice"), (["a ", "a"], "'a' stands twice"),
])
def test_bad_lists(ids, words):
    with pytest.raises(InvalidInput, match=words) as caught:
        Roster.from_ids(ids)
    assert caught.value.field == "ids"


def test_an_id_is_compared_not_only_its_hash(monkeypatch):
    monkeypatch.setattr(module, "_hash", lambda texts: np.array([len(t.as_py()) for t in texts], np.uint64))
    roster = Roster.from_ids(["a", "bb", "ccc"])
    assert roster.index(["bb", "xx", None, "y", "ccc", "dddd"]).tolist() == [1, -1, -1, -1, 2, -1]


def test_a_text_longer_than_every_id_is_not_hashed(monkeypatch):
    lengths = []
    hash_ = module._hash
    monkeypatch.setattr(module, "_hash", lambda texts: lengths.append(pc.max(pc.binary_length(texts)).as_py())
                        or hash_(texts))
    assert Roster.from_ids(["ann", "bo"]).index(["bo", "x" * 10**6, "ann"]).tolist() == [1, -1, 0]
    assert max(lengths) == 3


def test_ids_must_be_utf8():
    with pytest.raises(InvalidInput, match="not UTF-8"):
        Roster.from_ids(pa.array([b"ann", b"\xff"]))


def test_bad_counts_and_ranks():
    for count in (0, -1, 1.5, True):
        with pytest.raises(InvalidInput, match="count"):
            Roster(count)
    with pytest.raises(InvalidInput, match="not on the public list of 3"):
        Roster(3).rank("4")
    with pytest.raises(InvalidInput, match=r"must be in \[0, 3\)"):
        Roster(3).identity(3)
    with pytest.raises(InvalidInput, match="type date32"):
        Roster(3).index(pa.nulls(2, pa.date32()), "birth")
    assert repr(Roster(3)) == "Roster(3)"
    assert repr(Roster.from_ids(["a"])) == "Roster.from_ids(<1 ids>)"


@settings(deadline=None)
@given(ids=st.lists(st.integers(-2, 8), max_size=40), rows=st.integers(1, 41))
def test_the_first_row_of_an_id_counts(ids, rows):
    first = FirstRows(Roster(6), id="id")
    batches = pa.table({"id": pa.array(ids, pa.int64())}).to_batches(max_chunksize=rows)
    claims = [claim for batch in batches for claim in first.claim(batch)]
    seen, expected = set(), []
    for i in ids:
        expected.append(-1 if not 1 <= i <= 6 else -2 if i in seen else i - 1)
        seen.add(i)
    assert claims == expected
    assert first.rows == len(ids)


def test_rows_stand_for_ids():
    first = FirstRows(Roster.from_ids(["ann", "bob", "cy"]))
    batch = pa.record_batch({"x": [1, 2]})
    assert first.claim(batch).tolist() == [0, 1]
    assert first.claim(batch).tolist() == [2, -1]
