"""Files that must survive: who may read them, and that they are on the disk before anybody relies on them."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from confide.contract import InvalidInput
from confide.contract.files import check_private, make_folder, sync, write_once


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("bits", [0o640, 0o604, 0o620, 0o601, 0o777])
def test_what_others_may_use_is_not_private(bits: int, tmp_path: Path) -> None:
    path = tmp_path / "two words"
    path.touch(0o600)
    check_private("key", path)
    path.chmod(bits)
    with pytest.raises(InvalidInput) as caught:
        check_private("key", path)
    assert str(caught.value) == f"key: other users may read {path}; run `chmod 600 '{path}'`"


def test_what_another_user_owns_is_not_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch(0o600)
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(InvalidInput, match="belongs to another user; run the command as the owner of the file"):
        check_private("key", tmp_path / "file")


def test_only_a_new_folder_gets_a_mode(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    there.chmod(0o755)
    assert mode(make_folder(there, private=True)) == 0o755
    assert mode(make_folder(there / "deep" / "new", private=True)) == 0o700
    assert mode(there / "deep") & 0o500 == 0o500  # those above are everybody's as the umask says
    assert mode(make_folder(there / "plain")) == mode(there / "deep")


def steps(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int | str]]:
    """What is flushed, by inode, and what gets a name or a folder, in order."""
    found: list[tuple[str, int | str]] = []

    def watched(name: str, what: Callable[..., int | str]) -> None:
        known = getattr(os, name)

        def call(*arguments: Any, **options: Any) -> Any:
            found.append((name, what(*arguments)))
            return known(*arguments, **options)

        monkeypatch.setattr(os, name, call)

    watched("fsync", lambda descriptor: os.fstat(descriptor).st_ino)
    watched("link", lambda _, target: Path(target).name)
    watched("mkdir", lambda path, *_: Path(path).name)
    return found


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And so are the folders above it: whoever goes on relies on all of it."""
    found, path = steps(monkeypatch), tmp_path / "new" / "key"
    write_once("key", path, "secret\n")
    above, folder, file = (each.stat().st_ino for each in (tmp_path, path.parent, path))
    assert found == [("mkdir", "new"), ("fsync", above), ("fsync", file), ("link", "key"), ("fsync", folder)]
    assert (path.read_text(), mode(path), mode(path.parent)) == ("secret\n", 0o600, 0o700)
    found.clear()
    write_once("key", path, "another\n")  # who finds it there waits too: its writer may not be done
    assert found == [("fsync", folder)]
    assert (path.read_text(), os.listdir(path.parent)) == ("secret\n", ["key"])


def test_of_two_who_write_one_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = os.link

    def overtaken(source: str, target: Path) -> None:
        target.write_text("first\n")
        known(source, target)

    monkeypatch.setattr(os, "link", overtaken)
    write_once("key", tmp_path / "key", "second\n")
    assert (tmp_path / "key").read_text() == "first\n"
    assert os.listdir(tmp_path) == ["key"]


def test_a_place_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInput, match=r"key: .*key cannot be written: a part of its path is not "
                                           r"a folder"):
        write_once("key", tmp_path / "file" / "home" / "key", "secret\n")


def test_a_file_system_that_flushes_no_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says so by EINVAL; anything else is a disk that does not keep what it was given."""
    for number, bad in ((errno.EINVAL, False), (errno.EIO, True)):
        def fails(_: int, number: int = number) -> None:
            raise OSError(number, "no")

        monkeypatch.setattr(os, "fsync", fails)
        if bad:
            with pytest.raises(OSError, match="no"):
                sync(tmp_path)
        else:
            sync(tmp_path)
