"""Rounds played with made-up people: counts by their exact law, payments by the market's rule, what each type earns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import convolve2d
from scipy.stats import multinomial, norm
from scipy.stats import t as student

from confide.contract import InvalidInput, Refused
from confide.market import (
    LinearCost,
    MajorityMarket,
    PairMarket,
    PairPrior,
    SignalModel,
    Strategy,
    ThresholdMarket,
    UniformLaw,
    simulate,
)

from false_alarms import alpha

COST = LinearCost(1.0)
SMALL = ThresholdMarket(20, 0.7, 0.4, UniformLaw(0.0, 2.0), epsilon=1.0, participation=0.4)
FEW = {
    "majority": MajorityMarket(6, 0.8, 0.7, COST, 1.0, presence=0.7),
    "threshold": replace(SMALL, people=6),
    "pair": PairMarket(PairPrior.beta_binomial(2.0, 3.0, people=6), COST, 1.0, presence=0.8),
}
ABSENT_BY_BIT = Strategy(np.array([[0.5, 0.2], [0.1, 0.6], [0.4, 0.2]]))
NATURES = {"majority": SignalModel(0.35, 0.9), "threshold": SignalModel(0.35, 0.9),
           "pair": PairPrior.two_state(6, signal_accuracy=0.9, prior_one=0.35)}


def _several(people: int, law: np.ndarray) -> np.ndarray:
    """(people + 1, people + 1) P(ones, zeros) of so many people with one law of 0, 1, none."""
    table = np.zeros((people + 1, people + 1))
    for ones in range(people + 1):
        zeros = np.arange(people + 1 - ones)
        table[ones, zeros] = multinomial.pmf(np.column_stack([zeros, np.full_like(zeros, ones), people - ones - zeros]),
                                             people, law)
    return table


def _counts_law(n: int, strategy: Strategy, law: SignalModel | PairPrior) -> np.ndarray:
    """P(ones, zeros) of n people."""
    if isinstance(law, SignalModel):
        given = strategy.given_state(law.signal_accuracy)
        return law.prior_zero * _several(n, given[:, 0]) + law.prior_one * _several(n, given[:, 1])
    return sum(p * convolve2d(_several(k, strategy.channel[:, 1]), _several(n - k, strategy.channel[:, 0]))
               for k, p in enumerate(np.exp(law.log_counts)))


CASES = [(name, level, other) for name in FEW for level in ("aggregate", "individual") for other in (False, True)]


@pytest.mark.parametrize(("name", "level", "other"), CASES)
def test_counts_are_of_their_exact_law(name: str, level: str, other: bool) -> None:
    """Presence below 1, absence that depends on the bit, and a signal_model that is not the design's included."""
    market, rounds = FEW[name], 40_000
    strategy, signal_model = (ABSENT_BY_BIT, NATURES[name]) if other else (None, None)
    found = simulate(market, rounds, seed=3, level=level, strategy=strategy, signal_model=signal_model)
    design = market.prior if name == "pair" else market.signal_model
    law = _counts_law(6, market.peers if strategy is None else strategy,
                      design if signal_model is None else signal_model)
    drawn = np.zeros_like(law)
    np.add.at(drawn, (found.ones, found.zeros), 1.0 / rounds)
    # Dvoretzky, Kiefer, Wolfowitz and Massart, over the pairs of counts in this order.
    away = np.abs(np.cumsum(drawn) - np.cumsum(law)).max()
    assert away <= np.sqrt(np.log(2.0 / alpha("market.simulation.counts", cases=len(CASES))) / (2.0 * rounds))
    assert found.truth.min() >= 0
    assert found.truth.max() <= 6


@pytest.mark.parametrize("name", FEW)
def test_rounds_are_paid_by_the_markets_rule(name: str) -> None:
    market = FEW[name]
    found = simulate(market, 300, seed=5, strategy=Strategy.randomised(0.5).thinned(0.5))
    assert found.ones.min() == found.zeros.min() == 0
    for ones, zeros, one, zero, total in zip(found.ones, found.zeros, found.for_one, found.for_zero, found.totals,
                                             strict=True):
        assert (one, zero, total) == pytest.approx(tuple(market.pay(int(ones), int(zeros))), rel=1e-12, abs=1e-12)
    shares = found.payments[:, :, 0]
    assert shares.sum() == pytest.approx(1.0)
    assert np.sum(shares * found.payments[:, :, 1]) == pytest.approx(found.mean_payment)


def test_aggregate_rounds_of_unknown_costs() -> None:
    """Acceptance 10."""
    found = simulate(SMALL, 400_000, seed=1)
    z = norm.isf(alpha("market.simulation.acceptance", cases=2) / 2.0)
    assert found.standard_error == pytest.approx(0.066, abs=0.001)
    assert abs(found.mean_total - 11.3140) < z * found.standard_error
    assert abs(found.error_rate - 0.20172) < z * np.sqrt(0.20172 * 0.79828 / 400_000)
    low, high = found.error_interval(0.999999)
    assert low < 0.20172 < high
    assert found.quantile(0.05) < found.mean_total < found.quantile(0.95)
    assert not found.types.size


def test_means_are_those_of_the_exact_code() -> None:
    z = norm.isf(alpha("market.simulation.means", cases=6) / 2.0)
    for name, market in FEW.items():
        for signal_model in (None, NATURES[name]):
            found = simulate(market, 20_000, seed=8, level="individual", signal_model=signal_model)
            expected = 6 * float(np.sum(market.interim_matrix(None, signal_model) * market.peers.channel))
            assert abs(found.mean_total - expected) < z * found.standard_error


