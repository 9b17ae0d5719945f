"""The findings of a verification: the finding of one check, and the findings of all checks together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from confide.contract.errors import ConfideError, InvalidInput
from confide.contract.files import reading
from confide.contract.words import printable

__all__ = ["Broken", "NotChecked", "Verdict", "Verification", "VerificationFinding", "made"]

_LONGEST = 1000  # letters of a detail: the rest is a stranger's to fill

Verdict = Literal["holds", "broken", "not checked"]


@dataclass(frozen=True, kw_only=True)
class VerificationFinding:
    """The finding of one check.

    Args:
        check: the name of the check.
        verdict: "holds", "broken", or "not checked" if the check was not possible.
        detail: the finding in one line of printable characters.
    """

    check: str
    verdict: Verdict
    detail: str

    def to_dict(self) -> dict[str, str]:
        """The finding as a JSON-ready dictionary."""
        return {"check": self.check, "verdict": self.verdict, "detail": self.detail}


@dataclass(frozen=True, kw_only=True)
class Verification:
    """The findings of all checks of a pack.

    Args:
        title: the campaign's title, as `campaign.json` gives it, in one printable line.
        signer: the fingerprint of the key that signed the pack; empty if the signature is not valid.
        known_signer: whether the key that signed the pack is the key that the caller gave.
        digest: SHA-256 of the signed content; empty if the signature is not valid. Two readers with the same digest
            have the same pack. An operator could sign two packs and show them to different readers.
        findings: the findings, in the order of the checks.
        wrote: the version of confide that the pack names as its writer; empty if the pack names the running version, or
            if the outcome in the pack could not be read.
    """

    title: str
    signer: str
    known_signer: bool
    digest: str
    findings: tuple[VerificationFinding, ...]
    wrote: str = ""

    @property
    def complete(self) -> bool:
        """Whether every check was made and holds. A check that could not be made proves nothing."""
        return all(finding.verdict == "holds" for finding in self.findings)

    @property
    def passed(self) -> bool:
        """Whether no check is broken; some checks may not have been possible."""
        return all(finding.verdict != "broken" for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """All findings as a JSON-ready dictionary."""
        return {"title": self.title, "signer": self.signer, "known_signer": self.known_signer, "digest": self.digest,
                "passed": self.passed, "complete": self.complete,
                "findings": [finding.to_dict() for finding in self.findings]}


class Broken(Exception):
    """A check that does not hold; the message gives the reason."""


class NotChecked(Exception):
    """A check that cannot be made; the message gives the reason."""


def made(check: str, look: Callable[[], str]) -> VerificationFinding:
    """Make one check; any error that a stranger's file causes becomes a finding, not a crash.

    Args:
        check: the name of the check.
        look: the function that makes the check. If the check holds, the function returns a text for `detail`; otherwise
            it raises `Broken` or `NotChecked`. Any other error counts as a fault of the pack.
    """
    verdict: Verdict = "broken"
    try:
        with reading(check, Path(check)):
            try:
                verdict, detail = "holds", look()
            except NotChecked as reason:
                verdict, detail = "not checked", str(reason)
            except (Broken, ConfideError) as reason:
                detail = str(reason)
    except InvalidInput as error:
        detail = error.problem
    return VerificationFinding(check=check, verdict=verdict, detail=printable(detail, _LONGEST))
