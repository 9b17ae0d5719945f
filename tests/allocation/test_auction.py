"""The auction itself: its transcript, its two ways to draw, feasibility, halting, plenty."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from plain_auction import play
from scipy.sparse import csr_array

from cases import fast
from confide.allocation import PMatch, Valuations, instance_a, release_prices
from confide.allocation import ascending_auction as module
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Accuracy, Audience, Privacy
from confide.privacy.accounting import Accountant
from confide.privacy.losses import ApproxDP, PureDP
from confide.privacy.noise import Noise

_QUIET = 1e9  # an epsilon whose noise is zero


def _auction(**changed: Any) -> PMatch:
    settings: dict[str, Any] = {
        "people": 60, "goods": 3, "supply": 12, "increment": 0.25, "epsilon": 30.0, "bid_cap": 4, "rounds": 6,
        "batch": 7, "arity": 3, "failure_probability": 0.1}
    return PMatch(**{**settings, **changed})


@pytest.mark.parametrize("batch", [1, 7, 60])
@pytest.mark.parametrize("arity", [2, 5])
def test_the_transcript_is_that_of_the_pseudo_code(batch: int, arity: int) -> None:
    """Spec allocation 3.1: counts after every slot, holders and last bids, with noise."""
    auction = _auction(batch=batch, arity=arity, reclear=0.0, reserve=2)
    values = instance_a(60, 3, seed=batch)
    plain = play(auction, values, Noise.simulated(5))
    outcome = auction.run(values, Noise.simulated(5))
    board = outcome.billboard
    assert board.counts(np.arange(1, board.steps + 1)).tolist() == plain.history
    assert outcome.shares["good"].to_pylist() == [max(-1, bidder.state) for bidder in plain.bidders]
    assert sum(map(sum, plain.increments)) == sum(bidder.bids for bidder in plain.bidders) > 60


def test_blocks_of_draws_give_the_counts_of_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiled rounds, whose noise is drawn beforehand, publish what the counter computes from the same noise."""
    monkeypatch.setattr(module, "_STEPWISE", 0)
    monkeypatch.setattr(module, "_BLOCK", 9)  # three slots of three goods at a time
    auction = _auction(reclear=0.0, reserve=2)
    values = instance_a(60, 3, seed=2)
    board = auction.run(values, Noise.simulated(8)).billboard
    counter = auction.counter
    session = counter.open(Noise.simulated(8))
    drawn = np.concatenate([
        counter.draw_block(session, (3, min(3, auction.slots - slot)), ("counts", r, slot))
        for r in range(auction.rounds) for slot in range(0, auction.slots, 3)], axis=1)
    counts = board.counts(np.arange(board.steps + 1))
    increments = _increments(auction, values, counts)
    assert np.array_equal(counter.count(increments.T, drawn), counts[1:].T)


def _increments(auction: PMatch, values: Any, counts: Any) -> Any:
    """(N, k) bids that follow from published counts, bidder by bidder."""
    from confide.allocation.decoding import replay

    board = auction.run(values, Noise.simulated(8)).billboard
    found = np.zeros((board.steps, 3), dtype=np.int64)
    for i in range(auction.people):
        replayed = replay(np.asarray(values[i], dtype=np.float64), i, board)
        np.add.at(found, (np.array(replayed.steps, dtype=int) - 1, np.array(replayed.goods, dtype=int)), 1)
    assert np.array_equal(board.counts(np.arange(board.steps + 1)), counts)
    return found


def test_both_ways_to_draw_agree_without_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    auction, values = _auction(epsilon=_QUIET), instance_a(60, 3, seed=4)
    stepwise = auction.run(values, Noise.simulated(1))
    monkeypatch.setattr(module, "_STEPWISE", 0)
    blocks = auction.run(values, Noise.simulated(1))
    assert np.array_equal(stepwise.billboard.count, blocks.billboard.count)
    assert stepwise.shares.equals(blocks.shares)


def test_sparse_rows_are_dense_rows() -> None:
    auction, values = _auction(), instance_a(60, 3, seed=6)
    values[values < 0.5] = 0.0
    dense, sparse = (auction.run(table, Noise.simulated(3)) for table in (values, csr_array(values)))
    assert dense.shares.equals(sparse.shares)
    assert np.array_equal(dense.billboard.count, sparse.billboard.count)
    assert dense.diagnostics["welfare"] == sparse.diagnostics["welfare"]


