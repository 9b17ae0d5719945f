"""A pack is re-checked offline; planted tampering is found and named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from campaign.forging import STRANGER, edit, found, left_open, resign
from campaign.settled import Done
from confide.campaign import verify
from confide.campaign.pack import NOTE
from confide.campaign.signatures import fingerprint
from confide.contract import InvalidInput, digest

CHECKS = ("signature", "files", "billboard", "campaign file", "parameters", "guarantees", "certificate", "events",
          "debit", "meter", "tables", "report", "own share")


@pytest.fixture(scope="module")
def own(settled: Done) -> dict[str, Any]:
    """The file of participant 7."""
    return settled.campaign.own_file("7", settled.settled.folder,
                                     record={"age": "36.3", "sex": "male", "pay": "37.68"})


@pytest.fixture
def name(signer: Ed25519PrivateKey) -> str:
    """The operator's fingerprint."""
    return fingerprint(signer.public_key())


def test_a_pack_is_whole(pack: Path, name: str, own: dict[str, Any]) -> None:
    verification = verify(pack, key=name, own=own)
    assert verification.passed
    assert verification.known_signer
    assert {each.check: each.verdict for each in verification.findings} == dict.fromkeys(CHECKS, "holds")
    assert verification.title == "What do age and sex say about pay?"
    unknown = verify(pack)
    assert unknown.complete
    assert not unknown.known_signer
    assert (unknown.signer, unknown.digest) == (name, verification.digest)
    assert "integrity only" in unknown.findings[0].detail


def test_the_key_is_distinguished_as_people_write_it(pack: Path, name: str) -> None:
    assert verify(pack, key=name.upper().replace("-", " ")).known_signer
    other = verify(pack, key=fingerprint(STRANGER.public_key()))
    assert (other.known_signer, other.signer) == (False, name)
    assert other.findings[0].detail.startswith(f"signed by {name}, not by ")


@pytest.mark.parametrize("key", ["", " ", "-", "0123", "not a key", "0" * 39, "0" * 41, "g" * 40, "٣" * 40, 7])
def test_what_is_no_fingerprint_is_refused(key: Any, pack: Path) -> None:
    with pytest.raises(InvalidInput, match="is not a fingerprint; must be five groups of eight") as caught:
        verify(pack, key=key)
    assert caught.value.field == "key"


def test_a_changed_byte_of_any_file_is_found_and_named(pack: Path) -> None:
    for path in sorted(each for each in pack.rglob("*") if each.is_file() and each.name != NOTE):
        name, data = path.relative_to(pack).as_posix(), path.read_bytes()
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        assert found(pack)["files"] == f"{name} was altered"
        path.unlink()
        assert found(pack)["files"] == f"pack: {name} is missing"
        path.write_bytes(data)
    assert verify(pack).complete


def test_a_changed_statement_is_not_what_was_signed(pack: Path, name: str) -> None:
    edit(pack / NOTE, lambda note: note.update(title="another title"))
    verification = verify(pack, key=name)
    assert not verification.passed
    assert (verification.signer, verification.digest, verification.known_signer) == ("", "", False)
    assert verification.findings[0].verdict == "broken"


def test_a_stranger_can_sign_but_not_as_the_operator(pack: Path, name: str) -> None:
    before = verify(pack).digest
    resign(pack, STRANGER)
    assert verify(pack).complete  # whole, by whoever made it: that is all that is claimed
    assert verify(pack).digest != before
    assert set(found(pack, key=name)) == {"signature"}


def test_what_cannot_be_read_leaves_the_checks_that_need_it_open(pack: Path, signer: Ed25519PrivateKey) -> None:
    (pack / "campaign.toml").write_text("format = 1\n")
    resign(pack, signer)
    assert set(found(pack)) == {"campaign file"}
    assert set(left_open(pack)) == {"parameters", "debit", "meter", "tables", "report"}
    (pack / "manifest.json").write_text("{}")
    resign(pack, signer)
    assert set(found(pack)) == {"billboard", "campaign file", "events"}
    assert set(left_open(pack)) == {"parameters", "guarantees", "certificate", "debit", "meter", "tables", "report"}


def test_an_own_file_is_held_against_the_billboard(pack: Path, own: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(json.dumps(own))
    assert verify(pack, own=tmp_path / "mine.json").complete
    richer = {**own, "share": {"payment": own["share"]["payment"] + 1}}
    assert f"not payment {own['share']['payment'] + 1}" in found(pack, own=richer)["own share"]
    assert set(found(pack, own={**own, "index": 8})) == {"own share"}
    assert found(pack, own={**own, "content": "0" * 64}) == {"own share": "the file belongs to another campaign"}
    assert "must give" in found(pack, own={**own, "record": {"age": "36.3"}})["own share"]
    for bad in ({}, {**own, "record": "36.3"}, {**own, "index": "7"}, {**own, "format": 2}):
        with pytest.raises(InvalidInput, match="not a participant's file"):
            verify(pack, own=bad)


@pytest.mark.parametrize("path", ["../outside.txt", "/etc/hostname", "columns/../../outside.txt"])
def test_a_pack_reads_nothing_outside_of_itself(path: str, pack: Path, signer: Ed25519PrivateKey) -> None:
    (pack.parent / "outside.txt").write_text("private")
    note = json.loads((pack / NOTE).read_bytes())
    resign(pack, signer, files={**note["files"], path: digest(b"private")})
    assert found(pack)["files"] == f"pack: {path} is missing"


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"files": 3}', b"\xff", b"[" * 100_000,
                                  b'{"files": {}, "files": {}}'], ids=range(7))
def test_what_is_no_pack_is_refused(text: bytes, pack: Path) -> None:
    (pack / NOTE).write_bytes(text)
    with pytest.raises(InvalidInput, match="pack"):
        verify(pack)


@pytest.mark.parametrize("name", ["manifest.json", "events.json", "campaign.toml", "coefficients.csv", "report.html"])
@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b"null", b'[{"event": 1}]', b"\x00\xff" * 50, b"[" * 100_000],
                         ids=range(7))
def test_hostile_files_are_findings(
    name: str, text: bytes, pack: Path, signer: Ed25519PrivateKey, own: dict[str, Any]
) -> None:
    """Whatever stands in a file that was signed, verification ends and says so."""
    (pack / name).write_bytes(text)
    resign(pack, signer)
    assert not verify(pack, own=own).passed
