"""CSV by lines: nobody's cell moves, swallows or changes another's row, and no cell is an error."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from confide.tables import Numeric, _lines, open_table


def column(path, name="b"):
    return [cell for batch in open_table(path).batches([name]) for cell in batch.column(0).to_pylist()]


def rows(path):
    return [row for batch in open_table(path).batches(["a", "b", "c"]) for row in batch.to_pylist()]


def write(folder, lines, header=b"a,b,c"):
    path = folder / "t.csv"
    path.write_bytes(b"\n".join([header, *lines]))
    return path


@pytest.mark.parametrize(("line", "cell"), [
    (b"1,2,3", "2"),
    (b"1, 2 ,3", " 2 "),
    (b'1,"2,5",3', "2,5"),
    (b'1,"say ""x""",3', 'say "x"'),
    (b'1,5" pipe,3', '5" pipe'),
    (b'"","",""', None),
    (b"1,,3", None),
    (b"1,2", None),
    (b"1,2,3,4", None),
    (b"", None),
    (b'1,"2,3', None),
    (b'"1,2,3', None),
    (b'1,"2"x,3', None),
    (b'1,""x,3', None),
    (b'1,"""x",3', '"x'),
    (b'1,x"",3', 'x""'),
    (b'1,"2""",3"', '2"'),
    (b"1,\r2,3", None),
    (b"1,2,3\r", "2"),
    (b"1,\xff,3", "\ufffd"),
    (b"1,\xe2\x82,3", "\ufffd"),
    (b"1,\x00,3", "\x00"),
    (b'\xef\xbb\xbf1,2,3', "2"),
    (b'\xef\xbb\xbf"1,2,3', "2"),
    (b'\xef\xbb\xbf"1",2,3', "2"),
    (b'1,\xef\xbb\xbf"2,3', '\ufeff"2'),
    (b'\xef\xbb\xbf', None),
    (b"1," + b"x" * (1 << 20) + b",3", None),
    (b"1," + b"x" * ((1 << 20) - 4) + b",3", "x" * ((1 << 20) - 4)),
])
def test_one_line_is_one_row(line, cell, tmp_path):
    lines = [b"1,u,3", line, b'1,"v",3', line, b"1,w,3"]
    assert column(write(tmp_path, lines)) == ["u", cell, "v", cell, "w"]


MARK = b"\xef\xbb\xbf"


@pytest.mark.parametrize("before", [b"", MARK])
@pytest.mark.parametrize("block", [1, 1 << 22])
def test_a_byte_order_mark_counts_at_the_start_of_the_file_alone(before, block, tmp_path, monkeypatch):
    monkeypatch.setattr(_lines, "_BLOCK", block)
    path = tmp_path / "t.csv"
    path.write_bytes(before + b'a,b\n' + MARK + b'"1,x\n2,y\n' + MARK + b'"3",z\n' + MARK + b"4,w\n5,v\n")
    assert column(path, "a") == ['\ufeff"1', "2", '\ufeff"3"', "\ufeff4", "5"]
    assert column(path, "b") == ["x", "y", "z", "w", "v"]


def test_a_parser_that_sees_other_rows_than_lines_gets_them_one_by_one():
    header = ("a", "b")
    block = b'"1,2\n3",4\n5,6\n"7,8\n9,10\n'
    assert _lines._parse(block, header, header) is None
    rows = _lines._rows(block, header, header)
    assert rows.num_rows == block.count(b"\n")
    assert rows.slice(2, 1).to_pylist() == [{"a": "5", "b": "6"}]
    assert rows.slice(4, 1).to_pylist() == [{"a": "9", "b": "10"}]


PIECES = [MARK, b'"', b'""', b",", b"\r", b"\x00", b"\xff", b"\xe2\x82", b"a", b"1", b" ", b"x" * 12, b'"2"', b";"]


@settings(max_examples=40, deadline=None)
@given(lines=st.lists(st.lists(st.sampled_from(PIECES), max_size=7).map(b"".join), min_size=2, max_size=7),
       garbage=st.lists(st.sampled_from([*PIECES, b"\n"]), max_size=9).map(b"".join), data=st.data(),
       block=st.sampled_from([1, 7, 30, 1 << 22]))
@example(lines=[b"1,2,3", b"4,5,6"], garbage=MARK + b'"', data=None, block=1 << 22)
def test_one_line_of_garbage_changes_no_other_row(tmp_path_factory, lines, garbage, data, block):
    folder = tmp_path_factory.getbasetemp()
    place = data.draw(st.integers(0, len(lines) - 1)) if data else 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_lines, "LONGEST", 24)
        patch.setattr(_lines, "_BLOCK", block)
        # A sentinel closes the last line, which would be none if it were empty.
        before = rows(write(folder, [*lines, b"x,y,z"]))
        after = rows(write(folder, [*lines[:place], garbage, *lines[place + 1:], b"x,y,z"]))
    assert len(before) == len(lines) + 1
    assert len(after) == len(before) + garbage.count(b"\n")
    assert after[:place] == before[:place]
    assert after[place + 1 + garbage.count(b"\n"):] == before[place + 1:]


