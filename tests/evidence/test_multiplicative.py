"""The auction that halts when few bid, for values that are 0 or at least lambda: a share of the optimum."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from confide.allocation import PMatch, Valuations, replay
from confide.allocation.guarantees import EquilibriumPromises
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Relation
from confide.evidence.wu_2017.private_matchings.multiplicative import (
    BidsPromise,
    OptimumRange,
    OptimumRelease,
    bids_promise,
    keep_promise,
    multiplicative_auction,
)
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator

NOISELESS = 1e9


@cache
def zero_one(seed: int, people: int = 300, goods: int = 6, wanted: float = 0.3) -> np.ndarray:
    return (study_generator(seed, "wanted").random((people, goods)) < wanted).astype(float)


def best(table: np.ndarray, supply: int) -> float:
    copies = np.repeat(table, supply, axis=1)
    rows, columns = linear_sum_assignment(copies, maximize=True)
    return float(copies[rows, columns].sum())


def auction(optimum: OptimumRange, **changes) -> PMatch:
    public = {"people": 300, "goods": 6, "supply": 40, "increment": 0.125, "epsilon": NOISELESS, "least": 1.0}
    return multiplicative_auction(**{**public, **changes}, optimum=optimum)


# spec allocation, acceptance 9
@pytest.mark.parametrize("wanted", [0.1, 0.3])
def test_a_share_of_the_optimum_without_noise(wanted):
    for seed in range(2):
        table = zero_one(seed, wanted=wanted)
        optimum = best(table, 40)
        known = OptimumRange.known(optimum)
        it = auction(known)
        assert (it.rounds, it.halt_below, it.effective_reserve) == (1536, math.floor(0.125 * optimum / 2), 0)
        outcome = it.run(table, Noise.simulated(seed))
        promise, said = bids_promise(it, 1.0, known)
        assert outcome.billboard.rounds <= promise.rounds_needed < 1536
        assert outcome.diagnostics["welfare"] >= (1 - 3 / 8) * optimum
        assert promise.ratio >= 1 - 3 / 8
        assert outcome.diagnostics["welfare"] >= promise.ratio * optimum
        assert outcome.diagnostics["over_allocated"] == 0
        assert said.bound == 1 - promise.ratio
        assert not said.vacuous
        assert said.failure_probability == pytest.approx(0.01)


def test_the_promise_with_the_errors_that_there_were():
    # people many enough that their noise leaves something to promise
    table, people, goods, supply = zero_one(5, 2000, 3), 2000, 3, 400
    optimum = best_of_flow(table, supply)
    known = OptimumRange.known(optimum)
    common = {"people": people, "goods": goods, "supply": supply, "increment": 0.25, "batch": 5, "arity": 8,
              "rounds": 60, "certify_with": 0.0, "halt_with": 0.6}
    promised = 0
    for seed in range(4):
        it = auction(known, **common, epsilon=2000.0 * 1.2**seed)
        outcome = it.run(table, Noise.simulated(seed))
        board = outcome.billboard
        replays = [replay(table[i], i, board) for i in range(people)]
        true = np.zeros((board.steps + 1, goods), dtype=np.int64)
        for one in replays:
            np.add.at(true, (np.array(one.steps, dtype=np.int64), np.array(one.goods, dtype=np.int64)), 1)
        error = int(np.abs(board.counts(np.arange(board.steps + 1)) - np.cumsum(true, axis=0)).max())
        bids = np.cumsum(true, axis=0).sum(axis=1)[board.rules.slots :: board.rules.slots]
        halting_error = int(np.abs(bids[: len(board.reports)] - board.reports).max())
        assert error > 0
        unsatisfied = sum(one.good < 0 and one.latest >= 0 for one in replays)
        real = BidsPromise(
            promises=EquilibriumPromises(people=people, supply=it.copies, reserve=it.effective_reserve, error=error,
                                         batch=it.batch, increment=it.increment),
            least=1.0, optimum=known, halt_below=it.halt_below, halting_error=halting_error, rounds=it.rounds)
        assert bids[-1] <= real.most_bids
        if board.rounds < it.rounds:
            assert bids[-1] - (bids[-2] if len(bids) > 1 else 0) <= real.last_bids
            assert unsatisfied <= real.unsatisfied(optimum)
        assert outcome.diagnostics["welfare"] >= optimum - real.welfare_loss(optimum)
        promised += real.ratio > 0
    assert promised >= 3


def best_of_flow(table: np.ndarray, supply: int) -> float:
    """OPT of a table of zeros and ones: the largest flow."""
    people, goods = table.shape
    rows, columns = np.nonzero(table)
    sink = people + goods + 1
    start = np.concatenate([np.zeros(people), rows + 1, people + 1 + np.arange(goods)])
    end = np.concatenate([1 + np.arange(people), people + 1 + columns, np.full(goods, sink)])
    room = np.concatenate([np.ones(people + len(rows)), np.full(goods, supply)])
    graph = sp.csr_array((room.astype(np.int32), (start.astype(int), end.astype(int))), shape=(sink + 1, sink + 1))
    return float(sp.csgraph.maximum_flow(graph, 0, sink).flow_value)


# Wu 2017, Theorem 4.3.11, re-derived: its conditions are enough
@limits(max_examples=100)
@given(st.integers(1, 40), st.integers(0, 300), st.floats(0.05, 1.0), st.floats(1.0, 30.0), st.floats(1.0, 5.0),
       st.floats(1.0, 2.0))
def test_under_the_theorems_conditions_the_loss_is_at_most_three_alphas(steps, error, least, more, most, wide):
    alpha = 1 / steps
    supply = math.ceil(more * max(12 * error / alpha + 6 * error + 1, (4 * error + 1) * (1 + 1 / alpha)))
    low = most * max(16 * least * error / alpha, 4 * least / alpha)
    optimum = OptimumRange(low=low, high=low * wide)
    promise = BidsPromise(
        promises=EquilibriumPromises(people=10**9, supply=(supply, 2 * supply), reserve=2 * error, error=float(error),
                                     batch=1, increment=alpha),
        least=least, optimum=optimum, halt_below=math.floor(alpha * low / (2 * least) - 2 * error),
        halting_error=float(error), rounds=math.ceil(24 * wide / alpha**2 * (1 + 1e-12)) + 2)
    for value in (low, low * wide):
        assert promise.welfare_loss(value) <= 3 * alpha / least * value * (1 + 1e-9)
    assert promise.ratio >= 1 - 3 * alpha / least - 1e-9


def test_where_nothing_is_promised():
    public = {"least": 0.5, "optimum": OptimumRange.known(100.0), "halt_below": 20, "halting_error": 2.0, "rounds": 400}
    good = EquilibriumPromises(people=300, supply=(90,), reserve=6, error=3.0, batch=1, increment=0.05)
    assert 0 < BidsPromise(promises=good, **public).ratio < 1
    needed = BidsPromise(promises=good, **public).rounds_needed
    assert BidsPromise(promises=good, **{**public, "rounds": int(needed)}).ratio > 0
    assert BidsPromise(promises=good, **{**public, "rounds": int(needed) - 1}).ratio == 0
    # a test whose noise may keep it going, a reserve below 2E, more noise than copies
    assert BidsPromise(promises=good, **{**public, "halting_error": 10.0}).ratio == 0
    for reserve, error, infinite in ((5, 3.0, False), (80, 40.0, True)):
        bad = BidsPromise(promises=EquilibriumPromises(people=300, supply=(90,), reserve=reserve, error=error, batch=1,
                                                       increment=0.05), **public)
        assert bad.ratio == 0
        assert math.isinf(bad.most_bids) is math.isinf(bad.unsatisfied(100.0)) is infinite


def test_a_released_optimum():
    release = OptimumRelease(epsilon=0.5, failure_probability=0.02)
    # P[|noise| > q] <= gamma for Laplace noise of scale 2, and a little for the grid
    assert release.reach == pytest.approx(2 * math.log(100), rel=1e-4)
    assert release.events()[0].epsilon == 0.5
    # P[noise > q] = p^(q + 1)/(1 + p) for the discrete law with ratio p, in units of the grid
    ratio, units = math.exp(-0.5 / (2**20 + 2)), round(release.reach * 2**20)
    assert ratio ** (units + 1) / (1 + ratio) <= 0.01
    for off in (-units, 0, units):  # as far as the noise may go, OPT is in the range
        found = release.release(240.0, Noise.replayed({"optimum": np.array([off])}))
        assert found.low <= 240.0 <= found.high
    beyond = release.release(240.0, Noise.replayed({"optimum": np.array([units + 1])}))
    assert beyond.low > 240.0
    # noise that is known
    exact = release.release(240.25, Noise.replayed({"optimum": np.array([-(2**20)])}))
    assert exact.low == 239.25 - release.reach
    assert exact.high == 239.25 + release.reach + 2.0**-20
    assert OptimumRelease(epsilon=1.0, failure_probability=0.1,
                          neighbours="add_or_remove").events()[0].neighbours \
        == Relation.ADD_OR_REMOVE
    with pytest.raises(Refused, match="may be 0"):
        release.release(5.0, Noise.replayed({"optimum": np.array([0])}))
    # an uncertain OPT takes more rounds, and its failure is added
    it = auction(exact)
    assert it.rounds == math.ceil(1536 * exact.high / exact.low)
    assert it.halt_below == math.floor(0.125 * exact.low / 2)
    assert bids_promise(it, 1.0, exact)[1].failure_probability == pytest.approx(0.03)


def test_a_replaced_bidder_moves_the_optimum_by_one():
    for seed in range(20):
        table = study_generator(seed, "rows").random((12, 3))
        other = table.copy()
        other[seed % 12] = study_generator(seed, "other").random(3) if seed % 2 else 0.0
        assert abs(best(table, 2) - best(other, 2)) <= 1 + 1e-12


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_keep_the_promise_by_themselves(sparse):
    table = np.array([[0.5, 0.0, 1.0], [0.2, 0.9, 0.0], [0.0, 0.0, 0.0]])
    values = Valuations.of(sp.csr_array(table) if sparse else table, people=3, goods=3)
    assert keep_promise(values, 0.2) is values
    kept = keep_promise(values, 0.5, unusable="null")
    assert [kept.row(i).tolist() for i in range(3)] == [[0.5, 0.0, 1.0], [0.0] * 3, [0.0] * 3]
    assert values.row(1).tolist() == [0.2, 0.9, 0.0]
    with pytest.raises(InvalidInput, match=r"row 1 holds a value between 0 and 0\.5"):
        keep_promise(values, 0.5)
    # 0.7 in single precision lies below 0.7
    single = Valuations.of(np.array([[0.7]], dtype=np.float32), people=1, goods=1)
    assert keep_promise(single, 0.7) is single


def test_plenty_needs_no_threshold():
    assert auction(OptimumRange.known(300.0), supply=300).plentiful


@pytest.mark.parametrize(("match", "call"), [
    ("copies of each good or more", lambda: auction(OptimumRange.known(240.0), epsilon=100.0)),
    ("the halting test", lambda: auction(OptimumRange.known(240.0), epsilon=1e7, halt_with=1e-3))])
def test_refusals_say_what_would_do(match, call):
    with pytest.raises(Refused, match=match):
        call()


def test_other_auctions_have_no_such_promise():
    known = OptimumRange.known(240.0)
    fixed = PMatch(people=300, goods=6, supply=40, increment=0.125, epsilon=1e6, bid_cap=3, rounds=4, batch=10, arity=2)
    with pytest.raises(InvalidInput, match="must halt on bids"):
        bids_promise(fixed, 1.0, known)


@pytest.mark.parametrize(("field", "call"), [
    ("low", lambda: OptimumRange(low=0.0, high=1.0)), ("high", lambda: OptimumRange(low=2.0, high=1.0)),
    ("high", lambda: OptimumRange(low=2.0, high=math.inf)),
    ("failure_probability", lambda: OptimumRange(low=1.0, high=2.0, failure_probability=1.0)),
    ("epsilon", lambda: OptimumRelease(epsilon=0.0, failure_probability=0.1)),
    ("failure_probability", lambda: OptimumRelease(epsilon=1.0, failure_probability=0.0)),
    ("neighbours", lambda: OptimumRelease(epsilon=1.0, failure_probability=0.1, neighbours="bit")),  # type: ignore[arg-type]
    ("least", lambda: auction(OptimumRange.known(9.0), least=0.0)),
    ("increment", lambda: auction(OptimumRange.known(9.0), increment=2.0)),
    ("least", lambda: keep_promise(Valuations.of([[0.5]], people=1, goods=1), 0.0)),
    ("unusable", lambda: keep_promise(Valuations.of([[0.5]], people=1, goods=1), 0.2, unusable="drop"))])
def test_bad_arguments(field, call):
    with pytest.raises(InvalidInput, match=field):
        call()
