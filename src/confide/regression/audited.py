"""The audit of a private regression: worst-case submissions, checks of each part of its noise, and injected faults.

No participant's record is used. Privacy is tested with neighbouring submissions that pass through the mechanism's own
`run`. Incentives, accuracy and payments are measured on people drawn from the public model.

The module also has the mechanisms with injected faults, each of which the audit must flag, and the mechanism as printed
in Cummings et al. 2015, whose estimates are not constrained to a ball. The audit of that mechanism shows that the
printed proof of privacy fails.

Source: Cummings et al. 2015, Lemma 6; spec truthful_regression 4.3.

The worst-case neighbours of the mechanism are submissions in which one participant hands in a different record.
Worst-case submissions pass through the mechanism's own `run`, which must accept raw records: records that are too long,
too large, not finite, submitted twice, or absent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import partial
from itertools import takewhile
from typing import Any, TypeVar

import numpy as np

from confide.audit import (
    Audited,
    Examined,
    Laws,
    Loss,
    Neighbours,
    TranscriptAudit,
    Transcripts,
    fixed_transcript_audit,
    observed,
    published,
)
from confide.contract.guarantees import Guarantees, Privacy
from confide.privacy.events import Event
from confide.privacy.losses import ZCDP, PureDP
from confide.privacy.noise import Noise
from confide.regression.audited_behaviour import behaviour_rows, far_lies, own_score_row, range_row, wrong_signs
from confide.regression.private_truthful_regression import PrivateTruthfulRegression
from confide.regression.records import GRID_BITS, Batch, RecordMap
from confide.regression.release.ada_ssp import AdaSSP
from confide.regression.release.output_perturbation import Averaged, RidgeRelease
from confide.regression.sensitivity import WeightedRows, counterexample, diameter, printed_constant, steepest
from confide.regression.setting import Setting

__all__ = [
    "CROWD",
    "FALSE_ALARM",
    "PaidByOwnGroup",
    "Unbounded",
    "Unclipped",
    "ball_matters",
    "claims_of",
    "injected",
    "named_charge",
    "neighbours",
    "paid_of",
    "printed_audit",
    "printed_loss",
    "printed_samples",
    "privacy",
    "regression",
    "wider_ball",
]

# ---- audited faults

Broken = TypeVar("Broken", bound=PrivateTruthfulRegression)


def injected(kind: type[Broken], sound: PrivateTruthfulRegression) -> Broken:
    """Build a mechanism with an injected fault from the parameters of a sound mechanism."""
    made: type[Broken] = kind if issubclass(kind, type(sound)) else type(kind.__name__, (kind, type(sound)), {})
    return made(setting=sound.setting, payment=sound.payment, release=sound.release, behaviour=sound.behaviour)


class _WiderBall(Setting):
    """Injected fault: estimates are constrained to a ball that is ten times as wide as the noise is scaled for."""

    @property
    def ball(self) -> float:
        return 10 * super().ball

    @property
    def diameter(self) -> float:
        return self.narrow.diameter

    @property
    def narrow(self) -> Setting:
        """The setting for which privacy is guaranteed."""
        return Setting(**{each.name: getattr(self, each.name) for each in fields(Setting)})


def wider_ball(sound: PrivateTruthfulRegression) -> PrivateTruthfulRegression:
    """Injected fault: the mechanism with its own solver and noise, but with a ball too wide to constrain most
    estimates.

    Args:
        sound: corrected mechanism, without faults. The printed mechanism is not suitable, because it has no ball.
    """
    setting = _WiderBall(**{each.name: getattr(sound.setting, each.name) for each in fields(Setting)})
    return replace(sound, setting=setting)


class Unclipped(PrivateTruthfulRegression):
    """Injected fault: a mechanism whose records may be sixteen times as large as its noise allows for."""

    @property
    def record_map(self) -> RecordMap:
        sound = self.setting.record_map
        return replace(sound, response_bound=16 * sound.response_bound, noise_bound=16 * sound.response_bound)


class PaidByOwnGroup(PrivateTruthfulRegression):
    """Injected fault: the estimate that predicts a participant includes the participant's own answer."""

    def exact_payments(self, X: np.ndarray, y: np.ndarray, group: np.ndarray, peers: np.ndarray) -> np.ndarray:
        return super().exact_payments(X, y, ~group, peers)


