"""Table 1: the number of binary attributes that result from the published columns and bins.

Spec query_release F and erratum 12. Netflix has one attribute for each film, so its number of attributes needs no
check.
"""

from __future__ import annotations

from itertools import accumulate

from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import Compared, Findings, Study, advance, as_printed, near
from confide.evidence.wu_2017.query_release.stand_ins import ADULT, KDD99, NETFLIX, published_schema

__all__ = ["STUDY"]


def _run(_quick: bool, progress: Progress | None) -> Findings:
    compared: list[Compared] = []
    points: list[tuple[float, float, str]] = []
    rows: list[tuple[str | int, ...]] = []
    for done, (name, printed) in enumerate((("Adult", ADULT), ("KDD99", KDD99)), 1):
        schema = published_schema("adult" if name == "Adult" else "kdd99")
        unreachable = sum("unreachable" in each for each in schema.names)
        columns, bits = len(schema.columns), schema.attributes
        compared += [
            near(f"columns of {name}", printed.columns, columns, within=0.0,
                 remark="" if columns == printed.columns else "the binary ones are those of 15, with income",
                 origin=as_printed("Wu 2017, Table 1, line 1279")),
            near(f"binary attributes of {name}", printed.bits, bits, within=0.0,
                 origin=as_printed("Wu 2017, Table 1, line 1279")),
            Compared(quantity=f"of which no record can have, {name}", published=None, ours=unreachable,
                     agreement="not published", remark="six relationships over 60 bins" if unreachable else ""),
        ]
        sizes = sorted((sum(each.startswith(f"{column.column} ") for each in schema.names)
                        for column in schema.columns), reverse=True)
        points += [(k, total, name) for k, total in enumerate(accumulate(sizes), 1)]
        rows.append((name, printed.records, printed.columns, printed.bits, columns, bits, unreachable,
                     bits * (bits - 1) * (bits - 2) // 6))
        advance(progress, done, 2)
    rows.append(("Netflix", *NETFLIX, NETFLIX.columns, NETFLIX.bits, 0,
                 NETFLIX.bits * (NETFLIX.bits - 1) * (NETFLIX.bits - 2) // 6))
    return Findings(compared=tuple(compared), blocks=(
        *curves(points, title="Binary attributes of the published tables",
                x="columns, those with most attributes first", y="binary attributes, in all",
                alt="Attributes against columns. A few columns, such as a country, a service and the relationships "
                    "that were spread over 60 bins, bring most of the attributes."),
        Table(columns=("table", "records", "columns in print", "binary attributes in print", "columns", "attributes",
                       "of which unreachable", "positive 3-way marginals"), rows=tuple(rows),
              note="Columns and bins are those of the authors' prototype; Netflix's are the printed numbers.")))


STUDY = Study(
    name="queries-sizes",
    title="The published tables in bits",
    source="Wu 2017, Table 1",
    statement="Adult has 14 attributes (235 in binary form), KDD99 has 41 (396), and Netflix has 17,770 (17,770).",
    run=_run,
)
