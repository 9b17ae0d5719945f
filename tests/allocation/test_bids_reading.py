"""What people write becomes values by a public rule, each row alone, from every form of file, and as typed."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.allocation.preflib import PrefLib
from confide.allocation.scales import Points, Ranks, Scale
from confide.allocation.tables import DENSE, RowCodec, Rows, gathered, read_long, read_wide, typed
from confide.contract.errors import InvalidInput
from confide.tables import Roster, open_table

GOODS = ("art", "law", "math")
PERCENT = Points(highest=100)


def _wide(table: dict[str, Any], scale: Scale = PERCENT, people: int = 4, **options: Any) -> tuple[Any, dict[str, str]]:
    rejected: dict[str, str] = {}
    batches = read_wide(open_table(table), goods=GOODS, scale=scale, roster=Roster(people), rejected=rejected,
                        **options)
    return gathered(batches, people, 3), rejected


def _long(lines: list[tuple[Any, Any, Any]], scale: Scale = PERCENT, **options: Any) -> tuple[Any, dict[str, str]]:
    rejected: dict[str, str] = {}
    ids, goods, values = zip(*lines, strict=True)
    table = open_table({"id": list(ids), "good": list(goods), "value": list(values)})
    batches = read_long(table, goods=GOODS, scale=scale, roster=Roster(4), id="id", rejected=rejected, **options)
    return gathered(batches, 4, 3), rejected


# ---- scales


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 6)), max_size=30).map(sorted))
def test_a_rank_is_one_more_than_how_many_are_better(cells: list[tuple[int, int]]) -> None:
    row, numbers = (np.array(each, dtype=kind) for each, kind in zip(
        zip(*cells, strict=True) if cells else ((), ()), (np.int64, np.float64), strict=True))
    points = tuple(1.0 / place for place in range(1, 31))
    found = Ranks(points=points).values(row, numbers)
    wanted = [points[sum(1 for r, m in cells if r == mine and m < number)] for mine, number in cells]
    assert found.tolist() == np.array(wanted, dtype=np.float32).tolist()


def test_points_and_places_have_public_values() -> None:
    row = np.zeros(3, dtype=np.int64)
    assert Points(lowest=-5, highest=5).values(row, np.array([-5.0, 0.0, 5.0])).tolist() == [0.0, 0.5, 1.0]
    clipped = Points(highest=10, out_of_bounds="clip")
    assert clipped.problems(np.array([-1.0, 11.0, np.inf])).tolist() == [0, 0, 2]
    assert clipped.values(row, np.array([-1.0, 5.0, 11.0])).tolist() == [0.0, 0.5, 1.0]
    assert Ranks(points=(10, 5)).values(row, np.array([7.0, 2.0, 9.0])).tolist() == [0.5, 1.0, 0.0]
    assert Ranks(points=(4, 2, 1), as_written=True).values(row, np.array([2.0, 3.0, 9.0])).tolist() == [0.5, 0.25, 0.0]


@pytest.mark.parametrize(("make", "named"), [
    (lambda: Points(lowest=1, highest=1), "highest"), (lambda: Points(lowest=float("nan")), "lowest"),
    (lambda: Points(lowest=-1e308, highest=1e308), "highest"), (lambda: Points(out_of_bounds="bend"), "out_of_bounds"),  # type: ignore[arg-type]
    (lambda: Ranks(points=()), "points"), (lambda: Ranks(points=(0.0,)), "points[1]"),
    (lambda: Ranks(points=(1.0, 2.0)), "points[2]"), (lambda: Ranks(points=(1.0, -1.0)), "points[2]"),
    (lambda: Ranks.borda(0), "goods"),
])
def test_rules_that_are_none_are_refused(make: Any, named: str) -> None:
    with pytest.raises(InvalidInput) as error:
        make()
    assert error.value.field == named


# ---- a column for each good


def test_bad_rows_are_their_own_and_empty_cells_are_worth_nothing() -> None:
    table = {"id": [3, 1, 9, 3, 2, 4], "art": ["50", "", "1", "2", "x", "101"], "law": [None, "25", "1", "2", "3", "4"],
             "math": ["100", " 0 ", "1", "2", "3", "4"]}
    values, rejected = _wide(table, id="id")
    assert values.values.tolist() == [0, 0.25, 0, 0, 0, 0, 0.5, 0, 1, 0, 0, 0]
    assert rejected == {
        "row 3": "no id of the public list", "3 (row 4)": "a later row of the same id",
        "2": "art: is not a number; must be in [0, 100]", "4": "art: is out of bounds; must be in [0, 100]"}


def test_one_persons_bad_cell_changes_nobody_elses_values() -> None:
    table = {name: ["10", "20", "30", "40"] for name in GOODS}
    sound, _ = _wide(table)
    for bad in ("-1", "many", "inf", "1e999", "nine\n9"):
        table["law"] = ["10", bad, "30", "40"]
        found, rejected = _wide(table)
        assert list(rejected) == ["2"]
        assert np.delete(found.values.reshape(4, 3), 1, axis=0).tolist() == np.delete(
            sound.values.reshape(4, 3), 1, axis=0).tolist()
        assert not found.row(1).any()


def test_batches_change_nothing() -> None:
    table = {name: np.arange(4) * 7 for name in GOODS}
    whole, _ = _wide(table)
    single, _ = _wide(table, rows=1)
    assert whole.values.tolist() == single.values.tolist()
    numbers = {name: np.array([1.0, np.nan, 3.0, 4.0]) for name in GOODS}  # missing, in a column of numbers
    assert not _wide(numbers)[1]


def test_columns_that_cannot_hold_values_are_named() -> None:
    sound: dict[str, Any] = {name: [1, 2] for name in GOODS}
    with pytest.raises(InvalidInput, match="math"):
        _wide({"art": [1], "law": [2]})
    with pytest.raises(InvalidInput, match="law"):
        _wide({**sound, "law": pa.array([[1], [2]])})
    with pytest.raises(InvalidInput, match="also a good"):
        _wide(sound, id="law")


# ---- a line for each person and good


def test_lines_of_one_person_may_stand_anywhere() -> None:
    values, rejected = _long([(2, "law", 50), (1, "art", 10), (2, "art", 100), (1, "law", ""), (2, "law", 70),
                              (7, "art", 1), (3, "chess", 5), (3, "art", 5), (4, "art", 200), (None, "art", 1)])
    assert values.values.reshape(4, 3).tolist() == [
        pytest.approx([0.1, 0, 0]), [1.0, 0.5, 0.0], [0, 0, 0], [0, 0, 0]]
    assert rejected == {
        "2 (row 5)": "a later row of the same id and good", "row 6": "no id of the public list",
        "row 10": "no id of the public list", "3": "good: is not a good; goods: art, law, math",
        "4": "art: is out of bounds; must be in [0, 100]"}


def test_what_is_not_listed_may_be_left_out() -> None:
    values, rejected = _long([(1, "chess", "much"), (1, "art", 10), (9, "chess", 1), (2, None, 1), (2, "law", 4)],
                             unlisted="ignore")
    assert not rejected
    assert values.row(0).tolist() == pytest.approx([0.1, 0, 0])
    assert values.row(1).tolist() == pytest.approx([0, 0.04, 0])


def test_long_tables_need_an_id_and_three_columns() -> None:
    table = open_table({"id": [1], "good": ["art"], "value": [1]})
    with pytest.raises(InvalidInput, match=r"people\.id"):
        read_long(table, goods=GOODS, scale=PERCENT, roster=Roster(4), id="row")
    with pytest.raises(InvalidInput, match="three different columns"):
        read_long(table, goods=GOODS, scale=PERCENT, roster=Roster(4), id="id", good="value")


@settings(max_examples=20)
@given(st.lists(st.lists(st.integers(0, 100) | st.none(), min_size=3, max_size=3), min_size=1, max_size=6),
       st.booleans(), st.randoms(use_true_random=False))
def test_all_forms_and_what_is_typed_give_the_same_values(
    table: list[list[int | None]], ranks: bool, order: Any
) -> None:
    scale: Scale = Ranks(points=(5, 3, 1)) if ranks else PERCENT
    if ranks:
        table = [[None if cell is None else cell + 1 for cell in row] for row in table]
    n = len(table)
    columns = {good: pa.array([row[place] for row in table], pa.int64()) for place, good in enumerate(GOODS)}
    wide = gathered(read_wide(open_table(columns), goods=GOODS, scale=scale, roster=Roster(n)), n, 3)
    lines = [(i + 1, good, cell) for i, row in enumerate(table) for good, cell in zip(GOODS, row, strict=True)
             if cell is not None] or [(0, "art", 1)]
    order.shuffle(lines)
    ids, goods, values = zip(*lines, strict=True)
    long = gathered(read_long(open_table({"id": list(ids), "good": list(goods), "value": list(values)}), goods=GOODS,
                              scale=scale, roster=Roster(n), id="id"), n, 3)
    assert wide.values.tolist() == long.values.tolist()
    for i, row in enumerate(table):
        own = typed({good: str(cell) for good, cell in zip(GOODS, row, strict=True) if cell is not None}, goods=GOODS,
                    scale=scale)
        assert {good: value for good, value in enumerate(wide.row(i).tolist()) if value} == own


@pytest.mark.parametrize(("given_", "says"), [
    ({"lav": "1"}, "did you mean 'law'"), ({"art": "much"}, "art: is not a number"),
    ({"art": "101"}, "art: is out of bounds"), ({"art": "nan"}, "art: is not a number"),
    ({"art": "inf"}, "art: is not finite"),
])
def test_a_mistyped_bid_is_reported_to_its_bidder(given_: dict[str, str], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        typed(given_, goods=GOODS, scale=PERCENT)
    assert typed({"art": "", "law": " 50 "}, goods=GOODS, scale=PERCENT) == {1: 0.5}


# ---- PrefLib


HEAD = "# FILE NAME: x.toi\n# NUMBER ALTERNATIVES: 3\n# ALTERNATIVE NAME 1: math\n# ALTERNATIVE NAME 2: art\n" \
       "# ALTERNATIVE NAME 3: law\n"


def _preflib(folder: Path, text: str, people: int = 6, name: str = "x.toi", scale: Ranks | None = None, **options: Any
             ) -> tuple[Any, dict[str, str]]:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    rejected: dict[str, str] = {}
    file = PrefLib(path=path, **{"goods": GOODS, **options})
    rule = Ranks.borda(len(file.goods)) if scale is None else scale
    return gathered(file.read(rule, Roster(people), rejected), people, len(file.goods)), rejected


def test_orders_become_places_for_as_many_as_gave_them(tmp_path: Path) -> None:
    values, rejected = _preflib(tmp_path, HEAD + "2: 1,2,3\n1: {3,1}\n1: 2, {1, 3}\n1: 7\n")
    third, two = np.float32(1 / 3), np.float32(2 / 3)
    assert values.values.reshape(6, 3).tolist() == [  # art, law, math
        [two, third, 1], [two, third, 1], [0, 1, 1], [1, two, two], [0, 0, 0], [0, 0, 0]]
    assert rejected == {"5": "is not an order of the alternatives"}


def test_broken_lines_cost_their_own_people(tmp_path: Path) -> None:
    values, rejected = _preflib(tmp_path, HEAD + "2: 1,1\nnonsense\n1: 3\n9: 2\n", people=5)
    assert set(rejected) == {"1", "2", "3", "line 9"}
    assert values.values.reshape(5, 3).tolist() == [[0, 0, 0]] * 3 + [[0, 1, 0], [1, 0, 0]]


def test_alternatives_may_be_left_out_or_named_by_number(tmp_path: Path) -> None:
    values, _ = _preflib(tmp_path, HEAD + "1: 1,3,2\n", people=1, goods=("law", "art"), unlisted="ignore")
    assert values.values.tolist() == [1.0, 0.5]
    values, _ = _preflib(tmp_path, HEAD + "1: 1,3,2\n", people=1, goods=("3", "1", "2"))
    assert values.values.tolist() == [np.float32(2 / 3), 1.0, np.float32(1 / 3)]
    for options, says in (({"goods": ("law", "art")}, "leave out alternative 1"), ({"goods": ("chess",)}, "'chess'"),
                          ({"goods": ("4",), "unlisted": "ignore"}, "'4' is not an alternative")):
        with pytest.raises(InvalidInput, match=says):
            _preflib(tmp_path, HEAD + "1: 1\n", **options)
    with pytest.raises(InvalidInput, match="NUMBER ALTERNATIVES"):
        _preflib(tmp_path, "3\n1,a\n2,b\n3,c\n")


def test_categories_are_worth_their_points(tmp_path: Path) -> None:
    values, rejected = _preflib(tmp_path, HEAD + "1: {1,2},{},3\n1: {},{},{1,2,3}\n", people=2, name="x.cat",
                                scale=Ranks(points=(4, 2, 1)))
    assert values.values.tolist() == [1, 0.25, 1, 0.25, 0.25, 0.25]
    assert not rejected


@pytest.mark.parametrize(("name", "voters", "lines", "says"), [
    ("x.toi", "5", "2: 1,2,3\n1: {3,1}\n", r"lines of x\.toi have 3 people, but its head has NUMBER VOTERS: 5"),
    ("x.toi", "2", "2: 1,2,3\n1: {3,1}\n", "have 3 people, .* NUMBER VOTERS: 2"),
    ("x.toi", "some", "2: 1,2,3\n", "have 2 people, .* NUMBER VOTERS: some"),
    ("x.soi", "3", "2: 1,2\n1: {3,1}\n", r"line 8 of x\.soi has ties"),
    ("x.soc", "3", "2: 1,2,3\n1: {3,1},2\n", r"line 8 of x\.soc has ties"),
    ("x.soc", "3", "2: 1,2,3\n1: 3,1\n", r"line 8 of x\.soc ranks 2 of 3 alternatives"),
    ("x.toc", "3", "2: 1,2\n1: {3,1},2\n", r"line 7 of x\.toc ranks 2 of 3 alternatives"),
])
def test_what_a_format_forbids_is_refused(tmp_path: Path, name: str, voters: str, lines: str, says: str) -> None:
    path = tmp_path / name
    path.write_text(f"{HEAD}# NUMBER VOTERS: {voters}\n{lines}", encoding="utf-8")
    with pytest.raises(InvalidInput, match=says):
        PrefLib(path=path, goods=GOODS).check()


@pytest.mark.parametrize(("name", "head", "lines"), [
    ("x.toi", "# NUMBER VOTERS: 4\n", "2: 1,2\n1: {3,1}\n1: 2\n"), ("x.soi", "# NUMBER VOTERS: 3\n", "2: 1\n1: 2,3\n"),
    ("x.soc", "# NUMBER VOTERS: 3\n", "2: 1,2,3\n1: 3,1,2\n"), ("x.toc", "# NUMBER VOTERS: 3\n", "3: {1,2},3\n"),
    ("x.toi", "# NUMBER VOTERS: 4\n", "2: 1,1\nbroken\n1: 3\n"), ("x.toi", "", "7: 1,2\n"),
    ("x.cat", "# NUMBER VOTERS: 2\n", "1: {1,2},{},3\n1: {},{},{1,2,3}\n"),
])
def test_what_a_format_allows_is_read(tmp_path: Path, name: str, head: str, lines: str) -> None:
    path = tmp_path / name
    path.write_text(HEAD + head + lines, encoding="utf-8")
    PrefLib(path=path, goods=GOODS).check()


# ---- rows


@settings(max_examples=20)
@given(st.lists(st.lists(st.floats(0, 1, width=32), min_size=3, max_size=3), max_size=5),
       st.sampled_from([3, DENSE + 1]))
def test_rows_come_back_from_their_bytes(table: list[list[float]], goods: int) -> None:
    full = np.zeros((len(table), goods), dtype=np.float32)
    full[:, :3] = np.array(table, dtype=np.float32).reshape(-1, 3)
    row, named = np.nonzero(full)
    starts = np.append(0, np.cumsum(np.bincount(row, minlength=len(table)))).astype(np.int64)
    batch = Rows(np.arange(len(table)) * 2, starts, named.astype(np.int32), full[row, named])
    codec = RowCodec(goods)
    slots, reports = codec.pack(batch)
    assert len(reports) == len(table)
    alone = [codec.pack(Rows(batch.index[i : i + 1], np.array([0, starts[i + 1] - starts[i]]),
                             batch.named[starts[i] : starts[i + 1]], batch.values[starts[i] : starts[i + 1]]))[1][0]
             for i in range(len(table))]
    assert reports == alone  # a person's bytes are a function of her own row
    back = codec.unpack(slots, reports)
    assert [back.row(i) for i in range(len(table))] == [batch.row(i) for i in range(len(table))]
    whole = gathered([back], 2 * max(1, len(table)), goods)
    assert whole.dense == (goods <= DENSE)
    assert all(whole.row(2 * i).tolist() == full[i].tolist() for i in range(len(table)))


def test_rows_of_another_campaign_are_refused() -> None:
    row = Rows(np.array([4]), np.array([0, 1]), np.array([1], np.int32), np.array([0.5], np.float32))
    for people, goods in ((4, 3), (5, 1), (4, 300)):
        with pytest.raises(InvalidInput):
            gathered([row], people, goods)


def test_a_csv_file_is_read_as_it_stands(tmp_path: Path) -> None:
    with (tmp_path / "wishes.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([("id", *GOODS), (1, 50, "", 100), (2, "a,b", 1, 1), (3, 0, 0, 0)])
    source = open_table(tmp_path / "wishes.csv")
    rejected: dict[str, str] = {}
    values = gathered(read_wide(source, goods=GOODS, scale=PERCENT, roster=Roster(3), id="id", rejected=rejected), 3, 3)
    assert values.values.tolist() == [0.5, 0, 1, 0, 0, 0, 0, 0, 0]
    assert list(rejected) == ["2"]
