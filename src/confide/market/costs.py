"""Costs of privacy to a person: convex functions g of the privacy level, with g(0) = 0, their slopes, and their checks.

Each cost function takes a number or an array of levels >= 0 and returns a result of the same shape. The guarantees of
markets use two differences: x g'(x) - g(x) and g'(x) sinh x - g(x). Both differences are computed without cancellation
near x = 0, except for a `CustomCost`.

`PlainNumbers` is the base class of markets, costs and laws whose fields are checked as declared and stored as Python
numbers.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from numbers import Number
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.errors import InvalidInput
from confide.contract.parameters import Declared, Parameter, parameters
from confide.contract.wire import wire

__all__ = [
    "Cost",
    "CustomCost",
    "ExponentialCost",
    "LinearCost",
    "PlainNumbers",
    "PowerCost",
    "SumCost",
    "as_cost",
    "sinh_excess",
]

# ---- plain numbers


class PlainNumbers(Declared):
    """Base of markets, costs and laws: fields are checked as declared, and numbers are stored as Python's int and
    float, so that results do not depend on the type of the given numbers.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        own: Any = type(self)
        for name, kind in _plain(own):
            value = getattr(self, name)
            if type(value) is not kind and isinstance(value, Number):
                object.__setattr__(self, name, kind(value))


@cache
def _plain(own: Any) -> tuple[tuple[str, Any], ...]:
    return tuple((name, kind) for name, kind, _ in parameters(own).values() if kind in (int, float))


# ---- costs

GRID = np.geomspace(1e-6, 50.0, 200)
"""Levels at which a user's own cost function is checked."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_SMALL = 0.5  # below it, differences of exponentials are summed as series
_TERMS = 16
_ORDER = 1e-3  # least power of x with which x^2/g'(x) must vanish, for a user's function


def _as_levels(x: ArrayLike) -> NDArray[np.float64]:
    return np.asarray(x, dtype=np.float64)


def sinh_excess(x: ArrayLike) -> NDArray[np.float64]:
    """The difference sinh x - x for x >= 0, to full relative accuracy."""
    level = _as_levels(x)
    near = np.minimum(level, _SMALL)
    term, total = near**3 / 6.0, np.zeros_like(near)
    for k in range(5, 5 + 2 * _TERMS, 2):
        total = total + term
        term = term * near**2 / ((k - 1) * k)
    return np.where(level < _SMALL, total, np.sinh(level) - level)


class Cost(ABC):
    """A convex, continuously differentiable cost function g of the privacy level, with g(0) = 0 and g(x) > 0 for x > 0.

    Source: Wang 2016, section 3.2 ("proper" cost functions); spec data_market section 1.
    """

    @abstractmethod
    def __call__(self, level: ArrayLike) -> Any:
        """The cost g(x) of a privacy level x."""

    @abstractmethod
    def slope(self, level: ArrayLike) -> Any:
        """The slope g'(x) at a privacy level x: the price of a little more privacy loss."""

    @property
    @abstractmethod
    def has_finite_optimum(self) -> bool:
        """Whether x^2/g'(x) -> 0 as x -> 0. If so, a unit of money buys the most information at some level above 0.

        If x^2/g'(x) does not tend to 0, as for g = x^3, it is always cheaper to buy from more people at smaller levels
        (erratum E1 of Wang 2016).
        """

    def surplus(self, level: ArrayLike) -> Any:
        """The difference x g'(x) - g(x) >= 0 at a privacy level x."""
        x = _as_levels(level)
        return np.maximum(x * self.slope(x) - self(x), 0.0)

    def margin(self, level: ArrayLike) -> Any:
        """The margin g'(x) sinh x - g(x) >= 0 by which the randomised report at level x beats every uninformative
        report (spec data_market section 0).
        """
        x = _as_levels(level)
        return self.slope(x) * sinh_excess(x) + self.surplus(x)

    def __add__(self, other: Cost) -> Cost:
        if not isinstance(other, Cost):
            return NotImplemented
        return SumCost((*_parts(self), *_parts(other)))


def _parts(cost: Cost) -> tuple[Cost, ...]:
    return cost.parts if isinstance(cost, SumCost) else (cost,)


