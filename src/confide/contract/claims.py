"""What the evidence for a published claim says. Each family keeps a table `claims.toml`, one row a claim, and a module
`evidence` of functions, each of which recomputes what decides one row.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = ["Finding", "Verdict"]

Verdict = Literal["holds", "holds-with-correction", "false", "vacuous-at-practical-size"]


class Finding(NamedTuple):
    """What the evidence says.

    Args:
        verdict: what follows for the claim.
        claimed: the number that the claim gives.
        found: the number that we find.
    """

    verdict: Verdict
    claimed: float
    found: float