class Unbounded(PrivateTruthfulRegression):
    """Injected fault: predictions are not clipped, although the stated range of payments assumes clipping."""

    @property
    def prediction_bound(self) -> None:
        return None


# ---- audited print

_ROWS, _RIDGE = 10_000, 10.0  # where the printed proof fails by a factor 5.34 (spec 4.3)


def _scale(epsilon: float) -> float:
    return printed_constant(1.0, 1.0) / (_RIDGE * epsilon)


def printed_audit(epsilon: float, noise: Noise) -> TranscriptAudit:
    """Audit the printed release on the two data sets of `sensitivity.counterexample`, by the same function as all other
    releases.
    """

    def release(data: WeightedRows, source: Noise) -> np.ndarray:
        return source.vector_laplace(_scale(epsilon), 2, stream=("release",), center=data.ridge(_RIDGE))

    pair = Neighbours(*counterexample(_ROWS, _RIDGE), lambda estimate: estimate.tobytes())
    return fixed_transcript_audit(release, [pair], {"": PureDP(epsilon)}, lambda _: noise)[""]


def printed_loss(epsilon: float) -> float:
    """True privacy loss of the printed mechanism where the mechanism claims epsilon. The parameters, in the notation of
    Cummings et al. 2015, are n = 10^4, gamma = 10 and B = M = 1.
    """
    first, second = counterexample(_ROWS, _RIDGE)
    return float(np.linalg.norm(first.ridge(_RIDGE) - second.ridge(_RIDGE))) / _scale(epsilon)


def printed_samples(epsilon: float, runs: int, noise: Noise) -> tuple[np.ndarray, np.ndarray]:
    """Releases of the printed mechanism on the two data sets of `sensitivity.counterexample`, projected on the line
    through the two estimates.

    Args:
        epsilon: privacy loss that the mechanism claims.
        runs: number of releases of each data set.
        noise: source of the noise.
    """
    a, b = (data.ridge(_RIDGE) for data in counterexample(_ROWS, _RIDGE))
    axis = (a - b) / float(np.linalg.norm(a - b))
    # Radius and direction in bulk: a sum of d exponentials, and normalised normals (spec 4.4).
    draws = []
    for side, center in enumerate((a, b)):
        z = noise.gaussian(1.0, (runs, 2), stream=("audit", "direction", side))
        radius = np.abs(noise.laplace(_scale(epsilon), (runs, 2), stream=("audit", "radius", side))).sum(axis=1)
        draws.append(center @ axis + radius * (z @ axis) / np.linalg.norm(z, axis=1))
    return draws[0], draws[1]


# ---- audited submissions

Row = tuple[int, np.ndarray, float]

CROWD = 50_000
"""Largest number of people who hand in a record in the last pair of neighbours. In campaigns with fewer people,
everybody hands in a record.
"""

_LEAST_PUSH = 0.01  # records that push the estimate are no shorter where that suffices, so that they stay few
_LENGTHS = 2.0 ** -np.arange(0.0, GRID_BITS - 4, 1 / 32)  # of records that push: 1 down to sixteen steps of the grid
_BEYOND = math.sqrt(2.0)
"""Ratio of the lengths of successive test estimates beyond the ball.

The shortest test estimate exceeds a ball that is slightly too wide, and has no effect on a correct ball. The longest
test estimate exceeds any ball that does not constrain at all.
"""


