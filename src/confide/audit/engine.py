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
from functools import cached_property
from itertools import islice
from typing import Any, Protocol

import numpy as np

from confide.audit.charging import NAMED, Lost, charge_rows, covered_rows
from confide.audit.comparing import Loss, implies, strongest
from confide.audit.concerns import Paid, completed, promise_rows
from confide.audit.devices import DeviceNoise
from confide.audit.faulty_noise import SHARPEST, DampedNoise, RepeatedNoise, StuckNoise, first_flagged, part_controls
from confide.audit.fixed_transcript import Neighbours, TranscriptAudit, fixed_transcript_audit
from confide.audit.history_loss import Unreleased
from confide.audit.report import AuditReport, AuditRow, Concern, Control, Verdict
from confide.audit.sampler import likeliest, sampler_audit, shows_selection
from confide.audit.value_bytes import exact_bytes
from confide.contract.guarantees import Guarantee, Guarantees, Privacy
from confide.contract.kinds import Progress
from confide.contract.mechanism import Spend
from confide.contract.progress import advance
from confide.privacy.events import Event
from confide.privacy.losses import GDP, ZCDP, PureDP, RenyiDP
from confide.privacy.noise import Draw, ForcedNoise, Noise, RecordingNoise
from confide.privacy.required_charge import charged_for

__all__ = ["Audited", "Examined", "FullSize", "Laws", "Measurement", "Run", "Transcripts", "audit", "observed"]

Run = Callable[[Any, Noise], Any]
"""What is walked: (data, noise) -> what is published of it."""

_SHOWS_AT_ONCE = 3
"""Pairs that a faulty run is walked over first: where these show it, the others are left out."""


def _nothing(_: Guarantee) -> str:
    return ""


