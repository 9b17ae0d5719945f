"""Verification: a settled campaign's pack, re-checked offline, with this package alone and nobody's help.

A pack comes from a stranger, and its operator may lie. It is read once, as bytes that cannot change any more. What
follows from public numbers is computed again; where another version of confide wrote the pack, only other words and
weaker claims are excused, since the operator writes which version that was.
"""

from confide._lazy import doors

__all__, __getattr__, __dir__ = doors(
    __name__, {"findings": ("VerificationFinding", "Verdict", "Verification"), "verifier": ("verify",)},
    renamed={"Finding": "VerificationFinding"},
)
