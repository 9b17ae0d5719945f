"""CSV by records: nobody's cell moves, swallows or changes another's row, and no cell is an error."""

from __future__ import annotations

import csv
import io
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from confide.contract import InvalidInput
from confide.tables import Category, Design, Numeric, ReadOptions, Roster, _lines, open_table, read_records


def column(path, name="b"):
    return [cell for batch in open_table(path).batches([name]) for cell in batch.column(0).to_pylist()]


def rows(path):
    return [row for batch in open_table(path).batches(["a", "b", "c"]) for row in batch.to_pylist()]


def read_in_blocks(path, block, longest=_lines.LONGEST):
    """The rows, read in blocks of so many bytes, with another limit on the length of a record."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_lines, "LONGEST", longest)
        patch.setattr(_lines, "_BLOCK", block)
        return rows(path)


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
    (b'1,"a\rb",3', "a\rb"),
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
    odd = Counter()
    assert _lines._parse(block, 5, header, header, several=False, odd=odd) is None
    assert not odd  # what is read again is counted then
    rows = _lines._rows(block, None, header, header, odd)
    assert rows.num_rows == block.count(b"\n") == 5
    assert rows.slice(2, 1).to_pylist() == [{"a": "5", "b": "6"}]
    assert rows.slice(4, 1).to_pylist() == [{"a": "9", "b": "10"}]
    ends = np.array([9, 13, 23])
    assert _lines._parse(block, 4, header, header, several=True, odd=odd) is None
    assert _lines._rows(b'"1,2\n3",4\n5,6\n"7,8\n9",0\n', ends, header, header, odd).to_pylist() == [
        {"a": "1,2\n3", "b": "4"}, {"a": "5", "b": "6"}, {"a": "7,8\n9", "b": "0"}]


PIECES = [MARK, b'"', b'""', b",", b"\r", b"\x00", b"\xff", b"\xe2\x82", b"a", b"1", b" ", b"x" * 12, b'"2"', b";"]
BLOCKS = st.sampled_from([1, 2, 7, 30, 1 << 22])
# What stands in a quoted cell, behind a character that lets no quote before it close.
CELLS = st.text('a1",\n\r \u00e9', max_size=6).map(lambda text: "x" + text) | st.sampled_from(["", "1", "\u00e9"])
TABLES = st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=7)


def records(table, newline="\n", quoting=csv.QUOTE_MINIMAL):
    """Each record as a CSV writer writes it; that of 3.11 does not quote a lone carriage return by itself."""
    written = []
    for row in table:
        out = io.StringIO(newline="")
        alone = csv.QUOTE_ALL if any("\r" in cell for cell in row) else quoting
        csv.writer(out, lineterminator=newline, quoting=alone).writerow(row)
        written.append(out.getvalue().encode())
    return written


def expected(table):
    return [dict(zip("abc", (cell or None for cell in row), strict=True)) for row in table]


@settings(max_examples=50, deadline=None)
@given(table=TABLES, garbage=st.lists(st.sampled_from(PIECES), max_size=9).map(b"".join), data=st.data(),
       block=BLOCKS, quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
       newline=st.sampled_from(["\n", "\r\n"]))
def test_one_line_of_garbage_changes_no_other_row(tmp_path_factory, table, garbage, data, block, quoting, newline):
    path = tmp_path_factory.getbasetemp() / "t.csv"
    place = data.draw(st.integers(0, len(table) - 1))
    written = records(table, newline, quoting)
    # A carriage return at the end would be part of the end of the line.
    written[place] = garbage.rstrip(b"\r") + newline.encode()
    path.write_bytes(b"a,b,c\n" + b"".join(written))
    found = read_in_blocks(path, block, longest=80)
    assert len(found) == len(table)
    found.pop(place)
    assert found == [row for at, row in enumerate(expected(table)) if at != place]


FREE = st.text('a1",\n\r \u00e9', max_size=8)


@settings(max_examples=50, deadline=None)
@given(table=st.lists(st.tuples(FREE, FREE, FREE), max_size=8), block=BLOCKS, newline=st.sampled_from(["\n", "\r\n"]),
       quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]), end=st.booleans())
def test_what_a_csv_writer_wrote_is_read_record_by_record(tmp_path_factory, table, block, newline, quoting, end):
    path = tmp_path_factory.getbasetemp() / "t.csv"
    text = b"".join([b"a,b,c\n", *records(table, newline, quoting)])
    path.write_bytes(text if end else text.removesuffix(newline.encode()))
    assert read_in_blocks(path, block, longest=80) == expected(table)


@settings(max_examples=50, deadline=None)
@given(table=st.lists(st.tuples(FREE, FREE, FREE), min_size=1, max_size=8), block=BLOCKS,
       newline=st.sampled_from(["\n", "\r\n"]), quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
def test_what_pandas_wrote_is_read_record_by_record(tmp_path_factory, table, block, newline, quoting):
    path = tmp_path_factory.getbasetemp() / "t.csv"
    if quoting == csv.QUOTE_MINIMAL:  # would leave a lone carriage return unquoted
        table = [tuple(cell.replace("\r", "\r\n") for cell in row) for row in table]
    frame = pd.DataFrame(table, columns=["a", "b", "c"])
    frame.to_csv(path, index=False, lineterminator=newline, quoting=quoting)
    assert read_in_blocks(path, block) == expected(table)


@settings(max_examples=40, deadline=None)
@given(table=st.lists(st.tuples(FREE, FREE, FREE), min_size=1, max_size=6), data=st.data(), block=BLOCKS,
       other=st.tuples(*[FREE | st.just("y" * 90)] * 3))
def test_one_cell_of_any_text_or_length_changes_no_other_row(tmp_path_factory, table, other, data, block):
    path = tmp_path_factory.getbasetemp() / "t.csv"
    place = data.draw(st.integers(0, len(table) - 1))
    written = records([*table[:place], [cell + "\n1,2,3\n\"4" for cell in other], *table[place + 1:]])
    path.write_bytes(b"a,b,c\n" + b"".join(written))
    found = read_in_blocks(path, block, longest=100)
    assert len(found) == len(table)
    found.pop(place)
    assert found == [row for at, row in enumerate(expected(table)) if at != place]


FORGED = "hi\n2,forged,x\nbye"


@pytest.mark.parametrize("block", [1, 10, 25, 1 << 22])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_a_line_inside_a_cell_is_nobodys_row(block, quoting, tmp_path, monkeypatch):
    monkeypatch.setattr(_lines, "_BLOCK", block)
    table = [("1", "ann", FORGED), ("2", "bob", "fine"), ("3", "cy", FORGED.replace("\n", "\r\n"))]
    (tmp_path / "t.csv").write_bytes(b"a,b,c\n" + b"".join(records(table, "\n", quoting)))
    assert rows(tmp_path / "t.csv") == expected(table)


def test_a_line_break_in_a_cell_moves_nobody_in_a_table_by_row_number(tmp_path):
    design, wage = Design(features=(Category(column="b", levels=("x", "y")),)), Numeric(column="a", lower=0, upper=10)

    def read(comment):
        table = [(str(i), "xy"[i % 2], comment if i == 2 else "fine") for i in range(6)]
        (tmp_path / "t.csv").write_bytes(b"a,b,c\n" + b"".join(records(table)))
        rejected = {}
        source = open_table(tmp_path / "t.csv")
        (found,) = read_records(source, design=design, response=wage, roster=Roster(6), id="row", rejected=rejected)
        assert not rejected
        return found.index.tolist(), found.X.tolist(), found.y.tolist()

    assert read("fine") == read("fine\nreally") == read('"\r\n1,x,3\n') == read("x" * 99 + "\n" * 99)


@pytest.mark.parametrize("block", [1, 5, 33, 1 << 22])
@pytest.mark.parametrize(("lines", "wanted"), [
    ([b'1,"2\n3",4'], ["2\n3"]),
    ([b'1,"2\n3"'], [None, None]),
    ([b'1,"2\n3",4,5'], [None, "4"]),
    ([b'1,"2\n3"x,4'], [None, None]),
    ([b'1,"2\n3" ,4', b'1,"u\n",3'], [None, None, "u\n"]),
    ([b'1,"2\n3",5" pipe'], [None, None]),
    ([b'1,5" pipe,"\n3"'], [None, None]),
    ([b'1,"2', b"1,u,3", b"1,v,3"], [None, "u", "v"]),
    ([b'1,"2', b'1,"u",3', b'1,"v\nw",3'], [None, "u", "v\nw"]),
    ([b'1,"2', b'1,"",3', b"1,v,3"], [None, None, "v"]),
    ([b'1,"2', b'1,5" pipe,3', b"1,v,3"], [None, '5" pipe', "v"]),
    ([b'1,2,"', b'1,"2', b'1,"u\nv",3', b'1,"'], [None, None, "u\nv", None]),
    ([b'1,"\r\n\r\n",3\r', b'"\r\n",u,"\n"\r'], ["\r\n\r\n", "u"]),
    ([b'1,"\n' + MARK + b'\n\x00\xff",3', b"1,u,3"], ["\n\ufeff\n\x00\ufffd", "u"]),
    ([b'1,"a\n",\r3', b"1,u,3"], [None, None, "u"]),
])
def test_a_record_that_is_not_strict_is_read_by_its_lines(lines, wanted, block, tmp_path, monkeypatch):
    monkeypatch.setattr(_lines, "_BLOCK", block)
    assert column(write(tmp_path, lines)) == wanted
    assert column(write(tmp_path, [*lines, b""])) == wanted


@pytest.mark.parametrize("block", [1, 7, 100, 1 << 22])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@pytest.mark.parametrize("end", [True, False])
def test_a_record_longer_than_the_limit_is_one_row_without_values(block, newline, end, tmp_path, monkeypatch):
    monkeypatch.setattr(_lines, "_BLOCK", block)
    monkeypatch.setattr(_lines, "LONGEST", 40)
    fits, long = b'1,"' + b"\n" * 34 + b'",3', b'1,"' + b"\n1,f,3" * 6 + b'",3'
    assert len(fits) == 40
    assert len(long) == 42
    lines = [b"1,u,3", long, fits, long + b',"4"', long.replace(b"\n", b"x"), b'1,"' + b"x" * 50 + b'\n",3', b"1,v,3"]
    lines.append(long)
    path = tmp_path / "t.csv"
    path.write_bytes(newline.join([b"a,b,c", *lines]) + (newline if end else b""))
    assert column(path) == ["u", None, "\n" * 34, None, *"fffff", None, None, None, "v", None]
    path.write_bytes(newline.join([b"a,b,c", b'1,"' + b"x" * 50, *[b"1,u,3"] * 20, b'1,"' + b"x" * 50]))
    assert column(path) == [None, *["u"] * 20, None]


def test_many_open_quotes_take_no_longer(tmp_path):
    lines = [b'1,"a', b'1,"",3'] * 50_000
    assert column(write(tmp_path, [*lines, b"1,u,3"])) == [None] * 100_000 + ["u"]


@pytest.mark.parametrize("mark", [b"", MARK])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_names_with_line_breaks(mark, newline, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(mark + newline.join([b'"a\nb",c,"d', b'"', b'1,"2', b'3",4']))
    assert open_table(path).column_names == ("a\nb", "c", "d")
    assert column(path, "c") == ["2" + newline.decode() + "3"]
    path.write_bytes(mark + b'"a\nb",c"')
    with pytest.raises(InvalidInput, match="malformed"):
        open_table(path)


def test_no_values_at_all(tmp_path):
    assert column(write(tmp_path, [])) == []
    assert column(write(tmp_path, [b"1", b"2,3,4,5"])) == [None, None]
    assert column(write(tmp_path, [b"5", b"", b"6"], header=b"b")) == ["5", None, "6"]


def test_names_that_stand_twice_do_not_matter_unless_needed(tmp_path):
    assert column(write(tmp_path, [b"1,2,3"], header=b"a, b ,a")) == ["2"]


def strict(line):
    """What the standard library's strict reader makes of a record; None where it is malformed."""
    try:
        rows = list(csv.reader([line], strict=True))
    except csv.Error:
        return None
    return rows[0][1] or None if len(rows) == 1 and len(rows[0]) == 3 else None


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text('",1a ', max_size=12).filter(lambda line: line.count('"') % 2 == 0), min_size=1, max_size=6))
def test_agrees_with_the_standard_reader(tmp_path_factory, lines):
    path = write(tmp_path_factory.getbasetemp(), [line.encode() for line in lines])
    # An empty last line without a newline is no line.
    expected = [strict(line) for line in lines[:-1]] + ([strict(lines[-1])] if lines[-1] else [])
    assert column(path) == expected


