#!/usr/bin/env bash
# SPSS files with an unknown number of cases in polars-readstat 0.25.0 and svy-io 0.7.1.
#
# The header of a .sav file holds the number of its cases, or -1 where that number was unknown when the header was
# written, such as by a program that writes to a pipe (PSPP's description of system files). The cases then end where the
# file ends. One would expect the cases that are there, or an error.
#
# Seen: polars-readstat and svy-io return the columns with no row at all, without an error or a warning. pyreadstat
# 1.3.7, readstat-arrow 2026.10.20.0 and PSPP 1.6.2 read the three cases of the same file.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/python" -m pip install --quiet --disable-pip-version-check "polars-readstat==0.25.0" "svy-io==0.7.1" \
    "pyreadstat==1.3.7" "readstat-arrow==2026.10.20.0" "pandas==3.1.1" "polars==2.1.0" "pyarrow==26.0.1"
cat > "$place/cases.py" <<'PYTHON'
import struct
import sys
from pathlib import Path

import polars_readstat
import pyreadstat
import readstat_arrow
import svy_io

NUMBER = 5 << 16 | 8 << 8 | 2  # F8.2
ages = [31.0, 47.0, 52.0]
for cases in (len(ages), -1):
    header = b"$FL2" + b"@(#) SPSS DATA FILE".ljust(60) + struct.pack("<5id", 2, 1, 0, 0, cases, 100.0)
    header += b"01 Jan 26" + b"00:00:00" + b" " * 64 + b"\0" * 3
    column = struct.pack("<6i", 2, 0, 0, 0, NUMBER, NUMBER) + b"AGE".ljust(8)
    encoding = struct.pack("<4i", 7, 20, 1, 5) + b"UTF-8"
    path = str(Path(sys.argv[1]) / "people.sav")
    Path(path).write_bytes(header + column + encoding + struct.pack("<2i", 999, 0) + struct.pack("<3d", *ages))
    found = {
        "pyreadstat": len(pyreadstat.read_sav(path)[0]),
        "readstat-arrow": readstat_arrow.read_sav(path)[0].num_rows,
        "polars-readstat": polars_readstat.read_readstat(path).height,
        "svy-io": svy_io.read_sav(path)[0].height,
    }
    print(f"header says {cases}:", " ".join(f"{library}={rows}" for library, rows in found.items()))
PYTHON
found=$("$place/env/bin/python" "$place/cases.py" "$place")
printf '%s\n' "$found"
[ "$found" = "$(printf '%s\n' "header says 3: pyreadstat=3 readstat-arrow=3 polars-readstat=3 svy-io=3" \
    "header says -1: pyreadstat=3 readstat-arrow=3 polars-readstat=0 svy-io=0")" ]
echo "as described"
