"""The documentation builds without a warning, and everything that it shows was executed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.timeout(600)
def test_pages_build_and_their_cells_run(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-d", str(tmp_path / "trees"),
         "docs", str(tmp_path / "html")],
        cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    for page in sorted((ROOT / "docs").rglob("*.md")):
        if "_build" not in page.parts:
            html = tmp_path / "html" / page.relative_to(ROOT / "docs").with_suffix(".html")
            assert html.exists(), f"{page.name} is in no table of contents"
            if "{code-cell}" in page.read_text(encoding="utf-8"):
                assert "cell_output" in html.read_text(encoding="utf-8"), f"{page.name} shows no output"


def _blocks(path: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / path).read_text(encoding="utf-8"), flags=re.DOTALL)


def test_readme_code_runs() -> None:
    blocks = _blocks("README.md", "python")
    assert blocks
    done = subprocess.run([sys.executable, "-W", "error", "-c", "\n".join(blocks)], cwd=ROOT, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "joint differential privacy" in done.stdout


def test_readme_commands_exist() -> None:
    """Every `confide` verb and `make` target that the README names is there."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    verbs = set(re.findall(r"^confide (\w+)", "\n".join(_blocks("README.md", "bash")), flags=re.MULTILINE))
    shown = subprocess.run([sys.executable, "-m", "confide", "--help"], capture_output=True, text=True, check=True)
    assert verbs
    assert all(re.search(rf"^  {verb} ", shown.stdout, flags=re.MULTILINE) for verb in verbs)
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    assert set(re.findall(r"make ([a-z-]+)", text)) <= targets