def strict_end(data, at):
    """Where the record that begins at a byte ends, character by character; None unless it is strict and of 3 cells."""
    state, cells = "start", 1
    for place in range(at, len(data)):
        letter = data[place : place + 1]
        if state == "quoted":
            state = "closed" if letter == b'"' else "quoted"
        elif letter == b'"':
            if state == "plain":
                return None
            state = "quoted"
        elif letter == b",":
            state, cells = "start", cells + 1
        elif letter == b"\n":
            return place if cells == 3 else None
        elif letter == b"\r":
            if data[place + 1 : place + 2] != b"\n":
                return None
        elif state == "closed":
            return None
        else:
            state = "plain"
    return None


def by_the_rule(data, longest):
    found, at = [], 0
    while at < len(data):
        line = data.index(b"\n", at)
        end = max(strict_end(data, at) or 0, line)
        text = data[at:end].removesuffix(b"\r").decode("utf-8", "replace")
        found.append(None if len(text.encode()) > longest or text.endswith("\r") else strict(text))
        at = end + 1
    return found


LINES = st.lists(st.binary(max_size=12) | st.text('",\r\n1a\u00e9', max_size=12).map(str.encode) |
                 st.lists(st.sampled_from(PIECES), max_size=8).map(b"".join) |
                 st.sampled_from([b'1,"', b'",2', b'"', b'"",""', b'1,"u', b'v",2', b"1,2,3", b'","', b'",""']),
                 min_size=1, max_size=10)


