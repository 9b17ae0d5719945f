"""Shares of true answers from counts of randomised reports, with their errors: one linear rule for every design.

A design is a table T: the probability of each report (column) for each truth (row). A decoder A with T A = 1 turns the
frequencies f of n reports into the shares f A, without bias. Whatever the design, it is exact that

    n cov(f A) = A' diag(q) A - p p'     for people drawn at random from a population with shares p, q = p T,
    n var(f A) = diag(A' diag(q) A) - p  for the shares p of the people who answered: the randomisation alone,

as long as reports are independent, one a person, and n is fixed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confide.contract.words import number

_ROUNDING = 1e-12
_FAR = 4.0  # standard errors
_RARE = 0.001
_UNLIKELY = "People did not follow the design, or it is not the one that they were given."

__all__ = ["ShareEstimate", "decoded", "report_squares"]

_Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class ShareEstimate:
    """Estimated shares of m true answers and their standard errors, from n reports.

    Args:
        shares: (m,) estimates without bias; they sum to 1 and may leave [0, 1].
        errors: (m,) standard errors as shares of a population from which the n people were drawn at random: sampling
            and randomisation together.
        randomization_errors: (m,) standard errors as shares among these n people: randomisation alone.
        covariance: (m, m) of the estimates as shares of the population; its diagonal is the square of `errors`.
        people: the number n of reports.
        misfit: the p-value of the hypothesis that some shares, also negative ones, explain how often each report came
            (chi-square, for many reports), where there are more kinds of reports than answers; else None.
    """

    shares: _Array
    errors: _Array
    randomization_errors: _Array
    covariance: _Array
    people: int
    misfit: float | None = None

    @property
    def possible(self) -> bool:
        """Whether all shares are in [0, 1]. A share near 0 is below it half of the time, by chance."""
        return bool(self.shares.min() >= -_ROUNDING)

    @property
    def z(self) -> float:
        """The distance of the shares from [0, 1]: the largest number of randomisation errors below 0; 0 if none is.

        The errors are those at the nearest possible shares. Beyond 4, this is no chance: people did not follow the
        design, or it is another one.
        """
        below = np.maximum(-self.shares, 0.0)
        some = below > _ROUNDING
        with np.errstate(divide="ignore"):
            return float((below[some] / self.randomization_errors[some]).max(initial=0.0))

    @property
    def note(self) -> str:
        """The caution that goes with these shares before they are used; empty where there is none."""
        found = []
        if not self.possible:
            found.append(f"A share is below 0, by {number(self.z)} standard errors. "
                         + (_UNLIKELY if self.z > _FAR else "That happens by chance where a share is near 0."))
        if self.misfit is not None and self.misfit < _RARE:
            found.append(f"No shares explain how often each report came: only {number(100 * self.misfit)}% of surveys "
                         f"that follow the design fit worse. {_UNLIKELY}")
        return " ".join(found)


def report_squares(table: _Array, decoder: _Array, law: _Array) -> _Array:
    """The mean square of what one report adds to each share, shape (m,), under a law of the truth: diag(A' diag(q)
    A).
    """
    return np.asarray((law @ table) @ decoder**2)


def decoded(counts: NDArray[np.int64], table: _Array, decoder: _Array) -> ShareEstimate:
    """Decode shares from counts, and their errors at the law nearest to the estimate, which has no negative parts.

    Args:
        counts: (k,) of each report, of one person at least.
        table: (m, k) T.
        decoder: (k, m) A, with T A = 1.
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
