"""Algorithm 1: leave-one-out payments, decodes, refusals, an exact equilibrium, money (spec 2; 13: 1, 2)."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide import Outcome, SimulatedOutcome
from confide.audit import best_response_among
from confide.contract import InvalidInput, Refused
from confide.contract.encoding import decode, encode
from confide.contract.guarantees import Accuracy, Budget, Participation, Truthfulness
from confide.privacy import Accountant, Noise, PureDP
from confide.regression import (
    Atoms,
    GaussianBall,
    LeastSquaresBillboard,
    ScoringRule,
    TruncatedGaussianNoise,
    TruthfulRegression,
    UniformBall,
    UniformBox,
    UniformNoise,
    UniformSphere,
)
from confide.regression.leave_one_out import fitted, leverages, on_grid, sums
from confide.regression.records import Batch, as_batches
from confide.regression.truthful_regression import (
    interim_utility,
    truthful_payments,
)

N, D = 200, 7


def _mechanism(**changes: object) -> TruthfulRegression:
    return TruthfulRegression(**{  # type: ignore[arg-type]
        "people": N, "features": D, "prior": UniformBall(D, 1.0), "noise": UniformNoise(0.5),
        "rule": ScoringRule(0.3, 1.0), "minor_units": 10**12, **changes})


def _people(n: int = N, d: int = D, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = UniformBall(d, 1.0).from_normals(rng.standard_normal((n, d)), rng.random(n))
    theta = UniformBall(d, 1.0).from_normals(rng.standard_normal((1, d)), rng.random(1))[0]
    return X, X @ theta + rng.uniform(-0.5, 0.5, n)


def _paid(outcome: Outcome | SimulatedOutcome) -> np.ndarray:
    return outcome.shares["payment"].to_numpy()


# ---- the shortcut


def test_leave_one_out_is_refitting_n_times() -> None:
    """Acceptance 2: n = 200, d = 7, to 1e-9."""
    mechanism = _mechanism()
    X, y = _people()
    outcome = mechanism.run((X, y), Noise.simulated(0))
    p = mechanism.predictions(X, y, np.arange(N), outcome.billboard)  # type: ignore[arg-type]
    others = [np.arange(N) != i for i in range(N)]
    brute = np.array([X[i] @ np.linalg.lstsq(X[k], y[k], rcond=None)[0] for i, k in enumerate(others)])
    assert p == pytest.approx(brute, abs=1e-9)
    assert outcome.billboard.coef_ == pytest.approx(np.linalg.lstsq(X, y, rcond=None)[0], abs=1e-10)  # type: ignore[attr-defined]
    q = mechanism.posterior(X, y)
    by_hand = 0.3 - (brute - 2 * brute * q + q * q)
    assert _paid(outcome) / 1e12 == pytest.approx(by_hand, abs=1e-9)


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_leave_one_out_of_any_small_design(seed: int, d: int) -> None:
    """Features of any scale, a few people more than features."""
    rng = np.random.default_rng(seed)
    n = d + 1 + int(rng.integers(0, 6))
    X = rng.uniform(-1, 1, (n, d)) / math.sqrt(d) * 10 ** rng.uniform(-2, 0, d)
    y = rng.uniform(-1.4, 1.4, n)
    mechanism = _mechanism(people=n, features=d, prior=UniformBall(d, 1.0))
    X, y, _ = mechanism.record_map.clip(Batch(np.arange(n), X, y))
    others = [np.arange(n) != i for i in range(n)]
    if min(np.linalg.svd(X[k] / np.abs(X).max(axis=0))[1][-1] for k in others) < 1e-2:
        return  # the comparison would lose digits, not the shortcut
    billboard = mechanism.publish((X, y), Noise.simulated(0))
    p = mechanism.predictions(X, y, np.arange(n), billboard)
    brute = [X[i] @ np.linalg.lstsq(X[k], y[k], rcond=None)[0] for i, k in enumerate(others)]
    assert p == pytest.approx(np.array(brute), rel=1e-8, abs=1e-8)  # two ways that lose other digits


def test_sums_are_exact_and_do_not_depend_on_chunks_and_order() -> None:
    mechanism = _mechanism()
    X, y = _people()
    nobody = np.zeros(N, dtype=bool)
    whole, empty = sums(as_batches((X, y), D), mechanism.record_map, nobody, D)
    order = np.random.default_rng(1).permutation(N)
    for size in (1, 77, N):
        parts = [Batch(order[i : i + size], X[order[i : i + size]], y[order[i : i + size]]) for i in range(0, N, size)]
        again, _ = sums(parts, mechanism.record_map, nobody, D)
        assert (again.gram == whole.gram).all()
        assert (again.cross == whole.cross).all()
    assert not empty.gram.any()
    high, low = (part.astype(int).tolist() for part in on_grid(X))
    exact = [[(Fraction(a) * 2**20 + b) for a, b in zip(*rows, strict=True)] for rows in zip(high, low, strict=True)]
    assert whole.gram[2, 5] == sum(row[2] * row[5] for row in exact)
    assert np.array([[float(v) / 2**40 for v in row] for row in exact]) == pytest.approx(X, abs=2**-41)


def test_leverages_are_the_hat_matrix() -> None:
    X, y = _people()
    fit = fitted(sums(as_batches((X, y), D), _mechanism().record_map, np.zeros(N, dtype=bool), D)[0])
    hat = np.einsum("ij,jk,ik->i", X, np.linalg.inv(X.T @ X), X)
    assert leverages(X, fit.factor) == pytest.approx(hat, abs=1e-12)
    assert leverages(X, fit.factor).sum() == pytest.approx(D)


# ---- the billboard


@pytest.mark.filterwarnings("ignore:2 records were outside")
@pytest.mark.parametrize("groups", [False, True])
@pytest.mark.parametrize("law", [
    (UniformBall(D, 1.0), UniformNoise(0.5)), (GaussianBall(D, 0.4, 1.0), TruncatedGaussianNoise(0.2, 0.5)),
], ids=["uniform", "gaussian"])
def test_shares_equal_separate_decodes(groups: bool, law: tuple[object, object]) -> None:
    """Bit for bit, with null records, a row that is too long, an answer that is too large, and a true zero row."""
    n = 60
    mechanism = _mechanism(people=n, groups=groups, prior=law[0], noise=law[1])
    X, y = _people(n)
    X[5], y[7], X[9] = np.nan, np.inf, 0.0
    X[11] *= 50.0
    y[13] = 900.0
    outcome = mechanism.run((X, y), Noise.simulated(5))
    paid = _paid(outcome)
    for i in range(n):
        assert mechanism.decode((X[i], y[i]), i, outcome.billboard) == {"payment": paid[i]}
    assert paid[[5, 7]].tolist() == [0, 0]
    assert paid[9] == 0.3e12  # a genuine x = 0 is paid a
    assert mechanism.decode(None, 5, outcome.billboard) == {"payment": 0}


def test_null_records_add_nothing() -> None:
    """Slots without a row, and rows that are no numbers, leave everybody else's payment as it was."""
    X, y = _people()
    mechanism = _mechanism()
    X[30], y[40] = np.inf, np.nan
    kept = np.setdiff1d(np.arange(N), [30, 40])
    outcome = mechanism.run((X, y), Noise.simulated(0))
    alone = _mechanism(people=N - 2).run((X[kept], y[kept]), Noise.simulated(0))
    assert (_paid(outcome)[kept] == _paid(alone)).all()
    short = mechanism.run((X[:150], y[:150]), Noise.simulated(0))
    assert (_paid(short)[150:] == 0).all()


