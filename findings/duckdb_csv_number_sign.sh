#!/usr/bin/env bash
# Rows of CSV files that begin with # in duckdb 2.0.1.
#
# A sheet with a formula that fails is saved as CSV with #N/A or #DIV/0! in that cell. CSV has no comments (RFC 4180),
# DuckDB's documentation of read_csv gives an empty `comment` as the default, and its page on automatic detection lists
# separators, quotes and escapes as what is considered for the dialect. One would expect the row, with a column of
# texts, or an error.
#
# Seen: the row is gone, without an error or a warning, and with it the site C, which is in a cell of its own. The text
# #N/A alone makes # a comment mark, as `sniff_csv` shows, where the first column would be one of numbers, dates or
# booleans without that row. In quotes, in a column of words and in a cell further to the right it is read as a text,
# and so it is with comment=''. Issue 17744 of duckdb is an error that comes from the same detection.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/python" -m pip install --quiet --disable-pip-version-check "duckdb==2.0.1"
cat > "$place/rows.py" <<'PYTHON'
import sys
from pathlib import Path

import duckdb

path = f"{sys.argv[1]}/litres.csv"
for name, text in (
    ("first column", "litres,site\n4.1,A\n3.9,B\n#N/A,C\n4.4,D\n"),
    ("second column", "site,litres\nA,4.1\nB,3.9\nC,#N/A\nD,4.4\n"),
):
    Path(path).write_text(text)
    count = "select count(*), string_agg(site, ' ' order by site) from read_csv"
    rows, sites = duckdb.sql(f"{count}('{path}')").fetchall()[0]
    all_rows, all_sites = duckdb.sql(f"{count}('{path}', comment='')").fetchall()[0]
    mark = duckdb.sql(f"select comment from sniff_csv('{path}')").fetchall()[0][0]
    print(f"{name}: {rows} rows {sites}, mark {mark}; without a mark {all_rows} rows {all_sites}")
PYTHON
found=$("$place/env/bin/python" "$place/rows.py" "$place")
printf 'duckdb 2.0.1\n%s\n' "$found"
[ "$found" = "$(printf '%s\n' "first column: 3 rows A B D, mark #; without a mark 4 rows A B C D" \
    "second column: 4 rows A B C D, mark (empty); without a mark 4 rows A B C D")" ]
echo "as described"
