#!/usr/bin/env bash
# Durations of SPSS in pyreadstat 1.3.7.
#
# SPSS stores a duration as a number of seconds that belongs to no date. The format DTIME shows it as days, hours,
# minutes and seconds, TIME as hours, minutes and seconds: 302400 seconds are 3 12:00:00 and 84:00:00. One would expect
# a timedelta, or the seconds.
#
# Seen: `read_sav` takes both formats for a time of day and drops the whole days, without an error or a warning: 12:00
# for a stay of three and a half days, 00:00 for two days, and 23:00 for minus one hour. The mean of these durations
# falls to a third. `pandas.read_spss` returns the same, since it reads with pyreadstat. The seconds are there with
# `disable_datetime_conversion=True`. polars-readstat 0.25.0 returns DTIME as durations, as expected.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/python" -m pip install --quiet --disable-pip-version-check "pyreadstat==1.3.7" "pandas==3.1.1" \
    "readstat-arrow==2026.10.20.0" "pyarrow==26.0.1" "polars-readstat==0.25.0" "polars==2.1.0"
cat > "$place/stays.py" <<'PYTHON'
import sys

import pandas as pd
import polars_readstat
import pyarrow as pa
import pyreadstat
import readstat_arrow

path = f"{sys.argv[1]}/stays.sav"
seconds = [302400.0, 172800.0, 45000.0, -3600.0]
formats = readstat_arrow.Metadata(formats={"days": "DTIME15", "hours": "TIME12"})
readstat_arrow.write_sav(path, pa.table({"days": seconds, "hours": seconds}), formats)
assert pyreadstat.read_sav(path, disable_datetime_conversion=True)[0]["days"].tolist() == seconds
found = pyreadstat.read_sav(path)[0]
assert pd.read_spss(path).equals(found)
for name in ("days", "hours"):
    print(f"pyreadstat, {name}:", " ".join(str(value) for value in found[name]))
print("polars-readstat, days:", " ".join(str(value) for value in polars_readstat.read_readstat(path)["days"]))
PYTHON
found=$("$place/env/bin/python" "$place/stays.py" "$place")
printf '%s\n' "$found"
[ "$found" = "$(printf '%s\n' "pyreadstat, days: 12:00:00 00:00:00 12:30:00 23:00:00" \
    "pyreadstat, hours: 12:00:00 00:00:00 12:30:00 23:00:00" \
    "polars-readstat, days: 3 days, 12:00:00 2 days, 0:00:00 12:30:00 -1 day, 23:00:00")" ]
echo "as described"