def test_what_each_tenth_of_the_types_earns() -> None:
    runs = [simulate(SMALL, 4_000, seed=k, level="individual") for k in range(30)]
    middles = SMALL.cost_law.quantile(SMALL.presence * (np.arange(2000).reshape(10, 200) + 0.5) / 2000)
    utility = np.array([run.types[:, 2] for run in runs]) - np.mean(SMALL.utility_of(middles), axis=1)
    tail = student.isf(alpha("market.simulation.types", cases=10) / 2.0, df=len(runs) - 1)
    assert np.all(np.abs(utility.mean(axis=0)) < tail * utility.std(axis=0, ddof=1) / np.sqrt(len(runs)))
    for run in runs:
        people, paid, earned = run.types.T
        assert people.sum() == (run.ones + run.zeros).sum()
        assert people @ paid == pytest.approx(run.totals.sum(), rel=1e-9)
        # What a level costs hardly varies within a tenth.
        assert paid - earned == pytest.approx(np.mean(middles * SMALL.level_of(middles), axis=1), rel=0.05)


def test_everybody_reports_the_same() -> None:
    """The collusive equilibria: paid, and of no use."""
    for name, market in FEW.items():
        found = simulate(market, 50, seed=2, strategy=Strategy.always("1"))
        assert np.all(found.totals == market.pay(ones=6, zeros=0).total)
        if name != "pair":
            assert np.array_equal(found.wrong, found.state == 0)
        nobody = simulate(market, 50, seed=2, strategy=Strategy.always("none"), level="individual")
        assert not nobody.totals.any()
        assert nobody.mean_payment == 0.0
        assert not nobody.payments.any()
        assert not nobody.types.size


def test_many_people_whose_attendance_depends_on_the_state() -> None:
    """Attendances of the two states are 10^8 apart: payments are not tabulated in between."""
    market = MajorityMarket(10**9, 0.8, 0.7, COST, 1.0, presence=0.5)
    found = simulate(market, 20, seed=1, strategy=Strategy(np.array([[0.2, 0.1], [0.1, 0.4], [0.7, 0.5]])))
    assert np.ptp(found.ones + found.zeros) > 10**8
    assert np.all((found.for_one > 0) != (found.for_zero > 0))


def test_people_beyond_one_part() -> None:
    """300,000 people are drawn in two parts."""
    market = ThresholdMarket(300_000, 0.8, 0.7, UniformLaw(0.0, 2.0), epsilon=1.0, participation=0.4)
    once, again = (simulate(market, 2, seed=6, level="individual") for _ in range(2))
    for field in ("state", "truth", "ones", "zeros", "for_one", "wrong", "types"):
        assert np.array_equal(getattr(once, field), getattr(again, field))
    assert not np.array_equal(once.ones, simulate(market, 2, seed=7, level="individual").ones)
    share = (once.ones + once.zeros) / 300_000
    z = norm.isf(alpha("market.simulation.parts", cases=4) / 2.0)
    assert np.all(np.abs(share - 0.4) < z * np.sqrt(0.4 * 0.6 / 300_000))
    held = np.where(once.state == 1, 0.8, 0.2)
    assert np.all(np.abs(once.truth / 300_000 - held) < z * np.sqrt(0.8 * 0.2 / 300_000))


def test_error_intervals_at_the_ends() -> None:
    some = simulate(FEW["majority"], 100, seed=1)
    never, always = (replace(some, wrong=np.full(100, each)) for each in (False, True))
    assert never.error_interval() == (0.0, pytest.approx(1.0 - 0.025 ** 0.01))  # Clopper and Pearson at 0 of 100
    assert always.error_interval() == (pytest.approx(0.025 ** 0.01), 1.0)
    pairs = simulate(FEW["pair"], 10, seed=1)
    assert np.isnan(pairs.error_rate)
    assert pairs.error_interval() == (0.0, 1.0)
    assert simulate(FEW["pair"], 1, seed=1).standard_error == np.inf


def test_bad_input() -> None:
    majority, pair = FEW["majority"], FEW["pair"]
    with pytest.raises(InvalidInput, match="LinearCost cannot be played"):
        simulate(COST, 10, seed=1)  # type: ignore[arg-type]
    for wrong, field in (({"rounds": 0}, "rounds"), ({"level": "each"}, "level"), ({"seed": -1}, "seed"),
                         ({"strategy": "always 1"}, "strategy"), ({"signal_model": pair.prior}, "signal_model")):
        with pytest.raises(InvalidInput) as refused:
            simulate(**{"market": majority, "rounds": 10, "seed": 1, **wrong})
        assert refused.value.field == field
    for signal_model in (SignalModel(0.5, 0.8), PairPrior.beta_binomial(2, 3, people=7)):
        with pytest.raises(InvalidInput, match="a PairPrior of 6 people"):
            simulate(pair, 10, seed=1, signal_model=signal_model)
    with pytest.raises(InvalidInput, match="law of the number of ones"):
        simulate(PairMarket(PairPrior(6, 0.4, 0.04), COST, 1.0), 10, seed=1)
    with pytest.raises(Refused, match="a single peer"):
        simulate(replace(pair, average=False), 10, seed=1)
