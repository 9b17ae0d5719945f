"""The stubs of packages with lazy exports: `__init__.pyi` gives type checkers and editors what `exports` gives Python.

Run it to write them anew: `.venv/bin/python tests/typed/stubs.py`. A test compares the two.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"
_MADE = "# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.\n"
_WIDTH = 120


def packages() -> Iterator[Path]:
    """The `__init__.py` of every package with exports."""
    for path in sorted((SOURCE / "confide").rglob("__init__.py")):
        if "= exports(" in path.read_text(encoding="utf-8"):
            yield path


def stub(path: Path) -> str:
    """The text of a package's stub.

    Args:
        path: its `__init__.py`.
    """
    name = ".".join(path.parent.relative_to(SOURCE).parts)
    modules, inner = exports(path)
    homes = [(each if each.startswith("confide.") else f"{name}.{each}", public)
             for each, names in modules.items() for public in names] + [(name, each) for each in inner]
    homes.sort(key=lambda home: (home[0], _order(home[1])[0], home[1].lower()))
    imports = "\n".join(f"from {place} import {public} as {public}" for place, public in homes)
    exported = sorted((public for _, public in homes if not public.startswith("_")), key=_order)
    listed = f"__all__ = [{_wrapped(exported)}]" if exported else "__all__: list[str] = []"
    return f"{_MADE}{imports}\n\n{listed}\n" if imports else f"{_MADE}{listed}\n"


def exports(path: Path) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """What a package exports: module -> public names, and the packages within that are public names.

    Args:
        path: its `__init__.py`.

    Raises:
        ValueError: it has no call of `exports` with literal arguments.
    """
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        value = getattr(node, "value", None)
        if isinstance(value, ast.Call) and ast.unparse(value.func) == "exports":
            inner = next((ast.literal_eval(each.value) for each in value.keywords if each.arg == "packages"), ())
            return ast.literal_eval(value.args[1]), tuple(inner)
    raise ValueError(f"{path} has no call of exports")


def _order(name: str) -> tuple[int, str]:
    """Constants, then classes, then the rest, as ruff sorts them."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


def _wrapped(names: list[str]) -> str:
    """The names in quotes, in lines of a stub."""
    lines = [""]
    for each in names:
        if len(lines[-1]) + len(each) + 8 > _WIDTH:
            lines.append("")
        lines[-1] += f'"{each}", '
    return "\n    " + "\n    ".join(line.rstrip() for line in lines) + "\n"


def main() -> None:
    """Write the stubs of all packages."""
    for path in packages():
        path.with_suffix(".pyi").write_text(stub(path), encoding="utf-8")


if __name__ == "__main__":
    main()
