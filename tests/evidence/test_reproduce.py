"""Findings kept by content, times of full runs, and the gallery."""

from __future__ import annotations

import ast
import json
import math
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import confide
from confide.contract import ConfideDeprecationWarning, InvalidInput
from confide.contract.presentation import Picture, Table, Text
from confide.evidence import (
    Compared,
    Findings,
    FullTimes,
    Kept,
    NotReproduced,
    Reproduced,
    Study,
    StudyCache,
    catalogue,
    exhibits,
    full_times,
    gallery_markdown,
    kept,
    reproduce,
    reproduce_all,
    reproduced,
    shown_quick,
    studies,
    study_names,
    times_toml,
    write_gallery,
)
from confide.evidence.findings import KINDS, OWN_COMPARISON, as_printed

ROOT = Path(__file__).parents[2]
SOURCE = Path(confide.__file__).parent
GALLERY = ROOT / "docs" / "gallery"

FINDINGS = Findings(
    compared=(Compared(quantity="a", published=None, ours=math.inf, agreement="not published"),
              Compared(quantity="b", published=1.0, ours=float(np.float64(0.1)), agreement="differs", remark="why",
                       origin=as_printed("a book, Table 1, line 1"))),
    blocks=(Text(("one", "two")), Table(columns=("x", "y"), rows=((1, "é"), (None, math.inf)), note="n"),
            Picture(spec={"mark": "line", "data": {"values": [{"x": 0.1}]}}, alt="a line")))
ROOM = "confide.evidence.wang_2016.data_market.studies"


@pytest.fixture
def cache(tmp_path: Path) -> StudyCache:
    return StudyCache(tmp_path / "kept")


def keep(cache: StudyCache, name: str = "zoo-one", quick: bool = True, seconds: float = 2.0) -> Path:
    """The file that was written."""
    before = set(cache.folder.glob("*.json"))
    cache.keep(name, ROOM, quick, Kept(findings=FINDINGS, seconds=seconds, processor=1.5))
    new, = set(cache.folder.glob("*.json")) - before
    return new


# ---- kept


def test_what_is_kept_is_found_as_it_was(cache: StudyCache) -> None:
    assert cache.find("zoo-one", ROOM, True) is None
    keep(cache)
    assert cache.find("zoo-one", ROOM, True) == Kept(findings=FINDINGS, seconds=2.0, processor=1.5)
    assert [path.suffix for path in cache.folder.iterdir()] == [".json"]  # no draft is left


