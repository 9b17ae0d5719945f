"""`plan`: advice from public sizes, with predictions that come true."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cases import fast
from confide.allocation import PMatch, SinkhornMatch, Valuations, instance_a, instance_b
from confide.allocation.planning.advice import plan
from confide.allocation.planning.predicted import made_up, predicted, reduced, upper_bound
from confide.contract.errors import InvalidInput, Refused
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator


def test_a_plan_says_what_to_expect():
    found = plan(2000, 8, 200, 4.0)
    assert isinstance(found.mechanism, SinkhornMatch)
    assert set(found.predicted) == {"A", "B"} == set(found.passed_over)
    assert 0.85 < found.share < 1.0
    assert found.share > np.mean([one.welfare for one in found.passed_over.values()])
    assert all(0.4 < one.blind < one.welfare and 0 < one.certificate < one.welfare for one in found.predicted.values())
    assert 0 < found.held_back < 100
    assert 0 < found.error < 200
    assert found.draws == 8 * (found.mechanism.rounds + 1) + 2
    assert found.seconds > found.draws * 8e-6
    assert found.megabytes > 4 * 2000 * 8 / 1e6
    told = found.to_dict()
    assert json.loads(json.dumps(told)) == told
    assert told["mechanism"] == "SinkhornMatch"
    text = " ".join(found.sentences())
    assert "not a promise" in text
    assert "PMatch was predicted" in text
    assert "epsilon = 4" in text


def test_options_of_one_mechanism_leave_no_choice():
    found = plan(2000, 8, 200, 8.0, halting="published")
    assert isinstance(found.mechanism, PMatch)
    assert found.mechanism.halting == "published"
    assert not found.passed_over
    assert found.draws == 8 * found.mechanism.counter.horizon + 8 * 8 + 2
    assert isinstance(plan(2000, 8, 200, 8.0, mechanism="pmatch").mechanism, PMatch)
    assert isinstance(plan(2000, 8, 200, 8.0, rounds=12, coolest=0.01).mechanism, SinkhornMatch)


def test_prices_that_are_charged_cost_no_welfare():
    found = plan(2000, 8, 200, 4.0, charge=True)
    assert isinstance(found.mechanism, SinkhornMatch)
    assert found.mechanism.charge
    assert found.share > 0.9 > 0.2 + np.mean([one.welfare for one in found.passed_over.values()])


def test_options_reach_the_mechanism():
    found = plan(2000, 8, 200, 4.0, gamma=1e-4, neighbours="add_remove", certify_with=0.0)
    assert (found.mechanism.gamma, found.mechanism.neighbours) == (1e-4, "add_remove")
    assert found.predicted["A"].certificate is None
    assert found.held_back > plan(2000, 8, 200, 4.0, neighbours="add_remove", certify_with=0.0).held_back


def test_a_table_that_names_few_goods_is_smaller():
    wide, sparse = plan(2000, 10, 160, 4.0), plan(2000, 10, 160, 4.0, named=3)
    assert sparse.megabytes < wide.megabytes
    assert sparse.seconds < wide.seconds


def test_plenty_needs_no_simulation():
    found = plan(500, 4, 500, 0.001)
    assert found.predicted == {}
    assert found.draws == 0
    assert found.share == 1.0
    assert "favourite" in found.sentences()[-1]
    json.dumps(found.to_dict())


@pytest.mark.parametrize(("mechanism", "epsilon"), fast(1, [("any", 0.1), ("pmatch", 0.2)]))
def test_hopeless_sizes_are_refused_with_what_would_do(mechanism, epsilon):
    with pytest.raises(Refused) as caught:
        plan(2000, 8, 200, epsilon, mechanism=mechanism)
    enough = float(caught.value.remedy.split()[3].rstrip(","))
    assert "without asking" in caught.value.reason
    assert "copies" in caught.value.remedy
    assert epsilon < enough < 20 * epsilon
    assert plan(2000, 8, 200, 1.1 * enough, mechanism=mechanism).share > 0.55


def test_a_prior_of_ones_own():
    draw = study_generator(1, "rows")
    prior = draw.random((50, 6)) ** 3
    found = plan(3000, 6, 400, 2.0, prior=prior)
    assert set(found.predicted) == {"prior"}
    assert 0.5 < found.share < 1
    values = made_up(200, 6, prior)["prior"]
    assert {tuple(row) for row in values.values.reshape(200, 6)} <= {tuple(row) for row in prior}


@pytest.mark.parametrize(("prior", "problem"), [(np.full((3, 5), 0.5), "shape"), (np.full(6, 0.5), "shape"),
                                                (np.empty((0, 6)), "shape"), (np.zeros((4, 6)), "nothing"),
                                                (np.full((3, 6), 1.5), "row")])
def test_priors_that_cannot_be_used(prior, problem):
    with pytest.raises(InvalidInput, match=problem):
        plan(3000, 6, 400, 2.0, prior=prior)


def test_bad_arguments():
    for arguments, options in (((0, 6, 4, 1.0), {}), ((30, 6, 4, -1.0), {}), ((30, 6, 0, 1.0), {}),
                               ((30, 6, 4, 1.0), {"mechanism": "other"}), ((30, 6, 4, 1.0), {"runs": 0}),
                               ((300, 6, 40, 9.0), {"named": 0}), ((30, 6, 4, 1.0), {"alpha": 0.3}),
                               ((30, 6, 4, 1.0), {"halting": "bids", "mechanism": "sinkhorn"}),
                               ((30, 6, 4, 1.0), {"halting": "bids", "hottest": 0.2})):
        with pytest.raises(InvalidInput):
            plan(*arguments, **options)


def test_smaller_markets_keep_what_counts():
    one = PMatch.recommended(people=2_000_000, goods=80, supply=20_000, epsilon=1.0)
    small = reduced(one)
    assert small.people * small.goods <= 4_100_000
    assert small.goods == 50
    assert small.copies[0] * small.epsilon == pytest.approx(20_000, rel=0.01)
    assert small.gamma / small.goods == pytest.approx(one.gamma / one.goods)
    assert small.people / (small.copies[0] * small.goods) == pytest.approx(2_000_000 / (20_000 * 80), rel=0.01)
    assert small.counter.horizon == pytest.approx(one.counter.horizon * 50 / 80, rel=0.02)
    assert reduced(one, goods=False).goods == 80
    assert reduced(small) == small
    gaussian = PMatch.recommended(people=2_000_000, goods=20, supply=20_000, epsilon=1.0, law="gaussian", delta=1e-6)
    less = reduced(gaussian)
    assert less.clearing.measure.scale / less.copies[0] == pytest.approx(
        gaussian.clearing.measure.scale / gaussian.copies[0], rel=0.01)
    uneven = reduced(SinkhornMatch(people=300_000, goods=60, supply=tuple(range(1000, 1060)), epsilon=1.0))
    assert uneven.goods == 50
    assert uneven.copies[0] < uneven.copies[-1]


def test_the_upper_bound_is_one_and_near():
    from scipy.optimize import linear_sum_assignment

    table = instance_b(300, 6, seed=3)
    values = Valuations.of(table, people=300, goods=6)
    wide = np.repeat(table, 40, axis=1)
    best = wide[linear_sum_assignment(-wide)].sum()
    assert best * (1 - 1e-6) <= upper_bound(values, (40,) * 6) <= 1.01 * best


@pytest.mark.parametrize(("kind", "people", "goods", "supply", "epsilon"), fast(0, [
    (SinkhornMatch, 300_000, 40, 6000, 0.5), (PMatch, 300_000, 40, 6000, 0.5), (SinkhornMatch, 100_000, 100, 800, 1.0),
    (PMatch, 100_000, 100, 800, 1.0), (PMatch, 100_000, 100, 800, 4.0), (SinkhornMatch, 1_000_000, 10, 80_000, 0.05)]))
def test_predictions_come_true(kind, people, goods, supply, epsilon):
    one = kind.recommended(people=people, goods=goods, supply=supply, epsilon=epsilon)
    for name, make in (("A", instance_a), ("B", instance_b)):
        values = Valuations.of(make(people, goods, seed=9), people=people, goods=goods)
        found = one.run(values, Noise.simulated(9)).diagnostics["welfare"] / upper_bound(values, one.copies)
        assert predicted(one)[name].welfare == pytest.approx(found, abs=0.03)
