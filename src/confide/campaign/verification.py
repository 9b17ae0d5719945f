"""Verification: a settled campaign's pack, re-checked offline, with this package alone and nobody's help.

What is checked: that the files are those which the operator signed, that the chain of events is whole and legal, that
the parameters are what the campaign file plans, that the promises and the published tables follow from parameters and
billboard, and, for a participant who brings her own file, that her share is what the billboard says.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from confide.campaign.file import CampaignFile
from confide.campaign.file import load as load_file
from confide.campaign.folder import as_csv
from confide.campaign.pack import EVENTS, NOTE
from confide.campaign.signatures import signed_by
from confide.campaign.states import Event, State, advance
from confide.campaign.store.chain import Entry, broken
from confide.contract.encoding import canonical, digest, encode
from confide.contract.errors import ConfideError, InvalidInput, Refused
from confide.contract.files import as_path, read_bytes, read_json, reading
from confide.contract.kinds import Plan
from confide.contract.outcome import Provenance, PublicOutcome

__all__ = ["Finding", "Verification", "verify"]

_LARGEST = 1 << 32

Verdict = Literal["holds", "broken", "not checked"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One check.

    Args:
        check: what was looked at.
        verdict: whether it holds.
        detail: what was found.
    """

    check: str
    verdict: Verdict
    detail: str

    def to_dict(self) -> dict[str, str]:
        """A JSON-ready dictionary."""
        return {"check": self.check, "verdict": self.verdict, "detail": self.detail}


