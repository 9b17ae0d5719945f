"""Solvers, exact sums and map-reduce over people that several families need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.numerics.map_reduce import accumulate, block_rows, map_blocks, threads
    from confide.numerics.shards import RayShards, Shards, ThreadShards
    from confide.numerics.sums import IntegerCross

__all__ = [
    "IntegerCross",
    "RayShards",
    "Shards",
    "ThreadShards",
    "accumulate",
    "block_rows",
    "map_blocks",
    "threads",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "map_reduce": ("accumulate", "block_rows", "map_blocks", "threads"),
        "shards": ("RayShards", "Shards", "ThreadShards"),
        "sums": ("IntegerCross",),
    },
    renamed={"root_down": "confide.privacy.accounting.sums.root_down",
             "root_up": "confide.privacy.accounting.sums.root_up"},
)
