"""Lazy doors (PEP 562): a package lists its public names and loads a module when one of them is first asked for."""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # what type checkers take for true; `typing` itself is half of this import's time
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

__all__ = ["MOVED", "RENAMED", "doors", "moved"]

RENAMED: dict[str, Mapping[str, str]] = {}
"""Package -> its old public names, and today's; of the packages that were imported."""

MOVED: dict[str, Mapping[str, str]] = {}
"""Package -> public names that it had, and their whole names today; of the packages that were imported."""


def doors(
    package: str, modules: Mapping[str, tuple[str, ...]], packages: tuple[str, ...] = (),
    renamed: Mapping[str, str] | None = None, moved: Mapping[str, tuple[str, ...]] | None = None,
    old_packages: Mapping[str, str] | None = None,
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """`__all__`, `__getattr__` and `__dir__` for a package whose public names live in submodules.

    Type checkers and editors read the same names in the package's stub, `__init__.pyi`, which is made from this call.

    Args:
        package: the package's `__name__`.
        modules: submodule, or the full name of a module elsewhere -> the public names it defines; `__version__` is
            given, but not listed.
        packages: subpackages that are themselves public names.
        renamed: old public names -> today's; they work until 1.0.0, with a warning, and are not listed.
        moved: package of confide -> public names that stand there now; likewise. A package that has nothing else lists
            these.
        old_packages: subpackages that were public names, and are still there for their old names -> where these stand
            now; likewise.
    """
    home = {name: module for module, names in modules.items() for name in names}
    public = sorted(name for name in (*home, *packages) if not name.startswith("_"))
    elsewhere = {name: f"confide.{place}.{name}" for place, names in (moved or {}).items() for name in names}
    if renamed:
        RENAMED[package] = dict(renamed)
    if elsewhere:
        MOVED[package] = elsewhere
    old, gone = {**(renamed or {}), **elsewhere}, old_packages or {}

    def __getattr__(name: str) -> Any:
        if name in home:
            inside = not home[name].startswith("confide.")
            value = getattr(import_module(f"{package}.{home[name]}" if inside else home[name]), name)
        elif name in packages:
            value = import_module(f"{package}.{name}")
        elif name in old:
            _warn_of_old_name(package, name, old[name])
            module, _, today = old[name].rpartition(".")
            return getattr(import_module(module or package), today)  # not kept: the next caller is told, too
        elif name in gone:
            _warn_of_old_name(package, name, gone[name])
            value = import_module(f"{package}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, value)
        return value

    def __dir__() -> list[str]:
        return list(public) or sorted(old)

    return public, __getattr__, __dir__


def moved(module: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """`__getattr__` for a module that has given names away: they work until 1.0.0, with a warning.

    Args:
        module: the module's `__name__`.
        homes: name -> the module that defines it now.
    """

    def __getattr__(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        _warn_of_old_name(module, name, f"{homes[name]}.{name}")
        return getattr(import_module(homes[name]), name)

    return __getattr__


def _warn_of_old_name(package: str, name: str, today: str) -> None:
    """Warn the caller, who is two frames up. `from package import name` asks twice; its own line is the second."""
    if sys._getframe(2).f_code.co_name == "_handle_fromlist":
        return
    from confide.contract.renamed import warn_of_old

    warn_of_old(package, name, today)
