"""One audit for every mechanism: a family of mechanisms describes the measurements as data, and this module, the
harness, carries them out.

`Audited` holds the facts about one mechanism: worst-case neighbours, exact output distributions, participants'
strategies, synthetic populations, and faults that only this family of mechanisms can have. The harness does everything
else. The harness compares runs that get the same noisy answers (fixed transcripts), and injects faults that any
mechanism can have. The harness repeats every other measurement on each faulty mechanism that the family supplies. The
harness compares the charge with the promises.
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
"""A run that an audit examines: a function from data and noise to the outcome."""

_SHOWS_AT_ONCE = 3
"""Number of pairs on which a faulty run is audited first. If the first pairs flag the fault, the remaining pairs are
skipped.
"""


def _nothing(_: Guarantee) -> str:
    return ""


class Measurement(Protocol):
    """The interface of a measurement, which returns audit rows about a correct object, such as a mechanism, and
    controls about faulty objects.
    """

    def measured(self) -> tuple[list[AuditRow], list[Control]]: ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Transcripts:
    """A measurement that compares runs on worst-case neighbours, which get the same noisy answers (a fixed transcript),
    so that the loss is exact.

    The harness injects up to six faults into the run, one at a time, as far as the pairs can show them: no noise, less
    noise than the promise needs, half of the noise of each part, the noise of one draw used again, everything released
    twice, and the records themselves beside the published values. The audit must flag each fault on the first `hardest`
    pairs.

    Args:
        named: name of the rows and controls, such as "privacy"; for a part of the noise, the row's name continues with
            a colon and the prefix of the part.
        run: run of the mechanism, or of a participant's device.
        pairs: function that returns pairs of worst-case neighbours, the pairs with the largest loss first. The function
            is called anew for each audit of a correct or faulty run.
        seed: seed of the simulated noise of all transcripts.
        promises: promises about the values that the function `published` of each pair returns. The strongest promises
            are audited, and their rows also cover all promises that follow from the strongest ones.
        parts: mapping from the name of a part of the outcome, as promises state it, to the prefix of the random streams
            of this part. A promise about a part without an entry is audited on everything published.
        claims: mapping from a prefix of random streams to the claimed loss of the values that the noise of these
            streams protects. The prefix "" stands for all streams.
        names: mapping from a prefix of random streams to the name of the row about these streams; by default the prefix
            itself.
        unreleased: mapping from a prefix of random streams to the rule for the noisy answers of these streams, where
            only values derived from the answers are published.
        histories: number of transcripts for each pair. Each transcript has different noise.
        source: function from the number of a transcript, from 0, to its noise; `Noise.simulated` with a seed if left
            out.
        other_answers: number of replacements of the unreleased noisy answers that are tried for each transcript, >= 1.
        faults: mapping from a description of a fault to a faulty run, which must be flagged on all pairs.
        hardest: number of pairs, counted from the first, on which the harness audits runs with its own injected faults.
        among: description of the populations in the pairs, if they are smaller than the campaign, such as "8 made-up
            bidders"; "" at the campaign's own size. Rows about smaller populations are no evidence for a promise of the
            campaign.
        events: function that returns the events of one run on these populations, as the ledger would be charged for
            them; None where they are unknown.
        note: text that is added to the note of every row.
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
        """The audits of the correct run on all pairs, in the form that `replayed` returns."""
        return self.replayed()

    def rows(self) -> list[AuditRow]:
        """The audit rows about the correct run."""
        return self._rows(self.sound)

    def measured(self) -> tuple[list[AuditRow], list[Control]]:
        """The audit rows about the correct run, and the controls of faulty runs."""
        common, weak = self._common(self.sound)
        return self._rows(self.sound, weak), [*self._own(), *common]

    def replayed(self, run: Run | None = None, pairs: int | None = None) -> dict[str, TranscriptAudit]:
        """The audits of a run: one for each claim, keyed by the prefix of the random streams, and one for each audited
        promise, keyed by the sentence of the promise.

        Args:
            run: another run, compared with the same claims and promises; the correct run if left out.
            pairs: number of pairs, from the first, that are audited; None for all pairs.
        """
        return self._replay(run or self.run, islice(self.pairs(), pairs), self.histories)

    def _held(self) -> tuple[dict[str, Loss | Privacy], list[Privacy], dict[str, tuple[Privacy, ...]]]:
        """The claim for each part of the noise, the promises about the whole release, and, for each claim or promise,
        the promises that follow.

        A promise about a part without streams of its own is audited on everything that the pairs show. The promises
        about parts follow from a promise about the whole.
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
        """The source of noise of one transcript.

        Args:
            number: number of the transcript, from 0.
        """
        return self.source(number) if self.source else Noise.simulated(self.seed * 1009 + number)

    def _apart(self) -> list[str]:
        """Parts with noise that is reduced separately; each has a control of its own."""
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
        """Whether a run is flagged on one pair, along the first `histories` histories that the correct run had on this
        pair.
        """
        return _flagged(fixed_transcript_audit(
            run, [pair], claims, lambda at: self.noise(number * self.histories + at), self.unreleased, histories,
            promises, 1))

    def _name(self, part: str) -> str:
        return self.names.get(part, f"{self.named}: {part}" if part else self.named)

    def _own(self) -> Iterator[Control]:
        for words, run in self.faults.items():
            flagged = _flagged(self.replayed(run, _SHOWS_AT_ONCE)) or _flagged(self.replayed(run))
            yield Control(self.named, words, flagged)

    def _common(self, sound: Mapping[str, TranscriptAudit]) -> tuple[list[Control], str]:
        """Controls for the faults that any mechanism can have, injected into the run on the first pairs, and a note. If
        only a large reduction of the noise is flagged, the note says how large the reduction is; in all other cases the
        note is empty.
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
            controls.append(Control(self.named, "the noise of one draw used twice", flags(
                lambda data, noise: self.run(data, RepeatedNoise(noise)))))

        def changed(by: Callable[[Noise], Noise]) -> dict[str, TranscriptAudit]:
            return self._replay_for(lambda data, noise: self.run(data, by(noise)), pairs, self.claims, self.histories)

        if any(self.claims):
            apart = {part: replace(found, promise=None) for part, found in sound.items() if part in self.claims}
            controls += part_controls(apart, changed, self._name)
        return controls, weak


