"""A fresh database for one test, of the kind that its parameter names."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from databases import Cluster

__all__ = ["fresh_url"]

_numbers = count(1)


def fresh_url(request: pytest.FixtureRequest, folder: Path) -> Iterator[str]:
    """Its URL; afterwards it is dropped.

    Args:
        request: of a fixture whose parameter is "sqlite" or "postgresql".
        folder: where a file may lie.
    """
    if request.param == "sqlite":
        yield f"sqlite:///{folder / 'store.db'}"
        return
    cluster: Cluster = request.getfixturevalue("postgresql")
    name = f"test_{next(_numbers)}"
    yield cluster.create(name)
    cluster.drop(name)
