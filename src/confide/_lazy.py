"""Lazy loading (PEP 562): a package lists its public names, and loads a module when one of the module's names is first
used.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # what type checkers take for true; `typing` itself is half of this import's time
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

__all__ = ["MOVED", "RENAMED", "exports", "moved"]

RENAMED: dict[str, Mapping[str, str]] = {}
"""Mapping from each imported package to its renamed public names: old name -> present name."""

MOVED: dict[str, Mapping[str, str]] = {}
"""Mapping from each imported package to the public names that have left it: old name -> present full name."""


def exports(
    package: str, modules: Mapping[str, tuple[str, ...]], packages: tuple[str, ...] = (),
    renamed: Mapping[str, str] | None = None, moved: Mapping[str, tuple[str, ...]] | None = None,
    old_packages: Mapping[str, str] | None = None,
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """`__all__`, `__getattr__` and `__dir__` for a package whose public names are defined in submodules.

    Type checkers and editors read the same names in the package's stub, `__init__.pyi`, which is generated from this
    call.

    Args:
        package: the package's `__name__`.
        modules: mapping from the name of a submodule, or the full name of another module, to the public names that the
            module defines. The name `__version__` is available, but not listed in `__all__`.
        packages: subpackages that are themselves public names.
        renamed: mapping from old public names to present public names. Old names work until 1.0.0, with a warning, and
            are not listed.
        moved: mapping from a package of confide to the public names that have moved to it. Moved names work in the old
            place until 1.0.0, with a warning, and are listed only by a package without other public names.
        old_packages: mapping from the name of a subpackage that is kept only for its old names to the module that has
            these names now. The old names work until 1.0.0, with a warning.
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
            return getattr(import_module(module or package), today)  # not kept: the next caller is warned, too
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
    """`__getattr__` for a module whose names have moved elsewhere: the old names work until 1.0.0, with a warning.

    Args:
        module: the module's `__name__`.
        homes: mapping from each moved name to the module that defines the name now.
    """

    def __getattr__(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        _warn_of_old_name(module, name, f"{homes[name]}.{name}")
        return getattr(import_module(homes[name]), name)

    return __getattr__


def _warn_of_old_name(package: str, name: str, today: str) -> None:
    """Warn the caller two frames up that a name is old.

    The statement `from package import name` asks for the name twice. The function warns only at the second request,
    which comes from the line of the statement itself.
    """
    if sys._getframe(2).f_code.co_name == "_handle_fromlist":
        return
    from confide.contract.renamed import warn_of_old

    warn_of_old(package, name, today)