def test_another_study_size_room_or_version_is_no_hit(cache: StudyCache, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(cache)
    assert cache.find("zoo-two", ROOM, True) is None
    assert cache.find("zoo-one", ROOM, False) is None
    assert cache.find("zoo-one", "confide.evidence.wu_2017.query_release.studies.sizes", True) is None
    with monkeypatch.context() as patch:
        patch.setattr(kept, "_version", lambda part: "0.0" if part == "numpy" else None)
        assert cache.find("zoo-one", ROOM, True) is None
    with monkeypatch.context() as patch:
        patch.setattr(kept, "source_digest", lambda package: "0" * 64)
        assert cache.find("zoo-one", ROOM, True) is None
    assert cache.find("zoo-one", ROOM, True) is not None


def test_a_changed_source_file_changes_the_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    house = tmp_path / "confide"
    for name in ("privacy/noise.py", "market/one.toml", "evidence/findings.py", "evidence/zoo/one.py",
                 "__init__.py", "evidence/other/two.py", "evidence/catalogue.py", "cli/app.py", "campaign/store.py",
                 "privacy/__pycache__/noise.pyc"):
        (house / name).parent.mkdir(parents=True, exist_ok=True)
        (house / name).write_text(name)
    monkeypatch.setattr(kept, "_SOURCE", house)

    def digest() -> str:
        return kept.source_digest.__wrapped__("confide.evidence.zoo")

    first = digest()
    for name in ("privacy/noise.py", "market/one.toml", "evidence/findings.py", "evidence/zoo/one.py",
                 "__init__.py"):
        (house / name).write_text("changed")
        assert digest() != first, name
        (house / name).write_text(name)
    for name in ("evidence/other/two.py", "evidence/catalogue.py", "cli/app.py", "campaign/store.py",
                 "privacy/__pycache__/noise.pyc"):  # no study of this room can import them
        (house / name).write_text("changed")
        assert digest() == first, name
    (house / "privacy" / "noise.py").rename(house / "privacy" / "noises.py")
    assert digest() != first


def modules_of_studies(room: Path) -> list[Path]:
    """Of a source with few studies one module, else a folder of them."""
    found = [*room.rglob("studies.py"), *room.rglob("studies/*.py")]
    assert found
    return found


def test_studies_import_nothing_that_the_key_leaves_out() -> None:
    """Of `confide.evidence` a study imports its source and `findings`; the layers forbid it the packages above."""
    for name in study_names():
        room = SOURCE / "evidence" / catalogue._MODULES[name].partition(".")[0]
        for path in modules_of_studies(room):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                modules = ([node.module or ""] if isinstance(node, ast.ImportFrom) else
                           [alias.name for alias in node.names] if isinstance(node, ast.Import) else [])
                for module in modules:
                    parts = module.split(".")
                    assert parts[:2] not in (["confide", "cli"], ["confide", "campaign"]), path
                    if parts[:2] == ["confide", "evidence"]:
                        assert parts[2] in {"findings", room.name}, path


_IMPORT = re.compile(r"^ *(?:from|import) ([a-z_0-9]+)[\w.]*(?: import .*| as \w+)?$", flags=re.MULTILINE)
THEIRS = {"dp_accounting": "dp-accounting", "flint": "python-flint", "ibis": "ibis-framework", "vl_convert": None,
          "typer": None, "sqlalchemy": None, "alembic": None, "typing_extensions": None, "sklearn": None,
          "readstat_arrow": None}
"""Modules whose distribution has another name; None: no number comes from them."""


def test_the_key_names_every_part() -> None:
    """Whatever a study can import, at the top of a module or within a function."""
    texts = (path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")
             if path.relative_to(SOURCE).parts[0] not in {"cli", "campaign", "service"})
    found = {each for text in texts
             for each in _IMPORT.findall(text)}
    installed = {each for each in found - set(sys.stdlib_module_names) - {"confide"} if find_spec(each) is not None}
    others = {THEIRS.get(each, each) for each in installed - {"polars"}} - {None}  # polars only shows a finished list
    assert {"numpy", "scipy", "highspy"} <= others <= set(kept.PARTS)


@pytest.mark.parametrize("damage", [
    lambda text: "", lambda text: text[:-20], lambda text: "[1, 2]", lambda text: "null", lambda text: "{}",
    lambda text: text.replace('"ours": 0.1', '"ours": 0.2'), lambda text: "[" * 100_000,
])
def test_a_damaged_entry_is_no_hit(cache: StudyCache, damage: object) -> None:
    path = keep(cache)
    text = path.read_text(encoding="utf-8")
    assert damage(text) != text  # type: ignore[operator]
    path.write_text(damage(text), encoding="utf-8")  # type: ignore[operator]
    assert cache.find("zoo-one", ROOM, True) is None


def test_an_entry_under_anothers_name_is_no_hit(cache: StudyCache) -> None:
    one, two = keep(cache), keep(cache, "zoo-two")
    two.write_bytes(one.read_bytes())
    assert cache.find("zoo-two", ROOM, True) is None


def test_many_write_at_once(cache: StudyCache) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda k: cache.keep("zoo-one", ROOM, True, Kept(findings=FINDINGS, seconds=k, processor=0.0)),
                      range(40)))
    found = cache.find("zoo-one", ROOM, True)
    assert found is not None
    assert found.findings == FINDINGS
    assert len(list(cache.folder.iterdir())) == 1


