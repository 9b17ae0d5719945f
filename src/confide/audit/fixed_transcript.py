"""The fixed-transcript audit: a mechanism's own run on neighbouring data sets, along one transcript of noise.

A run asks `Noise` for every random number, and says what the noise is added to. So a run on data D can be written down,
and a run on a neighbour D' can be given the same answers. Then

- what D' publishes must equal what D published, bit for bit: otherwise something reached the public past the noise;
- what both tell of their progress (`run_with_steps`) must be the same, as a terminal and the service show it;
- both must ask for the same laws, scales and shapes: otherwise the calibration depends on the data;
- the loss along this history follows from the centers alone, exactly: no sampling, no error bars.

Everything that is published is then a function of the answers, and each answer is protected by the law that was asked
for. That the sampler really draws that law is checked apart, on its own draws: `sampler_audit`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from confide.audit.comparing import Loss, exceeds, promised_parameter
from confide.audit.history_loss import UnreleasedIntermediate, belongs, exactly, history_loss, own_formulas
from confide.audit.other_answers import kept_entries
from confide.audit.report import AuditRow
from confide.audit.side_channels import telling
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Privacy
from confide.contract.renamed import renamed
from confide.privacy.losses import GDP, ZCDP, PureDP
from confide.privacy.noise import Draw, ForcedNoise, Noise, RecordingNoise
from confide.privacy.noise.arguments import StreamName

__all__ = ["DIFFERS", "Neighbours", "TranscriptAudit", "fixed_transcript_audit"]

DIFFERS = "the published values differ although all noisy answers are the same"
"""The leak of two neighbours that are told apart by what their runs published."""

Published = Callable[[Any], bytes]
_LAPLACE = {"laplace", "discrete_laplace", "vector_laplace"}
_GAUSSIAN = {"gaussian", "discrete_gaussian"}
_REPORTED = "the progress messages of the run differ although all noisy answers are the same"


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Two data sets that differ in one record.

    Args:
        first: one of them, as the mechanism's `run` takes it.
        second: the other.
        published: everything that the audience of the claim sees of an outcome, as bytes (for joint privacy: all but
            the changed participant's own share).
    """

    first: Any
    second: Any
    published: Published


@dataclass(frozen=True)
class TranscriptAudit:
    """The result of an audit along common histories.

    Args:
        claim: the promised loss.
        measured: the worst loss over the pairs, in the claim's own parameter.
        promised: the claim's parameter.
        leaks: outputs that reached the public past the noise, or depended on the data; empty for a sound mechanism.
        pairs: number of pairs of data sets that were compared.
        flagged: a leak, a loss above the claim, or a doubt.
        promise: promise whose loss the claim is; None where the claim is about a part of the noise alone.
        doubts: unreleased intermediates of which nothing shows that they are unreleased, each in words, so that the
            loss is not known.
        formulas: unreleased intermediates whose loss is computed by a formula of the mechanism's own, which nobody
            checks.
        shown: below which share of its scale the noise would be flagged by the same histories; None where that does not
            follow from what was measured: beside noise that is added, a loss is in no simple proportion to a scale.
    """

    claim: Loss
    measured: float
    promised: float
    leaks: tuple[str, ...]
    pairs: int
    flagged: bool
    promise: Privacy | None = None
    doubts: tuple[str, ...] = ()
    formulas: tuple[str, ...] = ()
    shown: float | None = None

    def row(self, promise: str = "privacy") -> AuditRow:
        """The result as a row of an `AuditReport`; it can hold what follows from the promise that was audited."""
        measured, evidence = self.measured, (f"its own run on {self.pairs} pairs of neighbours: published alike on "
                                             f"equal noise, {exactly(self.formulas)}")
        if self.leaks:
            measured, evidence = math.inf, self.leaks[0]
        elif self.doubts:
            measured, evidence = math.nan, self.doubts[0]
        note = "" if self.flagged or self.shown is None else \
            f"noise would be flagged below {self.shown:.2g} of its scale"
        if self.promise is not None:
            return AuditRow.of_privacy(self.promise, measured, evidence, named=promise, note=note, flagged=self.flagged)
        row = AuditRow.of_loss(promise, self.claim, self.promised, measured, evidence, flagged=self.flagged)
        return replace(row, note=row.note or note)


