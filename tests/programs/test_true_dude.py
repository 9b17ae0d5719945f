"""TrueDude: everybody is satisfied at what she is charged, shares are decodes, and lies do not pay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from highs_reference import optimum
from parts_program import Parts, Unpriced
from scipy.stats import t as student

from cases import fast
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Accuracy, Participation, Truthfulness
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.programs import TrueDude, UnitDemand
from confide.programs.dual_dynamics import total_variation
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT
from confide.programs.incentives import additive_gain, exact_alpha
from confide.programs.instances import popular

from false_alarms import alpha

LEVEL = alpha("programs.true.lies", cases=4)


def small(people: int = 300, **options: Any) -> TrueDude:
    program = options.pop("program", None) or UnitDemand(people, people // 8, goods=4)
    return TrueDude(program, **{"epsilon": 1.0, "delta": 1e-6, "rounds": 40, "burn_in": 20, **options})


def halves(people: int = 300) -> Parts:
    return Parts(people, (people / 20, people / 14, people / 10, people / 9), parts=(0.3, 0.7, 1.0, 0.5))


def row(outcome: Any, i: int) -> dict[str, Any]:
    return {name: outcome.shares[name][i].as_py() for name in outcome.shares.column_names}


def worth(share: dict[str, Any], values: Any) -> float:
    """What an average is worth by these values, without its price."""
    actions, times = np.array(share["actions"]), np.array(share["times"])
    return float(np.where(actions >= 0, np.append(values, 0.0)[actions], 0.0) @ times) / times.sum()


@pytest.mark.parametrize("options", fast(3, [
    {}, {"step": "adagrad", "alpha": 0.003}, {"program": halves(), "alpha": 0.003},
    {"law": "discrete_gaussian", "alpha": 1e-6}, {"neighbours": "add_or_remove"}, {"rounds": 1, "burn_in": 0,
                                                                                   "alpha": 1e-4}]))
def test_shares_are_separate_decodes(options: dict[str, Any]) -> None:
    mechanism, values = small(**options), popular(300, 4, seed=2)
    outcome = mechanism.run(values, Noise.simulated(3))
    mechanism.check(outcome.billboard)
    if mechanism.alpha < 0.01 and mechanism.rounds > 1:
        assert outcome.diagnostics["unsatisfied"] > 0  # type: ignore[index,union-attr]
    for i in range(0, 300, 7):
        share = row(outcome, i)
        assert share == mechanism.decode(values[i], i, outcome.billboard)
        assert sum(share["times"]) == mechanism.rounds


@pytest.mark.parametrize("program", [UnitDemand(300, 37.0, goods=4), halves()])
def test_everybody_is_satisfied_at_their_charge(program: UnitDemand) -> None:
    mechanism, values = small(program=program, step="adagrad"), popular(300, 4, seed=4)
    outcome = mechanism.run(values, Noise.simulated(4))
    parts = np.array(getattr(program, "parts", (1.0,) * 4))
    prices = outcome.billboard.charged_prices / PRICE_UNIT * np.ceil(parts * LOAD_UNIT) / LOAD_UNIT
    exact = np.rint(values.astype(float) * PRICE_UNIT) / PRICE_UNIT
    load = np.zeros(4)
    for i in range(300):
        share = row(outcome, i)
        actions, times = np.array(share["actions"]), np.array(share["times"])
        charged = float(np.where(actions >= 0, np.append(prices, 0)[actions], 0) @ times) / mechanism.rounds
        assert share["price"] == pytest.approx(charged, abs=1e-14)
        utility = worth(share, exact[i]) - share["price"]
        assert utility >= max(0.0, (exact[i] - prices).max()) - mechanism.alpha - 1e-12
        load += np.bincount(actions[actions >= 0], times[actions >= 0], minlength=4) / mechanism.rounds
    found = outcome.diagnostics
    assert found["unsatisfied"] > 0  # type: ignore[index]
    assert np.allclose(found["load"], load * np.ceil(parts * LOAD_UNIT) / LOAD_UNIT)  # type: ignore[index]
    assert found["paid"] == pytest.approx(sum(outcome.shares["price"].to_pylist()))  # type: ignore[index]


def test_a_release_is_decoded_too() -> None:
    mechanism, values = small(rounds=3, burn_in=1, alpha=0.001), popular(300, 4, seed=2)
    outcome = mechanism.run(values, Noise.secure())
    assert outcome.release_safe
    for i in range(0, 300, 11):
        assert row(outcome, i) == mechanism.decode(values[i], i, outcome.billboard)


def test_what_is_claimed_after_a_run_holds() -> None:
    mechanism = small(3000, alpha=0.02)
    for seed in range(3):
        values = popular(3000, 4, seed=seed)
        outcome = mechanism.run(values, Noise.simulated(seed))
        found = outcome.diagnostics
        sure = replace(mechanism,
                       failure_probability=alpha("programs.true.claims") / 6)  # both betas of a claim, three runs
        many, excess, lost = mechanism.claims(sure.certify(outcome.billboard)).of(Accuracy)
        assert found["unsatisfied"] <= many.bound == int(many.bound)  # type: ignore[index]
        assert found["excess"].max() <= excess.bound  # type: ignore[index]
        assert not any(one.vacuous for one in (many, excess, lost))
        assert lost.failure_probability == excess.failure_probability == 2 * sure.failure_probability
    whole = mechanism.program.linear_program(mechanism.program.read(values))
    assert optimum(whole) - found["value"] <= lost.bound  # type: ignore[index]
    with pytest.raises(InvalidInput, match="certificate"):
        mechanism.claims(None)


def test_promises() -> None:
    mechanism = small()
    promises = mechanism.guarantees()
    [truth], [part] = promises.of(Truthfulness), promises.of(Participation)
    assert truth.gain == mechanism.gain
    assert truth.gain == additive_gain(0.01, 1.0, total_variation("gaussian", mechanism.squared_budget))
    assert truth.gain == pytest.approx(0.01 + 1.01 * 0.0942113940, rel=1e-6)
    assert not truth.vacuous
    assert mechanism.relative_gain(0.0).added == mechanism.gain
    assert part.utility == -0.01
    assert all(one.vacuous for one in promises.of(Accuracy))  # 40 rounds are far too few
    assert small(epsilon=50.0, delta=0.4).guarantees().of(Truthfulness)[0].vacuous
    assert small(neighbours="add_or_remove").gain == pytest.approx(
        0.01 + 1.01 * total_variation("gaussian", 2 * mechanism.squared_budget))
    assert small(law="discrete_gaussian").gain > mechanism.gain
    long = TrueDude(UnitDemand(10**6, 10**5, goods=10), 1.0, 1e-6, rounds=100_000, burn_in=0, alpha=0.5)
    many, excess, lost = long.guarantees().of(Accuracy)
    left = long.regret / exact_alpha(long.program, 0.5)
    assert (many.bound, excess.bound, lost.bound) == (left, long.regret + left, long.regret + left)
    assert not any(one.vacuous for one in (many, excess, lost))


@pytest.mark.parametrize("bad", [{"alpha": 0.0}, {"alpha": float("nan")}, {"alpha": 2.0**-24}, {"rounds": 0},
                                 {"program": Unpriced(300, (8.0,))}])
def test_public_faults_are_refused_before_any_record(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        small(**bad)


# ---- lies


def test_on_one_path_of_prices_no_lie_gains_more_than_alpha() -> None:
    """Wu 2017, Lemma 6.2.9, in exact arithmetic: whatever is reported, and whatever the path."""
    mechanism, draw = small(step="adagrad"), study_generator(5)
    board = mechanism.run(popular(300, 4, seed=5), Noise.simulated(5)).billboard
    for _ in range(40):
        wild = replace(board, prices=draw.integers(0, 2 * PRICE_UNIT, board.prices.shape))
        truth, lie = (np.rint(draw.random(4) * PRICE_UNIT) / PRICE_UNIT for _ in range(2))
        charged = wild.charged_prices
        gets = []
        for reported in (truth, lie):
            share = mechanism.decode(reported, 0, wild)
            gets.append(sum(Fraction(t, 40) * (Fraction(truth[a]) - Fraction(int(charged[a]), PRICE_UNIT))
                            for a, t in zip(share["actions"], share["times"], strict=True) if a >= 0))
        assert gets[0] >= max(0, *(Fraction(v) - Fraction(int(p), PRICE_UNIT)
                                   for v, p in zip(truth, charged, strict=True))) - Fraction(mechanism.alpha)
        assert gets[1] <= gets[0] + Fraction(mechanism.alpha)


def best_lie(
    mechanism: TrueDude, values: Any, lies: list[float], noises: list[Callable[[], Noise]], level: float,
    *, charged: bool = True,
) -> float:
    """A lower bound on what the best of these lies gains participant 0 in the mean, wrong with probability `level`."""
    def utilities(reported: Any) -> Any:
        records = values.copy()
        records[0] = reported
        shares = [row(mechanism.run(records, make()), 0) for make in noises]
        return np.array([worth(share, values[0]) - charged * share["price"] for share in shares])

    truth = utilities(values[0])
    gains = [utilities(lie) - truth for lie in lies]
    if len(noises) == 1:  # nothing is random
        return max(float(one[0]) for one in gains)
    spread = student.isf(level / len(lies), len(noises) - 1) / len(noises) ** 0.5
    return max(float(one.mean() - spread * one.std(ddof=1)) for one in gains)


@pytest.mark.parametrize("seeds", [pytest.param(8), pytest.param(100, marks=pytest.mark.slow)])
def test_two_people_gain_by_lies_where_there_is_no_noise_and_not_where_there_is(seeds: int) -> None:
    """Whoever reports less keeps the other's price down: .67 without noise, where the bound says .021."""
    mechanism = TrueDude(UnitDemand(2, (1.5,)), 0.1, 1e-6, 40, 20)
    values, level = np.ones((2, 1)), LEVEL
    lies = [0.3] if seeds < 100 else [0.0, 0.1, 0.3, 0.5, 0.7, 0.9]
    silent = [lambda: Noise.replayed({("slack", t): np.zeros(1) for t in range(60)})]
    assert best_lie(mechanism, values, lies, silent, level) > 0.5 > mechanism.gain
    noises = [lambda seed=seed: Noise.simulated(seed) for seed in range(seeds)]
    assert best_lie(mechanism, values, lies, noises, level) <= mechanism.gain  # type: ignore[arg-type]


