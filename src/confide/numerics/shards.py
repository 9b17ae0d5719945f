"""One seam between a computation and the people it is about: shards of records that stay where they are.

Each shard is held by one worker, which is asked the same public question in every round. The answers come back in the
order of the shards; who joins them must not depend on how many there are, which sums of whole numbers do not. Threads
of this process are the default; `ray_shards` puts the shards on many machines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Protocol, Self

from confide.numerics.map_reduce import one_core_each, threads

__all__ = ["Shards", "ThreadShards"]


class Shards(Protocol):
    """Records in several places; a context, which ends what holds them."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        ...

    def map(self, work: Callable[..., Any], *arguments: Any) -> list[Any]:
        """`work(shard, *arguments)` of every shard, in their order.

        Args:
            work: what is asked; where shards are elsewhere it must be picklable.
            arguments: the same for all, public.
        """
        ...


class ThreadShards:
    """Shards in this process, on a few threads.

    Args:
        shards: parts of the records.
        workers: threads; as many as there are cores, at most 8, by default.

    Example:
        >>> with ThreadShards([[1, 2], [3]], workers=2) as held:
        ...     held.map(lambda part, factor: factor * sum(part), 10)
        [30, 30]
    """

    def __init__(self, shards: Sequence[Any], workers: int | None = None) -> None:
        self._shards = list(shards)
        self._pool = ThreadPoolExecutor(workers or threads())
        self._limits: Any = None

    def __enter__(self) -> Self:
        self._limits = one_core_each()  # nested pools of linear algebra would fight for the cores
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._pool.shutdown(cancel_futures=True)
        if self._limits is not None:
            self._limits.restore_original_limits()

    def map(self, work: Callable[..., Any], *arguments: Any) -> list[Any]:
        """`work(shard, *arguments)` of every shard, in their order."""
        if len(self._shards) == 1:
            return [work(self._shards[0], *arguments)]
        return list(self._pool.map(lambda shard: work(shard, *arguments), self._shards))
