"""The integer release: contracts that keep their levels, her client, and the platform's sum."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from confide.acquisition.release.lattice import (
    COARSE,
    FINE,
    LatticeContract,
    aggregate,
    integer_contracts,
    lattice_for,
    message_of,
    perturb,
)
from confide.acquisition.release.losses import absentee_sigma
from confide.contract.errors import InvalidInput, NotGuaranteed, Refused
from confide.privacy.noise import Noise, RecordingNoise
from confide.privacy.noise.simulated import study_generator

from false_alarms import alpha

# Section 2's example: virtual costs (.4, .7, 1.2), gamma = 10, alpha = 2, VAR = 1/12.
WEIGHTS = [0.444494952334474258, 0.392756982839085497, 0.162748064826440243]
LEVELS = [1.982376303142914385, 1.324110272585295191, 0.419058322328971246]
PUBLIC = [0.70721552629945789, 0.55216128149351700, 0.094809048087705936]


def example(**other):
    return integer_contracts(WEIGHTS, LEVELS, 2.0, **other)


def lumpy(people: int, seed: int = 1):
    """Weights and levels of many people, some of whom do nothing."""
    generator = study_generator(seed, "lumpy")
    w = np.maximum(0.0, generator.normal(size=people)) * np.exp(generator.normal(size=people))
    w /= math.fsum(w)
    return w, np.where(w > 0, np.exp(generator.normal(size=people)), 0.0)


# ---- levels


def test_the_levels_that_are_delivered_are_the_contracts_but_for_three_parts_in_a_million() -> None:
    """Acceptance check 11."""
    contracts = example()
    assert contracts.lattice == COARSE
    assert contracts.epsilon_central == pytest.approx(PUBLIC, rel=1e-14)
    for made, promised in ((contracts.delivered_local, LEVELS), (contracts.delivered_central, PUBLIC)):
        assert (made <= promised).all()
        assert (made >= (1 - 3e-6) * np.array(promised)).all()


@pytest.mark.parametrize("order", [1.25, 2.0, 30.0])
def test_levels_recomputed_in_fractions(order: float) -> None:
    w, y = lumpy(60)
    contracts = integer_contracts(w, y, order)
    half, total = Fraction(order) / 2, sum(int(s) ** 2 for s in contracts.noise_std)
    t = 5 * (contracts.active - 1) * Fraction(1, 10**260)
    for k, i in enumerate(contracts.index):
        a, s = int(contracts.steps[k]), int(contracts.noise_std[k])
        assert half * Fraction(a, s) ** 2 <= Fraction(y[i])
        rest = (2 * Fraction(order) - 1) * t / (Fraction(order) - 1)
        assert half * Fraction(a * a, total) + rest <= Fraction(float(contracts.epsilon_central[k]))
    assert contracts.merging < t


def test_small_weights_have_the_least_noise_that_merges() -> None:
    w = np.array([1 - 2.0**-35, 2.0**-35, 2.0**-60])
    w[0] = 1 - w[1]
    contracts = integer_contracts(w, [1.0, 50.0, 1.0], 2.0)
    assert contracts.index.tolist() == [0, 1]
    assert contracts.noise_std[1] == 8
    assert not contracts.of(2).active
    assert 5 * math.exp(-math.pi**2 * 64) < float(contracts.merging) < 1e-260


def test_a_level_below_what_the_integers_deliver_is_no_contract() -> None:
    contracts = example()
    for name in ("epsilon_local", "epsilon_central"):
        with pytest.raises(NotGuaranteed, match=name.split("_")[1]):
            replace(contracts, **{name: getattr(contracts, name) * (1 - 3e-6)})
    with pytest.raises(NotGuaranteed, match="central"):
        example(epsilon_central=np.array(PUBLIC) * (1 - 3e-6))
    # Two small weights whose noise carries the sum lose a quarter of their steps on a coarse lattice.
    with pytest.raises(NotGuaranteed, match="central"):
        integer_contracts([0.5, 0.5 - 2.5e-6, 1.25e-6, 1.25e-6], [1.0, 1.0, 1e-13, 1e-13], 2.0, lattice=2**20)


def test_the_rule_takes_the_fine_lattice_where_rounding_would_reveal_something() -> None:
    w, y = np.array([1 - 3 * 2.0**-22, *[2.0**-22] * 3]), np.array([1.0, *[1e-14] * 3])
    # sum w/y = 1 + 3e14 2^-22 and S = about 1 + 3e14 2^-44: the quotient is above 2^19.
    assert integer_contracts(w, y, 2.0).lattice == FINE
    assert (lattice_for(1000, 200.0), lattice_for(2**19, 1.0), lattice_for(2**19 + 1, 1.0)) == (COARSE, COARSE, FINE)


def test_the_error_is_that_of_the_real_weights_but_for_two_parts_in_a_million() -> None:
    w, y = lumpy(40)
    contracts = integer_contracts(w, y, 2.0)
    active = w > 0
    exact = 0.2 * float(np.sum(w**2)) + float(np.sum(w[active] ** 2 / y[active]))
    assert 0 <= contracts.mse(0.2) / exact - 1 < 4e-6
    assert 0 < contracts.rounding_bias() < 40 * 2.0**-41 * 1.001


# ---- her client


def test_a_client_measures_the_clamped_record_in_steps_exactly() -> None:
    contract = LatticeContract(steps=2**50, noise_std=2**50, epsilon_local=1.0, epsilon_central=0.5, order=2.0,
                               low=-3.0, high=7.0)
    for record, center, clamped in (
        (-3.0, 0, False), (7, 2**50, False), (2, 2**49, False), (Fraction(-5, 2), 2**50 // 20, False),
        (np.float32(2.5), round(Fraction(11, 20) * 2**50), False), (np.int64(8), 2**50, True),
        (-math.inf, 0, True), (1e300, 2**50, True), (math.nextafter(7.0, 8.0), 2**50, True),
    ):
        observed = RecordingNoise(Noise.simulated(4))
        sent = perturb(record, contract, observed)
        assert observed.draws[0].center == (center,)
        assert observed.draws[0].scale == 2**50
        assert sent.message == observed.draws[0].value[0]
        assert sent.clamped is clamped
        assert contract.admits(sent.message)
        assert "clamped" not in repr(sent)
        assert len(sent.wire) == 8
        assert message_of(sent.wire) == sent.message
    with pytest.raises(InvalidInput, match=r"^wire"):
        message_of(sent.wire[1:])


@pytest.mark.parametrize("record", [math.nan, None, "1.5", True, 1j])
def test_an_unreadable_record_is_replaced_on_the_device_without_saying_it(record) -> None:
    with pytest.raises(InvalidInput, match="value: is not a number") as reported:
        perturb(record, example().of(0), Noise.simulated(1))
    assert "1.5" not in str(reported.value)
    assert "1j" not in str(reported.value)


def test_who_has_no_step_sends_nothing_and_shows_nothing() -> None:
    nothing = integer_contracts([1.0, 0.0], [1.0, 0.0], 2.0).of(1)
    assert not nothing.active
    sent = perturb(math.nan, nothing, Noise.simulated(1))
    assert (sent.message, sent.wire) == (None, b"")


def test_a_contract_that_exceeds_the_participants_level_is_none() -> None:
    sound = example().of(0)
    with pytest.raises(NotGuaranteed, match="local level"):
        replace(sound, noise_std=sound.noise_std // 2)
    for change, field in (({"noise_std": 7}, "noise_std"), ({"noise_std": 2**56}, "noise_std"),
                          ({"steps": -1}, "steps"), ({"order": 1.0}, "order"), ({"order": math.inf}, "order"),
                          ({"high": 0.0}, "high"),
                          ({"high": math.nan}, "high"), ({"epsilon_local": math.inf}, "epsilon_local")):
        with pytest.raises(InvalidInput, match=f"^{field}"):
            replace(sound, **change)
    assert not sound.admits(sound.steps + 65 * sound.noise_std)
    assert not sound.admits(0.0)
    assert not sound.admits(True)


# ---- the platform


def test_the_sum_is_exact_beyond_64_bits() -> None:
    n = 600
    contracts = integer_contracts(np.full(n, 1 / n), np.full(n, 1e-9), 2.0)
    sign = np.where(np.arange(n) % 3 == 0, -1, 1)
    messages = sign * (60 * contracts.noise_std) + np.arange(n)
    release = aggregate(contracts, contracts.index[::-1], messages[::-1])
    assert release.total == sum(messages.tolist())
    assert abs(release.total) > 2**55
    assert release.steps == contracts.total_steps
    assert release.estimate == pytest.approx(release.total / release.steps)
    wide = replace(release, low=-5.0, high=15.0)
    assert wide.estimate == pytest.approx(20 * release.estimate - 5)
    assert wide.clipped == 15.0


def test_noise_takes_the_place_of_absentees() -> None:
    contracts = example(lattice=2**20)
    observed = RecordingNoise(Noise.simulated(3))
    messages = np.array([400_000], dtype=np.int64)
    release = aggregate(contracts, [1], messages, observed)
    draw = observed.draws[0]
    absent = int(contracts.noise_std[0]) ** 2 + int(contracts.noise_std[2]) ** 2
    assert draw.scale**2 >= absent > (draw.scale - 1) ** 2
    assert release.total == 400_000 + draw.value[0]
    assert release.steps == contracts.steps[1]
    present = np.array([False, True, False])
    noise = float(draw.scale**2 + int(contracts.noise_std[1]) ** 2) / release.steps**2
    assert contracts.mse(0.25, present) == pytest.approx(0.25 + noise, rel=1e-9)
    assert contracts.mse(0.25, ~np.ones(3, dtype=bool)) == math.inf
    with pytest.raises(Refused, match="give noise for the missing message"):
        aggregate(contracts, [1], messages)
    with pytest.raises(Refused, match="nobody"):
        aggregate(contracts, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), observed)
    assert absentee_sigma(np.array([3, 4])) == 5
    assert absentee_sigma(np.array([3, 4, 1])) == 6


def test_what_is_no_message_of_these_contracts() -> None:
    contracts = integer_contracts([0.5, 0.0, 0.5], [1.0, 0.0, 1.0], 2.0)
    good = np.array([1, 2])
    far = np.array([2**62, 2])
    for index, messages, field in (
        ([0, 1], good, "index"), ([0, 0], good, "index"), ([0, 3], good, "index"), ([0, -1], good, "index"),
        ([0], good, "messages"), ([0, 2], good.astype(float), "messages"), ([0, 2], far, "messages"),
        ([0, 2], -far, "messages"), ([0, 2], np.array([2**70, 1], dtype=object), "messages"),
    ):
        with pytest.raises(InvalidInput, match=f"^{field}"):
            aggregate(contracts, index, messages, Noise.simulated(1))


# ---- bad input


@pytest.mark.parametrize(("field", "change"), [
    ("weights", {"weights": []}), ("weights", {"weights": [0.5, 0.4, 0.2]}), ("weights", {"weights": [1.5, -0.5, 0.0]}),
    ("weights", {"weights": [math.nan, 0.5, 0.5]}), ("weights", {"weights": ["a", "b", "c"]}),
    ("epsilon_local", {"epsilon_local": [1.0, 1.0]}), ("epsilon_local", {"epsilon_local": [1.0, 0.0, 1.0]}),
    ("epsilon_local", {"epsilon_local": [1.0, math.inf, 1.0]}), ("epsilon_local", {"epsilon_local": [1e-300] * 3}),
    ("order", {"order": 1.0}), ("order", {"order": math.inf}), ("order", {"order": math.nan}),
    ("high", {"low": 1.0, "high": 1.0}), ("high", {"low": -1.7e308, "high": 1.7e308}),
    ("lattice", {"lattice": 2**51}), ("lattice", {"lattice": 1000}),
    ("epsilon_central", {"epsilon_central": [math.inf] * 3}), ("epsilon_central", {"epsilon_central": [1.0]}),
])
def test_bad_input_is_named(field: str, change: dict) -> None:
    with pytest.raises(InvalidInput, match=f"^{field}"):
        integer_contracts(**({"weights": WEIGHTS, "epsilon_local": LEVELS, "order": 2.0} | change))


# ---- the law of the estimate


def test_the_error_of_many_releases_is_the_formulas() -> None:
    """Acceptance check 10, in standard errors of the suite's budget: 20 people, records uniform."""
    w, y = lumpy(20, seed=7)
    contracts, runs = integer_contracts(w, y, 2.0), 200_000
    records = study_generator(5, "records").random((contracts.active, runs))
    total = np.zeros(runs)
    for k in range(contracts.active):
        noise = Noise.simulated(6).discrete_gaussian(int(contracts.noise_std[k]), runs, stream=("record", k))
        total += np.rint(contracts.steps[k] * records[k]) + noise
    errors = (total / contracts.total_steps - 0.5) ** 2
    least = norm.isf(alpha("acquisition.release.error") / 2)
    assert abs(errors.mean() - contracts.mse(1 / 12)) < least * errors.std() / math.sqrt(runs)
