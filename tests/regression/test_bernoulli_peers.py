"""Peer prediction with bits (spec truthful_regression 2, acceptance 1)."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.audit import best_response_among
from confide.contract import InvalidInput, Refused
from confide.contract.encoding import decode, encode
from confide.contract.guarantees import Accuracy, Budget, Participation, Truthfulness
from confide.privacy import Noise
from confide.regression import BernoulliBillboard, BernoulliPeers, BetaPrior, FinitePrior, ScoringRule

TWO = FinitePrior([0.2, 0.9], [0.7, 0.3])


@pytest.mark.parametrize(("s", "t"), [(1.0, 1.0), (2.0, 5.0), (0.3, 0.1)])
@pytest.mark.parametrize(("people", "peers"), [(2, 0), (7, 0), (7, 1), (7, 3)])
def test_lying_about_a_bit_costs_two_over_the_square(s: float, t: float, people: int, peers: int) -> None:
    """Acceptance 1: 2/(s + t + 1)^2 to 1e-14, 2/9 for the uniform prior; whoever and how many the peers are."""
    mechanism = BernoulliPeers(people=people, prior=BetaPrior(s, t))
    assert mechanism.cost_of_lying == pytest.approx(2 / (s + t + 1) ** 2, abs=1e-14)
    if s == t == 1:
        assert mechanism.cost_of_lying == pytest.approx(2 / 9, abs=1e-14)
    for bit in (0, 1):
        loss = mechanism.interim(bit, bit, peers=peers) - mechanism.interim(bit, 1 - bit, peers=peers)
        assert loss == pytest.approx(mechanism.cost_of_lying, abs=1e-12)
        worth = mechanism.rule(mechanism.prior.mean_given(bit), mechanism.prior.mean_given(bit))
        assert mechanism.interim(bit, bit, peers=peers) == pytest.approx(float(worth), abs=1e-12)


def test_interim_payments_by_brute_force() -> None:
    """Every p, every peer's bit, every coin of a peer who mixes her reports."""
    mechanism = BernoulliPeers(people=4, prior=TWO, rule=ScoringRule(0.4, 1.5))
    others = (0.25, 0.9)
    for bit in (0, 1):
        chance = TWO.weights * (TWO.points if bit else 1 - TWO.points)
        chance = chance / chance.sum()
        for report in (0, 1):
            total = 0.0
            for p, weight in zip(TWO.points, chance, strict=True):
                for said in itertools.product((0, 1), repeat=3):
                    one = p * others[1] + (1 - p) * others[0]
                    likely = math.prod(one if r else 1 - one for r in said)
                    total += weight * likely * float(mechanism.rule(sum(said) / 3, TWO.mean_given(report)))
            assert mechanism.interim(bit, report, others) == pytest.approx(total, abs=1e-13)


@settings(max_examples=20)
@given(st.floats(0.1, 10), st.floats(0.1, 10), st.integers(2, 6), st.booleans())
def test_truth_is_the_best_answer_to_truth(s: float, t: float, people: int, centred: bool) -> None:
    mechanism = BernoulliPeers(people=people, prior=BetaPrior(s, t), rule=ScoringRule(1.0, 2.0, centred))
    assert (0, 1) in mechanism.equilibria()
    for bit in (0, 1):
        found = best_response_among(lambda r, b=bit: [mechanism.interim(b, int(v)) for v in r], bit, [0, 1])
        assert found.gain == pytest.approx(-mechanism.cost_of_lying, abs=1e-12)


def test_agreeing_is_an_equilibrium_as_well() -> None:
    mechanism = BernoulliPeers(people=6, prior=BetaPrior(1.0, 1.0))
    assert set(mechanism.equilibria()) >= {(0, 1), (0, 0), (1, 1)}
    assert mechanism.interim(0, 1, (1.0, 1.0)) > mechanism.interim(0, 0)  # and pays more than truth


