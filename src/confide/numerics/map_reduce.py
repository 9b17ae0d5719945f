"""Map over people in parallel, reduce in any order: blocks of rows on a few threads, with memory that stays flat.

numpy and scipy leave the interpreter's lock while they compute, so threads are enough. Each thread runs linear algebra
on one core: nested thread pools fight for the cores and can be ten times slower.
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
"""A block of rows and its temporaries stay in a core's cache, and the allocator reuses them."""
_TALLEST = 1024
"""Rows of a wide block: as many as columns, up to here, or adding up d x d sums takes longer than computing them."""


def threads() -> int:
    """How many threads work on people: the cores this process may use, at most 8."""
    try:
        usable = len(os.sched_getaffinity(0))
    except AttributeError:  # pragma: no cover - not Linux
        usable = os.cpu_count() or 1
    return max(1, min(8, usable))


def block_rows(width: int) -> int:
    """Rows of `width` doubles that make one block."""
    return max(256, min(width, _TALLEST), _BLOCK_BYTES // (8 * max(1, width)))


def one_core_each(kind: str | None = None) -> Any:
    """A context in which each call of linear algebra, and of other native pools of threads, runs on one core.

    Args:
        kind: pools of threads, "blas" or "openmp"; default all.
    """
    return _pools(len(sys.modules)).limit(limits=1, user_api=kind)


@lru_cache(maxsize=1)
def _pools(modules: int) -> ThreadpoolController:  # noqa: ARG001
    """The pools of this process: they are looked for anew where modules were imported, which may have brought some."""
    return ThreadpoolController()


def map_blocks(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """`map(work, items)` on several threads, in order, with few items in flight.

    Args:
        work: called with one item, on a thread of its own; must not touch what other calls touch.
        items: read one by one on the calling thread.

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
    """Add every item to one of a few states, one for each thread. Which one it is, nobody knows: sums must be exact.

    Args:
        start: a state to which nothing was added.
        add: adds an item to a state, on a thread of its own; the state is nobody else's meanwhile.
        items: read one by one on the calling thread.

    Returns:
        The states, for the caller to join.
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