def test_records_outside_of_the_range_are_counted_aloud() -> None:
    X, y = _people()
    X[3] *= 3 / np.linalg.norm(X[3])
    y[5], y[7] = 9.0, np.nan  # the null record is nobody's mistake
    with pytest.warns(UserWarning, match="2 records were outside"):
        _mechanism().run((X, y), Noise.simulated(0))


def test_runs_do_not_depend_on_chunks_and_order() -> None:
    X, y = _people()
    mechanism = _mechanism()
    reference = mechanism.run((X, y), Noise.simulated(0))
    order = np.random.default_rng(0).permutation(N)
    parts = [Batch(order[i : i + 13], X[order[i : i + 13]], y[order[i : i + 13]]) for i in range(0, N, 13)]
    again = mechanism.run(parts, Noise.simulated(1))
    assert again.shares.equals(reference.shares)
    assert again.billboard.factor.tobytes() == reference.billboard.factor.tobytes()  # type: ignore[attr-defined]


def test_the_billboard_survives_the_manifest() -> None:
    for groups in (False, True):
        outcome = _mechanism(groups=groups).run(_people(), Noise.secure())
        assert isinstance(outcome, Outcome)
        columns: dict[str, bytes] = {}
        known = (LeastSquaresBillboard, TruthfulRegression, UniformBall, UniformNoise, ScoringRule)
        types = {t.__name__: t for t in known}
        back = decode(encode(outcome.billboard, columns), types, columns)
        same = decode(encode(outcome.mechanism, columns), types, columns)
        assert same == outcome.mechanism
        X, y = _people()
        assert same.decode((X[3], y[3]), 3, back) == {"payment": _paid(outcome)[3]}


