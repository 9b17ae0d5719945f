"""Input tables: sources of rows, public lists of ids, public roles of columns, and designs of regression vectors."""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
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
