"""Who imports whom in confide, read from the source: at import, inside functions, and for types alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import confide
from typed import stubs

SOURCE = Path(confide.__file__).parent


def modules() -> dict[str, Path]:
    """All modules of confide, dotted name -> file."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = ("confide", *path.relative_to(SOURCE).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports() -> Mapping[str, set[str]]:
    """The graph of imports, module -> modules that it names anywhere, an import for types alone included.

    A name that a package exports counts as an import of the module that defines it: `from confide.campaign import
    Store` is one of `confide.campaign.store.store`. So a package that only exports names imports nothing.
    """
    known = modules()
    exports = {name for name, path in known.items() if path.name == "__init__.py" and "exports(" in _text(path)}
    exported = {name: _exported(name, known[name]) for name in exports}

    def defined(module: str, name: str) -> str:
        """The module in which a name of a module is defined."""
        seen = set[str]()
        while module in exported and name in exported[module] and module not in seen:
            seen.add(module)
            module = exported[module][name]
        return module

    return {name: set() if name in exports else {defined(module, what) for what, module in _names(name, known)} - {name}
            for name in known}


def _exported(package: str, path: Path) -> dict[str, str]:
    """The public names behind the call of `exports`, and the module that each is from."""
    modules, inner = stubs.exports(path)
    return {**{name: place if place.startswith("confide.") else f"{package}.{place}"
               for place, names in modules.items() for name in names},
            **{name: f"{package}.{name}" for name in inner}}


def _names(module: str, known: Mapping[str, Path]) -> Iterator[tuple[str, str]]:
    """(name, module of confide that it is imported from) of each import of a module."""
    path = known[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(_text(path))):
        if isinstance(node, ast.Import):
            yield from (("", each.name) for each in node.names if each.name in known)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            for each in node.names:
                if f"{source}.{each.name}" in known:
                    yield "", f"{source}.{each.name}"
                elif source in known:
                    yield each.name, source


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def circles(graph: Mapping[str, set[str]]) -> list[tuple[str, ...]]:
    """The strongly connected parts of a graph that have more than one module, by Tarjan's algorithm (1972).

    Args:
        graph: module -> modules that it imports.

    Returns:
        Each circle's modules in order; the largest circle first.
    """
    order, lowest = dict[str, int](), dict[str, int]()
    path, found = list[str](), list[tuple[str, ...]]()

    def visit(name: str) -> None:
        order[name] = lowest[name] = len(order)
        path.append(name)
        for other in graph[name]:
            if other not in order:
                visit(other)
                lowest[name] = min(lowest[name], lowest[other])
            elif other in path:
                lowest[name] = min(lowest[name], order[other])
        if lowest[name] == order[name]:
            start = path.index(name)
            part = tuple(sorted(path[start:]))
            del path[start:]
            if len(part) > 1:
                found.append(part)

    for name in graph:
        if name not in order:
            visit(name)
    return sorted(found, key=lambda part: (-len(part), part))
