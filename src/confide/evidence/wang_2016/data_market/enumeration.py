"""Any payment rule of a few people, by enumerating what all others report: the reference for everything faster.

Also the two transformations behind the lower bound: exchanging a person's labels (Lemma 2), and the genie that pays
what the others' reports pay on average given the state (Lemma 3).
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
"""From everybody's reports (0, 1, or 2 for none) to everybody's payment."""

LARGEST = 11


@renamed(nature="signal_model")
def genie_replica(rule: PaymentRule, person: int, profile: Sequence[Strategy],
                  signal_model: SignalModel) -> NDArray[np.float64]:
    """The (3, 2) payments E[R_i | X_i = x, W = w]: a genie who pays this leaves all of person i's interim utilities as
    they are.

    Args:
        rule: payments for every vector of reports.
        person: i.
        profile: everybody's strategy, at most 11 people.
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
    """The (3, 2) interim matrix a[x, s] of one person; arguments as in `genie_replica`."""
    return genie_replica(rule, person, profile, signal_model) @ signal_model.joint


def relabelled_rule(rule: PaymentRule, person: int) -> PaymentRule:
    """The rule that reads person i's 0 as 1 and their 1 as 0, and pays everybody by what it reads.

    If the person exchanges their reports, too (`Strategy.relabelled`), everybody is paid as before.

    Source: Wang 2016, Lemma 2; spec data_market section 1.
    """

    def changed(reports: tuple[int, ...]) -> Sequence[float]:
        report = reports[person]
        read = 1 - report if report < 2 else report
        return rule((*reports[:person], read, *reports[person + 1:]))

    return changed
