#!/usr/bin/env bash
# Times of Stata with leap seconds in pyreadstat 1.3.7, readstat-arrow 2026.10.20.0, polars-readstat 0.25.0 and
# svy-io 0.7.1.
#
# Stata has two formats for a time in milliseconds since 1960. %tc counts days of 86,400 seconds. %tC counts the leap
# seconds as well, 27 of them by 2017, so the same moment is a number that is greater by 27,000 (Stata's manual on dates
# and times). One would expect both columns to be read as the same time, or %tC to be left as a number, as pandas 3.1.1
# does with a warning.
#
# Seen: all four read %tC as if it were %tc, 27 seconds late, without an error or a warning: a time ten seconds before
# the end of 2019 is one of 2020. svy-io does so where it is asked for times (coerce_temporals=True).
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/python" -m pip install --quiet --disable-pip-version-check "pyreadstat==1.3.7" "pandas==3.1.1" \
    "readstat-arrow==2026.10.20.0" "polars-readstat==0.25.0" "svy-io==0.7.1" "polars==2.1.0" "pyarrow==26.0.1"
cat > "$place/times.py" <<'PYTHON'
import sys
import warnings
from datetime import datetime

import pandas as pd
import polars_readstat
import pyarrow as pa
import pyreadstat
import readstat_arrow
import svy_io

path = f"{sys.argv[1]}/times.dta"
days = 1000.0 * (datetime(2019, 12, 31, 23, 59, 50) - datetime(1960, 1, 1)).total_seconds()
formats = readstat_arrow.Metadata(formats={"plain": "%tc", "leap": "%tC"})
readstat_arrow.write_dta(path, pa.table({"plain": [days], "leap": [days + 27000.0]}), formats)
with warnings.catch_warnings(record=True) as raised:
    warnings.simplefilter("always")
    left = pd.read_stata(path)["leap"][0]
assert left == days + 27000.0 and any("%tC" in str(warning.message) for warning in raised)
read = {
    "pyreadstat": pyreadstat.read_dta(path)[0],
    "readstat-arrow": readstat_arrow.read_dta(path)[0].to_pandas(),
    "polars-readstat": polars_readstat.read_readstat(path),
    "svy-io": svy_io.read_dta(path, coerce_temporals=True)[0],
}
for library, found in read.items():
    print(f"{library}: %tc {found['plain'][0]}, %tC {found['leap'][0]}")
PYTHON
found=$("$place/env/bin/python" "$place/times.py" "$place")
printf '%s\n' "$found"
[ "$found" = "$(printf '%s: %%tc 2019-12-31 23:59:50, %%tC 2020-01-01 00:00:17\n' pyreadstat readstat-arrow \
    polars-readstat svy-io)" ]
echo "as described"
