"""An interface between a computation and people's records. The records are stored in parts (shards), which are never
moved.

Each shard is held by one worker. In every round all workers run the same function with the same public arguments. The
results come back in the order of the shards. The combined result must not depend on the number of shards; sums of whole
numbers meet this condition. By default the workers are threads of this process. `RayShards` puts the shards on many
machines.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Protocol, Self

from confide.contract.errors import InvalidInput
from confide.numerics.map_reduce import one_core_each, threads

__all__ = ["RayShards", "Shards", "ThreadShards"]


class Shards(Protocol):
    """Records in several places. An object of this class is a context manager, and the end of the context stops the
    workers that hold the records.
    """

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        ...

    def map(self, work: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Call `work(shard, *arguments)` for every shard, and return the results in the order of the shards.

        Args:
            work: function of a shard and of `arguments`. The function must be picklable if the shards lie in other
                processes.
            arguments: further arguments of `work`, which are public and equal for all shards.
        """
        ...


class ThreadShards:
    """Shards in this process, on a few threads.

    Args:
        shards: parts of the records.
        workers: number of threads; by default the number of cores, at most 8.

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
        """Call `work(shard, *arguments)` for every shard, and return the results in the order of the shards."""
        if len(self._shards) == 1:
            return [work(self._shards[0], *arguments)]
        return list(self._pool.map(lambda shard: work(shard, *arguments), self._shards))


class RayShards:
    """Shards on a Ray cluster. If this process is connected to a cluster, this cluster is used. Otherwise a local
    cluster is started, which stops at the end of the context.

    Args:
        shards: parts of the records.
        options: keyword arguments of `ray.init`, such as `num_cpus=2`. The options are used if this process is not
            connected to a cluster.

    Raises:
        InvalidInput: Ray is not installed.
    """

    def __init__(self, shards: Sequence[Any], **options: Any) -> None:
        try:
            import ray
        except ImportError:
            raise InvalidInput("shards", "ray is not installed", "pip install 'confide[ray]'") from None
        self._ray, self._shards, self._options = ray, list(shards), options
        self._ours, self._kept = False, []  # type: ignore[var-annotated]

    def __enter__(self) -> Self:
        if not self._ray.is_initialized():
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a campaign tells nobody that it runs
            self._ray.init(**{"include_dashboard": False, "log_to_driver": False, "logging_level": "ERROR",
                              **self._options})
            self._ours = True
        self._asked = self._ray.remote(_asked)
        self._kept = [self._ray.put(shard) for shard in self._shards]
        self._shards = []
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._kept = []
        if self._ours:
            self._ray.shutdown()

    def map(self, work: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Call `work(shard, *arguments)` for every shard on the machine that holds the shard, and return the results in
        the order of the shards.
        """
        question = self._ray.put((work, arguments))
        answers: list[Any] = self._ray.get([self._asked.remote(shard, question) for shard in self._kept])
        return answers


def _asked(shard: Any, question: tuple[Callable[..., Any], tuple[Any, ...]]) -> Any:
    work, arguments = question
    return work(shard, *arguments)
