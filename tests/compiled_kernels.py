"""Compile the kernels that the fast tests call, before they run: `python tests/compiled_kernels.py`, by `make test`.

Each test process would compile for itself what it is the first to call. Signatures are kept as text, as numba prints
them, in `kernel_signatures.json`; `PYTHONPATH=tests pytest -p compiled_kernels` adds what a run has called.
"""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("kernel_signatures.json")
_ARRAY = re.compile(r"array\((\w+), (\d)d, (\w)\)")


def signature(text: str, module: Any) -> tuple[Any, ...]:
    """The types of a kernel's arguments.

    Args:
        text: as numba prints a signature.
        module: of the kernel, which knows the named tuples that it takes.
    """
    from numba import types

    def named(which: type) -> Any:
        return lambda *fields: types.NamedTuple(fields, which)

    known = {name: named(each) for name, each in vars(module).items()
             if isinstance(each, type) and issubclass(each, tuple) and hasattr(each, "_fields")}
    words = {**vars(types), **known, "x": None}
    found = eval(_ARRAY.sub(r"Array(\1, \2, '\3')", text.rsplit(" -> ", 1)[0]), words)
    return tuple(found)


def compile_all(names: list[str]) -> None:
    """Compile some kernels, into numba's own files beside their sources."""
    for name, texts in json.loads(FILE.read_text(encoding="utf-8")).items():
        place, _, attribute = name.partition(":")
        if name in names:
            module = import_module(place)
            for text in texts:
                getattr(module, attribute).compile(signature(text, module))


def called() -> dict[str, list[str]]:
    """The signatures of every kernel that this process has called."""
    from numba.core.dispatcher import Dispatcher

    found = {}
    for place, module in sorted(sys.modules.items()):
        if place.startswith("confide."):
            for name, each in vars(module).items():
                if isinstance(each, Dispatcher) and each.py_func.__module__ == place and each.nopython_signatures:
                    found[f"{place}:{name}"] = sorted(str(known) for known in each.nopython_signatures)
    return found


def pytest_sessionfinish() -> None:
    """Add what a run has called to the file; workers come before whoever started them."""
    known = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    for name, texts in called().items():
        known[name] = sorted({*known.get(name, []), *texts})
    FILE.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def main() -> None:
    """Compile everything, in two processes; a family's kernels in one of them, since they call each other."""
    from concurrent.futures import ProcessPoolExecutor

    rooms: dict[str, list[str]] = {}
    for name in json.loads(FILE.read_text(encoding="utf-8")):
        rooms.setdefault(name.split(".")[1].split(":")[0], []).append(name)
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(compile_all, sorted(rooms.values(), key=len, reverse=True)))


if __name__ == "__main__":
    main()