def neighbours(mechanism: PrivateTruthfulRegression, source: Callable[[int], Noise]) -> Iterator[Neighbours]:
    """Pairs of submissions that differ in one participant's report.

    The first pairs are the worst known pairs for each noisy estimate. The further pairs have records that no honest
    person has.

    Args:
        mechanism: mechanism for which the pairs are made. The pairs reach the bounds on the mechanism's sensitivities.
        source: function from the number of a pair to the noise source of the runs on that pair. The noise source also
            draws the two groups.
    """
    setting = mechanism.setting
    count = 0

    def members(group: int | None) -> np.ndarray:
        nonlocal count
        split = source(count).split(setting.people, stream=("split",))
        count += 1
        return np.arange(setting.people) if group is None else np.flatnonzero(split == bool(group))

    release = mechanism.release
    targets: list[tuple[int | None, float]] = [(0, mechanism.payment.ridge), (1, mechanism.payment.ridge)]
    if isinstance(release, RidgeRelease):
        targets.append((None, release.ridge))
    for group, ridge in targets:
        if not mechanism.held_in_ball and setting.features > 1:
            yield _furthest(mechanism, members(group), ridge)
        yield _tilted(mechanism, members(group), ridge, 1.0, 1.0, huge=False)
    people = members(None)
    half = 0.5 if setting.features > 1 else 1.0  # the cosine at which one record moves (A, u/Y) furthest
    yield _pair([], people[0], _along(setting.features, 1.0), setting.response,
                _along(setting.features, half), -setting.response)
    yield _weakest(setting.features, members(None), setting.response)
    yield _pair([], members(None)[0], _along(setting.features, 1.0), 0.0, _along(setting.features, 0.0), 0.0)
    for group, ridge in targets:
        yield _tilted(mechanism, members(group), ridge, 1.0, 1.0, huge=True)
        for length, cosine in ((0.85, 0.8), (1.15, 1.2)):
            yield _tilted(mechanism, members(group), ridge, length, cosine, huge=False)
        for length in _beyond(mechanism, setting.people if group is None else min(setting.groups), ridge):
            yield _tilted(mechanism, members(group), ridge, length, 1.0, huge=False)
        if mechanism.held_in_ball:
            yield _furthest(mechanism, members(group), ridge)
    yield from _strange(mechanism, members)


def _along(features: int, cosine: float, side: float = 1.0) -> np.ndarray:
    """A unit vector whose cosine to the first axis is `cosine`."""
    x = np.zeros(features)
    x[0] = cosine
    if features > 1:
        x[1] = side * math.sqrt(max(0.0, 1.0 - cosine**2))
    return x


def _answers(records: RecordMap, lengths: np.ndarray) -> np.ndarray:
    """The largest answers that records of the given lengths may have."""
    return np.minimum(records.parameter_bound * lengths + records.noise_bound, records.response_bound)


def _estimates(records: RecordMap, others: int, ridge: float) -> np.ndarray:
    """The length of the ridge estimate, without a ball, that `others` people can produce together, for each record
    length in `_LENGTHS`.
    """
    return np.asarray(others * _LENGTHS * _answers(records, _LENGTHS) / (ridge + others * _LENGTHS**2))


def _beyond(mechanism: PrivateTruthfulRegression, rows: int, ridge: float) -> list[float]:
    """The lengths beyond the ball, in units of its radius R, that a number of people can give to an estimate without a
    ball.
    """
    longest = float(_estimates(mechanism.record_map, rows - 1, ridge).max()) / mechanism.setting.ball
    return list(takewhile(lambda length: length < longest, (_BEYOND**k for k in range(1, 128))))


def ball_matters(mechanism: PrivateTruthfulRegression, room: float = 1.1) -> bool:
    """Whether payment estimates without their constraint to a ball would violate the privacy guarantee, on neighbours
    with the mechanism's number of people.

    If few people or a large ridge weight keep the estimate short, a mechanism with a ball cannot be distinguished from
    a mechanism without a ball.

    Args:
        mechanism: corrected mechanism. The printed mechanism is not suitable, because it has no ball.
        room: least ratio of the estimates' movement without a ball to the guaranteed bound on that movement.
    """
    setting, ridge = mechanism.setting, mechanism.payment.ridge
    longest = float(_estimates(mechanism.record_map, min(setting.groups) - 1, ridge).max())
    moved = diameter(longest, setting.response) * ridge / (ridge + 1.0)  # the last record holds its direction by 1
    return setting.features > 1 and moved >= room * setting.diameter


