"""The state that a collector wants to learn, and the dependence of people's private bits on that state.

The state W is 1 with probability `prior_one`. Given W, bits are independent, and each equals W with probability
`signal_accuracy`. `Reporting` describes how a report depends on the state after symmetric randomised response.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from confide.contract.checks import positive
from confide.contract.parameters import Parameter
from confide.market.costs import PlainNumbers

__all__ = ["LARGEST_LEVEL", "Reporting", "SignalModel", "as_level"]

LARGEST_LEVEL = 700.0
"""Largest privacy level, in nats. Above the largest level, cosh(epsilon) overflows a double."""


def as_level(field: str, value: object) -> float:
    """Check a privacy level, which must be in (0, 700] nats."""
    return positive(field, value, at_most=LARGEST_LEVEL)


@dataclass(frozen=True)
class SignalModel(PlainNumbers):
    """The joint law of the state W and of one person's bit S.

    Source: Wang 2016, section 3.2; spec data_market section 2.

    Example:
        >>> signal_model = SignalModel(prior_one=0.7, signal_accuracy=0.8)
        >>> round(signal_model.signal_one, 12), round(signal_model.edge, 12)
        (0.62, 0.6)
    """

    prior_one: Annotated[float, Parameter("probability that the state is 1", symbol="P(W = 1)", above=0, below=1)]
    signal_accuracy: Annotated[float, Parameter("probability that a bit equals the state", symbol="theta", above=0.5,
                                                below=1)]

    @property
    def prior_zero(self) -> float:
        """The prior probability P(W = 0) of the state 0."""
        return 1.0 - self.prior_one

    @property
    def edge(self) -> float:
        """The edge 2 theta - 1, where theta is the signal accuracy."""
        return 2.0 * self.signal_accuracy - 1.0

    @property
    def signal_one(self) -> float:
        """The probability P(S = 1) that a person's bit is 1."""
        return self.prior_one * self.signal_accuracy + self.prior_zero * (1.0 - self.signal_accuracy)

    @property
    def joint(self) -> NDArray[np.float64]:
        """The (2, 2) probabilities P(W = w, S = s) of the state w (row) and one person's bit s (column)."""
        theta = self.signal_accuracy
        priors = np.array([[self.prior_zero], [self.prior_one]])
        found: NDArray[np.float64] = priors * np.array([[theta, 1.0 - theta], [1.0 - theta, theta]])
        return found


@dataclass(frozen=True)
class Reporting:
    """How one report X by randomised response at level epsilon depends on the state W. Fields are numbers or arrays of
    one shape.

    Args:
        edge: rho = 2 P(X = W) - 1 = (2 theta - 1) tanh(epsilon/2), where theta is the signal accuracy.
        agree: alpha = P(X = W), the probability that the report equals the state.
        miss: 1 - alpha, of full relative accuracy where it is small.

    Example:
        >>> reporting = Reporting.of(0.8, 1.0)
        >>> round(float(reporting.agree), 10), round(float(reporting.chernoff), 10)
        (0.6386351472, 0.0399973798)
    """

    edge: Any
    agree: Any
    miss: Any

    @classmethod
    def of(cls, signal_accuracy: float, epsilon: ArrayLike) -> Reporting:
        """The law of reports about bits of a given accuracy, at level epsilon.

        Args:
            signal_accuracy: probability that a bit equals the state.
            epsilon: privacy level; at a level below 0 the reports 0 and 1 exchange their roles.
        """
        theta, level = signal_accuracy, np.asarray(epsilon, dtype=np.float64)
        keep, flip = scipy.special.expit(level), scipy.special.expit(-level)
        return cls(edge=(2.0 * theta - 1.0) * np.tanh(level / 2.0), agree=theta * keep + (1.0 - theta) * flip,
                   miss=(1.0 - theta) * keep + theta * flip)

    @property
    def log_rate(self) -> Any:
        """The logarithm ln(4 alpha (1 - alpha)) = ln(1 - rho^2), of full relative accuracy for small and for large
        rho.
        """
        with np.errstate(divide="ignore"):
            return np.where(np.abs(self.edge) < 0.5, np.log1p(-np.square(self.edge)),
                            np.log(4.0 * self.agree) + np.log(self.miss))

    @property
    def chernoff(self) -> Any:
        """The Chernoff information D = -ln(1 - rho^2)/2 of one report about the state (Wang 2016, (3.16))."""
        return -0.5 * self.log_rate

    @property
    def log_odds(self) -> Any:
        """The log-odds ln(alpha/(1 - alpha)), by which one report moves the logarithmic odds of the state."""
        with np.errstate(divide="ignore"):
            return np.where(np.abs(self.edge) < 0.5, 2.0 * np.arctanh(self.edge),
                            np.log(self.agree) - np.log(self.miss))
