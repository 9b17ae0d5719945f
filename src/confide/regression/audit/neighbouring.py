"""Neighbouring data sets that stretch the mechanism: submissions in which one participant hands in something else.

They go through the mechanism's own run, so they are raw submissions: too long, too large, not finite, twice, absent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from confide.audit import Neighbours
from confide.contract.encoding import canonical
from confide.contract.outcome import Outcome, SimulatedOutcome
from confide.privacy.noise import Noise
from confide.regression.private_truthful_regression import PrivateTruthfulRegression
from confide.regression.records import Batch
from confide.regression.release.output_perturbation import RidgeRelease
from confide.regression.sensitivity import steepest

__all__ = ["CROWD", "neighbours"]

Row = tuple[int, np.ndarray, float]

CROWD = 50_000
"""So many people at most hand in something in the last pair; of fewer, everybody does."""

_LEAST_PUSH = 0.01  # records that push the estimate are no shorter, so that they stay few


def neighbours(mechanism: PrivateTruthfulRegression, source: Callable[[int], Noise]) -> Iterator[Neighbours]:
    """Pairs of submissions that differ in what one participant handed in.

    The first pairs are the worst that we know for each noisy answer; then come records that no honest person has.

    Args:
        mechanism: whose bounds are to be stretched.
        source: number of a pair -> the noise that its history will be drawn with; tells who is in which group.
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
        if mechanism.printed_mode and setting.features > 1:
            yield _unconstrained(mechanism, members(group), ridge)
        yield _leaning(mechanism, members(group), ridge, 1.0, 1.0, huge=False)
    people = members(None)
    half = 0.5 if setting.features > 1 else 1.0  # the cosine at which one record moves (A, u/Y) furthest
    yield _pair([], people[0], _along(setting.features, 1.0), setting.response,
                _along(setting.features, half), -setting.response)
    yield _weakest(setting.features, members(None), setting.response)
    yield _pair([], members(None)[0], _along(setting.features, 1.0), 0.0, _along(setting.features, 0.0), 0.0)
    for group, ridge in targets:
        yield _leaning(mechanism, members(group), ridge, 1.0, 1.0, huge=True)
        for length, cosine in ((0.85, 0.8), (1.15, 1.2)):
            yield _leaning(mechanism, members(group), ridge, length, cosine, huge=False)
    yield from _strange(mechanism, members)


def _along(features: int, cosine: float, side: float = 1.0) -> np.ndarray:
    """A unit vector at this cosine to the first axis."""
    x = np.zeros(features)
    x[0] = cosine
    if features > 1:
        x[1] = side * math.sqrt(max(0.0, 1.0 - cosine**2))
    return x


def _leaning(
    mechanism: PrivateTruthfulRegression, members: np.ndarray, ridge: float, length: float, lean: float, *, huge: bool
) -> Neighbours:
    """Others push the estimate to the edge of the ball; the last record leans to one side of it, or to the other.

    Records (c, 0, ...) with the largest answer that they may give push along the first axis to `length` times R while
    they add little curvature. The last record is (cos, sin) or (cos, -sin), with the answer that pulls back: the
    estimate moves by nearly D(R,Y)/ridge. `lean` multiplies the best cosine; `huge` hands in the same record, a million
    times too long.
    """
    setting = mechanism.setting
    d, radius, response = setting.features, setting.ball, setting.response
    reach = length * radius
    shortest = ridge * reach / (setting.noise_bound * max(1, len(members) - 1))  # all others together just suffice
    c = min(1.0, max(_LEAST_PUSH, shortest))
    answer = min(setting.parameter_bound * c + setting.noise_bound, response)  # the most that such a record may say
    copies = min(len(members) - 1, max(1, round(ridge * reach / max(c * (answer - c * reach), 1e-6))))
    cosine = min(1.0, steepest(radius, response) * lean)
    if d > 1:
        first, second, answers = _along(d, cosine), _along(d, cosine, -1.0), (-response, -response)
    else:  # in one dimension: the extremes of R x^2 - y x
        first, second = _along(1, 1.0), _along(1, min(1.0, response / (2 * radius)))
        answers = (-response, response)
    if huge:
        first, answers = first * 1e6, (answers[0] * 1e280, answers[1])
    push = [(int(i), np.concatenate([[c], np.zeros(d - 1)]), answer) for i in members[1 : copies + 1]]
    return _pair(push, int(members[0]), first, answers[0], second, answers[1])


def _unconstrained(mechanism: PrivateTruthfulRegression, members: np.ndarray, ridge: float) -> Neighbours:
    """Others push a plain ridge estimate as far as it goes, (Y/2) sqrt(m/gamma); the last record leans against it.

    Source: spec truthful_regression 4.3.
    """
    d, response, others = mechanism.setting.features, mechanism.setting.response, max(1, len(members) - 1)
    c = min(1.0, math.sqrt(ridge / others))
    cosine = steepest(others * c * response / (ridge + others * c * c), response)
    push = [(int(i), np.concatenate([[c], np.zeros(d - 1)]), response) for i in members[1:]]
    return _pair(push, int(members[0]), _along(d, cosine), -response, _along(d, cosine, -1.0), -response)


def _weakest(features: int, members: np.ndarray, response: float) -> Neighbours:
    """A direction that only one record has: the smallest eigenvalue of X'X falls from 1 to 0 when it goes."""
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
    """Submissions that no honest person makes, against an honest one and against nothing."""
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


def _differ(others: list[Row], first: list[Row], second: list[Row], who: int) -> Neighbours:
    def submissions(rows: list[Row]) -> list[Batch]:
        if not rows:
            return []
        index, X, y = zip(*rows, strict=True)
        return [Batch(np.array(index), np.array(X), np.array(y))]

    def published(outcome: Outcome | SimulatedOutcome) -> bytes:
        manifest, _columns = outcome.public()  # columns are named by their digest
        shares = np.delete(outcome.shares["payment"].to_numpy(), who)
        return canonical(manifest) + shares.tobytes()

    # Whose record it is comes first, so that the changed record is not hidden behind a fixed order of the others.
    return Neighbours(submissions([*first, *others]), submissions([*second, *others]), published)
