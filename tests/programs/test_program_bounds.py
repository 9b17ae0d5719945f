"""What is promised before a run: the numbers of the spec, and the regret of the steps that are taken."""

from __future__ import annotations

import math

import numpy as np
import pytest

from confide.contract.errors import InvalidInput
from confide.privacy.gaussian import gdp_mu
from confide.privacy.noise.simulated import study_generator
from confide.programs.dual_dynamics import Schedule, squared_budget
from confide.programs.grids import Constants
from confide.programs.guarantees import (
    corrected_regret,
    game_accuracy,
    regret_bound,
    regret_of_steps,
)

USUAL = {"rows": 10, "tau": 1.0, "width": 1e5, "failure_probability": 0.05}
S = math.sqrt(2) / gdp_mu(1.0, 1e-6)


def test_the_best_step_is_the_best() -> None:
    """`corrected_regret` is `regret_of_steps` at D/sqrt(T G2), and no other constant step has less."""
    for width, rounds in ((1e5, 300), (300.0, 100_000), (50.0, 10_000)):
        best = corrected_regret(rows=10, tau=1.0, width=width, noise_std=S, rounds=rounds, failure_probability=0.05)
        found = [regret_of_steps(steps=[eta] * 10, taus=[1.0] * 10, width=width, noise_std=S, rounds=rounds,
                                 failure_probability=0.05)
                 for eta in np.geomspace(1e-2, 1e2, 1001) * 2.0 / (width * math.sqrt(rounds))]
        assert min(found) == pytest.approx(best, rel=1e-4)
        assert min(found) >= best * (1 - 1e-12)


def one(scale: float, tau: float = 1.0) -> Constants:
    return Constants(rows=10, largest_entry=1, largest_sum=1, most_value=1, width=300, tau=(tau,) * 10,
                     step_scale=(scale,) * 10)


def test_a_run_is_promised_the_regret_of_its_own_step() -> None:
    """With many rounds and few people the usual step is not the best one, and promises less than the best one's R."""
    schedule = Schedule(rounds=99_000, burn_in=1_000, squared_l2_sensitivity=one(300).squared_l2_sensitivity("replace"),
                        squared_budget=squared_budget("gaussian", 1.0, 1e-6))
    best = corrected_regret(rows=10, tau=1, width=300, noise_std=schedule.noise_std, rounds=99_000,
                            failure_probability=0.05)
    own = regret_bound(one(300), schedule, 0.05)
    assert own > 1.2 * best
    assert regret_bound(one(30), schedule, 0.05) != own
    assert regret_bound(Constants(rows=1, largest_entry=1, largest_sum=1, most_value=1, width=9, tau=(1.0,)),
                        schedule, 0.05) == math.inf


@pytest.mark.parametrize("two_sided", [False, True])
def test_bounds_hold_of_adverse_loads(two_sided: bool) -> None:
    """Gradient descent with noise against loads that follow the prices or do not: realised regret is below R."""
    k, rounds, width, s = 3, 400, 50.0, 2.0
    draw = study_generator(1)
    taus = np.array([0.5, 1.0, 2.0])
    low, high = (-2 * taus if two_sided else np.zeros(k)), 2 * taus
    eta = 2 * taus / (20.0 * math.sqrt(rounds))
    bound = regret_of_steps(steps=eta.tolist(), taus=taus.tolist(), width=width, noise_std=s, rounds=rounds,
                            failure_probability=0.05,
                            two_sided=two_sided)
    for run in range(12):
        prices, paid, total = np.zeros(k), 0.0, np.zeros(k)
        for t in range(rounds):
            slack = {0: width * np.sign(draw.normal(size=k)), 1: width * np.where(prices < taus, -1, 1),
                     2: np.full(k, -width if t % 2 else width)}[run % 3]
            paid += float(prices @ slack)
            total += slack
            prices = np.clip(prices - eta * (slack + s * math.sqrt(rounds) * draw.normal(size=k)), low, high)
        least = float(np.minimum(low * total, high * total).sum())
        assert (paid - least) / rounds <= bound
    assert bound < 2 * width * taus.sum() * (2 if two_sided else 1)


def test_what_a_regret_promises() -> None:
    assert game_accuracy(10.0, [1.0, 4.0], errors=2.0) == (12.0, 12.0)
    assert game_accuracy(10.0, [1.0], box=3.0) == (10.0, 5.0)
    assert game_accuracy(math.inf, [1.0]) == (math.inf, math.inf)
    for bad in ({"regret": -1.0}, {"regret": math.nan}, {"box": 1.0}, {"taus": [0.0]}, {"errors": -1.0}):
        with pytest.raises(InvalidInput):
            game_accuracy(**{"regret": 1.0, "taus": [1.0], **bad})  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [
    {"rows": 0}, {"tau": 0.0}, {"width": -1.0}, {"noise_std": -1.0}, {"failure_probability": 0.0},
    {"failure_probability": 1.0}])
def test_regret_checks_its_numbers(bad: dict[str, float]) -> None:
    with pytest.raises(InvalidInput):
        corrected_regret(**{**USUAL, "noise_std": S, "rounds": 100, **bad})  # type: ignore[arg-type]
