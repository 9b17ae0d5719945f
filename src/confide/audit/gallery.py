"""The gallery: classic bugs of private mechanisms, each injected once, and the audit that must find it.

An audit that never flags anything is useless. Every exhibit is a small mechanism in a correct and in a broken form.
Both forms go through the same audit as any mechanism of confide. The audit must pass the correct form and flag the
broken one. The exhibit states the probability of a flag: 1 where the evidence is exact, and a computed probability
where it is sampled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from confide.audit.comparing import Loss
from confide.audit.faulty_noise import DampedNoise, RepeatedNoise, ShiftedNoise, StuckNoise
from confide.audit.fixed_transcript import Neighbours, fixed_transcript_audit
from confide.audit.history_loss import SPARSE_VECTOR, UnreleasedIntermediate
from confide.audit.power import flag_probability
from confide.audit.report import AuditReport, AuditRow, Control
from confide.audit.sampler import sampler_audit
from confide.audit.statistical import statistical_audit
from confide.contract.presentation import Section, Table
from confide.privacy.losses import PureDP
from confide.privacy.noise import Noise, RecordingNoise
from confide.privacy.response import response_table
from confide.privacy.sparse_vector import SparseVector
from confide.privacy.tree_counter import TreeCounter

__all__ = ["Exhibit", "exhibits", "gallery_section"]

EPSILON = 1.0
CLAIM = PureDP(EPSILON)
_CATEGORIES = 4
_DIMENSION = 4
_RUNS = 20_000
_DRAWS = 4000
_SHIFT = 0.25

Values = Sequence[float]
Run = Callable[[Any, Noise], Any]


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """One bug, and the audit that must find it.

    Args:
        bug: description of the fault.
        consequence: description of the information that the fault reveals.
        method: name of the audit.
        audit: function from a boolean to the row of the audit: True for the broken form, False for the correct form.
        power: lower bound, in [0, 1], of the probability that the broken form is flagged.
        false_alarm: probability, in [0, 1], that the correct form is flagged.
    """

    bug: str
    consequence: str
    method: str
    audit: Callable[[bool], AuditRow]
    power: float = 1.0
    false_alarm: float = 0.0

    def report(self) -> AuditReport:
        """Report with the correct form's row, and with the broken form as its control. The report passes if both forms
        are judged correctly.
        """
        return AuditReport((self.audit(False),), (Control(self.method, self.bug, self.audit(True).flagged),))


def exhibits(alpha: float = 1e-9) -> tuple[Exhibit, ...]:
    """All exhibits of the gallery.

    Args:
        alpha: false-alarm probability of each sampled audit, in (0, 1).

    Example:
        >>> forgotten = next(exhibit for exhibit in exhibits() if "forgotten" in exhibit.bug)
        >>> forgotten.report().passed, forgotten.audit(True).evidence
        (True, 'the published values differ although all noisy answers are equal')
    """
    return (
        _by_fixed_transcript(
            "randomised response with an error by one", "odds of e^1.41, while the promise is e",
            partial(_respond, categories=_CATEGORIES), partial(_respond, categories=_CATEGORIES - 1), _ANSWERS,
        ),
        _by_fixed_transcript(
            "noise divided by the dimension", "each coordinate spends the whole epsilon",
            partial(_vector, scale=_DIMENSION / EPSILON), partial(_vector, scale=1 / EPSILON), _VECTORS,
        ),
        _sampled(alpha),
        _by_fixed_transcript("missing noise", "the answer itself", _mean, _bare, _PAIR),
        _by_fixed_transcript(
            "noise that is drawn and then forgotten", "the exact answer, under a label that says private",
            _mean, _forgetful, _PAIR,
        ),
        _biased(alpha),
        _damped(alpha),
        _against_its_law("one seed for every stream", "the difference of any two answers, exactly",
                         lambda _: StuckNoise(lambda: Noise.simulated(12)), 1.0 - 2.0 ** (-_DRAWS // 2), alpha),
        _by_fixed_transcript(
            "bounds taken from the data", "the largest value, which follows from the size of the noise",
            _mean, _own_bounds, _PAIR),
        _by_fixed_transcript(
            "a stop that depends on the data", "the number of counts above zero, by the place of the stop",
            _counts, _until_empty, _SPARSE),
        _by_fixed_transcript("a seed of its own", "the exact answer, to anybody who guesses the seed",
                             _mean, _own_seed, _PAIR),
        _by_fixed_transcript(
            "a natural logarithm used for levels", "1.9 times the promised epsilon, to anybody who sees all counts",
            partial(_running, scale=8 / _TREE.epsilon), partial(_running, scale=2 * math.log(8) / _TREE.epsilon), _BIDS,
            _TREE,
        ),
        _by_fixed_transcript(
            "a clock that advances only at an event", "when something happened",
            partial(_running, scale=8 / _TREE.epsilon), partial(_running, scale=8 / _TREE.epsilon, lazy=True), _NO_BID,
            _TREE,
        ),
        _by_fixed_transcript(
            "sparse vector that continues after its alarm", "one more epsilon for each alarm",
            partial(_alarms, last=True), partial(_alarms, last=False), _ALARMS, CLAIM,
            _UNRELEASED, _rare_alarms,
        ),
        _by_fixed_transcript(
            "a threshold taken from the data", "the largest count, which follows from the time of the alarm",
            partial(_alarms, last=True), _own_threshold, _ALARMS, CLAIM, _UNRELEASED, _rare_alarms,
        ),
        _by_fixed_transcript(
            "sparse vector with a tenth of its noise", "ten times the promised epsilon",
            partial(_alarms, last=True), _faint_alarms, _ALARMS, CLAIM, _UNRELEASED, _rare_alarms,
        ),
        _by_fixed_transcript(
            "a noisy answer shown beside the alarm", "the distance above the threshold, which exceeds the charged cost",
            partial(_alarms, last=True), _shown_alarms, _ALARMS, CLAIM, _UNRELEASED, _rare_alarms,
        ),
        _by_fixed_transcript(
            "one draw used twice", "the difference of two answers, exactly",
            _twice, lambda values, noise: _twice(values, RepeatedNoise(noise)), _LAST,
        ),
    )


def gallery_section(alpha: float = 1e-9) -> Section:
    """The gallery as a table with a row for each exhibit: the numbers that the audit measures for both forms, and the
    probability that the audit flags the broken form.
    """
    rows = []
    for exhibit in exhibits(alpha):
        sound, broken = exhibit.audit(False), exhibit.audit(True)
        rows.append((
            exhibit.bug, exhibit.consequence, exhibit.method, _short(sound.measured), _short(broken.measured),
            "flagged" if broken.flagged and not sound.flagged else "MISSED",
            f"at least 1 - {max(1 - exhibit.power, 1e-15):.0e}" if exhibit.false_alarm else "1, exact",
            f"{exhibit.false_alarm:.0e}" if exhibit.false_alarm else "0",
        ))
    columns = ("mutant", "its leak", "audit", "sound form", "broken form", "verdict", "power",
               "false alarm")
    return Section(title="The gallery of mutants", blocks=(Table(columns=columns, rows=tuple(rows)),))


def _short(value: float | str | None) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


# ---- by fixed transcripts: exact

_PUBLISHED = lambda outcome: np.asarray(outcome).tobytes()  # noqa: E731 - everything that comes out
_PAIR = Neighbours([0.0, 1.0], [1.0, 1.0], _PUBLISHED)
_LAST = Neighbours([0.0, 0.0], [0.0, 1.0], _PUBLISHED)
_ANSWERS = Neighbours([0, 2], [1, 2], _PUBLISHED)
_VECTORS = Neighbours([0.0] * _DIMENSION, [1.0] * _DIMENSION, _PUBLISHED)
_TREE = PureDP(20.0)
_BIDS = Neighbours([[1, 0], *[[0, 0]] * 7], [[0, 1], *[[0, 0]] * 7], _PUBLISHED)
_NO_BID = Neighbours([[1, 0], *[[0, 0]] * 7], [[0, 0]] * 8, _PUBLISHED)
_UNRELEASED = {"alarm": SPARSE_VECTOR}
_ALARM = SparseVector(threshold=0, epsilon=EPSILON)
_ALARMS = Neighbours([40, 40, -40, 40, 40, -40], [39, 39, -39, 39, 39, -39], _PUBLISHED)
_SPARSE = Neighbours([3, 1, 0, 0], [3, 0, 0, 0], _PUBLISHED)


def _by_fixed_transcript(
    bug: str, consequence: str, sound: Run, broken: Run, pair: Neighbours, claim: Loss = CLAIM,
    unreleased: Mapping[str, UnreleasedIntermediate] | None = None, noise: Callable[[int], Noise] = Noise.simulated,
) -> Exhibit:
    def audit(is_broken: bool) -> AuditRow:
        run = broken if is_broken else sound
        return fixed_transcript_audit(run, [pair], {"": claim}, noise, unreleased)[""].row(bug)

    return Exhibit(bug=bug, consequence=consequence, method="the mutant's own run on neighbours", audit=audit)


def _sum(values: Values) -> float:
    return float(sum(values))


def _mean(values: Values, noise: Noise) -> Any:
    """Mean of two values in [0, 1], with Laplace noise. A change of one value moves the mean by at most 1/2."""
    return noise.laplace(0.5 / EPSILON, 1, stream="mean", center=[_sum(values) / 2])


def _respond(values: Sequence[int], noise: Noise, categories: int) -> Any:
    """Randomised response that keeps the truth with the right probability for the given number of categories. A lie is
    drawn from all other categories.
    """
    others = _CATEGORIES - 1
    truth = response_table(EPSILON, categories).same // others * others
    table = np.full((_CATEGORIES, _CATEGORIES), (2**62 - truth) // others)
    np.fill_diagonal(table, 2**62 - others * table[0, 1])
    return noise.channel(table, values, stream="reports")


def _vector(values: Values, noise: Noise, scale: float) -> Any:
    """Vector with Laplace noise. A neighbour step moves each coordinate by up to 1, and all coordinates at once."""
    return noise.laplace(scale, _DIMENSION, stream="vector", center=values)


def _forgetful(values: Values, noise: Noise) -> Any:
    _mean(values, noise)
    return [_sum(values) / 2]


def _own_bounds(values: Values, noise: Noise) -> Any:
    width = max(values) - min(values)
    return noise.laplace(max(width, 1e-6) / 2 / EPSILON, 1, stream="mean", center=[_sum(values) / 2])


def _counts(values: Sequence[int], noise: Noise) -> Any:
    return [noise.discrete_laplace(1 / EPSILON, 1, stream=("count", k), center=[v])[0] for k, v in enumerate(values)]


def _until_empty(values: Sequence[int], noise: Noise) -> Any:
    """Counts with noise, released until a true count is 0. The bug is that the true count decides whether to go on."""
    counts = []
    for k, value in enumerate(values):
        if value == 0:
            break
        counts.append(noise.discrete_laplace(1 / EPSILON, 1, stream=("count", k), center=[value])[0])
    return counts


def _bare(values: Values, noise: Noise) -> Any:  # noqa: ARG001 - that is the bug
    return [_sum(values) / 2]


def _own_seed(values: Values, noise: Noise) -> Any:  # noqa: ARG001 - that is the bug
    return _mean(values, Noise.simulated(2026))


def _twice(values: Values, noise: Noise) -> Any:
    """Each value with noise of its own. A record is in one of the values."""
    return [noise.vector_laplace(1 / EPSILON, 1, stream=("value", k), center=[v])[0] for k, v in enumerate(values)]


def _running(streams: Any, noise: Noise, scale: float, lazy: bool = False) -> Any:
    """Eight steps of two running counters. In a neighbouring stream, one bid may be on the other counter. The sums of
    blocks then change by 2 h = 8 in total, since each counter has h = 4 levels of blocks.
    """
    counter = TreeCounter(horizon=8, counters=2, scale=scale, l1_sensitivity=2)
    run = counter.start(noise, "bids")
    return [run.feed(step) for step in streams if not lazy or any(step)]


def _alarms(values: Sequence[int], noise: Noise, last: bool) -> Any:
    """Positions of counts above 0. The correct form stops at the first alarm, for which it paid."""
    seen, at = [], 0
    for arming in range(1 if last else 2):
        halted = replace(_ALARM, armings=2).run(values[at:], noise, "alarm", arming=arming)
        if halted is None:
            break
        at += halted + 1
        seen.append(at)
    return seen


def _own_threshold(values: Sequence[int], noise: Noise) -> Any:
    """Alarm at nearly the largest count. A person who raises the largest count moves the threshold."""
    return replace(_ALARM, threshold=max(values) - 40).run(values, noise, "alarm")


def _faint_alarms(values: Sequence[int], noise: Noise) -> Any:
    return replace(_ALARM, epsilon=10 * EPSILON).run(values, noise, "alarm")


def _shown_alarms(values: Sequence[int], noise: Noise) -> Any:
    observed = RecordingNoise(noise)
    return [_ALARM.run(values, observed, "alarm"), *observed.draws[-1].value]


def _rare_alarms(_: int) -> Noise:
    """Noise under which high counts raise no alarm and a low count does. Noise of this kind leads to the
    largest loss.
    """
    draws: dict[Any, list[int]] = {}
    for arming in (0, 1):
        draws["alarm", arming, "threshold"] = [60]
        for k, value in enumerate((0, 0, 120)):
            draws["alarm", arming, "answer", k] = [value]
    return Noise.replayed(draws)


# ---- by samples


def _sampled(alpha: float) -> Exhibit:
    """Exhibit in which the audit sees outputs alone: many samples of the coordinates' sum, under both data sets."""
    from scipy import integrate, special

    def samples(scale: float, center: float, stream: str) -> Any:
        size = (_RUNS, _DIMENSION)
        return Noise.simulated(11).laplace(scale, size, stream=stream, center=np.full(size, center)).sum(axis=1)

    def audit(is_broken: bool) -> AuditRow:
        scale = (1 if is_broken else _DIMENSION) / EPSILON
        both = samples(scale, 0.0, "first"), samples(scale, 1.0, "second")
        return statistical_audit(*both, CLAIM, alpha=alpha).row("noise divided by the dimension")

    # The event "sum > d" has probability 1/2 under one data set; under the other, a difference of two gammas exceeds d.
    def beyond(gamma: float) -> float:
        weight = gamma ** (_DIMENSION - 1) * np.exp(-gamma) / special.gamma(_DIMENSION)
        return float(special.gammaincc(_DIMENSION, _DIMENSION * EPSILON + gamma) * weight)

    rate = float(integrate.quad(beyond, 0.0, np.inf)[0])
    power = flag_probability(float(np.log(0.5 / rate)), EPSILON, _RUNS, alpha, rate=rate)
    return Exhibit(bug="noise divided by the dimension, found from outputs alone",
                   consequence="the sum of the coordinates, four times sharper than promised",
                   method=f"{_RUNS} samples of each data set", audit=audit, power=power, false_alarm=alpha)


