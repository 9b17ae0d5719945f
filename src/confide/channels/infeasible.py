"""The error for levels that no channel of a kind can reach under a prior."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from confide.contract.errors import InvalidInput
from confide.contract.remedies import Remedy, tried

__all__ = ["Infeasible"]

_DIGITS = 10


class Infeasible(InvalidInput):
    """A privacy level that a prior rules out.

    Args:
        field: the name of the level.
        level: what was asked for.
        threshold: the least level that can be reached, in nats; infinite where the prior has impossible databases.
        why: what the threshold is; where it is infinite, why.
        do: what to do instead.
        attempt: asks for the same at another level, which is its one argument.
        small: whether that takes less than a second.
    """

    def __init__(
        self, field: str, level: float, threshold: float, why: str, do: str = "",
        attempt: Callable[[float], Any] | None = None, small: bool = True,
    ) -> None:
        self.threshold = threshold
        ways: list[str | Remedy] = []
        start: dict[str, Any] = {field: threshold}
        if math.isinf(threshold):
            ways.append(f"nothing reaches it, {why}" + (f"; {do}" if do else ""))
        else:
            words = f"must be at least {{{field}}}, {why}" + (f"; {do}" if do else "")
            if attempt is not None:
                ways += tried(words, lambda **named: attempt(named[field]), digits=_DIGITS,
                              seconds=0.0 if small else math.inf, **start)
        super().__init__(field, f"{level:g} is out of reach", ways or do)
