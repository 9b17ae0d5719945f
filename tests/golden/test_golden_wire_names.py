"""No name under which anything is written changes unseen; and files of an older version of a type are read on."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from golden_files import FOUND, campaign, pack
from sqlalchemy import select
from test_golden_packs import unexpected, unpacked
from wire_names import FILE, declaring, tables, text

from confide import PublicOutcome
from confide.campaign import Store, verify
from confide.campaign.charging import data_set_charge
from confide.campaign.store import schema as s
from confide.campaign.store.ledger import newest_text
from confide.contract import InvalidInput, Privacy, canonical
from confide.contract.guarantees import Guarantee
from confide.contract.upgrades import UPGRADES
from confide.contract.wire import wire_of
from confide.market import BitBillboard, BitCollection
from confide.privacy import PureDP, losses
from confide.privacy.events import Event, PureEvent


def subclasses(kind: type) -> set[type]:
    return {kind}.union(*map(subclasses, kind.__subclasses__()))


def test_every_type_that_is_read_declares_its_names() -> None:
    silent = {f"{table}: {each.__qualname__}" for table, kinds in tables().items() for each in kinds
              if "__wire__" not in vars(each)}
    assert silent == set()


@pytest.mark.parametrize(("base", "table"), [(Event, "events"), (Guarantee, "guarantees")])
def test_every_event_and_every_guarantee_is_in_its_table(base: type, table: str) -> None:
    ours = {each for each in subclasses(base) if each is not base and each.__module__.startswith("confide.")}
    assert ours == set(tables()[table])


def test_every_loss_is_in_its_table() -> None:
    ours = {each for each in vars(losses).values() if isinstance(each, type) and each.__module__ == losses.__name__
            and hasattr(each, "vacuous")}
    assert ours == set(tables()["losses"])


def test_wire_names_stay() -> None:
    """See the head of the file before it is renewed."""
    now, then = tomllib.loads(text()), tomllib.loads(FILE.read_text(encoding="utf-8"))
    for table in then:
        assert now[table] == then[table], table
    assert now.keys() == then.keys(), "`PYTHONPATH=tests python tests/golden/wire_names.py` writes down new tables"


def test_every_older_version_has_its_step() -> None:
    steps = {(it.name, version) for it in map(wire_of, declaring()) for version in range(1, it.version)}
    assert steps == set(UPGRADES)


# ---- versions; none of our types has a second one yet


def raise_version(monkeypatch: pytest.MonkeyPatch, kind: type, old: str, new: str) -> None:
    """Give a type a second version, in which a field is written under another name."""
    it = wire_of(kind)
    fields = {name: new if word == old else word for name, word in it.fields.items()}
    monkeypatch.setattr(kind, "__wire__", it._replace(version=2, fields=fields))
    monkeypatch.setitem(UPGRADES, (it.name, 1), lambda parts: {new if key == old else key: part
                                                               for key, part in parts.items()})


def test_an_older_pack_is_verified(monkeypatch: pytest.MonkeyPatch, kept: Store, tmp_path: Path) -> None:
    """Its mechanism, billboard, promises and events are of the first version; this one has a second of each."""
    name = "pairs_exam"
    raise_version(monkeypatch, BitCollection, "minor_units", "coins")
    raise_version(monkeypatch, BitBillboard, "ones", "yes")
    raise_version(monkeypatch, Privacy, "part", "whose")
    raise_version(monkeypatch, PureDP, "epsilon", "level")
    raise_version(monkeypatch, PureEvent, "epsilon", "level")
    outcome = PublicOutcome.load(unpacked(name, tmp_path / "pack"))
    said = verify(pack(name), key=FOUND["sqlite"]["fingerprint"])
    assert {each.check: each.verdict for each in said.findings}["billboard"] == "holds"
    assert unexpected(name, said, outcome) == {}
    written = outcome.public()[0]
    assert written["mechanism"]["type"] == "BitCollection/2"
    assert written["mechanism"]["coins"] == 100
    assert written["billboard"]["yes"] == json.loads((tmp_path / "pack" / "manifest.json").read_bytes())[
        "billboard"]["ones"]
    losses = [each["loss"] for each in written["guarantees"] if each["guarantee"] == "privacy/2"]
    assert losses
    assert {each["loss"] for each in losses} == {"PureDP/2"}
    (tmp_path / "again").mkdir()
    outcome_again(tmp_path / "again", outcome)
    assert PublicOutcome.load(tmp_path / "again").to_dict() == written
    with kept.database.reading() as connection:
        stored = connection.execute(select(s.debit.c.events).where(
            s.debit.c.campaign_id == kept.settled(campaign(name).file).number)).scalar_one()
    it = campaign(name)
    now = [event.to_dict() for event in data_set_charge(it.file, it.plan).events]
    assert now[0]["event"] == "PureEvent/2"
    assert newest_text(stored) == canonical(now).decode() != stored


def outcome_again(folder: Path, outcome: PublicOutcome) -> None:
    """Its public files, as this version writes them."""
    manifest, columns = outcome.public()
    (folder / "columns").mkdir()
    (folder / "manifest.json").write_bytes(canonical(manifest))
    for name, data in columns.items():
        (folder / "columns" / f"{name}.arrow").write_bytes(data)


@pytest.mark.parametrize("part", ["mechanism", "billboard"])
def test_a_pack_of_a_newer_version_is_refused(part: str, tmp_path: Path) -> None:
    folder = unpacked("pairs_exam", tmp_path / "pack")
    manifest: Any = json.loads((folder / "manifest.json").read_bytes())
    name = manifest[part]["type"]
    manifest[part]["type"] = f"{name}/3"
    (folder / "manifest.json").write_bytes(canonical(manifest))
    with pytest.raises(InvalidInput, match=rf"{name}' was written in version 3, by a newer confide; "
                                           r".* knows versions up to 1"):
        PublicOutcome.load(folder)
    said = {each.check: each for each in verify(folder).findings}
    assert said["billboard"].verdict == "broken"
    assert "by a newer confide" in said["billboard"].detail


@pytest.mark.parametrize(("file", "place", "check"), [
    ("manifest.json", ("guarantees", 0, "guarantee"), "guarantees"),
    ("events.json", (3, "data", "events", 0, "event"), "debit"),
])
def test_promises_and_charges_of_a_newer_version_are_reported(
    file: str, place: tuple[Any, ...], check: str, tmp_path: Path
) -> None:
    folder = unpacked("pairs_exam", tmp_path / "pack")
    document = held = json.loads((folder / file).read_bytes())
    for key in place[:-1]:
        held = held[key]
    held[place[-1]] += "/2"
    (folder / file).write_bytes(canonical(document))
    said = {each.check: each for each in verify(folder).findings}
    assert said[check].verdict == "broken"
    assert "was written in version 2, by a newer confide" in said[check].detail
