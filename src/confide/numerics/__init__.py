"""Numerical tools that several families of mechanisms share: solvers, exact sums, and map-reduce over records."""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "map_reduce": ("accumulate", "block_rows", "map_blocks", "threads"),
        "shards": ("RayShards", "Shards", "ThreadShards"),
        "sums": ("IntegerCross",),
    },
    renamed={"root_down": "confide.privacy.accounting.sums.root_down",
             "root_up": "confide.privacy.accounting.sums.root_up"},
)