DIALECTS = [_lines.Dialect(";"), _lines.Dialect("\t"), _lines.Dialect("|", "'"), _lines.Dialect(" "),
            _lines.Dialect("^")]


@pytest.mark.parametrize("dialect", DIALECTS, ids=repr)
@settings(max_examples=25, deadline=None)
@given(lines=LINES, block=st.integers(1, 40) | st.just(1 << 22), longest=st.integers(8, 30))
def test_every_dialect_has_the_same_records(tmp_path_factory, dialect, lines, block, longest):
    """The records of a dialect are those of commas and quotes, with other signs."""
    path = tmp_path_factory.getbasetemp() / "dialect.csv"
    signs = bytes.maketrans(b",\"" + dialect.separator.encode() + dialect.quote.encode(),
                            dialect.separator.encode() + dialect.quote.encode() + b",\"")
    data = b"\n".join([b"a,b,c", *lines, b"x,y,z"])
    options = ReadOptions(separator=dialect.separator, quote=dialect.quote)
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_lines, "LONGEST", longest)
        patch.setattr(_lines, "_BLOCK", block)
        for text, settings_of_file in ((data, None), (data.translate(signs), options)):
            path.write_bytes(text)
            source = open_table(path, settings_of_file)
            cells = [row for batch in source.batches(["a", "b", "c"]) for row in batch.to_pylist()]
            found.append((cells, source.odd_rows))
    back = str.maketrans(dialect.separator + dialect.quote + ",\"", ",\"" + dialect.separator + dialect.quote)
    assert found[0][1] == found[1][1]
    assert found[0][0] == [{name: cell and cell.translate(back) for name, cell in row.items()} for row in found[1][0]]