def test_payments_of_the_source_can_be_negative() -> None:
    sure = BernoulliPeers(people=3, prior=FinitePrior([0.0, 0.01, 1.0], [0.49, 0.02, 0.49]))
    low = next(g for g in sure.guarantees() if isinstance(g, Budget)).lowest
    assert low < -0.9
    least = float(sure.rule(0.0, sure.prior.mean_given(1)))
    greatest = float(sure.rule(1.0, sure.prior.mean_given(0)))
    assert min(least, greatest) == pytest.approx(low + 0.005)
    raised = BernoulliPeers(people=3, prior=sure.prior, rule=ScoringRule(2.0, 2.0))
    assert next(g for g in raised.guarantees() if isinstance(g, Budget)).lowest >= -0.005


@given(st.floats(0.5, 4), st.floats(0.5, 4))
def test_a_density_is_summed_by_quadrature(s: float, t: float) -> None:
    """Whole exponents are polynomials and exact; others differ by what the ends of the interval cost."""
    a, b = round(s), round(t)
    beta, nodes = BetaPrior(a + 1.0, b + 1.0), FinitePrior.from_density(lambda p: p**a * (1 - p) ** b)
    assert nodes.mean == pytest.approx(beta.mean, abs=1e-13)
    assert nodes.variance == pytest.approx(beta.variance, abs=1e-13)
    assert [nodes.mean_given(k) for k in (0, 1)] == pytest.approx([beta.mean_given(k) for k in (0, 1)], abs=1e-12)
    assert nodes.ones_given(1, 9) == pytest.approx(beta.ones_given(1, 9), abs=1e-12)
    assert beta.ones_given(0, 9).sum() == pytest.approx(1.0)


def test_shares_equal_separate_decodes_and_null_bits_are_paid_nothing() -> None:
    mechanism = BernoulliPeers(people=9, prior=TWO, minor_units=10**9)
    reports = [1, 0, True, np.int64(0), 1.0, None, 7, "1"]
    outcome = mechanism.run(reports, Noise.simulated(0))
    assert (outcome.billboard.bits, outcome.billboard.ones) == (5, 3)  # type: ignore[attr-defined]
    paid = outcome.shares["payment"].to_pylist()
    assert paid[5:] == [0, 0, 0, 0]
    for i, report in enumerate([*reports, None]):
        assert mechanism.decode(report, i, outcome.billboard) == {"payment": paid[i]}
    by_hand = mechanism.rule(2 / 4, TWO.mean_given(1))
    assert paid[0] / 1e9 == pytest.approx(float(by_hand), abs=1e-9)
    columns: dict[str, bytes] = {}
    back = decode(encode(outcome.billboard, columns), {"BernoulliBillboard": BernoulliBillboard}, columns)
    assert back.proportion == 0.6


def test_the_budget_and_the_error_are_those_of_simulated_runs() -> None:
    mechanism = BernoulliPeers(people=40, prior=BetaPrior(2.0, 3.0), minor_units=10**6)
    budget, error = (next(g for g in mechanism.guarantees() if isinstance(g, kind)) for kind in (Budget, Accuracy))
    rng = np.random.default_rng(0)
    totals, errors = [], []
    for _ in range(300):
        p = rng.beta(2, 3)
        bits = (rng.random(40) < p).astype(int)
        billboard = BernoulliBillboard(bits=40, ones=int(bits.sum()))
        shares = [mechanism.decode(bit, 0, billboard)["payment"] for bit in (0, 1)]
        totals.append(sum(shares[bit] for bit in bits) / 1e6)
        errors.append((billboard.proportion - p) ** 2)
    assert np.mean(totals) == pytest.approx(budget.expected, abs=5 * np.std(totals) / 300**0.5)
    assert np.mean(errors) == pytest.approx(error.bound, abs=5 * np.std(errors) / 300**0.5)
    assert min(totals) >= 40 * budget.lowest


