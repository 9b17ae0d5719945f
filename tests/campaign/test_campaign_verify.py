"""A pack is re-checked offline; planted tampering is found and named, the operator's own too."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from campaign.small import write
from confide.campaign import Campaign, Home, Store, settle, verify
from confide.campaign.pack import NOTE
from confide.campaign.signatures import fingerprint, sign
from confide.campaign.store.chain import _hash
from confide.contract import Certificate, InvalidInput, PublicOutcome, canonical, digest
from confide.regression import PrivateTruthfulRegression

STRANGER = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
RECORD = {"age": "36.3", "sex": "male", "pay": "37.68"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Campaign, Path, Home, dict[str, Any]]:
    """A settled campaign, its pack, its operator, and the file of participant 7."""
    folder = tmp_path_factory.mktemp("verify")
    campaign, home = Campaign.load(write(folder)), Home(folder / "home")
    with Store(home.url, home=home) as store:
        pack = settle(campaign, store, folder / "pack").folder
    return campaign, pack, home, campaign.own_file("7", pack, record=RECORD)


@pytest.fixture
def pack(made: tuple[Any, ...], tmp_path: Path) -> Path:
    """A copy to tamper with."""
    shutil.copytree(made[1], tmp_path / "pack")
    return tmp_path / "pack"


def found(pack: Path, **given: Any) -> dict[str, str]:
    """check -> verdict, for all that is not as it should be."""
    return {each.check: each.detail for each in verify(pack, **given).findings if each.verdict != "holds"}


def resign(pack: Path, key: Ed25519PrivateKey, **changes: Any) -> None:
    """Sign the files as they now are, as whoever holds the key could."""
    note = json.loads((pack / NOTE).read_bytes())
    files = {path.relative_to(pack).as_posix(): digest(path.read_bytes())
             for path in pack.rglob("*") if path.is_file() and path.name != NOTE}
    statement = {name: value for name, value in note.items() if name not in ("key", "signature")}
    statement |= {"files": files, "manifest": files["manifest.json"], **changes}
    (pack / NOTE).write_bytes(canonical(sign(statement, key)))


def edit(path: Path, change: Callable[[Any], Any]) -> None:
    document = json.loads(path.read_bytes())
    changed = change(document)
    path.write_bytes(canonical(document if changed is None else changed))


def rechain(pack: Path, change: Callable[[list[dict[str, Any]]], Any] = lambda rows: None) -> None:
    """Change the events, name the manifest as it now is, and compute all hashes anew."""
    rows = json.loads((pack / "events.json").read_bytes())
    change(rows)
    before = ""
    for row in rows:
        if row["event"] == "publish":
            row["data"]["manifest"] = digest((pack / "manifest.json").read_bytes())
        before = row["hash"] = _hash(before, row["event"], row["day"], row["data"])
    (pack / "events.json").write_bytes(canonical(rows))


def test_a_pack_is_whole(made: tuple[Any, ...]) -> None:
    _, pack, home, own = made
    verification = verify(pack, key=home.fingerprint, own=own)
    assert verification.passed
    assert verification.known_signer
    assert {each.check: each.verdict for each in verification.findings} == dict.fromkeys(
        ("signature", "files", "events", "billboard", "campaign file", "guarantees", "parameters", "tables",
         "own share"), "holds")
    unknown = verify(pack)
    assert unknown.passed
    assert not unknown.known_signer
    assert unknown.signer == home.fingerprint
    assert "integrity only" in unknown.findings[0].detail


def test_the_key_is_told_apart_as_people_write_it(made: tuple[Any, ...]) -> None:
    _, pack, home, _ = made
    assert verify(pack, key=home.fingerprint.upper().replace("-", " ")).known_signer
    assert found(pack, key=fingerprint(STRANGER.public_key()))["signature"].startswith("signed by")


def test_a_changed_byte_of_any_file_is_found_and_named(pack: Path) -> None:
    for path in sorted(each for each in pack.rglob("*") if each.is_file() and each.name != NOTE):
        name, data = path.relative_to(pack).as_posix(), path.read_bytes()
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        assert found(pack)["files"] == f"{name} was altered"
        path.unlink()
        assert found(pack)["files"] == f"{name} is missing"
        path.write_bytes(data)
    assert not found(pack)


def test_what_does_not_belong_is_found(pack: Path) -> None:
    (pack / "notes.txt").write_text("paid out 17 euro")
    assert found(pack) == {"files": "notes.txt belong to no pack"}


def test_a_changed_statement_is_not_what_was_signed(pack: Path) -> None:
    edit(pack / NOTE, lambda note: note.update(title="another title"))
    verification = verify(pack)
    assert not verification.passed
    assert verification.signer == ""
    assert verification.findings[0].verdict == "broken"


def test_a_stranger_can_sign_but_not_as_the_operator(pack: Path, made: tuple[Any, ...]) -> None:
    resign(pack, STRANGER)
    assert verify(pack).passed  # whole, by whoever made it: that is all that is claimed
    assert set(found(pack, key=made[2].fingerprint)) == {"signature"}


def test_the_operator_cannot_change_the_table(pack: Path, made: tuple[Any, ...]) -> None:
    table = pack / "coefficients.csv"
    table.write_text(table.read_text().replace(",", ",1", 1))
    resign(pack, made[2].signing_key)
    assert found(pack) == {"tables": "coefficients.csv is not what the billboard says"}


def test_the_operator_cannot_change_the_promises(pack: Path, made: tuple[Any, ...]) -> None:
    edit(pack / "manifest.json", lambda manifest: manifest["guarantees"][0].update(note="no risk at all"))
    rechain(pack)
    resign(pack, made[2].signing_key)
    assert set(found(pack)) == {"guarantees"}


def test_the_operator_cannot_run_another_mechanism(pack: Path, made: tuple[Any, ...]) -> None:
    def weaker(manifest: dict[str, Any]) -> None:
        manifest["mechanism"]["release"]["epsilon"] = 40.0

    edit(pack / "manifest.json", weaker)
    rechain(pack)
    resign(pack, made[2].signing_key)
    broken = found(pack)
    assert broken["parameters"] == "the campaign file plans another mechanism"
    assert broken["guarantees"] == "the promises are not those of these parameters"


def test_the_operator_cannot_swap_the_campaign_file(pack: Path, made: tuple[Any, ...]) -> None:
    file = pack / "campaign.toml"
    file.write_text(file.read_text().replace("epsilon_release = 4.0", "epsilon_release = 3.0"))
    resign(pack, made[2].signing_key)
    assert found(pack) == {"campaign file": "campaign.toml says something else than what was signed"}


@pytest.mark.parametrize(("change", "message"), [
    (lambda rows: rows.pop(3), "cannot run"),
    (lambda rows: rows.insert(3, dict(rows[3])), "cannot charge"),
    (lambda rows: rows.pop(), "the events end with a campaign that is charged"),
    (lambda rows: rows[0]["data"].update(content="0" * 64), "those of another outcome or campaign"),
    (lambda rows: rows.append({"event": "cancel", "day": "2026-01-01", "data": {}}), "cannot cancel"),
    (lambda rows: rows[1].update(event="party"), "ValueError"),
], ids=["no debit", "two debits", "no publication", "another campaign", "cancelled", "unknown"])
def test_events_must_be_a_legal_life(
    change: Callable[[Any], Any], message: str, pack: Path, made: tuple[Any, ...]
) -> None:
    rechain(pack, change)
    resign(pack, made[2].signing_key)
    broken = found(pack)
    assert set(broken) == {"events"}
    assert message in broken["events"]


def test_a_broken_chain_names_the_event(pack: Path, made: tuple[Any, ...]) -> None:
    edit(pack / "events.json", lambda rows: rows[2].update(day="2020-02-02"))
    resign(pack, made[2].signing_key)
    assert found(pack) == {"events": "event 3 does not follow from the one before it"}


def test_an_own_file_is_held_against_the_billboard(made: tuple[Any, ...], tmp_path: Path) -> None:
    _, pack, _, own = made
    (tmp_path / "mine.json").write_text(json.dumps(own))
    assert not found(pack, own=tmp_path / "mine.json")
    richer = {**own, "share": {"payment": own["share"]["payment"] + 1}}
    assert f"not payment {own['share']['payment'] + 1}" in found(pack, own=richer)["own share"]
    assert set(found(pack, own={**own, "index": 8})) == {"own share"}
    assert found(pack, own={**own, "content": "0" * 64}) == {"own share": "the file is of another campaign"}
    assert "must give" in found(pack, own={**own, "record": {"age": "36.3"}})["own share"]
    for bad in ({}, {**own, "record": "36.3"}, {**own, "index": "7"}):
        with pytest.raises(InvalidInput, match="no participant's file"):
            verify(pack, own=bad)


@pytest.mark.parametrize("path", ["../outside.txt", "/etc/hostname", "columns/../../outside.txt"])
def test_a_pack_reads_nothing_outside_of_itself(path: str, pack: Path, made: tuple[Any, ...]) -> None:
    (pack.parent / "outside.txt").write_text("private")
    note = json.loads((pack / NOTE).read_bytes())
    resign(pack, made[2].signing_key, files={**note["files"], path: digest(b"private")})
    assert found(pack)["files"] == f"{path!r} lies outside of the pack"


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"files": 3}', b"\xff", b"[" * 100_000], ids=range(6))
def test_what_is_no_pack_is_refused(text: bytes, pack: Path) -> None:
    (pack / NOTE).write_bytes(text)
    with pytest.raises(InvalidInput, match="pack"):
        verify(pack)


@pytest.mark.parametrize("name", ["manifest.json", "events.json", "campaign.toml", "coefficients.csv"])
@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b"null", b'[{"event": 1}]', b"\x00\xff" * 50, b"[" * 100_000],
                         ids=range(7))
def test_hostile_files_are_findings(name: str, text: bytes, pack: Path, made: tuple[Any, ...]) -> None:
    """Whatever stands in a file that was signed, verification ends and says so."""
    (pack / name).write_bytes(text)
    resign(pack, made[2].signing_key)
    assert not verify(pack, own=made[3]).passed


@dataclass(frozen=True, kw_only=True, eq=False)
class Gap(Certificate):
    """What a mechanism computed from its billboard."""

    gap: float


@pytest.mark.parametrize(("certified", "version", "verdict"), [
    (0.25, None, "holds"), (0.5, None, "broken"), (0.5, "0.0.1", "not checked"),
])
def test_a_certificate_is_computed_again(
    certified: float, version: str | None, verdict: str, pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No kind has one yet: one is put beside a real outcome, as if it had been written with it."""
    load = PublicOutcome.load

    def with_certificate(*given: Any, **more: Any) -> PublicOutcome:
        outcome = load(*given, **more)
        provenance = outcome.provenance if version is None else replace(outcome.provenance, confide=version)
        return replace(outcome, certificate=Gap(gap=certified), provenance=provenance)

    monkeypatch.setattr(PublicOutcome, "load", with_certificate)
    monkeypatch.setattr(PrivateTruthfulRegression, "certify", lambda self, billboard: Gap(gap=0.25))
    said = {each.check: each.verdict for each in verify(pack).findings}
    assert said["certificate"] == verdict
