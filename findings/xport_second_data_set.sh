#!/usr/bin/env bash
# SAS transport files with two data sets in pandas 3.1.1, pyreadstat 1.3.7, polars-readstat 0.25.0 and svy-io 0.7.1.
#
# By SAS's note TS-140 a transport file is a library: after its own header come one or more data sets, each with a
# header of its own, columns of its own and its rows. One would expect a reader of one table to return the first data
# set, to ask which one is meant, or to refuse the file.
#
# Seen: all four take the 20 rows of the first data set, and then the headers and the rows of the second one, for rows
# of the first: 110 people for 20, without an error or a warning. Headers become ages such as 1161905221, and rooms
# become ages of 1 to 10. `read.xport` of R's package foreign returns two tables of 20 and of 10 rows for the same file.
# ReadStat, which pyreadstat and svy-io wrap, leaves such files undefined in its pull request 87, and the same rows are
# reported for R's package haven as its issue 795.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/python" -m pip install --quiet --disable-pip-version-check "pandas==3.1.1" "pyreadstat==1.3.7" \
    "polars-readstat==0.25.0" "svy-io==0.7.1" "polars==2.1.0" "pyarrow==26.0.1"
cat > "$place/library.py" <<'PYTHON'
import sys
from pathlib import Path

import pandas as pd
import polars_readstat
import pyreadstat
import svy_io

HEADER_OF_LIBRARY = 3 * 80
place = Path(sys.argv[1])
first, second, both = (str(place / name) for name in ("people.xpt", "homes.xpt", "library.xpt"))
people = pd.DataFrame({"AGE": [float(30 + row) for row in range(20)]})
homes = pd.DataFrame({"ROOMS": [float(1 + row) for row in range(10)]})
pyreadstat.write_xport(people, first, table_name="PEOPLE", file_format_version=5)
pyreadstat.write_xport(homes, second, table_name="HOMES", file_format_version=5)
Path(both).write_bytes(Path(first).read_bytes() + Path(second).read_bytes()[HEADER_OF_LIBRARY:])
read = {
    "pandas": lambda path: pd.read_sas(path, format="xport")["AGE"].tolist(),
    "pyreadstat": lambda path: pyreadstat.read_xport(path)[0]["AGE"].tolist(),
    "polars-readstat": lambda path: polars_readstat.read_readstat(path)["AGE"].to_list(),
    "svy-io": lambda path: svy_io.read_xpt(path)[0]["AGE"].to_list(),
}
for library, ages in read.items():
    assert ages(first) == people["AGE"].tolist()
    found = ages(both)
    assert found[:20] == people["AGE"].tolist() and found[-10:] == homes["ROOMS"].tolist()
    print(f"{library}: {len(found)} rows")
PYTHON
found=$("$place/env/bin/python" "$place/library.py" "$place")
printf '%s\n' "$found"
[ "$found" = "$(printf '%s: 110 rows\n' pandas pyreadstat polars-readstat svy-io)" ]
echo "as described"
