"""What the tests of all tables of claims share: a row's verdict is what its evidence says today."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from importlib import import_module
from importlib.resources import files
from typing import Any

import pytest

from confide.evidence import Claim, read_claims


def rows(package: str) -> tuple[Claim, ...]:
    """The claims of a family, or of a part of it; the reader refuses a table that is not as it must be."""
    return read_claims(package.split(".")[1], package)


def cases(table: Sequence[Claim], *slow: str) -> list[Any]:
    """The rows as cases of a test; those with these ids belong to `make test-all`, for their evidence takes seconds."""
    if not set(slow) <= {row.id for row in table}:
        raise ValueError(f"no such rows: {set(slow) - {row.id for row in table}}")
    long = [pytest.mark.slow, pytest.mark.timeout(1200)]  # evidence whose stored figures are cited takes minutes
    return [pytest.param(row, id=row.id, marks=long[: 2 if row.cost == "slow" else 1] if row.id in slow else [])
            for row in table]


def check(row: Claim, numbers: dict[str, tuple[float, float, float]]) -> None:
    """Recompute a row; `numbers` are the figures that its words quote: claimed, found, tolerance of the latter."""
    found = row.evidence()
    assert found.verdict == row.verdict, found
    if row.id in numbers:
        claimed, ours, tolerance = numbers[row.id]
        assert found.claimed == pytest.approx(claimed, rel=0.05, abs=1e-12, nan_ok=True)
        assert found.found == pytest.approx(ours, abs=tolerance)


def complete(table: Sequence[Claim]) -> None:
    """Ids are unique, and every evidence is used: the public functions of all modules that the table names."""
    assert len({row.id for row in table}) == len(table)
    package = table[0].evidence.module.rpartition(".")[0]
    named = tomllib.loads(files(package).joinpath("claims.toml").read_text(encoding="utf-8"))["modules"]
    modules = [import_module(f"{package}.{name}") for name in named]
    assert {str(row.evidence) for row in table} == {
        f"{module.__name__}.{name}" for module in modules for name, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", "") == module.__name__ and not name.startswith("_")}
