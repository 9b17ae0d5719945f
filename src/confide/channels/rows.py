"""The best channel of a single row for a given distribution of the row (its law): top-k for differential privacy,
water-filling for information and identifiability.

Source: spec privacy_notions 4 and 5 (items 1, 3, 5). The proofs are in the spec, not in Wang 2016.

For independent rows, the laws of the rows determine all three trade-offs between privacy level and distortion exactly,
for any number of rows.

Source: spec privacy_notions 5, item 5 (proved there).

For priors that are too large for a linear program, single rows give lower bounds of the least distortion.

Given all other rows, a row's output is the output of a channel for one row, and the least distortion of such a channel
is known exactly. The least distortion of each row, averaged over the letters of all other rows and added up over the
rows, is a lower bound of the least distortion for any prior. For independent rows the bound is exact.

Source: spec privacy_notions 5 (items 1 and 5).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from confide.channels.kernels import axes, h, h_inverse
from confide.channels.notions import Level
from confide.channels.priors import Exchangeable, IndependentRows, Prior

__all__ = [
    "RowBounds",
    "WaterLevel",
    "dp_distortion",
    "dp_level",
    "identifiability_distortion",
    "identifiability_level",
    "information",
    "least_row_level",
    "row_distortions",
    "row_losses",
    "tails",
    "top_letters",
    "top_tables",
    "water_information",
    "water_level",
    "water_tables",
]

# ---- rows

_Vector = NDArray[np.float64]
_CLOSE = 1e-12
_AT_ONCE = 2**22  # cells of tables that are made together


def tails(laws: _Vector) -> _Vector:
    """Mass 1 - P_k of all letters except the k likeliest letters with mass P_k, for each of u laws and k = 1, ..., m,
    shape (u, m). The mass is summed from the smallest probability on.
    """
    rising = np.cumsum(np.sort(laws, axis=1), axis=1)[:, :-1]
    return np.concatenate([rising[:, ::-1], np.zeros((len(laws), 1))], axis=1)


def top_letters(laws: _Vector, epsilon: float) -> NDArray[np.int64]:
    """Number k of the likeliest letters that each law's best channel uses, shape (u,).

    With P_k the mass of the k likeliest letters and r = e^-epsilon, the number is the k that maximises P_k/(1 + (k-1)
    r).
    """
    return np.asarray(np.argmin(_losses(tails(laws), epsilon), axis=1) + 1)


def row_losses(left: _Vector, epsilon: float) -> _Vector:
    """Least probability that a row's letter is changed by a channel with a given level of differential privacy, for
    each law, shape (u,).

    With P_k the mass of the k likeliest letters and r = e^-epsilon, the least probability is

        1 - Theta(epsilon) = min_k (1 - P_k + (k-1) r)/(1 + (k-1) r).

    Args:
        left: result of `tails` for the laws, shape (u, m).
        epsilon: level of differential privacy, in nats.

    Example:
        >>> row_losses(tails(np.array([[0.2, 0.3, 0.5]])), math.log(3)).round(12).tolist()
        [0.4]
    """
    return np.asarray(_losses(left, epsilon).min(axis=1))


def _losses(left: _Vector, epsilon: float) -> _Vector:
    others = np.arange(left.shape[1]) * math.exp(-epsilon)
    return np.asarray((left + others) / (1.0 + others))


def least_row_level(law: _Vector, loss: float) -> float:
    """The least level of differential privacy, in nats, at which a row's letter is changed with at most the given
    probability: the inverse of `row_losses`.

    Args:
        law: law of the row, shape (m,).
        loss: probability that the letter is changed, in [0, 1].
    """
    left = tails(law[None])[0]
    if left[0] <= loss:
        return 0.0
    k = np.arange(2, len(law) + 1)
    gap = loss - left[1:]
    possible = gap > 0
    if not possible.any():
        return math.inf
    return max(0.0, float((np.log(k[possible] - 1) + math.log1p(-loss) - np.log(gap[possible])).min()))


def top_tables(laws: _Vector, epsilon: float) -> list[_Vector]:
    """Best channel of a row at a level of differential privacy, for each law; each channel has shape (m, m). A letter
    among the k likeliest goes through the kernel on these k letters. Any other letter is replaced by one of the k
    likeliest letters, all equally likely.
    """
    found: list[_Vector] = []
    r, m = math.exp(-epsilon), laws.shape[1]
    for part in _parts(len(laws), m):
        some = laws[part]
        k = top_letters(some, epsilon)[:, None, None]
        rank = np.argsort(np.argsort(-some, axis=1, kind="stable"), axis=1)
        to, own = rank[:, None, :] < k, rank[:, :, None] < k
        among = np.where(np.eye(m, dtype=bool), 1.0, r) / (1.0 + (k - 1) * r)
        found.extend(np.where(to, np.where(own, among, 1.0 / k), 0.0))
    return found


def _parts(laws: int, letters: int) -> list[slice]:
    step = max(1, _AT_ONCE // letters**2)
    return [slice(start, start + step) for start in range(0, laws, step)]


@dataclass(frozen=True)
class WaterLevel:
    """Water level of each of u row laws. A row's channel releases only the s likeliest letters, each with a probability
    in proportion to the letter's probability above the water level w.

    Args:
        order: letters of each law, likeliest first, shape (u, m).
        used: number s of letters that the channel may release, shape (u,); 0 if the output is the constant likeliest
            letter.
        level: water level w, shape (u,): the posterior probability of each used letter other than the released letter.
        kept: 1 - delta, the posterior probability that the released letter is the true one, shape (u,). Here delta is
            the probability that the channel changes the row.
    """

    order: NDArray[np.int64]
    used: NDArray[np.int64]
    level: _Vector
    kept: _Vector


def water_level(laws: _Vector, delta: _Vector) -> WaterLevel:
    """The water level at which the channel changes each row with probability delta.

    Let the letters be in falling order of their probabilities p_(1), p_(2), ..., and let P_s be the sum of the s
    largest probabilities. The number s of letters that are released, and the level w, satisfy

        p_(s) > w >= p_(s+1),  w = (delta - (1 - P_s))/(s - 1).
    """
    m, lines = laws.shape[1], np.arange(len(laws))
    order = np.argsort(-laws, axis=1, kind="stable")
    falling, left = np.take_along_axis(laws, order, axis=1), tails(laws)
    following = np.concatenate([falling[:, 2:], np.zeros((len(laws), 1))], axis=1)
    levels = (delta[:, None] - left[:, 1:]) / np.arange(1, m)
    fits = (falling[:, 1:] > levels) & (levels >= following - 1e-15)
    at = np.where(fits.any(axis=1), fits.argmax(axis=1), m - 2)
    # So near to a constant, other letters would be used as seldom as rounding says.
    used = np.where(delta >= left[:, 0] * (1.0 - _CLOSE), 0, at + 2)
    return WaterLevel(order=order, used=used, level=np.maximum(0.0, levels[lines, at]), kept=1.0 - delta)


def water_tables(laws: _Vector, delta: _Vector) -> list[_Vector]:
    """Channel with the least information and identifiability at a row's distortion, for each law; each channel has
    shape (m, m).

    Args:
        laws: laws of the rows, shape (u, m).
        delta: probability that each row is changed, shape (u,).
    """
    found: list[_Vector] = []
    for part in _parts(*laws.shape):
        found.extend(_water(laws[part], np.asarray(delta)[part]))
    return found


def _water(laws: _Vector, delta: _Vector) -> _Vector:
    m, found = laws.shape[1], water_level(laws, delta)
    # In the order of falling probability; a constant is the likeliest letter.
    law = np.take_along_axis(laws, found.order, axis=1)
    used = np.arange(m) < np.maximum(found.used, 1)[:, None]
    outputs = np.where(used, np.maximum(law - found.level[:, None], 0.0), 0.0)
    outputs[found.used == 0] = np.eye(m)[0]
    outputs /= outputs.sum(axis=1, keepdims=True)
    posterior = np.where(used[:, :, None], found.level[:, None, None], law[:, :, None]) * np.ones(m)
    at = np.arange(m)
    posterior[:, at, at] = np.where(used, found.kept[:, None], posterior[:, at, at])
    posterior[found.used == 0] = law[found.used == 0, :, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = np.where(law[:, :, None] > 0, posterior * outputs[:, None, :] / law[:, :, None], outputs[:, None, :])
    rows /= rows.sum(axis=2, keepdims=True)
    back = np.argsort(found.order, axis=1)
    return np.asarray(rows[np.arange(len(laws))[:, None, None], back[:, :, None], back[:, None, :]])


def water_information(laws: _Vector, delta: _Vector) -> _Vector:
    """Information I(X;Y) of each row's water-filling channel in nats, which is the row's rate-distortion function,
    shape (u,).
    """
    found = water_level(laws, delta)
    law = np.take_along_axis(laws, found.order, axis=1)
    law = np.where(np.arange(law.shape[1]) < found.used[:, None], law, 0.0)
    inside = (found.used - 1) * xlogy(found.level, found.level)
    level = inside + xlogy(found.kept, found.kept) - xlogy(law, law).sum(axis=1)
    return np.asarray(np.where(found.used > 0, np.maximum(0.0, level), 0.0))


# ---- independent


def dp_distortion(prior: IndependentRows, epsilon: float) -> float:
    """Least distortion D_d*(epsilon) under epsilon-DP: the sum over rows of 1 - Theta(epsilon), the least probability
    that a row is changed.
    """
    return float(prior.counts @ row_losses(tails(prior.laws), epsilon))


def identifiability_distortion(prior: IndependentRows, epsilon: float) -> float:
    """Least distortion D_i*(epsilon) at an identifiability epsilon, at least the prior's own level eps_X, for
    independent rows: the sum over rows of max(1 - e^epsilon min p, h). For each row, min p is the smallest probability
    of a letter, and h is the kernel's distortion of one row at the level epsilon.
    """
    return float(prior.counts @ _identifiable(prior, epsilon))


def _identifiable(prior: IndependentRows, epsilon: float) -> _Vector:
    with np.errstate(over="ignore"):
        found: _Vector = np.maximum(1.0 - np.exp(min(epsilon, 700.0)) * prior.laws.min(axis=1),
                                    h(epsilon, prior.letters, 1))
    return found


def dp_level(prior: IndependentRows, distortion: float) -> float:
    """Least level eps_d*(D) of differential privacy at distortion D. The level is 0 for D >= D_0, the least distortion
    of a constant output, and for smaller D the inverse of `dp_distortion`.
    """
    constant = float(prior.counts @ (1.0 - prior.laws.max(axis=1)))
    if distortion >= constant - 1e-12 * prior.records:
        return 0.0
    if len(prior.laws) == 1:
        return least_row_level(prior.laws[0], distortion / prior.records)
    left = tails(prior.laws)
    return _inverted(lambda epsilon: float(prior.counts @ row_losses(left, epsilon)), distortion,
                     h_inverse(distortion, prior.letters, prior.records))


def identifiability_level(prior: IndependentRows, distortion: float, prior_level: float) -> float:
    """Least identifiability eps_i*(D) at distortion D: the inverse of `identifiability_distortion`, but at least eps_X,
    which is the level `prior_level` of the prior.
    """
    if distortion >= identifiability_distortion(prior, prior_level) - 1e-12 * prior.records:
        return prior_level
    if len(prior.laws) == 1:
        share = distortion / prior.records
        return max(h_inverse(distortion, prior.letters, prior.records),
                   math.log((1.0 - share) / float(prior.laws.min())), prior_level)
    highest = max(h_inverse(distortion, prior.letters, prior.records),
                  -math.log(float(prior.laws.min())), prior_level)
    return _inverted(lambda epsilon: identifiability_distortion(prior, epsilon), distortion, highest)


def information(prior: IndependentRows, distortion: float) -> float:
    """Least information eps_m*(D) in nats at distortion D, which is reached by water-filling in all rows at one common
    slope. The slope is the level eps_d*(D) of `dp_level`.
    """
    return float(prior.counts @ water_information(prior.laws, row_distortions(prior, distortion)))


def row_distortions(prior: IndependentRows, distortion: float) -> _Vector:
    """Probability that a row with each law is changed at the common slope of `information`, shape (u,): the result of
    `row_losses` at the level eps_d*(D).
    """
    if len(prior.laws) == 1:
        return np.array([distortion / prior.records])
    slope = dp_level(prior, distortion)
    deltas = row_losses(tails(prior.laws), slope)
    # Rounding of the slope is made up for, so that the distortions add up to D.
    return np.asarray(np.minimum(deltas * (distortion / max(float(prior.counts @ deltas), 1e-300)), 1.0))


def _inverted(distortion_at: Callable[[float], float], distortion: float, high: float) -> float:
    """The epsilon at which a falling function takes a value, by bisection down to rounding."""
    low, high = 0.0, max(high, 1e-12)
    while distortion_at(high) > distortion:
        low, high = high, 2.0 * high
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if distortion_at(middle) > distortion else (low, middle)
    return high


# ---- row bounds

_LARGEST = 2**23  # rows times databases


@dataclass(frozen=True, eq=False)
class RowBounds:
    """Lower bounds from the conditional distributions of single rows given all other rows.

    Args:
        weights: weight of each of the l conditional distributions, shape (l,): the probability of the other rows'
            letters, times the number of rows with this conditional distribution.
        sums: sum of the k largest probabilities of each conditional distribution, for k = 1, ..., m, shape (l, m).
        least: smallest probability of each conditional distribution, shape (l,).
    """

    weights: _Vector
    sums: _Vector
    least: _Vector

    @classmethod
    def of(cls, prior: Prior) -> RowBounds | None:
        """Bounds for a prior; None if the prior has too many conditional distributions."""
        match prior:
            case IndependentRows():
                lines, weights = prior.laws, prior.counts.astype(np.float64)
            case Exchangeable():
                logs = prior.last_row_logs
                ways = gammaln(prior.records) - gammaln(prior.other_types + 1).sum(axis=1)
                lines, weights = np.exp(logs + ways[:, None]), np.full(len(logs), float(prior.records))
            case _ if prior.records * prior.cells <= _LARGEST:
                law, m, n = prior.vector(), prior.letters, prior.records
                lines = np.concatenate([np.moveaxis(view, 1, 2).reshape(-1, m) for view in axes(law, m, n)])
                weights = np.ones(len(lines))
            case _:
                return None
        mass = lines.sum(axis=1)
        weights, lines, mass = weights[mass > 0], lines[mass > 0], mass[mass > 0]
        falling = -np.sort(-lines / mass[:, None], axis=1)
        return cls(weights * mass, np.cumsum(falling, axis=1), falling[:, -1])

    def distortion(self, notion: Level, epsilon: float) -> float:
        """Lower bound of the distortion of any channel at a level, in changed rows, lowered by a part in 10^12 for
        rounding.
        """
        m = self.sums.shape[1]
        r = math.exp(-epsilon)
        if notion == "dp":
            lost = 1.0 - (self.sums / (1.0 + np.arange(m) * r)).max(axis=1)
        else:
            lost = np.maximum(1.0 - math.exp(min(epsilon, 700.0)) * self.least, h(epsilon, m, 1))
        return max(0.0, float(self.weights @ lost) - 1e-12 * float(self.weights.sum()))

    def level(self, notion: Level, distortion: float, low: float, high: float) -> float:
        """Lower bound of the level, in nats, of any release with the given distortion. Bisection between the levels
        `low` and `high` finds the bound, which is rounded down.
        """
        if self.distortion(notion, low) <= distortion:
            return low
        while high - low > 1e-12 * max(1.0, high):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.distortion(notion, middle) > distortion else (low, middle)
        return low
