"""A stranger's folder: nothing in it is followed, waited for or believed, and nothing of it steers a terminal."""

from __future__ import annotations

import io
import json
import os
import shutil
import socket
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from campaign.forging import STRANGER, campaign_file, found, rechain, resign
from campaign.settled import RECORD, Done
from confide.campaign import verify
from confide.campaign.pack import NOTE
from confide.campaign.pages import verification_section
from confide.campaign.verification import reading
from confide.cli import render
from confide.contract import InvalidInput

ESCAPES = "\x1b[2J\x9b31m\u202e\u2066\r\n\x00"


def _socket(place: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(place))


@pytest.mark.parametrize(("put", "word"), [
    (lambda place: place.symlink_to("/etc/hostname"), "is a link"),
    (lambda place: place.symlink_to(place), "is a link"),
    (os.mkfifo, "is a pipe"),
    (_socket, "is a socket"),
    (Path.mkdir, "is a folder"),
], ids=["link", "loop", "pipe", "socket", "folder"])
@pytest.mark.parametrize("name", ["notes", "extra.csv", "columns/more", "report.html", "manifest.json"])
def test_what_is_no_file_is_named_and_left_alone(
    put: Callable[[Path], None], word: str, name: str, pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(pack)  # a socket's path must be short
    Path(name).unlink(missing_ok=True)
    put(Path(name))
    assert reading.read_folder(pack).strange == {name: word}


@pytest.mark.parametrize("name", [NOTE, "manifest.json", "columns"])
def test_a_participant_reads_through_no_link_either(name: str, pack: Path, settled: Done) -> None:
    (pack / name).rename(pack.parent / "elsewhere")
    (pack / name).symlink_to(pack.parent / "elsewhere")
    with pytest.raises(InvalidInput):
        settled.campaign.own_file("7", pack, record=RECORD)


def test_what_is_no_file_is_broken(pack: Path) -> None:
    os.mkfifo(pack / "extra.csv")
    assert found(pack) == {"files": "extra.csv is a pipe"}
    (pack / "extra.csv").unlink()
    (pack / "report.html").unlink()
    (pack / "report.html").symlink_to("/etc/hostname")
    assert found(pack) == {"files": "pack: report.html is a link", "report": "pack: report.html is a link"}


def test_a_folder_of_links_is_no_pack(pack: Path) -> None:
    (pack / NOTE).rename(pack.parent / NOTE)
    (pack / NOTE).symlink_to(pack.parent / NOTE)
    with pytest.raises(InvalidInput, match=r"campaign\.json is a link"):
        verify(pack)
    (pack.parent / "link").symlink_to(pack)
    (pack / NOTE).unlink()
    (pack.parent / NOTE).rename(pack / NOTE)
    assert verify(pack.parent / "link").complete  # the caller's own link to it is hers
    for nowhere, says in (("nowhere", "it does not exist"), (NOTE, "is neither a folder nor a .zip of a pack")):
        with pytest.raises(InvalidInput, match=says):
            verify(pack / nowhere)


def test_what_belongs_to_no_pack_is_found_signed_or_not(pack: Path, signer: Ed25519PrivateKey) -> None:
    (pack / "README").write_text("noise was drawn before witnesses")
    (pack / "columns" / f"{'0' * 64}.arrow").write_bytes(b"names of all")
    (pack / "more.csv").write_text("id,paid\n7,100\n")
    assert found(pack) == {
        "files": f"README belongs to no pack; columns/{'0' * 64}.arrow was not signed; more.csv was not signed",
        "billboard": f"columns/{'0' * 64}.arrow belongs to no array of the manifest",
        "tables": "more.csv belongs to no pack"}
    resign(pack, signer)
    assert found(pack)["files"] == "pack: README belongs to no pack"
    (pack / "README").unlink()
    resign(pack, signer)
    assert set(found(pack)) == {"billboard", "tables"}


def test_an_empty_folder_is_found(pack: Path) -> None:
    for path in (pack / "columns").iterdir():
        path.unlink()
    assert "missing" in found(pack)["files"]
    resign(pack, STRANGER)
    assert found(pack)["files"] == "columns holds nothing"


def _zipped(pack: Path, *, method: int = zipfile.ZIP_DEFLATED) -> Path:
    """What the service hands out."""
    place = pack.parent / "pack.zip"
    with zipfile.ZipFile(place, "w", method) as archive:
        for path in sorted(each for each in pack.rglob("*") if each.is_file()):
            archive.write(path, path.relative_to(pack).as_posix())
    return place


def test_an_archive_of_a_pack_is_the_pack(pack: Path) -> None:
    """As the service sends it, and packed again with its folders by whoever unpacked it."""
    archive = _zipped(pack)
    assert reading.read_folder(archive).files == reading.read_folder(pack).files
    assert (found(archive), verify(archive).complete) == ({}, True)
    again = Path(shutil.make_archive(str(pack.parent / "again"), "zip", pack))
    assert verify(again).digest == verify(pack).digest
    data = bytearray(archive.read_bytes())
    data[data.index(b"report.html") + 40] ^= 1  # of what is packed
    archive.write_bytes(data)
    with pytest.raises(InvalidInput, match=r"is not a complete \.zip of a pack"):
        verify(archive)


def test_what_is_strange_in_an_archive_is_found(pack: Path) -> None:
    with zipfile.ZipFile(_zipped(pack), "a") as archive:
        link = zipfile.ZipInfo("extra.csv")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/hostname")
        archive.writestr("../outside.csv", "1")
        archive.writestr("more/", "")
    assert reading.read_folder(pack.parent / "pack.zip").strange == {
        "extra.csv": "is a link", "../outside.csv": "belongs to no pack", "more": "is a folder"}
    assert not (pack.parent / "outside.csv").exists()


@pytest.mark.parametrize(("spoil", "says"), [
    (lambda place: place.write_bytes(b"PK"), "neither a folder nor a .zip"),
    (lambda place: place.write_text("title = 1"), "neither a folder nor a .zip"),
    (lambda place: (place.unlink(), os.mkfifo(place)), "neither a folder nor a .zip"),
    (lambda place: place.write_bytes(place.read_bytes()[:-22] + b"PK\x06\x07" + bytes(16) + place.read_bytes()[-22:]),
     "neither a folder nor a .zip"),
    (lambda place: place.write_bytes(place.read_bytes()[:-2] + b"\x05\x00hello"), "neither a folder nor a .zip"),
    (lambda place: place.write_bytes(place.read_bytes()[:-12] + b"\xff\xff" + place.read_bytes()[-10:]),
     "too many files"),
    (lambda place: place.write_bytes(place.read_bytes()[:-10] + b"\xff" * 4 + place.read_bytes()[-6:]),
     "too many files"),
    (lambda place: place.write_bytes(place.read_bytes()[4:]), "not a plain .zip"),
], ids=["two letters", "text", "pipe", "large format", "comment", "count", "list", "beginning"])
def test_what_is_no_archive_is_refused(spoil: Callable[[Path], object], says: str, pack: Path) -> None:
    archive = _zipped(pack)
    spoil(archive)
    with pytest.raises(InvalidInput, match=says) as reported:
        reading.read_folder(archive)
    assert "Error" not in str(reported.value)


def _list_at(data: bytes) -> int:
    """Where the list of an archive begins."""
    return int.from_bytes(data[-6:-2], "little")


def _spliced(data: bytes, place: int, more: bytes) -> bytes:
    """Something more before the list, which is said to begin behind it."""
    start = _list_at(data)
    return data[:place] + more + data[place:-6] + (start + len(more)).to_bytes(4, "little") + data[-2:]


def _patched(data: bytes, place: int, new: bytes) -> bytes:
    return data[:place] + new + data[place + len(new) :]


def _packed_longer(data: bytes) -> bytes:
    """More bytes behind the last block of the last file, within the size that its headers say."""
    start = _list_at(data)
    listed, local = data.rindex(b"PK\x01\x02"), data.rindex(b"PK\x03\x04", 0, start)
    size = (int.from_bytes(data[listed + 20 : listed + 24], "little") + 5).to_bytes(4, "little")
    return _spliced(_patched(_patched(data, listed + 20, size), local + 18, size), start, b"more.")


def _entry_of(name: str, contents: bytes) -> bytes:
    """A local entry that no list has."""
    place = io.BytesIO()
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr(name, contents)
    return place.getvalue()[: _list_at(place.getvalue())]


@pytest.mark.parametrize("spoil", [
    lambda data: _spliced(data, _list_at(data), _entry_of("names.csv", b"names of all")),
    lambda data: _spliced(data, _list_at(data), b"names of all"),
    lambda data: _spliced(data, data.index(b"PK\x03\x04", 4), b"names of all"),
    lambda data: b"names of all" + data,
    lambda data: data + b"names of all",
    lambda data: data[:-22] + b"names of all" + data[-22:],
    _packed_longer,
    lambda data: _patched(data, 6, b"\x08\x00"),  # sizes behind the contents
    lambda data: _patched(data, 10, b"\x01"),  # another hour than the list's
    lambda data: _patched(data, 14, b"\x00\x00\x00\x00"),  # another checksum
    lambda data: _patched(data, 22, b"\x00\x00\x00\x00"),  # another size
    lambda data: _patched(data, 30, b"C"),  # another name
    lambda data: _patched(data, _list_at(data) + 6, b"\x3f"),  # needs another version
    lambda data: _patched(data, _list_at(data) + 8, b"\x01"),  # locked
    lambda data: _patched(data, _list_at(data) + 10, b"\x63"),  # packed otherwise
    lambda data: _patched(data, _list_at(data) + 30, b"\x01"),  # something beside the name
    lambda data: _patched(data, _list_at(data) + 32, b"\x01"),  # a comment
    lambda data: _patched(data, _list_at(data) + 34, b"\x01"),  # on another disk
    lambda data: _patched(data, _list_at(data) + 42, b"\x01"),  # begins elsewhere
    lambda data: _patched(data, len(data) - 18, b"\x01"),  # one of several
    lambda data: _patched(data, len(data) - 12, bytes([data[-12] - 1])),  # lists less
], ids=range(21))
def test_the_entries_of_an_archive_tile_it(spoil: Callable[[bytes], bytes], pack: Path) -> None:
    """It holds nothing that its list has not, nothing twice, and every entry is what the list says."""
    archive = _zipped(pack)
    spoiled = spoil(archive.read_bytes())
    assert spoiled != archive.read_bytes()
    archive.write_bytes(spoiled)
    with pytest.raises(InvalidInput, match=r"\.zip"):
        verify(archive)


def test_folders_of_an_archive_hold_nothing(pack: Path) -> None:
    with zipfile.ZipFile(_zipped(pack), "a") as archive:
        archive.writestr("columns/", "names of all")
    with pytest.raises(InvalidInput, match="the folder columns has contents"):
        verify(pack.parent / "pack.zip")


def test_an_archive_is_not_believed_about_its_sizes(pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes out is counted, of each member and of all together; and no two members have one name."""
    (pack / "extra.csv").write_bytes(bytes(1 << 20))  # packs into a kilobyte
    archive = _zipped(pack)
    assert archive.stat().st_size < 1 << 20
    monkeypatch.setattr(reading, "LARGEST", 1 << 20)
    with pytest.raises(InvalidInput, match="is too large"):
        reading.read_folder(archive)
    monkeypatch.undo()
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(archive, "a") as twice:
        twice.writestr("extra.csv", "1")
    with pytest.raises(InvalidInput, match="two files with the same name"):
        reading.read_folder(archive)
    monkeypatch.setattr(reading, "MOST", 3)
    with pytest.raises(InvalidInput, match="too many files"):
        reading.read_folder(archive)


def test_absurd_numbers_and_sizes_are_refused(pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (pack / "sparse.csv").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InvalidInput, match=r"sparse\.csv is too large"):
        verify(pack)
    (pack / "sparse.csv").unlink()
    with (pack / "events.json").open("r+b") as file:
        file.truncate((1 << 24) + 1)
    with pytest.raises(InvalidInput, match=r"events\.json is too large; .*each text in it 16,777,216"):
        verify(pack)
    (pack / "events.json").unlink()
    monkeypatch.setattr(reading, "MOST", 8)
    with pytest.raises(InvalidInput, match="too many files"):
        verify(pack)


@pytest.mark.parametrize("name", [NOTE, "manifest.json", "events.json"])
@pytest.mark.parametrize("change", [
    lambda text: text + b"\n",
    lambda text: json.dumps(json.loads(text), sort_keys=True).encode(),
    lambda text: text.replace(b'"format":1', b'"format":1.0').replace(b'"day":', b'"\\u0064ay":'),
    lambda text: text.replace(b'{"', b'{"format":2,"', 1).replace(b'"data":', b'"data":{},"data":', 1),
], ids=["newline", "spaces", "spelling", "a key twice"])
def test_json_stands_as_it_was_written(
    change: Callable[[bytes], bytes], name: str, pack: Path, signer: Ed25519PrivateKey
) -> None:
    """Also where it says the same, or where a reader could take it for two things."""
    before = (pack / name).read_bytes()
    if name == NOTE:
        (pack / name).write_bytes(change(before))
        try:
            broken = found(pack)["signature"]
        except InvalidInput as error:  # a key that stands twice
            broken = str(error)
    else:
        (pack / name).write_bytes(change(before))
        resign(pack, signer)
        broken = found(pack)["billboard" if name == "manifest.json" else "events"]
    assert "canonical" in broken or "stands twice" in broken


@pytest.mark.parametrize("name", ["title", "path"])
def test_a_pack_does_not_steer_the_terminal(
    name: str, pack: Path, signer: Ed25519PrivateKey, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = ESCAPES.replace("\x00", "")
    if name == "title":
        text = (pack / "campaign.toml").read_text()
        escaped = "".join(f"\\u{ord(letter):04x}" for letter in ESCAPES)
        (pack / "campaign.toml").write_text(text.replace('title = "', f'title = "[red]{escaped}'))
        rechain(pack)
        file = campaign_file(pack)
        resign(pack, signer, title=file.title, content=file.digest)
    else:
        (pack / f"[red]{plain}.csv").write_text("x")
        (pack / f"{plain}").write_text("x")
    verification = verify(pack)
    shown = verification_section(verification)
    monkeypatch.setattr(render.console, "_width", 500)
    render.show([shown])
    out = capsys.readouterr().out
    assert "[red]" in out
    assert "\\x1b[2J" in out
    assert "\\u202e" in out
    for line in (*out.splitlines(), verification.title, *(each.detail for each in verification.findings)):
        assert line.isprintable() or not line


def test_a_hostile_name_in_an_error(pack: Path) -> None:
    with (pack / f"{ESCAPES[:-1]}.csv").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InvalidInput, match="is too large") as caught:
        verify(pack)
    assert str(caught.value).isprintable()


def test_a_campaign_of_a_stranger_does_not_steer_either(capsys: pytest.CaptureFixture[str]) -> None:
    render.show_title(f"[bold]{ESCAPES}:warning:")
    assert capsys.readouterr().out == (
        "[bold]\\x1b[2J\\x9b31m\\u202e\\u2066\\r\\n\\x00:warning:\n")

