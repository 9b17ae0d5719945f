"""Lemmas 2 and 3 on all reports of a few people (spec 1 and acceptance 14); the fast checker against enumeration."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from confide.contract import InvalidInput
from confide.evidence.wang_2016.data_market import enumerated_interim, genie_replica, relabelled_rule
from confide.evidence.wang_2016.data_market.enumeration import PaymentRule
from confide.market import LinearCost, MajorityMarket, SignalModel, Strategy, interim_matrix

NATURE = SignalModel(0.6, 0.8)
PROFILE = [Strategy.randomised(1.0), Strategy.randomised(0.4).thinned(0.8), Strategy.always("1"),
           Strategy(np.array([[0.5, 0.1], [0.2, 0.6], [0.3, 0.3]]))]


def rule(seed: int) -> PaymentRule:
    """Any payments at all."""
    table = np.random.default_rng(seed).normal(size=(3, 3, 3, 3, 4))
    return lambda reports: table[reports]


def test_exchanged_labels_are_paid_alike() -> None:
    """Lemma 2 [646]: R' swaps rows 0 and 1 of i's matrix and, if she exchanges her reports, leaves everybody's else."""
    for i in range(4):
        changed = relabelled_rule(rule(0), i)
        profile = [strategy.relabelled() if j == i else strategy for j, strategy in enumerate(PROFILE)]
        for j in range(4):
            before = enumerated_interim(rule(0), j, PROFILE, NATURE)
            after = enumerated_interim(changed, j, profile, NATURE)
            assert after == pytest.approx(before[[1, 0, 2]] if i == j else before, abs=1e-14)


def test_the_genie_pays_the_same() -> None:
    """Lemma 3 [652]: the replica, which looks at her report and the state alone, has the same interim matrix."""
    for i in range(4):
        replica = genie_replica(rule(1), i, PROFILE, NATURE)
        assert replica @ NATURE.joint == pytest.approx(enumerated_interim(rule(1), i, PROFILE, NATURE), abs=1e-14)


def by_counts(market: MajorityMarket) -> PaymentRule:
    return lambda reports: market.pay_reports(reports).tolist()


@pytest.mark.parametrize("profile", [
    [Strategy.randomised(1.0)] * 5,
    [Strategy.randomised(0.7).thinned(0.6)] * 5,
    [*PROFILE, Strategy.always("none")],
    [Strategy.always("1"), *[Strategy.randomised(2.0)] * 2, *[Strategy.randomised(0.3).thinned(0.5)] * 2],
], ids=["common", "too many for different strategies and absences", "each her own", "groups"])
def test_the_checker_equals_enumeration(profile: Sequence[Strategy]) -> None:
    """Also under a signal model that the market was not designed for."""
    market = MajorityMarket(5, 0.75, 0.6, LinearCost(1.0), 1.0)
    for i in (0, 4):
        others = [strategy for j, strategy in enumerate(profile) if j != i]
        for signal_model in (market.signal_model, SignalModel(0.3, 0.9)):
            exact = enumerated_interim(by_counts(market), i, profile, signal_model)
            assert interim_matrix(market, others, signal_model) == pytest.approx(exact, abs=1e-12)


def test_too_many_to_enumerate() -> None:
    with pytest.raises(InvalidInput, match="profile"):
        genie_replica(rule(0), 0, [PROFILE[0]] * 12, NATURE)
