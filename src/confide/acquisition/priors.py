"""Priors: public beliefs about the report c in [0, 1], the share of a person's concern that is about the platform.

Priors are public, and must not be estimated from the reports that they are used for. Each prior gives the virtual cost
of a report.

The module also draws simulated reports from the public priors. The same seed gives the same reports, so that designs
are compared on the same draw. The simulated reports stand for reports that nobody has made yet. No real report is among
the simulated reports.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.acquisition.virtual_cost import Piece, QuantilePath, VirtualCost
from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.contract.parameters import Declared, Parameter
from confide.contract.probabilities import as_probabilities
from confide.contract.remedies import within
from confide.contract.wire import wire
from confide.contract.words import counted
from confide.privacy.noise.simulated import study_generator

__all__ = [
    "ConcernPrior",
    "DiscretePrior",
    "Drawn",
    "EmpiricalPrior",
    "HistogramPrior",
    "PowerPrior",
    "UniformPrior",
    "keep_range",
    "prior_draws",
]

# ---- priors

LEAST = Parameter("the least possible report", at_least=0, at_most=1)
HIGHEST = Parameter("the highest possible report, above the least", above=0, at_most=1)

_MASS = 1e-9
"""Largest absolute difference between the sum of the masses and 1."""


class ConcernPrior(Declared, ABC):
    """A probability law of reports in [0, 1].

    Source: spec two_part_acquisition, section 4; F_i in Fallah et al. 2022.
    """

    @property
    @abstractmethod
    def support(self) -> tuple[float, float]:
        """The least and the highest report."""

    @abstractmethod
    def cdf(self, report: ArrayLike) -> NDArray[np.float64]:
        """The distribution function F at the given numbers."""

    @abstractmethod
    def quantile(self, probability: ArrayLike) -> NDArray[np.float64]:
        """The least report c with F(c) >= probability, for probabilities in [0, 1]. Applied to uniform random numbers,
        the quantile function draws reports from the prior.
        """

    @property
    @abstractmethod
    def mean(self) -> float:
        """The mean report."""

    @abstractmethod
    def virtual_cost(self) -> VirtualCost:
        """The virtual cost: the slope of the greatest convex minorant of q F^-1(q), as a function of the report."""


def keep_range(it: Any) -> None:
    """Convert both ends of an interval of reports to floats, or raise an error where the interval is empty."""
    if not it.high > it.low:
        raise InvalidInput("high", f"{it.high:g} is not above low = {it.low:g}",
                           "must be above low, since reports are between these two numbers")
    for name in ("low", "high"):
        object.__setattr__(it, name, float(getattr(it, name)))


def _row(field: str, values: object) -> tuple[float, ...]:
    try:
        found = as_probabilities(values) if field == "masses" else np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.array(math.nan)
    if found.ndim != 1 or not np.all(np.isfinite(found)):
        raise InvalidInput(field, "are not a row of finite numbers")
    return tuple(found.tolist())


def _rising(field: str, values: tuple[float, ...], least: int) -> tuple[float, ...]:
    if len(values) < least or values[0] < 0 or values[-1] > 1 or any(np.diff(values) <= 0):
        raise InvalidInput(field, "are not reports in rising order", f"must be {least} or more reports, all in [0, 1]")
    return values


def _masses(values: object, number: int) -> tuple[float, ...]:
    masses = _row("masses", values)
    if len(masses) != number or min(masses) < 0:
        raise InvalidInput("masses", "are not probabilities", f"must be {number} numbers >= 0")
    if abs(math.fsum(masses) - 1.0) > _MASS:
        raise InvalidInput("masses", f"sum to {math.fsum(masses):.12g}", "must sum to 1")
    return masses


def _sums(masses: Sequence[float]) -> NDArray[np.float64]:
    sums = np.append(0.0, np.cumsum(masses))
    sums /= sums[-1]
    return sums


@wire("UniformPrior", "low high")
@dataclass(frozen=True)
class UniformPrior(ConcernPrior):
    """Uniform law of the report between two bounds. The virtual cost of a report c is 2 c - low.

    Example:
        >>> UniformPrior().virtual_cost()([0.25, 1.0]).tolist()
        [0.5, 2.0]
    """

    low: Annotated[float, LEAST] = 0.0
    high: Annotated[float, HIGHEST] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        keep_range(self)

    @property
    def support(self) -> tuple[float, float]:
        return self.low, self.high

    def cdf(self, report: ArrayLike) -> NDArray[np.float64]:
        return np.clip((np.asarray(report, dtype=np.float64) - self.low) / (self.high - self.low), 0.0, 1.0)

    def quantile(self, probability: ArrayLike) -> NDArray[np.float64]:
        return np.minimum(self.low + np.asarray(probability, dtype=np.float64) * (self.high - self.low), self.high)

    @property
    def mean(self) -> float:
        return (self.low + self.high) / 2.0

    def virtual_cost(self) -> VirtualCost:
        return VirtualCost.of_pieces([Piece(self.low, self.high, self.low, 2.0)])


@wire("PowerPrior", "exponent")
@dataclass(frozen=True)
class PowerPrior(ConcernPrior):
    """Law with distribution function F(c) = c^exponent on [0, 1]. The virtual cost is (1 + 1/exponent) c.

    Example:
        >>> PowerPrior(2.0).virtual_cost()([0.5, 1.0]).tolist()
        [0.75, 1.5]
    """

    exponent: Annotated[float, Parameter("exponent; above 1, most people fear the platform more, below 1 the public",
                                         above=0)]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "exponent", float(self.exponent))

    @property
    def support(self) -> tuple[float, float]:
        return 0.0, 1.0

    def cdf(self, report: ArrayLike) -> NDArray[np.float64]:
        return np.clip(np.asarray(report, dtype=np.float64), 0.0, 1.0) ** self.exponent

    def quantile(self, probability: ArrayLike) -> NDArray[np.float64]:
        return np.asarray(probability, dtype=np.float64) ** (1.0 / self.exponent)

    @property
    def mean(self) -> float:
        return self.exponent / (1.0 + self.exponent)

    def virtual_cost(self) -> VirtualCost:
        return VirtualCost.of_pieces([Piece(0.0, 1.0, 0.0, 1.0 + 1.0 / self.exponent)])


class _PathPrior(ConcernPrior):
    """A law whose quantile function is piecewise linear."""

    @property
    @abstractmethod
    def _path(self) -> QuantilePath: ...

    @property
    def support(self) -> tuple[float, float]:
        return float(self._path.reports[0]), float(self._path.reports[-1])

    def cdf(self, report: ArrayLike) -> NDArray[np.float64]:
        return self._path.cdf(report)

    def quantile(self, probability: ArrayLike) -> NDArray[np.float64]:
        return self._path.quantile(probability)

    @property
    def mean(self) -> float:
        return self._path.mean

    def virtual_cost(self) -> VirtualCost:
        return self._path.virtual_cost()


@wire("HistogramPrior", "edges masses")
@dataclass(frozen=True)
class HistogramPrior(_PathPrior):
    """Law that is uniform within bins, for example from a survey of attitudes. Bins without mass are gaps, in which no
    report is possible.

    Args:
        edges: (k + 1,) rising bounds of the bins in [0, 1].
        masses: (k,) probabilities of the bins.

    Raises:
        InvalidInput: edges that do not rise or leave [0, 1]; masses that are negative or do not sum to 1.

    Example:
        >>> cost = HistogramPrior((0.0, 0.25, 0.75, 1.0), (0.3, 0.2, 0.5)).virtual_cost()
        >>> cost([0.2, 0.3, 0.5, 0.9]).round(6).tolist()
        [0.4, 1.1, 1.309017, 1.309017]
    """

    edges: tuple[float, ...]
    masses: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", _rising("edges", _row("edges", self.edges), 2))
        object.__setattr__(self, "masses", _masses(self.masses, len(self.edges) - 1))

    @cached_property
    def _path(self) -> QuantilePath:
        filled = np.flatnonzero(self.masses)
        bins = slice(filled[0], filled[-1] + 1)
        return QuantilePath(np.array(self.edges[filled[0]:filled[-1] + 2]), _sums(self.masses[bins]))


@wire("DiscretePrior", "points masses")
@dataclass(frozen=True)
class DiscretePrior(_PathPrior):
    """Law with finitely many possible reports.

    Args:
        points: (k,) rising reports in [0, 1].
        masses: (k,) probabilities of the reports, all positive.

    Example:
        >>> prior = DiscretePrior((0.1, 0.5, 0.9), (0.3, 0.4, 0.3))
        >>> prior.virtual_cost()(prior.points).round(6).tolist()
        [0.1, 0.8, 1.833333]
    """

    points: tuple[float, ...]
    masses: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", _rising("points", _row("points", self.points), 1))
        masses = _masses(self.masses, len(self.points))
        if min(masses) == 0:
            raise InvalidInput("masses", "are 0 for some points", "leave out points with probability 0")
        object.__setattr__(self, "masses", masses)

    @cached_property
    def _path(self) -> QuantilePath:
        return QuantilePath(np.repeat(self.points, 2), np.repeat(_sums(self.masses), 2)[1:-1])

    def virtual_cost(self) -> VirtualCost:
        from scipy.optimize import isotonic_regression

        points, masses, sums = np.array(self.points), np.array(self.masses), _sums(self.masses)[:-1]
        below = np.append(points[0], points[:-1])
        levels = isotonic_regression(points + sums / masses * (points - below), weights=masses).x
        return VirtualCost.of_pieces(
            [Piece(*each, 0.0) for each in zip(below.tolist(), points.tolist(), levels.tolist(), strict=True)],
            zip(below[1:].tolist(), points[1:].tolist(), strict=True))


@wire("EmpiricalPrior", "sample low high")
@dataclass(frozen=True)
class EmpiricalPrior(_PathPrior):
    """A prior from other people's answers. The distribution function is piecewise linear from `low` to `high`, with
    value k/(m + 1) at the k-th smallest of m answers.

    Every report in [low, high] is possible. A value that several answers share has positive probability. The virtual
    cost takes a second for 10^5 answers.

    Args:
        sample: answers of an earlier survey, never the participants' own answers.

    Raises:
        InvalidInput: no answers, or answers outside [low, high].

    Example:
        >>> prior = EmpiricalPrior((0.4, 0.2, 0.4))
        >>> prior.cdf([0.1, 0.2, 0.4, 0.7]).tolist()
        [0.125, 0.25, 0.75, 0.875]
    """

    sample: tuple[float, ...]
    low: Annotated[float, LEAST] = 0.0
    high: Annotated[float, HIGHEST] = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        keep_range(self)
        sample = _row("sample", self.sample)
        if not sample or min(sample) < self.low or max(sample) > self.high:
            raise InvalidInput("sample", "are not possible reports",
                               f"must be one or more reports, all in {within(self.low, self.high)}")
        object.__setattr__(self, "sample", sample)

    @cached_property
    def _path(self) -> QuantilePath:
        cells = len(self.sample) + 1
        return QuantilePath(np.concatenate([[self.low], np.sort(self.sample), [self.high]]),
                            np.arange(cells + 1) / cells)


# ---- draws

Drawn = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Reports and their virtual costs, two arrays of shape (people,)."""


