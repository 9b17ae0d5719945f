#!/usr/bin/env bash
# ibis-framework 12.0.0 on DuckDB, with sqlglot 30.17.0 and 30.18.0.
#
# ibis 12.0.0 allows any newer sqlglot, so a fresh installation takes the newest. One would expect `create_table` to
# make a table of an Arrow table that lies in memory, with each of them.
#
# Seen: with sqlglot 30.17.0 it does. From 30.18.0 on, DuckDB is handed a "drop view" whose name is missing, and
# refuses it as a syntax error. Tables that are made of a schema alone, or of an ibis expression, are made with both.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
pip="$place/env/bin/python -m pip install --quiet --disable-pip-version-check"
$pip "ibis-framework[duckdb]==12.0.0" "duckdb==1.4.0" "sqlglot==30.17.0"
cat > "$place/table.py" <<'PYTHON'
import ibis
import pyarrow as pa

connection = ibis.duckdb.connect()
rows = pa.table({"age": [31, 47, 52]})
print("from a schema:", connection.create_table("empty", schema=ibis.schema({"age": "int64"})).count().execute())
try:
    print("from memory:", connection.create_table("people", rows).count().execute())
except Exception as error:
    print("from memory:", type(error).__name__)
PYTHON
before=$("$place/env/bin/python" "$place/table.py")
$pip "sqlglot==30.18.0"
after=$("$place/env/bin/python" "$place/table.py")
printf 'sqlglot 30.17.0\n%s\nsqlglot 30.18.0\n%s\n' "$before" "$after"
[ "$before" = "$(printf 'from a schema: 0\nfrom memory: 3')" ]
[ "$after" = "$(printf 'from a schema: 0\nfrom memory: ParserException')" ]
echo "as described"