@wire("LinearCost", "rate")
@dataclass(frozen=True)
class LinearCost(PlainNumbers, Cost):
    """The linear cost g(x) = rate x.

    Example:
        >>> float(LinearCost(2.0)(1.5))
        3.0
    """

    rate: Annotated[float, Parameter("factor of the cost; for a linear cost, the price of one nat", above=0)]

    def __call__(self, level: ArrayLike) -> Any:
        return self.rate * _as_levels(level)

    def slope(self, level: ArrayLike) -> Any:
        return np.full_like(_as_levels(level), self.rate)

    @property
    def has_finite_optimum(self) -> bool:
        return True

    def surplus(self, level: ArrayLike) -> Any:
        return np.zeros_like(_as_levels(level))


@wire("PowerCost", "rate exponent")
@dataclass(frozen=True)
class PowerCost(PlainNumbers, Cost):
    """The power cost g(x) = rate x^exponent.

    Example:
        >>> cost = PowerCost(1.0, 2.0)
        >>> float(cost(3.0)), float(cost.slope(3.0)), PowerCost(1.0, 3.0).has_finite_optimum
        (9.0, 6.0, False)
    """

    rate: Annotated[float, Parameter("factor of the cost: the price of the level 1", above=0)]
    exponent: Annotated[float, Parameter("power of the level; below 3 some finite level has the best price",
                                         at_least=1)]

    def __call__(self, level: ArrayLike) -> Any:
        return self.rate * _as_levels(level) ** self.exponent

    def slope(self, level: ArrayLike) -> Any:
        return self.rate * self.exponent * _as_levels(level) ** (self.exponent - 1.0)

    @property
    def has_finite_optimum(self) -> bool:
        return self.exponent < 3.0

    def surplus(self, level: ArrayLike) -> Any:
        return (self.exponent - 1.0) * self(level)


@wire("ExponentialCost", "rate growth")
@dataclass(frozen=True)
class ExponentialCost(PlainNumbers, Cost):
    """The exponential cost g(x) = rate (e^(growth x) - 1).

    Example:
        >>> round(float(ExponentialCost(1.0, 0.5)(2.0)), 6)
        1.718282
    """

    rate: Annotated[float, Parameter("factor of the cost", above=0)]
    growth: Annotated[float, Parameter("growth of the cost with each nat", above=0)]

    def __call__(self, level: ArrayLike) -> Any:
        with np.errstate(over="ignore"):
            return self.rate * np.expm1(self.growth * _as_levels(level))

    def slope(self, level: ArrayLike) -> Any:
        with np.errstate(over="ignore"):
            return self.rate * self.growth * np.exp(self.growth * _as_levels(level))

    @property
    def has_finite_optimum(self) -> bool:
        return True

    def surplus(self, level: ArrayLike) -> Any:
        y = self.growth * _as_levels(level)
        near = np.minimum(y, _SMALL)
        term, total = near**2 / 2.0, np.zeros_like(near)
        for k in range(2, 2 + _TERMS):  # (y - 1) e^y + 1 = sum of (k - 1) y^k / k!
            total = total + (k - 1) * term
            term = term * near / (k + 1)
        with np.errstate(over="ignore"):
            return self.rate * np.where(y < _SMALL, total, (y - 1.0) * np.exp(y) + 1.0)


@wire("SumCost", "parts")
@dataclass(frozen=True)
class SumCost(PlainNumbers, Cost):
    """The sum of several cost functions, which `a + b` makes from the costs `a` and `b`.

    Example:
        >>> both = LinearCost(1.0) + PowerCost(0.5, 3.0)
        >>> float(both(2.0)), both.has_finite_optimum
        (6.0, True)
    """

    parts: Annotated[tuple[Cost, ...], Parameter("costs that are added, one or more")]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.parts:
            raise InvalidInput("parts", "the list is empty", "must have at least one cost")
        object.__setattr__(self, "parts", tuple(self.parts))

    def __call__(self, level: ArrayLike) -> Any:
        return _total([part(level) for part in self.parts])

    def slope(self, level: ArrayLike) -> Any:
        return _total([part.slope(level) for part in self.parts])

    @property
    def has_finite_optimum(self) -> bool:
        return any(part.has_finite_optimum for part in self.parts)

    def surplus(self, level: ArrayLike) -> Any:
        return _total([part.surplus(level) for part in self.parts])