def prior_draws(
    prior: ConcernPrior | Sequence[ConcernPrior], people: int, draws: int, seed: int, *, psi_floor: float = 0.0,
    stream: str = "reports",
) -> Iterator[Drawn]:
    """Profiles of reports, with each person's report drawn from their prior.

    Args:
        prior: prior of everybody, or one prior for each person.
        people: number of people who report, at least 1.
        draws: number of profiles, at least 1.
        seed: seed of the draws.
        psi_floor: least virtual cost. Lower virtual costs are raised to `psi_floor`.
        stream: name of the random stream. Another stream gives other profiles for the same seed.

    Raises:
        InvalidInput: a number is out of range, or there are not as many priors as people.

    Example:
        >>> from confide.acquisition.priors import UniformPrior
        >>> reports, virtual_costs = next(prior_draws(UniformPrior(), 3, 1, seed=7))
        >>> bool((virtual_costs == 2 * reports).all())
        True
    """
    size = whole("people", people, at_least=1)
    count = whole("draws", draws, at_least=1)
    priors = list(prior) if isinstance(prior, Sequence) else [prior]
    if len(priors) not in {1, size}:
        raise InvalidInput("prior", f"{counted(len(priors), 'prior')} for {size} people",
                           "give one prior for all people, or one for each")
    rules = [each.virtual_cost().floored(psi_floor) if psi_floor > 0 else each.virtual_cost() for each in priors]

    def profiles() -> Iterator[Drawn]:
        for k in range(count):
            uniforms = study_generator(seed, stream, k).random(size)
            if len(priors) == 1:
                reports = np.asarray(priors[0].quantile(uniforms), dtype=np.float64)
                yield reports, np.asarray(rules[0](reports), dtype=np.float64)
            else:
                reports = np.array([float(each.quantile(u)) for each, u in zip(priors, uniforms, strict=True)])
                yield reports, np.array([float(rule(c)) for rule, c in zip(rules, reports, strict=True)])

    return profiles()