class Measurement(Protocol):
    """Something that is measured: rows of what is sound, and controls of what is faulty."""

    def measured(self) -> tuple[list[AuditRow], list[Control]]: ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Transcripts:
    """A run that is audited over worst-case neighbours along fixed transcripts of noise, where its loss is exact.

    These faults are injected by the harness, each into the same run: no noise; less noise than the promise needs, and
    half of the noise of each part; the noise of one draw used again; everything released twice; and the records
    themselves beside what is published. Each must be flagged on the first pairs.

    Args:
        named: name of its rows, in words.
        run: run of the mechanism, or of the device of a participant.
        pairs: worst-case neighbours, the worst ones first; called for each audit.
        seed: seed of the transcripts.
        promises: promises about what the pairs show. The strongest ones are audited; their rows hold what follows.
        parts: part of a promise -> first words of the streams that it is about; others are about everything.
        claims: first words of streams -> the loss of this part of the noise, where no promise is about it; "" is all of
            it.
        names: first words of streams -> the name of the row of that part; by default those of the streams.
        unreleased: first words of streams -> what is published of their noisy answers.
        histories: number of histories of each pair.
        source: number of a transcript, from 0 -> its noise; `Noise.simulated` by the seed if left out.
        other_answers: number of other answers of unreleased draws for each transcript.
        faults: fault, in words -> a faulty run, which must be flagged on all pairs.
        hardest: number of first pairs that are shown to faulty runs that the harness makes.
        among: the crowds of the pairs, in words, where they are smaller than the campaign; such rows hold no promise.
        events: function that gives the events of one run among these, as the ledger would be charged for them; None
            where nothing says so.
        note: a note for every row.
    """

    named: str
    run: Run
    pairs: Callable[[], Iterable[Neighbours]]
    seed: int
    promises: Sequence[Privacy] = ()
    parts: Mapping[str, str] = field(default_factory=dict)
    claims: Mapping[str, Loss] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    unreleased: Unreleased = field(default_factory=dict)
    histories: int = 1
    source: Callable[[int], Noise] | None = None
    other_answers: int = 4
    faults: Mapping[str, Run] = field(default_factory=dict)
    hardest: int = 4
    among: str = ""
    events: Callable[[], Iterable[Spend]] | None = None
    note: str = ""

    @cached_property
    def sound(self) -> dict[str, TranscriptAudit]:
        """The audits of the sound run, as `walked` finds them."""
        return self.walked()

    def rows(self) -> list[AuditRow]:
        """The rows of the sound run."""
        return self._rows(self.sound)

    def measured(self) -> tuple[list[AuditRow], list[Control]]:
        """The rows of the sound run, and the controls of faulty ones."""
        common, weak = self._common(self.sound)
        return self._rows(self.sound, weak), [*self._own(), *common]

    def walked(self, run: Run | None = None, pairs: int | None = None) -> dict[str, TranscriptAudit]:
        """The audits of each part of the noise that is claimed, and of each promise, by its sentence.

        Args:
            run: another run, held against the same claims and promises; the sound one if left out.
            pairs: number of pairs that are audited; None for all.
        """
        return self._replay(run or self.run, islice(self.pairs(), pairs), self.histories)

    def _held(self) -> tuple[dict[str, Loss | Privacy], list[Privacy], dict[str, tuple[Privacy, ...]]]:
        """What each part of the noise is walked for, and everything; and which promises follow from each.

        A promise whose part has no streams of its own is held against everything that the pairs show: of a promise of
        the whole follow those of its parts.
        """
        of_part: dict[str, list[Privacy]] = {}
        for promise in self.promises:
            part = self.parts.get(promise.part, "")
            of_part.setdefault("" if promise.loss.vacuous or part not in self.claims else part, []).append(promise)
        everything = of_part.pop("", [])
        whole = strongest(replace(promise, part=Privacy.part) for promise in everything)
        follow = {one.sentence(): tuple(each for each in everything if implies(one, each)) for one, _ in whole}
        claims: dict[str, Loss | Privacy] = dict(self.claims)
        for part, promises in of_part.items():
            (one, held), *others = strongest(promises)
            if not others:
                claims[part], follow[part] = one, held
        if "" not in self.names and any(one.loss == claims.get("") for one, _ in whole):
            claims.pop("", None)
        return claims, [one for one, _ in whole], follow

    def _replay(self, run: Run, pairs: Iterable[Neighbours], histories: int = 1) -> dict[str, TranscriptAudit]:
        claims, promises, _ = self._held()
        return self._replay_for(run, pairs, claims, histories, promises)

    def _replay_for(
        self, run: Run, pairs: Iterable[Neighbours], claims: Mapping[str, Loss | Privacy], histories: int = 1,
        promises: Sequence[Privacy] = (),
    ) -> dict[str, TranscriptAudit]:
        return fixed_transcript_audit(
            run, pairs, claims, self.noise, self.unreleased, histories, promises, self.other_answers)

    def noise(self, number: int) -> Noise:
        """The source of a transcript.

        Args:
            number: number of the transcript, from 0.
        """
        return self.source(number) if self.source else Noise.simulated(self.seed * 1009 + number)

    def _apart(self) -> list[str]:
        """The parts whose noise is damped by itself, each with a control of its own."""
        claims, promises, _ = self._held()
        return [part for part in claims if part and ("" in claims or promises)]

    def _rows(self, sound: Mapping[str, TranscriptAudit], weak: str = "") -> list[AuditRow]:
        follow, apart = self._held()[2], self._apart()
        rows = [audit.row(self._name(part) if part in self.claims else self.named).holding(*follow.get(part, ()))
                for part, audit in sound.items()]
        if weak:
            rows = [row if part in apart or row.flagged else _noted(row, weak)
                    for part, row in zip(sound, rows, strict=True)]
        if self.note:
            rows = [_noted(row, self.note) for row in rows]
        return [replace(row, holds=()).smaller(self.among) for row in rows] if self.among else rows

    def _shows(
        self, run: Run, pair: Neighbours, number: int, histories: int, claims: Mapping[str, Loss | Privacy],
        promises: Sequence[Privacy],
    ) -> bool:
        """Whether a run is flagged on one pair, along the first of those histories that the sound run had there."""
        return _flagged(fixed_transcript_audit(
            run, [pair], claims, lambda at: self.noise(number * self.histories + at), self.unreleased, histories,
            promises, 1))

    def _name(self, part: str) -> str:
        return self.names.get(part, f"{self.named}: {part}" if part else self.named)

    def _own(self) -> Iterator[Control]:
        for words, run in self.faults.items():
            yield Control(self.named, words, _flagged(self.walked(run, _SHOWS_AT_ONCE)) or _flagged(self.walked(run)))

    def _common(self, sound: Mapping[str, TranscriptAudit]) -> tuple[list[Control], str]:
        """The faults that any mechanism can have, in the run on the first pairs; and, where the loss is in no
        proportion to the noise, so that much less of it is needed to be seen, how much less.
        """
        pairs = list(islice(self.pairs(), self.hardest))

        claims, promises, _ = self._held()
        parts, weak = self._apart(), ""
        whole = {part: claim for part, claim in claims.items() if part not in parts}

        def flags(run: Run) -> bool:  # one pair that shows a fault is enough, and often its first history is
            return any(self._shows(run, pair, number, histories, whole, promises)
                       for histories in sorted({1, self.histories}) for number, pair in enumerate(pairs))

        controls = [
            Control(self.named, "no noise", flags(lambda data, _: self.run(data, ForcedNoise([])))),
            Control(self.named, "the records beside the published values", flags(
                lambda data, noise: _with_records(self.run(data, noise), data)))]
        together = [found for part, found in sound.items() if part not in parts]
        share = max(map(_share, together))
        if 0 < share <= 1 + 1e-6:
            factor, found = first_flagged(share, lambda factor: flags(_damped(self.run, factor)))
            controls.append(Control(self.named, f"{factor / share:.2g} of the noise that the promise needs", found))
            if found and factor < SHARPEST * share:
                weak = f"noise at {factor:.2g} of its scale is flagged, and at {min(1.0, 2 * factor):.2g} not"
        elif not share:
            weak = "no loss was measured, so only a lack of all noise is flagged"
        if any(map(_nearly, together)):
            controls.append(Control(self.named, "everything released twice", flags(_twice(self.run))))
        if any(_shows_again(self.run, pair) for pair in pairs):
            controls.append(Control(self.named, "the noise of one draw used again", flags(
                lambda data, noise: self.run(data, RepeatedNoise(noise)))))

        def changed(by: Callable[[Noise], Noise]) -> dict[str, TranscriptAudit]:
            return self._replay_for(lambda data, noise: self.run(data, by(noise)), pairs, self.claims, self.histories)

        if any(self.claims):
            apart = {part: replace(found, promise=None) for part, found in sound.items() if part in self.claims}
            controls += part_controls(apart, changed, self._name)
        return controls, weak


