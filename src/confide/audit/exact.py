"""Exact audit: a mechanism with an output distribution that can be enumerated is measured, not sampled. An exact audit
therefore has no false alarm and no miss.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from confide.audit.comparing import ABSOLUTE, RELATIVE, Loss, exceeds
from confide.audit.report import AuditRow
from confide.contract.errors import InvalidInput
from confide.privacy.divergences import exact_mu, hockey_stick, max_divergence, renyi_divergence
from confide.privacy.losses import GDP, ZCDP, ApproxDP, PureDP, RenyiDP

__all__ = ["ExactAudit", "exact_audit"]

_Name = TypeVar("_Name", bound=Hashable)

_ORDERS = np.unique(np.concatenate([[1.0], 1.0 + np.geomspace(1e-3, 1e4, 48), np.arange(2.0, 33.0)]))


@dataclass(frozen=True, kw_only=True)
class ExactAudit:
    """Result of an audit that enumerates the output distributions.

    Args:
        claim: the promised loss.
        quantity: name of the measured quantity, for example the epsilon or the rho of the claim.
        promised: promised largest value of the measured quantity.
        measured: largest value of the measured quantity over all pairs, in both directions.
        pair: names of the two data sets with the largest value, keys of `laws`.
        forward: the value for the output distribution of the pair's first data set against the output distribution of
            the second data set.
        backward: the value for the output distribution of the pair's second data set against the output distribution of
            the first data set.
        pairs: number of pairs of neighbours that were compared.
        flagged: True where the measured value is above the promised value beyond rounding.
    """

    claim: Loss
    quantity: str
    promised: float
    measured: float
    pair: tuple[Hashable, Hashable]
    forward: float
    backward: float
    pairs: int
    flagged: bool

    def row(self, promise: str = "privacy") -> AuditRow:
        """The result as a row of an `AuditReport`."""
        evidence = (f"output laws enumerated for {self.pairs} pair{'s' if self.pairs != 1 else ''} of neighbours, both "
                    f"directions; {self.quantity}")
        if isinstance(self.claim, ZCDP):
            evidence += f", over {_ORDERS.size} orders from 1 to {_ORDERS[-1]:g} and a search between them"
        return AuditRow.of_loss(promise, self.claim, self.promised, self.measured, evidence, flagged=self.flagged)


def exact_audit(
    laws: Mapping[_Name, ArrayLike], claim: Loss, neighbours: Iterable[tuple[_Name, _Name]] | None = None
) -> ExactAudit:
    """Compare the output distributions of an enumerable mechanism with the promised loss.

    Args:
        laws: mapping from data set to its output distribution, an array of probabilities over the same outcomes in the
            same order. One outcome is everything that the audience sees, so a transcript of several releases is one
            outcome.
        claim: the promised loss: `PureDP`, `ApproxDP`, `ZCDP`, `GDP` or `RenyiDP`.
        neighbours: pairs of keys of `laws` whose data sets are neighbours; None if any two data sets are neighbours.

    Returns:
        The worst loss in the claim's own parameter: epsilon, delta at the promised epsilon, rho, mu, or the Renyi
        divergence of the promised order. For zCDP, rho is the largest ratio of Renyi divergence to order over a grid of
        orders. The largest ratio on the grid is a lower bound of rho, and exact where the worst order is on the grid.

    Raises:
        InvalidInput: the arrays are no distributions, a data set is unknown, there is no pair, or the claim is of
            another type.

    Source: spec query_release A1, design section 7.

    Example:
        >>> from confide.privacy import PureDP
        >>> audit = exact_audit({"yes": [0.75, 0.25], "no": [0.25, 0.75]}, PureDP(1.0))
        >>> round(audit.measured, 6), audit.flagged
        (1.098612, True)
    """
    if not isinstance(laws, Mapping):
        raise InvalidInput("laws", f"{type(laws).__name__} is not a mapping", "must be {data set: its output law}")
    pairs = list(combinations(laws, 2)) if neighbours is None else list(neighbours)
    if not pairs:
        raise InvalidInput("neighbours", "has no pair of neighbours", "give at least one")
    found: list[tuple[float, float]] = []
    flagged = False
    for first, second in pairs:
        for key in (first, second):
            if key not in laws:
                raise InvalidInput("neighbours", f"{key!r} has no output law",
                                   "every data set of a pair needs an output law")
        both = (_measure(laws[first], laws[second], claim), _measure(laws[second], laws[first], claim))
        found.append(both)
        flagged = flagged or _breaks(laws[first], laws[second], claim, max(both))
    worst = max(range(len(found)), key=lambda index: max(found[index]))
    quantity, promised = _parameter(claim)
    return ExactAudit(claim=claim, quantity=quantity, promised=promised, measured=max(found[worst]),
                      pair=(pairs[worst][0], pairs[worst][1]), forward=found[worst][0], backward=found[worst][1],
                      pairs=len(pairs), flagged=flagged and not claim.vacuous)


def _parameter(claim: Loss) -> tuple[str, float]:
    match claim:
        case PureDP():
            return "epsilon", claim.epsilon
        case ApproxDP():
            return f"delta at epsilon = {claim.epsilon:g}", claim.delta
        case ZCDP():
            return "rho", claim.rho
        case GDP():
            return "mu", claim.mu
        case RenyiDP():
            return f"Renyi divergence of order {claim.alpha:g}", claim.epsilon


def _measure(p: ArrayLike, q: ArrayLike, claim: Loss) -> float:
    match claim:
        case PureDP():
            return max_divergence(p, q)
        case ApproxDP():
            return hockey_stick(p, q, claim.epsilon)
        case ZCDP():
            return _rho(p, q)
        case GDP():
            return exact_mu(p, q)
        case RenyiDP():
            return renyi_divergence(p, q, claim.alpha)
        case _:
            raise InvalidInput("claim", f"{type(claim).__name__} is not a loss that this audit knows",
                               "must be PureDP, ApproxDP, ZCDP, GDP or RenyiDP")


def _breaks(p: ArrayLike, q: ArrayLike, claim: Loss, measured: float) -> bool:
    if isinstance(claim, ApproxDP):
        # Rounding belongs to the likelihood ratios: a delta, which may be tiny, gets no absolute tolerance.
        epsilon = claim.epsilon * (1.0 + RELATIVE) + ABSOLUTE
        delta = max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon))
        return delta > claim.delta * (1.0 + RELATIVE)
    return exceeds(measured, _parameter(claim)[1])


def _rho(p: ArrayLike, q: ArrayLike) -> float:
    """Largest ratio of Renyi divergence to order over a grid of orders, refined between the neighbours of the best
    order.
    """
    from scipy.optimize import minimize_scalar

    def per_order(order: float) -> float:
        return renyi_divergence(p, q, order) / order

    values = [per_order(float(order)) for order in _ORDERS]
    best = int(np.argmax(values))
    if math.isinf(values[best]) or values[best] == 0:
        return values[best]
    low, high = _ORDERS[max(best - 1, 0)], _ORDERS[min(best + 1, _ORDERS.size - 1)]
    inner = minimize_scalar(lambda order: -per_order(order), bounds=(low, high), method="bounded")
    return max(values[best], -float(inner.fun))
