"""Input tables: sources of rows, public lists of ids, public roles of columns, and designs of regression vectors."""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "design": ("Design", "Encoded", "Natural"),
        "read_options": ("ColumnFacts", "ReadOptions"),
        "records": ("Records", "read_records", "rejections"),
        "roles": ("Above", "Category", "Measured", "Numeric", "Word"),
        "roster": ("FirstRows", "Roster"),
        "sources": ("is_packaged", "open_table"),
        "table_source": ("CellFault", "TableSource"),
    },
    renamed={"Source": "TableSource"},
)
