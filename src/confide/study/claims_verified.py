"""The verdicts, recomputed: what the evidence for each claim says today."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

from confide.contract.claims import Verdict
from confide.contract.kinds import Progress
from confide.contract.progress import advance
from confide.study.claims_table import Claim

__all__ = ["Verified", "verify_claims"]


@dataclass(frozen=True, kw_only=True)
class Verified:
    """What the evidence for one claim says.

    Args:
        claim: the row.
        recomputed: False where stored figures are cited.
        verdict: what follows from the evidence.
        claimed: the number that the claim gives.
        found: the number that we find.
        seconds: how long it took; what the stored figures say of it, where those are cited.
    """

    claim: Claim
    recomputed: bool
    verdict: Verdict
    claimed: float
    found: float
    seconds: float

    @property
    def changed(self) -> bool:
        """Whether the table says otherwise."""
        return self.verdict != self.claim.verdict


def verify_claims(rows: Sequence[Claim], *, slow: bool = False, progress: Progress | None = None) -> list[Verified]:
    """Recompute the evidence of rows, one after the other.

    Args:
        rows: as `claims` gives them.
        slow: whether to recompute also what takes long; otherwise its stored figures are cited.
        progress: called with rows done and rows in all.

    Returns:
        One for each row, in their order.

    Example:
        >>> from confide.study import claims, verify_claims
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
        start = perf_counter()
        verdict, claimed, ours = row.evidence()
        found.append(Verified(claim=row, recomputed=True, verdict=verdict, claimed=float(claimed), found=float(ours),
                              seconds=perf_counter() - start))
    advance(progress, len(rows), len(rows))
    return found