def test_no_values_at_all(tmp_path):
    assert column(write(tmp_path, [])) == []
    assert column(write(tmp_path, [b"1", b"2,3,4,5"])) == [None, None]
    assert column(write(tmp_path, [b"5", b"", b"6"], header=b"b")) == ["5", None, "6"]


def test_names_that_stand_twice_do_not_matter_unless_needed(tmp_path):
    assert column(write(tmp_path, [b"1,2,3"], header=b"a, b ,a")) == ["2"]


LINES = st.lists(st.binary(max_size=12).map(lambda b: b.replace(b"\n", b"")) |
                 st.text('",\r1a\u00e9', max_size=10).map(str.encode), min_size=1, max_size=8)


@settings(max_examples=25, deadline=None)
@given(lines=LINES, block=st.integers(1, 40))
@example(lines=[b'1,"', b'",2'], block=5)
@example(lines=[b'"""', b'"",""'], block=3)
def test_a_row_reads_the_same_alone_and_in_company(tmp_path_factory, lines, block):
    folder = tmp_path_factory.getbasetemp()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_lines, "LONGEST", 10)
        alone = [column(write(folder, [line, b"x,y,z"]))[0] for line in lines]
        patch.setattr(_lines, "_BLOCK", block)
        together = column(write(folder, [*lines, b"x,y,z"]))
    assert together == [*alone, "y"]


def strict(line):
    """What the standard library's strict reader makes of a line; None where it is malformed."""
    try:
        rows = list(csv.reader([line], strict=True))
    except csv.Error:
        return None
    return rows[0][1] or None if len(rows) == 1 and len(rows[0]) == 3 else None


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text('",1a ', max_size=12), min_size=1, max_size=6))
def test_agrees_with_the_standard_reader(tmp_path_factory, lines):
    path = write(tmp_path_factory.getbasetemp(), [line.encode() for line in lines])
    # An empty last line without a newline is no line.
    expected = [strict(line) for line in lines[:-1]] + ([strict(lines[-1])] if lines[-1] else [])
    assert column(path) == expected


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_blocks_of_any_size_and_overlong_lines(newline, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    cells = ["x" * int(n) for n in rng.integers(0, 60, 40)]
    rows = [f"1,{cell},3" for cell in cells]
    # The tail of this line would make a row.
    text = newline.join(["a,b,c", "2," * 23 + "3", *rows])
    path = tmp_path / "t.csv"
    path.write_text(text, newline="")
    monkeypatch.setattr(_lines, "LONGEST", 40)
    expected = [None, *(cell or None if len(cell) <= 36 else None for cell in cells)]
    for block in (1, 2, 7, 50, 1000, 1 << 22):
        monkeypatch.setattr(_lines, "_BLOCK", block)
        assert column(path) == expected
        path.write_text(text + newline, newline="")


def test_cells_that_are_no_numbers(tmp_path):
    cells = ["1", " 2 ", "+3", "4.", ".5", "6e0", "1e-400", "x", "NA", "", "1e400", "-inf", "nan", "0x10", "1_0", "1 2",
             "\u0661", "12abc", "2020-01-01", "true", "False", "11", "-0.1"]
    out = io.StringIO()
    csv.writer(out).writerows([[c] for c in ["v", *cells]])
    (tmp_path / "n.csv").write_text(out.getvalue(), encoding="utf-8")
    role = Numeric(column="v", lower=0, upper=10)
    (batch,) = open_table(tmp_path / "n.csv").batches(["v"])
    values, problems = role.encode(batch.column("v"))
    wanted = [1, 2, 3, 4, 0.5, 6, 0, None, None, None, "inf", "inf", None, None, None, None, None, None, None, 1, 0,
              "out", "out"]
    codes = {None: 1, "inf": 2, "out": 3}
    assert problems.tolist() == [codes.get(w, 0) if not isinstance(w, float | int) else 0 for w in wanted]
    assert [v * 5 + 5 for v, p in zip(values, problems, strict=True) if p == 0] == [w for w in wanted if w not in codes]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text("0123456789.eE+-infatyINFATYx_ ", max_size=6) | st.floats().map(repr), max_size=12))
def test_a_cell_reads_the_same_alone_and_in_company(cells):
    role = Numeric(column="v", lower=-1e300, upper=1e300)
    together = role.encode(np.array(cells, dtype=object))
    for cell, value, problem in zip(cells, *together, strict=True):
        alone = role.encode([cell])
        assert (alone.values[0], alone.problems[0]) == (value, problem)
