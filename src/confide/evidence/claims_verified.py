"""Recomputed verdicts and numbers of claims, compared with the recorded results in the table of claims. A changed
result is reported. Evidence that raises an exception is reported as a fault of the claim's row.
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
        claim: row of the table of claims.
        recomputed: whether the evidence was computed; False where the stored numbers of an earlier run are used.
        verdict: verdict that follows from the evidence; "fault" where the evidence raised an exception.
        claimed: number that the source claims; NaN where the evidence raised an exception.
        found: number that the evidence computed for comparison with `claimed`; NaN where the evidence raised an
            exception.
        seconds: duration of the computation in seconds; where stored numbers are used, the duration of the run that
            gave these numbers.
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
        """Whether the verdict of the evidence differs from the verdict in the table. A "fault" always differs."""
        return self.verdict != self.claim.verdict

    @property
    def pin(self) -> Pin | None:
        """The recorded result of the row; None for rows without a recorded result."""
        return self.claim.pin

    @property
    def drifted(self) -> bool:
        """Whether the verdict differs from the recorded verdict, or a number differs from the recorded number by more
        than the tolerance. False for rows without a recorded result.
        """
        pin = self.pin
        return pin is not None and not (pin.verdict == self.verdict and pin.keeps(self.claimed, self.found))


def verify_claims(rows: Sequence[Claim], *, slow: bool = False, progress: Progress | None = None) -> list[Verified]:
    """Recompute the evidence for several rows, one after the other. If the evidence for a row raises an exception, the
    later rows are computed nevertheless.

    Args:
        rows: rows of the table of claims, as the function `claims` returns them.
        slow: whether to recompute slow evidence as well. If False, the stored numbers of slow evidence are used.
        progress: function that is called with the number of finished rows and the number of all rows.

    Returns:
        One result for each row, in the order of the rows.

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
    """Mapping from the id of a row to the recorded result, for every row with a recorded result.

    Example:
        >>> pinned()["regression/lemma-6"].verdict
        'false'
    """
    return {row.id: row.pin for row in claims() if row.pin is not None}


def pins_toml(found: Sequence[Verified]) -> str:
    """TOML text with the results of evidence, one line for each row. A person reviews each difference from the recorded
    results. Only then does the person copy the new numbers into the argument `pinned` of the claim's decorator.

    Args:
        found: results for all rows of the table. A row with a tolerance other than `TOLERANCE` keeps this tolerance.

    Raises:
        InvalidInput: the evidence for a row raised an exception.
    """
    faults = [each.claim.id for each in found if each.fault]
    if faults:
        raise InvalidInput("pin", f"the evidence of {', '.join(faults)} fails", "correct the evidence first")
    lines = ["# What the evidence of every claim says. `confide claims --verify --pin FILE` writes it: what differs",
             "# from a row's `pinned=(claimed, found)` is read, then put there. `within` is set by hand, for figures",
             "# that depend on the machine."]
    for each in found:
        within = TOLERANCE if each.claim.pin is None else each.claim.pin.within
        wider = f", within = {within!r}" if within != TOLERANCE else ""
        lines.append(f'"{each.claim.id}" = {{ verdict = "{each.verdict}", claimed = {each.claimed:.9g}, '
                     f"found = {each.found:.9g}{wider} }}")
    return "\n".join(lines) + "\n"
