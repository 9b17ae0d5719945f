"""Writing a pack: whole on the disk before it is in its place; what a process left behind that was killed goes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from campaign.small import tree
from confide.campaign import pack as folders
from confide.campaign.pack import NOTE, write_pack
from confide.contract import InvalidInput
from confide.contract.files import write_new

FILES = {NOTE: b"{}", "manifest.json": b"m", "columns/a.arrow": b"a", "columns/b.arrow": b"b"}


def test_a_pack_is_on_the_disk_before_it_is_in_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files, then the folders that name them; and its place at the end."""
    flushed: list[int] = []
    before: list[int] = []
    fsync, replace = os.fsync, os.replace

    def moved(source: Path, target: Path) -> None:
        before.extend(flushed)
        replace(source, target)
        flushed.clear()

    def sync(descriptor: int) -> None:
        flushed.append(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "replace", moved)
    pack = tmp_path / "new" / "out"
    write_pack(pack, FILES)
    order = {path: before.index(path.stat().st_ino) for path in (pack, *pack.rglob("*"))}
    assert {path.relative_to(pack).as_posix() for path in order} == {".", "columns", *FILES}
    for path, place in order.items():
        assert path == pack or path.is_dir() or place < order[path.parent], path
    assert before.index(tmp_path.stat().st_ino) == 0  # the new folder that it lies in
    assert flushed == [pack.parent.stat().st_ino]


def left(place: Path, name: str = "out", key: str = "0a1b2c_z") -> Path:
    """What a killed process leaves."""
    draft = place / f".{name}-draft-{key}"
    (draft / name / "columns").mkdir(parents=True)
    (draft / name / "manifest.json").write_bytes(b"half")
    return draft


def test_what_is_not_of_a_pack_is_named(tmp_path: Path) -> None:
    """All that lies in its folder is public: a private file is neither written there nor passed over."""
    pack = tmp_path / "out"
    write_pack(pack, FILES)
    with pytest.raises(InvalidInput, match=r"out is a pack, which is public, and the file is private"):
        write_new("write", pack / "columns" / "due.csv", "17,5.11", private=True)
    write_pack(pack, FILES)
    (pack / "due.csv").write_text("17,5.11")
    with pytest.raises(InvalidInput, match=r"due\.csv does not belong to the pack; move it away"):
        write_pack(pack, FILES)


def test_what_was_left_behind_goes(tmp_path: Path) -> None:
    drafts = [left(tmp_path), left(tmp_path, key="aaaaaaaa")]
    write_pack(tmp_path / "out", FILES)
    assert not any(draft.exists() for draft in drafts)
    assert tree(tmp_path) == {f"out/{name}": data for name, data in FILES.items()}
    draft = tmp_path / ".out-draft-bbbbbbbb"  # of who died when all was done
    draft.mkdir()
    write_pack(tmp_path / "out", FILES)
    assert not draft.exists()


def test_what_is_not_a_draft_of_this_folder_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of another name, of another shape, with something else in it, no folder, somebody else's."""
    kept = [left(tmp_path, "other"), left(tmp_path, "out-study"), *(left(tmp_path, key=key) for key in ("a", "A" * 8))]
    more = left(tmp_path, key="bbbbbbbb")
    (more / "notes.txt").write_text("mine")
    link = tmp_path / ".out-draft-cccccccc"
    link.symlink_to(tmp_path / ".other-draft-0a1b2c_z")
    (tmp_path / ".out-draft-dddddddd").write_text("mine")
    (tmp_path / ".out-settings").mkdir()
    before = tree(tmp_path)
    write_pack(tmp_path / "out", FILES)
    assert all(path.exists() for path in (*kept, more, link, tmp_path / ".out-settings"))
    assert before.items() <= tree(tmp_path).items()
    strangers = left(tmp_path, "public")
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    write_pack(tmp_path / "public", FILES)
    assert strangers.exists()


def test_a_draft_of_somebody_who_is_still_writing_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what it writes is whole, whoever is faster."""
    known, seen = os.replace, []

    def slow(source: Path, target: Path) -> None:
        if not seen:
            seen.append(Path(source))
            write_pack(tmp_path / "out", FILES)
            assert Path(source).exists()
        known(source, target)

    monkeypatch.setattr(folders.os, "replace", slow)
    write_pack(tmp_path / "out", FILES)
    assert tree(tmp_path) == {f"out/{name}": data for name, data in FILES.items()}


def test_where_folders_cannot_be_locked_nothing_is_taken_for_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As over some networks: a pack is written there as well."""
    def no(*_: Any) -> None:
        raise OSError(9, "no locks")

    monkeypatch.setattr(folders.fcntl, "flock", no)
    draft = left(tmp_path)
    write_pack(tmp_path / "out", FILES)
    assert draft.exists()
    assert tree(tmp_path / "out") == FILES
    with pytest.raises(InvalidInput, match="differs from the settled file"):
        write_pack(tmp_path / "out", {**FILES, "manifest.json": b"other"})
