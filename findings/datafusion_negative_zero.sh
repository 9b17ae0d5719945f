#!/usr/bin/env bash
# Zeros with a sign in datafusion 54.0.0 and 55.0.0.
#
# A measurement that is rounded from below zero is often stored as -0.0. By IEEE 754, and in DuckDB, SQLite and
# PostgreSQL, -0.0 equals 0.0, so one would expect it to lie in [0, 1] and to be one value with 0.0.
#
# Seen: datafusion 54.0.0 orders doubles totally. -0.0 is below 0.0, differs from it, lies outside of
# BETWEEN 0.0 AND 1.0, and counts as a second distinct value. Its absolute value lies within again. From 55.0.0 on both
# zeros are one where they are compared, so that a query which counts rows within bounds changes its answer between
# the two versions. Its distinct values depend on what else is asked: COUNT(DISTINCT x) is 1 alone, and 2 in the same
# SELECT as COUNT(*).
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
pip="$place/env/bin/python -m pip install --quiet --disable-pip-version-check"
cat > "$place/zeros.py" <<'PYTHON'
import datafusion
import pyarrow as pa

session = datafusion.SessionContext()
session.from_arrow(pa.table({"x": [-0.0, 0.0]}), name="measured")
found = session.sql(
    "select sum(cast(x < 0.0 as int)) as below, sum(cast(x = 0.0 as int)) as equal, "
    "sum(cast(x between 0.0 and 1.0 as int)) as within, sum(cast(abs(x) between 0.0 and 1.0 as int)) as size_within, "
    "count(*) as rows, count(distinct x) as distinct_beside from measured").to_pydict()
found |= session.sql("select count(distinct x) as distinct_alone from measured").to_pydict()
print(" ".join(f"{name}={values[0]}" for name, values in found.items()))
PYTHON
$pip "datafusion==54.0.0"
before=$("$place/env/bin/python" "$place/zeros.py")
$pip "datafusion==55.0.0"
after=$("$place/env/bin/python" "$place/zeros.py")
printf 'datafusion 54.0.0: %s\ndatafusion 55.0.0: %s\n' "$before" "$after"
[ "$before" = "below=1 equal=1 within=1 size_within=2 rows=2 distinct_beside=2 distinct_alone=2" ]
[ "$after" = "below=0 equal=2 within=2 size_within=2 rows=2 distinct_beside=2 distinct_alone=1" ]
echo "as described"
