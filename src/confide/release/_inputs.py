"""Checks of the arguments of public functions. An error names the type of the argument and the accepted types."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from confide.contract.checks import fraction
from confide.contract.errors import InvalidInput

__all__ = ["flag", "gaussian_delta", "of_kind", "reals"]


def of_kind(field: str, value: object, *kinds: type) -> None:
    """Refuse a value of the wrong type.

    Raises:
        InvalidInput: the value has another type. The message names this type and the accepted types.
    """
    if not isinstance(value, kinds):
        names = [kind.__name__ for kind in kinds]
        raise InvalidInput(field, f"is of type {type(value).__name__}", f"must be a {' or '.join(names)}")


def flag(field: str, value: object) -> bool:
    """Check that a value is a boolean, and return it as a Python bool.

    Raises:
        InvalidInput: the value is not a boolean.
    """
    if not isinstance(value, bool | np.bool_):
        raise InvalidInput(field, f"is of type {type(value).__name__}", "must be true or false")
    return bool(value)


def gaussian_delta(delta: object) -> float:
    """Check the delta of a mechanism with Gaussian noise, which must be in (0, 1).

    Raises:
        InvalidInput: delta is out of range. For delta = 0 the message names mechanisms with pure differential privacy.
    """
    if type(delta) is not bool and isinstance(delta, Real) and delta == 0:
        raise InvalidInput("delta", "Gaussian noise needs delta > 0",
                           'MWEM, DualQuery with calculator="pure" and NoisyAnswers with law="laplace" take delta = 0')
    return fraction("delta", delta)


def reals(field: str, values: Any) -> np.ndarray:
    """An array of numbers as float64, of any shape.

    Raises:
        InvalidInput: the values cannot be read as numbers. The message holds no value.
    """
    try:
        found: np.ndarray = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(field, f"{type(values).__name__} cannot be read as numbers", "must be an array of numbers") \
            from None
    return found
