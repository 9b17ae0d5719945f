"""`certificate`: how far from feasible and from optimal a run can be, from its billboard alone, after the run.

It needs neither a correct tau nor many rounds nor a particular step: a wrong tau, or too few rounds, show as a large
certificate, never as a false one. It assumes that the noise was drawn as the plan says, and that the number of rounds
was fixed before. Responses that are not exact widen it by what all of them may lose.

The noise of a row, averaged over the main rounds, is exactly N(0, s^2) however prices react, so that the mean of what
was released bounds the excess. The optimum is at most the Lagrangian's maximum, whose mean over the rounds differs
from what was seen by the martingale sum <price, noise>, with predictable variance Q; mixing over Gaussian multipliers
bounds it. What was rounded to the grid adds 2^-21 at most to each number.

Source: spec convex_programs 2 (public certificate; ours).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from confide.contract.checks import fraction, positive
from confide.contract.errors import InvalidInput
from confide.contract.outcome import Certificate, as_billboard
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.programs.billboards import PathBillboard
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT

__all__ = ["PathCertificate", "as_path", "certificate", "mixture", "quantile"]

_ROUNDED = 0.5 / LOAD_UNIT
_CLOSE = 50.0  # what prices may move in the main rounds, as a share of tau, where the mixture is sharpest


@renamed(beta="failure_probability")
@wire("PathCertificate", "beta excess gap sharp_gap regret complaint vacuous", failure_probability="beta")
@dataclass(frozen=True, kw_only=True, eq=False)
class PathCertificate(Certificate):
    """What holds of a run: excess, gap and regret together with probability at least 1 - beta.

    `sharp_gap` holds together with `excess` at the same level,
    in place of `gap`; `complaint` has a failure probability of its own.

    Args:
        failure_probability: probability of failure.
        excess: (k,) the averages' load is above its supply by at most this, row by row; their absolute difference
            where rows are equations.
        gap: the optimum is above the value of the averages by at most this.
        sharp_gap: the same, measured from the first main prices: often half of it where prices hardly move.
        regret: what stands for R in statements that are made after the run.
        complaint: at most this over alpha participants are not alpha-satisfied by their averages.
        vacuous: whether the gap says nothing; the excess, where nothing has a value.
    """

    failure_probability: float
    excess: NDArray[np.float64]
    gap: float
    sharp_gap: float
    regret: float
    complaint: float
    vacuous: bool

    def unsatisfied(self, alpha: float) -> float:
        """At most so many participants would gain more than alpha by another choice at the average prices.

        Args:
            alpha: > 0, in units of value.
        """
        return self.complaint / positive("alpha", alpha)

    @property
    def total_excess(self) -> float:
        """Of all rows together, at most."""
        return float(self.excess.sum())


@renamed(beta="failure_probability")
def certificate(billboard: PathBillboard, failure_probability: float | None = None) -> PathCertificate:
    """What can be claimed of a run from its billboard: free post-processing.

    Args:
        billboard: of any of the family's mechanisms.
        failure_probability: probability of failure, in (0, 1); the plan's by default.

    Raises:
        InvalidInput: no billboard of a price path.

    Example:
        >>> from confide.programs import PrivDude, UnitDemand
        >>> from confide.privacy.noise import Noise
        >>> from confide.programs.instances import popular
        >>> program = UnitDemand(5_000, 500, goods=5)
        >>> outcome = PrivDude(program, epsilon=1.0, delta=1e-6).run(popular(5_000, 5, seed=1), Noise.simulated(1))
        >>> found = certificate(outcome.billboard)
        >>> bool(found.gap < 0.02 * 5_000), found.vacuous
        (True, False)
    """
    billboard = as_path(billboard)
    failure = fraction("failure_probability", billboard.failure_probability if failure_probability is None
                       else failure_probability)
    prices = billboard.main_prices / PRICE_UNIT
    slacks = billboard.natural_slacks[billboard.burn_in :]
    s, tau = billboard.round_noise_std / math.sqrt(billboard.rounds), np.asarray(billboard.tau)
    discrete, rows = billboard.discrete, prices.shape[1]

    tails = 2 * rows if billboard.two_sided else rows
    mean = slacks.mean(axis=0)
    over = np.abs(mean) if billboard.two_sided else -mean
    excess = np.maximum(0.0, over + quantile(failure / (2 * tails), discrete) * s + _ROUNDED)

    seen = float(np.einsum("tj,tj->", prices, slacks)) / billboard.rounds
    slip = _ROUNDED * float(np.abs(prices).sum()) / billboard.rounds
    spread = s * s * float(np.square(prices).sum()) / billboard.rounds
    typical = s * s * float(np.square(tau).sum())
    deviation = mixture(spread, typical, failure / 2)

    reference = prices[0]
    near = s * s * float(np.square(prices - reference).sum()) / billboard.rounds
    still = typical / _CLOSE**2
    through = quantile(failure / 4, discrete) * s * float(np.linalg.norm(reference))
    sharp = through + mixture(near, still, failure / 4)

    average = prices.mean(axis=0)
    apart = float(np.einsum("tj,tj->", prices - average, slacks)) / billboard.rounds
    complaint = (apart + mixture(near, still, failure / 2)
                 + quantile(failure / (4 * rows), discrete) * s * float(np.linalg.norm(average - reference, 1))
                 + _ROUNDED * float(np.abs(prices - average).sum()) / billboard.rounds + billboard.inexact)
    seen += slip + billboard.inexact
    valued = billboard.baseline_gap > 0.0  # else every value is 0, and so is the gap
    return PathCertificate(
        failure_probability=failure, excess=excess, gap=seen + deviation if valued else 0.0,
        sharp_gap=seen + sharp if valued else 0.0,
        regret=seen + deviation + 2.0 * float(tau @ excess), complaint=max(0.0, complaint),
        vacuous=not (seen + deviation < billboard.baseline_gap if valued
                     else float(excess.sum()) < billboard.most_excess))


def quantile(tail: float, discrete: bool) -> float:
    """What a standard normal exceeds with probability `tail`; for discrete noise, which is sub-Gaussian, its bound.

    Args:
        tail: in (0, 1).
        discrete: whether the law is the discrete Gaussian's.
    """
    return math.sqrt(2.0 * math.log(1.0 / tail)) if discrete else -float(scipy.special.ndtri(tail))


def mixture(variance: float, typical: float, failure_probability: float) -> float:
    """What a martingale with this predictable variance exceeds with this probability at most.

    Args:
        variance: Q, as it came out.
        typical: r > 0, fixed in advance; the bound is sharpest where Q is near it.
        failure_probability: in (0, 1).

    Source: spec convex_programs 2: E exp(u S - u^2 Q/2) <= 1, mixed over u ~ N(0, 1/r).
    """
    both = variance + typical
    return math.sqrt(both * (math.log(both / typical) + 2.0 * math.log(1.0 / failure_probability)))


def as_path(billboard: Any) -> PathBillboard:
    """A billboard, if it is one of a price path.

    Raises:
        InvalidInput: it is another one, or a field of it is of another type or shape.
    """
    board = as_billboard(billboard)
    if not isinstance(board, PathBillboard):
        raise InvalidInput("billboard", f"{type(board).__name__} holds no path of prices", "is of another mechanism")
    board.require_form()
    return board
