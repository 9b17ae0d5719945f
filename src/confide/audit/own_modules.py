"""The modules that define a user's own mechanism, and runs of the mechanism after a fresh import of these modules."""

from __future__ import annotations

import pickle
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from confide.audit.value_bytes import exact_bytes

__all__ = ["first_run", "kept", "outermost", "own_modules", "place"]

_OURS = __name__.partition(".")[0]


def own_modules(*objects: object) -> list[str]:
    """The names of the modules that define the classes of some objects and their base classes, without modules of
    confide and of Python's standard library.

    Args:
        objects: objects, such as a mechanism and its kind.

    Example:
        >>> own_modules(1, "text")
        []
    """
    found = sorted({cls.__module__ for each in objects for cls in type(each).__mro__})
    return [name for name in found if name.partition(".")[0] not in (_OURS, *sys.stdlib_module_names)]


def outermost(module: str) -> ModuleType | None:
    """The outermost package with an `__init__` file that contains a module, or the module itself; None where no file is
    known.

    Args:
        module: name of the module.
    """
    words = module.split(".")
    tops = (sys.modules.get(".".join(words[: k + 1])) for k in range(len(words)))
    return next((top for top in tops if top is not None and place(top) is not None), None)


def place(module: ModuleType) -> Path | None:
    """The path of a module's file; None if the module has no file."""
    named = getattr(module, "__file__", None)
    return Path(named) if named is not None and Path(named).is_file() else None


def first_run(mechanism: Any, act: Callable[[Any], Any]) -> Callable[[], Any] | None:
    """Function that imports a mechanism's modules anew, calls `act` on the mechanism, and then restores the earlier
    modules. The call behaves as in a process that has not yet run the mechanism.

    State that the modules keep between runs, in a global variable, a cache or on a class, is absent in a call with
    freshly imported modules. Other packages stay as they were.

    Args:
        mechanism: a user's own mechanism.
        act: function that is called on the mechanism.

    Returns:
        The function; None where the mechanism's modules cannot be imported again.
    """
    tops = [outermost(name) for name in own_modules(mechanism)]
    if not tops or any(top is None or top.__name__ == "__main__" for top in tops):
        return None
    try:
        packed = pickle.dumps(mechanism)
    except Exception:  # noqa: BLE001 - whatever it is, there is no other way to take it along
        return None
    names = [top.__name__ for top in tops if top is not None]

    def run() -> Any:
        with _anew(names):
            return act(pickle.loads(packed))  # noqa: S301 - our own bytes

    return run


def kept(mechanism: Any) -> dict[str, bytes]:
    """The global variables of a mechanism's modules: a mapping from the name to the bytes of the value, for values of
    Python's basic types and numpy arrays.

    Where modules cannot be imported again, a change of global variables by a run is the only visible sign of state
    between runs.

    Args:
        mechanism: a user's own mechanism.
    """
    plain = (bool, int, float, str, bytes, bytearray, tuple, list, dict, set, deque, np.ndarray, type(None))
    found = dict[str, bytes]()
    for module in own_modules(mechanism):
        for name, value in sorted(vars(sys.modules[module]).items()) if module in sys.modules else ():
            if isinstance(value, plain) and not name.startswith("__"):
                try:
                    found[f"{module}.{name}"] = exact_bytes(value)
                except Exception:  # noqa: BLE001, S112 - of a value that nobody can look at, nothing is known
                    continue
    return found


@contextmanager
def _anew(tops: list[str]) -> Iterator[None]:
    """Context in which nothing below the given modules counts as imported. At the end of the context all imports are
    restored.
    """

    def inside() -> list[str]:
        return [name for name in sys.modules if any(name == top or name.startswith(f"{top}.") for top in tops)]

    before = {name: sys.modules.pop(name) for name in inside()}
    try:
        yield
    finally:
        for name in inside():
            del sys.modules[name]
        sys.modules.update(before)
        for name, module in before.items():  # a package knows its modules by attributes, too
            above, _, word = name.rpartition(".")
            if above in sys.modules and hasattr(sys.modules[above], word):
                setattr(sys.modules[above], word, module)
