"""The verdicts and figures, recomputed: what the evidence for each claim says today, beside what its row pins, so that
none drifts in silence. Evidence that fails is a fault of its row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Literal

from confide.contract.errors import InvalidInput
from confide.contract.progress import advance
from confide.evidence.claim import TOLERANCE, Claim, Pin, Verdict
from confide.evidence.claims_table import claims

if TYPE_CHECKING:
    from confide.contract.kinds import Progress

__all__ = ["Verified", "pinned", "pins_toml", "verify_claims"]


@dataclass(frozen=True, kw_only=True)
class Verified:
    """The result of the evidence for one claim.

    Args:
        claim: the row.
        recomputed: False where stored figures are cited.
        verdict: verdict that follows from the evidence; "fault" where the evidence failed.
        claimed: number that the claim gives; not a number where the evidence failed.
        found: number that we find; not a number where the evidence failed.
        seconds: duration in seconds; that of the stored run, where its figures are cited.
        fault: type of the exception that the evidence raised; empty where it raised none.
    """

    claim: Claim
    recomputed: bool
    verdict: Verdict | Literal["fault"]
    claimed: float
    found: float
    seconds: float
    fault: str = ""

    @property
    def changed(self) -> bool:
        """Whether the table says otherwise; a fault says nothing, which is not what the table says."""
        return self.verdict != self.claim.verdict

    @property
    def pin(self) -> Pin | None:
        """The figures that the row pins; None for rows that pin nothing."""
        return self.claim.pin

    @property
    def drifted(self) -> bool:
        """Whether the verdict or a figure is not the one that was pinned, beyond rounding."""
        pin = self.pin
        return pin is not None and not (pin.verdict == self.verdict and pin.keeps(self.claimed, self.found))


def verify_claims(rows: Sequence[Claim], *, slow: bool = False, progress: Progress | None = None) -> list[Verified]:
    """Recompute the evidence of rows, one after the other; evidence that raises stops none of the others.

    Args:
        rows: as `claims` gives them.
        slow: whether to recompute also what takes long; otherwise its stored figures are cited.
        progress: called with rows done and rows in all.

    Returns:
        One for each row, in their order.

    Example:
        >>> from confide.evidence import claims, verify_claims
        >>> found, = verify_claims(claims("market/figure-3.2"))
        >>> found.changed, round(found.claimed), round(found.found)
        (False, 213, 229)
    """
    found = []
    for k, row in enumerate(rows):
        advance(progress, k, len(rows))
        if row.measured is not None and not slow:
            stored = row.measured
            found.append(Verified(claim=row, recomputed=False, verdict=row.verdict, claimed=stored.claimed,
                                  found=stored.found, seconds=stored.seconds))
            continue
        found.append(_recomputed(row))
    advance(progress, len(rows), len(rows))
    return found


def _recomputed(row: Claim) -> Verified:
    start = perf_counter()
    try:
        verdict, claimed, ours = row.evidence()
        claimed, ours = float(claimed), float(ours)
    except Exception as error:  # noqa: BLE001 - evidence is code of anybody's: whatever it raises is reported in its row
        return Verified(claim=row, recomputed=True, verdict="fault", claimed=math.nan, found=math.nan,
                        seconds=perf_counter() - start, fault=type(error).__name__)
    return Verified(claim=row, recomputed=True, verdict=verdict, claimed=claimed, found=ours,
                    seconds=perf_counter() - start)


def pinned() -> Mapping[str, Pin]:
    """Every pin, by the id of its row.

    Example:
        >>> pinned()["regression/lemma-6"].verdict
        'false'
    """
    return {row.id: row.pin for row in claims() if row.pin is not None}


def pins_toml(found: Sequence[Verified]) -> str:
    """The results of evidence, one line a row; somebody reads each difference from a row's `pinned` before it is put
    there.

    Args:
        found: results for all rows of the table. Wider tolerances of rows stay.

    Raises:
        InvalidInput: evidence of a row failed.
    """
    faults = [each.claim.id for each in found if each.fault]
    if faults:
        raise InvalidInput("pin", f"the evidence of {', '.join(faults)} fails", "mend it first")
    lines = ["# What the evidence of every claim says. `confide claims --verify --pin FILE` writes it: what differs",
             "# from a row's `pinned=(claimed, found)` is read, then put there. `within` is set by hand, for figures",
             "# that depend on the machine."]
    for each in found:
        within = TOLERANCE if each.claim.pin is None else each.claim.pin.within
        wider = f", within = {within!r}" if within != TOLERANCE else ""
        lines.append(f'"{each.claim.id}" = {{ verdict = "{each.verdict}", claimed = {each.claimed:.9g}, '
                     f"found = {each.found:.9g}{wider} }}")
    return "\n".join(lines) + "\n"