@pytest.mark.parametrize("reclear", fast(1, [0.0, 0.3]))
def test_no_good_is_given_beyond_its_supply(reclear: float) -> None:
    """At most a share gamma of runs; here the bounds leave so much room that none of 60 does."""
    auction = _auction(people=400, supply=80, batch=40, reclear=reclear, epsilon=40.0, failure_probability=0.05)
    over = [auction.run(instance_a(400, 3, seed=seed), Noise.simulated(seed)).diagnostics["over_allocated"]
            for seed in range(60)]
    assert sum(number > 0 for number in over) <= 11  # P[Binomial(60, .05) > 11] < 1e-4


def test_truncation_gives_nothing_beyond_the_supply() -> None:
    """Whoever comes late in the public order goes without, and can see it; such runs are too rare to wait for."""
    auction = _auction(people=400, supply=80, batch=40, failure_probability=1e-12, delta=0.5, epsilon=25.0,
                       on_overflow="truncate")
    held = np.full(400, -1, dtype=np.int32)
    held[10:100], held[140:220] = 1, 2  # 90 of good 1, of which there are 80, and all 80 of good 2
    cutoffs = auction.cut_off(held)
    assert cutoffs is not None
    assert cutoffs.tolist() == [400, 90, 400]
    values = instance_a(400, 3, seed=1)
    outcome = auction.run(values, Noise.simulated(1))
    goods = np.array(outcome.shares["good"])
    assert outcome.billboard.cutoffs.tolist() == [400] * 3
    assert (goods == 2).sum() > 2
    third = int(np.flatnonzero(goods == 2)[2])
    cut = replace(outcome.billboard, cutoffs=np.array([400, 400, third]))
    found = [auction.decode(values[i], i, cut)["good"] for i in range(400)]
    assert found == [-1 if good == 2 and i >= third else good for i, good in enumerate(goods.tolist())]


def test_a_reserve_that_is_too_small_promises_nothing() -> None:
    """Truncation would cut holders off in most runs, whatever its delta says; without it, feasibility is unknown."""
    small: dict[str, Any] = {"people": 400, "supply": 80, "batch": 40, "reserve": 0, "reclear": 0.0, "epsilon": 3.0}
    with pytest.raises(Refused, match="with a reserve of 0, truncation costs more than delta"):
        _auction(**small, failure_probability=1e-6, delta=0.1, on_overflow="truncate")
    promise = next(one for one in _auction(**small).guarantees().of(Accuracy) if "beyond" in one.measure)
    assert promise.vacuous
    assert promise.failure_probability == 1.0


def test_truncation_costs_a_delta_and_is_refused_without_it() -> None:
    """Spec allocation 3.2: (1 + e^epsilon) gamma."""
    with pytest.raises(Refused, match="costs a delta of 0"):
        _auction(epsilon=1.0, failure_probability=0.01, on_overflow="truncate")
    paid = _auction(epsilon=1.0, failure_probability=0.01, delta=0.05, on_overflow="truncate")
    (event,) = paid.events()
    assert event.to_dict()["delta"] == 0.05
    assert next(one for one in paid.guarantees() if isinstance(one, Privacy)).loss == ApproxDP(1.0, 0.05)


@pytest.mark.parametrize("changed", [
    {}, {"reclear": 0.0, "reserve": 3}, {"certify_with": 0.0}, {"halting": "bids"}, {"halting": "sparse_vector"},
    {"halting": "unsatisfied", "halt_with": 0.07}, {"neighbours": "add_or_remove"}, {"epsilon": 0.7},
    {"epsilon": 1 / 3, "reclear": 1 / 7},
])
def test_what_is_spent_is_what_is_promised(changed: dict[str, Any]) -> None:
    auction = _auction(**changed)
    assert auction.epsilon * (1 - 1e-12) <= Accountant(auction.events()).epsilon() <= auction.epsilon


def test_gaussian_noise_spends_its_delta() -> None:
    for halting in ("fixed", "unsatisfied", "sparse_vector"):
        auction = _auction(epsilon=2.0, delta=1e-6, law="gaussian", halting=halting)
        assert 1.99 <= Accountant(auction.events()).epsilon(1e-6) <= 2.0
    with pytest.raises(Refused, match="Gaussian noise needs a delta"):
        _auction(law="gaussian")


