"""Interim payments of any payment rule for a few people, by enumerating all reports of the others. Faster computations
are tested against this enumeration.

The module also contains the two transformations behind the lower bound. The first transformation exchanges a person's
labels (Lemma 2). The second one is the genie that pays the mean of the payment over the other people's reports, given
the state (Lemma 3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.contract.renamed import renamed
from confide.market.signal_model import SignalModel
from confide.market.strategies import Strategy

__all__ = ["PaymentRule", "enumerated_interim", "genie_replica", "relabelled_rule"]

PaymentRule = Callable[[tuple[int, ...]], Sequence[float]]
"""Function from everybody's reports (0, 1, or 2 for none) to everybody's payments."""

LARGEST = 11


@renamed(nature="signal_model")
def genie_replica(rule: PaymentRule, person: int, profile: Sequence[Strategy],
                  signal_model: SignalModel) -> NDArray[np.float64]:
    """The payments E[R_i | X_i = x, W = w], shape (3, 2). A genie who pays E[R_i | X_i = x, W = w] does not change any
    interim utility of person i.

    Args:
        rule: payments for every vector of reports.
        person: position i of the person.
        profile: everybody's strategy, for at most 11 people.
        signal_model: law of the state and the bits.

    Source: Wang 2016, Lemma 3; spec data_market section 1.
    """
    if not 1 <= len(profile) <= LARGEST:
        raise InvalidInput("profile", f"has {len(profile)} strategies", f"enumeration takes 1 to {LARGEST}")
    laws = [strategy.given_state(signal_model.signal_accuracy) for strategy in profile]
    found = np.zeros((3, 2))
    for others in product(range(3), repeat=len(profile) - 1):
        weights = np.ones(2)
        for j, report in enumerate(others):
            weights = weights * laws[j if j < person else j + 1][report]
        if not weights.any():
            continue
        for x in range(3):
            found[x] += weights * rule((*others[:person], x, *others[person:]))[person]
    return found


@renamed(nature="signal_model")
def enumerated_interim(rule: PaymentRule, person: int, profile: Sequence[Strategy],
                       signal_model: SignalModel) -> NDArray[np.float64]:
    """The (3, 2) interim matrix a[x, s] of one person. The arguments are those of `genie_replica`."""
    return genie_replica(rule, person, profile, signal_model) @ signal_model.joint


def relabelled_rule(rule: PaymentRule, person: int) -> PaymentRule:
    """The payment rule that first exchanges person i's reports 0 and 1, and then pays everybody as the given rule does.

    If the person also exchanges their reports (`Strategy.relabelled`), all payments are the same as before.

    Source: Wang 2016, Lemma 2; spec data_market section 1.
    """

    def changed(reports: tuple[int, ...]) -> Sequence[float]:
        report = reports[person]
        read = 1 - report if report < 2 else report
        return rule((*reports[:person], read, *reports[person + 1:]))

    return changed