@renamed(disguises="other_answers", hidden="unreleased")
def fixed_transcript_audit(
    run: Callable[[Any, Noise], Any], pairs: Iterable[Neighbours], claims: Mapping[str, Loss | Privacy],
    noise: Callable[[int], Noise], unreleased: Mapping[str, UnreleasedIntermediate] | None = None, histories: int = 1,
    promises: Sequence[Privacy] = (), other_answers: int = 4,
) -> dict[str, TranscriptAudit]:
    """Audit a mechanism's own run over pairs of neighbouring data sets.

    Args:
        run: `run(data, noise)`: the mechanism itself.
        pairs: neighbouring data sets, made to stretch the mechanism.
        claims: for each part of the noise, named by the first words of its streams ("release", "release/gram"), what
            is promised of it, as a loss or as the promise itself; the part "" is everything together.
        noise: number of a history (from 0) -> the source of noise for it.
        unreleased: parts whose noisy answers are not published themselves, such as those of a sparse vector
            (`SPARSE_VECTOR`). Their loss is that of what is published; and with other answers, from which the same
            follows, the same must be published. Other answers that keep one of them show nothing: that is flagged.
        histories: number of histories of each pair. Events in some of them only, such as a cut that rare noise meets,
            are seen where one of them meets it.
        promises: promises about everything together, each held by its own number. The pairs must differ by the step
            that they are about, and show what their audience sees.
        other_answers: number of other answers of unreleased intermediates that are tried in each history, >= 1.

    Returns:
        One audit per claim, and one per promise, by its sentence; a leak flags all of them. Every noisy answer of a
        part that is not hidden counts as published: a mechanism that publishes less (the largest of them, or that one
        is above a threshold) is judged too hard without `unreleased`.

    Raises:
        InvalidInput: no pair, or not pairs of neighbours; no claim and no promise.

    Example:
        >>> from confide.privacy import PureDP
        >>> def mean(values, noise):  # sensitivity 1/2 of two values in [0, 1], noise for a loss of 1
        ...     return noise.laplace(0.5, 1, stream="mean", center=[sum(values) / 2])
        >>> pair = Neighbours([0.0, 1.0], [1.0, 1.0], lambda outcome: outcome.tobytes())
        >>> found = fixed_transcript_audit(mean, [pair], {"": PureDP(1.0)}, Noise.simulated)
        >>> found[""].measured, found[""].flagged
        (1.0, False)
    """
    if not isinstance(claims, Mapping) or not (claims or promises):
        raise InvalidInput("claims", f"{type(claims).__name__}", "must be {part of the noise: its loss}, one or more")
    walked = [*(_Replayed(part, part, claim) for part, claim in claims.items()),
              *(_Replayed(promise.sentence(), "", promise) for promise in promises)]
    worst = dict.fromkeys((each.name for each in walked), 0.0)
    leaks: dict[str, None] = {}
    doubts: dict[str, None] = {}
    parts = unreleased or {}
    drawn: dict[StreamName, Draw] = {}
    count = 0
    for count, pair in enumerate(pairs, 1):
        if not isinstance(pair, Neighbours):
            raise InvalidInput("pairs", f"{type(pair).__name__} is no pair", "must hold Neighbours")
        for number in range(histories):
            history = RecordingNoise(noise((count - 1) * histories + number))
            shown, reported = _once(run, pair.first, history, pair.published)
            drawn |= {draw.stream: draw for draw in history.draws}
            forced = ForcedNoise(history.draws)
            other, also = _once(run, pair.second, forced, pair.published)
            leaks |= dict.fromkeys(_leaks(history.draws, forced.draws))
            if shown != other:
                leaks[DIFFERS] = None
            if reported != also:
                leaks[_REPORTED] = None
            others: Sequence[Draw] = history.draws
            for _ in range(other_answers if parts else 0):
                before, others = others, _other_answers(others, parts)
                doubts |= dict.fromkeys(_kept(before, others, parts))
                if _once(run, pair.first, ForcedNoise(others), pair.published) != (shown, reported):
                    leaks["noisy answers that should stay hidden reach the public"] = None
                    break
            for each in walked:
                both = zip(history.draws, forced.draws, strict=False)
                of_part = [(a, b) for a, b in both if belongs(a, each.part)]
                worst[each.name] = max(worst[each.name], history_loss(of_part, each.loss, parts))
    if count == 0:
        raise InvalidInput("pairs", "there are none", "give at least one pair of neighbours")
    for part in dict.fromkeys([*claims, *parts]):
        if part and not any(belongs(draw, part) for draw in drawn.values()):
            names = ", ".join("/".join(map(str, name)) for name in list(drawn)[:8]) or "none"
            leaks[f"no noise was asked for by the name {part!r}; names are {names}"] = None
    out = {}
    for each in walked:
        promised = promised_parameter(each.loss)
        flagged = bool(leaks or doubts) or exceeds(worst[each.name], promised)
        laws = {draw.law for draw in drawn.values() if belongs(draw, each.part) and draw.law != "split"}
        said = any(belongs(draw, hides) for hides in parts for draw in drawn.values() if belongs(draw, each.part))
        out[each.name] = TranscriptAudit(
            claim=each.loss, measured=worst[each.name], promised=promised, leaks=tuple(leaks), pairs=count,
            flagged=flagged, promise=each.promise, doubts=tuple(doubts),
            formulas=tuple(own_formulas(parts, each.part)),
            shown=None if said else _shown(each.loss, worst[each.name], promised, laws))
    return out