def test_promises() -> None:
    by_type = {type(g): g for g in BernoulliPeers(people=5, prior=BetaPrior(1.0, 1.0)).guarantees()}
    truth, join = by_type[Truthfulness], by_type[Participation]
    assert truth.gain == 0.0  # type: ignore[attr-defined]
    assert not truth.vacuous
    assert join.utility == pytest.approx(5 / 9 - 0.005)  # type: ignore[attr-defined]
    coarse = BernoulliPeers(people=5, prior=BetaPrior(50.0, 50.0), minor_units=1)  # a lie costs 2e-4: less than a coin
    assert next(g for g in coarse.guarantees() if isinstance(g, Truthfulness)).vacuous


@pytest.mark.parametrize(("make", "field"), [
    (lambda: BetaPrior(0.0, 1.0), "s"), (lambda: FinitePrior([1.2], [1.0]), "points"),
    (lambda: FinitePrior([0.0, 0.0], [0.5, 0.5]), "points"), (lambda: FinitePrior([0.5], [0.9]), "weights"),
    (lambda: FinitePrior.from_density(lambda p: p - 2), "density"),
    (lambda: BernoulliPeers(people=1, prior=TWO), "people"),
    (lambda: BernoulliPeers(people=3, prior=0.5), "prior"),  # type: ignore[arg-type]
    (lambda: BernoulliPeers(people=3, prior=TWO).interim(0, 0, peers=3), "peers"),
    (lambda: BernoulliPeers(people=3, prior=TWO).run([1] * 4, Noise.simulated(0)), "data"),
    (lambda: BernoulliPeers(people=3, prior=TWO).run("101", Noise.simulated(0)), "source"),
    (lambda: BernoulliBillboard(bits=3, ones=4), "ones"),
])
def test_misuse_is_refused(make: object, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        make()  # type: ignore[operator]
    assert caught.value.field == field


def test_nobody_is_paid_without_peers() -> None:
    with pytest.raises(Refused, match="fewer than two bits are usable"):
        BernoulliPeers(people=3, prior=TWO).run([1, None], Noise.simulated(0))


def test_only_bits_are_bits() -> None:
    peers = BernoulliPeers(people=5, prior=BetaPrior(1.0, 1.0))
    for bad in ((2, 1), (0, 0.5), (0, -3)):
        with pytest.raises(InvalidInput, match="must be 0 or 1"):
            peers.interim(*bad)
    with pytest.raises(InvalidInput, match="others"):
        peers.interim(0, 1, others=(0.0, 1.5))


def test_columns_frames_and_files_are_bits_as_lists_are(tmp_path: Path) -> None:
    peers = BernoulliPeers(people=5, prior=BetaPrior(1.0, 1.0))
    bare = peers.run([1, 0, 1, 1, None], Noise.simulated(0))
    pd.DataFrame({"bit": [1, 0, 1, 1, None]}).to_csv(tmp_path / "bits.csv", index=False, na_rep="none")
    for data in (tmp_path / "bits.csv", str(tmp_path / "bits.csv"),
                 pd.Series([1, 0, 1, 1, None], dtype="Int64"), pl.Series([1, 0, 1, 1, None]),
                 pa.array([1, 0, 1, 1, None]), pa.table({"bit": [1, 0, 1, 1, None]}),
                 pd.DataFrame({"bit": [1.0, 0.0, 1.0, 1.0, float("nan")]})):
        found = peers.run(data, Noise.simulated(0))
        assert (found.billboard.bits, found.billboard.ones) == (bare.billboard.bits, bare.billboard.ones)
        assert found.shares.equals(bare.shares)
    with pytest.raises(InvalidInput, match="bit: the column holds text"):
        peers.run(pa.table({"bit": ["1", "0"]}), Noise.simulated(0))
    with pytest.raises(InvalidInput, match="has 2 columns, bit, other; must have 1 column"):
        peers.run(pa.table({"bit": [1, 0], "other": [1, 0]}), Noise.simulated(0))


def test_a_count_of_bits_tells_its_steps() -> None:
    observed: list[tuple[int, int | None]] = []
    BernoulliPeers(people=5, prior=BetaPrior(1.0, 1.0)).run(
        [1, 0], Noise.simulated(0), progress=lambda done, total: observed.append((done, total)))
    assert observed == [(0, 2), (1, 2), (2, 2)]
