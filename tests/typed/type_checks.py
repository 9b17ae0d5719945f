"""Type-checks what users read, write and call: by mypy everything, by pyright the public surface.

`make types` runs this, and `make test` with it. The cells of README and of each page of the docs become a module, line
for line, so that an error names the page and the line in it. mypy looks once at all of these, at the library, the
examples, the benchmarks and `what_runs_give.py`. pyright looks at the pages, the examples, `what_runs_give.py` and a
list of all public names, none of which may be of an unknown type. Options are passed on to mypy.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
RUNS = HERE / "what_runs_give.py"
TOOLS = HERE / "pyright"

_CELL = re.compile(r"^```(?:\{code-cell\}[^\n]*|python)\n((?::[^\n]*\n)*)(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
_PLACE = re.compile(r"^(?P<file>[^:\n]+\.py):(?P<line>\d+)")

UNTYPED = {
    "confide.allocation.sparse_instance": "scipy has no types: neither has the table that it gives",
    "confide.tables.rejections": "pyarrow has no types: neither has the batch that it takes",
}
"""Public names that other packages keep from having a known type."""

_PYRIGHT = {
    "pythonVersion": "3.11", "typeCheckingMode": "basic", "useLibraryCodeForTypes": False,
    "reportUnusedExpression": False,  # a cell ends with what it shows
    "reportUnnecessaryTypeIgnoreComment": True,
}


_JUDGED = (0, 1)  # how mypy ends where it has looked at everything: without errors, or with some


class Found(NamedTuple):
    """What a checker says.

    Args:
        errors: a line each.
        files: that were looked at, or what else was done.
    """

    errors: list[str]
    files: str


def pages() -> list[Path]:
    """README and the docs."""
    return [ROOT / "README.md", *(page for page in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in page.parts)]


def module_of(text: str) -> str:
    """A page's code, each line where it stands in the page; empty where the page has none."""
    lines = [""] * text.count("\n")
    for match in _CELL.finditer(text):
        first = text[: match.start(2)].count("\n")
        code = match.group(2).splitlines()
        lines[first : first + len(code)] = code
    return "\n".join(lines) + "\n" if any(lines) else ""


def write_pages(found: Iterable[Path], folder: Path) -> dict[Path, Path]:
    """Write the modules of pages as a package; module -> page, of those that have code."""
    folder.mkdir()
    (folder / "__init__.py").touch()
    modules = {}
    for page in found:
        if code := module_of(page.read_text(encoding="utf-8")):
            words = page.resolve().relative_to(ROOT) if page.is_relative_to(ROOT) else Path(page.name)
            module = folder / (re.sub(r"\W+", "_", str(words.with_suffix(""))) + ".py")
            module.write_text(code, encoding="utf-8")
            modules[module] = page
    return modules


def public_names() -> list[str]:
    """The dotted name of all that a package lists, but for the packages among them, which list their own."""
    source = ROOT / "src"
    listed = {stub.parent: stub for kind in ("py", "pyi") for stub in (source / "confide").rglob(f"__init__.{kind}")}
    return sorted(name for folder, stub in listed.items()
                  for name in _listed(".".join(folder.relative_to(source).parts), stub))


def _listed(package: str, stub: Path) -> Iterator[str]:
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            yield from (f"{package}.{name}" for name in ast.literal_eval(node.value)
                        if not (stub.parent / name / "__init__.py").exists())


def by_mypy(files: Iterable[Path], places: Mapping[Path, Path], options: Iterable[str] = ()) -> Found:
    """What mypy says of files and folders; of the modules of pages in the words of the page.

    Where a worker of mypy dies, as for want of memory, mypy ends with an internal error: it is then started once more,
    without workers.
    """
    command = [sys.executable, "-m", "mypy", *options, *map(str, files)]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode not in _JUDGED:
        print(f"mypy ended with {done.returncode} ({(done.stdout + done.stderr).strip()[-200:]}): it is started once "
              "more, without workers", file=sys.stderr, flush=True)
        done = subprocess.run([*command, "--num-workers", "0"], cwd=ROOT, check=False, capture_output=True, text=True)
    lines = [_PLACE.sub(lambda match: f"{_shown(Path(match['file']), places)}:{match['line']}", line)
             for line in (done.stdout + done.stderr).splitlines()]
    return Found(errors=[] if done.returncode == 0 else lines, files=lines[-1] if lines else "mypy says nothing")