@dataclass(frozen=True, kw_only=True, eq=False)
class Examined:
    """A measurement of a correct object, and the same measurement of faulty objects, which must be flagged.

    Args:
        named: name of the controls.
        rows: function from the measured object, correct or faulty, to the audit rows about this object.
        sound: the correct object that is measured: a mechanism, its run, or a part of it.
        faults: mapping from a description of a fault to the object that is measured in place of the correct one.
        events: function that returns the events of one run of the measured object, as the ledger would be charged for
            them. The function is None where the rows are not about measured losses, or where the events are unknown.
    """

    named: str
    rows: Callable[[Any], Iterable[AuditRow]]
    sound: Any = None
    faults: Mapping[str, Any] = field(default_factory=dict)
    events: Callable[[], Iterable[Spend]] | None = None

    def measured(self) -> tuple[list[AuditRow], list[Control]]:
        """The audit rows about the correct object, and the controls of faulty objects."""
        rows = list(self.rows(self.sound))
        return rows, [Control(self.named, words, any(row.flagged for row in self.rows(faulty)))
                      for words, faulty in self.faults.items()]


@dataclass(frozen=True, kw_only=True, eq=False)
class Laws:
    """A test of the distributions of the draws that a run requested. The test covers draws of a secure source, and
    draws of faulty sources.

    Args:
        draws: function that returns the recorded draws whose distributions are tested, for example the result of
            `observed`.
        samples: number of fresh samples of each distribution.
        false_alarm: probability with which the test of one distribution flags a correct source.
        seed: seed of the noise from faulty sources.
        factor: factor, > 0, by which a faulty source multiplies the scale of the noise; so far from 1 that the test can
            notice the change.
        source: the tested source of noise; `Noise.secure()` if left out.
    """

    draws: Callable[[], Sequence[Draw]]
    samples: int
    false_alarm: float
    seed: int
    factor: float = 0.5
    source: Noise | None = None

    def rows(self) -> list[AuditRow]:
        """The rows about the tested source, one for each draw."""
        return self._rows(self.draws())

    def _rows(self, draws: Sequence[Draw]) -> list[AuditRow]:
        secure = self.source or Noise.secure()
        return [self._row(secure, draw) for draw in draws]

    def _row(self, source: Noise, draw: Draw) -> AuditRow:
        return sampler_audit(source, draw, self.samples, self.false_alarm)

    def measured(self) -> tuple[list[AuditRow], list[Control]]:
        """The rows about the tested source, and the controls of faulty sources for the first distribution that can show
        a fault. Added noise is tried first, then a channel, and last a selection.

        A selection among many almost equally likely options cannot show a faulty source, nor can noise on whole numbers
        that is almost always 0. If no distribution can show a faulty source, the rows say so.
        """
        draws = self.draws()
        rows = self._rows(draws)
        for draw in sorted(draws, key=lambda draw: _BEST_SHOWN.get(draw.law, 0)):
            if wrong := self._wrong(draw):
                return rows, [Control("law of the noise", words, self._row(source, draw).flagged)
                              for words, source in wrong]
        return [_noted(row, f"no control: {self.samples} draws of this law are too few to show a wrong source")
                for row in rows], []

    def _wrong(self, draw: Draw) -> list[tuple[str, Noise]]:
        """Descriptions and sources of the faulty noise that samples of one draw's distribution can show."""
        damped = (f"a source with {self.factor:.2g} of the scale", self._damped(self.factor))
        if draw.law == "selection":
            even = ("a source that selects uniformly", self._damped(_EVEN))
            return [source for source, factor in ((damped, self.factor), (even, _EVEN))
                    if shows_selection(draw, factor, self.samples, self.false_alarm)]
        if draw.law == "channel":  # which may be nearly certain
            return [damped]
        return [] if draw.law not in _ADDED or self.samples * (1 - likeliest(draw)) < _TELLING else [
            damped, ("a source that adds nothing", ForcedNoise([])),
            ("a source that starts again with the same seed for every stream",
             StuckNoise(lambda: Noise.simulated(self.seed)))]

    def _damped(self, factor: float) -> Noise:
        return DampedNoise(Noise.simulated(self.seed), factor)