@dataclass(frozen=True, kw_only=True)
class Verification:
    """All checks of a pack.

    Args:
        title: the campaign's title, as signed.
        signer: fingerprint of the key that signed; empty where the signature is broken.
        known_signer: whether that is the key which the caller knew before.
        findings: in the order of checking.
    """

    title: str
    signer: str
    known_signer: bool
    findings: tuple[Finding, ...]

    @property
    def complete(self) -> bool:
        """Whether every check was made and holds. What could not be checked is not shown to be right."""
        return all(finding.verdict == "holds" for finding in self.findings)

    @property
    def passed(self) -> bool:
        """Whether nothing is broken."""
        return all(finding.verdict != "broken" for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready dictionary."""
        return {"title": self.title, "signer": self.signer, "known_signer": self.known_signer, "passed": self.passed,
                "complete": self.complete,
                "findings": [finding.to_dict() for finding in self.findings]}


def verify(
    pack: str | os.PathLike[str], *, key: str | None = None,
    own: Mapping[str, Any] | str | os.PathLike[str] | None = None,
) -> Verification:
    """Re-check a pack.

    Args:
        pack: its folder.
        key: fingerprint of the operator's key, as the offer gave it. Without it a pack that somebody else made and
            signed passes too: only that it is whole is shown.
        own: a participant's own file (`confide share --write`), or its contents.

    Raises:
        InvalidInput: no pack there, or an own file that is none.
    """
    folder = as_path("pack", pack)
    note, _ = read_json("pack", folder / NOTE)
    if not isinstance(note, dict) or not isinstance(note.get("files"), dict):
        raise InvalidInput("pack", f"{folder / NOTE} is no pack's", f"must be the {NOTE} of a settled campaign")
    mine = _own(own)
    findings = _Findings()
    signer = findings.signature(note, key)
    findings.run("files", lambda: _files(folder, note))
    findings.run("events", lambda: _events(folder, note))
    outcome: PublicOutcome | None = None
    try:
        outcome = PublicOutcome.load(folder, sha256=str(note.get("manifest")))
        kinds = (type(outcome.billboard).__name__, type(outcome.mechanism).__name__)
        findings.add("billboard", "holds", f"a {kinds[0]} of {kinds[1]}")
    except ConfideError as error:
        findings.add("billboard", "broken", str(error))
    file, plan = findings.campaign(folder, note)
    if outcome is not None:
        known = outcome
        findings.run("guarantees", lambda: _guarantees(folder, known))
        if known.certificate is not None:
            findings.run("certificate", lambda: _certificate(known))
        if file is not None and plan is not None:
            planned, text = plan, file
            findings.run("parameters", lambda: _parameters(planned, known))
            findings.run("tables", lambda: _tables(folder, text, planned, known))
            if mine is not None:
                findings.run("own share", lambda: _share(text, planned, known, mine))
    if mine is not None and all(finding.check != "own share" for finding in findings.found):
        findings.add("own share", "not checked", "the campaign or its billboard could not be read")
    return Verification(title=str(note.get("title", "")), signer=signer or "", known_signer=key is not None and
                        _plain_key(key) == _plain_key(signer or ""), findings=tuple(findings.found))


class _Broken(Exception):
    """A check that does not hold; the message says why."""


class _NotChecked(Exception):
    """A check that cannot be made here; the message says why."""


class _Findings:
    def __init__(self) -> None:
        self.found: list[Finding] = []

    def add(self, check: str, verdict: Verdict, detail: str) -> None:
        self.found.append(Finding(check=check, verdict=verdict, detail=detail))

    def run(self, check: str, look: Callable[[], str]) -> None:
        """Make one check; whatever a stranger's file breaks is a finding, not a crash."""
        try:
            with reading(check, Path(check)):
                try:
                    self.add(check, "holds", look())
                except _NotChecked as reason:
                    self.add(check, "not checked", str(reason))
                except _Broken as reason:
                    self.add(check, "broken", str(reason))
        except InvalidInput as error:
            self.add(check, "broken", str(error))

    def signature(self, note: Mapping[str, Any], key: str | None) -> str | None:
        signer = signed_by(note)
        if signer is None:
            self.add("signature", "broken", f"{NOTE} was not signed as it stands")
        elif key is None:
            self.add("signature", "holds", f"signed by {signer}; integrity only: compare it with your offer's")
        elif _plain_key(key) != _plain_key(signer):
            self.add("signature", "broken", f"signed by {signer}, not by {key}")
        else:
            self.add("signature", "holds", f"signed by {signer}, the key that you know")
        return signer

    def campaign(self, folder: Path, note: Mapping[str, Any]) -> tuple[CampaignFile | None, Plan | None]:
        """The campaign file of the pack and its plan."""
        try:
            file = load_file(folder / "campaign.toml")
        except ConfideError as error:
            self.add("campaign file", "broken", str(error))
            return None, None
        if file.digest != note.get("content"):
            self.add("campaign file", "broken", "campaign.toml says something else than what was signed")
            return None, None
        try:
            plan = file.kind.plan(file.config)
        except ConfideError as error:
            self.add("campaign file", "not checked", f"this version plans it no more: {error}")
            return file, None
        self.add("campaign file", "holds", f"campaign.toml is {file.title!r}")
        return file, plan


def _plain_key(text: str) -> str:
    return text.replace("-", "").replace(" ", "").lower()


def _files(folder: Path, note: Mapping[str, Any]) -> str:
    listed = note["files"]
    for path, known in listed.items():
        place = folder / path
        if Path(path).is_absolute() or ".." in Path(path).parts:
            raise _Broken(f"{path!r} lies outside of the pack")
        if not place.is_file():
            raise _Broken(f"{path} is missing")
        if digest(read_bytes("pack", place, _LARGEST)) != known:
            raise _Broken(f"{path} was altered")
    if listed.get("manifest.json") != note.get("manifest"):
        raise _Broken("the manifest is not the one that was signed")
    there = {place.relative_to(folder).as_posix() for place in folder.rglob("*") if place.is_file()}
    more = sorted(there - set(listed) - {NOTE})
    if more:
        raise _Broken(f"{', '.join(more[:5])}{', ...' * (len(more) > 5)} belong to no pack")
    return f"all {len(listed)} files are those that were signed"


def _events(folder: Path, note: Mapping[str, Any]) -> str:
    rows, _ = read_json("pack", folder / EVENTS)
    chain = [Entry(event=row["event"], day=row["day"], data=row["data"], hash=row["hash"]) for row in rows]
    position = broken(chain)
    if position is not None:
        raise _Broken(f"event {position + 1} does not follow from the one before it")
    state = State.DRAFT
    try:
        for entry in chain:
            if entry.event == Event.PUBLISH:
                state = advance(state, Event.RUN)  # a run leaves nothing until it is published
            state = advance(state, Event(entry.event))
    except Refused as error:
        raise _Broken(str(error)) from None
    if state is not State.SETTLED:
        raise _Broken(f"the events end with a campaign that is {state.value}")
    if chain[-1].data.get("manifest") != note.get("manifest") or chain[0].data.get("content") != note.get("content"):
        raise _Broken("the events are those of another outcome or campaign")
    charges = [entry for entry in chain if entry.event == Event.CHARGE]
    return f"{len(chain)} events, {len(charges)} debit, published on {chain[-1].day}"


def _guarantees(folder: Path, outcome: PublicOutcome) -> str:
    manifest, _ = read_json("pack", folder / "manifest.json")
    now = [encode(promise, {}) for promise in outcome.guarantees.to_dict()]
    _compare(outcome, now, manifest["guarantees"], "written", "state them",
             "the promises are not those of these parameters")
    return f"all {len(now)} promises follow from the parameters"


def _certificate(outcome: PublicOutcome) -> str:
    found = outcome.mechanism.certify(outcome.billboard)
    _compare(outcome, encode(found, {}), encode(outcome.certificate, {}), "computed", "round",
             "the certificate is not what the billboard says")
    return f"the {type(found).__name__} follows from the billboard"


def _parameters(plan: Plan, outcome: PublicOutcome) -> str:
    _compare(outcome, encode(plan.mechanism, {}), encode(outcome.mechanism, {}), "planned", "calibrate",
             "the campaign file plans another mechanism")
    return "the campaign file plans exactly this mechanism"


def _compare(outcome: PublicOutcome, now: Any, then: Any, done: str, does: str, different: str) -> None:
    """Hold what this version computes against what the outcome's version has written."""
    if canonical(now) == canonical(then):
        return
    version = outcome.provenance.confide
    if version != Provenance.here("secure").confide:
        raise _NotChecked(f"{done} by confide {version}, which may {does} otherwise")
    raise _Broken(different)


def _tables(folder: Path, file: CampaignFile, plan: Plan, outcome: PublicOutcome) -> str:
    tables = file.kind.tables(plan, outcome)  # type: ignore[arg-type]  # the public part is all that tables take
    for name, table in tables.items():
        if read_bytes("pack", folder / f"{name}.csv", _LARGEST) != as_csv(table).encode():
            raise _Broken(f"{name}.csv is not what the billboard says")
    return f"what the billboard says: {', '.join(f'{name}.csv' for name in tables)}"


def _share(file: CampaignFile, plan: Plan, outcome: PublicOutcome, mine: Mapping[str, Any]) -> str:
    if mine["content"] != file.digest:
        raise _Broken("the file is of another campaign")
    record, index = file.kind.parse_record(file.config, plan, str(mine["id"]), mine["record"])
    found = dict(outcome.mechanism.decode(record, index, outcome.billboard))
    if canonical(encode(found, {})) != canonical(encode(dict(mine["share"]), {})) or index != mine["index"]:
        raise _Broken(f"the billboard gives {_shown(found)}, not {_shown(mine['share'])}")
    return f"{_shown(found)}, as the billboard says"


def _shown(share: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in share.items())


def _own(own: Mapping[str, Any] | str | os.PathLike[str] | None) -> Mapping[str, Any] | None:
    if own is None:
        return None
    found = own if isinstance(own, Mapping) else read_json("own", as_path("own", own))[0]
    shape = {"format": int, "content": str, "id": str, "index": int, "record": dict, "share": dict}
    if not isinstance(found, Mapping) or any(not isinstance(found.get(name), of) for name, of in shape.items()):
        raise InvalidInput("own", "is no participant's file", "must be what `confide share --write` wrote")
    return found
