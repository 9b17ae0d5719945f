"""All checks of a pack, in order. If a check needs a part of the pack that could not be read, the finding is "not
checked".
"""

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
from confide.contract.digests import canonical, digest
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
    """Check the pack of a settled campaign, offline, from the files of the pack alone.

    Args:
        pack: the folder of the pack, or a .zip of this folder.
        key: the fingerprint of the operator's key, from the offer: 40 hexadecimal digits in any grouping. If `key` is
            None, a pack that somebody else made and signed passes too. The verification then shows only that the pack
            was not altered after the signature.
        own: the path of a participant's own file (`confide share --write`), or the contents of this file. If `own` is
            None, no share is checked.

    Raises:
        InvalidInput: there is no pack at the path, the pack has too many or too large files, `key` is no fingerprint,
            or `own` is no participant's file.
    """
    return verified(pack, key=key, own=own).findings


@dataclass(frozen=True, kw_only=True)
class Verified:
    """The findings of a verification, together with the verified parts of the pack. The parts were read once, so later
    changes of the files have no effect on them.

    Args:
        findings: the findings of all checks.
        file: the campaign file; None if it could not be read.
        plan: the plan of the campaign file; None if this version cannot make a plan of the file.
        outcome: the public outcome, with the parameters and the billboard; None if it could not be read.
    """

    findings: Verification
    file: CampaignFile | None
    plan: CampaignPlan | None
    outcome: PublicOutcome | None


def verified(
    pack: str | os.PathLike[str], *, key: str | None = None,
    own: Mapping[str, Any] | str | os.PathLike[str] | None = None,
) -> Verified:
    """Verify a pack as `verify` does, and also return the checked parts of the pack."""
    known = None if key is None else signed.as_fingerprint(key)
    mine = _own(own)
    folder = read_folder(as_path("pack", pack))
    checks = _Verifier(folder, _note(folder), known)
    return Verified(findings=checks.verification(mine), file=checks._file, plan=checks._plan, outcome=checks._outcome)


class _Verifier:
    """The parts of a pack, as far as they could be read, and the checks of these parts."""

    def __init__(self, folder: Folder, note: Mapping[str, Any], known: str | None) -> None:
        self.folder, self.note, self.known = folder, note, known
        self.here = Provenance.here("secure")
        self.signer = ""
        self._file: CampaignFile | None = None
        self._plan: CampaignPlan | None = None
        self._outcome: PublicOutcome | None = None
        self._chain: tuple[Entry, ...] | None = None

    def verification(self, mine: Mapping[str, Any] | None) -> Verification:
        """The findings of all checks."""
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
        """The version that wrote the pack, according to the pack, if it is another version than this one."""
        said = self.outcome.provenance.confide
        return None if said == self.here.confide else said

    @property
    def digest(self) -> str:
        """SHA-256 of the signed content, without the bytes of the signature itself."""
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
            raise NotChecked(f"this version refuses the plan, but confide {self.other} may have accepted it: "
                             f"{error}") from None
        return detail

    def billboard(self) -> str:
        self._has_kind()
        self._outcome = PublicOutcome(**public_parts(self.folder.files))
        self._planned(self._outcome)
        return results.billboard(self.folder, self._outcome, self.here)

    def _has_kind(self) -> None:
        """Check that the campaign's kind is installed. If the kind is not installed, the keys and the mechanism of the
        campaign are unknown.
        """
        try:
            name = tomllib.loads(self.folder[CAMPAIGN].decode("utf-8")).get("kind")
        except ValueError:
            return  # what is wrong with the file is found where it is read
        if isinstance(name, str) and name not in kind_names():
            raise NotChecked(f"the kind {name!r} is not installed; install its package and verify again")

    def _planned(self, outcome: PublicOutcome) -> None:
        """Check that the mechanism is the planned one, before it is computed again: another mechanism may have any
        size, and its computation may take any time.
        """
        if self._early is None:
            return
        try:
            promises.parameters(*self._early, outcome, self.other)
        except Broken:
            raise NotChecked("the pack's mechanism differs from the campaign file's plan, so the check computed "
                             "nothing") from None
        except NotChecked:
            pass  # other numbers of another version, which lose no more

    @cached_property
    def _early(self) -> tuple[CampaignFile, CampaignPlan] | None:
        """The campaign file and its plan; None where they cannot be made. If the campaign file or its plan cannot be
        made, another check reports the reason.
        """
        try:
            file = self._parsed()
            return file, file.kind.plan(file.config)
        except (ConfideError, Broken, NotChecked):
            return None

    def _parsed(self) -> CampaignFile:
        return parse(self.folder[CAMPAIGN], self.folder.place / CAMPAIGN, stored=True)

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
    """The statement of a pack, whether its signature is valid or not."""
    place = folder.place / NOTE
    with reading("pack", place):
        note = parse_json(folder[NOTE])
    if not isinstance(note, dict) or not isinstance(note.get("files"), dict):
        raise InvalidInput("pack", f"{place} does not belong to a pack", f"must be the {NOTE} of a settled campaign")
    return note


def _own(own: Mapping[str, Any] | str | os.PathLike[str] | None) -> Mapping[str, Any] | None:
    if own is None:
        return None
    found = own if isinstance(own, Mapping) else read_json("own", as_path("own", own))[0]
    shape = {"format": int, "content": str, "id": str, "index": int, "record": Mapping, "share": Mapping}
    if not isinstance(found, Mapping) or found.get("format") != FORMAT or any(
        not isinstance(found.get(name), of) for name, of in shape.items()
    ):
        raise InvalidInput("own", "is not a participant's file", "must be a file that `confide share --write` wrote")
    return found
