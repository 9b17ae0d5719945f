"""No edit of a pack that changes what a reader sees passes, whoever signs it: every field of a pack of every kind.

The operator holds the key, so after each edit all digests, the events and the signature are made to fit. A pack may
pass only if it is, byte for byte, what confide writes for its own campaign file and outcome; then nothing in it
contradicts anything. What stays is what nobody but the operator can know:

- another noisy number of the billboard, with tables, pictures and page to match, or another campaign file throughout,
  which is another release than the one that the offers named;
- comments, blank lines and the operator's own file names in the campaign file, which change its digest and no page;
- the software that the provenance names, and the days of the events;
- whether a participation that is worth 0 to the last digit is called vacuous;
- the room around a picture: where legend and titles stand, and which labels of an axis made way for others.
"""

from __future__ import annotations

import io
import json
import random
import tomllib
import zipfile
from pathlib import Path

import pytest

from campaign.verification.edits import Files, claims, edits, signed
from campaign.verification.judging import Judge, says_nothing_else
from campaign.verification.small_packs import KINDS, files_of, signing_key
from cases import fast
from confide.campaign import verify
from confide.campaign.pack import CAMPAIGN, EVENTS, NOTE
from confide.campaign.verification.reading import read_folder
from confide.contract import InvalidInput

_EVERY = 97  # of so many edits, one is made in every run of the suite


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Judge:
    return Judge(monkeypatch)


def _excused(files: Files, honest: Files) -> bool:
    """Whether an edited pack that passes says nothing else than its outcome and its campaign file do."""
    (now, then) = ([{key: value for key, value in row.items() if key not in ("day", "hash")}
                    for row in json.loads(each[EVENTS])] for each in (files, honest))
    for row in (*now, *then):
        for digest in ("manifest", "content"):
            row["data"].pop(digest, None)
    return now == then and says_nothing_else(files, honest)


def _fuzz(judge: Judge, kind: str, every: int) -> int:
    honest, made = files_of(kind), 0
    found = judge.verify(honest)
    assert found is not None
    assert found.complete
    for name, files in edits(honest, signing_key(), every):
        made += 1
        assert not judge.passes(files, honest) or _open(judge, files) or _excused(files, honest), name
    return made


def _open(judge: Judge, files: Files) -> bool:
    """Whether the campaign file names a kind that is not installed, and the verification leaves that open."""
    name = tomllib.loads(files[CAMPAIGN].decode())["kind"]
    if name in KINDS:
        return False
    found = judge.verify(files)
    return found is not None and not found.complete and any(
        each.verdict == "not checked" and f"the kind {name!r} is not installed" in each.detail
        for each in found.findings)


@pytest.mark.parametrize("kind", fast(2, KINDS))
def test_some_edits_of_every_kind(kind: str, judge: Judge) -> None:
    assert _fuzz(judge, kind, _EVERY) > 15


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("kind", KINDS)
def test_many_edits_of_every_kind(kind: str, judge: Judge) -> None:
    """Every ninth; `_fuzz(judge, kind, 1)` makes all of them, in half an hour."""
    assert _fuzz(judge, kind, 9) > 110


@pytest.mark.slow
@pytest.mark.parametrize("kind", fast(2, KINDS))
def test_every_claimed_version_of_every_kind(kind: str, judge: Judge) -> None:
    """A picture is broken whatever version is claimed and whatever words are added; other words leave a check open."""
    honest, made = files_of(kind), 0
    for name, words, files in claims(honest, signing_key()):
        made += 1
        found = judge.verify(files)
        assert found is not None
        assert not found.complete, name
        if not words or name.startswith((":", "0.1.0:")):
            assert not found.passed, name
    assert made >= 7


@pytest.mark.parametrize("kind", fast(4, KINDS))
def test_every_class_of_bytes(kind: str, judge: Judge) -> None:
    """Bits that are turned anywhere in any file."""
    honest, coins = files_of(kind), random.Random(kind)
    for path, data in honest.items():
        for _ in range(3):
            place, bit = coins.randrange(len(data)), 1 << coins.randrange(8)
            turned = data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :]
            files = {**honest, path: turned}
            try:
                files = files if path == NOTE else signed(files, signing_key())
            except (ValueError, KeyError):
                continue  # a campaign file or events that nobody can read, and so nobody can sign
            assert not judge.passes(files, honest) or _open(judge, files) or _excused(files, honest), (
                path, place, bit)


def _zip(files: Files) -> bytes:
    """As the service hands it out."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return data.getvalue()


@pytest.mark.slow
def test_every_byte_of_the_headers_of_an_archive(tmp_path: Path) -> None:
    """An archive is refused, or holds the very files: what differs then is no more than a date, a mode or a system."""
    honest, place = files_of("search"), tmp_path / "pack.zip"
    data = _zip(honest)
    place.write_bytes(data)
    assert verify(place).complete
    start = int.from_bytes(data[-6:-2], "little")
    headers = [each for each in range(len(data)) if each >= start]
    with zipfile.ZipFile(place) as archive:
        for entry in archive.infolist():
            headers += range(entry.header_offset, entry.header_offset + 30 + len(entry.filename) + 3)
    free = set()
    for each in headers:
        place.write_bytes(data[:each] + bytes([data[each] ^ 1]) + data[each + 1 :])
        try:
            found, passed = read_folder(place), verify(place).passed
        except InvalidInput:
            continue
        if passed:
            assert found.files == honest, each
            free.add(each)
    listed, offset = set(), start
    for _ in honest:
        length = int.from_bytes(data[offset + 28 : offset + 30], "little")
        listed |= {offset + field for field in (4, 36, 38, 39, 40, 41)}  # which version made it, and modes
        offset += 46 + length
    assert free <= listed