@dataclass(frozen=True, kw_only=True, eq=False)
class FullSize:
    """A measurement of a run at the campaign's own size. The control is the same run with reduced noise. Among the
    tried reductions, the control has the smallest one that every row flags.

    Args:
        rows: function from a run object, correct or with less noise, to the audit rows about this object.
        sound: the correct object that is run.
        damped: function from the remaining share of the noise to the object that is run with this share.
        factors: remaining shares of the noise that are tried, the largest first.
    """

    rows: Callable[[Any], Sequence[AuditRow]]
    sound: Any
    damped: Callable[[float], Any]
    factors: Sequence[float] = (0.8, 0.5, 0.2, 0.05)

    def measured(self) -> tuple[list[AuditRow], list[Control]]:
        """The audit rows about the correct run, and the control. If no reduction of the noise is flagged at this size,
        the rows are vacuous and are evidence for no promise.
        """
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
            return [_noted(row, f"the audit flags {words}") for row in rows], [
                Control(row.promise, f"{words}, at this size alone", row.flagged) for row in found[1]]
        least = ("with so few people, the audit does not flag noise that is too small, down to "
                 f"{min(self.factors):g} of its scale")
        return [row if row.verdict is Verdict.VACUOUS else replace(
            _noted(row, least), verdict=Verdict.VACUOUS, holds=()) for row in rows], []


