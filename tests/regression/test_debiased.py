"""Payments by peers' estimates that are divided by their known shrinkage (spec 8; acceptance 9)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from confide.contract import InvalidInput, Refused
from confide.privacy import Noise
from confide.regression import (
    Behaviour,
    ParetoCosts,
    PaymentScheme,
    PrivateTruthfulRegression,
    RidgeRelease,
    ScoringRule,
    Setting,
    UniformBall,
    UniformNoise,
    plan,
)
from confide.regression.audited import PaidByOwnGroup, injected
from confide.regression.audited_behaviour import behaviour_rows, far_lies, own_score_row, range_row, wrong_signs
from confide.regression.spectrum import ridge_shrinkage, ridge_shrinkage_error

M, D, RIDGE = 400, 3, 20.0
PLAYER, ANSWER = np.array([0.7, 0.4, 0.1]), 0.9


def mechanism(
    *, debias: bool = True, people: int = 2 * M, epsilon: float = 1.0, **payment: object
) -> PrivateTruthfulRegression:
    return PrivateTruthfulRegression(
        setting=Setting(people=people, features=D, prior=UniformBall(dimension=D, radius=1.0),
                        noise=UniformNoise(bound=0.5)),
        payment=PaymentScheme(**{"epsilon": epsilon, "ridge": RIDGE, "rule": ScoringRule(1.0, 1.0),
                                 "minor_units": 10**9, "debias": debias, **payment}),  # type: ignore[arg-type]
        release=RidgeRelease(epsilon=epsilon, ridge=RIDGE),
        behaviour=Behaviour(costs=ParetoCosts(exponent=4.0), misreports=0.01, failure_probability=1e-3),
    )


def shrunk(rng: np.random.Generator, m: int, d: int, ridge: float, runs: int) -> np.ndarray:
    """tr[gamma (gamma I + X'X)^-1]/d for drawn designs."""
    x = rng.standard_normal((runs, m, d))
    x *= (rng.random((runs, m)) ** (1 / d) / np.linalg.norm(x, axis=2))[..., None]
    return np.mean(ridge / (ridge + np.linalg.eigvalsh(np.swapaxes(x, 1, 2) @ x)), axis=1)


@pytest.mark.parametrize(("m", "d", "ridge", "runs"), [(400, 3, 20.0, 2000), (40, 3, 5.0, 20_000), (30, 1, 1.0, 40_000),
                                                       (300, 10, 40.0, 1000), (12, 2, 30.0, 20_000)])
def test_the_bound_on_the_shrinkage_holds(m: int, d: int, ridge: float, runs: int) -> None:
    drawn = shrunk(np.random.default_rng(m), m, d, ridge, runs)
    off, allowed = abs(drawn.mean() - ridge_shrinkage(m, d, ridge)), ridge_shrinkage_error(m, d, ridge)
    assert off <= allowed + 4 * drawn.std() / runs**0.5
    assert allowed < 1
    if m >= 400:
        assert allowed < 1e-4


def test_the_bound_on_the_shrinkage_is_seen_to_be_needed() -> None:
    """Few rows: the expansion is off by more than the draws' error, and by less than the bound."""
    drawn = shrunk(np.random.default_rng(1), 12, 2, 1.0, 40_000)
    off = abs(drawn.mean() - ridge_shrinkage(12, 2, 1.0))
    assert 8 * drawn.std() / 200 < off <= ridge_shrinkage_error(12, 2, 1.0)


def test_no_lie_gains_where_payments_are_debiased() -> None:
    # spec truthful_regression 13, acceptance 9: plain P = .4351 and .01196 b, debiased below 1e-4 b
    drawn = float(shrunk(np.random.default_rng(9), M, D, RIDGE, 3000).mean())
    assert drawn == pytest.approx(0.2009, abs=5e-4)
    law, grid = mechanism().posterior, np.linspace(-1.3, 1.3, 2001)
    q = float(law(PLAYER[None], [ANSWER])[0])
    lies = law(np.tile(PLAYER, (2001, 1)), grid)
    rule = ScoringRule(0.0, 1.0)
    assert (1 - drawn) * q == pytest.approx(0.4351, abs=5e-4)
    assert rule.best_gain((1 - drawn) * q, q, lies) == pytest.approx(0.01196, abs=1e-4)
    assert rule.best_gain((1 - drawn) * mechanism().stretch * q, q, lies) < 1e-4


def test_payments_are_the_rule_at_the_debiased_prediction() -> None:
    rng = np.random.default_rng(2)
    X = rng.uniform(-0.5, 0.5, (101, D))
    y = np.clip(X @ [0.5, 0.2, -0.4] + rng.uniform(-0.5, 0.5, 101), -1, 1)
    for clip in (None, 0.5):
        ours = mechanism(people=101, clip=clip)
        outcome = ours.run((X, y), Noise.simulated(4))
        board, groups = outcome.billboard, outcome.billboard.groups()
        g = [ridge_shrinkage(rows, D, RIDGE) for rows in (50, 51)]  # the groups differ by one
        p = np.where(groups, X @ board.peers[0] / (1 - g[0]), X @ board.peers[1] / (1 - g[1]))
        if clip is not None:
            bound = (1.25 + ours.noise_scale * clip) / (1 - max(g))
            assert ours.prediction_bound == pytest.approx(bound)
            p = np.clip(p, -bound, bound)
        q = ours.posterior(X, y)
        paid = outcome.shares["payment"].to_numpy()
        assert paid / 1e9 == pytest.approx(1 - (p - 2 * p * q + q * q), abs=1e-8)
        for i in (0, 1, 50, 100):
            assert ours.decode((X[i], y[i]), i, board)["payment"] == paid[i]


def test_bounds_follow_the_scaled_payments() -> None:
    plain, ours = mechanism(debias=False, clip=6.0), mechanism(clip=6.0)
    reach = (1.25 + ours.noise_scale * 6.0) * ours.stretch
    assert ours.stretch == pytest.approx(1 / (1 - 0.2008), abs=1e-3)
    assert (ours.figures.lowest, ours.figures.highest) == pytest.approx(
        ours.payment.rule.payment_range(reach, 1.0), abs=1e-8)
    assert not range_row(ours).flagged
    assert not own_score_row(ours, 0).flagged
    assert plain.figures.highest < ours.figures.highest
    unclipped = mechanism().figures
    assert unclipped.highest - 1 > (mechanism(debias=False).figures.highest - 1) * 1.2
    assert unclipped.range_failure_probability == 1e-6


def test_the_ridge_bias_leaves_the_peer_error() -> None:
    many = {"people": 100_000, "features": 3, "parameter_bound": 1.0, "noise_bound": 0.5, "epsilon": 1.5,
            "release": "ridge", "ridge_payment": 200.0, "misreports": 1e-4}
    plain, ours = plan(**many, truth_radius=0.2), plan(**many, truth_radius=0.2, debias=True)  # type: ignore[arg-type]
    assert ours.figures.peer_error < plain.figures.peer_error / 10
    assert ours.figures.expected_total < plain.figures.expected_total
    assert ours.to_dict()["debias"] is True
    with pytest.raises(Refused, match="debias") as refused:
        plan(**many, truth_radius=0.02)  # type: ignore[arg-type]
    assert "2e" in str(refused.value)
    reached = plan(**many, truth_radius=0.02, debias=True)  # type: ignore[arg-type]
    assert reached.figures.truth_radius == pytest.approx(0.02)
    with pytest.raises(Refused):
        plan(**many, truth_radius=1e-4, debias=True)  # type: ignore[arg-type]


def test_the_audit_measures_debiased_truth() -> None:
    ours = plan(people=2_000, features=3, parameter_bound=1.0, noise_bound=0.5, epsilon_release=4.0,
                epsilon_payment=4.0, budget=1e7, release="ridge", debias=True, ridge_payment=20.0).mechanism
    rows = behaviour_rows(ours, seed=1, runs=4, types=12)
    assert not any(row.flagged for row in rows)
    gain = next(row for row in rows if row.promise.startswith("largest gain of a lie"))
    biased = replace(ours, payment=replace(ours.payment, debias=False))
    rows = behaviour_rows(biased, seed=1, runs=4, types=12)
    plain = next(row for row in rows if row.promise.startswith("largest gain of a lie"))
    assert gain.measured < plain.measured / 3  # type: ignore[operator]
    assert own_score_row(injected(PaidByOwnGroup, ours), 1).flagged
    assert not far_lies(ours, 1) or wrong_signs(ours, 1)[0].flagged


def test_only_for_features_uniform_in_the_ball() -> None:
    setting = replace(mechanism().setting, smallest_eigenvalue=0.05)
    with pytest.raises(InvalidInput, match=r"^debias: .*shrinkage"):
        replace(mechanism(), setting=setting)
    with pytest.raises(InvalidInput, match="uniform in the ball"):
        plan(people=100_000, features=3, parameter_bound=1.0, noise_bound=0.5, epsilon=1.5, truth_radius=0.3,
             smallest_eigenvalue=0.1, debias=True)
    with pytest.raises(InvalidInput, match="debias"):
        mechanism(debias=1)  # type: ignore[arg-type]


@pytest.mark.slow
def test_monte_carlo_of_the_full_mechanism() -> None:
    """Acceptance 9: over runs of the whole mechanism, P = .4351 and a best gain of .01196 b; debiased, nothing is left.

    theta given (x, y) is uniform on what her answer leaves of the ball; everybody else is drawn anew each time. The
    known part (1 - g) x'theta of each prediction is averaged exactly.
    """
    plain, ours = mechanism(debias=False, epsilon=200.0), mechanism(epsilon=200.0)
    rng = np.random.default_rng(13)
    g = ours.shrinkages[0]
    law = ours.posterior
    q = float(law(PLAYER[None], [ANSWER])[0])
    predicted = []
    while len(predicted) < 1500:
        theta = rng.standard_normal(D)
        theta *= rng.random() ** (1 / D) / np.linalg.norm(theta)
        if abs(ANSWER - PLAYER @ theta) > 0.5:
            continue
        X = rng.standard_normal((2 * M, D))
        X *= (rng.random(2 * M) ** (1 / D) / np.linalg.norm(X, axis=1))[:, None]
        X[0] = PLAYER
        y = X @ theta + rng.uniform(-0.5, 0.5, 2 * M)
        y[0] = ANSWER
        board = plain.run((X, y), Noise.simulated(len(predicted))).billboard
        peers = board.peers[1 - board.group(0)]
        predicted.append(float(PLAYER @ peers - (1 - g) * PLAYER @ theta))
    mean = float(np.mean(predicted)) + (1 - g) * q
    error = float(np.std(predicted)) / len(predicted) ** 0.5
    assert error < 1e-3
    assert mean == pytest.approx(0.4351, abs=4 * error + 5e-4)
    lies = law(np.tile(PLAYER, (2001, 1)), np.linspace(-1.3, 1.3, 2001))
    rule = ScoringRule(0.0, 1.0)
    assert rule.best_gain(mean, q, lies) == pytest.approx(0.01196, abs=4 * 0.22 * error + 1e-4)
    assert rule.best_gain(mean * ours.stretch, q, lies) < 1e-4
