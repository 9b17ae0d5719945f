#!/usr/bin/env bash
# Texts of old Stata files in polars-readstat 0.25.0.
#
# A column str6 of a .dta file takes six bytes for each row, by Stata's description of the format. Up to format 117
# (Stata 13) a letter with an accent is one byte, mostly of windows-1252, so that Zürich fits. From format 118 on texts
# are UTF-8, with two bytes for ü. One would expect Zürich from files of both kinds.
#
# Seen: polars-readstat decodes the six bytes of an old file to six letters, and then cuts the decoded text at six bytes
# of UTF-8: Züric for Zürich, Öä for Öäü, and no text at all for Ö in a column str1. There is no error, and a text stays
# whole if it has no accent or is shorter than its column, so that two of a thousand towns may change. Format 118 is
# read as expected. pandas 3.1.1 and pyreadstat 1.3.7 read all of these files as expected.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/python" -m pip install --quiet --disable-pip-version-check "polars-readstat==0.25.0" "polars==2.1.0" \
    "pandas==3.1.1" "pyreadstat==1.3.7"
cat > "$place/texts.py" <<'PYTHON'
import sys

import pandas as pd
import polars_readstat
import pyreadstat

towns = pd.DataFrame({"town": ["Zürich", "Öäü", "Köln", "Berlin"], "code": ["Ö", "K", "ü", "B"]})
path = f"{sys.argv[1]}/towns.dta"
for version in (114, 117, 118):
    towns.to_stata(path, version=version, write_index=False)
    assert pd.read_stata(path).equals(towns) and pyreadstat.read_dta(path)[0].equals(towns)
    found = polars_readstat.read_readstat(path)
    print(f"format {version}:", " ".join(f"{town}/{code}" for town, code in found.iter_rows()))
PYTHON
found=$(PYTHONUTF8=1 "$place/env/bin/python" "$place/texts.py" "$place")
printf '%s\n' "$found"
[ "$found" = "$(printf '%s\n' "format 114: Züric/ Öä/K Köln/ Berlin/B" "format 117: Züric/ Öä/K Köln/ Berlin/B" \
    "format 118: Zürich/Ö Öäü/K Köln/ü Berlin/B")" ]
echo "as described"
