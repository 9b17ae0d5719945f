"""Sparse vector: find the first answer above a threshold, at the cost of one epsilon for any number of answers.

Only the index of the first answer above the threshold is released: not the answers, not their distances from the
threshold, and not the threshold's noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from numbers import Integral, Rational, Real
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import fraction, one_of, positive, whole
from confide.contract.errors import InvalidInput, NotGuaranteed, Refused, Unsupported
from confide.contract.guarantees import Accuracy, Relation, Source
from confide.contract.remedies import printed
from confide.contract.renamed import renamed
from confide.privacy.accounting import float_up, written
from confide.privacy.charge import DrawCost
from confide.privacy.clamping import added_delta, tail_probability
from confide.privacy.events import ApproxEvent, Event, PureEvent, Repeated
from confide.privacy.halting_law import LaplaceLaw, WorstStream, log_halting_law
from confide.privacy.noise import Noise, Stream
from confide.privacy.noise.arguments import StreamName, as_exact, as_grid, as_stream
from confide.privacy.noise.discrete import LARGEST_SCALE
from confide.privacy.primitives.sessions import Part, SessionLaw, open_session

__all__ = ["ArmedSparseVector", "SparseVector"]

_BITS = 53  # of a double
_LARGEST_EPSILON = 600.0  # beside clamps: e^epsilon is a double, and so are the tails
_REACH = 7  # bits of room above a scale: noise 2^7 scales out has probability e^-128 < 2^-184
_INTEGERS = 2**62  # answers and thresholds up to here, plus noise, stay within 64 bits
_ROUNDED_UP = 1.0 + 2.0**-40  # more than the rounding of the exponentials in a delta
_SOURCE = "Wu 2017"
_SPEC = "query_release A3"


@dataclass(frozen=True, kw_only=True)
class SparseVector:
    """A mechanism that says for one private answer after the other whether it is, noisily, above a threshold. The
    mechanism says BOT ("not above") until an answer is above the threshold, then says TOP ("above") and halts.

    Let Delta be the sensitivity, and split epsilon = e1 + e2. Laplace noise of scale Delta/e1 is added to the threshold
    once, and of scale 2 Delta/e2 to each answer. With the default e1 = e2 = epsilon/2, the noise scales are 2
    Delta/epsilon for the threshold and 4 Delta/epsilon for an answer. The result is TOP where the noisy answer is
    strictly above the noisy threshold.

    Proof of privacy for neighbours D and D'. Fix the index at which the mechanism halts, and map the threshold's noise
    z under D to z + Delta under D'. Answers under D' are higher by at most Delta. For each answer before the halt, BOT
    is therefore at least as likely under D' as under D. The gap between answer and threshold moves by at most 2 Delta,
    so the TOP costs the factor e^(2 Delta/scale) = e^e2. The shift of z by Delta changes the density of z by at most
    the factor e^(Delta/scale) = e^e1.

    For `monotone` answers the gap moves by at most Delta, so noise of scale Delta/e2 suffices for each answer. If
    answers rise from D to D', the gap moves by Delta - (rise) <= Delta. If answers fall, z is not shifted. Each BOT
    then only becomes more likely, and the TOP costs only the fall of its own answer, which is at most Delta.

    On the integers the same proof holds with sums in place of integrals. "continuous" noise is added and rounded on one
    grid, and Delta is rounded up to that grid. The threshold's rounded noise shifts by a multiple of the grid, and the
    answer's noise by any real number. The proof of privacy therefore holds for every threshold and all answers, as long
    as sums stay below 2^53 units of the grid, where doubles are exact. The scales of the noise are limited, so that
    noise beyond 2^52 units of the grid has probability below 2^-184. Only the index at which the mechanism halts may be
    published.

    Args:
        threshold: public threshold T; a whole number with |T| <= 2^62 in the discrete law, and |T| <= 2^(52 - grid) in
            the continuous law.
        epsilon: the loss in nats, > 0, of one arming, which is one search for an answer above the threshold.
        sensitivity: the largest distance Delta by which one neighbour step moves any single answer, > 0; a whole number
            in the discrete law.
        law: "discrete" for answers that are integers, such as counts (the default, and the law for releases), or
            "continuous".
        threshold_share: the share e1/epsilon of epsilon that the threshold's noise uses, in (0, 1).
        monotone: True if every neighbour step moves all answers in one direction (counts, when a record is added or
            removed). The caller is responsible for a correct `monotone`, because the code cannot check it.
        armings: the number of times that the mechanism may be armed, that is started with fresh noise for the
            threshold; each arming costs epsilon.
        queries: the largest number of answers that one arming may examine; None for no limit.
        clamp: two bounds, for the threshold's noise and for an answer's noise. Each noise is clamped to [-bound,
            bound], which makes errors beyond the sum of the bounds impossible and costs a delta. Bounds are whole
            numbers in the discrete law. If `clamp` is given, `queries` must be given too.
        grid: exponent of the grid 2^-grid of the continuous law, in 0..40.

    Raises:
        InvalidInput: a parameter out of range.

    Source: Wu 2017, Algorithm 1 and Lemma 2.3.4; spec query_release A3; convex_programs 5 (split, clamp).

    Example:
        >>> alarm = SparseVector(threshold=500, epsilon=1.0)
        >>> alarm.run([3, 40, 120, 800, 90], Noise.simulated(3), "alarm")
        3
        >>> round(alarm.accuracy(5, 0.01, bound="lemma").bound, 2), alarm.accuracy(5, 0.01).bound
        (55.26, 23.0)
    """

    threshold: float
    epsilon: float
    sensitivity: float | Fraction = 1
    law: Literal["discrete", "continuous"] = "discrete"
    threshold_share: float = 0.5
    monotone: bool = False
    armings: int = 1
    queries: int | None = None
    clamp: tuple[float, float] | None = None
    grid: int = 30

    def __post_init__(self) -> None:
        one_of("law", self.law, ("discrete", "continuous"))
        positive("epsilon", self.epsilon)
        fraction("threshold_share", self.threshold_share)
        whole("armings", self.armings, at_least=1)
        if self.queries is not None:
            whole("queries", self.queries, at_least=1)
        if self.lattice:
            whole("sensitivity", self.sensitivity, at_least=1)
            whole("threshold", self.threshold, at_least=-_INTEGERS)
        elif as_grid(self.grid) > 40:
            raise InvalidInput("grid", f"{self.grid} is too fine", "must be at most 40")
        else:
            as_exact("sensitivity", self.sensitivity)
            _number("threshold", self.threshold)
        if abs(self.threshold) > self._largest:
            raise InvalidInput("threshold", f"{self.threshold!r} is too large",
                               f"must be at most {printed(self._largest, up=False, digits=6)}")
        scales = (self.threshold_scale, self.query_scale)
        most = LARGEST_SCALE if self.lattice else 2.0 ** (_BITS - 1 - self.grid - _REACH)
        if not all(scale <= most for scale in scales):
            raise InvalidInput("epsilon", f"{self.epsilon!r} is too small",
                               f"the scale of its noise must be at most {most:g}")
        if self.clamp is not None:
            self._check_clamp(self.clamp)

    def _check_clamp(self, clamp: object) -> None:
        if not isinstance(clamp, tuple) or len(clamp) != 2:
            raise InvalidInput("clamp", f"{clamp!r} is not a pair",
                               "must be (bound of the threshold's noise, bound of an answer's noise)")
        for bound in clamp:
            if self.lattice:
                whole("clamp", bound)
            else:
                positive("clamp", bound)
        if self.queries is None:
            raise InvalidInput("queries", "is left out", "give the largest number of answers that one arming may "
                               "examine: the delta of a clamp depends on this number")
        if not self.clamp_delta < 1:
            raise InvalidInput("clamp", f"{clamp!r} costs a delta of 1 or more", "`clamped(delta)` finds clamps")

    # ---- calibration

    @property
    def lattice(self) -> bool:
        """Whether the noise is on the integers."""
        return self.law == "discrete"

    @property
    def _largest(self) -> float:
        return float(_INTEGERS if self.lattice else 2 ** (_BITS - 1 - self.grid))

    @cached_property
    def _delta(self) -> Fraction:
        """The sensitivity, rounded up to the grid."""
        exact = Fraction(self.sensitivity)
        return exact if self.lattice else Fraction(math.ceil(exact * 2**self.grid), 2**self.grid)

    @cached_property
    def threshold_scale(self) -> float:
        """Scale Delta/e1 of the threshold's noise, rounded up, where Delta is the sensitivity and e1 the threshold's
        part of epsilon.
        """
        return _up(self._delta / (written(self.epsilon) * written(self.threshold_share)))

    @cached_property
    def query_scale(self) -> float:
        """Scale 2 Delta/e2 of an answer's noise (Delta/e2 for monotone answers), rounded up. Delta is the sensitivity,
        and e2 the answers' part of epsilon.
        """
        step = self._delta if self.monotone else 2 * self._delta
        return _up(step / (written(self.epsilon) * (1 - written(self.threshold_share))))

    @property
    def laws(self) -> tuple[LaplaceLaw, LaplaceLaw]:
        """The laws of the threshold's noise and of an answer's noise."""
        bounds = self.clamp or (math.inf, math.inf)
        return (LaplaceLaw(self.threshold_scale, self.lattice, bounds[0]),
                LaplaceLaw(self.query_scale, self.lattice, bounds[1]))

    # ---- what it costs

    @property
    def clamp_delta(self) -> float:
        """The delta that the clamps cost in one arming, rounded up: (1 + e^epsilon) P[some noise is clamped]; 0 without
        clamps.

        Source: spec convex_programs 5 (delta_tr): the mechanisms with and without clamps agree unless some noise is
            clamped, on each of the two data sets.
        """
        if self.clamp is None or self.queries is None:
            return 0.0
        slack = 0 if self.lattice else 2.0 ** -(self.grid + 1)  # rounding to the grid may cross a clamp
        tails = [tail_probability(scale, max(bound - slack, 0), lattice=self.lattice)
                 for scale, bound in zip((self.threshold_scale, self.query_scale), self.clamp, strict=True)]
        return added_delta(self.epsilon, (tails[0] + self.queries * tails[1]) * _ROUNDED_UP)

    def clamped(self, delta: float) -> SparseVector:
        """The mechanism with the least clamps whose cost is at most a given delta. Each of the two clamps gets half of
        the delta.

        Args:
            delta: the delta of one arming, in (0, 1).

        Raises:
            InvalidInput: the mechanism has no limit `queries`, which the clamps need.
        """
        if self.queries is None:
            raise InvalidInput("queries", "is left out", "give the largest number of answers that one arming may "
                               "examine: the delta of a clamp depends on this number")
        if self.epsilon > _LARGEST_EPSILON:
            raise InvalidInput("epsilon", f"{self.epsilon!r} is too large",
                               f"must be at most {_LARGEST_EPSILON:g} with clamps")
        each = fraction("delta", delta) / (2.0 * (1.0 + math.exp(self.epsilon)) * _ROUNDED_UP**2)
        bounds = [scale * math.log(count / each) for scale, count in
                  ((self.threshold_scale, 1), (self.query_scale, self.queries))]
        if self.lattice:
            return replace(self, clamp=(math.ceil(bounds[0]), math.ceil(bounds[1])))
        unit = 2.0**-self.grid
        return replace(self, clamp=(bounds[0] * _ROUNDED_UP + unit, bounds[1] * _ROUNDED_UP + unit))

    def events(self, neighbours: Relation) -> tuple[Event, ...]:
        """The events that all armings together cost, which are charged before the first arming.

        Args:
            neighbours: the neighbouring relation for which the `sensitivity` holds.
        """
        one: Event = PureEvent(epsilon=self.epsilon, neighbours=neighbours, label="sparse vector")
        if self.clamp is not None:
            one = ApproxEvent(epsilon=self.epsilon, delta=self.clamp_delta, neighbours=neighbours,
                              label="sparse vector with clamped noise")
        if self.armings == 1:
            return (one,)
        return (Repeated(event=one, count=self.armings, neighbours=neighbours, label="armings"),)

    # ---- the run

    @property
    def cost(self) -> DrawCost:
        """The exact cost of one arming at the scales that are drawn, without the delta of its clamps."""
        return self.cost_at(Fraction(self.threshold_scale), Fraction(self.query_scale))

    def cost_at(self, threshold: Fraction, answer: Fraction) -> DrawCost:
        """The exact cost of one arming at given scales.

        Args:
            threshold: scale of the threshold's noise, > 0.
            answer: scale of an answer's noise, > 0.
        """
        step = self._delta if self.monotone else 2 * self._delta
        return DrawCost.laplace(self._delta / threshold + step / answer)

    def arm(
        self, noise: Noise, stream: Stream = "sparse_vector", *, arming: int = 0, line: str | None = None
    ) -> ArmedSparseVector:
        """Draw the threshold's noise, and return a sparse vector that waits for answers.

        Args:
            noise: the source of the noise.
            stream: the name under which the noise is drawn.
            arming: the number of the arming, from 0 and below `armings`. The number is part of the names of the draws,
                so each arming can be made once per `noise` and `stream`.
            line: the name of the line of the run's charge that pays for the arming; None if the charge has one line
                only.

        Raises:
            Refused: more armings than were declared.
            Overspent: the line cannot pay for an arming.
        """
        if whole("arming", arming) >= self.armings:
            raise Refused(f"arming {arming}, counted from 0, is not charged",
                          f"`armings` is {self.armings}: declare more armings")
        return ArmedSparseVector(self, noise, (*as_stream(stream), arming), line)

    def run(
        self, answers: Iterable[float], noise: Noise, stream: Stream = "sparse_vector", *, arming: int = 0,
        line: str | None = None,
    ) -> int | None:
        """Ask for answers in order, until one is TOP.

        Args:
            answers: private answers, taken one by one; none is taken after the halt.
            noise: the source of the noise.
            stream: the name under which the noise is drawn.
            arming: the number of the arming, from 0 and below `armings`.
            line: the name of the line of the run's charge that pays for the draws; None if the charge has one line
                only.

        Returns:
            The index of the answer that was TOP; None if all were BOT.
        """
        armed = self.arm(noise, stream, arming=arming, line=line)
        return next((index for index, answer in enumerate(answers) if armed.ask(answer)), None)

    def halted(self, answers: ArrayLike, threshold_noise: ArrayLike, query_noise: ArrayLike) -> NDArray[np.int64]:
        """The indices of the answers at which runs with given noise halt, for studies and tests.

        Args:
            answers: the answers, shape (k,).
            threshold_noise: noise that is added to the threshold in each run, shape (runs,).
            query_noise: noise that is added to each answer in each run, shape (runs, k).

        Returns:
            Shape (runs,): the index of the first TOP, -1 for a run that never halts.
        """
        first, others = np.asarray(threshold_noise), np.asarray(query_noise)
        if self.clamp is not None:
            first = np.clip(first, -self.clamp[0], self.clamp[0])
            others = np.clip(others, -self.clamp[1], self.clamp[1])
        top = np.asarray(answers) + others > (self.threshold + first)[:, None]
        index: NDArray[np.int64] = np.where(top.any(axis=1), top.argmax(axis=1), -1)
        return index

    # ---- the law

    def halting_law(self, answers: ArrayLike) -> NDArray[np.float64]:
        """The probabilities of halting at each answer, and of never halting.

        The probabilities are exact to about 1e-12. For the continuous law, the rounding to the grid is ignored. The
        rounding changes a probability by less than 2^(1 - grid)/scale for each answer.

        Args:
            answers: the answers, shape (k,); whole numbers in the discrete law.

        Returns:
            Shape (k+1,); the last entry is the probability of never halting.

        Raises:
            InvalidInput: the answers are so many, or spread so widely, that the law would take more than ten seconds or
                half a GiB. The size is checked before any computation.
        """
        law: NDArray[np.float64] = np.exp(self._logs(answers))
        return law

    def _logs(self, answers: ArrayLike) -> NDArray[np.float64]:
        numbers = np.asarray(answers)
        if numbers.ndim != 1 or not numbers.size:
            raise InvalidInput("answers", f"shape {numbers.shape}", "must be one-dimensional, one answer or more")
        if numbers.dtype.kind not in ("iu" if self.lattice else "iuf") or not np.isfinite(numbers).all():
            raise InvalidInput("answers", "do not fit the law",
                               "must be whole numbers in the discrete law, and finite numbers otherwise")
        if not self.lattice:
            cut = np.clip(numbers.astype(np.float64), -self._largest, self._largest)
        elif numbers.dtype.kind == "u":
            cut = np.minimum(numbers, np.uint64(_INTEGERS)).astype(np.int64)
        else:
            cut = np.clip(numbers.astype(np.int64), -_INTEGERS, _INTEGERS)
        return log_halting_law((cut - self.threshold).astype(np.float64), *self.laws)

    def replayed_loss(self, first_answers: ArrayLike, second_answers: ArrayLike, halted: int | None) -> float:
        """The exact log ratio of the probabilities of one outcome under two data sets.

        Args:
            first_answers: the answers under data set D, at least up to the halt, shape (k,).
            second_answers: the answers to the same queries under data set D', same shape.
            halted: the index of the answer at which the run halted; None if it examined all k answers without a halt.

        Returns:
            ln(P[outcome | D] / P[outcome | D']), in nats; between -epsilon and epsilon for neighbours if nothing is
            clamped.

        Example:
            >>> mechanism = SparseVector(threshold=0, epsilon=1.0)
            >>> 0 < mechanism.replayed_loss([1, 1, -1], [0, 0, 0], 1) < 1.0
            True
        """
        first, second = np.asarray(first_answers), np.asarray(second_answers)
        if first.shape != second.shape:
            raise InvalidInput("second_answers", f"shape {second.shape}", f"must be {first.shape}")
        if halted is not None:
            if whole("halted", halted) >= len(first):
                raise InvalidInput("halted", f"{halted} is not the position of an answer",
                                   f"must be below {len(first)}")
            first, second = first[: halted + 1], second[: halted + 1]
        at = len(first) if halted is None else halted
        return float(self._logs(first)[at] - self._logs(second)[at])

    # ---- accuracy

    @renamed(beta="failure_probability", trivial="baseline")
    def accuracy(
        self, queries: int, failure_probability: float, *, bound: Literal["exact", "tails", "lemma"] = "exact",
        baseline: float = math.inf,
    ) -> Accuracy:
        """The accuracy alpha as a guarantee that holds with probability 1 - beta. Every answer of at most T - alpha
        before the halt gets BOT, and TOP comes no later than at the first answer above T + alpha. For an answer between
        T - alpha and T + alpha, either result is possible.

        Args:
            queries: the largest number k of answers that are examined, >= 1.
            failure_probability: the probability beta that the guarantee fails, in (0, 1).
            bound: "exact" for the least alpha on the worst stream of answers; "tails" for the sum of the quantiles of
                both noises; "lemma" for the bound 8 Delta (ln k + ln(2/beta))/epsilon, as printed in Wu 2017.
            baseline: an accuracy alpha that holds without any release. The guarantee is vacuous if the computed alpha
                is not below `baseline`.

        Raises:
            NotGuaranteed: the bound "lemma" is requested, but epsilon is not split into two halves.
            Unsupported: the exact bound would take too long, which happens if the scale of one noise is 2,000 times the
                scale of the other noise or more.
        """
        k, beta = whole("queries", queries, at_least=1), fraction("failure_probability", failure_probability)
        one_of("bound", bound, ("exact", "tails", "lemma"))
        if bound == "lemma":
            if self.threshold_share != 0.5:
                raise NotGuaranteed("the printed accuracy", "this bound is proved for two halves of epsilon only",
                                    'use "exact" or "tails"')
            alpha = 8.0 * float(self._delta) * (math.log(k) + math.log(2.0 / beta)) / self.epsilon
            source = Source(document=_SOURCE, statement="Lemma 2.3.4", spec=_SPEC)
        else:
            # |threshold's noise| is above a1 with probability beta/2 at most, and so is any answer's above a2
            alpha = self.threshold_scale * math.log(2.0 / beta) + self.query_scale * math.log(2.0 * k / beta)
            source = Source(document="confide", statement=f"{bound} bound of sparse vector", spec=_SPEC)
        alpha *= _ROUNDED_UP
        if bound == "exact":
            try:
                alpha = _least(WorstStream(k, *self.laws).failure, beta, alpha, lattice=self.lattice)
            except InvalidInput as error:
                raise Unsupported("bound", 'the "exact" bound for noise scales that differ by this factor',
                                  'use "tails", a larger bound that is proved for all scales') from error
        if not self.lattice:
            alpha += 2.0**-self.grid  # both sides of the comparison are rounded
        return Accuracy(bound=float(alpha), measure="distance from the threshold at which an answer is judged wrongly",
                        baseline=baseline, failure_probability=beta, source=source)


class ArmedSparseVector:
    """A sparse vector that waits for answers; `SparseVector.arm` creates it.

    Args:
        mechanism: the mechanism with its public parameters.
        noise: the source of the draws.
        stream: the name under which the noise is drawn.
        line: the name of the line of the run's charge that pays for the draws; None if the charge has one line only.
    """

    def __init__(self, mechanism: SparseVector, noise: Noise, stream: StreamName, line: str | None = None) -> None:
        self._mechanism = mechanism
        law: SessionLaw = "discrete_laplace" if mechanism.lattice else "laplace"
        def cost(scales: Mapping[str, Fraction]) -> DrawCost:
            return mechanism.cost_at(scales["threshold"], scales["answer"])

        self._session = open_session(noise, cost, {
            "threshold": Part(law, mechanism.threshold_scale, 1, mechanism.grid),
            "answer": Part(law, mechanism.query_scale, mechanism.queries, mechanism.grid),
        }, stream=stream, line=line)
        self._stream = stream
        self._asked = 0
        self._halted = False
        self._level = self._noisy(mechanism.threshold, 0, "threshold", (*stream, "threshold"))

    def __repr__(self) -> str:
        state = "halted" if self._halted else "armed"
        return f"<sparse vector, {state}, {self._asked} answers seen>"  # never the noisy threshold

    @property
    def asked(self) -> int:
        """The number of answers examined so far."""
        return self._asked

    @property
    def halted(self) -> bool:
        """Whether the mechanism has answered TOP, that is "above the threshold", and thus halted."""
        return self._halted

    def ask(self, answer: float) -> bool:
        """Whether an answer is, noisily, above the threshold. The first True halts the mechanism.

        Args:
            answer: private answer. The caller ensures the type of the answer: a whole number in the discrete law, a
                finite number in the continuous law.

        Raises:
            Refused: the mechanism has halted, or has examined as many answers as were declared.
        """
        most = self._mechanism.queries
        if self._halted:
            raise Refused("this sparse vector has halted", "arm it again: each arming is charged")
        if most is not None and self._asked >= most:
            raise Refused(f"the declared number of answers for one arming is {most}",
                          "declare more queries, or arm the mechanism again")
        name = (*self._stream, "answer", self._asked)
        noisy = self._noisy(answer, 1, "answer", name)
        self._asked += 1
        self._halted = bool(noisy > self._level)
        return self._halted

    def _noisy(self, value: object, which: int, part: str, stream: StreamName) -> float | Fraction:
        """A private value plus its noise. The value is first clipped to the range of the type, which never increases
        the distance of two values.
        """
        mechanism = self._mechanism
        largest = mechanism._largest
        noisy: float | Fraction
        if mechanism.lattice:
            if isinstance(value, bool) or not isinstance(value, Integral):
                raise InvalidInput("answer", "is not a whole number", "the discrete law needs whole numbers")
            count = min(max(int(value), -_INTEGERS), _INTEGERS)
            center: float | Fraction = count
            noisy = int(self._session.draw(part, 1, stream=stream, center=[count])[0])
        else:
            exact = Fraction(min(max(_number("answer", value), -largest), largest))
            center = exact
            noisy = float(self._session.draw(part, 1, stream=stream, center=[exact])[0])
        if mechanism.clamp is not None:
            bound = Fraction(mechanism.clamp[which])
            noisy = min(max(noisy, center - bound), center + bound)
        return noisy


def _number(field: str, value: object) -> float | Fraction:
    """A finite number: a fraction or a double, without rounding. The error message does not quote the number, because
    it may be private.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidInput(field, "is not a finite number")
    if isinstance(value, Rational):
        return Fraction(value)
    if not math.isfinite(value):
        raise InvalidInput(field, "is not a finite number")
    return float(value)


def _up(scale: Fraction) -> float:
    """The least double that is not below a rational number; infinity if no finite double is large enough."""
    try:
        return float_up(scale)
    except OverflowError:
        return math.inf


def _least(failure: Callable[[float], float], beta: float, enough: float, *, lattice: bool) -> float:
    """The least margin with failure probability at most beta, rounded up by at most a relative 1e-9."""
    low, high = (-1.0, float(math.ceil(enough))) if lattice else (0.0, enough)
    while high - low > (1.0 if lattice else 1e-9 * high):
        middle = math.floor((low + high) / 2) if lattice else (low + high) / 2
        if failure(middle) <= beta * (1.0 - 1e-9):
            high = middle
        else:
            low = middle
    return high
