"""Lazy doors (PEP 562): a package lists its public names and loads a module when one of them is first asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["MOVED", "RENAMED", "doors"]

RENAMED: dict[str, Mapping[str, str]] = {}
"""Package -> its old public names, and today's; of the packages that were imported."""

MOVED: dict[str, Mapping[str, str]] = {}
"""Package -> public names that it had, and the package of confide that has them; of the packages that were imported."""


def doors(
    package: str, modules: Mapping[str, tuple[str, ...]], packages: tuple[str, ...] = (),
    renamed: Mapping[str, str] | None = None, moved: Mapping[str, tuple[str, ...]] | None = None,
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` for a package whose public names live in submodules.

    Args:
        package: the package's `__name__`.
        modules: submodule -> the public names it defines; `__version__` is given, but not listed.
        packages: subpackages that are themselves public names.
        renamed: old public names -> today's; they work until 1.0.0, with a warning, and are not listed.
        moved: package of confide -> public names that stand there now; likewise.
    """
    home = {name: module for module, names in modules.items() for name in names}
    public = sorted(name for name in (*home, *packages) if not name.startswith("_"))
    old = dict(renamed or {})
    if old:
        RENAMED[package] = old
    elsewhere = {name: place for place, names in (moved or {}).items() for name in names}
    if elsewhere:
        MOVED[package] = elsewhere

    def __getattr__(name: str) -> Any:
        if name in home:
            value = getattr(import_module(f"{package}.{home[name]}"), name)
        elif name in packages:
            value = import_module(f"{package}.{name}")
        elif name in old:
            _warn_of_old_name(package, name, old[name])
            return getattr(sys.modules[package], old[name])  # not kept: the next caller is told, too
        elif name in elsewhere:
            _warn_of_old_name(package, name, f"confide.{elsewhere[name]}.{name}")
            return getattr(import_module(f"confide.{elsewhere[name]}"), name)
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, value)
        return value

    def __dir__() -> list[str]:
        return public

    return __getattr__, __dir__


def _warn_of_old_name(package: str, name: str, today: str) -> None:
    """Warn the caller, who is two frames up. `from package import name` asks twice; its own line is the second."""
    if sys._getframe(2).f_code.co_name == "_handle_fromlist":
        return
    from confide.contract.renamed import warn_of_old

    warn_of_old(package, name, today)
