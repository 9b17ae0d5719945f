"""Public coins, and how many of those who ask can have a good."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from cases import fast
from confide.allocation.soft_demand import rates
from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.privacy.public_randomness import (
    PUBLIC_RANGE,
    draw_public_seed,
    is_public_seed,
    public_number_of,
    public_numbers,
)

from false_alarms import alpha


def test_a_coin_is_the_same_alone_and_among_all():
    seed = draw_public_seed(Noise.simulated(1))
    assert is_public_seed(seed)
    together = public_numbers(seed, 1001)
    assert together.dtype == np.uint32
    assert len(together) == 1001
    assert [public_number_of(seed, i) for i in (0, 7, 8, 999, 1000)] == together[[0, 7, 8, 999, 1000]].tolist()
    assert (public_numbers(seed, 500) == together[:500]).all()


def test_coins_are_those_of_the_digest():
    import hashlib

    digest = hashlib.sha256(bytes(32) + (1).to_bytes(8, "little")).digest()
    assert public_number_of("00" * 32, 9) == int.from_bytes(digest[4:8], "little")


def test_seeds_differ_and_coins_are_uniform():
    assert draw_public_seed(Noise.simulated(1)) != draw_public_seed(Noise.simulated(2))
    share = (public_numbers(draw_public_seed(Noise.simulated(3)), 100_000) < PUBLIC_RANGE // 4).mean()
    assert abs(share - 0.25) < math.sqrt(math.log(2 / alpha("allocation.coins")) / (2 * 100_000))


@pytest.mark.parametrize("seed", ["", "00" * 31, "00" * 33, "0G" * 32, "AB" * 32, " 0" * 32, 7, None])
def test_what_is_no_seed_is_refused(seed):
    assert not is_public_seed(seed)
    with pytest.raises(InvalidInput, match="seed"):
        public_numbers(seed, 3)
    with pytest.raises(InvalidInput, match="seed"):
        public_number_of(seed, 0)


def failure(supply: int, people: int, scale: float, limit: float) -> float:
    """P[more than `supply` get it], with so many who ask: the sum over the noise, exactly up to 1e-12."""
    reach = math.ceil(scale * 40)
    noise = np.arange(-reach, reach + 1)
    law = (1 - math.exp(-1 / scale)) / (1 + math.exp(-1 / scale)) * np.exp(-np.abs(noise) / scale)
    at = rates(people + noise, (supply,) * len(noise), scale, limit) / PUBLIC_RANGE
    return float(law @ binom.sf(supply, people, at))


@pytest.mark.parametrize(("supply", "scale", "limit"),
                         fast(3, [(100, 3.0, 1e-3), (20, 0.2, 0.01), (1000, 5.0, 5e-4), (5, 0.05, 0.1),
                                  (400, 8.0, 1e-5), (4000, 3.0, 1e-4), (50, 1.0, 1e-8)]))
def test_more_than_the_supply_is_given_with_the_probability_that_is_promised(supply, scale, limit):
    asking = {supply - 3, supply, supply + 1, supply + math.ceil(scale), round(1.02 * supply), round(1.1 * supply),
              round(1.3 * supply), 2 * supply, 5 * supply, 50 * supply}
    found = [failure(supply, people, scale, limit) for people in sorted(asking) if people >= 0]
    assert max(found) <= limit
    assert max(found) > limit / 1000  # and not by far less


def test_the_bound_is_nearer_than_two_that_share_the_probability():
    supply, scale, limit = 4000, 3.0, 5e-4
    reach = math.ceil(scale * math.log(2 / limit))
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if binom.sf(supply, 4200 + reach, middle) <= limit / 2 else (low, middle)
    assert rates(np.array([4200]), (supply,), scale, limit)[0] / PUBLIC_RANGE > low + 0.001


def test_rates_fall_as_more_ask_and_stay_within_bounds():
    asked = np.arange(-50, 3000, 7)
    found = rates(asked, (400,) * len(asked), 4.0, 1e-3)
    assert (np.diff(found) <= 0).all()
    assert found[0] == PUBLIC_RANGE
    assert 0 < found[-1] < PUBLIC_RANGE / 5
    assert rates(np.array([3]), (3,), 500.0, 1e-3).tolist() == [0]  # noise far above the supply: nobody


def test_rates_are_the_same_in_any_company():
    asked = study_generator(5, "asked").integers(0, 900, 40)
    together = rates(asked, (300,) * 40, 2.5, 1e-3)
    assert [int(rates(asked[i : i + 1], (300,), 2.5, 1e-3)[0]) for i in range(40)] == together.tolist()


def test_bad_arguments_of_rates():
    for scale, limit, supply in ((0.0, 0.1, 3), (1.0, 0.0, 3), (1.0, 1.0, 3), (1.0, 0.1, 0)):
        with pytest.raises(InvalidInput):
            rates(np.array([3]), (supply,), scale, limit)