def test_a_halting_test_ends_where_few_are_outbid() -> None:
    values = instance_a(60, 3, seed=1)
    for rule, below in (("published", 5), ("unsatisfied", 4), ("bids", 5), ("sparse_vector", 4)):
        auction = _auction(halting=rule, halt_below=below, rounds=40, epsilon=_QUIET, bid_cap=40, reclear=0.0,
                           reserve=0)
        outcome = auction.run(values, Noise.simulated(2))
        board = outcome.billboard
        assert 1 < board.rounds < 40
        free = _auction(rounds=40, epsilon=_QUIET, bid_cap=40, reclear=0.0, reserve=0).run(values, Noise.simulated(2))
        path, own = free.billboard.after_rounds(), board.after_rounds()
        assert np.array_equal(own, path[: board.rounds + 1])
        bids = np.diff(path.sum(axis=1))
        # Without noise, whoever is outbid in one round bids in the next, or leaves.
        if rule in ("published", "bids"):
            assert board.rounds == 1 + int(np.flatnonzero(bids < below)[0])
        auction.check(board)


def test_enough_for_everybody_is_shared_without_noise_or_loss() -> None:
    """Spec allocation 3.3: s_j >= n."""
    auction = _auction(supply=60)
    values = instance_a(60, 3, seed=9)
    values[4] = 0.0
    outcome = auction.run(values, Noise.simulated(1))
    expected = values.argmax(axis=1)
    expected[4] = -1
    assert outcome.shares["good"].to_pylist() == expected.tolist()
    assert auction.events() == ()
    assert outcome.billboard.rounds == 0
    assert next(one for one in auction.guarantees() if isinstance(one, Privacy)).loss == PureDP(0.0)
    assert auction.decode(values[4], 4, outcome.billboard)["good"] == -1


def test_charged_prices_are_never_above_a_value() -> None:
    auction = _auction(charge=True, increment=0.05, people=400, supply=80, batch=10, bid_cap=20, rounds=30,
                       epsilon=900.0)
    values = instance_a(400, 3, seed=3)
    outcome = auction.run(values, Noise.simulated(3))
    goods, prices = np.array(outcome.shares["good"]), np.array(outcome.shares["price"])
    held = np.flatnonzero(goods >= 0)
    assert len(held) > 100
    assert prices.max() > 0
    assert (values[held, goods[held]] >= prices[held]).all()
    assert (prices[goods < 0] == 0).all()
    assert all(auction.decode(values[i], i, outcome.billboard) == {"good": goods[i], "price": prices[i]}
               for i in range(400))


@pytest.mark.parametrize(("changed", "named"), [
    ({"people": 0}, "people"), ({"goods": 0}, "goods"), ({"supply": 0}, "supply"), ({"supply": 1.5}, "supply"),
    ({"supply": (12, 12)}, "supply"), ({"epsilon": 0.0}, "epsilon"), ({"failure_probability": 1.0},
                                                                      "failure_probability"),
    ({"increment": 0.0}, "increment"), ({"increment": 1.5}, "increment"), ({"bid_cap": 0}, "bid_cap"),
    ({"rounds": 0}, "rounds"), ({"batch": 0}, "batch"), ({"arity": 1}, "arity"), ({"reclear": 0.99}, "reclear"),
    ({"delta": 1.0}, "delta"), ({"halting": "soon"}, "halting"), ({"law": "cauchy"}, "law"),
    ({"neighbours": "friends"}, "neighbours"), ({"on_overflow": "hope"}, "on_overflow"), ({"reserve": -1}, "reserve"),
    ({"rounds": 2**31, "batch": 1}, "rounds"), ({"supply": 2**63}, "supply"), ({"supply": (12, 2**70, 12)}, "supply"),
])
def test_parameters_out_of_range_are_named(changed: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput) as error:
        _auction(**changed)
    assert error.value.field == named


def test_a_reserve_that_leaves_nothing_is_refused_with_the_supply_that_would_do() -> None:
    sizes: dict[str, Any] = {"people": 6000, "batch": 700, "epsilon": 0.1, "reclear": 0.0}
    with pytest.raises(Refused, match="uses up all 12 copies") as error:
        _auction(**sizes)
    least = int(str(error.value).split("at least ")[1].split(" copies")[0].replace(",", ""))
    assert _auction(supply=least, **sizes).effective_supply == (1, 1, 1)