@dataclass(frozen=True, kw_only=True, eq=False)
class Examined:
    """A measurement of something sound, and the same of faulty ones, which it must flag.

    Args:
        named: name of its controls.
        rows: function from the measured object, sound or faulty, to its rows.
        sound: the sound object that is measured; a mechanism, its run, or a part of it.
        faults: fault, in words -> the object that is measured in place of the sound one.
        events: function that gives the events of one run of the measured object, as the ledger would be charged for
            them, where rows are of losses that were measured; None where they are not, or nothing says so.
    """

    named: str
    rows: Callable[[Any], Iterable[AuditRow]]
    sound: Any = None
    faults: Mapping[str, Any] = field(default_factory=dict)
    events: Callable[[], Iterable[Spend]] | None = None

    def measured(self) -> tuple[list[AuditRow], list[Control]]:
        """The rows of the sound one, and the controls of faulty ones."""
        rows = list(self.rows(self.sound))
        return rows, [Control(self.named, words, any(row.flagged for row in self.rows(faulty)))
                      for words, faulty in self.faults.items()]


@dataclass(frozen=True, kw_only=True, eq=False)
class Laws:
    """Draws that a run asked for, whose laws are tested on a source's own draws: a secure one, and wrong ones.

    Args:
        draws: function that gives one draw of each law and scale, such as `observed`.
        samples: number of samples of each law.
        false_alarm: probability with which a sound source is called wrong, of each law.
        seed: seed of wrong sources.
        factor: factor of the scale of a wrong source; so far from 1 that the samples show it.
        source: source whose draws are tested; `Noise.secure()` if left out.
    """

    draws: Callable[[], Sequence[Draw]]
    samples: int
    false_alarm: float
    seed: int
    factor: float = 0.5
    source: Noise | None = None

    def rows(self) -> list[AuditRow]:
        """The rows of secure noise."""
        return self._rows(self.draws())

    def _rows(self, draws: Sequence[Draw]) -> list[AuditRow]:
        secure = self.source or Noise.secure()
        return [self._row(secure, draw) for draw in draws]

    def _row(self, source: Noise, draw: Draw) -> AuditRow:
        return sampler_audit(source, draw, self.samples, self.false_alarm)

    def measured(self) -> tuple[list[AuditRow], list[Control]]:
        """The rows of secure noise, and the controls of wrong sources for the first law that shows them: added noise, a
        channel, or else a selection.

        A selection among many that are nearly alike does not, and neither does lattice noise that is nearly always 0.
        Where no law does, the rows say so.
        """
        draws = self.draws()
        rows = self._rows(draws)
        for draw in sorted(draws, key=lambda draw: _BEST_SHOWN.get(draw.law, 0)):
            if wrong := self._wrong(draw):
                return rows, [Control("law of the noise", words, self._row(source, draw).flagged)
                              for words, source in wrong]
        return [_noted(row, f"no control: {self.samples} draws of this law would not show a wrong source")
                for row in rows], []

    def _wrong(self, draw: Draw) -> list[tuple[str, Noise]]:
        """Wrong sources that the samples of one draw's law show."""
        damped = (f"a source with {self.factor:.2g} of the scale", self._damped(self.factor))
        if draw.law == "selection":
            even = ("a source that selects evenly", self._damped(_EVEN))
            return [source for source, factor in ((damped, self.factor), (even, _EVEN))
                    if shows_selection(draw, factor, self.samples, self.false_alarm)]
        if draw.law == "channel":  # which may be nearly certain
            return [damped]
        return [] if draw.law not in _ADDED or self.samples * (1 - likeliest(draw)) < _TELLING else [
            damped, ("a source that adds nothing", ForcedNoise([])),
            ("a source that starts anew for every stream", StuckNoise(lambda: Noise.simulated(self.seed)))]

    def _damped(self, factor: float) -> Noise:
        return DampedNoise(Noise.simulated(self.seed), factor)


