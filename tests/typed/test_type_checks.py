"""The type checks (`make types`) see every page, name a page and the line in it, and say what is missing."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from missing import missing
from typed import type_checks

PAGE = """# A page

```python
count: int = 3
```

```{code-cell} ipython3
:tags: [remove-input]

total = count + 1
wrong: str = total
```

```bash
echo "not this"
```
"""


def test_code_stands_where_it_stood() -> None:
    found, page = type_checks.module_of(PAGE).splitlines(), PAGE.splitlines()
    assert [(line, text) for line, text in enumerate(found, 1) if text] == [
        (line, text) for line, text in enumerate(page, 1) if text in {"count: int = 3", "total = count + 1",
                                                                      "wrong: str = total"}]
    assert type_checks.module_of("Words, and ```python``` within a line.\n") == ""


def test_every_page_with_code_is_checked(tmp_path: Path) -> None:
    """And every module of a page is Python: mypy stops at the first that is not."""
    modules = type_checks.write_pages(type_checks.pages(), tmp_path / "pages")
    with_code = [page for page in type_checks.pages()
                 if any(line.startswith(("```python", "```{code-cell}"))
                        for line in page.read_text(encoding="utf-8").splitlines())]
    assert sorted(modules.values()) == sorted(with_code)
    assert type_checks.ROOT / "README.md" in with_code
    for module in modules:
        ast.parse(module.read_text(encoding="utf-8"), filename=str(module))


def test_no_page_asks_for_an_error_to_be_ignored() -> None:
    for page in type_checks.pages():
        code = type_checks.module_of(page.read_text(encoding="utf-8"))
        assert "type: ignore" not in code, page
        assert "pyright:" not in code, page


def test_every_public_name_is_checked() -> None:
    names = type_checks.public_names()
    assert {"confide.Noise", "confide.regression.plan", "confide.privacy.noise.ForcedNoise"} <= set(names)
    assert len(set(names)) == len(names) > 500
    assert set(type_checks.UNTYPED) <= set(names)


@pytest.fixture
def page(tmp_path: Path) -> tuple[Path, dict[Path, Path]]:
    """The folder of a page with a mistake in its eleventh line, and its modules."""
    path = tmp_path / "page.md"
    path.write_text(PAGE, encoding="utf-8")
    folder = (tmp_path / "checked").resolve()
    folder.mkdir()
    return folder, type_checks.write_pages([path], folder / "pages")


def test_mypy_names_the_line_of_the_page(page: tuple[Path, dict[Path, Path]], tmp_path: Path) -> None:
    folder, modules = page
    found = type_checks.by_mypy([folder / "pages"], modules, ["--cache-dir", str(tmp_path / "cache"),
                                                              "--num-workers", "1"])
    assert found.errors[0].startswith(f"{tmp_path / 'page.md'}:11: error: Incompatible types in assignment")
    assert len(found.errors) == 2  # and how many there are


@pytest.mark.parametrize(("first", "second", "errors"), [
    ((2, "x.py: error: INTERNAL ERROR"), (0, "Success"), []), ((-9, ""), (1, "a.py:1: error"), ["a.py:1: error"]),
    ((2, "INTERNAL ERROR"), (2, "a.py: error: invalid syntax"), ["a.py: error: invalid syntax"])])
def test_where_mypy_itself_fails_it_is_started_once_more_without_workers(
    first: tuple[int, str], second: tuple[int, str], errors: list[str], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ends, asked = [first, second], list[list[str]]()

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        code, said = ends.pop(0)
        return subprocess.CompletedProcess(command, code, said, "")

    monkeypatch.setattr(type_checks.subprocess, "run", run)
    assert type_checks.by_mypy([Path("a.py")], {}).errors == errors
    assert asked[1] == [*asked[0], "--num-workers", "0"]
    assert f"mypy ended with {first[0]}" in capsys.readouterr().err


@pytest.mark.parametrize("code", [0, 1])
def test_where_mypy_has_judged_it_is_not_asked_again(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[list[str]]()

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        return subprocess.CompletedProcess(command, code, "said", "")

    monkeypatch.setattr(type_checks.subprocess, "run", run)
    assert type_checks.by_mypy([Path("a.py")], {}).errors == ["said"] * code
    assert len(asked) == 1


@pytest.mark.slow
def test_pyright_names_the_line_of_the_page(page: tuple[Path, dict[Path, Path]], tmp_path: Path) -> None:
    command = type_checks.pyright()
    if isinstance(command, str):
        missing(command)
    folder, modules = page
    (error,) = type_checks.by_pyright(command, folder, modules).errors
    assert error.startswith(f"{tmp_path / 'page.md'}:11: error: ")
    assert 'is not assignable to declared type "str"' in error


def test_what_is_missing_for_pyright_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type_checks.shutil, "which", lambda name: None)
    assert type_checks.pyright() == "node is missing (Debian's package nodejs)"
    monkeypatch.setattr(type_checks.shutil, "which", lambda name: "/bin/node" if name == "node" else None)
    monkeypatch.setattr(type_checks, "_is_of", lambda package, version: False)
    assert type_checks.pyright() == "npm is missing (Debian's package npm)"


@pytest.mark.parametrize(("there", "code"), [("true", 1), ("1", 1), ("", 0)])
def test_in_ci_the_check_fails_without_pyright(
    there: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CI", there)
    monkeypatch.setattr(type_checks, "by_mypy", lambda *_: type_checks.Found([], "nothing"))
    monkeypatch.setattr(type_checks, "pyright", lambda: "node is missing")
    assert type_checks.main([]) == code
    assert "pyright did not run" in capsys.readouterr().out


def test_an_error_of_either_checker_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    for mypy, pyright in (([], []), (["wrong"], []), ([], ["wrong"])):
        monkeypatch.setattr(type_checks, "by_mypy", lambda *_, found=mypy: type_checks.Found(found, ""))
        monkeypatch.setattr(type_checks, "by_pyright", lambda *_, found=pyright: type_checks.Found(found, ""))
        monkeypatch.setattr(type_checks, "pyright", lambda: [sys.executable])
        assert type_checks.main([]) == bool(mypy or pyright)
