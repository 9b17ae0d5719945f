#!/usr/bin/env bash
# Long texts of Stata files of format 119 in polars-readstat 0.25.0 and svy-io 0.7.1.
#
# A text of type strL lies apart from its row, which holds the number of a column and the number of a row under which
# the text is found. Stata's description of format 119, which is for files of more than 32,767 columns, gives 3 bytes
# to the column and 5 to the row, where format 118 gives 2 and 6. One would expect the texts from both formats.
#
# Seen: both libraries read them from format 118, and lose all of them from format 119, without an error or a warning:
# every text is empty in polars-readstat and null in svy-io, like an answer that was not given. pandas 3.1.1 and
# pyreadstat 1.3.7 read the texts from both. pandas writes format 119 for so many columns where it is left to choose
# (version=None), and for two on request, which suffice here.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/python" -m pip install --quiet --disable-pip-version-check "polars-readstat==0.25.0" "svy-io==0.7.1" \
    "polars==2.1.0" "pyarrow==26.0.1" "pandas==3.1.1" "pyreadstat==1.3.7"
cat > "$place/notes.py" <<'PYTHON'
import sys

import pandas as pd
import polars_readstat
import pyreadstat
import svy_io

notes = pd.DataFrame({"id": [1, 2], "note": ["moved in May", "third of five"]})
path = f"{sys.argv[1]}/notes.dta"
for version in (118, 119):
    notes.to_stata(path, version=version, write_index=False, convert_strl=["note"])
    for found in (pd.read_stata(path), pyreadstat.read_dta(path)[0]):
        assert found["note"].tolist() == notes["note"].tolist()
    print(f"format {version}, polars-readstat:", polars_readstat.read_readstat(path)["note"].to_list())
    print(f"format {version}, svy-io:", svy_io.read_dta(path)[0]["note"].to_list())
PYTHON
found=$("$place/env/bin/python" "$place/notes.py" "$place")
printf '%s\n' "$found"
[ "$found" = "$(printf '%s\n' "format 118, polars-readstat: ['moved in May', 'third of five']" \
    "format 118, svy-io: ['moved in May', 'third of five']" \
    "format 119, polars-readstat: ['', '']" "format 119, svy-io: [None, None]")" ]
echo "as described"
