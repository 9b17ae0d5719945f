"""Laws of the cost of a nat of privacy. Each person knows only their own cost. The laws are continuous, with mass down
to 0.

The cost C of each person is drawn independently from one law F, and a privacy level x costs the person C x. The
market's threshold, its price and its quality are computed from F and its quantiles. Every law in this module keeps the
relative accuracy of F and of its quantiles near 0.

The module also computes the privacy level that a person of each cost chooses, and the probability that a participant's
report at this level differs from their bit. A person expects the payment Q - T P(report differs from bit). Q is the
expected payment of an unchanged bit, and T the expected loss from reporting the opposite of the bit (`Terms`). Let c_th
be the largest cost at which people take part. A person of cost c <= c_th chooses the level xi(c) >= epsilon that
satisfies T/(2 (1 + cosh xi)) = c. The share of reports that differ from the bit is an integral over the law of costs.
For each component of the law the integral over costs is computed over the quantile function by the double exponential
rule. For uniform cells the integral has a closed form.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Annotated, Any, Protocol

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confide.contract.errors import InvalidInput, SolverFailed
from confide.contract.parameters import Parameter
from confide.contract.wire import wire
from confide.contract.words import counted
from confide.market.costs import PlainNumbers

__all__ = [
    "CostLaw",
    "ExponentialLaw",
    "GammaLaw",
    "HistogramLaw",
    "LogNormalLaw",
    "MixtureLaw",
    "ScipyLaw",
    "UniformLaw",
    "Uniforms",
    "as_cost_law",
    "chosen_level",
    "cost_of_level",
    "flip_probability",
]

# ---- cost laws

_CHECKED = np.arange(1, 400) / 400.0  # quantiles at which a foreign law is looked at
_LEAST_UNIFORM = 2.0**-54


class Uniforms(Protocol):
    """A source of uniform random numbers in [0, 1), such as a numpy Generator."""

    def random(self, size: Any) -> Any: ...


class CostLaw(ABC):
    """A continuous law F of people's positive costs of a nat of privacy.

    Source: Wang 2016, section 4.2; spec data_market section 3.
    """

    @abstractmethod
    def cdf(self, cost: ArrayLike) -> Any:
        """The distribution function F, at costs >= 0."""

    @abstractmethod
    def quantile(self, probability: ArrayLike) -> Any:
        """The least cost c with F(c) >= probability, for probabilities in [0, 1]."""

    @property
    @abstractmethod
    def least(self) -> float:
        """The cost at which F starts to rise. A market needs a law that starts to rise at cost 0, so that at every
        price some people are cheap enough.
        """

    def sample(self, size: int, source: Uniforms) -> NDArray[np.float64]:
        """Draw independent costs, shape (size,).

        Args:
            size: number of costs.
            source: source of uniform numbers, such as a numpy Generator.
        """
        uniform = np.maximum(source.random(size), _LEAST_UNIFORM)
        found: NDArray[np.float64] = np.asarray(self.quantile(uniform), dtype=np.float64)
        return found


@wire("LogNormalLaw", "meanlog sdlog")
@dataclass(frozen=True)
class LogNormalLaw(PlainNumbers, CostLaw):
    """A log-normal law: ln C is normal.

    Example:
        >>> round(float(LogNormalLaw(0.0, 1.0).quantile(0.6187127996)), 8)
        1.35269903
    """

    meanlog: Annotated[float, Parameter("mean of ln C")]
    sdlog: Annotated[float, Parameter("standard deviation of ln C", above=0)]

    def cdf(self, cost: ArrayLike) -> Any:
        with np.errstate(divide="ignore"):
            return scipy.special.ndtr((np.log(cost) - self.meanlog) / self.sdlog)

    def quantile(self, probability: ArrayLike) -> Any:
        with np.errstate(over="ignore"):
            return np.exp(self.meanlog + self.sdlog * scipy.special.ndtri(probability))

    @property
    def least(self) -> float:
        return 0.0


@wire("UniformLaw", "low high")
@dataclass(frozen=True)
class UniformLaw(PlainNumbers, CostLaw):
    """The uniform law: every cost between two bounds is equally likely."""

    low: Annotated[float, Parameter("smallest cost per nat; above 0 only for a part of a mixture", at_least=0)]
    high: Annotated[float, Parameter("largest cost per nat, above low", above=0)]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.high > self.low:
            raise InvalidInput("high", f"{self.high:g} is not above low = {self.low:g}: the law would have an atom")

    def cdf(self, cost: ArrayLike) -> Any:
        return np.clip((np.asarray(cost, dtype=np.float64) - self.low) / (self.high - self.low), 0.0, 1.0)

    def quantile(self, probability: ArrayLike) -> Any:
        return self.low + np.asarray(probability, dtype=np.float64) * (self.high - self.low)

    @property
    def least(self) -> float:
        return self.low


@wire("ExponentialLaw", "mean")
@dataclass(frozen=True)
class ExponentialLaw(PlainNumbers, CostLaw):
    """The exponential law: P(C > c) = e^(-c/mean)."""

    mean: Annotated[float, Parameter("mean cost per nat", above=0)]

    def cdf(self, cost: ArrayLike) -> Any:
        return -np.expm1(-np.asarray(cost, dtype=np.float64) / self.mean)

    def quantile(self, probability: ArrayLike) -> Any:
        with np.errstate(divide="ignore"):
            return -self.mean * np.log1p(-np.asarray(probability, dtype=np.float64))

    @property
    def least(self) -> float:
        return 0.0


@wire("GammaLaw", "shape scale")
@dataclass(frozen=True)
class GammaLaw(PlainNumbers, CostLaw):
    """The gamma law, with mean shape times scale."""

    shape: Annotated[float, Parameter("shape of the law", above=0)]
    scale: Annotated[float, Parameter("scale of the law, a cost per nat", above=0)]

    def cdf(self, cost: ArrayLike) -> Any:
        return scipy.special.gammainc(self.shape, np.asarray(cost, dtype=np.float64) / self.scale)

    def quantile(self, probability: ArrayLike) -> Any:
        return self.scale * scipy.special.gammaincinv(self.shape, probability)

    @property
    def least(self) -> float:
        return 0.0


@wire("HistogramLaw", "edges weights")
@dataclass(frozen=True, eq=False)
class HistogramLaw(PlainNumbers, CostLaw):
    """A law that is uniform within each cell of a histogram, such as the result of a survey of costs, without atoms.

    Raises:
        InvalidInput: the edges do not rise (the law would have an atom), or the weights have the wrong number or a
            wrong sign.

    Example:
        >>> law = HistogramLaw([0.0, 0.001, 1.0, 1.001], [0.1, 0.0, 0.9])
        >>> float(law.quantile(0.05)), round(float(law.quantile(0.55)), 6), float(law.cdf(0.5))
        (0.0005, 1.0005, 0.1)
        >>> float(HistogramLaw.through([3.0, 1.0]).quantile(0.75))
        2.0
    """

    edges: Annotated[NDArray[np.float64], Parameter("(k + 1,) rising bounds of the cells, the first at least 0")]
    weights: Annotated[NDArray[np.float64], Parameter("(k,) nonnegative weights of the cells, in any unit")]

    def __post_init__(self) -> None:
        super().__post_init__()
        edges = np.array(self.edges, dtype=np.float64).reshape(-1)
        weights = np.array(self.weights, dtype=np.float64).reshape(-1)
        if edges.size < 2 or not np.all(np.isfinite(edges)) or edges[0] < 0:
            raise InvalidInput("edges", "are not finite costs >= 0", "must be two or more")
        if np.any(np.diff(edges) <= 0):
            where = float(edges[1:][int(np.argmax(np.diff(edges) <= 0))])
            raise InvalidInput("edges", f"do not rise at {where:g}: the law would have an atom", "must rise")
        if weights.size != edges.size - 1 or not np.all(np.isfinite(weights)) or np.any(weights < 0):
            raise InvalidInput("weights", f"are not weights of {counted(edges.size - 1, 'cell')}",
                               "must be one weight for each cell, >= 0")
        if not weights.sum() > 0:
            raise InvalidInput("weights", "are all 0", "at least one must be above 0")
        weights = weights / weights.sum()
        for name, table in (("edges", edges), ("weights", weights)):
            table.flags.writeable = False
            object.__setattr__(self, name, table)

    @classmethod
    def through(cls, values: ArrayLike) -> HistogramLaw:
        """The law that follows from other people's costs. The distribution function starts at cost 0, and joins the
        points of the empirical distribution function of these costs by straight lines.

        Args:
            values: costs from an earlier survey, positive and all different; never the costs of the participants.
        """
        found = np.sort(np.array(values, dtype=np.float64).reshape(-1))
        if found.size == 0 or not np.all(np.isfinite(found)) or found[0] <= 0:
            raise InvalidInput("values", "are not finite costs > 0", "must be one or more")
        if np.any(np.diff(found) == 0):
            where = float(found[1:][int(np.argmax(np.diff(found) == 0))])
            raise InvalidInput("values", f"contain {where:g} twice: the law would have an atom",
                               "must all be different")
        return cls(np.append(0.0, found), np.ones(found.size))

    @cached_property
    def _sums(self) -> NDArray[np.float64]:
        sums = np.append(0.0, np.cumsum(self.weights))
        sums[-1] = 1.0
        return sums

    def cdf(self, cost: ArrayLike) -> Any:
        return np.interp(np.asarray(cost, dtype=np.float64), self.edges, self._sums)

    def quantile(self, probability: ArrayLike) -> Any:
        p = np.asarray(probability, dtype=np.float64)
        first = int(np.argmax(self.weights > 0))
        # The first cell that ends at p or above: the least cost, where cells without weight make F flat.
        cell = np.clip(np.searchsorted(self._sums[1:], p, side="left"), first, self.weights.size - 1)
        inside = (p - self._sums[cell]) / self.weights[cell]
        return self.edges[cell] + np.clip(inside, 0.0, 1.0) * (self.edges[cell + 1] - self.edges[cell])

    @property
    def least(self) -> float:
        return float(self.edges[int(np.argmax(self.weights > 0))])


@wire("MixtureLaw", "weights laws")
@dataclass(frozen=True)
class MixtureLaw(PlainNumbers, CostLaw):
    """A mixture: each person belongs to a random group, and their cost is drawn from the group's law.

    Example:
        >>> law = MixtureLaw((0.1, 0.9), (UniformLaw(0.0, 0.001), UniformLaw(1.0, 1.001)))
        >>> round(float(law.quantile(0.05)), 12), round(float(law.quantile(0.55)), 12)
        (0.0005, 1.0005)
    """

    weights: Annotated[tuple[float, ...], Parameter("weights of the groups, in any unit", above=0)]
    laws: Annotated[tuple[CostLaw, ...], Parameter("law of the costs of each group")]

    def __post_init__(self) -> None:
        object.__setattr__(self, "laws", tuple(_as_law("laws", law) for law in self.laws))
        super().__post_init__()
        weights = [float(each) for each in self.weights]
        if not self.laws or len(weights) != len(self.laws):
            raise InvalidInput("weights", f"are {len(weights)} for {counted(len(self.laws), 'law')}",
                               "must be one for each law")
        object.__setattr__(self, "weights", tuple(each / sum(weights) for each in weights))

    def cdf(self, cost: ArrayLike) -> Any:
        return np.minimum(sum(w * law.cdf(cost) for w, law in zip(self.weights, self.laws, strict=True)), 1.0)

    def quantile(self, probability: ArrayLike) -> Any:
        p = np.asarray(probability, dtype=np.float64)
        each = np.array([law.quantile(p) for law in self.laws])
        low, high = each.min(axis=0), each.max(axis=0)
        low = np.where(np.isfinite(low), low, 0.0)
        for _ in range(1200):  # ends where no double is between them
            with np.errstate(over="ignore", invalid="ignore"):
                far = np.sqrt(np.maximum(low, 5e-324)) * np.sqrt(high)
                middle = np.where(high > 2.0 * low, far, low + (high - low) / 2.0)
            open_ = (low < middle) & (middle < high)
            if not np.any(open_):
                break
            enough = self.cdf(middle) >= p
            high, low = np.where(open_ & enough, middle, high), np.where(open_ & ~enough, middle, low)
        return np.where(self.cdf(low) >= p, low, high)[()]

    @property
    def least(self) -> float:
        return min(law.least for law in self.laws)

    def sample(self, size: int, source: Uniforms) -> NDArray[np.float64]:
        sums = np.cumsum(self.weights)
        group = np.searchsorted(sums[:-1], source.random(size), side="right")
        found = np.empty(size)
        for k, law in enumerate(self.laws):
            mine = group == k
            found[mine] = law.sample(int(mine.sum()), source)
        return found


@dataclass(frozen=True, eq=False)
class ScipyLaw(PlainNumbers, CostLaw):
    """A frozen continuous distribution of scipy.stats, checked at 399 quantiles.

    Raises:
        InvalidInput: the object is not a continuous distribution, or it has an atom, or it has mass at 0 or below. The
            message gives the place of the atom or the mass.

    Example:
        >>> from scipy.stats import weibull_min
        >>> round(float(ScipyLaw(weibull_min(2.0)).quantile(0.5)), 6)
        0.832555
    """

    distribution: Annotated[Any, Parameter("frozen distribution, such as scipy.stats.lognorm(s=1.0)")]

    def __post_init__(self) -> None:
        super().__post_init__()
        d = self.distribution
        if not all(callable(getattr(d, name, None)) for name in ("pdf", "cdf", "ppf", "support")):
            raise InvalidInput("cost_law", f"{type(d).__name__} is not a frozen continuous distribution of scipy.stats",
                               "must have pdf, cdf, ppf and support")
        below = float(d.cdf(0.0))
        if below > 0:
            raise InvalidInput("cost_law", f"has probability {below:g} at 0 or below", "costs must be positive")
        found = np.asarray(d.ppf(_CHECKED), dtype=np.float64)
        if not np.all(np.isfinite(found)):
            raise InvalidInput("cost_law", "has quantiles that are not finite")
        wrong = np.append(np.diff(found) <= 0, False) | ~(np.abs(d.cdf(found) - _CHECKED) <= 1e-6)
        if wrong.any():
            where = float(found[int(np.argmax(wrong))])
            raise InvalidInput("cost_law", f"has an atom at {where:.6g}, or invalid quantiles",
                               "must be continuous")

    def cdf(self, cost: ArrayLike) -> Any:
        return self.distribution.cdf(cost)

    def quantile(self, probability: ArrayLike) -> Any:
        return self.distribution.ppf(probability)

    @property
    def least(self) -> float:
        return max(float(self.distribution.support()[0]), 0.0)


def _as_law(field: str, value: object) -> CostLaw:
    if isinstance(value, CostLaw):
        return value
    if callable(getattr(value, "ppf", None)):
        return ScipyLaw(value)
    raise InvalidInput(field, f"{type(value).__name__} is not a law of costs",
                       "must be LogNormalLaw, UniformLaw, ExponentialLaw, GammaLaw, HistogramLaw, MixtureLaw or a "
                       "frozen continuous distribution of scipy.stats")


def as_cost_law(field: str, value: object) -> CostLaw:
    """Convert a value to a law of costs with mass near 0, or raise an error that names the field. A frozen scipy
    distribution works as well.
    """
    law = _as_law(field, value)
    if law.least > 0:
        raise InvalidInput(field, f"has no mass below {law.least:g}",
                           "must give every interval of small costs a positive probability")
    return law


# ---- levels

ACCURACY = 1e-10
"""Largest relative error of a computed share of flipped reports."""

_REACH = 3.2  # beyond it the double exponential weights are below 1e-16
_STEP = 1.0 / 32.0


def _double_exponential(step: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The nodes in (0, 1) and the weights of the double exponential rule; the weights sum to 1 up to 1e-16."""
    k = step * np.arange(-int(_REACH / step), int(_REACH / step) + 1)
    exponent = math.pi * np.sinh(k)
    below, above = scipy.special.expit(exponent), scipy.special.expit(-exponent)
    return below, step * math.pi * np.cosh(k) * below * above


