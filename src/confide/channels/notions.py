"""The notions of privacy by name: two levels, which are worst cases, and mutual information, an average.

`Infeasible` is the error for levels that no channel of a kind can reach under a prior.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, cast

from confide.contract.checks import one_of
from confide.contract.errors import InvalidInput
from confide.contract.remedies import Remedy, tried

__all__ = ["NOTIONS", "Infeasible", "Level", "Measure", "Notion", "as_measure", "as_notion"]

_DIGITS = 10


class Infeasible(InvalidInput):
    """Error: a prior rules out a privacy level.

    Args:
        field: name of the level.
        level: requested level, in nats.
        threshold: the least level that can be reached, in nats; infinite where the prior has impossible databases.
        why: description of the threshold; where it is infinite, the reason.
        do: remedy.
        attempt: function that makes the same request at another level, its one argument.
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


Level = Literal["dp", "identifiability"]
Notion = Literal["dp", "identifiability", "mutual-information"]
Measure = Literal["dp", "identifiability", "mutual-information", "information-privacy"]

NOTIONS: tuple[Notion, ...] = ("dp", "identifiability", "mutual-information")


def as_notion(notion: str) -> Notion:
    """The notion of this name; `mutual_information` will do.

    Raises:
        InvalidInput: there is none.
    """
    return cast("Notion", one_of("notion", str(notion).replace("_", "-"), NOTIONS))


def as_measure(notion: str) -> Measure:
    """The same, with the largest change of an output's probability, which is measured and bounded but not optimised."""
    return cast("Measure", one_of("notion", str(notion).replace("_", "-"), (*NOTIONS, "information-privacy")))
