#!/usr/bin/env bash
# SPSS dates before 1970 in pyreadstat 1.3.7 with polars, and in polars-readstat 0.25.0.
#
# SPSS stores a date as seconds since 14 October 1582, and the format DATE shows the day in which that second lies. A
# value may have a time of day as well, if the format of a column was changed from DATETIME to DATE. One would expect
# the day that SPSS shows, whatever the year and whatever table is asked for.
#
# Seen: `read_sav(..., output_format="polars")` and polars-readstat return the next day for every such date before 1970:
# 31 December 1969 at 18:00 becomes 1 January 1970, so a year of birth changes. From 1970 on they are right, and a time
# of midnight is right in all years: the fraction of a day is cut towards 1970 instead of towards the past. With
# output_format="pandas" pyreadstat returns the expected days for the same file, so does PSPP 1.6.2.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/python" -m pip install --quiet --disable-pip-version-check "pyreadstat==1.3.7" "pandas==3.1.1" \
    "readstat-arrow==2026.10.20.0" "pyarrow==26.0.1" "polars-readstat==0.25.0" "polars==2.1.0"
cat > "$place/births.py" <<'PYTHON'
import sys
from datetime import datetime

import polars_readstat
import pyarrow as pa
import pyreadstat
import readstat_arrow

path = f"{sys.argv[1]}/births.sav"
moments = [datetime(1949, 3, 1), datetime(1949, 3, 1, 9), datetime(1969, 12, 31, 18), datetime(1971, 12, 31, 18)]
seconds = [(moment - datetime(1582, 10, 14)).total_seconds() for moment in moments]
formats = readstat_arrow.Metadata(formats={"birth": "DATE11"})
readstat_arrow.write_sav(path, pa.table({"birth": seconds}), formats)
read = {
    "pandas by pyreadstat": pyreadstat.read_sav(path, output_format="pandas")[0]["birth"].to_list(),
    "polars by pyreadstat": pyreadstat.read_sav(path, output_format="polars")[0]["birth"].to_list(),
    "polars-readstat": polars_readstat.read_readstat(path)["birth"].to_list(),
}
for library, found in read.items():
    print(f"{library}:", " ".join(str(day) for day in found))
PYTHON
found=$("$place/env/bin/python" "$place/births.py" "$place")
printf '%s\n' "$found"
[ "$found" = "$(printf '%s\n' "pandas by pyreadstat: 1949-03-01 1949-03-01 1969-12-31 1971-12-31" \
    "polars by pyreadstat: 1949-03-01 1949-03-02 1970-01-01 1971-12-31" \
    "polars-readstat: 1949-03-01 1949-03-02 1970-01-01 1971-12-31")" ]
echo "as described"