@pytest.mark.parametrize(("table", "named"), [
    (np.full((60, 3), 1.5), "row 0 holds"), (np.full((60, 2), 0.5), "shape"), (np.full(60, 0.5), "1 dimension;"),
    (np.full((60, 3), np.nan), "row 0 holds"), (np.full((60, 3), "x"), "numbers"), ([[0.5], [0.5, 0.5]], "shape"),
])
def test_tables_that_are_no_valuations_are_refused(table: Any, named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        _auction().run(table, Noise.simulated(1))


def test_a_good_named_twice_in_a_sparse_row_is_refused() -> None:
    table = csr_array((np.array([0.5, 0.25]), np.array([1, 1]), np.array([0, 2] + [2] * 59)), shape=(60, 3))
    with pytest.raises(InvalidInput, match="names a good twice"):
        _auction().run(table, Noise.simulated(1))


def test_bad_rows_can_be_clipped_or_made_null_each_alone() -> None:
    table = np.array([[0.5, 0.25], [1.5, -1.0], [np.nan, 0.5]])
    clipped = Valuations.of(table, people=3, goods=2, clip=True, unusable="null")
    assert [clipped.row(i).tolist() for i in range(3)] == [[0.5, 0.25], [1.0, 0.0], [0.0, 0.0]]
    null = Valuations.of(table, people=3, goods=2, unusable="null")
    assert [null.row(i).tolist() for i in range(3)] == [[0.5, 0.25], [0.0, 0.0], [0.0, 0.0]]
    assert "0.5" not in repr(null)


def test_single_bidders_and_goods_and_rows_of_zeros_are_valid() -> None:
    for people, goods in ((1, 1), (1, 3), (5, 1)):
        auction = PMatch(people=people, goods=goods, supply=1, increment=0.5, epsilon=_QUIET, bid_cap=2, rounds=2,
                         batch=1, arity=2)
        outcome = auction.run(np.zeros((people, goods)), Noise.simulated(1))
        assert outcome.shares["good"].to_pylist() == [-1] * people
        one = auction.run(np.ones((people, goods)), Noise.simulated(2))
        assert sum(good >= 0 for good in one.shares["good"].to_pylist()) >= 1


def test_prices_alone_are_released_to_everybody() -> None:
    """Spec allocation 6: the billboard is private towards all for the same epsilon; nobody has a share."""
    auction, values = _auction(), instance_a(60, 3, seed=6)
    outcome = release_prices(auction, values, Noise.simulated(3))
    assert np.array_equal(outcome.billboard.prices, auction.run(values, Noise.simulated(3)).billboard.prices)
    (promise,) = outcome.guarantees
    assert isinstance(promise, Privacy)
    assert promise.audience is Audience.PUBLIC
    assert promise.loss == PureDP(30.0)
    assert outcome.shares.num_columns == 0
    outcome.mechanism.check(outcome.billboard)


@pytest.mark.parametrize(("named", "starts", "says"), [
    ([0, 100_000_000, 1], [0, 1, 2, 3], "names a good that does not exist"),
    ([0, 3, 1], [0, 1, 2, 3], "that does not exist"),
    ([0, -1, 1], [0, 1, 2, 3], "that does not exist"), ([1, 1, 0], [0, 2, 3, 3], "names a good twice"),
    ([0, 1, 1], [0, 2, 1, 3], "are not in order"),
])
def test_sparse_arrays_that_are_none_are_refused(named: list[int], starts: list[int], says: str) -> None:
    """Whatever their flags say: a kernel would read beyond its arrays."""
    table = csr_array(np.zeros((3, 3)))
    table.data, table.indices, table.indptr = np.array([0.5, 0.6, 0.7]), np.array(named), np.array(starts)
    table.has_canonical_format = True
    with pytest.raises(InvalidInput, match=says):
        Valuations.of(table, people=3, goods=3)


def test_a_bad_row_does_not_stop_a_release() -> None:
    """Design 10.2: it counts as zeros, and its bidder gets nothing; a study names it."""
    auction, table = _auction(), instance_a(60, 3, seed=1)
    table[7] = (0.5, 1.5, np.nan)
    outcome = auction.run(table, Noise.secure())
    assert outcome.shares["good"][7].as_py() == -1
    with pytest.raises(InvalidInput, match="row 7"):
        auction.run(table, Noise.simulated(1))


def test_plenty_charges_nothing_with_truncation_either() -> None:
    assert _auction(supply=60, epsilon=1.0, failure_probability=1e-6, delta=1e-3, on_overflow="truncate").events() == ()