@dataclass(frozen=True, kw_only=True, eq=False)
class Audited:
    """All facts about a mechanism that the harness needs.

    Args:
        promises: promises of the plan.
        events: function that returns the events of one run, as the ledger is charged for them.
        measured: measurements, in the order of their rows in the report.
        charged: loss of the whole charge according to the parameters. The loss is given where the promises do not
            determine it, because they are sums or conversions of the events. If `charged` is given, measured losses are
            also compared with the charge, so that a charge that is too small is found. If `charged` is left out, the
            charge is compared with the promises.
        paid: function from a promise and the events of a run to the events that pay for the promised loss; all events
            if left out.
        unpromised: mapping from each concern without a promise to the reason why nothing is promised about this
            concern. If `unpromised` is given, the report has a row for every guarantee and every concern.
        unmeasured: function from a guarantee to the reason why it was not measured; "" where there is no reason.
    """

    promises: Guarantees
    events: Callable[[], Iterable[Spend]]
    measured: Sequence[Measurement]
    charged: Loss | None = None
    paid: Paid = lambda _, events: events
    unpromised: Mapping[Concern, str] | None = None
    unmeasured: Callable[[Guarantee], str] = _nothing


def audit(it: Audited, progress: Progress | None = None) -> AuditReport:
    """Compare every promise with measurements, and check that injected faults are flagged.

    Args:
        it: the promises, the charge and the measurements of the mechanism.
        progress: function that is called after each measurement.

    Example:
        >>> from confide.contract import Audience, Relation, Source
        >>> from confide.privacy import PureDP
        >>> from confide.privacy.events import PureEvent
        >>> def mean(values, noise):  # of two values in [0, 1]
        ...     return noise.laplace(0.5, 1, stream="mean", center=[sum(values) / 2])
        >>> promise = Privacy(loss=PureDP(1.0), neighbours=Relation.REPLACE, audience=Audience.PUBLIC,
        ...                   source=Source(document="a", statement="b"))
        >>> replayed = Transcripts(named="privacy", run=mean, seed=0, promises=[promise],
        ...                      pairs=lambda: [Neighbours([0.0, 1.0], [1.0, 1.0], lambda found: repr(found).encode())])
        >>> report = audit(Audited(promises=Guarantees((promise,)), measured=[replayed],
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
    """Measured losses that the charge should cover, each with the events that pay for it.

    A loss that was measured on a smaller population than the campaign's is compared with the events of that smaller
    run, because its noise may differ. Parts of the noise lose no more than the whole release, and so are compared with
    all events. Measurements of other kinds state their own events, because the harness cannot know whether their rows
    are about runs or about sums of the charge.
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
    """The recorded draws of a run, one for each pair of a distribution and a first word of the stream's name. If
    several draws have the same pair, only the first draw is returned. Random splits into two groups are left out,
    because they are public.

    Args:
        run: the run whose requests for noise are recorded, a function of data and noise.
        data: data in the form that `run` expects.
        seed: seed of the noise.
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
    """Whether a pair moves two draws of equal distribution, scale and size by different amounts. If two draws of equal
    distribution reuse the same noise, their difference reveals the pair.
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
    """Share of the noise scale at which the loss would just reach the promise. A pure loss or mu is inversely
    proportional to the scale, and a zCDP or Renyi loss to the square of the scale.
    """
    share = found.measured / found.promised if found.promised else 0.0
    return float(np.sqrt(share)) if isinstance(found.claim, ZCDP | RenyiDP) else share


def _nearly(found: TranscriptAudit) -> bool:
    """Whether twice the measured loss would exceed the promise."""
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
    """The outcome with the data themselves added to its billboard."""
    held = exact_bytes(data)
    if not hasattr(outcome, "billboard"):
        return (outcome, held)
    board, reported = copy(outcome.billboard), copy(outcome)
    object.__setattr__(board, "what_it_was_made_of", held)
    object.__setattr__(reported, "billboard", board)
    return reported