@dataclass(frozen=True, kw_only=True, eq=False)
class FullSize:
    """A run at the campaign's own size, and the same with the least change of its noise that all its rows flag there.

    Args:
        rows: function from the object that is run, sound or with less noise, to its rows.
        sound: the sound object that is run.
        damped: function from the share of the noise that is left to the object that is run with so much.
        factors: shares that are tried, the largest first.
    """

    rows: Callable[[Any], Sequence[AuditRow]]
    sound: Any
    damped: Callable[[float], Any]
    factors: Sequence[float] = (0.8, 0.5, 0.2, 0.05)

    def measured(self) -> tuple[list[AuditRow], list[Control]]:
        """The rows of the sound run; where no change shows at this size, they are vacuous, and hold no promise."""
        rows = list(self.rows(self.sound))
        if any(row.flagged for row in rows):
            return rows, []
        found: tuple[float, list[AuditRow]] | None = None
        for factor in self.factors:  # until all rows show it
            faulty = list(self.rows(self.damped(factor)))
            if any(row.flagged for row in faulty):
                found = factor, faulty
            if all(row.flagged for row in faulty):
                break
        if found is not None:
            words = f"noise at {found[0]:g} of its scale"
            return [_noted(row, f"{words} is flagged here") for row in rows], [
                Control(row.promise, f"{words}, at this size alone", row.flagged) for row in found[1]]
        least = f"so few people that less noise would not show, down to {min(self.factors):g} of its scale"
        return [row if row.verdict is Verdict.VACUOUS else replace(
            _noted(row, least), verdict=Verdict.VACUOUS, holds=()) for row in rows], []


@dataclass(frozen=True, kw_only=True, eq=False)
class Audited:
    """Everything that the harness needs to know of a mechanism.

    Args:
        promises: promises of the plan.
        events: function that gives the events of one run, as the ledger is charged for them.
        measured: measurements, in the order in which they stand in the report.
        charged: the loss of the whole charge that the parameters name, where the promises do not say it: where they are
            sums of the events, or conversions of them. What is measured is then held against the charge, too, so that
            a charge is not too small though the parameters name it. By default the charge is held against the promises.
        paid: function from a promise and the events to those that pay for it; all of them if left out.
        unpromised: concern -> why nothing is promised about it; where it is given, the report has a row for every
            guarantee and every concern.
        unmeasured: guarantee -> why nothing was measured of it; "" where there is no reason.
    """

    promises: Guarantees
    events: Callable[[], Iterable[Spend]]
    measured: Sequence[Measurement]
    charged: Loss | None = None
    paid: Paid = lambda _, events: events
    unpromised: Mapping[Concern, str] | None = None
    unmeasured: Callable[[Guarantee], str] = _nothing


