"""Files as people have them, each with a habit that others have met: small, made up, and right by count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["UNREADABLE", "codes", "gpa", "queries", "scores", "slots", "survey"]

HEAD = """\
format = 1
kind = "queries"
title = "{name}"
[budget]
data_set = "{name}"
epsilon = 100.0
delta = 1e-6
[data]
source = "{source}"
records = {records}
{more}
{columns}
[workload]
form = "complete"
width = 1
[privacy]
epsilon = {epsilon}
delta = 1e-9
"""
REGION = '[[columns]]\ncolumn = "region"\nlevels = ["north", "south"]\n'
INCOME = '[[columns]]\ncolumn = "income"\nlower = 0\nupper = 10\nbins = 5\n'
SMOKER = '[[columns]]\ncolumn = "smoker"\nbit = true\n'


def queries(folder: Path, name: str, columns: str, lines: Sequence[str], *, more: str = "", records: int | None = None,
            epsilon: float = 10.0) -> Path:
    """A custodian's campaign beside its CSV file."""
    (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    path = folder / f"{name}.toml"
    count = len(lines) - 1 if records is None else records
    path.write_text(HEAD.format(name=name, source=f"{name}.csv", records=count, columns=columns, more=more,
                                epsilon=epsilon))
    return path


def scores(folder: Path) -> Path:
    """Tenths, each as often as any other; temperatures in tenths."""
    lines = ["score,temp", *(f"{(k % 11) / 10},{36 + (k % 21) / 10:.1f}" for k in range(1100))]
    columns = ('[[columns]]\ncolumn = "score"\nlower = 0\nupper = 1\nbins = 10\n'
               '[[columns]]\ncolumn = "temp"\nlower = 36\nupper = 38\nbins = 20\n')
    return queries(folder, "scores", columns, lines, epsilon=50.0)


def codes(folder: Path) -> Path:
    """Whole numbers as a data frame writes a column with a gap."""
    lines = ["id,region,smoker", *(f"{k + 1},{k % 4 + 1}.0,{k % 2}" for k in range(1000))]
    return queries(folder, "codes", f'[[columns]]\ncolumn = "region"\nlevels = [1, 2, 3, 4]\n{SMOKER}', lines)


def gpa(folder: Path) -> Path:
    """Floats of 32 bits, a fifth of them at the upper bound."""
    pq.write_table(pa.table({"gpa": pa.array(np.tile([1.7, 2.4, 3.1, 3.9, 4.3], 200).astype(np.float32))}),
                   folder / "gpa.parquet")
    path = folder / "gpa.toml"
    path.write_text(HEAD.format(name="gpa", source="gpa.parquet", records=1000, more="", epsilon=20.0, columns=(
        '[[columns]]\ncolumn = "gpa"\nlower = 0\nupper = 4.3\nbins = 43\n')))
    return path


def slots(folder: Path, ids: Callable[[int], str]) -> Path:
    """Wishes of 3,000 people for four days."""
    draw = np.random.Generator(np.random.PCG64(5)).integers(0, 11, (3000, 4))
    (folder / "wishes.csv").write_text("id,mon,tue,wed,thu\n" + "".join(
        f"{ids(k + 1)},{','.join(f'{value}.0' for value in row)}\n" for k, row in enumerate(draw.tolist())))
    path = folder / "slots.toml"
    path.write_text("""\
format = 1
kind = "matching"
title = "float ids"
[budget]
data_set = "float ids"
epsilon = 4.0
[people]
count = 3000
id = "id"
[goods]
names = ["mon", "tue", "wed", "thu"]
supply = [600, 600, 600, 600]
[values]
scale = "points"
lowest = 0
highest = 10
[data]
source = "wishes.csv"
form = "wide"
[privacy]
epsilon = 4.0
[auction]
method = "best"
""")
    return path


def survey(folder: Path, *, more: str = "", lost: int = 60) -> Path:
    """1,000 people, of whom some have no income and a few a level in other letters."""
    lines = ["region,income"]
    lines += [f"{('north', 'south')[k % 2] if k >= 5 else 'North'},{'' if 5 <= k < lost else k % 10}"
              for k in range(1000)]
    return queries(folder, "survey", REGION + INCOME, lines, more=more)


def _visits(folder: Path) -> Path:
    lines = ["visit,smoker", *(f"2024-{k % 12 + 1:02d}-{k % 28 + 1:02d},{k % 2}" for k in range(1000))]
    return queries(folder, "visits", ('[[columns]]\ncolumn = "visit"\nlower = 20240101\nupper = 20241231\nbins = 12\n'
                                      f"{SMOKER}"), lines)


def _rows(name: str, cell: str) -> Callable[[Path], Path]:
    return lambda folder: queries(folder, name, REGION + INCOME, ["region,income", *(
        f"{('north', 'south')[k % 2]},{cell.format(k % 10)}" for k in range(1000))])


UNREADABLE: dict[str, tuple[Callable[[Path], Path], str]] = {
    "dates": (_visits, "visit: 1,000 cells are dates, and dates are not supported, such as '2024-01-01'"),
    "decimal commas": (_rows("commas", "{},5"), "1,000 rows have 3 cells, the header 2: a comma at the end of a row, or"
                                                " a decimal comma; nothing"),
    "quoted decimal commas": (_rows("quoted", '"{},5"'), "income: 1,000 cells have a comma, for decimals or thousands, "
                                                         "such as '0,5'"),
    "dollars": (_rows("dollars", "${}"), "income: 1,000 cells have a currency sign, such as '$0'"),
    "euros": (_rows("euros", '"{},50 €"'), "income: 1,000 cells have a currency sign, such as '0,50 €'"),
    "thousands": (_rows("thousands", '"{},000.00"'), "income: 1,000 cells have signs between thousands, such as "
                                                     "'0,000.00'"),
    "trailing commas": (_rows("trailing", "{},"), "1,000 rows have 3 cells, the header 2: a comma at the end of a row, "
                                                  "or a decimal comma; nothing"),
    "words": (_rows("words", "n/a"), "income: 1,000 cells are not numbers, such as 'n/a'"),
}
"""Files of which no row can be read, and what the operator is told."""