def test_old_versions_go(cache: StudyCache, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(cache, quick=False)
    for version in range(6):
        monkeypatch.setattr(kept, "source_digest", lambda package, version=version: str(version))
        keep(cache)
    assert len(list(cache.folder.glob("zoo-one=quick=*"))) == 3
    assert len(list(cache.folder.glob("zoo-one=full=*"))) == 1
    assert cache.find("zoo-one", ROOM, True) is not None


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    closed = StudyCache(tmp_path / "file" / "kept")
    closed.keep("zoo-one", ROOM, True, Kept(findings=FINDINGS, seconds=1.0, processor=1.0))
    assert closed.find("zoo-one", ROOM, True) is None


def test_the_folder_is_the_installations(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert StudyCache.default().folder == home / "cache" / "studies"
    monkeypatch.delenv("CONFIDE_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "xdg"))
    found = StudyCache.default().folder
    assert found.parts[-2:] == ("confide", "studies")


# ---- reproduced


@pytest.fixture
def zoo(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Two studies in place of all: one that counts its calls, and one that lacks a data set."""
    calls: list[bool] = []

    def run(quick: bool, progress: object) -> Findings:
        calls.append(quick)
        return FINDINGS

    def lacks(quick: bool, progress: object) -> Findings:
        raise InvalidInput("source", "the package zoo is not installed", "pip install zoo")

    found = {name: Study(name=name, title="T", source="S", statement="It is.", run=each)
             for name, each in (("zoo-one", run), ("zoo-lacks", lacks))}
    run.__module__ = lacks.__module__ = ROOM
    monkeypatch.setattr(reproduced, "study", found.__getitem__)
    return calls


def test_a_study_is_computed_once(cache: StudyCache, zoo: list[bool]) -> None:
    first = reproduce("zoo-one", quick=True, cache=cache)
    again = reproduce("zoo-one", quick=True, cache=cache)
    assert (first.cached, again.cached) == (False, True)
    assert replace(again, cached=False) == first
    assert zoo == [True]
    assert reproduce("zoo-one", cache=cache).cached is False
    assert reproduce("zoo-one", quick=True).cached is False  # without a cache
    assert zoo == [True, False, True]
    for path in cache.folder.iterdir():
        path.write_text("damaged")
    assert reproduce("zoo-one", quick=True, cache=cache).cached is False
    assert reproduce("zoo-one", quick=True, cache=cache).cached is True


def test_one_that_lacks_something_stops_no_other(zoo: list[bool]) -> None:
    begun: list[str] = []
    found = list(reproduce_all(("zoo-lacks", "zoo-one"), quick=lambda name: name == "zoo-one", progress=begun.append))
    assert begun == ["zoo-lacks", "zoo-one"]
    assert zoo == [True]
    assert isinstance(found[0], NotReproduced)
    assert "not installed" in str(found[0].error)
    assert isinstance(found[1], Reproduced)
    assert found[1].findings.headline.quantity == "b"
    assert (found[1].findings.count("stands"), found[1].findings.count("differs")) == (0, 1)


# ---- what is set beside our numbers

_PLACES = re.compile(r"(?:Wu 2017|Wang 2016|Fallah et al\. 2022|Cummings, Ioannidis and Ligett 2015), .+, "
                     r"lines? (?:\d|\{)")


def test_every_origin_names_document_place_and_line() -> None:
    """In the sources of all studies, so that none has to run."""
    kinds, found = {"as_printed", "evaluated", "read_off", "in_words"}, 0
    for path in modules_of_studies(SOURCE / "evidence"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in kinds:
                place = call.args[0]
                text = place.value if isinstance(place, ast.Constant) else ast.unparse(place)[2:-1]
                assert _PLACES.match(text), (path, text)
                found += 1
    assert found > 50


def test_what_is_set_beside_ours_says_where_it_comes_from() -> None:
    for agreement in ("stands", "differs"):
        with pytest.raises(InvalidInput, match="origin"):
            Compared(quantity="a", published=1.0, ours=1.0, agreement=agreement)
    reported = Compared(quantity="a", published=1.0, ours=1.0, agreement="stands", origin=as_printed("a book, line 1"))
    assert (reported.kind, reported.origin) == (KINDS[0], "printed number: a book, line 1")
    own = Compared(quantity="a", published=1.0, ours=1.0, agreement="stands", origin=OWN_COMPARISON)
    assert own.kind == ""
    assert Findings(compared=(own, reported), blocks=()).headline == reported


# ---- times, and the gallery


def test_times_of_full_runs() -> None:
    times = full_times()
    assert set(times.seconds) == set(study_names())
    assert all(seconds > 0 for seconds in times.seconds.values())
    assert times.machine
    assert times_toml(times) == (SOURCE / "evidence" / "timings.toml").read_text(encoding="utf-8")
    assert times_toml(FullTimes(machine="m", day=date(2026, 1, 2), seconds={"a": 1234.5})).endswith(
        'machine = "m"\nday = 2026-01-02\n\n[seconds]\na = 1.23e+03\n')


def test_the_gallery_is_what_the_command_writes() -> None:
    shown = exhibits(GALLERY)
    assert {each.name for each in shown} == set(study_names())
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert page == gallery_markdown(shown, "gallery")
    for each in studies():
        assert f"### {each.title}\n" in page
        assert re.search(rf"`confide reproduce {each.name}(?: --quick)?`", page)
    for it in shown:
        assert it.quick == shown_quick(it.name), it.name
        assert it.alt
        assert (GALLERY / it.picture).stat().st_size > 500
    held = [path for path in GALLERY.iterdir() if path.name != "numbers.json"]
    assert {path.name for path in held} == {it.picture for it in shown}
    assert sum(path.stat().st_size for path in GALLERY.iterdir()) < 4_000_000


def test_a_gallery_of_a_few(tmp_path: Path) -> None:
    folder = tmp_path / "docs" / "few"
    folder.mkdir(parents=True)
    (folder / "somebody's.svg").write_text("<svg/>")
    found = [reproduce(name, quick=True) for name in ("regression-threshold", "market-pairs")]
    page, number = write_gallery(folder, found, date(2026, 1, 2))
    assert (page, number) == (tmp_path / "docs" / "few.md", 2)
    assert page.read_text(encoding="utf-8") == gallery_markdown(exhibits(folder), "few")
    assert "| 4,472 | 4.519 | bound holds: ours \\<= bound |" in page.read_text(encoding="utf-8")
    stored = folder / "numbers.json"
    assert [each["day"] for each in json.loads(stored.read_text(encoding="utf-8"))] == ["2026-01-02"] * 2

    # One study again: the other stays, a study that is gone goes with its picture, and no other file is touched.
    gone = json.dumps({**json.loads(stored.read_text(encoding="utf-8"))[0], "name": "gone", "picture": "gone.svg"})
    stored.write_text(stored.read_text(encoding="utf-8").replace("[", f"[{gone},", 1), encoding="utf-8")
    (folder / "gone.svg").write_text("<svg/>")
    assert write_gallery(folder, found[1:], date(2026, 1, 3)) == (page, 2)
    assert {each.name: each.day for each in exhibits(folder)} == {
        "regression-threshold": "2026-01-02", "market-pairs": "2026-01-03"}
    assert {each.name for each in folder.iterdir()} == {
        "somebody's.svg", "numbers.json", *(each.picture for each in exhibits(folder))}

    stored.write_text('[{"a": 1}]', encoding="utf-8")
    with pytest.raises(InvalidInput, match="other contents than a gallery's"):
        write_gallery(folder, found, date(2026, 1, 2))
    assert stored.read_text(encoding="utf-8") == '[{"a": 1}]'
    with pytest.raises(InvalidInput, match="cannot be written"):
        write_gallery(folder / "numbers.json", found, date(2026, 1, 2))


def test_the_old_name_of_the_package_works() -> None:
    with pytest.warns(ConfideDeprecationWarning, match="'study' is called 'evidence' now"):
        from confide.study import study_names as old
    assert old is study_names
    with pytest.raises(ImportError):
        from confide.study import no_such_name  # noqa: F401
