"""Verification: checking a settled campaign's pack again, offline, with this package alone and without anybody's help.

A pack comes from a stranger, and its operator may lie. The pack is read once, into bytes that cannot change any more.
Everything that follows from public numbers is computed again. If the pack names another version of confide as its
writer, the checks accept other words and weaker claims, and nothing else, since the operator could have named any
version.
"""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__, {"findings": ("VerificationFinding", "Verdict", "Verification"), "verifier": ("verify",)},
    renamed={"Finding": "VerificationFinding"},
)