def _against_its_law(
    bug: str, consequence: str, source: Callable[[Noise], Noise], power: float, alpha: float
) -> Exhibit:
    observed = RecordingNoise(Noise.simulated(0))
    observed.laplace(1.0, 1, stream="mean")

    def audit(is_broken: bool) -> AuditRow:
        sound = Noise.simulated(12)
        return sampler_audit(source(sound) if is_broken else sound, observed.draws[0], _DRAWS, alpha)

    return Exhibit(bug=bug, consequence=consequence, method=f"{_DRAWS} fresh draws", audit=audit, power=power,
                   false_alarm=alpha)


def _biased(alpha: float) -> Exhibit:
    """Exhibit of biased noise: the median is shifted, and a share exp(-shift)/2 of the draws lies below 0. The test of
    the signed draws flags a source if the measured distribution differs from the requested one by at least `least`.
    """
    from scipy import stats

    least = float(stats.kstwo.isf(alpha / 2, _DRAWS))
    share = float(np.exp(-_SHIFT) / 2)
    power = float(stats.binom.cdf(np.floor((0.5 - least) * _DRAWS), _DRAWS, share))
    return _against_its_law("a biased sampler", "biased estimates, and log-odds above epsilon at the edge",
                            lambda sound: ShiftedNoise(sound, _SHIFT), power, alpha)


def _damped(alpha: float) -> Exhibit:
    """Exhibit of noise at half the scale: a share 1 - e^(-2 ln 2) = 3/4 of the absolute values lies below ln 2, the
    median at full scale.
    """
    from scipy import stats

    least = float(stats.kstwo.isf(alpha / 2, _DRAWS))
    power = float(stats.binom.sf(np.ceil((0.5 + least) * _DRAWS) - 1, _DRAWS, 0.75))
    return _against_its_law("noise at half the scale", "twice the promised epsilon",
                            lambda sound: DampedNoise(sound, 0.5), power, alpha)
