"""Primitives that add noise to numbers: Laplace and Gaussian noise, on the integers and on the real line, and vector
Laplace noise.

Each function computes the cost of the draw from the declared sensitivity and the noise scale, pays it on a line of the
run's meter, and then draws. Sources: Dwork and Roth 2014, Theorem 3.6; Bun and Steinke 2016, Proposition 1.6; Canonne,
Kamath and Steinke 2020, Theorem 4; spec truthful_regression 4.4 (vectors).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import non_negative
from confide.contract.metered import Overspent
from confide.privacy.charge import PUBLIC, DrawCost
from confide.privacy.noise.arguments import Center, Integers, Stream, as_exact
from confide.privacy.noise.base import Noise
from confide.privacy.noise.discrete import LARGEST_SCALE
from confide.privacy.primitives.sessions import pay

__all__ = ["add_discrete_gaussian", "add_discrete_laplace", "add_gaussian", "add_laplace", "add_missing_noise",
           "add_vector_laplace"]

Sensitivity = int | float | Fraction
"""The largest distance by which one neighbour step can move all numbers of a draw together; taken exactly."""


# Rounds ask for the same noise again and again: what it costs is worked out once. True is no number,
# though it equals 1.


@lru_cache(maxsize=256, typed=True)
def _laplace(name: str, scale: float | Fraction, sensitivity: Sensitivity, most: float) -> DrawCost:
    """The cost of Laplace noise of a given scale for a center of a given sensitivity."""
    return DrawCost.laplace(_moved(name, sensitivity) / as_exact("noise_scale", scale, at_most=most))


@lru_cache(maxsize=256, typed=True)
def _gaussian(std: float | Fraction, squared: Sensitivity, most: float, *, lattice: bool) -> DrawCost:
    """The cost of Gaussian noise of a given standard deviation, on the integers or on the real line, for a center of a
    given squared sensitivity.
    """
    exact, moved = as_exact("noise_std", std, at_most=most), _moved("l2_sensitivity_squared", squared)
    return DrawCost.concentrated(moved / (2 * exact**2)) if lattice else DrawCost.gaussian(moved / exact**2)


def _moved(name: str, sensitivity: Sensitivity) -> Fraction:
    """A declared sensitivity as an exact rational; 0 for a public center."""
    non_negative(name, sensitivity)
    return Fraction(sensitivity)


def _shape(center: Any) -> tuple[int, ...]:
    return np.shape(center)


def add_discrete_laplace(
    noise: Noise, center: Integers, *, noise_scale: float | Fraction, l1_sensitivity: Sensitivity, stream: Stream,
    line: str | None = None, group: str | None = None,
) -> NDArray[np.int64]:
    """Add discrete Laplace noise to whole numbers, at the cost epsilon = l1_sensitivity / noise_scale.

    Args:
        noise: the noise of the run.
        center: whole numbers of any shape, private.
        noise_scale: noise scale in (0, 2^55], used without rounding.
        l1_sensitivity: the largest l1 distance by which one neighbour step can move `center`.
        stream: the name of the draw; each name can be used only once per `noise`.
        line: the name of the line of the run's charge that pays for the draw; None if the charge has one line only.
        group: for a line of parallel groups, the group of people whose records the numbers are about.

    Returns:
        Noisy whole numbers in the shape of `center`.

    Raises:
        InvalidInput: an argument is out of range, or the charge has no line of the given name.
        Overspent: the line cannot pay for the draw.

    Example:
        >>> add_discrete_laplace(Noise.simulated(1), [10, 20], noise_scale=1.0, l1_sensitivity=1, stream="counts").shape
        (2,)
    """
    cost = _laplace("l1_sensitivity", noise_scale, l1_sensitivity, LARGEST_SCALE)
    source = pay(noise, cost, stream=stream, line=line, group=group)
    return source.discrete_laplace(noise_scale, np.shape(center), stream=stream, center=center)


def add_discrete_gaussian(
    noise: Noise, center: Integers, *, noise_std: float | Fraction, l2_sensitivity_squared: Sensitivity,
    stream: Stream, line: str | None = None, group: str | None = None,
) -> NDArray[np.int64]:
    """Add discrete Gaussian noise to whole numbers, at the cost rho = l2_sensitivity^2 / (2 noise_std^2).

    Args:
        noise: the noise of the run.
        center: whole numbers of any shape, private.
        noise_std: standard deviation in (0, 2^55], used without rounding.
        l2_sensitivity_squared: the square of the largest l2 distance by which one neighbour step can move `center`.
        stream: the name of the draw; each name can be used only once per `noise`.
        line: the name of the line of the run's charge that pays for the draw; None if the charge has one line only.
        group: for a line of parallel groups, the group of people whose records the numbers are about.

    Returns:
        Noisy whole numbers in the shape of `center`.

    Raises:
        InvalidInput: an argument is out of range, or the charge has no line of the given name.
        Overspent: the line cannot pay for the draw.
    """
    cost = _gaussian(noise_std, l2_sensitivity_squared, LARGEST_SCALE, lattice=True)
    source = pay(noise, cost, stream=stream, line=line, group=group)
    return source.discrete_gaussian(noise_std, np.shape(center), stream=stream, center=center)


def add_laplace(
    noise: Noise, center: Center, *, noise_scale: float | Fraction, l1_sensitivity: Sensitivity, stream: Stream,
    line: str | None = None, group: str | None = None, grid: int = 30,
) -> NDArray[np.float64]:
    """Add Laplace noise to numbers and round to multiples of 2^-grid, at the cost epsilon = l1_sensitivity /
    noise_scale.

    Args:
        noise: the noise of the run.
        center: doubles or Fractions of any shape, private, used without rounding.
        noise_scale: noise scale, > 0, used without rounding.
        l1_sensitivity: the largest l1 distance by which one neighbour step can move `center`.
        stream: the name of the draw; each name can be used only once per `noise`.
        line: the name of the line of the run's charge that pays for the draw; None if the charge has one line only.
        group: for a line of parallel groups, the group of people whose records the numbers are about.
        grid: the exponent of the grid 2^-grid, in 0..60.

    Raises:
        InvalidInput: an argument is out of range, or the charge has no line of the given name.
        Overspent: the line cannot pay for the draw.
    """
    cost = _laplace("l1_sensitivity", noise_scale, l1_sensitivity, math.inf)
    source = pay(noise, cost, stream=stream, line=line, group=group)
    return source.laplace(noise_scale, _shape(center), stream=stream, center=center, grid=grid)


def add_gaussian(
    noise: Noise, center: Center, *, noise_std: float | Fraction, l2_sensitivity_squared: Sensitivity,
    stream: Stream, line: str | None = None, group: str | None = None, grid: int = 30,
) -> NDArray[np.float64]:
    """Add Gaussian noise to numbers and round to multiples of 2^-grid, at the cost mu = l2_sensitivity / noise_std.

    Args:
        noise: the noise of the run.
        center: doubles or Fractions of any shape, private, used without rounding.
        noise_std: standard deviation, > 0, used without rounding.
        l2_sensitivity_squared: the square of the largest l2 distance by which one neighbour step can move `center`.
        stream: the name of the draw; each name can be used only once per `noise`.
        line: the name of the line of the run's charge that pays for the draw; None if the charge has one line only.
        group: for a line of parallel groups, the group of people whose records the numbers are about.
        grid: the exponent of the grid 2^-grid, in 0..60.

    Raises:
        InvalidInput: an argument is out of range, or the charge has no line of the given name.
        Overspent: the line cannot pay for the draw.
    """
    cost = _gaussian(noise_std, l2_sensitivity_squared, math.inf, lattice=False)
    source = pay(noise, cost, stream=stream, line=line, group=group)
    return source.gaussian(noise_std, _shape(center), stream=stream, center=center, grid=grid)


def add_missing_noise(
    noise: Noise, total: int, noise_std: int, *, missing_variance: int, stream: Stream = "absentees"
) -> int:
    """Add discrete Gaussian noise to a sum, in place of the noise that absent participants would have added.

    The records in the sum are already protected by noise from the devices of their senders. The added noise replaces
    missing noise, so no further loss is charged if the added variance is at least the missing variance.

    Args:
        noise: the noise of the run.
        total: the sum of the participants' messages that arrived, a whole number.
        noise_std: standard deviation of the added noise, a whole number > 0, in the unit of `total`.
        missing_variance: variance of the noise that the absent participants would have added, in the squared unit of
            `total`.
        stream: the name of the draw; each name can be used only once per `noise`.

    Raises:
        Overspent: the added variance is below the missing variance.
    """
    if noise_std**2 < missing_variance:
        raise Overspent(stream if isinstance(stream, str) else str(stream[0]), f"a variance of {noise_std**2}",
                        f"the variance must be at least {missing_variance}")
    source = pay(noise, PUBLIC, stream=stream)
    return total + int(source.discrete_gaussian(noise_std, 1, stream=stream)[0])


def add_vector_laplace(
    noise: Noise, center: Center, *, noise_scale: float | Fraction, l2_sensitivity: Sensitivity, stream: Stream,
    line: str | None = None, group: str | None = None, stretch: ArrayLike | None = None, grid: int = 30,
) -> NDArray[np.float64]:
    """Add the noise stretch * v to a vector, where v has density proportional to exp(-||v||_2 / noise_scale). The cost
    is epsilon = l2_sensitivity / noise_scale.

    Args:
        noise: the noise of the run.
        center: (d,) doubles or Fractions, private, used without rounding.
        noise_scale: noise scale, > 0, used without rounding.
        l2_sensitivity: the largest l2 distance by which one neighbour step can move `center / stretch`.
        stream: the name of the draw; each name can be used only once per `noise`.
        line: the name of the line of the run's charge that pays for the draw; None if the charge has one line only.
        group: for a line of parallel groups, the group of people whose records the numbers are about.
        stretch: (d,) public factors of the coordinates of v, positive doubles; ones if left out.
        grid: the exponent of the grid 2^-grid, in 0..60.

    Raises:
        InvalidInput: an argument is out of range, or the charge has no line of the given name.
        Overspent: the line cannot pay for the draw.
    """
    cost = _laplace("l2_sensitivity", noise_scale, l2_sensitivity, math.inf)
    source = pay(noise, cost, stream=stream, line=line, group=group)
    dimension, = _shape(center)
    return source.vector_laplace(noise_scale, dimension, stream=stream, center=center, stretch=stretch, grid=grid)
