"""Verification: a check of the pack of a settled campaign, offline, with this package alone and without anybody's help.

A pack (the folder or .zip of a campaign's signed public files) comes from a stranger, and the operator of the campaign
may lie. The pack is read once into memory, so later changes of the files have no effect. Everything that follows from
public numbers is computed again. If the pack names another version of confide as its writer, the checks also accept
other words and weaker claims. The checks accept no other difference, since the operator could have named any version.
"""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__, {"findings": ("VerificationFinding", "Verdict", "Verification"), "verifier": ("verify",)},
    renamed={"Finding": "VerificationFinding"},
)
