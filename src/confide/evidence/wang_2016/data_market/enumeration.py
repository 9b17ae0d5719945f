"""Expected payments of one person under any payment rule for a few people, by enumerating all reports of the other
people. Faster computations are tested against this enumeration.

The module also contains the two transformations behind the lower bound. The first transformation exchanges the labels 0
and 1 of one person's reports (Lemma 2). The second transformation replaces a payment by the mean payment over the other
people's reports, given the state (Lemma 3). Only a genie that knows the state can pay this mean.
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
    """The mean payments E[R_i | X_i = x, W = w] of person i for each report x in (0, 1, none) and each state w in (0,
    1), shape (3, 2). If a genie pays person i these amounts, no interim utility of person i changes.

    Args:
        rule: function from the vector of everybody's reports to the vector of everybody's payments.
        person: index i of the person, from 0.
        profile: strategies of all people, at most 11.
        signal_model: joint law of the state and the bits.

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
    """The (3, 2) interim matrix a[x, s] = P(S = s) E[R | X = x, S = s] of one person with payment R, report X and bit
    S. The arguments are those of `genie_replica`.
    """
    return genie_replica(rule, person, profile, signal_model) @ signal_model.joint


def relabelled_rule(rule: PaymentRule, person: int) -> PaymentRule:
    """The payment rule that first exchanges 0 and 1 in the report of the person with index `person`, and then pays
    everybody as the given rule does.

    If the person also exchanges their reports (`Strategy.relabelled`), all payments are the same as before.

    Source: Wang 2016, Lemma 2; spec data_market section 1.
    """

    def changed(reports: tuple[int, ...]) -> Sequence[float]:
        report = reports[person]
        read = 1 - report if report < 2 else report
        return rule((*reports[:person], read, *reports[person + 1:]))

    return changed
