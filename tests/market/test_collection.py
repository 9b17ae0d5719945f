"""The mechanism that a campaign of bits runs: reports in, counts and whole coins out, and nothing drawn but at home."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.contract import InvalidInput, Relation
from confide.contract.guarantees import Audience, Budget, Participation, Truthfulness
from confide.market import (
    BitBillboard,
    BitCollection,
    LinearCost,
    MajorityMarket,
    PairMarket,
    PairPrior,
    Reports,
)
from confide.privacy import Noise, PureDP
from confide.privacy.response import response_table

MARKET = MajorityMarket(people=9, signal_accuracy=0.8, prior_one=0.7, cost=LinearCost(1.0), epsilon=1.0)
COLLECTION = BitCollection(market=MARKET, currency="EUR")


@given(st.lists(st.sampled_from([0, 1, 2]), min_size=9, max_size=9))
def test_shares_are_separate_decodes_and_what_the_market_pays(reports: list[int]) -> None:
    outcome = COLLECTION.run(reports, Noise.secure())
    shares = outcome.shares["payment"].to_pylist()
    assert shares == [COLLECTION.decode(report, k, outcome.billboard)["payment"] for k, report in enumerate(reports)]
    assert shares == np.ceil(100 * MARKET.pay_reports(reports)).astype(int).tolist()
    COLLECTION.check(outcome.billboard)
    assert outcome.release_safe


def test_batches_in_any_order_are_the_array() -> None:
    reports = np.array([1, 2, 0, 1, 1, 0, 1, 1, 2], dtype=np.uint8)
    order = np.array([4, 0, 8, 3, 2])
    rest = np.array([5, 6])  # 1 and 7 are in no batch
    batches = [Reports(each, reports[each], np.zeros(len(each), np.int64)) for each in (order, rest)]
    reports[[1, 7]] = 2
    one, two = (COLLECTION.run(data, Noise.secure()) for data in (batches, reports))
    assert one.shares.equals(two.shares)


def test_groups_are_paid_by_their_own_counts() -> None:
    collection = replace(COLLECTION, groups=2)
    report, group = np.array([1, 1, 0, 1, 0, 0, 1, 0, 2], np.uint8), np.array([0, 0, 0, 0, 1, 1, 1, 1, 1])
    outcome = collection.run([Reports(np.arange(9), report, group)], Noise.secure())
    board = outcome.billboard
    assert (board.ones.tolist(), board.zeros.tolist()) == ([3, 1], [1, 3])
    for k in range(2):
        paid = MARKET.pay(int(board.ones[k]), int(board.zeros[k]))
        assert (board.for_one[k], board.for_zero[k]) == (math.ceil(100 * paid.one), math.ceil(100 * paid.zero))
    decoded = [collection.decode((int(report[i]), int(group[i])), i, board)["payment"] for i in range(9)]
    assert outcome.shares["payment"].to_pylist() == decoded


def test_submit_draws_at_the_level_and_absence_draws_nothing() -> None:
    table = response_table(1.0)
    bits = [COLLECTION.submit(1, noise=Noise.simulated(k)) for k in range(400)]
    assert abs(np.mean(bits) - table.truth) < 0.1  # 4.6 standard errors
    assert COLLECTION.submit(None) == 2
    assert (COLLECTION.submit(0, noise=Noise.secure())) in (0, 1)
    with pytest.raises(InvalidInput) as error:
        COLLECTION.submit(7, noise=Noise.secure())
    assert "7" not in str(error.value)
    with pytest.raises(InvalidInput, match="noise"):
        COLLECTION.submit(1)


def test_promises_leave_room_for_whole_coins() -> None:
    coarse, plain = replace(COLLECTION, minor_units=1).guarantees(), MARKET.guarantees()
    assert coarse.of(Truthfulness)[0].gain == plain.of(Truthfulness)[0].gain + 1.0
    assert coarse.of(Participation)[0].utility == plain.of(Participation)[0].utility
    budget = coarse.of(Budget)[0]
    assert (budget.expected, budget.currency) == (plain.of(Budget)[0].expected + 9.0, "EUR")
    privacy = coarse.privacy[0]
    assert (privacy.loss, privacy.neighbours, privacy.audience) == (PureDP(1.0), Relation.BIT, Audience.COLLECTOR)
    (event,) = COLLECTION.events()
    assert (event.epsilon, event.neighbours) == (1.0, Relation.BIT)


def test_bad_data_is_refused_without_saying_whose() -> None:
    for data, match in (
        ([1, 0], "shape"), ([1, 0, 1, 1, 5, 0, 0, 1, 1], "reports"), ([np.zeros(3)], "reports"),
        (iter([3]), "batch is int"),
        (iter([Reports(np.array([9]), np.array([1], np.uint8), np.array([0]))]), "index is out of range"),
        (iter([Reports(np.array([1]), np.array([3], np.uint8), np.array([0]))]), "a value is not a report"),
        (iter([Reports(np.array([1]), np.array([1], np.uint8), np.array([1]))]), "group"),
        (iter([Reports(np.array([1]), np.array([1, 0], np.uint8), np.array([0]))]), "different lengths"),
        (iter([Reports(np.array([1]), np.array([-1]), np.array([0]))]), "a value is not a report"),
        (iter([Reports(np.array([1, 1]), np.array([1, 0]), np.array([0, 0]))]), "a person's report occurs twice"),
    ):
        with pytest.raises(InvalidInput, match=match):
            COLLECTION.run(data, Noise.secure())
    with pytest.raises(InvalidInput, match="is not a Noise"):
        COLLECTION.run([1] * 9, None)
    with pytest.raises(InvalidInput, match="coins"):
        BitCollection(market=MajorityMarket(3, 0.999, 0.001, LinearCost(1.0), 50.0))
    with pytest.raises(InvalidInput, match="a single peer"):
        BitCollection(market=PairMarket(PairPrior.beta_binomial(2, 3, 10), LinearCost(1.0), 1.0, average=False))
    for private in ((1,), (1, 2, 3), (1, -1.0), (1, "much")):
        with pytest.raises(InvalidInput):
            COLLECTION.submit(private, noise=Noise.secure())


def test_a_billboard_that_contradicts_itself_is_found() -> None:
    board = COLLECTION.run([1, 1, 0, 1, 1, 0, 1, 2, 1], Noise.secure()).billboard

    def bent(**parts: list[int]) -> BitBillboard:
        return replace(board, **{name: np.array(part, dtype=np.int64) for name, part in parts.items()})

    for bad, match in ((bent(for_one=[int(board.for_one[0]) + 1]), "for_one"),
                       (bent(for_one=[int(board.for_one[0]) - 1]), "for_one"), (bent(for_zero=[1]), "for_zero"),
                       (bent(for_zero=[-1]), "for_zero"),
                       (bent(ones=[8], zeros=[2]), "10 reports"),
                       (bent(ones=[1, 1], zeros=[1, 1], for_one=[0, 0], for_zero=[0, 0]), "2 groups")):
        with pytest.raises(InvalidInput, match=match):
            COLLECTION.check(bad)
    with pytest.raises(InvalidInput, match="negative"):
        bent(ones=[-1])
    with pytest.raises(InvalidInput, match="int64"):
        replace(board, ones=np.array([1.0]))


def test_an_unbounded_level_is_never_charged() -> None:
    from confide.contract import NotGuaranteed

    class Unbounded(MajorityMarket):
        @property
        def largest_level(self) -> float:
            return math.inf

    found = BitCollection(market=Unbounded(9, 0.8, 0.7, LinearCost(1.0), 1.0))
    with pytest.raises(NotGuaranteed, match="give a ceiling"):
        found.events()
