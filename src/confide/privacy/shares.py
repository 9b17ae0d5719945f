"""Estimated shares of true answers from counts of randomised reports, and their errors, by one linear rule for every
design.

A design is a table T: the probability of each report (column) for each true answer (row). A decoder is a matrix A such
that T A is the identity. The decoder turns the frequencies f of n reports into unbiased shares f A. For every design
the following holds exactly, as long as reports are independent, each person sends one report, and n is fixed:

    n cov(f A) = A' diag(q) A - p p'     for people drawn at random from a population with shares p, q = p T,
    n var(f A) = diag(A' diag(q) A) - p for the shares p of the people who answered, so that only the randomisation
    counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confide.contract.words import number

_ROUNDING = 1e-12
_FAR = 4.0  # standard errors
_RARE = 0.001
_UNLIKELY = "People did not follow the design, or they were given another design."

__all__ = ["ShareEstimate", "decoded", "report_squares"]

_Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class ShareEstimate:
    """Estimated shares of m true answers and their standard errors, from n reports.

    Args:
        shares: (m,) unbiased estimates; they sum to 1 and may lie outside [0, 1].
        errors: (m,) standard errors of the estimates as shares of a population from which the n people were drawn at
            random. These standard errors include sampling and randomisation.
        randomization_errors: (m,) standard errors of the estimates as shares among the n people themselves. These
            standard errors include the randomisation alone.
        covariance: (m, m) covariance of the estimates as shares of the population; its diagonal is the square of
            `errors`.
        people: the number n of reports.
        misfit: p-value of a chi-square test, valid for many reports. The hypothesis is that some shares, possibly
            negative, explain the frequencies of the reports. The value is None unless there are more kinds of reports
            than kinds of true answers.
    """

    shares: _Array
    errors: _Array
    randomization_errors: _Array
    covariance: _Array
    people: int
    misfit: float | None = None

    @property
    def possible(self) -> bool:
        """Whether all estimated shares are in [0, 1]. By chance, the estimate of a share near 0 is below 0 in half of
        all cases.
        """
        return bool(self.shares.min() >= -_ROUNDING)

    @property
    def z(self) -> float:
        """The largest distance of an estimated share below 0, in standard errors from the randomisation alone; 0 if no
        estimate is below 0.

        The standard errors are computed at non-negative shares near the estimates. A distance above 4 is not due to
        chance: either people did not follow the design, or the design was another one.
        """
        below = np.maximum(-self.shares, 0.0)
        some = below > _ROUNDING
        with np.errstate(divide="ignore"):
            return float((below[some] / self.randomization_errors[some]).max(initial=0.0))

    @property
    def note(self) -> str:
        """A warning for readers of these shares; empty if no warning is needed."""
        found = []
        if not self.possible:
            found.append(f"A share is below 0, by {number(self.z)} standard errors. "
                         + (_UNLIKELY if self.z > _FAR else "This happens by chance if a share is near 0."))
        if self.misfit is not None and self.misfit < _RARE:
            found.append(f"No shares explain the numbers of the reports: only {number(100 * self.misfit)}% of surveys "
                         f"that follow the design fit worse. {_UNLIKELY}")
        return " ".join(found)


def report_squares(table: _Array, decoder: _Array, law: _Array) -> _Array:
    """The mean square of the contribution of one report to each estimated share, shape (m,): diag(A' diag(q) A), where
    `law` is the law of the true answers and q the law of the reports.
    """
    return np.asarray((law @ table) @ decoder**2)


def decoded(counts: NDArray[np.int64], table: _Array, decoder: _Array) -> ShareEstimate:
    """Estimate shares from counts of reports. The errors of the shares are computed at the nearest law without negative
    shares.

    Args:
        counts: (k,) numbers of reports of each kind, at least one report in all.
        table: (m, k) the design T, the probability of each report for each true answer.
        decoder: (k, m) the decoder A, such that T A is the identity.
    """
    people = int(counts.sum())
    shares = (counts / people) @ decoder
    law = np.maximum(shares, 0.0)
    law /= law.sum()
    covariance = (decoder.T * (law @ table) @ decoder - np.outer(law, law)) / people
    alone = (report_squares(table, decoder, law) - law) / people
    return ShareEstimate(shares=shares, errors=_root(covariance.diagonal()), randomization_errors=_root(alone),
                         covariance=covariance, people=people)


def _root(squares: _Array) -> _Array:
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))  # a table that changes nothing has 0 but for rounding
