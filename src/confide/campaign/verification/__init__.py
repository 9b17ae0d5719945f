"""Verification: a settled campaign's pack, re-checked offline, with this package alone and nobody's help.

A pack comes from a stranger, and its operator may lie. It is read once, as bytes that cannot change any more. What
follows from public numbers is computed again; where another version of confide wrote the pack, only other words and
weaker claims are excused, since the operator writes which version that was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.campaign.verification.findings import Verdict, Verification, VerificationFinding
    from confide.campaign.verification.verifier import verify


__all__ = ["Verdict", "Verification", "VerificationFinding", "verify"]

__getattr__, __dir__ = doors(
    __name__, {"findings": ("VerificationFinding", "Verdict", "Verification"), "verifier": ("verify",)},
    renamed={"Finding": "VerificationFinding"},
)