def audit(it: Audited, progress: Progress | None = None) -> AuditReport:
    """Hold every promise against what is measured, with faults that must be flagged.

    Args:
        it: the facts about the mechanism.
        progress: function that is called after each measurement.

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
        (True, ['no noise', 'the records beside the published values', '0.9 of the noise that the promise needs'])
    """
    # What is promised may be more than what is charged: a conversion, or a sum by a looser rule.
    priced, wrongly = promise_rows(it.promises, it.events, it.paid, alike=it.charged is None)
    rows, controls, lost = list[AuditRow](), list[Control](), list[Lost]()
    if it.charged is not None:
        row, faulty = charge_rows(_events(it.events), it.charged, NAMED)
        rows.append(row)
        controls += faulty
    for done, one in enumerate(it.measured, 1):
        found, flags = one.measured()
        rows += found
        controls += flags
        lost += [] if it.charged is None else _lost(it, one, found)
        advance(progress, done, len(it.measured))
    if it.charged is not None:
        row, faulty = covered_rows(lost)
        rows.append(row)
        controls += faulty
    report = AuditReport((*rows, *priced), (*controls, *wrongly))
    return report if it.unpromised is None else completed(report, it.promises, it.unpromised, it.unmeasured)


def _events(events: Callable[[], Iterable[Spend]]) -> tuple[Event, ...]:
    return tuple(event for event in events() if isinstance(event, Event))


def _lost(it: Audited, one: Measurement, rows: Iterable[AuditRow]) -> Iterator[Lost]:
    """What was measured of losses that the charge is about, each with the events that pay for it.

    Measured among fewer than a campaign has, a loss is held against the events of that run alone: the noise of fewer
    may be another one. Parts of the noise lose no more than everything, and so are held against all events. Whether
    the rows of other measurements are of runs, or are sums of what is charged, nobody knows here: these say it by
    their own events.
    """
    own = getattr(one, "events", None)
    if own is None and not isinstance(one, Transcripts | FullSize):
        return
    events = _events(own or it.events)
    if isinstance(one, Transcripts) and (own or not one.among):
        yield from (Lost(one.named, found.claim, found.measured, events) for found in one.sound.values()
                    if found.promise is None)
    audiences, units = charged_for(it.promises.privacy), {event.neighbours for event in events}
    for row in rows:
        promise = row.judged
        if promise is not None and isinstance(promise.loss, Loss) and isinstance(row.measured, float) and (
                own or not row.among) and promise.audience in audiences and units == {promise.neighbours}:
            yield Lost(row.promise, promise.loss, row.measured, tuple(
                event for event in it.paid(promise, events) if isinstance(event, Event)))


def observed(run: Run, data: Any, seed: int) -> list[Draw]:
    """One draw of each law that a run asks for under each first word of a stream, in order; public ones are left out.

    Args:
        run: run whose noise is heard.
        data: data for the run.
        seed: seed of its noise.
    """
    return list({(draw.law, str(draw.stream[0])): draw for draw in reversed(_draws(run, data, seed))}.values())[::-1]


def _draws(run: Run, data: Any, seed: int = 0) -> list[Draw]:
    noise = RecordingNoise(Noise.simulated(seed))
    run(data, noise)
    return [draw for draw in noise.draws if draw.law != "split"]


_EVEN = 2.0**60  # times the scale of a selection: all are as likely
_TELLING = 100  # draws of a law, of those asked for, that are expected not to be its likeliest number
_ADDED = ("laplace", "discrete_laplace", "gaussian", "discrete_gaussian", "vector_laplace")
_BEST_SHOWN = {"channel": 1, "selection": 2}  # after added noise, whose faults samples show best


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


def _noted(row: AuditRow, words: str) -> AuditRow:
    return replace(row, note=f"{row.note}; {words}" if row.note else words)


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
    board, reported = copy(outcome.billboard), copy(outcome)
    object.__setattr__(board, "what_it_was_made_of", held)
    object.__setattr__(reported, "billboard", board)
    return reported