def test_two_groups_are_paid_by_each_other() -> None:
    mechanism = _mechanism(groups=True)
    X, y = _people()
    split = np.arange(N) % 2 == 1
    outcome = mechanism.run((X, y), Noise.replayed({("split",): split}))
    fits = [np.linalg.lstsq(X[split == j], y[split == j], rcond=None)[0] for j in (False, True)]
    q, p = mechanism.posterior(X, y), np.where(split, X @ fits[0], X @ fits[1])
    assert _paid(outcome) / 1e12 == pytest.approx(0.3 - (p - 2 * p * q + q * q), abs=1e-9)
    assert [outcome.billboard.group(i) for i in (0, 1)] == [0, 1]  # type: ignore[attr-defined]


# ---- refusals


def test_the_only_witness_is_refused_by_name() -> None:
    """Acceptance 2: h = 1 is refused, and so is what hardly differs from it."""
    X, y = _people()
    X[:, 3] = 0.0
    X[17, 3] = 0.4
    with pytest.raises(Refused, match="only row 17 has values in some direction"):
        _mechanism().run((X, y), Noise.simulated(0))
    X[18, 3] = 1e-6
    with pytest.raises(Refused, match="only row 17 has values in some direction"):
        _mechanism().run((X, y), Noise.simulated(0))
    X[18, 3] = 1e-3
    assert np.isfinite(_paid(_mechanism().run((X, y), Noise.simulated(0)))).all()


def test_features_that_say_nothing_are_refused_by_name() -> None:
    X, y = _people()
    for make, field in ((lambda X: X[:, 1] - 0.5 * X[:, 0], 4), (lambda X: 0.0, 2)):
        dependent = X.copy()
        dependent[:, field] = make(X)
        with pytest.raises(Refused, match=f"feature {field} follows"):
            _mechanism().run((dependent, y), Noise.simulated(0))
    with pytest.raises(Refused, match="do not determine"):
        _mechanism().run((X[: D - 1], y[: D - 1]), Noise.simulated(0))
    with pytest.raises(Refused, match="the records of group 0 do not determine"):
        _mechanism(groups=True).run((X[: 2 * D - 2], y[: 2 * D - 2]), Noise.replayed({
            ("split",): np.arange(N) % 2 == 1}))


