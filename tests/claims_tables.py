"""What the tests of all tables of claims share: a row's verdict is what its evidence says today."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from types import ModuleType
from typing import Any, get_args

import pytest

from confide.contract.claims import Verdict

FIELDS = {"id", "statement", "line", "claim", "verdict", "ours", "evidence"}
OPTIONAL = {"slow", "measured"}  # of evidence that takes long

Row = dict[str, Any]


def rows(package: str) -> list[Row]:
    """The claims of a family."""
    table = tomllib.loads(files(package).joinpath("claims.toml").read_text(encoding="utf-8"))
    assert table["document"]
    found: list[Row] = table["claim"]
    return found


def functions(modules: tuple[ModuleType, ...]) -> dict[str, Any]:
    """Every public function of the evidence modules."""
    return {name: value for module in modules for name, value in vars(module).items()
            if callable(value) and getattr(value, "__module__", "") == module.__name__ and not name.startswith("_")}


def check(row: Row, modules: tuple[ModuleType, ...], numbers: dict[str, tuple[float, float, float]]) -> None:
    """Recompute a row; `numbers` are the figures that its words quote: claimed, found, tolerance of the latter."""
    assert set(row) - OPTIONAL == FIELDS
    assert row["verdict"] in get_args(Verdict)
    found = functions(modules)[row["evidence"]]()
    assert found.verdict == row["verdict"], found
    if row["id"] in numbers:
        claimed, ours, tolerance = numbers[row["id"]]
        assert found.claimed == pytest.approx(claimed, rel=0.05, abs=1e-12)
        assert found.found == pytest.approx(ours, abs=tolerance)


def complete(table: list[Row], modules: tuple[ModuleType, ...]) -> None:
    """Ids are unique, and every evidence is used."""
    ids = [row["id"] for row in table]
    assert len(set(ids)) == len(ids)
    assert {row["evidence"] for row in table} == set(functions(modules))
