"""Backup and restore: a copy of one moment, whoever writes meanwhile; altered ones are refused; nothing is mixed."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from campaign.small import write
from confide.campaign import Campaign, Home, State, Store
from confide.campaign import backup as backup_module
from confide.campaign.backup import backup, restore
from confide.contract import InvalidInput, Refused, kind


@pytest.fixture
def store(database_url: str, tmp_path: Path) -> Iterator[Store]:
    with Store(database_url, home=Home(tmp_path / "home")) as found:
        yield found


@pytest.fixture
def elsewhere(request: pytest.FixtureRequest, store: Store) -> Iterator[str | None]:
    """Where a copy of the store can go: an empty database, or the new installation's own."""
    if store.database.sqlite:
        yield None
        return
    cluster: Any = request.getfixturevalue("postgresql")
    yield cluster.create("restored")
    cluster.drop("restored")


def bits(folder: Path) -> Campaign:
    path = folder / "ill.toml"
    path.write_text(kind("bits").template)
    return Campaign.load(path)


def test_a_restored_installation_goes_on(store: Store, elsewhere: str | None, tmp_path: Path) -> None:
    """Settled there is settled here, byte for byte; the ledger and the keys are the same."""
    settled = Campaign.load(write(tmp_path))
    first = settled.settle(tmp_path / "out", store=store)
    number = store.open(bits(tmp_path).file, 200).number
    store.submit(number, 3, b"\1\0\0")
    archive = backup(tmp_path / "copy.tar", store=store)
    assert os.stat(archive).st_mode & 0o777 == 0o600
    found = restore(archive, tmp_path / "new", url=elsewhere)
    assert found.campaigns == 2
    with Store(elsewhere, home=Home(tmp_path / "new"), create=False) as copy:
        assert copy.home.fingerprint == store.home.fingerprint
        assert copy.ledger() == store.ledger()
        again = settled.settle(tmp_path / "again", store=copy)
        assert not again.fresh
        assert copy.pack(again.number) == store.pack(first.number)
        assert copy.submitted(number) == 1
        copy.submit(number, 4, b"\0\0\0")
        copy.close_collection(number)
        assert copy.get(number).state is State.CLOSED


def test_a_copy_is_of_one_moment(store: Store, elsewhere: str | None, tmp_path: Path) -> None:
    """While somebody hands in pairs of reports, each in one transaction, no copy has half a pair."""
    number = store.open(bits(tmp_path).file, 200).number
    stop = Event()

    def hand_in() -> None:
        pair = 0
        while not stop.is_set():
            store.submit_many(number, [(2 * pair, b"\1\0\0"), (2 * pair + 1, b"\1\0\0")])
            pair = (pair + 1) % 100

    thread = Thread(target=hand_in)
    thread.start()
    try:
        archive = backup(tmp_path / "copy.tar", store=store)
    finally:
        stop.set()
        thread.join()
    restore(archive, tmp_path / "new", url=elsewhere)
    with Store(elsewhere, home=Home(tmp_path / "new"), create=False) as copy:
        assert copy.submitted(number) % 2 == 0


def test_what_was_released_after_the_copy_is_not_released_twice(tmp_path: Path) -> None:
    """The notes are copied after the store: a copy whose note is newer than its store refuses."""
    home = Home(tmp_path / "home")
    campaign = Campaign.load(write(tmp_path))
    with Store(home.url, home=home) as store:
        store.open(campaign.file, 2000)
        campaign_digest = campaign.file.digest
        home.release(campaign_digest, "0" * 64)  # by a publication between the two parts of the copy
        archive = backup(tmp_path / "copy.tar", store=store)
    restore(archive, tmp_path / "new")
    new = Home(tmp_path / "new")
    with Store(new.url, home=new, create=False) as copy, pytest.raises(Refused, match="settled in another store"):
        campaign.settle(tmp_path / "out", store=copy)


def altered(archive: Path, target: Path, change: Any) -> Path:
    """A copy of an archive with one member changed."""
    with tarfile.open(archive) as old, tarfile.open(target, "w") as new:
        for member in old:
            file = old.extractfile(member)
            assert file is not None
            name, data = change(member.name, file.read())
            head = tarfile.TarInfo(name)
            head.size = len(data)
            new.addfile(head, io.BytesIO(data))
    os.chmod(target, 0o600)
    return target


def flipped(name: str, data: bytes) -> tuple[str, bytes]:
    """One bit of the store."""
    return name, data[:-1] + bytes([data[-1] ^ 1]) if name == "store" else data