@pytest.mark.parametrize(("changes", "field"), [
    ({"people": D}, "people"), ({"people": 2 * D - 1, "groups": True}, "people"), ({"features": 6}, "prior"),
    ({"minor_units": 0}, "minor_units"), ({"smallest_eigenvalue": 0.5}, "smallest_eigenvalue"),
    ({"spectrum_tolerance": 1.0}, "spectrum_tolerance"),
])
def test_bad_parameters_are_refused(changes: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        _mechanism(**changes)
    assert caught.value.field == field


def test_bad_data_is_refused() -> None:
    X, y = _people()
    mechanism = _mechanism()
    for data, field in (((X, y[:5]), "y"), ((X[:, :3], y), "X"), ((np.tile(X, (2, 1)), np.tile(y, 2)), "X"),
                        (iter([]), "data")):
        with pytest.raises(InvalidInput) as caught:
            mechanism.run(data, Noise.simulated(0))
        assert caught.value.field == field
    with pytest.raises(InvalidInput, match="is not a Noise"):
        mechanism.run((X, y), object())  # type: ignore[arg-type]
    billboard = mechanism.publish((X, y), Noise.simulated(0))
    with pytest.raises(InvalidInput, match="out of range"):
        mechanism.decode((X[0], y[0]), N, billboard)
    with pytest.raises(InvalidInput, match="billboard"):
        replace(billboard, factor=np.zeros((2, 2)))
    with pytest.raises(InvalidInput, match="not finite"):
        replace(billboard, coef=np.full(D, np.nan))


# ---- truth, exactly

POINTS = Atoms([[0.6], [-0.3]], [0.4, 0.6], radius=1.0)
ROWS = np.array([[0.9], [-0.7], [1.0]])
REPORTS = np.array([-1.3, -0.35, 0.1, 0.35, 1.3])


class WithOwnRecord(TruthfulRegression):
    """The estimate that predicts her contains her own answer."""

    def predictions(
        self, X: np.ndarray, y: np.ndarray, index: np.ndarray, billboard: LeastSquaresBillboard
    ) -> np.ndarray:
        return X @ billboard.coef


class PriorMean(TruthfulRegression):
    """What her answer implies is taken from the prior alone."""

    def exact_payments(
        self, X: np.ndarray, y: np.ndarray, index: np.ndarray, billboard: LeastSquaresBillboard
    ) -> np.ndarray:
        mean = self.prior.weights @ self.prior.points  # type: ignore[union-attr]
        return self.rule(self.predictions(X, y, index, billboard), X @ mean)


def _small(kind: type[TruthfulRegression] = TruthfulRegression, **changes: object) -> TruthfulRegression:
    return kind(**{"people": 3, "features": 1, "prior": POINTS, "noise": TruncatedGaussianNoise(0.5, 0.8),  # type: ignore[arg-type]
                   "rule": ScoringRule(0.3, 1.0), **changes})


@pytest.mark.parametrize(("groups", "centred"), [(False, False), (False, True), (True, False)])
def test_truth_is_an_equilibrium_over_the_whole_strategy_space(groups: bool, centred: bool) -> None:
    """Lemma 1. Players, what they may know, every report: no lie gains, and each costs b (change of q)^2."""
    rule = ScoringRule(0.3, 1.0, centred)
    people = 4 if groups else 3
    X = np.append(ROWS, [[0.5]], axis=0)[:people]
    split = np.array([False, False, True, True]) if groups else None
    mechanism = _small(groups=groups, rule=rule, people=people)
    for index, y in ((0, 0.35), (1, -0.35))[: 1 if groups else 2]:
        paid = dict(zip(REPORTS, interim_utility(mechanism, X, index, y, split)(REPORTS), strict=True))
        q = mechanism.posterior(np.repeat(X[index][None], len(REPORTS), axis=0), REPORTS)
        truth = float(mechanism.posterior(X[index][None], [y])[0])
        values = np.array([*paid.values()])
        assert values == pytest.approx(rule(truth, q), abs=1e-9)
        assert values == pytest.approx(float(rule(truth, truth)) - (q - truth) ** 2, abs=1e-9)
        found = best_response_among(lambda r, known=paid: [known[v] for v in r], y, REPORTS)
        assert (found.regret, found.report) == (0.0, y)


def test_injected_bugs_are_found() -> None:
    """Her own answer in her peers' estimate makes a lie pay; the prior mean makes every lie free."""
    far = np.array([-1.3, 0.35, 1.3])
    sound, own, blind = (best_response_among(interim_utility(_small(kind), ROWS, 0, 0.35), 0.35, far)
                         for kind in (TruthfulRegression, WithOwnRecord, PriorMean))
    assert sound.gain < -1e-3
    assert own.gain > 1e-3
    assert blind.gain == pytest.approx(0.0, abs=1e-12)


def test_lies_are_free_where_the_prediction_is_flat() -> None:
    """E15: strict only where q is injective. Uniform noise wider than the predictions makes answers say nothing."""
    mechanism = _small(noise=UniformNoise(2.0))
    found = best_response_among(interim_utility(mechanism, ROWS, 0, 0.2), 0.2, [-0.5, 0.2])
    assert found.gain == pytest.approx(0.0, abs=1e-9)


def test_the_enumeration_refuses_what_it_cannot_do() -> None:
    with pytest.raises(InvalidInput, match="Atoms"):
        interim_utility(_mechanism(), _people()[0], 0, 0.1)
    with pytest.raises(InvalidInput, match="enumerate"):
        interim_utility(_small(people=13), np.ones((13, 1)), 0, 0.1)
    with pytest.raises(InvalidInput, match="probability 0"):
        interim_utility(_small(), ROWS, 0, 9.0)


# ---- promises


def test_no_privacy_is_promised_and_no_ledger_admits_it() -> None:
    mechanism = _mechanism()
    (privacy,) = mechanism.guarantees().privacy
    assert privacy.vacuous
    assert privacy.loss == PureDP(math.inf)
    with pytest.raises(InvalidInput, match="unsupported"):
        Accountant(mechanism.events()).loss()


def test_guarantees_are_the_corrected_formulas() -> None:
    mechanism = _mechanism(people=50_000, rule=ScoringRule(0.26, 1.0), minor_units=100)
    by_type = {type(g): g for g in mechanism.guarantees()}
    truth, join, accuracy, budget = (by_type[t] for t in (Truthfulness, Participation, Accuracy, Budget))
    assert truth.gain == 0.01  # one coin of rounding  # type: ignore[attr-defined]
    assert not truth.vacuous
    assert f"informativeness {mechanism.informativeness:.2f}" in truth.note
    assert join.utility == pytest.approx(0.26 - 0.25 - 0.005)  # type: ignore[attr-defined]
    assert not join.vacuous
    assert accuracy.bound == pytest.approx(D * (0.25 / 3) / (0.8 * 50_000 / (D + 2)))  # type: ignore[attr-defined]
    assert not accuracy.vacuous
    assert budget.expected == pytest.approx(50_000 * (0.26 + 2.0 + 0.005))  # type: ignore[attr-defined]
    assert math.isinf(budget.lowest)  # type: ignore[attr-defined]
    assert next(g for g in _mechanism(people=30).guarantees() if isinstance(g, Accuracy)).vacuous
    known = _mechanism(smallest_eigenvalue=0.05, people=50_000).spectrum
    assert known.lower == pytest.approx(0.8 * 50_000 * 0.05)


@given(st.floats(0.05, 4.0), st.floats(0.1, 3.0), st.floats(-2, 2), st.booleans())
def test_truthful_payments_lie_in_the_stated_interval(radius: float, b: float, a: float, centred: bool) -> None:
    rule = ScoringRule(a, b, centred)
    low, high = truthful_payments(rule, radius)
    mean = np.append(np.linspace(-radius, radius, 2001), min(radius, 0.5))
    paid = rule(mean, mean)
    assert paid.min() == pytest.approx(low, abs=1e-6)
    assert paid.max() == pytest.approx(high, abs=1e-12)
    assert paid.min() >= low - 1e-12
    if radius >= 0.5 and not centred:
        assert (low, high) == pytest.approx((a - b / 4, a + b * (radius + radius**2)))
        total = truthful_payments(ScoringRule(b / 4, b), radius)[1]
        assert total == pytest.approx(b * (radius + 0.5) ** 2)


@pytest.mark.parametrize("groups", [False, True])
def test_money_of_simulated_runs(groups: bool) -> None:
    """a = b/4: the mean total of truthful runs is between 0 and n b (R0 + 1/2)^2, and near n (a - b E[q - q^2])."""
    n, d, runs = 60, 2, 12
    mechanism = _mechanism(people=n, features=d, prior=UniformBall(d, 1.0), rule=ScoringRule(0.25, 1.0), groups=groups)
    totals, expected = [], []
    for seed in range(runs):
        X, y = _people(n, d, seed)
        totals.append(_paid(mechanism.run((X, y), Noise.simulated(seed))).sum() / 1e12)
        q = mechanism.posterior(X, y)
        expected.append(np.sum(0.25 - q + q * q))
    spread = np.std(np.subtract(totals, expected)) / math.sqrt(runs)
    assert np.mean(totals) == pytest.approx(np.mean(expected), abs=5 * spread)
    assert 0 < np.mean(totals) < n * 1.5**2


@pytest.mark.parametrize("groups", [False, True])
@pytest.mark.parametrize("prior", [UniformBall(2, 1.0), UniformSphere(2, 1.0), GaussianBall(2, 0.7, 1.0),
                                   UniformBox(np.array([0.5, 0.25]))], ids=lambda prior: type(prior).__name__)
def test_an_outcome_is_read_back(tmp_path: Path, prior: Any, groups: bool) -> None:
    mechanism = TruthfulRegression(people=60, features=2, prior=prior, noise=UniformNoise(0.5),
                                   rule=ScoringRule(0.25, 1.0), groups=groups)
    X, y = _people(60, 2)
    y /= 2.0  # within the smallest of these priors' ranges
    outcome = mechanism.run((X, y), Noise.secure())
    outcome.save(tmp_path / "out")
    read = Outcome.load(tmp_path / "out")
    assert mechanism.decode((X[7], y[7]), 7, read.billboard) == {"payment": read.shares["payment"][7].as_py()}
    assert mechanism.guarantees().privacy[0].sentence().startswith("no differential privacy")