@pytest.mark.parametrize("seeds", [pytest.param(4), pytest.param(30, marks=pytest.mark.slow)])
def test_lies_pay_where_nothing_is_charged(seeds: int) -> None:
    people, level = 3000, LEVEL
    mechanism = TrueDude(UnitDemand(people, (people / 4,)), 1.0, 1e-6, 40, 20)
    values = study_generator(1).random((people, 1))
    values[0] = 0.5  # less than the price, about .75
    noises = [lambda seed=seed: Noise.simulated(seed) for seed in range(seeds)]
    lies = [1.0] if seeds < 10 else [0.0, 0.7, 0.75, 0.8, 1.0]
    found = [best_lie(mechanism, values, lies, noises, level, charged=pays) for pays in (True, False)]  # type: ignore[arg-type]
    assert found[0] <= 0.001 < mechanism.gain < 0.45 < found[1]


@pytest.mark.parametrize("people", fast(1, [20_000, 100_000]))
def test_published_sizes(people: int) -> None:
    """Spec convex_programs 9.7: nobody is unsatisfied at alpha = .01; by the billboard at most 190, and 125 of 10^5."""
    mechanism = TrueDude(UnitDemand(people, people // 20, goods=10), 1.0, 1e-6)
    outcome = mechanism.run(popular(people, 10, seed=1), Noise.simulated(1))
    assert outcome.diagnostics["unsatisfied"] == 0  # type: ignore[index]
    assert outcome.certificate.unsatisfied(0.01) == pytest.approx({20_000: 190, 100_000: 125}[people], rel=0.05)
    assert not any(one.vacuous for one in mechanism.claims(outcome.certificate))