def _tilted(
    mechanism: PrivateTruthfulRegression, members: np.ndarray, ridge: float, length: float, alignment: float, *,
    huge: bool,
) -> Neighbours:
    """A pair of neighbours: all others push the estimate to `length` times R, and the last record pulls to one side of
    the estimate or to the other side.

    The others' records (c, 0, ...), with the largest answer that they may have, push along the first axis and add as
    little curvature as their number allows. A length above 1 is reached only by an estimate whose ball is wider than
    stated. The last record is (cos, sin) or (cos, -sin), with an answer that pulls back, so that the estimate moves by
    nearly D(R,Y)/ridge. The argument `alignment` multiplies the best cosine. With `huge` the first version of the last
    record is a million times too long.
    """
    records, others, reach = mechanism.record_map, len(members) - 1, length * mechanism.setting.ball
    # At the reach, one record pulls by c (answer - c reach), and the ridge by ridge times the reach.
    pulls = _LENGTHS * (_answers(records, _LENGTHS) - _LENGTHS * reach)
    short = np.flatnonzero((others * pulls >= ridge * reach) & (_LENGTHS >= _LEAST_PUSH))
    if not len(short):
        short = np.flatnonzero(others * pulls >= ridge * reach)[:1]
    best = int(short[-1]) if len(short) else int(np.argmax(pulls))
    copies = min(others, max(1, round(ridge * reach / max(float(pulls[best]), 1e-6))))
    return _pushed(mechanism, members[: copies + 1], float(_LENGTHS[best]), max(1.0, length) * mechanism.setting.ball,
                   alignment, huge=huge)


def _furthest(mechanism: PrivateTruthfulRegression, members: np.ndarray, ridge: float) -> Neighbours:
    """A pair of neighbours: all others push the estimate as far as a ridge estimate without a ball can go, and the last
    record pulls against it.

    Where records of the best length may have the answer Y, the estimate reaches (Y/2) sqrt(m/gamma), with m other
    records and ridge weight gamma.

    Source: spec truthful_regression 4.3.
    """
    reached = _estimates(mechanism.record_map, len(members) - 1, ridge)
    best = int(np.argmax(reached))
    return _pushed(mechanism, members, float(_LENGTHS[best]), float(reached[best]), 1.0, huge=False)


def _pushed(
    mechanism: PrivateTruthfulRegression, members: np.ndarray, push: float, reach: float, alignment: float, *,
    huge: bool,
) -> Neighbours:
    """A pair in which all members but the first hand in (push, 0, ...), and the first member's record pulls against an
    estimate of length `reach`.
    """
    d, response = mechanism.setting.features, mechanism.setting.response
    cosine = min(1.0, steepest(reach, response) * alignment)
    if d > 1:
        first, second, answers = _along(d, cosine), _along(d, cosine, -1.0), (-response, -response)
    else:  # in one dimension: the extremes of R x^2 - y x
        first, second = _along(1, 1.0), _along(1, min(1.0, response / (2 * reach)))
        answers = (-response, response)
    if huge:
        first, answers = first * 1e6, (answers[0] * 1e280, answers[1])
    others, answer = len(members) - 1, float(_answers(mechanism.record_map, np.array(push)))
    crowd = Batch(members[1:], np.broadcast_to(_along(d, 1.0) * push, (others, d)), np.full(others, answer))
    who = int(members[0])
    return _differ(crowd, [(who, first, answers[0])], [(who, second, answers[1])], who)


