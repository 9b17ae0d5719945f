#!/usr/bin/env bash
# ibis-framework 12.0.0 on DataFusion, with datafusion 51.0.0 and 52.0.0.
#
# The extra `datafusion` of ibis 12.0.0 names no upper limit, so a fresh installation takes a newer one. One would
# expect `ibis.datafusion.connect()` to open an empty session with each of them.
#
# Seen: with datafusion 51.0.0 it does. From 52.0.0 on it raises TypeError before any table is named: ibis registers
# its own scalar functions with keyword arguments that datafusion now spells otherwise.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
pip="$place/env/bin/python -m pip install --quiet --disable-pip-version-check"
$pip "ibis-framework[datafusion]==12.0.0" "sqlglot==30.17.0" "datafusion==51.0.0"
cat > "$place/session.py" <<'PYTHON'
import ibis

try:
    print("tables:", ibis.datafusion.connect().list_tables())
except Exception as error:
    print(type(error).__name__)
PYTHON
before=$("$place/env/bin/python" "$place/session.py")
$pip "datafusion==52.0.0"
after=$("$place/env/bin/python" "$place/session.py")
printf 'datafusion 51.0.0: %s\ndatafusion 52.0.0: %s\n' "$before" "$after"
[ "$before" = "tables: []" ]
[ "$after" = "TypeError" ]
echo "as described"
