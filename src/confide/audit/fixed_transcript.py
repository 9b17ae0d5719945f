"""The fixed-transcript audit compares a mechanism's runs on two neighbouring data sets, which both get the same noisy
answers.

A run requests every random number from `Noise`, and states the value to which the noise is added, called the center.
Therefore a run on data set D can be recorded, and a run on its neighbour D' can be given the same noisy answers. The
fixed-transcript audit checks four things:

- The run on D' must publish exactly the bytes that the run on D published. If the published bytes differ, information
  reached the public without noise.
- Both runs must report the same progress (`run_with_steps`), because a terminal and the service show it.
- Both runs must request the same distributions, scales and shapes. If the requests for noise differ, the calibration of
  the noise depends on the data.
- The loss for these noisy answers must not exceed the claim. The loss follows exactly from the centers alone, without
  sampling and without error bars.

If the checks succeed, everything published is a function of the noisy answers, and each answer is protected by the
requested distribution. A separate audit, `sampler_audit`, tests on draws whether the sampler really has the requested
distribution.
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
from confide.audit.side_channels import recorded_steps
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Privacy
from confide.contract.renamed import renamed
from confide.privacy.losses import GDP, ZCDP, PureDP
from confide.privacy.noise import Draw, ForcedNoise, Noise, RecordingNoise
from confide.privacy.noise.arguments import StreamName

__all__ = ["DIFFERS", "Neighbours", "TranscriptAudit", "fixed_transcript_audit"]

DIFFERS = "the published values differ although all noisy answers are equal"
"""Text of the leak that is reported if the published values differ between two neighbours."""

Published = Callable[[Any], bytes]
_LAPLACE = {"laplace", "discrete_laplace", "vector_laplace"}
_GAUSSIAN = {"gaussian", "discrete_gaussian"}
_REPORTED = "the progress messages of the run differ although all noisy answers are equal"


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Two data sets that differ in one record.

    Args:
        first: the first data set, in the form that the mechanism's `run` expects.
        second: the second data set, in the form that the mechanism's `run` expects.
        published: function from an outcome to the bytes of everything that the audience of the claim sees. For joint
            privacy, the audience sees all but the changed participant's own share.
    """

    first: Any
    second: Any
    published: Published


