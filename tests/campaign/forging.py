"""What the operator, who holds the key, can do to a pack: change files, compute all hashes anew, and sign."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from confide.campaign import Campaign, Store, verify
from confide.campaign.charging import data_set_charge
from confide.campaign.file import CampaignFile, parse
from confide.campaign.kinds.regression import RegressionKind
from confide.campaign.pack import NOTE, PICTURES, REPORT, picture_data, report, table_files
from confide.campaign.report import head, placed
from confide.campaign.signatures import sign
from confide.campaign.store.chain import _hash
from confide.campaign.verification import results
from confide.charts import to_svg
from confide.contract import PublicOutcome, canonical, digest

STRANGER = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))

_shown: dict[tuple[str, bytes], Any] = {}
_plans: dict[str, Any] = {}
_sections, _plan = results.sections, RegressionKind.plan


def quick(patch: pytest.MonkeyPatch) -> None:
    """Plan a campaign once, and say what its page shows once: most of a verification's time."""

    def planned(self: RegressionKind, config: Any) -> Any:
        key = config.model_dump_json()
        if key not in _plans:
            _plans[key] = _plan(self, config)
        return _plans[key]

    def once(file: Any, plan: Any, outcome: Any) -> Any:
        key = (file.digest, canonical(outcome.to_dict()))  # all that is public: forged outcomes have pages of their own
        if key not in _shown:
            _shown[key] = _sections(file, plan, outcome)
        return _shown[key]

    patch.setattr(results, "sections", once)
    patch.setattr(RegressionKind, "plan", planned)


def found(pack: Path, **given: Any) -> dict[str, str]:
    """check -> detail, of all that is broken."""
    return {each.check: each.detail for each in verify(pack, **given).findings if each.verdict == "broken"}


def left_open(pack: Path, **given: Any) -> dict[str, str]:
    """check -> detail, of all that could not be checked."""
    return {each.check: each.detail for each in verify(pack, **given).findings if each.verdict == "not checked"}


def edited(text: str, edits: Sequence[tuple[str, str]]) -> str:
    """A file with some of its words replaced, each once."""
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


def words(parts: Any) -> str:
    """All that sections say."""
    return str([section.to_dict() for section in parts])


class Forger:
    """A settled campaign whose pack can be copied and changed.

    Args:
        campaign: not settled yet.
        folder: for the pack and its forgeries.
    """

    def __init__(self, campaign: Campaign, folder: Path) -> None:
        self._folder = folder
        with Store() as store:
            campaign.settle(folder / "out", store=store)
            self.key = store.home.signing_key

    def broken(self, change: Callable[[Path], Any]) -> set[str]:
        """The checks that a changed copy of the pack breaks."""
        pack = self._folder / "forged"
        shutil.rmtree(pack, ignore_errors=True)
        shutil.copytree(self._folder / "out", pack)
        change(pack)
        return set(found(pack))


def edit(path: Path, change: Callable[[Any], Any]) -> None:
    """Change a JSON document, in place or by what the change returns."""
    document = json.loads(path.read_bytes())
    changed = change(document)
    path.write_bytes(canonical(document if changed is None else changed))


def campaign_file(pack: Path) -> CampaignFile:
    """The campaign file of a pack, read as a verification reads it."""
    return parse((pack / "campaign.toml").read_bytes(), pack / "campaign.toml", stored=True)


def rechain(pack: Path, change: Callable[[list[dict[str, Any]]], Any] = lambda rows: None) -> None:
    """Change the events, name manifest and campaign file as they now are, and compute all hashes anew."""
    rows = json.loads((pack / "events.json").read_bytes())
    now = {"publish": ("manifest", digest((pack / "manifest.json").read_bytes())),
           "plan": ("content", campaign_file(pack).digest)}
    for row in rows:
        if row["event"] in now:
            row["data"].update([now[row["event"]]])
    change(rows)
    before = ""
    for row in rows:
        before = row["hash"] = _hash(before, row["event"], row["day"], row["data"])
    (pack / "events.json").write_bytes(canonical(rows))


def resign(pack: Path, key: Ed25519PrivateKey, **changes: Any) -> None:
    """Sign the files as they now are."""
    note = json.loads((pack / NOTE).read_bytes())
    files = {path.relative_to(pack).as_posix(): digest(path.read_bytes())
             for path in pack.rglob("*") if path.is_file() and path.name != NOTE}
    statement = {name: value for name, value in note.items() if name not in ("key", "signature")}
    statement |= {"files": files, "manifest": files["manifest.json"], **changes}
    (pack / NOTE).write_bytes(canonical(sign(statement, key)))


def forge(pack: Path, key: Ed25519PrivateKey, manifest: Callable[[Any], Any] = lambda manifest: None, *,
          version: str | None = None) -> None:
    """Change the manifest, perhaps under the name of another version, and make all else fit."""
    edit(pack / "manifest.json", manifest)
    if version is not None:
        edit(pack / "manifest.json", lambda document: document["provenance"].update(confide=version))
    rechain(pack)
    resign(pack, key)


def drawn_by_first(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A specification as confide 0.1.0 wrote it: the axes as the drawing software has them, and no room around."""
    plain = copy.deepcopy({key: value for key, value in spec.items() if key != "padding"})
    for layer in plain["layer"]:
        for channel in layer["encoding"].values():
            channel.pop("axis", None)
    return plain


def as_first(pack: Path, key: Ed25519PrivateKey) -> None:
    """A pack as confide 0.1.0 wrote it: without a meter, without a policy, and without the data of its pictures."""
    page, title = pack / REPORT, campaign_file(pack).title
    text = page.read_text().replace(head(title), head(title, policy=False))
    for each, there in zip(json.loads((pack / PICTURES).read_text()), placed(text), strict=True):
        if there.drawing is not None:
            text = text.replace(there.drawing, to_svg(drawn_by_first(each["vega_lite"])) or "")
    page.write_text(text)
    (pack / PICTURES).unlink()
    forge(pack, key, lambda manifest: manifest.pop("meter") and None, version="0.1.0")


def remake(pack: Path, key: Ed25519PrivateKey, change: Callable[[PublicOutcome], PublicOutcome], *,
           version: str | None = None) -> None:
    """Publish another outcome of the campaign file as it now is: promises, debit, tables and page are what follows."""
    file = campaign_file(pack)
    plan, outcome = file.kind.plan(file.config), change(PublicOutcome.load(pack))
    if version is not None:
        outcome = replace(outcome, provenance=replace(outcome.provenance, confide=version))
    manifest, columns = outcome.public()
    shutil.rmtree(pack / "columns")
    (pack / "columns").mkdir()
    for name, data in columns.items():
        (pack / "columns" / f"{name}.arrow").write_bytes(data)
    (pack / "manifest.json").write_bytes(canonical(manifest))
    for path, text in table_files(file.kind.tables(plan, outcome)).items():
        (pack / path).write_text(text)
    shown = results.sections(file, plan, outcome)
    page = report(file, shown)
    (pack / PICTURES).write_bytes(picture_data(shown, page))
    (pack / REPORT).write_text(page)
    asked = data_set_charge(file, outcome)

    def charged(rows: list[dict[str, Any]]) -> None:
        rows[3]["data"] = {"data_set": asked.account.name, "delta": repr(asked.delta),
                           "events": [event.to_dict() for event in asked.events]}

    rechain(pack, charged)
    resign(pack, key, content=file.digest, title=file.title)
