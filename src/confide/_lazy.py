"""Lazy doors (PEP 562): a package lists its public names and loads a module when one of them is first asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["doors"]


def doors(
    package: str, modules: Mapping[str, tuple[str, ...]], packages: tuple[str, ...] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` for a package whose public names live in submodules.

    Args:
        package: the package's `__name__`.
        modules: submodule -> the public names it defines.
        packages: subpackages that are themselves public names.
    """
    home = {name: module for module, names in modules.items() for name in names}
    public = sorted([*home, *packages])

    def __getattr__(name: str) -> Any:
        if name in home:
            value = getattr(import_module(f"{package}.{home[name]}"), name)
        elif name in packages:
            value = import_module(f"{package}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, value)
        return value

    def __dir__() -> list[str]:
        return public

    return __getattr__, __dir__
