"""One audit for every mechanism: a family says as data what is to be measured, and the harness measures it.

`Audited` holds what a family knows: worst-case neighbours, exact laws, strategies, made-up crowds, and the faults that
are its own. Everything else is here. Runs are compared along fixed transcripts; faults that any mechanism can have are
injected into them; every other measurement is repeated on each faulty mechanism that the family names; the charge is
held against the promises.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np

from confide.audit.comparing import Loss
from confide.audit.concerns import completed
from confide.audit.devices import DeviceNoise
from confide.audit.faulty_noise import DampedNoise, RepeatedNoise, StuckNoise
from confide.audit.fixed_transcript import Neighbours, TranscriptAudit, fixed_transcript_audit
from confide.audit.history_loss import Unreleased
from confide.audit.implied import strongest
from confide.audit.parts import part_controls
from confide.audit.priced import Paid, promise_rows
from confide.audit.report import AuditReport, AuditRow, Concern, Control
from confide.audit.sampler import sampler_audit
from confide.audit.value_bytes import exact_bytes
from confide.contract.guarantees import Guarantee, Guarantees, Privacy
from confide.contract.kinds import Progress
from confide.contract.mechanism import Spend
from confide.contract.progress import advance
from confide.privacy.losses import GDP, ZCDP, PureDP, RenyiDP
from confide.privacy.noise import Draw, ForcedNoise, Noise, RecordingNoise

__all__ = ["Audited", "Laws", "Measurement", "Run", "Transcripts", "audit", "heard"]

Run = Callable[[Any, Noise], Any]
"""What is walked: (data, noise) -> what is published of it."""

_SHARPEST, _LEAST = 0.9, 2.0**-12
"""Of the noise that a promise needs, the first that is tried as a fault, and about the last."""


def _nothing(_: Guarantee) -> str:
    return ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Transcripts:
    """A run that is walked over worst-case neighbours along fixed transcripts of noise, where its loss is exact.

    These faults are injected by the harness, each into the same run: no noise; less noise than the promise needs, and
    half of the noise of each part; the noise of one draw used again; everything released twice; and the records
    themselves beside what is published. Each must be flagged on the first pairs.

    Args:
        named: of its rows, in words.
        run: of the mechanism, or of the device of a participant.
        pairs: worst-case neighbours, the worst ones first; called for each walk.
        seed: of the transcripts.
        promises: of everything that the pairs show. The strongest ones are walked for; their rows hold what follows.
        claims: first words of streams -> the loss of this part of the noise, where no promise is about it; "" is all of
            it.
        names: first words of streams -> the name of the row of that part; by default those of the streams.
        unreleased: first words of streams -> what is published of their noisy answers.
        histories: of each pair.
        faults: what is broken in words -> another run, which must be flagged on all pairs.
        hardest: how many of the first pairs are shown to faulty runs that the harness makes.
        note: to every row.
    """

    named: str
    run: Run
    pairs: Callable[[], Iterable[Neighbours]]
    seed: int
    promises: Sequence[Privacy] = ()
    claims: Mapping[str, Loss] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    unreleased: Unreleased = field(default_factory=dict)
    histories: int = 1
    faults: Mapping[str, Run] = field(default_factory=dict)
    hardest: int = 4
    note: str = ""

    def walk(self, run: Run, pairs: Iterable[Neighbours], histories: int = 1) -> dict[str, TranscriptAudit]:
        """The audits of a run, by part of the noise, and by the sentence of each promise that is walked for."""
        held = [promise for promise, _ in strongest(self.promises)]
        return fixed_transcript_audit(run, pairs, self.claims, lambda k: Noise.simulated(self.seed * 1009 + k),
                                      self.unreleased, histories, held)

    def measured(self) -> tuple[list[AuditRow], list[Control]]:
        """The rows of the sound run, and the controls of faulty ones."""
        sound = self.walk(self.run, self.pairs(), self.histories)
        follow = {promise.sentence(): each for promise, each in strongest(self.promises)}
        rows = [audit.row(self._name(part) if part in self.claims else self.named).holding(*follow.get(part, ()))
                for part, audit in sound.items()]
        if self.note:
            rows = [replace(row, note=f"{row.note}; {self.note}" if row.note else self.note) for row in rows]
        return rows, [*self._own(), *self._common(sound)]

    def _name(self, part: str) -> str:
        return self.names.get(part, f"{self.named}: {part}" if part else self.named)

    def _own(self) -> Iterator[Control]:
        for words, run in self.faults.items():
            yield Control(self.named, words, _flagged(self.walk(run, self.pairs(), self.histories)))

    def _common(self, sound: Mapping[str, TranscriptAudit]) -> Iterator[Control]:
        """The faults that any mechanism can have, in the run on the first pairs."""
        pairs = list(islice(self.pairs(), self.hardest))

        def flags(run: Run) -> bool:
            return _flagged(self.walk(run, pairs))

        yield Control(self.named, "no noise", flags(lambda data, _: self.run(data, ForcedNoise([]))))
        yield Control(self.named, "the records beside what is published", flags(
            lambda data, noise: _with_records(self.run(data, noise), data)))
        share = max(map(_share, sound.values()))
        if 0 < share <= 1 + 1e-6:
            factor, found = _SHARPEST * share, False
            while not found and factor > _LEAST * share:
                found = flags(_damped(self.run, factor))
                factor *= 1.0 if found else 0.5
            yield Control(self.named, f"{factor / share:.2g} of the noise that the promise needs", found)
        if any(map(_nearly, sound.values())):
            yield Control(self.named, "everything released twice", flags(_twice(self.run)))
        if any(_shows_again(self.run, pair) for pair in pairs):
            yield Control(self.named, "the noise of one draw used again", flags(
                lambda data, noise: self.run(data, RepeatedNoise(noise))))

        def changed(by: Callable[[Noise], Noise]) -> dict[str, TranscriptAudit]:
            return self.walk(lambda data, noise: self.run(data, by(noise)), pairs)

        if any(self.claims):
            yield from part_controls(changed(lambda noise: noise), changed, self._name)


@dataclass(frozen=True, kw_only=True, eq=False)
class Measurement:
    """A measurement of something sound, and the same of faulty ones, which it must flag.

    Args:
        named: of its controls.
        rows: what is measured, sound or faulty -> its rows.
        sound: what is measured; a mechanism, its run, or a part of it.
        faults: what is broken in words -> what is measured in its place.
    """

    named: str
    rows: Callable[[Any], Iterable[AuditRow]]
    sound: Any = None
    faults: Mapping[str, Any] = field(default_factory=dict)

    def measured(self) -> tuple[list[AuditRow], list[Control]]:
        """The rows of the sound one, and the controls of faulty ones."""
        rows = list(self.rows(self.sound))
        return rows, [Control(self.named, words, any(row.flagged for row in self.rows(faulty)))
                      for words, faulty in self.faults.items()]


@dataclass(frozen=True, kw_only=True, eq=False)
class Laws:
    """Draws that a run asked for, whose laws are tested on a source's own draws: a secure one, and wrong ones.

    Args:
        draws: gives one of each law and scale, such as `heard` does.
        samples: of each law.
        false_alarm: probability with which a sound source is called wrong, of each law.
        seed: of wrong sources.
        factor: of the scale of a wrong source; so far from 1 that the samples show it.
        source: whose draws are tested; `Noise.secure()` if left out.
    """

    draws: Callable[[], Sequence[Draw]]
    samples: int
    false_alarm: float
    seed: int
    factor: float = 0.5
    source: Noise | None = None

    def measured(self) -> tuple[list[AuditRow], list[Control]]:
        """The rows of secure noise, and the controls of wrong sources for the first law."""
        secure, draws = self.source or Noise.secure(), self.draws()
        rows = [sampler_audit(secure, draw, self.samples, self.false_alarm) for draw in draws]
        wrong: list[tuple[str, Noise]] = [(f"a source with {self.factor:.2g} of the scale",
                                           DampedNoise(Noise.simulated(self.seed), self.factor))]
        if draws and draws[0].law not in ("channel", "selection"):  # which may be nearly certain
            wrong += [("a source that adds nothing", ForcedNoise([])),
                      ("a source that starts anew for every stream", StuckNoise(lambda: Noise.simulated(self.seed)))]
        return rows, [Control("law of the noise", words,
                              sampler_audit(source, draw, self.samples, self.false_alarm).flagged)
                      for draw in draws[:1] for words, source in wrong]


@dataclass(frozen=True, kw_only=True, eq=False)
class Audited:
    """What the harness needs to know of a mechanism.

    Args:
        promises: of the plan.
        events: of one run, as the ledger is charged for them.
        measured: what is measured, in the order in which it stands in the report.
        paid: which events pay for a promise; all of them if left out.
        unpromised: concern -> why nothing is promised about it; where it is given, the report has a row for every
            guarantee and every concern.
        unmeasured: guarantee -> why nothing was measured of it; "" where there is no reason.
    """

    promises: Guarantees
    events: Callable[[], Iterable[Spend]]
    measured: Sequence[Transcripts | Measurement | Laws]
    paid: Paid = lambda _, events: events
    unpromised: Mapping[Concern, str] | None = None
    unmeasured: Callable[[Guarantee], str] = _nothing


def audit(it: Audited, progress: Progress | None = None) -> AuditReport:
    """Hold every promise against what is measured, with faults that must be flagged.

    Args:
        it: what is known of the mechanism.
        progress: told of each measurement.

    Example:
        >>> from confide.contract import Audience, Relation, Source
        >>> from confide.privacy import PureDP
        >>> from confide.privacy.events import PureEvent
        >>> def mean(values, noise):  # of two values in [0, 1]
        ...     return noise.laplace(0.5, 1, stream="mean", center=[sum(values) / 2])
        >>> promise = Privacy(loss=PureDP(1.0), neighbours=Relation.REPLACE, audience=Audience.PUBLIC,
        ...                   source=Source(document="a", statement="b"))
        >>> walked = Transcripts(named="privacy", run=mean, seed=0, promises=[promise],
        ...                      pairs=lambda: [Neighbours([0.0, 1.0], [1.0, 1.0], lambda found: repr(found).encode())])
        >>> report = audit(Audited(promises=Guarantees((promise,)), measured=[walked],
        ...                        events=lambda: [PureEvent(epsilon=1.0, neighbours=Relation.REPLACE)]))
        >>> report.passed, [control.mutant for control in report.controls][:3]
        (True, ['no noise', 'the records beside what is published', '0.9 of the noise that the promise needs'])
    """
    priced, wrongly = promise_rows(it.promises, it.events, it.paid)
    rows, controls = list[AuditRow](), list[Control]()
    for done, one in enumerate(it.measured, 1):
        found, faulty = one.measured()
        rows += found
        controls += faulty
        advance(progress, done, len(it.measured))
    report = AuditReport((*rows, *priced), (*controls, *wrongly))
    return report if it.unpromised is None else completed(report, it.promises, it.unpromised, it.unmeasured)


def heard(run: Run, data: Any, seed: int) -> list[Draw]:
    """One draw of each law and scale that a run asks for, in order; public ones are left out.

    Args:
        run: whose noise is heard.
        data: for the run.
        seed: of its noise.
    """
    return list({(draw.law, draw.scale): draw for draw in reversed(_draws(run, data, seed))}.values())[::-1]


def _draws(run: Run, data: Any, seed: int = 0) -> list[Draw]:
    noise = RecordingNoise(Noise.simulated(seed))
    run(data, noise)
    return [draw for draw in noise.draws if draw.law != "split"]


_ADDED = ("laplace", "discrete_laplace", "gaussian", "discrete_gaussian", "vector_laplace")


def _shows_again(run: Run, pair: Neighbours) -> bool:
    """Whether a pair moves two draws of one law, scale and size by different amounts: where these have the same noise,
    their difference tells it.
    """
    history = RecordingNoise(Noise.simulated(0))
    run(pair.first, history)
    forced = ForcedNoise(history.draws)
    run(pair.second, forced)
    moves: dict[Any, set[Any]] = {}
    for one, other in zip(history.draws, forced.draws, strict=False):
        if one.law in _ADDED and len(one.center) == len(other.center):
            moved = tuple(float(a - b) for a, b in zip(one.center, other.center, strict=True))
            moves.setdefault((one.law, one.scale, one.value.size), set()).add(moved)
    return any(len(each) > 1 for each in moves.values())


def _flagged(found: Mapping[str, TranscriptAudit]) -> bool:
    return any(audit.flagged for audit in found.values())


def _share(found: TranscriptAudit) -> float:
    """Which part of the promised noise would just do for what was measured, where the loss goes with the noise."""
    share = found.measured / found.promised if found.promised else 0.0
    return float(np.sqrt(share)) if isinstance(found.claim, ZCDP | RenyiDP) else share


def _nearly(found: TranscriptAudit) -> bool:
    """Whether twice as much would be more than is promised."""
    twice = math.sqrt(2.0) if isinstance(found.claim, GDP) else 2.0
    return twice * found.measured > 1.01 * found.promised and isinstance(found.claim, PureDP | ZCDP | GDP | RenyiDP)


def _damped(run: Run, factor: float) -> Run:
    return lambda data, noise: run(data, DampedNoise(noise, factor))


def _twice(run: Run) -> Run:
    def again(data: Any, noise: Noise) -> Any:
        outcome = run(data, noise)
        run(data, DeviceNoise(noise, 2))
        return outcome

    return again


def _with_records(outcome: Any, data: Any) -> Any:
    """The outcome with what it was made of on its billboard."""
    held = exact_bytes(data)
    if not hasattr(outcome, "billboard"):
        return (outcome, held)
    board, told = copy(outcome.billboard), copy(outcome)
    object.__setattr__(board, "records", held)
    object.__setattr__(told, "billboard", board)
    return told
