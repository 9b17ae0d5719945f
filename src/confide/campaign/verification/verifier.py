"""All checks of a pack, in order. A check without the parts that it needs counts as not made."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from confide.campaign.file import CampaignFile, parse
from confide.campaign.pack import CAMPAIGN, EVENTS, MANIFEST, NOTE
from confide.campaign.store.chain import Entry
from confide.campaign.verification import promises, results, signed
from confide.campaign.verification.findings import Broken, NotChecked, Verification, VerificationFinding, made
from confide.campaign.verification.reading import Folder, json_of, read_folder
from confide.contract.encoding import canonical, digest
from confide.contract.errors import ConfideError, InvalidInput
from confide.contract.files import as_path, parse_json, read_json, reading
from confide.contract.kinds import CampaignPlan, kind_names
from confide.contract.outcome import FORMAT, Provenance, PublicOutcome
from confide.contract.outcome_folder import public_parts
from confide.contract.words import printable

__all__ = ["Verified", "verified", "verify"]

T = TypeVar("T")

_LONGEST = 300  # letters of a title


def verify(
    pack: str | os.PathLike[str], *, key: str | None = None,
    own: Mapping[str, Any] | str | os.PathLike[str] | None = None,
) -> Verification:
    """Re-check a pack.

    Args:
        pack: the folder that holds it, or a .zip of that.
        key: fingerprint of the operator's key, as the offer gave it: 40 hexadecimal digits, however grouped. Without it
            a pack that somebody else made and signed passes too: only that it is whole is shown.
        own: a participant's own file (`confide share --write`), or its contents.

    Raises:
        InvalidInput: no pack there, one with too many or too large files, a key that is no fingerprint, or an own file
            that is none.
    """
    return verified(pack, key=key, own=own).findings


@dataclass(frozen=True, kw_only=True)
class Verified:
    """The findings, and the very parts that they are about: bytes that were read once, and cannot change any more.

    Args:
        findings: the findings of all checks.
        file: the campaign file; None where it could not be read.
        plan: the plan of the file; None where it could not be planned.
        outcome: the billboard with its parameters; None where it could not be read.
    """

    findings: Verification
    file: CampaignFile | None
    plan: CampaignPlan | None
    outcome: PublicOutcome | None


def verified(
    pack: str | os.PathLike[str], *, key: str | None = None,
    own: Mapping[str, Any] | str | os.PathLike[str] | None = None,
) -> Verified:
    """Verify as `verify` does, and keep the parts that were checked, for whoever goes on with them."""
    known = None if key is None else signed.as_fingerprint(key)
    mine = _own(own)
    folder = read_folder(as_path("pack", pack))
    checks = _Verifier(folder, _note(folder), known)
    return Verified(findings=checks.verification(mine), file=checks._file, plan=checks._plan, outcome=checks._outcome)


class _Verifier:
    """The parts of a pack, as far as they could be read, and the checks of them."""

    def __init__(self, folder: Folder, note: Mapping[str, Any], known: str | None) -> None:
        self.folder, self.note, self.known = folder, note, known
        self.here = Provenance.here("secure")
        self.signer = ""
        self._file: CampaignFile | None = None
        self._plan: CampaignPlan | None = None
        self._outcome: PublicOutcome | None = None
        self._chain: tuple[Entry, ...] | None = None

    def verification(self, mine: Mapping[str, Any] | None) -> Verification:
        """All findings."""
        checks: dict[str, Callable[[], str]] = {
            "signature": self.signature,
            "files": lambda: signed.files(self.folder, self.note),
            "billboard": self.billboard,
            "campaign file": self.campaign_file,
            "parameters": lambda: promises.parameters(self.file, self.plan, self.outcome, self.other),
            "guarantees": self.guarantees,
            "certificate": lambda: promises.certificate(self.outcome, self.other),
            "events": self.events,
            "debit": lambda: promises.debit(self.file, self.outcome, signed.charge_of(self.chain), self.other),
            "meter": lambda: promises.meter(self.file, self.outcome, self.other),
            "tables": lambda: results.result_tables(self.folder, self.file, self.plan, self.outcome, self.other,
                                                    self.here),
            "report": lambda: results.report_page(self.folder, self.file, self.plan, self.outcome, self.other),
        }
        if mine is not None:
            own = mine
            checks["own share"] = lambda: results.own_share(self.file, self.plan, self.outcome, own, self.signer)
        title = self.note.get("title")
        findings: tuple[VerificationFinding, ...] = tuple(made(check, look) for check, look in checks.items())
        return Verification(
            title=printable(title, _LONGEST) if isinstance(title, str) else "", signer=self.signer,
            known_signer=bool(self.signer) and self.signer == self.known, digest=self.digest, findings=findings,
            wrote="" if self._outcome is None else self.other or "")

    # ---- the parts

    @property
    def file(self) -> CampaignFile:
        return _had(self._file, "the campaign file could not be read")

    @property
    def plan(self) -> CampaignPlan:
        return _had(self._plan, "the campaign file could not be planned")

    @property
    def outcome(self) -> PublicOutcome:
        return _had(self._outcome, "the billboard cannot be read")

    @property
    def chain(self) -> tuple[Entry, ...]:
        return _had(self._chain, "the events cannot be read")

    @property
    def other(self) -> str | None:
        """The version that wrote the pack, as it says itself, where it is another one than this."""
        said = self.outcome.provenance.confide
        return None if said == self.here.confide else said

    @property
    def digest(self) -> str:
        """Of what was signed, whatever the signature's own bytes are."""
        if not self.signer:
            return ""
        return digest(canonical({name: value for name, value in self.note.items() if name != "signature"}))

    # ---- the checks that read parts

    def signature(self) -> str:
        self.signer = signed.signer_of(self.folder, self.note)
        return signed.signature(self.signer, self.known)

    def campaign_file(self) -> str:
        self._has_kind()
        early = self._early
        file = self._parsed() if early is None else early[0]
        detail = signed.campaign_file(file, self.note)
        self._file = file
        try:
            self._plan = file.kind.plan(file.config) if early is None else early[1]
        except ConfideError as error:
            if self._outcome is None or self.other is None:
                raise
            raise NotChecked(f"this version does not plan it, as confide {self.other} may have: {error}") from None
        return detail

    def billboard(self) -> str:
        self._has_kind()
        self._outcome = PublicOutcome(**public_parts(self.folder.files))
        self._planned(self._outcome)
        return results.billboard(self.folder, self._outcome, self.here)

    def _has_kind(self) -> None:
        """Nothing is known of a kind that is not installed here: neither its keys nor its mechanism."""
        try:
            name = tomllib.loads(self.folder[CAMPAIGN].decode("utf-8")).get("kind")
        except ValueError:
            return  # what is wrong with the file is found where it is read
        if isinstance(name, str) and name not in kind_names():
            raise NotChecked(f"the kind {name!r} is not installed here; install its package and verify again")

    def _planned(self, outcome: PublicOutcome) -> None:
        """Another mechanism than the one that is planned is not computed again: its sizes are a stranger's, and so is
        the time that they take.
        """
        if self._early is None:
            return
        try:
            promises.parameters(*self._early, outcome, self.other)
        except Broken:
            raise NotChecked("its mechanism differs from the campaign file's plan, and is not computed again") from None
        except NotChecked:
            pass  # other numbers of another version, which lose no more

    @cached_property
    def _early(self) -> tuple[CampaignFile, CampaignPlan] | None:
        """The campaign file and its plan; None where there is none. What is wrong with it is another check's."""
        try:
            file = self._parsed()
            return file, file.kind.plan(file.config)
        except (ConfideError, Broken, NotChecked):
            return None

    def _parsed(self) -> CampaignFile:
        return parse(self.folder[CAMPAIGN], self.folder.place / CAMPAIGN)

    def guarantees(self) -> str:
        return promises.guarantees(self.outcome, json_of(self.folder[MANIFEST])["guarantees"], self.other)

    def events(self) -> str:
        self._chain = signed.chain_of(json_of(self.folder[EVENTS]))
        return signed.events(self._chain, self.note)


def _had(part: T | None, otherwise: str) -> T:
    if part is None:
        raise NotChecked(otherwise)
    return part


def _note(folder: Folder) -> Mapping[str, Any]:
    """The statement, whether signed or not."""
    place = folder.place / NOTE
    with reading("pack", place):
        note = parse_json(folder[NOTE])
    if not isinstance(note, dict) or not isinstance(note.get("files"), dict):
        raise InvalidInput("pack", f"{place} is no pack's", f"must be the {NOTE} of a settled campaign")
    return note


def _own(own: Mapping[str, Any] | str | os.PathLike[str] | None) -> Mapping[str, Any] | None:
    if own is None:
        return None
    found = own if isinstance(own, Mapping) else read_json("own", as_path("own", own))[0]
    shape = {"format": int, "content": str, "id": str, "index": int, "record": Mapping, "share": Mapping}
    if not isinstance(found, Mapping) or found.get("format") != FORMAT or any(
        not isinstance(found.get(name), of) for name, of in shape.items()
    ):
        raise InvalidInput("own", "is no participant's file", "must be a file that `confide share --write` wrote")
    return found
