"""Valuations of bundles: demand, sums, records, and the test that refutes gross substitutes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bundle_examples import GRID, best_above, capped, counted, placed
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from confide.allocation.bundles import (
    Additive,
    Assignment,
    Bidder,
    BundleClass,
    CappedAdditiveValuation,
    OracleRecord,
    SymmetricConcave,
    UnitDemandValuation,
    UserOracle,
    falsify_gross_substitutes,
)
from confide.allocation.duality import bundle_dual_bound
from confide.allocation.palloc import PAlloc
from confide.allocation.valuations import Valuations
from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise


def _grid(draw: Any, most: float, *shape: int) -> np.ndarray:
    cells = st.integers(0, int(most * GRID))
    return np.array(draw(st.lists(cells, min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))).reshape(
        shape) / GRID


@st.composite
def bidders(draw: Any) -> tuple[Bidder, int, bool]:
    """A bidder, the largest bundle that she may hold, and whether copies count."""
    goods = draw(st.integers(1, 4))
    match draw(st.sampled_from(["unit", "additive", "capped", "counted", "places", "program"])):
        case "unit":
            return UnitDemandValuation().bidder(_grid(draw, 1.0, goods), goods), 1, False
        case "additive":
            return Additive().bidder(_grid(draw, 1 / goods, goods), goods), goods, False
        case "capped":
            cap = draw(st.integers(1, goods))
            return CappedAdditiveValuation(cap=cap).bidder(_grid(draw, 1 / cap, goods), goods), cap, False
        case "counted":
            steps = -np.sort(-_grid(draw, 1 / 3, 3))
            return SymmetricConcave(most=3).bidder(np.concatenate([[0.0], np.cumsum(steps)]), goods), 3, True
        case "places":
            return Assignment(places=2).bidder(_grid(draw, 0.5, 2, goods), goods), 2, True
        case _:
            of = CappedAdditiveValuation(cap=2).bidder(_grid(draw, 0.5, goods), goods)
            oracle = UserOracle(most=2, trials=200)
            return oracle.bidder(of.value, goods), min(2, goods), False


@given(bidders(), st.data())
def test_greedy_demand_is_a_best_superset_of_what_is_held(case: tuple[Bidder, int, bool], data: Any) -> None:
    """Spec allocation 5, by enumeration; and nothing is bid on where no superset is strictly better."""
    bidder, most, repeats = case
    prices = _grid(data.draw, 0.6, bidder.goods)
    wanted = bidder.demand((), _grid(data.draw, 0.3, bidder.goods), most)
    held = wanted[: data.draw(st.integers(0, len(wanted)))]
    found = bidder.demand(held, prices, most)
    reached = bidder.value(found) - float(sum(prices[list(found[len(held):])]))
    best = best_above(bidder, held, prices, most, repeats=repeats)
    assert reached == pytest.approx(best, abs=1e-12)
    assert (len(found) > len(held)) == (best > bidder.value(held) + 1e-12)


@given(bidders())
def test_gains_are_differences_and_surplus_the_best_of_all(case: tuple[Bidder, int, bool]) -> None:
    bidder, most, repeats = case
    held = bidder.demand((), np.full(bidder.goods, 0.1), most)
    for bundle in ((), held[:1], held):
        gains = [bidder.value((*bundle, good)) - bidder.value(bundle) for good in range(bidder.goods)]
        assert np.allclose(bidder.gains(bundle), gains, atol=1e-12)
    prices = np.linspace(0.0, 0.5, bidder.goods)
    assert bidder.surplus(prices) == pytest.approx(best_above(bidder, (), prices, most, repeats=repeats), abs=1e-12)


@given(bidders())
def test_the_classes_pass_the_test_of_gross_substitutes(case: tuple[Bidder, int, bool]) -> None:
    """All patterns, copies as goods of their own."""
    bidder, _, repeats = case
    assert falsify_gross_substitutes(bidder, bidder.goods, 10_000, 1, copies=2 if repeats else 1) is None


@pytest.mark.parametrize(("value", "pattern"), [
    (lambda bundle: float({0, 1} <= set(bundle)), "complements"),
    (lambda bundle: 0.2 * len(bundle) + 0.3 * ({1, 3} <= set(bundle)), "complements"),
    # A budget is submodular, and has no gross substitutes: goods worth 1, 1 and 2 to a bidder with 2.
    (lambda bundle: min(1.0, sum((0.5, 0.5, 1.0, 0.0)[good] for good in bundle)), "uneven"),
    (lambda bundle: 0.5 * (len(bundle) == 1), "loses"),
])
@pytest.mark.parametrize("trials", [400, 10_000])
def test_valuations_without_gross_substitutes_are_caught(value: Any, pattern: str, trials: int) -> None:
    """By 400 random patterns, and by all of them."""
    found = falsify_gross_substitutes(value, 4, trials, 3)
    assert found is not None
    assert found.pattern == pattern
    assert found.gap > 0.1
    i, j, *_ = (*found.goods, -1)
    bundle = list(found.bundle)
    if pattern == "complements":  # the gap is what it says
        gap = value((*bundle, i, j)) + value(bundle) - value((*bundle, i)) - value((*bundle, j))
        assert found.gap == pytest.approx(gap)


def test_a_complement_is_caught_in_every_place_of_a_larger_market() -> None:
    """One pair among ten goods lies in few patterns; enough trials find it, few do not."""
    def value(bundle: tuple[int, ...]) -> float:
        return 0.05 * len(bundle) + 0.2 * ({2, 7} <= set(bundle))

    assert falsify_gross_substitutes(value, 10, 2000, 5) is not None
    assert falsify_gross_substitutes(value, 10, 1, 5) is None
    with pytest.raises(InvalidInput, match=r"the value of bundle .* is not a number"):
        falsify_gross_substitutes(lambda bundle: np.nan, 3, 10, 1)


# ---- tables


def _population(kind: BundleClass, data: Any, people: int, goods: int) -> Any:
    return kind.population(data, people=people, goods=goods)


@pytest.mark.parametrize(("kind", "data"), [
    (CappedAdditiveValuation(cap=2), capped(12, 5, 2, 1)),
    (CappedAdditiveValuation(cap=2), csr_array(capped(12, 5, 2, 2))),
    (Additive(), capped(12, 5, 5, 3)), (UnitDemandValuation(), capped(12, 5, 1, 4)),
    (SymmetricConcave(most=3), counted(12, 3, 5)), (Assignment(places=2), placed(12, 2, 5, 6)),
])
def test_a_table_says_what_its_bidders_say(kind: BundleClass, data: Any) -> None:
    of = _population(kind, data, 12, 5)
    prices = np.array([0.0, 0.1, 0.05, 0.2, 0.3])
    held = np.array([[0, 2], [1, -1], [-1, -1], [4, 3]] * 3)
    singles = [of.bidder(i) for i in range(12)]
    assert of.surpluses(prices) == pytest.approx([one.surplus(prices) for one in singles], abs=1e-15)
    if kind.largest(5) >= 2:
        assert of.worth(held) == pytest.approx(
            [one.value([good for good in row if good >= 0]) for one, row in zip(singles, held.tolist(), strict=True)])
    assert bundle_dual_bound(of, 3, prices) == pytest.approx(3 * prices.sum() + of.surpluses(prices).sum())
    assert "0." not in repr(of)
    assert _population(kind, of, 12, 5) is of
    with pytest.raises(InvalidInput):
        _population(kind, of, 12, 6)


def test_a_row_that_adds_up_to_one_but_for_rounding_is_taken() -> None:
    """The rule: its sum in doubles is at most 1 + 2^-21."""
    for dtype in (np.float32, np.float64):
        rows = np.random.default_rng(1).dirichlet(np.ones(30), size=500).astype(dtype)
        assert (rows.sum(axis=1, dtype=np.float64) > 1.0).any()
        _population(Additive(), rows, 500, 30)
    kind = CappedAdditiveValuation(cap=2)
    kind.bidder([0.5, 0.5 + 2.0**-21, 0.1], goods=3)
    for row in ([0.5, 0.5 + 2.0**-20, 0.1], [0.75, 0.5, 0.0]):
        with pytest.raises(InvalidInput, match="all goods together are worth 1"):
            kind.bidder(row, goods=3)
        with pytest.raises(InvalidInput, match="row 1: all goods together"):
            _population(kind, [[0.1, 0.2, 0.3], row], 2, 3)


def test_a_bad_row_may_count_as_nobody() -> None:
    table = np.array([[0.75, 0.5], [0.5, 0.25], [np.nan, 0.1]])
    for data in (table, csr_array(table), np.float32(table)):
        of = Additive().population(data, people=3, goods=2, unusable="null")
        assert of.worth(np.array([[0, 1]] * 3)).tolist() == [0.0, 0.75, 0.0]
    rows = SymmetricConcave(most=2).population([[0, 0.5, 0.4], [0, 0.5, 0.75]], people=2, goods=3, unusable="null")
    assert rows.worth(np.array([[0, 1]] * 2)).tolist() == [0.0, 0.75]
    places = Assignment(places=1).population([[[0.5, 2.0]], [[0.5, 0.0]]], people=2, goods=2, unusable="null")
    assert places.worth(np.array([[0]] * 2)).tolist() == [0.0, 0.5]


@pytest.mark.parametrize(("kind", "record", "message"), [
    (UnitDemandValuation(), [0.5, 1.5], r"number in \[0, 1\]"),
    (Additive(), [0.5], "shape"), (Additive(), {3: 0.1}, "is not a good"),
    (SymmetricConcave(most=2), [0.0, 0.5], "shape"), (SymmetricConcave(most=2), [0.1, 0.5, 0.6], "concave"),
    (SymmetricConcave(most=2), [0.0, 0.3, 0.7], "concave"), (SymmetricConcave(most=2), [0.0, 0.3, 0.2], "concave"),
    (SymmetricConcave(most=2), [0.0, 0.6, 1.1], "concave"), (SymmetricConcave(most=2), [0.0, np.nan, 1.0], "concave"),
    (SymmetricConcave(most=2), ["a", "b", "c"], "numbers"), (Assignment(places=2), [[0.5, 0.1]], "shape"),
    (Assignment(places=2), [[0.9, 0.1], [0.2, 0.0]], "worth 1.1"), (Assignment(places=1), [[-0.5, 0.1]], "number in"),
    (Assignment(places=1), [["a", 0.1]], "numbers"), (UserOracle(most=1), 3.0, "is not a program"),
    (UserOracle(most=1), lambda bundle: 0.5, "the value of the empty bundle is 0.5"),
    (UserOracle(most=1), lambda bundle: 2.0 * len(bundle), "worth 4"),
    (UserOracle(most=1), lambda bundle: float("nan") if bundle else 0.0, "worth not a number"),
    (UserOracle(most=1), lambda bundle: 1 / 0, "program of the record fails .ZeroDivisionError"),
    (UserOracle(most=1), lambda bundle: [0.0, 1 / 0.5, 0.5][len(bundle)], "gross substitutes"),
    (UserOracle(most=2), lambda bundle: float(len(bundle) == 2), "gross substitutes"),
    (UserOracle(most=2), UnitDemandValuation().bidder([0.5], goods=1), "is for 1 good"),
])
def test_a_bad_record_is_reported_to_its_bidder(kind: BundleClass, record: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        kind.bidder(record, goods=2)
    with pytest.raises(InvalidInput):
        _population(kind, [record, None], 2, 2)


@pytest.mark.parametrize("make", [
    lambda: CappedAdditiveValuation(cap=0), lambda: SymmetricConcave(most=0), lambda: Assignment(places=0),
    lambda: Assignment(places=11), lambda: UserOracle(most=0), lambda: UserOracle(most=1, trials=-1),
    lambda: UserOracle(most=1, copies=0), OracleRecord, lambda: OracleRecord(value=3),
    lambda: falsify_gross_substitutes(len, 0, 1, 1), lambda: Assignment(places=1).population(3, people=1, goods=1),
    lambda: Assignment(places=1).population([], people=1, goods=1),
    lambda: Additive().population([[0.1]], people=1, goods=1, unusable="perhaps"),
    lambda: SymmetricConcave(most=1).population([[0, 1]], people=1, goods=1, unusable="perhaps"),
    lambda: bundle_dual_bound(_population(UnitDemandValuation(), [[0.5]], 1, 1), 1, [-1.0]),
])
def test_parameters_out_of_range_are_refused(make: Any) -> None:
    with pytest.raises(InvalidInput):
        make()


def test_a_program_that_fails_in_the_auction_wants_nothing() -> None:
    calls: list[tuple[int, ...]] = []

    def value(bundle: tuple[int, ...]) -> float:
        calls.append(bundle)
        if bundle == (0,):
            raise RuntimeError("secret")
        return {(): 0.0, (1,): 0.25, (2,): 7.0}.get(bundle, 0.0)

    bidder = UserOracle(most=2, trials=0).bidder(OracleRecord(value=value), goods=3)
    assert bidder.pick((), np.zeros(3)) == 1  # of the others one fails, and one is no value
    assert bidder.value((0,)) == 0.0
    assert all(bundle == tuple(sorted(bundle)) for bundle in calls)
    answers = iter([0, 2, 5, -3, "x", 1])  # the first one at submission
    reported = UserOracle(most=2).bidder(OracleRecord(demand=lambda prices, held: next(answers)), goods=3)
    assert [reported.pick((1,), np.zeros(3)) for _ in range(5)] == [2, -1, -1, -1, -1]  # what she holds counts once
    assert (reported.value((1,)), reported.surplus(np.zeros(3))) == (0.0, 1.0)


def test_sparse_valuations_that_are_checked_already() -> None:
    rows = capped(20, 4, 2, 9)
    checked = Valuations.of(csr_array(rows), people=20, goods=4)
    of = _population(CappedAdditiveValuation(cap=2), checked, 20, 4)
    assert np.array_equal(of.surpluses(np.zeros(4)), np.sort(rows, axis=1)[:, -2:].sum(axis=1))


# ---- programs and bidders of other classes


class _Faulty(Bidder):
    """A bidder whose program does what no program should."""

    def __init__(self, goods, answer):
        self.goods, self._answer = goods, answer

    def value(self, bundle):
        return 0.2 * len(set(bundle))

    def gains(self, held):
        raise RuntimeError("secret: I wanted good 2")

    def surplus(self, prices):
        raise RuntimeError("secret: I wanted good 2")

    def pick(self, held, prices):
        return self._answer(held)


def _leaves(held):
    raise SystemExit("secret")


@pytest.mark.parametrize("answer", [lambda held: 7, lambda held: -3, lambda held: held[0] if held else 1, _leaves,
                                    lambda held: "a"])
def test_whatever_a_foreign_bidder_answers_the_auction_goes_on(answer):
    calls = []

    def later(held):  # well at submission
        calls.append(held)
        return answer(held) if len(calls) > 1 else 1

    auction = PAlloc(people=4, goods=3, supply=2, increment=0.1, epsilon=1e9, bid_cap=6, rounds=4, batch=1, arity=2,
                     valuation=UserOracle(most=3, trials=0))
    outcome = auction.run([_Faulty(3, later), None, None, None], Noise.simulated(1))
    assert len(set(outcome.shares["bundle"][0].as_py())) == len(outcome.shares["bundle"][0].as_py())


def test_a_bidder_whose_copies_count_holds_each_good_once_where_they_do_not():
    """A cell of the final clearing moves by one then; with b copies it would move by b."""
    one = Assignment(places=3).bidder([[0.3, 0.0]] * 3, goods=2)
    assert one.demand((), [0.0, 0.0], most=3) == (0, 0, 0)
    assert UserOracle(most=3).bidder(one, goods=2).demand((), [0.0, 0.0], most=3) == (0,)


def test_a_population_of_another_class_is_refused():
    others = SymmetricConcave(most=2).population([[0.0, 0.5, 0.75]] * 3, people=3, goods=2)
    with pytest.raises(InvalidInput, match="must be of CappedAdditive"):
        CappedAdditiveValuation(cap=2).population(others, people=3, goods=2)
    own = CappedAdditiveValuation(cap=2).population([[0.5, 0.25]] * 3, people=3, goods=2)
    assert CappedAdditiveValuation(cap=2).population(own, people=3, goods=2) is own


def test_a_demand_program_that_fails_is_reported_at_submission():
    with pytest.raises(InvalidInput, match="the program of the record fails"):
        UserOracle(most=2).bidder(OracleRecord(demand=lambda prices, held: 1 // 0), goods=2)
