"""The notions of privacy by name: differential privacy and identifiability, which are worst cases, and mutual
information, which is an average.

`Infeasible` is the error for levels that no channel of some kind can reach under a prior.
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
        field: name of the parameter that holds the privacy level.
        level: requested level, in nats.
        threshold: the least level that can be reached, in nats; infinite where the prior has impossible databases.
        why: description of the threshold in words; if the threshold is infinite, the reason for this.
        do: advice for the caller; empty for none.
        attempt: function that takes another level and makes the same request at this level; None if the message tries
            no level.
        small: whether a call of `attempt` takes less than a second.
    """

    def __init__(
        self, field: str, level: float, threshold: float, why: str, do: str = "",
        attempt: Callable[[float], Any] | None = None, small: bool = True,
    ) -> None:
        self.threshold = threshold
        ways: list[str | Remedy] = []
        start: dict[str, Any] = {field: threshold}
        if math.isinf(threshold):
            ways.append(f"no release reaches it, {why}" + (f"; {do}" if do else ""))
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
    """The notion with the given name. `mutual_information` is accepted in place of "mutual-information".

    Raises:
        InvalidInput: no notion has this name.
    """
    return cast("Notion", one_of("notion", str(notion).replace("_", "-"), NOTIONS))


def as_measure(notion: str) -> Measure:
    """The measure of privacy with the given name: one of the three notions, or "information-privacy", the largest
    change of an output's probability. Information privacy is measured and bounded, but never optimised.
    """
    return cast("Measure", one_of("notion", str(notion).replace("_", "-"), (*NOTIONS, "information-privacy")))