def _shown(claim: Loss, measured: float, promised: float, laws: set[str]) -> float | None:
    """Below which share of its scale noise of these laws would be above a claim: a pure loss goes with the inverse of
    a Laplace scale, zCDP with the inverse square of a Gaussian one, and mu with its inverse.
    """
    share = measured / promised if promised else math.inf
    if laws and isinstance(claim, PureDP) and laws <= _LAPLACE:
        return min(1.0, share)
    if laws and isinstance(claim, ZCDP | GDP) and laws <= _GAUSSIAN:
        return min(1.0, math.sqrt(share) if isinstance(claim, ZCDP) else share)
    return None


def _once(run: Callable[[Any, Noise], Any], data: Any, noise: Noise, published: Published) -> tuple[bytes, Any]:
    """What one run publishes, and what it tells of its progress where it is made by `run_with_steps`."""
    with telling() as reported:
        return published(run(data, noise)), reported


class _Replayed(NamedTuple):
    """What is walked for.

    Args:
        name: of the audit.
        part: of the noise.
        claim: a loss, or the promise of one.
    """

    name: str
    part: str
    claim: Loss | Privacy

    @property
    def promise(self) -> Privacy | None:
        return self.claim if isinstance(self.claim, Privacy) else None

    @property
    def loss(self) -> Loss:
        found = self.claim.loss if isinstance(self.claim, Privacy) else self.claim
        if not isinstance(found, Loss):
            raise InvalidInput("claims", f"{found} is no loss that an audit knows")
        return found


def _other_answers(draws: Sequence[Draw], parts: Mapping[str, UnreleasedIntermediate]) -> list[Draw]:
    """The draws of a history, those of hidden parts with other answers from which the same follows."""
    out = list(draws)
    for part, rule in parts.items():
        inside = [draw for draw in out if belongs(draw, part)]
        out = [draw for draw in out if not belongs(draw, part)] + list(rule.other_answers(inside))
    return out


def _kept(draws: Sequence[Draw], others: Sequence[Draw], parts: Mapping[str, UnreleasedIntermediate]) -> list[str]:
    """Of which parts other answers keep some, in words."""
    return [f"the other answers of {part!r} keep some of its noisy answers as they were, or leave them out, so that "
            "nothing shows that these are hidden: its loss is not known until `other_answers` changes every one"
            for part in parts if kept_entries([draw for draw in draws if belongs(draw, part)], others)]


def _leaks(first: Sequence[Draw], second: Sequence[Draw]) -> list[str]:
    found = []
    if [draw.request for draw in first] != [draw.request for draw in second]:
        found.append("the noise that is asked for (law, scale, size, order) depends on the data")
    if all(draw.law == "split" for draw in first):
        found.append("the run asks for no noise at all")
    return found
