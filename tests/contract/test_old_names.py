"""Old names of the families: each works, gives what the new one gives, and warns once at the caller's line."""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from typing import Any

import pytest

import old_names
from confide.contract import ConfideDeprecationWarning
from confide.contract.renamed import renames

FAMILIES = [each.name for each in pkgutil.iter_modules(old_names.__path__)]


def uses(family: str) -> tuple[Any, dict[tuple[str, str], tuple[Any, Any]]]:
    module = importlib.import_module(f"old_names.{family}")
    return module, module.uses()


@pytest.mark.parametrize("family", FAMILIES)
def test_old_names_do_what_the_new_ones_do(family: str) -> None:
    module, found = uses(family)
    listed = {(each.where.removeprefix(f"confide.{family}").lstrip("."), each.old) for each in renames()
              if f"{each.where}.".startswith(f"confide.{family}.")}
    assert listed <= found.keys()
    for use, (call, expected) in found.items():
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            result = call()
        assert result == expected, use
        assert [(each.category, each.filename) for each in said] == [
            (ConfideDeprecationWarning, module.__file__)], use


def test_every_family_with_old_names_uses_them() -> None:
    parts = {each.where.split(".")[1] for each in renames()}
    assert {each for each in parts if each.islower()} == {*FAMILIES}  # a class of `confide` itself is a family's, too
