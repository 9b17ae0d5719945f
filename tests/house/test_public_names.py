"""The doors of all packages: whatever they list is there, and every family stands at the root."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name

import pytest

import confide
from confide._lazy import MOVED
from confide.contract import ConfideDeprecationWarning, Mechanism, kind, kind_names

ROOT = Path(confide.__file__).parent
PACKAGES = sorted(".".join(("confide", *path.parent.relative_to(ROOT).parts)) for path in ROOT.rglob("__init__.py")
                  if "exports(" in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_lists_what_it_has(name: str) -> None:
    package = import_module(name)
    # One that is there for its old names alone lists these.
    assert dir(package) == sorted(package.__all__ or MOVED[name])
    assert len(set(package.__all__)) == len(package.__all__)
    for each in package.__all__:
        assert getattr(package, each) is not None


def test_every_family_stands_at_the_root() -> None:
    types = [each for name in kind_names() for each in kind(name).types.values()]
    families = {each.__module__.split(".")[1] for each in types
                if issubclass(each, Mechanism) and each.__module__.startswith("confide.")}
    assert len(families) >= 7
    assert families | {"channels", "people"} <= set(confide.__all__)


def test_names_that_moved_are_found_where_they_were() -> None:
    for name in (*PACKAGES, "confide.allocation.printed"):
        import_module(name)
    moved = {(old, name): today for old, names in MOVED.items() for name, today in names.items()}
    assert moved
    for (old, name), today in moved.items():
        with pytest.warns(ConfideDeprecationWarning, match=f"{name!r} is called {today!r} now"):
            found = getattr(import_module(old), name)
        assert found is resolve_name(today)
        assert (name in dir(import_module(old))) is (not import_module(old).__all__)


@pytest.mark.parametrize("family", sorted(path.parent.name for path in ROOT.glob("*/audit.py")))
def test_old_names_of_audits_lead_to_what_is_there(family: str) -> None:
    path = ROOT / family / "audit.py"
    call = next(node.value for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.Assign))
    assert isinstance(call, ast.Call)
    words = {each.arg: each.value for each in call.keywords}
    names = [*ast.literal_eval(words.pop("moved", ast.Dict([], []))), *map(str, words)]
    assert names
    for name in names:
        with pytest.warns(ConfideDeprecationWarning, match=name):
            assert callable(getattr(import_module(f"confide.{family}.audit"), name))
