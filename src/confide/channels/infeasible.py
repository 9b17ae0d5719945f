"""The error for levels that no channel of a kind can reach under a prior."""

from __future__ import annotations

import math

from confide.contract.errors import InvalidInput

__all__ = ["Infeasible"]


class Infeasible(InvalidInput):
    """A privacy level that a prior rules out.

    Args:
        field: the name of the level.
        level: what was asked for.
        threshold: the least level that can be reached, in nats; infinite where the prior has impossible databases.
        why: what the threshold is; where it is infinite, why.
        do: what to do instead.
    """

    def __init__(self, field: str, level: float, threshold: float, why: str, do: str = "") -> None:
        self.threshold = threshold
        limit = f"must be at least {threshold:.10g}, {why}" if threshold < math.inf else f"nothing reaches it, {why}"
        super().__init__(field, f"{level:g} is out of reach", f"{limit}; {do}" if do else limit)