def _weakest(features: int, members: np.ndarray, response: float) -> Neighbours:
    """A pair that differs in the only record with some direction: without that record the smallest eigenvalue of X'X
    falls from 1 to 0.
    """
    copies = min(40, (len(members) - 1) // max(1, features - 1)) if features > 1 else 0
    rows: list[Row] = []
    for axis in range(1, features):
        x = np.zeros(features)
        x[axis] = 1.0
        rows += [(int(i), x, response) for i in members[1 + (axis - 1) * copies : 1 + axis * copies]]
    return _differ(rows, [(int(members[0]), _along(features, 1.0), 0.0)], [], int(members[0]))


def _strange(
    mechanism: PrivateTruthfulRegression, members: Callable[[int | None], np.ndarray]
) -> Iterator[Neighbours]:
    """Pairs with submissions that no honest person makes, against an honest submission or against no submission."""
    setting = mechanism.setting
    d, y = setting.features, setting.response
    e = _along(d, 1.0)
    for group in (0, 1):
        who = int(members(group)[0])
        yield _differ([], [], [(who, e, y)], who)  # handed in nothing
        who = int(members(group)[0])
        yield _differ([], [(who, np.full(d, math.nan), y)], [(who, e, -y)], who)
        who = int(members(group)[0])
        # The same person many times, among strangers who were never invited: one record at most may count.
        crowd = [(who, e, -y)] * 40 + [(-1, e, -y), (setting.people, e, -y), (setting.people + 7, e, -y)]
        yield _differ([], [(who, e, y)], crowd, who)
    everybody = members(None)
    others = [(int(i), _along(d, math.cos(k), -1.0) * 0.7, y * math.sin(3.0 * k)) for k, i in
              enumerate(everybody[1:CROWD])]
    yield _differ(others, [(int(everybody[0]), e * 1e200, math.inf)], [(int(everybody[0]), -e, 0.0)], int(everybody[0]))


def _pair(others: list[Row], who: int, x: np.ndarray, y: float, z: np.ndarray, w: float) -> Neighbours:
    return _differ(others, [(who, x, y)], [(who, z, w)], who)


def _differ(others: list[Row] | Batch, first: list[Row], second: list[Row], who: int) -> Neighbours:
    def batches(rows: list[Row] | Batch) -> list[Batch]:
        if isinstance(rows, Batch) or not rows:
            return [rows] if isinstance(rows, Batch) else []
        index, X, y = zip(*rows, strict=True)
        return [Batch(np.array(index), np.array(X), np.array(y))]

    # Whose record it is comes first, so that the changed record is not hidden behind a fixed order of the others.
    return Neighbours([*batches(first), *batches(others)], [*batches(second), *batches(others)],
                      partial(published, index=who))


# ---- audited

FALSE_ALARM = 1e-9
"""Probability with which one statistical row of the audit reports a violation although the guarantee holds."""

_DRAWS = 400  # enough to see a scale that is wrong by a factor two at that false alarm
_HARDEST = 4  # pairs that a control is shown: the worst ones come first
_PARTS = {"the payment estimates alone": "payment", "the release alone": "release"}
"""Mapping from each part of a guarantee to the first word of the names of its noise streams."""
_NAMES = {"payment": "payment estimates", "release": "release"}
_TYPES = 40  # people whose best lie is looked for


def claims_of(mechanism: PrivateTruthfulRegression) -> dict[str, Loss]:
    """Mapping from each part of the noise to the privacy loss that the mechanism claims for this part. A key is the
    first words of the names of the part's streams. The key "" stands for all noise together.

    For a mechanism as printed in Cummings et al. 2015, the losses are the printed claims, and the audit reports the
    false claims.
    """
    release = mechanism.release
    claims: dict[str, Loss] = {"": mechanism.stated_loss, "payment": PureDP(mechanism.payment.epsilon)}
    if isinstance(release, AdaSSP):
        claims["release"] = ZCDP(release.rho)
        claims |= {f"release/{part}": ZCDP(release.rho / 3) for part in ("eigenvalue", "gram", "cross")}
    elif not isinstance(release, Averaged):
        claims["release"] = PureDP(release.epsilon)
    return claims


def regression(mechanism: PrivateTruthfulRegression, seed: int = 0) -> Audited:
    """The audit of one regression mechanism.

    Args:
        mechanism: mechanism that the campaign runs.
        seed: seed of all randomness, except of the draws that test secure noise.
    """
    runs = int(np.clip(2_000_000 // (mechanism.setting.people * mechanism.setting.features), 3, 25))
    clipped = mechanism.payment.clip is not None
    bent = {"peers with predictions of the wrong sign": partial(wrong_signs, mechanism, seed)}
    return Audited(
        promises=mechanism.guarantees() if mechanism.claims_privacy else Guarantees(()), paid=paid_of,
        events=mechanism.events if mechanism.claims_privacy else tuple,
        charged=named_charge(mechanism) if mechanism.claims_privacy else None, measured=[
            *privacy(mechanism, seed),
            Examined(named="privacy loss", rows=lambda replay: [] if replay is None else [replay().row()], faults={
                "the printed sensitivity without the ball (n = 10,000, gamma = 10)":
                    partial(printed_audit, 1.0, Noise.simulated(seed))}),
            Examined(named="incentives", sound=mechanism, rows=lambda it: [own_score_row(it, seed)], faults={
                "payments by the estimate of the person's own group": injected(PaidByOwnGroup, mechanism)}),
            Examined(named="range of payments", sound=mechanism, rows=lambda it: [range_row(it)] if clipped else [],
                     faults={"predictions that are not clipped": injected(Unbounded, mechanism)} if clipped else {}),
            Examined(named="incentives", rows=lambda rows: rows(), sound=partial(
                behaviour_rows, mechanism, seed, runs, _TYPES), faults=bent if far_lies(mechanism, seed) else {})])


def privacy(mechanism: PrivateTruthfulRegression, seed: int) -> list[Transcripts | Laws]:
    """The examinations of privacy. They cover the public part of a run, piece by piece, and the laws of its noise.

    Args:
        mechanism: mechanism to examine, sound or with an injected fault.
        seed: seed of the transcripts.
    """
    people, claims = mechanism.setting.people, claims_of(mechanism)
    faults: dict[str, Any] = {"answers beyond the bound count sixteen times": injected(Unclipped, mechanism).run}
    if mechanism.held_in_ball and ball_matters(mechanism):
        faults["a ball ten times as wide"] = wider_ball(mechanism).run
    replayed = Transcripts(
        named="privacy loss: everything that others see, jointly", run=mechanism.run, seed=seed,
        promises=mechanism.guarantees().privacy, parts=_PARTS,
        claims=claims, names={part: f"privacy loss: {_NAMES.get(part, part)}" for part in claims if part},
        hardest=_HARDEST, faults=faults,
        note=f"in one pair {min(people, CROWD):,} of {people:,} people hand in a record",
        pairs=lambda: neighbours(mechanism, lambda number: Noise.simulated(seed * 1009 + number)))
    return [replayed, Laws(draws=lambda: observed(mechanism.run, [], seed), samples=_DRAWS, false_alarm=FALSE_ALARM,
                           seed=seed)]


def named_charge(mechanism: PrivateTruthfulRegression) -> PureDP | ZCDP:
    """The privacy loss that the mechanism's parameters state, as a total epsilon or rho.

    Args:
        mechanism: mechanism that claims privacy.
    """
    release, pays = claims_of(mechanism).get("release"), mechanism.payment.epsilon
    if isinstance(release, ZCDP):
        return ZCDP(pays**2 / 2 + release.rho)
    return PureDP(pays + (release.epsilon if isinstance(release, PureDP) else 0.0))


def paid_of(promise: Privacy, events: tuple[Event, ...]) -> tuple[Event, ...]:
    """The privacy events that a guarantee is charged for: the events of the payment estimates, the events of the
    release, or all events.

    Args:
        promise: guarantee of a regression.
        events: events of a whole run.
    """
    if promise.part not in _PARTS:
        return events
    payment = _PARTS[promise.part] == "payment"
    return tuple(event for event in events if (event.label == "payment estimates") is payment)
