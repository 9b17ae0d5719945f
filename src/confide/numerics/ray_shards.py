"""Shards in Ray's object store: each is kept where it was put, and asked there.

Needs the extra `confide[ray]`. Results are the same bits as with threads: what a shard answers does not depend on where
it lies. Records leave this process; the cluster is as trusted as the process is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

from confide.contract.errors import InvalidInput

__all__ = ["RayShards"]


class RayShards:
    """Shards on a Ray cluster: the one that this process is connected to, or a local one that ends with the shards.

    Args:
        shards: parts of the records.
        options: of `ray.init`, where no cluster is connected yet; `num_cpus=2`, for instance.

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
        """`work(shard, *arguments)` of every shard, in their order; computed where the shard lies."""
        question = self._ray.put((work, arguments))
        answers: list[Any] = self._ray.get([self._asked.remote(shard, question) for shard in self._kept])
        return answers


def _asked(shard: Any, question: tuple[Callable[..., Any], tuple[Any, ...]]) -> Any:
    work, arguments = question
    return work(shard, *arguments)
