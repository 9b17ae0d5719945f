"""Neighbouring data sets that stretch the mechanism: submissions in which one participant hands in something else.

They go through the mechanism's own run, so they are raw submissions: too long, too large, not finite, twice, absent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import takewhile

import numpy as np

from confide.audit import Neighbours, published
from confide.privacy.noise import Noise
from confide.regression.private_truthful_regression import PrivateTruthfulRegression
from confide.regression.records import GRID_BITS, Batch, RecordMap
from confide.regression.release.output_perturbation import RidgeRelease
from confide.regression.sensitivity import diameter, steepest

__all__ = ["CROWD", "ball_matters", "neighbours"]

Row = tuple[int, np.ndarray, float]

CROWD = 50_000
"""So many people at most hand in something in the last pair; of fewer, everybody does."""

_LEAST_PUSH = 0.01  # records that push the estimate are no shorter where that suffices, so that they stay few
_LENGTHS = 2.0 ** -np.arange(0.0, GRID_BITS - 4, 1 / 32)  # of records that push: 1 down to sixteen steps of the grid
_BEYOND = math.sqrt(2.0)
"""Each push beyond the ball is so many times as long as the one before. The first one leaves a ball that is a little
too wide, where it pulls in vain at one that is just right; the last one leaves whatever is no ball at all."""


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
        if not mechanism.held_in_ball and setting.features > 1:
            yield _furthest(mechanism, members(group), ridge)
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
        for length in _beyond(mechanism, setting.people if group is None else min(setting.groups), ridge):
            yield _leaning(mechanism, members(group), ridge, length, 1.0, huge=False)
        if mechanism.held_in_ball:
            yield _furthest(mechanism, members(group), ridge)
    yield from _strange(mechanism, members)


def _along(features: int, cosine: float, side: float = 1.0) -> np.ndarray:
    """A unit vector at this cosine to the first axis."""
    x = np.zeros(features)
    x[0] = cosine
    if features > 1:
        x[1] = side * math.sqrt(max(0.0, 1.0 - cosine**2))
    return x


def _answers(records: RecordMap, lengths: np.ndarray) -> np.ndarray:
    """The largest answers that records of these lengths may give."""
    return np.minimum(records.parameter_bound * lengths + records.noise_bound, records.response_bound)


def _estimates(records: RecordMap, others: int, ridge: float) -> np.ndarray:
    """Where all others together push a ridge estimate without a ball, for each of `_LENGTHS`."""
    return np.asarray(others * _LENGTHS * _answers(records, _LENGTHS) / (ridge + others * _LENGTHS**2))


def _beyond(mechanism: PrivateTruthfulRegression, rows: int, ridge: float) -> list[float]:
    """Pushes beyond the ball, in units of R, that so many people can give to an estimate that no ball holds."""
    longest = float(_estimates(mechanism.record_map, rows - 1, ridge).max()) / mechanism.setting.ball
    return list(takewhile(lambda length: length < longest, (_BEYOND**k for k in range(1, 128))))


def ball_matters(mechanism: PrivateTruthfulRegression, room: float = 1.1) -> bool:
    """Whether payment estimates without their ball would break the promise on pairs of these sizes.

    Where few people, or a heavy ridge, hold the estimate back, nobody can tell a ball from none.

    Args:
        mechanism: corrected; the printed one has no ball.
        room: how many times the promised movement theirs is at least.
    """
    setting, ridge = mechanism.setting, mechanism.payment.ridge
    longest = float(_estimates(mechanism.record_map, min(setting.groups) - 1, ridge).max())
    moved = diameter(longest, setting.response) * ridge / (ridge + 1.0)  # the last record holds its direction by 1
    return setting.features > 1 and moved >= room * setting.diameter


def _leaning(
    mechanism: PrivateTruthfulRegression, members: np.ndarray, ridge: float, length: float, lean: float, *, huge: bool
) -> Neighbours:
    """Others push the estimate to `length` times R; the last record leans to one side of it, or to the other.

    Records (c, 0, ...) with the largest answer that they may give push along the first axis, while they add as little
    curvature as their number allows. Beyond 1 that is where only an estimate goes whose ball is wider than promised.
    The last record is (cos, sin) or (cos, -sin), with the answer that pulls back: the estimate moves by nearly
    D(R,Y)/ridge. `lean` multiplies the best cosine; `huge` hands in the same record, a million times too long.
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
                   lean, huge=huge)


def _furthest(mechanism: PrivateTruthfulRegression, members: np.ndarray, ridge: float) -> Neighbours:
    """Everybody else pushes as far as a ridge estimate without a ball goes; the last record leans against it.

    Where records of the best length may answer Y that is (Y/2) sqrt(m/gamma).

    Source: spec truthful_regression 4.3.
    """
    reached = _estimates(mechanism.record_map, len(members) - 1, ridge)
    best = int(np.argmax(reached))
    return _pushed(mechanism, members, float(_LENGTHS[best]), float(reached[best]), 1.0, huge=False)


def _pushed(
    mechanism: PrivateTruthfulRegression, members: np.ndarray, push: float, reach: float, lean: float, *, huge: bool
) -> Neighbours:
    """All members but the first hand in (push, 0, ...); the first leans against an estimate of length `reach`."""
    d, response = mechanism.setting.features, mechanism.setting.response
    cosine = min(1.0, steepest(reach, response) * lean)
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


def _differ(others: list[Row] | Batch, first: list[Row], second: list[Row], who: int) -> Neighbours:
    def batches(rows: list[Row] | Batch) -> list[Batch]:
        if isinstance(rows, Batch) or not rows:
            return [rows] if isinstance(rows, Batch) else []
        index, X, y = zip(*rows, strict=True)
        return [Batch(np.array(index), np.array(X), np.array(y))]

    # Whose record it is comes first, so that the changed record is not hidden behind a fixed order of the others.
    return Neighbours([*batches(first), *batches(others)], [*batches(second), *batches(others)],
                      partial(published, index=who))