def _total(values: Sequence[Any]) -> Any:
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


@dataclass(frozen=True)
class CustomCost(PlainNumbers, Cost):
    """A user's own cost function, checked at 200 levels between 1e-6 and 50.

    Raises:
        InvalidInput: g(0) is not 0, g or g' is not finite, g' is not positive, g' falls (g is not convex), or g is not
            the integral of g'. The message names the level at which the check fails.

    Example:
        >>> import numpy as np
        >>> cost = CustomCost(lambda x: x + x**2, lambda x: 1 + 2 * x)
        >>> float(cost(2.0)), cost.has_finite_optimum
        (6.0, True)
    """

    value: Annotated[Callable[[Any], Any], Parameter(
        "the cost, from an array of levels to an array, or from one level to one number", symbol="g")]
    derivative: Annotated[Callable[[Any], Any], Parameter("its slope, likewise", symbol="g'")]

    def __post_init__(self) -> None:
        super().__post_init__()
        start = float(self(0.0))
        if not abs(start) <= 1e-12 * max(1.0, abs(float(self(1.0)))):
            raise InvalidInput("cost", f"g(0) is {start:g}", "must be 0")
        g, slopes = self(GRID), self.slope(GRID)
        for field, found in (("g", g), ("g'", slopes)):
            self._refuse(~np.isfinite(found), f"{field} is not finite")
        self._refuse(slopes <= 0, "g' is not positive")
        self._refuse(np.append(np.diff(slopes) < -1e-9 * slopes[:-1], False), "g is not convex: g' falls")
        left, width = GRID[:-1], np.diff(GRID)
        inside = left[:, None] + width[:, None] * (1.0 + _NODES) / 2.0
        area = width / 2.0 * (self.slope(inside.ravel()).reshape(inside.shape) @ _WEIGHTS)
        first = GRID[0] * slopes[0]
        off = np.abs(np.diff(g) - area) > 1e-3 * width * slopes[1:]
        self._refuse(np.concatenate([[not -1e-9 * first <= g[0] <= first * (1 + 1e-6)], off]),
                     "g is not the integral of g'")

    def _refuse(self, wrong: NDArray[np.bool_], problem: str) -> None:
        if wrong.any():
            where = float(GRID[int(np.argmax(wrong))])
            raise InvalidInput("cost", f"{problem} at level {where:.6g}",
                               "must be convex with g(0) = 0 and a continuous slope g' > 0")

    def __call__(self, level: ArrayLike) -> Any:
        return self._elementwise(self.value, level)

    def slope(self, level: ArrayLike) -> Any:
        return self._elementwise(self.derivative, level)

    @staticmethod
    def _elementwise(function: Callable[[Any], Any], level: ArrayLike) -> NDArray[np.float64]:
        x = _as_levels(level)
        try:
            with np.errstate(over="ignore"):
                found = np.asarray(function(x), dtype=np.float64)
            return found if found.shape == x.shape else np.broadcast_to(found, x.shape).copy()
        except (TypeError, ValueError):  # written for one number
            return np.array([float(function(float(each))) for each in x.ravel()]).reshape(x.shape)

    @cached_property
    def has_finite_optimum(self) -> bool:
        """Whether a unit of money buys the most information at some level above 0. The answer follows from the power of
        x in x^2/g'(x) between 1e-6 and 1e-5.

        The limit of x^2/g'(x) at 0 itself cannot be computed from finitely many values of a user's function g'.
        """
        near, far = (math.log(x**2 / float(self.slope(x))) for x in (1e-6, 1e-5))
        return (far - near) / math.log(10.0) > _ORDER


def as_cost(field: str, value: object) -> Cost:
    """Check that a value is a cost; otherwise raise an error that names the field."""
    if not isinstance(value, Cost):
        raise InvalidInput(field, f"{type(value).__name__} is not a cost",
                           "must be LinearCost, PowerCost, ExponentialCost, CustomCost or a sum of them")
    return value
