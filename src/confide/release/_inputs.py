"""Checks of what is handed to a public function: another type than it takes is named, with what it takes."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from confide.contract.checks import fraction
from confide.contract.errors import InvalidInput

__all__ = ["flag", "gaussian_delta", "of_kind", "reals"]


def of_kind(field: str, value: object, *kinds: type) -> None:
    """Refuse a value of another type.

    Raises:
        InvalidInput: names the type that it is, and those that it may be.
    """
    if not isinstance(value, kinds):
        names = [kind.__name__ for kind in kinds]
        raise InvalidInput(field, f"is of type {type(value).__name__}", f"must be a {' or '.join(names)}")


def flag(field: str, value: object) -> bool:
    """A truth value.

    Raises:
        InvalidInput: anything else.
    """
    if not isinstance(value, bool | np.bool_):
        raise InvalidInput(field, f"is of type {type(value).__name__}", "must be true or false")
    return bool(value)


def gaussian_delta(delta: object) -> float:
    """The delta of a mechanism whose noise is Gaussian, in (0, 1).

    Raises:
        InvalidInput: out of range; of 0 it names what keeps pure differential privacy.
    """
    if type(delta) is not bool and isinstance(delta, Real) and delta == 0:
        raise InvalidInput("delta", "the noise is Gaussian and needs delta > 0",
                           'MWEM, DualQuery with calculator="pure" and NoisyAnswers with law="laplace" take delta = 0')
    return fraction("delta", delta)


def reals(field: str, values: Any) -> np.ndarray:
    """Numbers as float64, of any shape.

    Raises:
        InvalidInput: what cannot be read as such. The message holds no value.
    """
    try:
        found: np.ndarray = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(field, f"{type(values).__name__} cannot be read as numbers", "must be an array of them") \
            from None
    return found
