"""Tables: sources that stream, public lists of ids, public column roles, and designs that turn rows into vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.tables.design import Design, Encoded, Natural
    from confide.tables.records import Records, read_records, rejections
    from confide.tables.roles import Above, Category, Measured, Numeric, Word
    from confide.tables.roster import FirstRows, Roster
    from confide.tables.sources import TableSource, is_packaged, open_table


__all__ = [
    "Above",
    "Category",
    "Design",
    "Encoded",
    "FirstRows",
    "Measured",
    "Natural",
    "Numeric",
    "Records",
    "Roster",
    "TableSource",
    "Word",
    "is_packaged",
    "open_table",
    "read_records",
    "rejections",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "design": ("Design", "Encoded", "Natural"),
        "records": ("Records", "read_records", "rejections"),
        "roles": ("Above", "Category", "Measured", "Numeric", "Word"),
        "roster": ("FirstRows", "Roster"),
        "sources": ("TableSource", "is_packaged", "open_table"),
    },
    renamed={"Source": "TableSource"},
)