@settings(max_examples=40, deadline=None)
@given(lines=st.lists(st.text('",;\t1a\u00e9', max_size=10), min_size=1, max_size=8), block=BLOCKS)
def test_without_a_quote_every_line_is_a_record(tmp_path_factory, lines, block):
    path = tmp_path_factory.getbasetemp() / "plain.tsv"
    path.write_text("a\tb\n" + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_lines, "_BLOCK", block)
        source = open_table(path, ReadOptions(quote=""))
        found = [row for batch in source.batches(["a", "b"]) for row in batch.to_pylist()]
    cells = [line.split("\t") for line in lines]
    assert found == [dict(zip("ab", (cell or None for cell in row), strict=True)) if len(row) == 2 else
                     {"a": None, "b": None} for row in cells]


@settings(max_examples=80, deadline=None)
@given(lines=LINES, block=st.integers(1, 40) | st.just(1 << 22), longest=st.integers(8, 30))
@example(lines=[b'1,"', b'",2'], block=5, longest=10)
@example(lines=[b'"""', b'"",""'], block=3, longest=10)
def test_records_are_those_of_the_rule_whatever_the_blocks(tmp_path_factory, lines, block, longest):
    data = b"\n".join([*lines, b"x,y,z"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_lines, "LONGEST", longest)
        patch.setattr(_lines, "_BLOCK", block)
        assert column(write(tmp_path_factory.getbasetemp(), [data])) == by_the_rule(data + b"\n", longest)


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
