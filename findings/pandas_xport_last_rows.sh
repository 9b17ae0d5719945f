#!/usr/bin/env bash
# The last rows of SAS transport files in pandas 3.1.1.
#
# A transport file names no number of rows. SAS's note TS-140 pads the last record of 80 bytes with blanks, so that a
# reader takes as many whole rows as fit, and leaves out rows at the end that are blank from their first byte to their
# last. A row that holds a number is never blank. One would expect five rows of an age and a city to be read as five.
#
# Seen: `pandas.read_sas(..., format="xport")` reads 4 of 5, 4 of 6 and 31 of 32, without a warning. It counts every
# eight blank bytes of the last record as padding, also those that pad a short text to its width within the last row,
# and subtracts them from the data before it divides by the length of a row. Whether a file loses a row, two or none
# depends on the number of its rows and the width of its texts. pyreadstat 1.3.7 reads all rows of the same files.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/python" -m pip install --quiet --disable-pip-version-check "pandas==3.1.1" "pyreadstat==1.3.7"
cat > "$place/rows.py" <<'PYTHON'
import sys

import pandas as pd
import pyreadstat

path = f"{sys.argv[1]}/people.xpt"
for rows in (5, 6, 32):
    people = pd.DataFrame({"AGE": [float(30 + row) for row in range(rows)], "CITY": ["Ulm"] * rows})
    people.loc[0, "CITY"] = "Frankfurt am Main"
    pyreadstat.write_xport(people, path, file_format_version=5)
    by_pandas = pd.read_sas(path, format="xport", encoding="latin-1")["AGE"].tolist()
    by_pyreadstat = pyreadstat.read_xport(path)[0]["AGE"].tolist()
    assert by_pyreadstat == people["AGE"].tolist() and by_pandas == by_pyreadstat[: len(by_pandas)]
    print(f"{rows} rows: pyreadstat {len(by_pyreadstat)}, pandas {len(by_pandas)}")
PYTHON
found=$("$place/env/bin/python" "$place/rows.py" "$place")
printf '%s\n' "$found"
[ "$found" = "$(printf '%s\n' "5 rows: pyreadstat 5, pandas 4" "6 rows: pyreadstat 6, pandas 4" \
    "32 rows: pyreadstat 32, pandas 31")" ]
echo "as described"
