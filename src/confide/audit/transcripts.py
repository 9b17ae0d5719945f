"""Audit of a mechanism's own run over pairs of neighbours: its published output, its failures, and all other messages
that it writes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from confide.audit.comparing import Loss, exceeds
from confide.audit.fixed_transcript import DIFFERS, Neighbours, fixed_transcript_audit
from confide.audit.history_loss import UnreleasedIntermediate, exactly
from confide.audit.paid_for import PaidFor
from confide.audit.report import AuditRow
from confide.audit.side_channels import Failed, side_channel_output
from confide.audit.unpublished import RAW, unpublished
from confide.contract.errors import ConfideError, InvalidInput
from confide.contract.guarantees import Privacy
from confide.privacy.noise import ForcedNoise, Noise, RecordingNoise

__all__ = ["Replay", "Run", "replay"]

Run = Callable[[Any, Noise], Any]
"""A run that an audit examines: a function from data and noise to the outcome."""

_ANOTHER = "the warnings, prints or logs of the run differ although all noisy answers are equal"
_HIDEABLE = (DIFFERS, _ANOTHER)  # by noise that a mechanism adds itself
_AGAIN = ("a second run on the same records with the same noisy answers publishes another result: the mechanism keeps "
          "values between runs, or draws from another source")
_LEFT = "threads of the run continue after it, and the audit does not see their later output"
_ALONE = ("noise was drawn without `center=` (stream {}), and the published values or messages of the run differ on "
          "equal noise: a mechanism that adds the noise itself gives the value as `center`, so that the audit sees the "
          "protected value. If the noise is added later, all digits of the value below the noise's grid stay visible. "
          "If no noise is added, the difference is unprotected")
_REPEATED = 16  # pairs whose first run is done again, and whose hidden answers are changed
_OTHERS = 4  # ... so often; those of the others once, in another way each time
_PROBED = 5  # pairs above the promise on which is looked for what is not published


@dataclass(frozen=True, eq=False)
class Replay:
    """The result of an audit over pairs of neighbours.

    Args:
        claim: the promised loss.
        promised: the promised value of the parameter of this loss.
        measured: the worst loss over the pairs, in the parameter of the promised loss.
        leaks: differences in the published output that distinguish two neighbours whatever the noise is; empty for a
            correct mechanism. The audit ends at the first pair with such a difference.
        failure: description of the first failure of the run on both data sets of a pair; "" where there was no failure.
        pairs: number of pairs that were audited.
        worst: the pair with the worst loss; None where every loss is 0.
        shown: the pair on which the first of the `leaks` or the `failure` was found; None where there is no leak and no
            failure.
        spoke: whether the run wrote warnings, printed text or logs.
        unknown: reason why the loss of the published output is unknown; "" where it is known.
        alone: random streams that were drawn without a center while the published output or the messages differed
            between two neighbours.
        formulas: prefixes of unreleased random streams for which the mechanism's own formula gives the loss.
    """

    claim: Loss
    promised: float
    measured: float
    leaks: tuple[str, ...]
    failure: str
    pairs: int
    worst: Neighbours | None
    shown: Neighbours | None
    spoke: bool
    unknown: str = ""
    alone: tuple[str, ...] = ()
    formulas: tuple[str, ...] = ()

    @property
    def flagged(self) -> bool:
        """Whether there is a leak, a loss above the promise, or a failure."""
        return bool(self.leaks or self.failure) or (not self.unknown and exceeds(self.measured, self.promised))

    @property
    def refuted(self) -> bool:
        """Whether there is a leak or a loss above the promise. Failures do not count, because a control should not be
        flagged for a failure.
        """
        return bool(self.leaks) or exceeds(self.measured, self.promised)

    def row(self, promise: Privacy, words: Callable[[Neighbours], str]) -> AuditRow:
        """The result as a row of a report, compared with the given promise. The verdict is "not measured" where the
        loss is unknown.

        Args:
            promise: the promise of privacy with which the measured loss is compared.
            words: function from a synthetic pair to its description.
        """
        measured, evidence = self.measured, (f"the mechanism's own run on {self.pairs:,} pairs of neighbours: equal "
                                             f"publications on equal noise, {exactly(self.formulas)}")
        at = "" if self.shown is None else words(self.shown)
        if self.failure:
            measured, evidence = math.nan, f"{self.failure}: {at}"
        elif self.flagged and self.worst is not None:
            evidence += f"; the largest of {words(self.worst)}"
        if self.leaks:
            measured, evidence = math.inf, f"{self.leaks[0]}: pair {self.pairs:,}, {at}"
        why = self.unknown or (_ALONE.format(", ".join(self.alone)) if self.alone else "")
        if why and not self.flagged:
            return AuditRow.unmeasured(promise, why)
        return AuditRow.of_privacy(promise, measured, evidence, flagged=self.flagged)


def replay(
    run: Run, pairs: Iterable[Neighbours], claim: Loss, seed: int, *, part: str = "",
    unreleased: Mapping[str, UnreleasedIntermediate] | None = None, named: bool = True, probed: bool = True,
    paid: PaidFor | None = None,
) -> Replay:
    """Audit a run until some output distinguishes two neighbours whatever the noise is, or until the pairs end.

    Args:
        run: the mechanism's run, a function of data and noise.
        pairs: pairs of synthetic neighbours.
        claim: the promised loss.
        seed: seed of the simulated noise; every pair gets noisy answers of its own.
        part: prefix of the random streams that the promise is about; "" for all streams.
        unreleased: mapping from a prefix of random streams to the rule for their noisy answers, which are not published
            themselves.
        named: False where the promise is about a part of the outcome, and no prefix says which random streams belong to
            this part.
        probed: whether to check, if the loss is above the promise, that the run publishes the noisy answers at all.
        paid: object that records whether the charge paid for the draws of each pair's runs; None where this is not
            checked.

    Raises:
        InvalidInput: there is no pair, or draws of unreleased streams contradict their declaration.
    """
    found = _Found(run, claim, part, unreleased or {}, paid)
    for number, pair in enumerate(pairs):
        found.meet(pair, seed + number)
        if number < _REPEATED:
            found.repeat(pair, seed + number)
        if found.leaks or found.left:
            break
    if found.count == 0:
        fixed_transcript_audit(run, (), {"": claim}, Noise.simulated)  # says what is wrong
    return Replay(claim, found.promised, found.measured, tuple(found.leaks), found.failure, found.count, found.worst,
                  found.shown, found.spoke, found.unknown(named=named) if probed else "", tuple(found.alone),
                  found.formulas)


class _Found:
    """Results of an audit so far."""

    def __init__(
        self, run: Run, claim: Loss, part: str, unreleased: Mapping[str, UnreleasedIntermediate], paid: PaidFor | None
    ) -> None:
        self._run, self._claim, self._part, self._unreleased, self._paid = run, claim, part, unreleased, paid
        self._above: list[tuple[Neighbours, int]] = []
        self._raw = False
        self.leaks: dict[str, None] = {}
        self.failure, self.spoke, self.left = "", False, False
        self.count, self.promised, self.measured = 0, math.nan, 0.0
        self.worst: Neighbours | None = None
        self.shown: Neighbours | None = None
        self.alone: dict[str, None] = {}
        self.doubts: dict[str, None] = {}
        self.formulas: tuple[str, ...] = ()

    def meet(self, pair: Neighbours, seed: int) -> None:
        """Run the mechanism on both data sets of a pair. If the messages of the two runs differ, the runs are repeated,
        because code that is compiled or read for the first time writes its messages only once.
        """
        self.count += 1
        steps, found = self._both(pair, seed)
        if steps.another:
            steps, found = self._both(pair, seed)
        if self._paid is not None:
            self._paid.meet(steps.noises[0], steps.noises[1], pair, seed)
        self.promised, self.spoke, self.left = found.promised, self.spoke or steps.spoke, steps.left
        leaks = dict.fromkeys((*steps.leaks, *(found.leaks if not steps.failure else ())))
        if steps.alone and not leaks.keys().isdisjoint(_HIDEABLE):
            self.alone |= steps.alone
            leaks = {leak: None for leak in leaks if leak not in _HIDEABLE}
        if (leaks and not self.leaks) or (steps.failure and not self.failure):
            self.shown = pair
        self.leaks |= leaks
        self.failure = self.failure or steps.failure
        self._raw = self._raw or steps.raw
        self.doubts |= dict.fromkeys(found.doubts)
        self.formulas = found.formulas
        if exceeds(found.measured, found.promised) and len(self._above) < _PROBED:
            self._above.append((pair, seed))
        if found.measured > self.measured:
            self.measured, self.worst = found.measured, pair

    def _both(self, pair: Neighbours, seed: int) -> tuple[_Steps, Any]:
        steps = _Steps(self._run, pair.published)
        reported = Neighbours(pair.first, pair.second, steps.published)
        other_answers = _OTHERS if self.count <= _REPEATED else 1
        try:
            found = fixed_transcript_audit(
                steps.run, [reported], {self._part: self._claim}, lambda _: Noise.simulated(seed), self._unreleased,
                other_answers=other_answers)
            return steps, found[self._part]
        except ConfideError:
            raise
        except Exception as error:
            if not self._unreleased:
                raise
            raise InvalidInput("unreleased_streams", f"the draws of {', '.join(self._unreleased)} differ from their "
                               f"declaration ({type(error).__name__})") from error

    def repeat(self, pair: Neighbours, seed: int) -> None:
        """Repeat the first run of a pair with the same noisy answers, and record a leak if the two outputs differ."""
        steps, history = _Steps(self._run, pair.published), RecordingNoise(Noise.simulated(seed))
        first = steps.published(steps.run(pair.first, history))
        if steps.published(steps.run(pair.first, ForcedNoise(history.draws))) != first:
            self.leaks[_AGAIN], self.shown = None, pair

    def unknown(self, *, named: bool) -> str:
        """Reason why a measured loss above the promise may exceed the loss of the published output."""
        if self.left:
            return _LEFT
        if self.doubts:
            return next(iter(self.doubts))
        if not exceeds(self.measured, self.promised) or self.leaks or self.failure:
            return ""
        if not named:
            return ("the promise is about a part of the noise, and `part_streams` does not name the streams of this "
                    "part; all noisy answers together lose more")
        if self._raw:
            return f"the run draws raw material ({' and '.join(RAW)}), so the audit does not see the protected values"
        names = unpublished(self._run, self._above, self._unreleased)
        return (f"only a part of the noisy answers of {', '.join(names)} is published, so the published values may "
                "lose less: name the published part in `unreleased_streams`") if names else ""


class _Steps:
    """The runs of the mechanism on the two data sets of a pair. `fixed_transcript_audit` receives the published output
    of each run, or its failure.
    """

    def __init__(self, run: Run, published: Callable[[Any], bytes]) -> None:
        self._run, self._published = run, published
        self._said: list[tuple[tuple[str, str], ...]] = []
        self._failed: list[str] = []
        self.noises: list[Any] = []
        self.left = self.raw = False
        self.alone: dict[str, None] = {}

    def run(self, data: Any, noise: Noise) -> Any:
        outcome, observed = side_channel_output(lambda: self._published(self._run(data, noise)))
        self.noises.append(noise)
        self._said.append(observed.words)
        self._failed.append(outcome.how if isinstance(outcome, Failed) else "")
        self.left = self.left or bool(observed.left)
        self.raw = self.raw or any(draw.law in RAW for draw in getattr(noise, "draws", ()))
        self.alone |= dict.fromkeys(str(draw.stream[0]) for draw in getattr(noise, "draws", ()) if not draw.centered)
        return outcome

    def published(self, outcome: Any) -> bytes:
        return outcome.how.encode() if isinstance(outcome, Failed) else bytes(outcome)

    @property
    def another(self) -> bool:
        """Whether messages differ, between the two runs or under replaced unreleased answers."""
        return len(set(self._said)) > 1

    @property
    def leaks(self) -> list[str]:
        first, second = self._failed[:2]
        found = [f"the run fails on one of two neighbours ({first or second}), and does not fail in the same way on "
                 "the other neighbour"]
        return (found if first != second else []) + ([_ANOTHER] if self.another else [])

    @property
    def failure(self) -> str:
        """Description of a failure that both runs share; "" where there is none."""
        first, second = self._failed[:2]
        return ("the run fails in the same way on both synthetic neighbours "
                f"({first})") if first and first == second else ""

    @property
    def spoke(self) -> bool:
        return any(self._said)