@cache
def _rule() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The nodes and weights of the double exponential rule, and the weights of the rule with twice the step."""
    nodes, weights = _double_exponential(_STEP)
    return nodes, weights, np.where(np.arange(nodes.size) % 2 == int(_REACH / _STEP) % 2, 2.0 * weights, 0.0)


def chosen_level(cost: ArrayLike, threshold: float, epsilon: float, ceiling: float = math.inf) -> Any:
    """The level that a person of cost c <= c_th chooses: xi(c) = 2 arccosh(cosh(epsilon/2) sqrt(c_th/c)), capped by the
    ceiling.

    Args:
        cost: cost c of a nat of privacy. Above the threshold the result is nan, because the person takes no part.
        threshold: largest cost c_th at which people take part.
        epsilon: level at the threshold, which is the least level of a participant.
        ceiling: largest level that a participant's device allows.

    Source: Wang 2016, (4.1), whose printed form divides by 0 below c/c_th = 1e-16; the ceiling is ours, spec
    data_market section 3.

    Example:
        >>> round(float(chosen_level(1e-17, 1.0, 2.0)), 7), float(chosen_level(1.0, 1.0, 2.0))
        (41.3978026, 2.0)
    """
    c = np.asarray(cost, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # sinh^2(xi/2) = cosh^2(epsilon/2) (c_th - c)/c + sinh^2(epsilon/2)
        far = math.cosh(epsilon / 2.0) * np.sqrt((threshold - c) / c)
        level = 2.0 * np.arcsinh(np.hypot(far, math.sinh(epsilon / 2.0)))
    level = np.where(c == threshold, epsilon, np.minimum(np.maximum(level, epsilon), ceiling))
    return np.where(c <= threshold, level, np.nan)[()]


def cost_of_level(level: ArrayLike, threshold: Any, epsilon: float) -> Any:
    """The cost c at which the chosen level xi(c) equals a level >= epsilon: c_th cosh^2(epsilon/2)/cosh^2(level/2)."""
    x = np.asarray(level, dtype=np.float64)
    # cosh a/cosh b = e^(a-b) (1 + e^(-2a))/(1 + e^(-2b))
    ratio = np.exp((epsilon - x) / 2.0) * (1.0 + math.exp(-epsilon)) / (1.0 + np.exp(-x))
    return threshold * ratio**2


def _flip(cost: Any, threshold: Any, epsilon: float) -> Any:
    """The probability 1/(1 + e^xi(c)) that a person of cost c reports the opposite of their bit, of full relative
    accuracy.
    """
    share = np.clip(np.divide(cost, threshold), 0.0, 1.0)
    cosh = math.cosh(epsilon / 2.0)
    keep = np.sqrt(math.tanh(epsilon / 2.0) ** 2 + (1.0 - share) / cosh / cosh)  # tanh(xi/2)
    return 0.5 * (share / cosh / cosh) / (1.0 + keep)


def _in_cells(edges: NDArray[np.float64], weights: NDArray[np.float64], low: NDArray[np.float64],
              high: NDArray[np.float64], threshold: NDArray[np.float64], epsilon: float) -> NDArray[np.float64]:
    """The expectation E[flip 1{low < C <= high}] under a law that is uniform within cells, where flip is the flip
    probability at cost C.

    Let d = 1 - tanh(xi/2), where xi is the chosen level, with values d0 and d1 at the two ends of a cell. The mean of
    d/2 over the cell is (3/2 (d0 + d1) - (d0^2 + d0 d1 + d1^2))/(3 (2 - d0 - d1)).
    """
    first = np.clip(edges[:-1], low[:, None], high[:, None])
    last = np.clip(edges[1:], low[:, None], high[:, None])
    d0, d1 = (2.0 * _flip(ends, threshold[:, None], epsilon) for ends in (first, last))
    mean = (1.5 * (d0 + d1) - (d0 * d0 + d0 * d1 + d1 * d1)) / (3.0 * (2.0 - d0 - d1))
    found: NDArray[np.float64] = (mean * (last - first)) @ (weights / np.diff(edges))
    return found


def _by_quantiles(law: CostLaw, low: NDArray[np.float64], high: NDArray[np.float64], threshold: NDArray[np.float64],
                  epsilon: float, *, rough: bool) -> NDArray[np.float64]:
    """The expectation E[flip 1{low < C <= high}] under any law, integrated over its quantile function; flip is the flip
    probability at cost C.
    """
    start = np.asarray(law.cdf(low), dtype=np.float64)
    mass = np.maximum(np.asarray(law.cdf(high), dtype=np.float64) - start, 0.0)

    def integrand(u: Any, k: Any) -> Any:
        return _flip(law.quantile(start[k] + mass[k] * u), threshold[k], epsilon)

    some = np.flatnonzero(mass > 0)
    found = np.zeros(low.size)
    if not some.size:
        return found
    nodes, weights, coarse = _rule()
    values = integrand(nodes[None, :], some[:, None])
    means = values @ weights
    if not rough:
        for index in np.flatnonzero(np.abs(values @ coarse - means) > ACCURACY * np.abs(means)):
            means[index] = _adaptive(lambda u, k=some[index]: float(integrand(u, k)))
    found[some] = mass[some] * means
    return found


def _adaptive(function: Any) -> float:
    """The integral over (0, 1) of a function that is not smooth enough for one fixed rule."""
    from scipy.integrate import quad

    value, error, *_ = quad(function, 0.0, 1.0, epsabs=0.0, epsrel=1e-12, limit=1000, full_output=1)
    if not error <= ACCURACY * abs(value):
        raise SolverFailed("share of flipped reports", "the law of costs is too wide or too irregular for the "
                                                       "integration")
    return float(value)


def _above(law: CostLaw, low: NDArray[np.float64], threshold: NDArray[np.float64], epsilon: float, *,
           rough: bool) -> NDArray[np.float64]:
    """The expectation E[flip 1{low < C <= c_th}], where flip is the flip probability at cost C."""
    if isinstance(law, MixtureLaw):
        parts = [_above(part, low, threshold, epsilon, rough=rough) for part in law.laws]
        found: NDArray[np.float64] = np.asarray(law.weights) @ np.array(parts)
        return found
    if isinstance(law, UniformLaw):
        return _in_cells(np.array([law.low, law.high]), np.ones(1), low, threshold, threshold, epsilon)
    if isinstance(law, HistogramLaw):
        return _in_cells(law.edges, law.weights, low, threshold, threshold, epsilon)
    return _by_quantiles(law, low, threshold, threshold, epsilon, rough=rough)


def flip_probability(law: CostLaw, threshold: ArrayLike, participation: ArrayLike, epsilon: float,
                     ceiling: float = math.inf, *, rough: bool = False) -> Any:
    """The probability 1 - mu = E[1/(1 + e^xi(C)) | C <= c_th] that a participant's report differs from their bit, to a
    relative 1e-10.

    Args:
        law: law F of the cost C of a nat of privacy.
        threshold: largest cost c_th at which people take part, a number or an array.
        participation: share F(c_th) of people who take part.
        epsilon: level at the threshold, which is the least level of a participant.
        ceiling: largest level of a participant, >= epsilon.
        rough: whether to skip the error check, for a search that checks its final result.

    Raises:
        SolverFailed: even an adaptive rule cannot integrate over the law (for instance a log-normal law of sdlog 20, at
            a share of 1 - 1e-6).

    Source: Wang 2016, (4.2); spec data_market section 3.

    Example:
        >>> from confide.market.threshold.cost_laws import LogNormalLaw
        >>> law, p = LogNormalLaw(0.0, 1.0), 0.6187127996
        >>> round(1.0 - float(flip_probability(law, law.quantile(p), p, 2.0)), 8)
        0.94599686
    """
    top, p = (np.atleast_1d(np.asarray(each, dtype=np.float64)) for each in np.broadcast_arrays(threshold,
                                                                                                 participation))
    low = np.zeros(top.size) if math.isinf(ceiling) else cost_of_level(ceiling, top, epsilon)
    capped = 0.0 if math.isinf(ceiling) else np.asarray(law.cdf(low)) * scipy.special.expit(-ceiling)
    found = (capped + _above(law, low, top, epsilon, rough=rough)) / p
    return np.minimum(found, scipy.special.expit(-epsilon)).reshape(np.shape(threshold))[()]