@pytest.mark.parametrize("change", [
    pytest.param(flipped, id="a bit"),
    pytest.param(lambda name, data: (name + "x" if name.endswith("ledger.key") else name, data), id="a name"),
    pytest.param(lambda name, data: ("../outside" if name == "store" else name, data), id="a way out"),
])
def test_an_altered_archive_is_refused(change: Any, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    with Store(home.url, home=home) as store:
        archive = backup(tmp_path / "copy.tar", store=store)
    with pytest.raises(InvalidInput, match="archive"):
        restore(altered(archive, tmp_path / "altered.tar", change), tmp_path / "new")
    assert not (tmp_path / "new").exists()
    assert not (tmp_path / "outside").exists()


def test_nothing_is_mixed(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    with Store(home.url, home=home) as store:
        archive = backup(tmp_path / "copy.tar", store=store)
        with pytest.raises(InvalidInput, match="exists"):
            backup(archive, store=store)
    with pytest.raises(InvalidInput, match="two ledgers cannot be merged"):
        restore(archive, home.folder)
    with pytest.raises(Refused, match="the copied database is sqlite"):
        restore(archive, tmp_path / "new", url="postgresql+psycopg://nobody@/none")
    os.chmod(archive, 0o644)
    with pytest.raises(InvalidInput, match="archive"):
        restore(archive, tmp_path / "new")
    (tmp_path / "notes.txt").write_text("no archive")
    os.chmod(tmp_path / "notes.txt", 0o600)
    with pytest.raises(InvalidInput, match="not a readable backup"):
        restore(tmp_path / "notes.txt", tmp_path / "new")


def test_in_a_folder_of_many_nothing_of_others_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a file with a name that was foreseen, nor a link, nor what is put there while the copy is made."""
    shared, home = tmp_path / "shared", Home(tmp_path / "home")
    shared.mkdir(mode=0o777)
    victim = tmp_path / "victim.txt"
    victim.write_text("mine")
    foreseen = [shared / name for name in (".copy.tar.draft", "copy.tar.draft", ".copy.tar")]
    for each in foreseen:
        each.symlink_to(victim)
    with Store(home.url, home=home) as store:
        archive = backup(shared / "copy.tar", store=store)
        assert victim.read_text() == "mine"
        assert all(each.is_symlink() for each in foreseen)
        assert (archive.lstat().st_mode & 0o7777, archive.lstat().st_nlink) == (0o600, 1)
        assert not archive.is_symlink()

        (shared / "nowhere.tar").symlink_to(tmp_path / "not yet there")
        with pytest.raises(InvalidInput, match="exists"):
            backup(shared / "nowhere.tar", store=store)
        assert not (tmp_path / "not yet there").exists()

        real = backup_module._dump

        def meanwhile(store: Store, target: Path) -> None:
            assert target.parent.stat().st_mode & 0o777 == 0o700
            real(store, target)
            (shared / "late.tar").symlink_to(victim)

        monkeypatch.setattr(backup_module, "_dump", meanwhile)
        with pytest.raises(InvalidInput, match="exists"):
            backup(shared / "late.tar", store=store)
    assert victim.read_text() == "mine"
    assert {each.name for each in shared.iterdir()} == {
        *(each.name for each in foreseen), "copy.tar", "nowhere.tar", "late.tar"}


def archive_of(path: Path, members: list[tuple[str, bytes]]) -> Path:
    """An archive that somebody made by hand; its owner's alone."""
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as archive:
        for name, data in members:
            head = tarfile.TarInfo(name)
            head.size, head.mode = len(data), 0o600
            archive.addfile(head, io.BytesIO(data))
    path.chmod(0o600)
    return path


def manifest_of(files: dict[str, bytes], **said: Any) -> tuple[str, bytes]:
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    return "manifest.json", json.dumps({"format": 1, "day": "2026-01-01", "database": "sqlite", "files": digests,
                                        **said}).encode()


BAD = {"store": b"no database"}
HOSTILE: dict[str, list[tuple[str, bytes]]] = {
    "no text": [("manifest.json", b"\xff\xfe{")], "too deep": [("manifest.json", b"[" * 200_000)],
    "a long number": [("manifest.json", b'{"format":' + b"9" * 6000 + b"}")],
    "no day": [("manifest.json", b'{"format": 1, "files": {}}')],
    "twice": [("store", b"x"), ("store", b"y"), ("manifest.json", b"{}")],
    "a file as a folder": [("store", b"x"), ("store/x", b"y"), ("manifest.json", b"{}")],
    "a long name": [("x" * 5000, b"x"), ("manifest.json", b"{}")],
    "no name": [(".", b"x"), manifest_of({".": b"x"})],
    "upwards": [("./../x", b""), manifest_of({"./../x": b""})],
    "no store": [("home/ledger.key", b"0" * 64), manifest_of({"home/ledger.key": b"0" * 64})],
    "no database": [*BAD.items(), manifest_of(BAD)],
    "an empty database": [("store", b""), manifest_of({"store": b""})],
    "a key that is none": [("store", b""), ("home/ledger.key", b"zz"),
                           manifest_of({"store": b"", "home/ledger.key": b"zz"})],
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_malformed_archive_is_refused(what: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        restore(archive_of(tmp_path / "hostile.tar", HOSTILE[what]), tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hostile.tar"]


def test_what_would_grow_when_it_is_read_is_refused(tmp_path: Path) -> None:
    """A sparse member is a few bytes in the archive, and gigabytes when it is read."""
    path = tmp_path / "sparse.tar"
    head = tarfile.TarInfo("manifest.json")
    head.type, head.size, head.mode = tarfile.GNUTYPE_SPARSE, 512, 0o600
    data = bytearray(head.tobuf(tarfile.GNU_FORMAT))
    data[386:482] = b"%011o\0%011o\0" % (0, 512) + bytes(72)  # where its one piece lies
    data[483:495] = b"%011o\0" % (3 << 30)  # how large it is
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data)
    path.write_bytes(bytes(data) + b"{}".ljust(512) + bytes(1024))
    path.chmod(0o600)
    with tarfile.open(path) as archive:
        assert (archive.getmembers()[0].issparse(), archive.getmembers()[0].size) == (True, 3 << 30)
    with pytest.raises(InvalidInput, match="has other files than a backup"):
        restore(path, tmp_path / "new")


def test_a_manifest_is_not_read_beyond_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backup_module, "_LARGEST", 10)
    with pytest.raises(InvalidInput, match="has other files than a backup"):
        restore(archive_of(tmp_path / "large.tar", [manifest_of({})]), tmp_path / "new")
