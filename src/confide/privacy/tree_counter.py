"""Tree counter: running counts of streams, published at every step, at the cost of one epsilon for all steps together.

The clock that counts the steps is public. All counters are fed together at every step, zeros included, and each step
draws exactly one noise per counter. A step that was skipped because nothing happened would reveal that nothing
happened.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import fraction, one_of, positive, whole
from confide.contract.errors import InvalidInput, NotGuaranteed
from confide.contract.guarantees import Accuracy, Relation, Source
from confide.contract.renamed import renamed
from confide.privacy.accounting import float_up, written, written_up
from confide.privacy.charge import DrawCost
from confide.privacy.events import Event, GDPEvent, PureEvent, ZCDPEvent
from confide.privacy.losses import GDP, ZCDP, PureDP
from confide.privacy.noise import Noise, Stream
from confide.privacy.noise.arguments import StreamName, as_stream
from confide.privacy.noise.discrete import LARGEST_SCALE
from confide.privacy.primitives.sessions import NoiseSession, Part, open_session
from confide.privacy.running_counter import RunningCounter
from confide.privacy.tree_blocks import finished_level, levels, mean_terms, terms
from confide.privacy.tree_bounds import (
    best_arity,
    chernoff_bound,
    gaussian_bound,
    quantile_bound,
    single_sum_bound,
    source_bound,
    sub_gaussian_bound,
)

__all__ = ["Bound", "RunningCounter", "TreeCounter"]

Law = Literal["discrete_laplace", "discrete_gaussian", "laplace", "gaussian"]
Bound = Literal["chernoff", "exact", "gaussian", "single_sum", "source"]

_GRID = 10  # of noise on the line
_EXACT = (2**61, 2**43)  # block sums on the integers, and on the line, that leave room for their noise
_BLOCK = 2**16  # draws in one call
_SOURCE = "Wu 2017"
_SPEC = "allocation 2"

_Integers = NDArray[np.int64]


@renamed(distance="l1_sensitivity")
@dataclass(frozen=True, kw_only=True)
class TreeCounter:
    """A tree counter of k running counts over N steps. Every count adds up a stream of increments. At every step one
    block of consecutive steps is finished in each stream, and the block's sum is released with noise. A count is the
    sum of the released blocks that make up the stream so far.

    Privacy: the published counts are computed from the released block sums, so it is enough to bound the loss of these
    sums. Along any history of releases, each true block sum is a function of the data. The log density ratio of the
    history is therefore at most a sum of terms |difference of block sums|/scale, and these differences sum to at most
    `exposure`. The streams may be chosen adaptively from the published counts, and their number k does not matter for
    privacy. A step lies in at most h blocks, where h is the depth of the tree. The exposure, which is the largest total
    difference of block sums between neighbours, is therefore at most h times the sensitivity. For Gaussian noise the
    squared differences of block sums add up, instead of the absolute differences. Running maxima and rounding are
    post-processing.

    `for_epsilon`, `for_rho` and `for_mu` compute the scale from a privacy loss.

    Args:
        horizon: the number N of steps, >= 1; further steps are refused.
        scale: scale of Laplace noise, or standard deviation of Gaussian noise, of every block, > 0.
        counters: the number k of counters, >= 1.
        arity: the arity r of the tree, >= 2. With an arity between 12 and 48 the noise is half of the noise of a binary
            tree. `for_epsilon`, `for_rho` and `for_mu` choose an arity.
        law: the law of the noise. "discrete_laplace" (pure DP) and "discrete_gaussian" (zCDP) are on the integers;
            "laplace" and "gaussian" (GDP) are on the real line, rounded to a grid.
        l1_sensitivity: the largest l1 distance by which one neighbour step moves all streams together, along any
            history, >= 1.
        exposure: the largest distance by which one neighbour step moves all block sums together. For Laplace noise the
            exposure is an l1 distance, by default h times the sensitivity. For Gaussian noise the exposure is a squared
            l2 distance, by default h times the squared sensitivity. `tree_blocks.participation` and
            `participation_squared` give smaller values if it is public which steps belong to which participant.
        running_maximum: whether to publish the running maximum of each count, starting at 0. If increments are never
            negative, true counts never fall, and the running maximum keeps every error bound. Without the running
            maximum, published counts may fall.

    Raises:
        InvalidInput: a parameter out of range.

    Source: Wu 2017, Algorithm 7 (Chan, Shi and Song 2011), corrected: h levels, running maximum; spec allocation 2.

    Example:
        >>> counter = TreeCounter.for_epsilon(1.0, l1_sensitivity=1, horizon=7, arity=2)
        >>> counter.levels, counter.scale, counter.loss
        (3, 3.0, PureDP(epsilon=1.0))
        >>> running = counter.start(Noise.replayed({("visits", t): [n] for t, n in enumerate([1, -3, 2], 1)}), "visits")
        >>> [running.feed([x]).tolist() for x in (1, 1, 0)]
        [[2], [2], [2]]
    """

    horizon: int
    scale: float
    counters: int = 1
    arity: int = 2
    law: Law = "discrete_laplace"
    l1_sensitivity: int = 1
    exposure: int | None = None
    running_maximum: bool = True

    def __post_init__(self) -> None:
        whole("horizon", self.horizon, at_least=1)
        whole("counters", self.counters, at_least=1)
        whole("arity", self.arity, at_least=2)
        one_of("law", self.law, ("discrete_laplace", "discrete_gaussian", "laplace", "gaussian"))
        # On the line, noise is kept in units of 2^-10 in 64-bit integers, and sums of many need room too.
        positive("scale", self.scale, at_most=LARGEST_SCALE if self.lattice else 2.0**32)
        whole("l1_sensitivity", self.l1_sensitivity, at_least=1)
        if self.exposure is not None:
            whole("exposure", self.exposure, at_least=1)

    @classmethod
    @renamed(distance="l1_sensitivity")
    def for_epsilon(
        cls, epsilon: float, *, l1_sensitivity: int, horizon: int, counters: int = 1, arity: int | None = None,
        law: Literal["discrete_laplace", "laplace"] = "discrete_laplace", exposure: int | None = None,
        running_maximum: bool = True,
    ) -> TreeCounter:
        """The counter whose releases together cost epsilon: Laplace noise of scale exposure/epsilon, rounded up.

        Args:
            epsilon: the loss in nats, > 0.
            l1_sensitivity: the largest l1 distance between the streams of two neighbours, summed over all counters and
                steps.
            horizon: the number N of steps.
            counters: the number k of counters.
            arity: the arity r of the tree; by default the result of `tree_bounds.best_arity`. Must be given if
                `exposure` is given.
            law: the law of the noise.
            exposure: the largest l1 distance between the block sums of two neighbours; by default the depth of the tree
                times `l1_sensitivity`.
            running_maximum: whether to publish the running maximum of each count.
        """
        one_of("law", law, ("discrete_laplace", "laplace"))
        arity = _arity(arity, horizon, counters, exposure, "laplace")
        reach = exposure
        if reach is None:
            reach = whole("l1_sensitivity", l1_sensitivity, at_least=1) * levels(horizon, arity)
        scale = float_up(whole("exposure", reach, at_least=1) / written(positive("epsilon", epsilon)))
        return cls(horizon=horizon, scale=scale, counters=counters, arity=arity, law=law, l1_sensitivity=l1_sensitivity,
                   exposure=exposure, running_maximum=running_maximum)

    @classmethod
    @renamed(distance="l1_sensitivity")
    def for_rho(
        cls, rho: float, *, l1_sensitivity: int, horizon: int, counters: int = 1, arity: int | None = None,
        exposure: int | None = None, running_maximum: bool = True,
    ) -> TreeCounter:
        """The counter with discrete Gaussian noise whose releases together cost rho in zCDP: sigma^2 = exposure/(2
        rho), with sigma rounded up.

        Args:
            rho: the zCDP loss, > 0.
            l1_sensitivity: the largest l1 distance between the streams of two neighbours, summed over all counters and
                steps.
            horizon: the number N of steps.
            counters: the number k of counters.
            arity: the arity r of the tree; by default the result of `tree_bounds.best_arity`. Must be given if
                `exposure` is given.
            exposure: the largest squared l2 distance between the block sums of two neighbours; by default the depth of
                the tree times the square of `l1_sensitivity`.
            running_maximum: whether to publish the running maximum of each count.
        """
        arity = _arity(arity, horizon, counters, exposure, "gaussian")
        reach = _squared(l1_sensitivity, horizon, arity, exposure)
        sigma = _root_up(Fraction(reach) / (2 * Fraction(positive("rho", rho))))
        return cls(horizon=horizon, scale=sigma, counters=counters, arity=arity, law="discrete_gaussian",
                   l1_sensitivity=l1_sensitivity, exposure=exposure, running_maximum=running_maximum)

    @classmethod
    @renamed(distance="l1_sensitivity")
    def for_mu(
        cls, mu: float, *, l1_sensitivity: int, horizon: int, counters: int = 1, arity: int | None = None,
        exposure: int | None = None, running_maximum: bool = True,
    ) -> TreeCounter:
        """The counter with Gaussian noise on the real line whose releases together cost mu in Gaussian DP: sigma =
        sqrt(exposure)/mu, rounded up.

        Args:
            mu: the Gaussian-DP loss, > 0; `gdp_mu(epsilon, delta)` gives the largest mu for an (epsilon, delta).
            l1_sensitivity: the largest l1 distance between the streams of two neighbours, summed over all counters and
                steps.
            horizon: the number N of steps.
            counters: the number k of counters.
            arity: the arity r of the tree; by default the result of `tree_bounds.best_arity`. Must be given if
                `exposure` is given.
            exposure: the largest squared l2 distance between the block sums of two neighbours; by default the depth of
                the tree times the square of `l1_sensitivity`.
            running_maximum: whether to publish the running maximum of each count.
        """
        arity = _arity(arity, horizon, counters, exposure, "gaussian")
        reach = _squared(l1_sensitivity, horizon, arity, exposure)
        sigma = _root_up(Fraction(reach) / Fraction(positive("mu", mu)) ** 2)
        return cls(horizon=horizon, scale=sigma, counters=counters, arity=arity, law="gaussian",
                   l1_sensitivity=l1_sensitivity, exposure=exposure, running_maximum=running_maximum)

    # ---- public arithmetic

    @property
    def levels(self) -> int:
        """The depth h of the tree, the smallest with r^h > N for arity r and N steps. A step lies in at most h blocks
        of the tree.
        """
        return levels(self.horizon, self.arity)

    @property
    def terms(self) -> int:
        """The largest number M of blocks whose sums add up to one count."""
        return terms(self.horizon, self.arity)

    @property
    def lattice(self) -> bool:
        """Whether the noise is on the integers."""
        return self.law.startswith("discrete")

    @property
    def grid(self) -> int:
        """The exponent of the unit 2^-grid of the noise that `draw` returns: 0 for noise on the integers, else 10."""
        return 0 if self.lattice else _GRID

    @property
    def largest_increment(self) -> int:
        """The largest absolute value of an increment: 2^61/N for noise on the integers, 2^43/N for noise on the real
        line.

        Larger increments are clipped. Clipping keeps every sum in the range of exact arithmetic, and avoids an error
        message that would reveal a large sum.
        """
        return max(1, _EXACT[0 if self.lattice else 1] // self.horizon)

    @cached_property
    def reach(self) -> int:
        """The value of `exposure` that is used: the argument, or the default that follows from the depth of the tree
        and the sensitivity.
        """
        if self.exposure is not None:
            return self.exposure
        reach = self.l1_sensitivity if self.law.endswith("laplace") else self.l1_sensitivity**2
        return reach * self.levels

    # ---- what it costs

    @cached_property
    def loss(self) -> PureDP | ZCDP | GDP:
        """The loss of all releases together, rounded up: pure for Laplace noise, zCDP for discrete Gaussian noise, and
        GDP for continuous Gaussian noise. GDP is proved for continuous Gaussian noise only.
        """
        scale = Fraction(self.scale)
        match self.law:
            case "laplace" | "discrete_laplace":
                return PureDP(written_up(self.reach / scale))
            case "discrete_gaussian":
                return ZCDP(float_up(self.reach / (2 * scale**2)))
            case _:
                return GDP(_root_up(self.reach / scale**2))

    def events(self, neighbours: Relation) -> tuple[Event, ...]:
        """The events of a run, to be charged before the first step.

        Args:
            neighbours: the neighbouring relation for which the `l1_sensitivity` holds.
        """
        match self.loss:
            case PureDP(epsilon=epsilon):
                return (PureEvent(epsilon=epsilon, neighbours=neighbours, label="tree counter"),)
            case ZCDP(rho=rho):
                return (ZCDPEvent(rho=rho, neighbours=neighbours, label="tree counter"),)
            case GDP(mu=mu):
                return (GDPEvent(mu=mu, neighbours=neighbours, label="tree counter"),)

    @property
    def cost(self) -> DrawCost:
        """The exact cost of all releases together."""
        return self.cost_at(Fraction(self.scale))

    def cost_at(self, scale: Fraction) -> DrawCost:
        """The exact cost of all releases together, if the noise of every block has a given scale.

        Args:
            scale: scale of Laplace noise, or standard deviation of Gaussian noise, > 0.
        """
        match self.law:
            case "laplace" | "discrete_laplace":
                return DrawCost.laplace(self.reach / scale)
            case "discrete_gaussian":
                return DrawCost.concentrated(self.reach / (2 * scale**2))
            case _:
                return DrawCost.gaussian(self.reach / scale**2)

    def log_ratio(self, first: ArrayLike, second: ArrayLike, released: ArrayLike) -> float:
        """The exact log ratio of the densities of one history of releases under two data sets.

        Args:
            first: true block sums under data set D along this history, shape (k, N) or any other.
            second: true block sums under data set D', same shape.
            released: the noisy block sums, same shape.

        Returns:
            ln(density under D / density under D'), in nats.
        """
        one, two, seen = (np.asarray(part, dtype=np.float64) for part in (first, second, released))
        if self.law.endswith("laplace"):
            return math.fsum(((np.abs(seen - two) - np.abs(seen - one)) / self.scale).reshape(-1))
        return math.fsum((((seen - two) ** 2 - (seen - one) ** 2) / (2.0 * self.scale**2)).reshape(-1))

    def replayed_loss(self, first: ArrayLike, second: ArrayLike) -> float:
        """The privacy loss between two data sets along one history, in the notion of `loss`; `loss` is an upper bound
        of the result.

        Laplace noise of scale b gives epsilon as the sum of |differences|/b. Discrete Gaussian noise gives rho as the
        sum of squares/(2 sigma^2). Continuous Gaussian noise gives mu as the root of the sum of squares/sigma^2.

        Args:
            first: true block sums under data set D along one history, shape (k, N) or any other.
            second: true block sums under data set D', along the same history, same shape.
        """
        moved = np.abs(np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)).reshape(-1)
        match self.law:
            case "laplace" | "discrete_laplace":
                return math.fsum(moved) / self.scale
            case "discrete_gaussian":
                return math.fsum(moved**2) / (2.0 * self.scale**2)
            case _:
                return math.sqrt(math.fsum(moved**2)) / self.scale

    # ---- runs

    def open(self, noise: Noise, stream: Stream = "tree_counter", *, line: str | None = None) -> NoiseSession:
        """Pay for a run, whose noise is then drawn block by block with `draw_block`.

        Args:
            noise: the source of the noise.
            stream: the first words of the draws' names.
            line: the name of the line of the run's charge that pays for the draws; None if the charge has one line
                only.

        Raises:
            Overspent: the line cannot pay for a run of this counter.
        """
        return open_session(noise, lambda scales: self.cost_at(scales["block"]), {"block": self.part}, stream=stream,
                            line=line)

    @property
    def part(self) -> Part:
        """The declaration, for a noise session, of all draws that one run makes."""
        return Part(self.law, self.scale, self.counters * self.horizon, _GRID)

    def start(self, noise: Noise, stream: Stream = "tree_counter", *, line: str | None = None) -> RunningCounter:
        """Start a run that receives its increments step by step.

        Args:
            noise: the source of the noise. Each step requests k draws centered at the true block sums, so that an audit
                can replay a neighbour along the same history.
            stream: name of the draws; the number of the step is appended.
            line: the name of the line of the run's charge that pays for the draws; None if the charge has one line
                only.

        Raises:
            Overspent: the line cannot pay for a run of this counter.
        """
        return RunningCounter(self, self.open(noise, stream, line=line), as_stream(stream))

    def start_within(self, session: NoiseSession, part: str, stream: Stream) -> RunningCounter:
        """Start a run whose noise is paid for as one part of a larger session.

        Args:
            session: the larger session, which declared the draws of this counter as `part`.
            part: the name of that part in the session.
            stream: name of the draws; the number of the step is appended.
        """
        return RunningCounter(self, session, as_stream(stream), part)

    def draw(self, noise: Noise, stream: Stream = "tree_counter", *, line: str | None = None) -> _Integers:
        """All the noise of a run, in units of 2^-grid, for `count` or a compiled loop. The noise is requested in a few
        large draws.

        Args:
            noise: the source of the noise.
            stream: the name under which the noise is drawn.
            line: the name of the line of the run's charge that pays for the draws; None if the charge has one line
                only.

        Returns:
            Shape (k, N), whole units of 2^-grid: column t - 1 is the noise of the blocks that are finished at step t.
        """
        return np.concatenate(list(self._blocks(self.open(noise, stream, line=line), as_stream(stream))), axis=1)

    def draw_block(self, session: NoiseSession, size: tuple[int, int], stream: Stream) -> _Integers:
        """The noise of some steps of a run, in units of 2^-grid.

        Args:
            session: the session that `open` returned.
            size: shape of the result, (k, number of steps).
            stream: the name of the draw; each name can be used only once.
        """
        return self._draw(session, size, as_stream(stream), None)

    def _blocks(self, session: NoiseSession, stream: StreamName) -> Iterator[_Integers]:
        steps = max(1, _BLOCK // self.counters)
        for number, at in enumerate(range(0, self.horizon, steps)):
            size = (self.counters, min(steps, self.horizon - at))
            yield self._draw(session, size, (*stream, "block", number), None)

    def _draw(
        self, session: NoiseSession, size: tuple[int, ...], stream: StreamName, center: _Integers | None,
        part: str = "block",
    ) -> _Integers:
        """Noise added to a center, in units of 2^-grid."""
        if self.lattice:
            units: _Integers = session.draw(part, size, stream=stream, center=center)
            return units
        drawn = session.draw(part, size, stream=stream, center=_reals(center))
        scaled: _Integers = np.ldexp(drawn, _GRID).astype(np.int64)
        return scaled

    def count(self, streams: ArrayLike, noise: ArrayLike) -> _Integers:
        """All published counts of a run with given noise.

        Args:
            streams: increments, whole numbers, shape (k, N); clipped at `largest_increment`.
            noise: the noise from `draw`, or noise made for a test: whole units of 2^-grid, shape (k, N).

        Returns:
            Shape (k, N): the counts after each step, as `start` would publish them with the same noise.
        """
        from confide.privacy import tree_kernel

        shape = (self.counters, self.horizon)
        increments, drawn = self._increments("streams", streams, shape), _integers("noise", noise, shape)
        counts: _Integers = tree_kernel.count(
            increments, drawn, self.arity, self.levels, self.grid, self.running_maximum
        )
        return counts

    def _increments(self, field: str, value: ArrayLike, shape: tuple[int, ...]) -> _Integers:
        # A cut is no larger for a neighbour than the step itself, so distances keep.
        return np.clip(_integers(field, value, shape), -self.largest_increment, self.largest_increment)

    def block_sums(self, streams: ArrayLike) -> _Integers:
        """The true sums of the blocks in the order of their release; private.

        Args:
            streams: increments, shape (k, N).

        Returns:
            Shape (k, N): column t - 1 is the sum of the block that is finished at step t.
        """
        increments = self._increments("streams", streams, (self.counters, self.horizon))
        so_far = np.concatenate([np.zeros((self.counters, 1), dtype=np.int64), np.cumsum(increments, axis=1)], axis=1)
        ends = np.arange(1, self.horizon + 1)
        lengths = np.array([self.arity ** finished_level(int(end), self.arity) for end in ends])
        sums: _Integers = so_far[:, ends] - so_far[:, ends - lengths]
        return sums

    # ---- accuracy

    @property
    def variance(self) -> float:
        """The variance of the noise of one block."""
        if self.lattice:
            from confide.privacy.tree_errors import variance

            return variance("discrete_laplace" if self.law == "discrete_laplace" else "discrete_gaussian", self.scale)
        return self.scale**2 * (2.0 if self.law == "laplace" else 1.0)

    @property
    def rms(self) -> float:
        """The exact root mean squared error of a count over all steps, before rounding and the running maximum."""
        return math.sqrt(self.variance * mean_terms(self.horizon, self.arity))

    @renamed(gamma="failure_probability")
    def error_bound(self, failure_probability: float, bound: Bound | None = None) -> float:
        """A bound on the errors of all published counts at all steps, except with the failure probability.

        Args:
            failure_probability: probability gamma that the bound fails, in (0, 1).
            bound: "chernoff" (the default for Laplace noise), "single_sum" or "source" (all for Laplace noise only);
                "gaussian" (the default for Gaussian noise); "exact", the least bound, for noise on the integers.
                "source" gives each of the k counters the failure probability gamma/(2k), as in the published auction.

        Raises:
            NotGuaranteed: a bound that is not proved for this noise.
            Unsupported: an exact bound that takes more than about ten seconds, or more than a GiB of memory.
        """
        laplace = self.law.endswith("laplace")
        bound = ("chernoff" if laplace else "gaussian") if bound is None else bound
        one_of("bound", bound, ("chernoff", "exact", "gaussian", "single_sum", "source"))
        if bound == "exact":
            if not self.lattice:
                raise NotGuaranteed("the exact bound", "this bound is computed for noise on the integers only")
            return float(self._exact(fraction("failure_probability", failure_probability)))
        if bound == "source" and (self.arity != 2 or self.horizon < 2):
            raise NotGuaranteed("the printed bound", "this bound is proved for binary trees, and it is false for one "
                                                     "step")
        if (bound == "gaussian") is laplace:
            raise NotGuaranteed(f"the {bound} bound", f"this bound does not cover {self.law.replace('_', ' ')} noise")
        public = (self.scale, self.terms, self.horizon, self.counters, failure_probability)
        match bound:
            case "source":
                error = source_bound(self.levels / self.scale, self.horizon, failure_probability / (2 * self.counters))
            case "single_sum":
                error = single_sum_bound(*public)
            case "chernoff":
                error = chernoff_bound(*public)
            case _:
                error = (sub_gaussian_bound if self.lattice else gaussian_bound)(*public)
        # Each block's noise is rounded to the grid, and the count to a whole number.
        return error if self.lattice else error + self.terms * 2.0 ** -(self.grid + 1) + 0.5

    def _exact(self, failure_probability: float) -> int:
        from confide.privacy.tree_errors import largest_error

        law: Literal["discrete_laplace", "discrete_gaussian"] = (
            "discrete_laplace" if self.law == "discrete_laplace" else "discrete_gaussian"
        )
        return largest_error(self.horizon, self.arity, law, self.scale, counters=self.counters,
                             gamma=failure_probability,
                             enough=self.error_bound(failure_probability))

    @renamed(gamma="failure_probability")
    def accuracy(self, failure_probability: float, bound: Bound | None = None) -> Accuracy:
        """The `error_bound` as a guarantee. The guarantee is vacuous if the bound is at least the horizon, which is the
        largest count of a stream of zeros and ones.

        Args:
            failure_probability: probability gamma that the bound fails, in (0, 1).
            bound: "chernoff", "single_sum", "source", "gaussian" or "exact" (see `error_bound`); the default bound if
                left out.
        """
        error = self.error_bound(failure_probability, bound)
        source = (Source(document=_SOURCE, statement="Theorem 4.2.4", spec=_SPEC) if bound == "source" else
                  Source(document="confide", statement=f"{bound or 'default'} bound of the tree counter", spec=_SPEC))
        return Accuracy(bound=error, measure="largest error of any count at any step", baseline=float(self.horizon),
                        failure_probability=failure_probability, source=source)

    @renamed(gamma="failure_probability")
    def simulated_bound(self, failure_probability: float, noise: Noise, *, runs: int, miss_share: float = 0.1,
                        stream: Stream = "bound") -> float:
        """An error bound from simulated noise: an upper confidence bound of a quantile. The simulated bound fails,
        through the simulation or the run, with probability at most gamma. `error_bound(gamma, "exact")` needs no
        simulation.

        Args:
            failure_probability: probability gamma that the bound fails, in (0, 1).
            noise: noise from `Noise.simulated`; the law of the error depends on nobody's data.
            runs: number of simulated counters; several times k/gamma are needed for k counters.
            miss_share: the share of gamma that the simulation may use, in (0, 1).
            stream: the name under which the noise is drawn.

        Raises:
            InvalidInput: noise of another kind, or too few runs.
        """
        if noise.kind != "simulated":
            raise InvalidInput("noise", f"{noise.kind} noise is for runs only, not for simulations",
                               "must be simulated")
        miss = fraction("failure_probability", failure_probability) * fraction("miss_share", miss_share)
        # One counter's quantile is enough: their noises are independent.
        level = -math.expm1(math.log1p(-(failure_probability - miss)) / self.counters)
        one = TreeCounter(horizon=self.horizon, scale=self.scale, arity=self.arity, law=self.law, running_maximum=False,
                          counters=max(1, min(whole("runs", runs, at_least=1), 2**22 // self.horizon)))
        errors: list[NDArray[np.float64]] = []
        while sum(map(len, errors)) < runs:
            drawn = one.draw(noise, (*as_stream(stream), len(errors)))
            counts = one.count(np.zeros_like(drawn), drawn)
            errors.append(np.abs(counts).max(axis=1).astype(np.float64))
        return quantile_bound(np.concatenate(errors)[:runs], level, miss)


def _integers(field: str, value: ArrayLike, shape: tuple[int, ...]) -> _Integers:
    """An array of 64-bit integers, of which only the shape and the type are checked."""
    try:
        array = np.asarray(value)
    except ValueError:
        raise InvalidInput(field, "is not an array of numbers") from None
    if array.shape != shape:
        raise InvalidInput(field, f"its shape is {array.shape}", f"must be {shape}")
    if array.dtype.kind not in "iub":
        raise InvalidInput(field, f"holds {array.dtype}", "must be whole numbers")
    if array.dtype.kind == "u":
        array = np.minimum(array, np.uint64(2**63 - 1))
    return np.ascontiguousarray(array, dtype=np.int64)


def _reals(center: _Integers | None) -> NDArray[np.float64] | None:
    return None if center is None else center.astype(np.float64)


def _arity(
    arity: int | None, horizon: int, counters: int, exposure: int | None, noise: Literal["laplace", "gaussian"]
) -> int:
    if arity is not None:
        return whole("arity", arity, at_least=2)
    if exposure is not None:
        raise InvalidInput("arity", "is left out", "give the arity, since an exposure counts the blocks of one arity")
    return best_arity(horizon, counters, noise=noise)


def _squared(l1_sensitivity: int, horizon: int, arity: int, exposure: int | None) -> int:
    reach = exposure
    if reach is None:
        reach = whole("l1_sensitivity", l1_sensitivity, at_least=1) ** 2 * levels(horizon, arity)
    return whole("exposure", reach, at_least=1)


def _root_up(square: Fraction) -> float:
    """The least double with a square of at least a rational number, or the next larger double."""
    root = math.sqrt(square)
    while Fraction(root) ** 2 < square:
        root = math.nextafter(root, math.inf)
    return root
