"""`make release`: versions and notes; and what is built holds what it should, the same bytes each time."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from releasing import ROOT, NotReady
from releasing.building import build, changed, check_reproducible, epoch, tracked
from releasing.clean import TESTS
from releasing.contents import metadata_problems, read_sdist, read_wheel, sdist_problems, wheel_problems
from releasing.notes import check_version, notes

import confide
from confide.contract.kinds import kind_names
from confide.contract.renamed import Rename

OLD = [Rename("confide.allocation.AllocationPlan", "held_back", "reserve")]
LOG = """# Changes

Words.

## 1.2.0rc1 (unreleased)

### Added

- This.

## 1.1.0 (2026-01-31)

- That.
"""

# ---- the version


@pytest.mark.parametrize(("version", "old"), [("1.0.0rc1", OLD), ("1.0.0", []), ("2.3.4", []), ("1.0.0a2", OLD)])
def test_versions_that_can_be_released(version: str, old: list[Rename]) -> None:
    check_version(version, old)


@pytest.mark.parametrize(("version", "old", "said"), [
    ("1.0.0.dev0", [], "'1.0.0.dev0' cannot be released"), ("1.0.0-rc1", [], "write it as 1.2.3 or 1.2.3rc1"),
    ("1.0.0+here", [], "cannot be released"), ("one", [], "'one' is no version"),
    ("1.0.0", OLD, "1.0.0 has no old names, and 1 still work, such as 'held_back' of confide.allocation.Allocation"),
])
def test_versions_that_cannot(version: str, old: list[Rename], said: str) -> None:
    with pytest.raises(NotReady, match=re.escape(said)):
        check_version(version, old)


# ---- the notes


def test_notes_are_the_section_of_the_version() -> None:
    assert notes(LOG, "1.2.0rc1", {"b.whl": "12", "a.zip": "34"}) == (
        "# confide 1.2.0rc1\n\n### Added\n\n- This.\n\n## Files, with their SHA-256\n\n    34  a.zip\n    12  b.whl\n")
    dated = LOG.replace("(unreleased)", "(2026-12-31)")
    assert "- This." in notes(dated, "1.2.0rc1", {})
    assert "- That." not in notes(dated, "1.2.0rc1", {})
    assert "- That." in notes("# Changes\n\n## 1.1.0\n\n- That.", "1.1.0", {})


@pytest.mark.parametrize(("change", "version", "said"), [
    (("", ""), "1.2.0", "CHANGELOG.md begins with '## 1.2.0rc1 (unreleased)', and _version.py says 1.2.0; the first"),
    (("", ""), "1.1.0", "and _version.py says 1.1.0; the first section has to be '## 1.1.0 (unreleased)'"),
    (("1.2.0rc1 (unreleased)", "Unreleased"), "1.2.0rc1", "begins with '## Unreleased', and _version.py says 1.2.0rc1"),
    (("- This.\n", ""), "1.2.0rc1", "CHANGELOG.md says nothing of 1.2.0rc1"),
    (("### Added\n\n- This.\n", ""), "1.2.0rc1", "CHANGELOG.md says nothing of 1.2.0rc1"),
    (("1.1.0", "1.2.0rc1"), "1.2.0rc1", "has two sections of 1.2.0rc1: it was released before"),
    ((LOG, ""), "1.2.0rc1", "begins with 'no section'"),
])
def test_what_does_not_fit_is_refused(change: tuple[str, str], version: str, said: str) -> None:
    text = LOG.replace(*change) if change[0] else LOG
    assert change[0] in LOG
    with pytest.raises(NotReady, match=re.escape(said)):
        notes(text, version, {})


def test_the_changelog_of_this_checkout_fits_its_version() -> None:
    found = notes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), confide.__version__, {})
    assert found.startswith(f"# confide {confide.__version__}\n\n### ")


# ---- what is built


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Both distributions of this checkout."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    return build(ROOT, tmp_path_factory.mktemp("built"), epoch(ROOT))


@pytest.mark.slow
def test_what_is_built_holds_what_it_should(built: tuple[Path, Path]) -> None:
    sdist, wheel = built
    assert [sdist.name, wheel.name] == [f"confide-{confide.__version__}.tar.gz",
                                        f"confide-{confide.__version__}-py3-none-any.whl"]
    assert list(wheel_problems(read_wheel(wheel), ROOT, confide.__version__)) == []
    files = read_sdist(sdist)
    assert list(sdist_problems(files, ROOT, confide.__version__)) == []
    assert all(any(name.startswith(each) for name in files) for each in TESTS)


WHEEL: dict[str, tuple[Callable[[dict[str, bytes], str], object], str]] = {
    "a test": (lambda files, info: files.update({"confide/test_x.py": b""}), "confide/test_x.py does not belong there"),
    "tests beside it": (lambda files, info: files.update({"golden/found.json": b""}), "golden/found.json does not"),
    "no types": (lambda files, info: files.pop("confide/py.typed"), "confide/py.typed is missing: type checkers"),
    "a module is missing": (lambda files, info: files.pop("confide/_lazy.py"), "confide/_lazy.py is missing"),
    "a place": (lambda files, info: files.update({"confide/__init__.py": f"# {ROOT}/src".encode()}),
                "confide/__init__.py names a place of this machine"),
    "a licence": (lambda files, info: files.update({f"{info}licenses/LICENSE": b"all rights reserved"}),
                  "the licence is another one"),
    "a kind": (lambda files, info: files.update({f"{info}entry_points.txt": files[f"{info}entry_points.txt"].replace(
        b"bits = ", b"bit = ")}), "the entry points are not those of pyproject.toml"),
    "no metadata": (lambda files, info: files.pop(f"{info}METADATA"), "metadata: "),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", WHEEL)
def test_a_fault_in_a_wheel_is_found(fault: str, built: tuple[Path, Path]) -> None:
    change, said = WHEEL[fault]
    files = read_wheel(built[1])
    change(files, f"confide-{confide.__version__}.dist-info/")
    assert any(each.startswith(said) for each in wheel_problems(files, ROOT, confide.__version__))


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new", "said"), [
    ("\nVersion: ", "\nVersion: 9", "metadata: confide 91"), ("Apache-2.0", "MIT", "metadata: the licence is MIT"),
    ("4 - Beta", "3 - Alpha", "metadata: "), ("Typing :: Typed", "Topic :: Security", "metadata: the classifiers do"),
    ("Requires-Python: >=3.11", "Requires-Python: ", "metadata: a summary or the least Python is missing"),
    ("# confide", "# Confide", "metadata: the description is not README.md"),
    ("text/markdown", "text/plain", "metadata: the description is not README.md"),
    ("Requires-Dist: numpy>=2.0", "Requires-Dist: numpy @ file:///numpy.whl", "metadata: numpy @ file"),
    ("License-File: LICENSE", "License-File: /LICENSE", "metadata: "), ("Metadata-Version: 2", "X: 2", "metadata: "),
])
def test_a_fault_in_the_metadata_is_found(old: str, new: str, said: str, built: tuple[Path, Path]) -> None:
    text = read_sdist(built[0])["PKG-INFO"].decode()
    assert old in text
    assert list(metadata_problems(text.encode(), ROOT, confide.__version__)) == []
    found = list(metadata_problems(text.replace(old, new, 1).encode(), ROOT, confide.__version__))
    assert any(each.startswith(said) for each in found), found


@pytest.mark.slow
def test_it_is_built_again_to_the_byte(built: tuple[Path, Path], tmp_path: Path) -> None:
    check_reproducible(*built, tmp_path, epoch(ROOT))
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(NotReady, match=r"confide-.*\.tar\.gz has other bytes where it is built again"):
        check_reproducible(*built, other, "1700000000")


@pytest.mark.slow
def test_a_build_that_fails_says_why(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\n')
    with pytest.raises(NotReady, match="the build failed"):
        build(tmp_path, tmp_path / "out", "0")


# ---- the steps


def test_what_git_knows(tmp_path: Path) -> None:
    somebody = ("-c", "user.name=x", "-c", "user.email=x@localhost")
    for command in (["init", "-q"], ["add", "a"], [*somebody, "commit", "-qm", "a"]):
        (tmp_path / "a").write_text("1")
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    assert (tracked(tmp_path), tracked(tmp_path, "b"), changed(tmp_path)) == ({"a"}, set(), [])
    assert epoch(tmp_path).isdecimal()
    (tmp_path / "a").write_text("2")
    (tmp_path / "b").write_text("2")
    assert (tracked(tmp_path), changed(tmp_path)) == ({"a", "b"}, [" M a", "?? b"])


def test_smoke_test_and_clean_environments_name_what_is_there() -> None:
    """They run by hand, for they install packages; what they name has to exist."""
    from releasing import smoke

    assert smoke.KIND in kind_names()
    assert all((ROOT / each).exists() for each in TESTS)
    with pytest.raises(SystemExit, match="version: '1', not '2'"):
        smoke.check("1", "2", "version")


def test_nothing_in_a_release_talks_to_a_registry() -> None:
    """No host, and no command that sends what was built."""
    texts = [each.read_text(encoding="utf-8") for each in [*(ROOT / "releasing").glob("*.py"), ROOT / "Makefile"]]
    assert not any(re.search(r"https?://|\btwine\b|\bpublish\b|\bgit push\b", text) for text in texts)


def test_a_version_that_does_not_fit_stops_the_release(tmp_path: Path) -> None:
    code = ("import confide, releasing.__main__ as it\n"
            "it.__version__ = '9.9.9rc1'\n"
            "import sys; sys.argv = ['releasing']\n"
            "sys.exit(it.main())")
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("not released: CHANGELOG.md begins with ")
    assert "built" not in done.stdout
