"""A mechanism's own run, walked over pairs of neighbours: what it publishes, how it fails, and what else it says."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from confide.audit import AuditRow, Loss, Neighbours, door_audit, exceeds
from confide.contract.guarantees import Privacy
from confide.people.overhearing import Failed, overheard
from confide.privacy.noise import Noise

__all__ = ["Run", "Walk", "walk"]

Run = Callable[[Any, Noise], Any]
"""What is walked: (data, noise) -> what is published."""

_ANOTHER = "what the run warns of, prints or logs differs although all noisy answers are the same"


@dataclass(frozen=True, eq=False)
class Walk:
    """What a walk found.

    Args:
        claim: the promised loss.
        promised: its parameter.
        measured: the worst loss over the pairs, in that parameter.
        leaks: what tells two neighbours apart whatever is drawn, and so ended the walk; empty for a sound mechanism.
        failure: how the run failed on both of two neighbours; "" where it did not.
        pairs: how many were walked.
        worst: the pair with the worst loss; None where every loss is 0.
        spoke: whether the run said something besides, the same for the two of every pair.
    """

    claim: Loss
    promised: float
    measured: float
    leaks: tuple[str, ...]
    failure: str
    pairs: int
    worst: Neighbours | None
    spoke: bool

    @property
    def flagged(self) -> bool:
        """A leak, a loss above the promise, or a failure."""
        return bool(self.leaks or self.failure) or exceeds(self.measured, self.promised)

    @property
    def refuted(self) -> bool:
        """The same without failures, which a control may not owe its flag to."""
        return bool(self.leaks) or exceeds(self.measured, self.promised)

    def row(self, promise: Privacy) -> AuditRow:
        """As a row of a report, judged by the promise that was put to it."""
        measured, evidence = self.measured, (f"its own run on {self.pairs:,} pairs of neighbours: published alike on "
                                             "equal noise, loss exact there")
        if self.failure:
            measured, evidence = math.nan, self.failure
        if self.leaks:
            measured, evidence = math.inf, f"{self.leaks[0]}: pair {self.pairs:,}"
        return AuditRow.of_privacy(promise, measured, evidence, flagged=self.flagged)


def walk(run: Run, pairs: Iterable[Neighbours], claim: Loss, seed: int) -> Walk:
    """Walk until something tells two neighbours apart whatever is drawn, or to the end.

    Args:
        run: the mechanism itself.
        pairs: of made-up neighbours.
        claim: what is promised of it.
        seed: of the made-up noise; every pair has a history of its own.

    Raises:
        InvalidInput: no pair.
    """
    measured, promised, leaks, failure = 0.0, math.nan, dict[str, None](), ""
    count, worst, spoke = 0, None, False
    for count, pair in enumerate(pairs, 1):
        steps = _Steps(run, pair.published)
        found = door_audit(steps.run, [Neighbours(pair.first, pair.second, steps.published)], {"": claim},
                           lambda _, number=seed + count - 1: Noise.simulated(number))[""]  # type: ignore[misc]
        promised, spoke = found.promised, spoke or steps.spoke
        leaks |= dict.fromkeys((*steps.leaks, *(found.leaks if not steps.failure else ())))
        failure = failure or steps.failure
        if found.measured > measured:
            measured, worst = found.measured, pair
        if leaks:
            break
    if count == 0:
        door_audit(run, (), {"": claim}, Noise.simulated)  # says what is wrong
    return Walk(claim, promised, measured, tuple(leaks), failure, count, worst, spoke)


class _Steps:
    """The two runs of a pair: door_audit is given what each published, or how it failed."""

    def __init__(self, run: Run, published: Callable[[Any], bytes]) -> None:
        self._run, self._published = run, published
        self._said: list[list[tuple[str, str]]] = []
        self._failed: list[str] = []

    def run(self, data: Any, noise: Noise) -> Any:
        outcome, heard = overheard(lambda: self._published(self._run(data, noise)))
        self._said.append(heard.said)
        self._failed.append(outcome.how if isinstance(outcome, Failed) else "")
        return outcome

    def published(self, outcome: Any) -> bytes:
        return outcome.how.encode() if isinstance(outcome, Failed) else bytes(outcome)

    @property
    def leaks(self) -> list[str]:
        first, second = self._failed
        found = [f"the run fails on one of two neighbours ({first or second}) and not in the same way on the other"]
        return (found if first != second else []) + ([_ANOTHER] if self._said[0] != self._said[1] else [])

    @property
    def failure(self) -> str:
        """Where both failed alike."""
        first, second = self._failed
        return f"the run fails on made-up neighbours ({first}), on both alike" if first and first == second else ""

    @property
    def spoke(self) -> bool:
        return any(self._said)
