#!/usr/bin/env bash
# Vietnamese SPSS files of windows-1258 in pyreadstat 1.3.7 and readstat-arrow 2026.10.20.0.
#
# windows-1258 writes a letter with a tone as the letter, followed by the tone, and a .sav file may name this encoding
# in its record 20 of type 7. One would expect every text to be read in its own row: Hà Nội, Huế, Cần Thơ.
#
# Seen, on Linux: both return 'XHà Nộ', 'iHuế', 'Cần Th' without an error. The last letter of a text is written in front
# of the text that is read next, in another row or column. The column X has no name: it is in front of its first text.
# Both wrap ReadStat, which converts each text with iconv. iconv waits for a tone after each letter, and has to be asked
# for the last letter at the end of a text, which ReadStat does not do. Texts without any tone change as well.
# polars-readstat 0.25.0 and PSPP 1.6.2 read the same file as expected.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/python" -m pip install --quiet --disable-pip-version-check "pyreadstat==1.3.7" "pandas==3.1.1" \
    "readstat-arrow==2026.10.20.0" "pyarrow==26.0.1" "polars-readstat==0.25.0" "polars==2.1.0"
cat > "$place/towns.py" <<'PYTHON'
import struct
import sys
from pathlib import Path
from unicodedata import normalize

import polars_readstat
import pyreadstat
import readstat_arrow

TEXT = 1 << 16 | 8 << 8  # A8
towns = ["Ha\u0300 N\u00f4\u0323i", "Hu\u00ea\u0301", "C\u00e2\u0300n Th\u01a1"]
header = b"$FL2" + b"@(#) SPSS DATA FILE".ljust(60) + struct.pack("<5id", 2, 1, 0, 0, len(towns), 100.0)
header += b"01 Jan 26" + b"00:00:00" + b" " * 64 + b"\0" * 3
column = struct.pack("<6i", 2, 8, 0, 0, TEXT, TEXT) + b"X".ljust(8)
encoding = struct.pack("<12i", 7, 3, 4, 8, 1, 0, 0, -1, 1, 1, 2, 1258)
encoding += struct.pack("<4i", 7, 20, 1, len(b"windows-1258")) + b"windows-1258"
path = str(Path(sys.argv[1]) / "towns.sav")
rows = b"".join(town.encode("cp1258").ljust(8) for town in towns)
Path(path).write_bytes(header + column + encoding + struct.pack("<2i", 999, 0) + rows)
read = {
    "pyreadstat": pyreadstat.read_sav(path)[0].iloc[:, 0].tolist(),
    "readstat-arrow": readstat_arrow.read_sav(path)[0].column(0).to_pylist(),
    "polars-readstat": polars_readstat.read_readstat(path).to_series(0).to_list(),
}
for library, found in read.items():
    print(f"{library}: {', '.join(normalize('NFC', town) for town in found)}")
PYTHON
found=$(PYTHONUTF8=1 "$place/env/bin/python" "$place/towns.py" "$place")
printf '%s\n' "$found"
[ "$found" = "$(printf '%s\n' "pyreadstat: XHà Nộ, iHuế, Cần Th" "readstat-arrow: XHà Nộ, iHuế, Cần Th" \
    "polars-readstat: Hà Nội, Huế, Cần Thơ")" ]
echo "as described"
