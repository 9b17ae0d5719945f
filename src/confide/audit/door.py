"""The audit through the door: a mechanism's own run on neighbouring data sets, along one and the same public history.

A run asks `Noise` for every random number, and says what the noise is added to. So a run on data D can be written down,
and a run on a neighbour D' can be given the same answers. Then

- what D' publishes must equal what D published, bit for bit: otherwise something reached the public past the noise;
- both must ask for the same laws, scales and shapes: otherwise the calibration depends on the data;
- the loss along this history follows from the centers alone, exactly: no sampling, no error bars.

Everything that is published is then a function of the answers, and each answer is protected by the law that was asked
for. That the sampler really draws that law is checked apart, on its own draws: `sampler_audit`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from confide.audit.comparing import Loss, exceeds
from confide.audit.history_loss import HiddenPart, belongs, history_loss, promised_parameter
from confide.audit.report import AuditRow
from confide.contract.errors import InvalidInput
from confide.privacy.noise import Draw, ForcedNoise, Noise, RecordingNoise
from confide.privacy.noise.arguments import StreamName

__all__ = ["DoorAudit", "Neighbours", "door_audit"]

Published = Callable[[Any], bytes]


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
class DoorAudit:
    """What a walk along common histories found.

    Args:
        claim: the promised loss.
        measured: the worst loss over the pairs, in the claim's own parameter.
        promised: the claim's parameter.
        leaks: what reached the public past the noise, or depended on the data; empty for a sound mechanism.
        pairs: how many pairs of data sets were walked.
        flagged: a leak, or a loss above the claim.
    """

    claim: Loss
    measured: float
    promised: float
    leaks: tuple[str, ...]
    pairs: int
    flagged: bool

    def row(self, promise: str = "privacy") -> AuditRow:
        """The result as a row of an `AuditReport`."""
        if self.leaks:
            return AuditRow.of_loss(promise, self.claim, self.promised, math.inf, self.leaks[0], flagged=True)
        evidence = f"its own run on {self.pairs} pairs of neighbours: published alike on equal noise, loss exact there"
        return AuditRow.of_loss(promise, self.claim, self.promised, self.measured, evidence, flagged=self.flagged)


def door_audit(
    run: Callable[[Any, Noise], Any], pairs: Iterable[Neighbours], claims: Mapping[str, Loss],
    noise: Callable[[int], Noise], hidden: Mapping[str, HiddenPart] | None = None, histories: int = 1,
) -> dict[str, DoorAudit]:
    """Walk a mechanism's own run over pairs of neighbouring data sets.

    Args:
        run: `run(data, noise)`: the mechanism itself.
        pairs: neighbouring data sets, made to stretch the mechanism.
        claims: for each part of the noise, named by the first words of its streams ("release", "release/gram"), what
            is promised of it; the part "" is everything together.
        noise: number of a history (from 0) -> the source of noise for it.
        hidden: parts whose noisy answers are not published themselves, such as those of a sparse vector
            (`SPARSE_VECTOR`). Their loss is that of what is published; and with other answers, from which the same
            follows, the same must be published.
        histories: how many histories of each pair are walked. What happens in some of them only, such as a cut that
            rare noise meets, is seen where one of them meets it.

    Returns:
        One audit per claim; a leak flags all of them. Every noisy answer of a part that is not hidden counts as
        published: a mechanism that publishes less (the largest of them, or that one is above a threshold) is judged too
        hard without `hidden`.

    Raises:
        InvalidInput: no pair, or not pairs of neighbours.

    Example:
        >>> from confide.privacy import PureDP
        >>> def mean(values, noise):  # sensitivity 1/2 of two values in [0, 1], noise for a loss of 1
        ...     return noise.laplace(0.5, 1, stream="mean", center=[sum(values) / 2])
        >>> pair = Neighbours([0.0, 1.0], [1.0, 1.0], lambda outcome: outcome.tobytes())
        >>> found = door_audit(mean, [pair], {"": PureDP(1.0)}, Noise.simulated)
        >>> found[""].measured, found[""].flagged
        (1.0, False)
    """
    if not isinstance(claims, Mapping) or not claims:
        raise InvalidInput("claims", f"{type(claims).__name__}", "must be {part of the noise: its loss}, one or more")
    worst = dict.fromkeys(claims, 0.0)
    leaks: dict[str, None] = {}
    parts = hidden or {}
    drawn: dict[StreamName, Draw] = {}
    count = 0
    for count, pair in enumerate(pairs, 1):
        if not isinstance(pair, Neighbours):
            raise InvalidInput("pairs", f"{type(pair).__name__} is no pair", "must hold Neighbours")
        for number in range(histories):
            history = RecordingNoise(noise((count - 1) * histories + number))
            shown = pair.published(run(pair.first, history))
            drawn |= {draw.stream: draw for draw in history.draws}
            forced = ForcedNoise(history.draws)
            other = pair.published(run(pair.second, forced))
            leaks |= dict.fromkeys(_leaks(history.draws, forced.draws))
            if shown != other:
                leaks["what is published differs although all noisy answers are the same"] = None
            if parts and pair.published(run(pair.first, ForcedNoise(_disguised(history.draws, parts)))) != shown:
                leaks["noisy answers that should stay hidden reach the public"] = None
            for part, claim in claims.items():
                both = zip(history.draws, forced.draws, strict=False)
                of_part = [(a, b) for a, b in both if belongs(a, part)]
                worst[part] = max(worst[part], history_loss(of_part, claim, parts))
    if count == 0:
        raise InvalidInput("pairs", "there are none", "give at least one pair of neighbours")
    for part in dict.fromkeys([*claims, *parts]):
        if part and not any(belongs(draw, part) for draw in drawn.values()):
            names = ", ".join("/".join(map(str, name)) for name in list(drawn)[:8]) or "none"
            leaks[f"no noise was asked for by the name {part!r}; names are {names}"] = None
    out = {}
    for part, claim in claims.items():
        promised = promised_parameter(claim)
        flagged = bool(leaks) or exceeds(worst[part], promised)
        out[part] = DoorAudit(claim, worst[part], promised, tuple(leaks), count, flagged)
    return out


def _disguised(draws: Sequence[Draw], parts: Mapping[str, HiddenPart]) -> list[Draw]:
    """The draws of a history, those of hidden parts with other answers from which the same follows."""
    out = list(draws)
    for part, rule in parts.items():
        inside = [draw for draw in out if belongs(draw, part)]
        out = [draw for draw in out if not belongs(draw, part)] + list(rule.other_answers(inside))
    return out


def _leaks(first: Sequence[Draw], second: Sequence[Draw]) -> list[str]:
    found = []
    if [draw.request for draw in first] != [draw.request for draw in second]:
        found.append("the noise that is asked for (law, scale, size, order) depends on the data")
    if all(draw.law == "split" for draw in first):
        found.append("the run asks for no noise at all")
    return found
