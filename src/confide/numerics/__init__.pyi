# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.numerics.map_reduce import accumulate as accumulate
from confide.numerics.map_reduce import block_rows as block_rows
from confide.numerics.map_reduce import map_blocks as map_blocks
from confide.numerics.map_reduce import threads as threads
from confide.numerics.shards import RayShards as RayShards
from confide.numerics.shards import Shards as Shards
from confide.numerics.shards import ThreadShards as ThreadShards
from confide.numerics.sums import IntegerCross as IntegerCross

__all__ = [
    "IntegerCross", "RayShards", "Shards", "ThreadShards", "accumulate", "block_rows", "map_blocks", "threads",
]
