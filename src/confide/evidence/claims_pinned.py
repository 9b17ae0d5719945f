"""Verdicts and figures pinned row by row, so that none drifts in silence: `confide claims --verify` holds evidence
against them, and `confide claims --verify --pin FILE` writes them anew.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from confide.contract.claims import Verdict
from confide.contract.errors import InvalidInput
from confide.contract.words import cause

if TYPE_CHECKING:
    from confide.evidence.claims_verified import Verified

__all__ = ["TOLERANCE", "Pin", "pinned", "pins_toml"]

TOLERANCE = 1e-6
"""How far a figure may be from its pin, as a share of it, and in itself next to 0: machines round differently."""


@dataclass(frozen=True, kw_only=True)
class Pin:
    """What the evidence of one row said when it was pinned.

    Args:
        verdict: of the row.
        claimed: the number that the claim gives.
        found: the number that was found.
        within: how far apart a figure may be from its pin, as a share of it; more than TOLERANCE where it is measured
            in a way that differs from machine to machine.
    """

    verdict: Verdict
    claimed: float
    found: float
    within: float = TOLERANCE

    def keeps(self, claimed: float, found: float) -> bool:
        """Whether figures are those that were pinned; not-a-number is one of its own.

        Example:
            >>> Pin(verdict="holds", claimed=1.0, found=0.5).keeps(1.0, 0.5000001)
            True
            >>> Pin(verdict="holds", claimed=1.0, found=0.5).keeps(1.0, 0.51)
            False
        """
        return _same(self.claimed, claimed, self.within) and _same(self.found, found, self.within)


def _same(one: float, other: float, within: float) -> bool:
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return math.isclose(one, other, rel_tol=within, abs_tol=TOLERANCE)


@cache
def pinned() -> Mapping[str, Pin]:
    """Every pin, by the id of its row; rows of other packages have none.

    Raises:
        InvalidInput: the file is damaged.

    Example:
        >>> pinned()["regression/lemma-6"].verdict
        'false'
    """
    text = Path(__file__).with_name("pinned.toml").read_text(encoding="utf-8")
    try:
        found = {name: Pin(**entry) for name, entry in tomllib.loads(text).items()}
    except (ValueError, TypeError) as error:
        raise InvalidInput("pinned.toml", f"cannot be read: {cause(error)}") from None
    wrong = [name for name, pin in found.items() if pin.verdict not in get_args(Verdict)]
    if wrong:
        raise InvalidInput("pinned.toml", f"{', '.join(wrong)}: no such verdict")
    return found


def pins_toml(found: Sequence[Verified]) -> str:
    """As the file holds them.

    Args:
        found: of all rows of the table. Wider tolerances of rows that are pinned already stay.

    Raises:
        InvalidInput: evidence of a row failed.
    """
    faults = [each.claim.id for each in found if each.fault]
    if faults:
        raise InvalidInput("pin", f"the evidence of {', '.join(faults)} fails", "mend it first")
    old = pinned()
    lines = ["# What the evidence of every claim says: verdict, the number that is claimed, the number that is found.",
             "# `confide claims --verify --pin FILE` writes it; what differs is read before it is committed.",
             "# `within` is set by hand, for figures that depend on the machine."]
    for each in found:
        within = old[each.claim.id].within if each.claim.id in old else TOLERANCE
        wider = f", within = {within!r}" if within != TOLERANCE else ""
        lines.append(f'"{each.claim.id}" = {{ verdict = "{each.verdict}", claimed = {each.claimed:.9g}, '
                     f"found = {each.found:.9g}{wider} }}")
    return "\n".join(lines) + "\n"
