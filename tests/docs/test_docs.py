"""The documentation builds without a warning, and everything that it shows was executed."""

from __future__ import annotations

import ast
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


PAGES = [page for page in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in page.parts]
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n((?::[^\n]*\n)*)(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
RUN = [page for page in PAGES if CELL.search(page.read_text(encoding="utf-8"))]


LONG = {"first_campaign", "settlement", "cli", "choosing_the_model", "query_release", "allocation", "programs",
        "acquisition", "buyers_first_campaign", "market", "search", "your_own_mechanism"}
"""Pages that take seconds: they run with the whole site, and what they call is looked up in every run."""


@pytest.mark.parametrize("page", [page for page in RUN if page.stem not in LONG], ids=lambda page: page.stem)
def test_cells_run(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cell of a page, in order, in one namespace: what a reader who types them would do."""
    monkeypatch.chdir(page.parent)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for match in CELL.finditer(page.read_text(encoding="utf-8")):
        line = page.read_text(encoding="utf-8")[: match.start(2)].count("\n")
        # Blank lines before the code make tracebacks point into the page.
        exec(compile("\n" * line + match.group(2), str(page), "exec"), namespace)


@pytest.mark.parametrize("page", [page for page in RUN if page.stem in LONG], ids=lambda page: page.stem)
def test_cells_call_what_is_there(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a long page imports, and every door of a module of ours that it names, with the keywords that it writes."""
    monkeypatch.syspath_prepend(ROOT / "examples" / "private_histogram" / "src")  # as a page of it does
    tree = ast.parse("\n".join(match.group(2) for match in CELL.finditer(page.read_text(encoding="utf-8"))))
    known: dict[str, object] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            exec(compile(ast.Module(body=[node], type_ignores=[]), str(page), "exec"), known)
    ours = {name: value for name, value in known.items()
            if getattr(value, "__name__", "").partition(".")[0] == "confide" and isinstance(value, ModuleType)}
    found = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ours:
            assert hasattr(ours[node.value.id], node.attr), f"{page.name}: {ast.unparse(node)}"
            found += 1
        if isinstance(node, ast.Call):
            takes = _keywords(_entry(node.func, known))
            for keyword in node.keywords:
                assert takes is None or keyword.arg is None or keyword.arg in takes, f"{page.name}: {ast.unparse(node)}"
    assert found or set(known) - set(ours)


def _entry(node: ast.expr, known: dict[str, object]) -> object:
    """What a dotted name stands for where it begins with something that the page imports; else None."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.Attribute):
        return getattr(_entry(node.value, known), node.attr, None)
    return None


def _keywords(entry: object) -> set[str] | None:
    """The names that may be given to something of ours; None where that cannot be told."""
    if not callable(entry) or not str(getattr(entry, "__module__", "")).startswith("confide"):
        return None
    parameters = inspect.signature(entry).parameters.values()
    return None if any(each.kind is each.VAR_KEYWORD for each in parameters) else {each.name for each in parameters}


def test_links_lead_somewhere() -> None:
    """To a page that is there and that some table of contents lists."""
    listed = {"index.md"}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        here = page.parent
        for block in re.findall(r"^```\{toctree\}\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE):
            names = [line.split("<")[-1].strip(" >") for line in block.splitlines() if line and line[0] != ":"]
            listed |= {(here / f"{name}.md").resolve().relative_to(ROOT / "docs").as_posix() for name in names}
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)", text):
            assert (here / link).exists(), f"{page.name} links to {link}"
    assert {page.relative_to(ROOT / "docs").as_posix() for page in PAGES} == listed


@pytest.mark.slow
def test_the_site_shows_what_its_cells_print(tmp_path: Path) -> None:
    """And no broken reference, no page outside the tables of contents, no docstring that Sphinx cannot read."""
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-D", "nb_execution_raise_on_error=0", "-b",
         "html", "-d", str(tmp_path / "trees"), "docs", str(tmp_path / "html")],
        cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    for page in PAGES:
        html = tmp_path / "html" / page.relative_to(ROOT / "docs").with_suffix(".html")
        assert html.exists(), f"{page.name} is in no table of contents"
        if page in RUN:
            assert "cell_output" in html.read_text(encoding="utf-8"), f"{page.name} shows no output"
    mathematics = (tmp_path / "html" / "families" / "regression.html").read_text(encoding="utf-8")
    assert not re.search(r'(src|href)="https?://[^"]*\.(js|css)', mathematics), "a page loads something from afar"


def _blocks(path: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / path).read_text(encoding="utf-8"), flags=re.DOTALL)


def test_readme_code_runs() -> None:
    blocks = _blocks("README.md", "python")
    assert blocks
    done = subprocess.run([sys.executable, "-W", "error", "-c", "\n".join(blocks)], cwd=ROOT, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "joint differential privacy" in done.stdout
    said = re.search(r"at most ([\d,.]+) dollars.* between (\S+) and\s(\S+) dollars",
                     (ROOT / "README.md").read_text(encoding="utf-8"))
    assert said is not None
    total, least, most = said.groups()
    assert f"at most {total} USD, each payment between {least} and {most} USD" in done.stdout


def test_readme_commands_exist() -> None:
    """Every `confide` verb and `make` target that the README names is there."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    verbs = set(re.findall(r"^confide (\w+)", "\n".join(_blocks("README.md", "bash")), flags=re.MULTILINE))
    shown = subprocess.run([sys.executable, "-m", "confide", "--help"], capture_output=True, text=True, check=True)
    assert verbs
    assert all(re.search(rf"^  {verb} ", shown.stdout, flags=re.MULTILINE) for verb in verbs)
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    assert set(re.findall(r"make ([a-z-]+)", text)) <= targets


def test_the_readme_has_at_most_250_lines() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 250
