"""Parallel computations on blocks of people's records, on a few threads and in bounded memory. The results of blocks
are combined in any order.

numpy and scipy release Python's global interpreter lock while they compute, so threads suffice for parallel work. Each
thread runs linear algebra on one core, because nested thread pools compete for the cores and can be ten times slower.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from queue import SimpleQueue
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

__all__ = ["accumulate", "block_rows", "map_blocks", "one_core_each", "threads"]

Item = TypeVar("Item")
Result = TypeVar("Result")
State = TypeVar("State")

_BLOCK_BYTES = 2**20
"""Bytes of one block of rows. A block and its temporary arrays of this size stay in a core's cache, and the allocator
reuses their memory.
"""
_TALLEST = 1024
"""Largest number of rows of a wide block. Up to this limit a block has at least as many rows as its d columns. With
fewer rows, adding up the d x d sums of blocks takes longer than computing them.
"""


def threads() -> int:
    """Number of threads that work on people's records: the number of cores this process may use, at most 8."""
    try:
        usable = len(os.sched_getaffinity(0))
    except AttributeError:  # pragma: no cover - not Linux
        usable = os.cpu_count() or 1
    return max(1, min(8, usable))


def block_rows(width: int) -> int:
    """Number of rows, each of `width` doubles, that make one block."""
    return max(256, min(width, _TALLEST), _BLOCK_BYTES // (8 * max(1, width)))


def one_core_each(kind: str | None = None) -> Any:
    """A context manager under which each call of linear algebra or of another native thread pool runs on one core.

    Args:
        kind: thread pools to limit, "blas" or "openmp"; by default all pools.
    """
    return _pools(len(sys.modules)).limit(limits=1, user_api=kind)


@lru_cache(maxsize=1)
def _pools(modules: int) -> ThreadpoolController:  # noqa: ARG001
    """The native thread pools of this process. The search is repeated whenever the number of imported modules changes,
    since a new module may bring a pool.
    """
    return ThreadpoolController()


def map_blocks(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Apply `work` to every item on several threads, and yield the results in the order of the items. Only a few items
    are in memory at any time.

    Args:
        work: function of one item, which runs on a worker thread. The function must not touch objects that other calls
            touch.
        items: the items. The calling thread reads them one by one.

    Yields:
        The results, in the order of the items.
    """
    count = threads()
    pending: list[Future[Result]] = []
    with one_core_each(), ThreadPoolExecutor(count) as pool:
        for item in items:
            pending.append(pool.submit(work, item))
            if len(pending) > 2 * count:
                yield pending.pop(0).result()
        while pending:
            yield pending.pop(0).result()


def accumulate(start: Callable[[], State], add: Callable[[State, Item], None], items: Iterable[Item]) -> list[State]:
    """Add every item to one of a few states (partial sums), one for each thread. Any item may be added to any state, so
    the sums must be exact.

    Args:
        start: function that makes an empty state.
        add: function that adds an item to a state, on a worker thread. No other thread touches the state during the
            call.
        items: the items. The calling thread reads them one by one.

    Returns:
        The states. The caller has to combine them.
    """
    states = [start() for _ in range(threads())]
    free: SimpleQueue[State] = SimpleQueue()
    for state in states:
        free.put(state)

    def work(item: Item) -> None:
        state = free.get()
        try:
            add(state, item)
        finally:
            free.put(state)

    for _ in map_blocks(work, items):
        pass
    return states
