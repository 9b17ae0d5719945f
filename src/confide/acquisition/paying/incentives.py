"""A search for a lie that gains, in a mechanism of ours or of somebody else.

Source: spec two_part_acquisition section 4 (brute deviation search, revelation principle).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.acquisition.paying.payments import Offer, OfferRule
from confide.contract.checks import whole
from confide.contract.errors import InvalidInput

__all__ = ["DeviationAudit", "audit_ic", "direct_from_indirect"]


@dataclass(frozen=True, eq=False)
class DeviationAudit:
    """What one person would get for each report that was tried, the others' reports as they are.

    Args:
        person: her position.
        truth: her utility at the truth; below 0, taking part would cost her.
        reports: (k,) the lies.
        utilities: (k,) what they give; minus infinity for a record without noise that she would mind.
    """

    person: int
    truth: float
    reports: NDArray[np.float64]
    utilities: NDArray[np.float64]

    @property
    def regret(self) -> float:
        """The most that a lie gains; 0 where none does."""
        return max(float(np.max(self.utilities)) - self.truth, 0.0)

    @property
    def best_report(self) -> float:
        """The lie that gives most."""
        return float(self.reports[int(np.argmax(self.utilities))])


def audit_ic(rule: OfferRule, reports: ArrayLike, person: int, misreports: ArrayLike) -> DeviationAudit:
    """Search for a report that gives a person more than the truth.

    Args:
        rule: a `PaymentRule`, or any function of everybody's reports and a position.
        reports: (n,) everybody's, hers the truth.
        person: her position.
        misreports: (k,) what she tries.

    Raises:
        InvalidInput: no such person, nothing to try, or a report that the prior cannot produce.

    Example:
        >>> from confide.acquisition.paying.payments import PaymentRule
        >>> from confide.acquisition.beliefs.priors import UniformPrior
        >>> rule = PaymentRule(UniformPrior().virtual_cost(), 10 / 12, 10.0)
        >>> audit_ic(rule, [0.5, 0.5], 0, [0.0, 0.25, 0.75, 1.0]).regret
        0.0
    """
    c = np.array(reports, dtype=np.float64)
    tried = np.array(misreports, dtype=np.float64).reshape(-1)
    if whole("person", person) >= c.size:
        raise InvalidInput("person", f"{person} is not one of {c.size}", f"must be below {c.size}")
    if not tried.size:
        raise InvalidInput("misreports", "are none", "must be one or more")
    truth = float(c[person])
    honest = rule(c.copy(), person).utility(truth)
    utilities = np.empty(tried.size)
    for k, lie in enumerate(tried.tolist()):
        c[person] = lie
        utilities[k] = rule(c.copy(), person).utility(truth)
    return DeviationAudit(person, honest, tried, utilities)


def direct_from_indirect(
    outcome: Callable[[Sequence[object], int], Offer], strategies: Sequence[Callable[[float], object]]
) -> OfferRule:
    """The direct mechanism that plays everybody's strategy for them: truth in it is the strategies outside of it.

    Args:
        outcome: everybody's actions and a position -> her offer.
        strategies: one for each person, from her sensitivity to her action.

    Returns:
        A rule for `audit_ic`: if the strategies were an equilibrium, no lie gains.

    Source: the revelation principle; Fallah, Makhdoumi, Malekian and Ozdaglar, section 4.

    Example:
        >>> from confide.acquisition.paying.payments import PaymentRule
        >>> from confide.acquisition.beliefs.priors import UniformPrior
        >>> rule = PaymentRule(UniformPrior().virtual_cost(), 10 / 12, 10.0)
        >>> percent = direct_from_indirect(lambda asked, i: rule([each / 100 for each in asked], i),
        ...                                [lambda c: 100 * c] * 2)
        >>> percent([0.5, 0.5], 0) == rule([0.5, 0.5], 0)
        True
    """
    players = tuple(strategies)

    def rule(reports: NDArray[np.float64], person: int) -> Offer:
        if len(reports) != len(players):
            raise InvalidInput("reports", f"are {len(reports)} for {len(players)} strategies", "must be one each")
        return outcome([play(float(c)) for play, c in zip(players, reports, strict=True)], person)

    return rule