@dataclass(frozen=True)
class TranscriptAudit:
    """The result of an audit in which the runs on two neighbours share their noisy answers.

    Args:
        claim: the promised loss.
        measured: the worst loss over the pairs, in the claim's own parameter.
        promised: the promised value of this parameter.
        leaks: outputs that reached the public without noise, or noise requests that depended on the data; empty for a
            correct mechanism.
        pairs: number of pairs of data sets that were compared.
        flagged: whether there is an entry in `leaks` or `doubts`, or a loss above the claim.
        promise: the promise of privacy that was audited; None where only a claimed loss was given.
        doubts: descriptions of intermediate values that are declared unreleased, but that no test could show to be
            unreleased. The loss is then unknown.
        formulas: prefixes of unreleased random streams for which the mechanism's own formula gives the loss, which no
            check confirms.
        shown: share of the noise scale below which the same runs would be flagged. The share is None for other draws
            than added noise, because only for added noise does the share follow from the measured loss.
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
        """The result as a row of an `AuditReport`. If the audit has a `promise`, `AuditRow.holding` accepts the row as
        evidence for promises that follow from it.
        """
        measured, evidence = self.measured, (f"the mechanism's own run on {self.pairs} pairs of neighbours: equal "
                                             f"publications on equal noise, {exactly(self.formulas)}")
        if self.leaks:
            measured, evidence = math.inf, self.leaks[0]
        elif self.doubts:
            measured, evidence = math.nan, self.doubts[0]
        note = "" if self.flagged or self.shown is None else \
            f"the audit would flag noise below {self.shown:.2g} of its scale"
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
        run: the function `run(data, noise)` of the mechanism itself.
        pairs: neighbouring data sets, built as worst cases for the mechanism.
        claims: mapping from a part of the noise to the claim about this part, a loss or a promise. A part is named by a
            prefix of its streams ("release", "release/gram"); the part "" is the whole release.
        noise: function from the number of a noise history, from 0, to the source of noise for this history.
        unreleased: mapping from a part of the noise to a rule, for parts with noisy answers that are not published
            themselves, such as the answers of a sparse vector (`SPARSE_VECTOR`). The loss of unpublished answers is the
            loss of the values published from them. The audit also replaces unpublished answers by other answers from
            which the same published values follow. The run must publish the same values with the replaced answers. An
            answer with an equal replacement is flagged, because such a replacement tests nothing.
        histories: number of histories for each pair. An event that occurs in some histories only, such as a rare
            clamping of a value, is found if one of the histories contains the event.
        promises: promises about the whole release. Each promise is compared with the loss in its own parameter. The
            pairs must differ by the neighbour step of the promises, and show everything that their audience sees.
        other_answers: number of replacements of unreleased answers that are tried in each history, >= 1.

    Returns:
        One audit for each claim, keyed by its part, and one for each promise, keyed by its sentence. A leak flags all
        audits. Every noisy answer counts as published unless `unreleased` names its part. Without `unreleased`, the
        measured loss is therefore too large for a mechanism that publishes less, such as only the position of the
        largest answer.

    Raises:
        InvalidInput: there is no pair, a pair is no `Neighbours`, or there is neither a claim nor a promise.

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
    replayed = [*(_Replayed(part, part, claim) for part, claim in claims.items()),
                *(_Replayed(promise.sentence(), "", promise) for promise in promises)]
    worst = dict.fromkeys((each.name for each in replayed), 0.0)
    leaks: dict[str, None] = {}
    doubts: dict[str, None] = {}
    parts = unreleased or {}
    drawn: dict[StreamName, Draw] = {}
    count = 0
    for count, pair in enumerate(pairs, 1):
        if not isinstance(pair, Neighbours):
            raise InvalidInput("pairs", f"{type(pair).__name__} is not a pair", "must hold Neighbours")
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
                    leaks["the public sees noisy answers that must stay private"] = None
                    break
            for each in replayed:
                both = zip(history.draws, forced.draws, strict=False)
                of_part = [(a, b) for a, b in both if belongs(a, each.part)]
                worst[each.name] = max(worst[each.name], history_loss(of_part, each.loss, parts))
    if count == 0:
        raise InvalidInput("pairs", "the list is empty", "give at least one pair of neighbours")
    for part in dict.fromkeys([*claims, *parts]):
        if part and not any(belongs(draw, part) for draw in drawn.values()):
            names = ", ".join("/".join(map(str, name)) for name in list(drawn)[:8]) or "none"
            leaks[f"the run draws no noise with the name {part!r}; its names are {names}"] = None
    out = {}
    for each in replayed:
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
    """Share of the noise scale below which the loss would exceed the claim; None where the distributions allow no such
    statement. A pure loss is inversely proportional to a Laplace scale. zCDP's rho is inversely proportional to the
    square of a Gaussian scale, and mu to the scale itself.
    """
    share = measured / promised if promised else math.inf
    if laws and isinstance(claim, PureDP) and laws <= _LAPLACE:
        return min(1.0, share)
    if laws and isinstance(claim, ZCDP | GDP) and laws <= _GAUSSIAN:
        return min(1.0, math.sqrt(share) if isinstance(claim, ZCDP) else share)
    return None


def _once(run: Callable[[Any, Noise], Any], data: Any, noise: Noise, published: Published) -> tuple[bytes, Any]:
    """Published bytes of one run, and the progress that it reports if it is made by `run_with_steps`."""
    with recorded_steps() as reported:
        return published(run(data, noise)), reported


class _Replayed(NamedTuple):
    """One comparison of a fixed-transcript audit.

    Args:
        name: name of the audit.
        part: part of the noise that is audited.
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
            raise InvalidInput("claims", f"{found} is not a loss that an audit knows")
        return found


def _other_answers(draws: Sequence[Draw], parts: Mapping[str, UnreleasedIntermediate]) -> list[Draw]:
    """The draws of a history, in which the answers of unreleased parts are replaced by others with the same published
    values.
    """
    out = list(draws)
    for part, rule in parts.items():
        inside = [draw for draw in out if belongs(draw, part)]
        out = [draw for draw in out if not belongs(draw, part)] + list(rule.other_answers(inside))
    return out


def _kept(draws: Sequence[Draw], others: Sequence[Draw], parts: Mapping[str, UnreleasedIntermediate]) -> list[str]:
    """Descriptions of the unreleased parts in which the replacement left some answers unchanged."""
    return [f"`other_answers` leaves some noisy answers of {part!r} unchanged or out, so the audit cannot see whether "
            "these answers stay private. The loss is unknown until `other_answers` changes every noisy answer"
            for part in parts if kept_entries([draw for draw in draws if belongs(draw, part)], others)]


def _leaks(first: Sequence[Draw], second: Sequence[Draw]) -> list[str]:
    found = []
    if [draw.request for draw in first] != [draw.request for draw in second]:
        found.append("the requested noise (law, scale, size, order) depends on the data")
    if all(draw.law == "split" for draw in first):
        found.append("the run draws no noise")
    return found