def by_pyright(command: list[str], folder: Path, places: Mapping[Path, Path]) -> Found:
    """What pyright says of all Python in a folder, which gets its settings."""
    paths = [str(ROOT / "src"), str(folder)]
    (folder / "pyrightconfig.json").write_text(json.dumps({**_PYRIGHT, "extraPaths": paths}), encoding="utf-8")
    done = subprocess.run([*command, "-p", str(folder), "--pythonpath", sys.executable, "--outputjson"], check=False,
                          capture_output=True, text=True)
    try:
        reported = json.loads(done.stdout)
    except json.JSONDecodeError:
        return Found(errors=[f"pyright failed: {(done.stdout + done.stderr)[-2000:]}"], files="nothing")
    errors = [f"{_shown(Path(each['file']), places)}:{each['range']['start']['line'] + 1}: {each['severity']}: "
              f"{each['message']} ({each.get('rule', 'syntax')})" for each in reported["generalDiagnostics"]]
    return Found(errors=errors, files=f"{reported['summary']['filesAnalyzed']} files")


def _shown(file: Path, places: Mapping[Path, Path]) -> Path:
    path = places.get(file.resolve() if file.is_absolute() else (ROOT / file).resolve(), file)
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def pyright() -> list[str] | str:
    """The command of the pinned pyright, which npm installs once; in words what is missing for it."""
    pinned = json.loads((TOOLS / "package.json").read_text(encoding="utf-8"))["devDependencies"]["pyright"]
    node, npm, package = shutil.which("node"), shutil.which("npm"), TOOLS / "node_modules" / "pyright"
    if node is None:
        return "node is missing (Debian's package nodejs)"
    if not _is_of(package, pinned):
        if npm is None:
            return "npm is missing (Debian's package npm)"
        print(f"installing pyright {pinned} for the type checks (once)", flush=True)
        done = subprocess.run([npm, "ci", "--silent", "--no-audit", "--no-fund"], cwd=TOOLS, check=False,
                              capture_output=True, text=True)
        if not _is_of(package, pinned):
            return f"pyright {pinned} is missing, and npm could not install it: {(done.stderr or done.stdout)[-500:]}"
    return [node, str(package / "index.js")]


def _is_of(package: Path, version: str) -> bool:
    try:
        return bool(json.loads((package / "package.json").read_text(encoding="utf-8"))["version"] == version)
    except (OSError, ValueError):
        return False


def _reported(name: str, found: Found, start: float) -> int:
    print(*found.errors, sep="\n", end="\n" if found.errors else "")
    print(f"{name}: {len(found.errors) or 'no'} lines of errors; {found.files}; {time.perf_counter() - start:.0f} s",
          flush=True)
    return 1 if found.errors else 0


def main(options: list[str]) -> int:
    """Check everything; the exit code."""
    examples = sorted((ROOT / "examples").rglob("*.py"))
    with TemporaryDirectory() as given:
        folder = Path(given).resolve()
        modules = write_pages(pages(), folder / "pages")
        start = time.perf_counter()
        everything = [ROOT / "src" / "confide", ROOT / "benchmarks", *examples, RUNS, folder / "pages"]
        failed = _reported("mypy", by_mypy(everything, modules, options), start)

        command = pyright()
        if isinstance(command, str):
            print(f"pyright did not run, so that the public surface is checked by mypy alone: {command}")
            return 1 if os.environ.get("CI", "").lower() in {"1", "true"} else failed
        start = time.perf_counter()
        for file in [RUNS, *examples]:
            # Beside the pages, where one that imports an example finds it.
            copy = folder / (file.parent.name if file.name == "__init__.py" else "") / file.name
            copy.parent.mkdir(exist_ok=True)
            shutil.copy(file, copy)
            modules[copy] = file
        ignored = "  # pyright: ignore[reportUnknownMemberType]"
        names = "".join(f"{name}{ignored if name in UNTYPED else ''}\n" for name in public_names())
        packages = "".join(f"import {each}\n" for each in sorted({name.rpartition(".")[0] for name in public_names()}))
        (folder / "public_names.py").write_text(f"# pyright: strict\n{packages}{names}", encoding="utf-8")
        return failed | _reported("pyright", by_pyright(command, folder, modules), start)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
