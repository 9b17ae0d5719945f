"""Exact draws from bytes that the test gives, and from seeded ones by their law."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from confide.contract.errors import InvalidInput
from confide.contract.metered import Overspent
from confide.privacy.noise import Noise, RecordingNoise, choices
from confide.privacy.noise.discrete import ball_gaussian, ball_laplace, draw
from confide.privacy.noise.recorded import PassingNoise
from confide.privacy.primitives import add_laplace, add_missing_noise, add_vector_laplace

Maker = Callable[..., choices.Entropy]


def little(number: int, width: int) -> bytes:
    return number.to_bytes(width, "little")


def test_a_product_whose_rest_is_too_small_is_drawn_again(entropy: Maker) -> None:
    total = 3  # 2^128 mod 3 is 1: only the product 0 is rejected
    source = entropy(1, given=little(0, 16) + little(1, 16) + little(2**128 - 1, 16) + little(2**127, 16))
    assert choices._below(total, 3, source) == [0, 2, 1]
    assert source.requests == 2
    large = 3 << 125  # the products 0, 3/8, 6/8, ... of 2^128: a rest below 2^128 mod total is rejected
    most = (1 << 128) % large
    given = [0, 1, 2, 3, 5, 8, 13, 2**100 + 1, 2**127 + 1]
    kept = [number * large >> 128 for number in given if number * large % (1 << 128) >= most]
    assert 0 < len(kept) < len(given)
    source = entropy(1, given=b"".join(little(number, 16) for number in given))
    assert choices._below(large, len(kept), entropy(1, given=source.given[: 16 * len(kept)])) is not None
    source = entropy(1, given=b"".join(little(number, 16) for number in given))
    assert choices._below(large, len(given), source)[: len(kept)] == kept


@pytest.mark.parametrize(("bound", "leading", "below"), [
    (0.5, [2**63], False), (0.5, [2**63 - 1], True), (0.5, [0], True), (0.5, [2**64 - 1], False), (0.0, [0], False),
    (2.0**-70, [0, 2**58 - 1], True), (2.0**-70, [0, 2**58], False), (2.0**-70, [1], False),
    (2.0**-64 + 2.0**-66, [1, 2**62 - 1], True), (2.0**-64 + 2.0**-66, [1, 2**62], False),
])
def test_a_uniform_number_is_drawn_until_it_is_decided(
    entropy: Maker, bound: float, leading: list[int], below: bool
) -> None:
    source = entropy(3, given=b"".join(little(word, 8) for word in leading))
    assert choices._falls_below(bound, source) is below
    assert source.requests == len(leading)


@pytest.mark.parametrize("total", [1, 2, 3, 7, 8, 9, 2**40])
def test_uniform_integers_are_the_first_bits_of_words(entropy: Maker, total: int) -> None:
    given = [int(word) for word in np.random.default_rng(5).integers(0, 2**63, 50)]
    bits = max(1, (total - 1).bit_length())
    kept = [word >> (64 - bits) for word in given if word >> (64 - bits) < total]
    found = choices.uniform_below(total, len(given), entropy(1, given=b"".join(little(word, 8) for word in given)))
    assert found[: len(kept)].tolist() == kept
    assert len(found) == len(given)
    assert found.dtype == np.int64


def test_a_place_belongs_to_its_item_in_whatever_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choices, "_ROOM", 4)
    exact = np.random.default_rng(1).uniform(0.0, 5.0, 11)
    exact[[0, 5]] = 0.0
    whole = np.ceil(exact).astype(np.int64)
    ends = np.cumsum([whole[start : start + 4].sum() for start in range(0, 11, 4)])
    starts = np.concatenate([[0], np.cumsum(whole)])
    places = np.random.default_rng(2).permutation(int(whole.sum()))
    found, within = choices._located(exact, ends, places)
    items = [next(item for item in range(11) if starts[item] <= place < starts[item + 1]) for place in places.tolist()]
    assert found.tolist() == items
    assert within.tolist() == [place - int(starts[item]) for place, item in zip(places.tolist(), items, strict=True)]
    none, nothing = choices._located(exact, ends, np.zeros(0, dtype=np.int64))
    assert (none.size, nothing.size) == (0, 0)


def test_choices_follow_their_weights_over_blocks(monkeypatch: pytest.MonkeyPatch, entropy: Maker) -> None:
    monkeypatch.setattr(choices, "_ROOM", 4)
    logits = np.log(np.array([1.0, 2.0, 3.0, 0.5, 0.25, 4.0, 1.5, 1.0, 2.5]))
    found = choices.select(logits, 30_000, entropy(11))
    assert (found.size, found.dtype) == (30_000, np.int64)
    weights = np.exp(logits)
    assert chisquare(np.bincount(found, minlength=9), weights / weights.sum() * 30_000).pvalue > 1e-6


@pytest.mark.parametrize("height", [1, 3])
def test_choices_follow_their_weights_where_the_last_unit_counts(
    monkeypatch: pytest.MonkeyPatch, entropy: Maker, height: int
) -> None:
    """With coarse units nearly half of the draws are decided by the uniform number within the last unit."""
    monkeypatch.setattr(choices, "_FINE", height)
    weights = np.array([1.0, 0.3, 0.05, 0.7])
    found = choices.select(np.log(weights), 20_000, entropy(4))
    assert found.size == 20_000
    assert chisquare(np.bincount(found, minlength=4), weights / weights.sum() * 20_000).pvalue > 1e-6


@pytest.mark.parametrize(("law", "scale"), [
    ("discrete_gaussian", Fraction(7, 3)), ("discrete_gaussian", Fraction(1, 3)), ("discrete_laplace", Fraction(5, 3))])
def test_scales_that_are_no_doubles_have_their_law(entropy: Maker, law: str, scale: Fraction) -> None:
    found = draw(law, scale, 4000, entropy(8))  # type: ignore[arg-type]
    assert (found.size, found.dtype) == (4000, np.int64)
    points = np.arange(-60, 61)
    gaussian = law == "discrete_gaussian"
    mass = np.exp(-(points**2) / (2 * float(scale) ** 2) if gaussian else -np.abs(points) / float(scale))
    mass /= mass.sum()
    seen = Counter(found.tolist())
    often = points[mass * 4000 >= 5]
    counts = [seen[point] for point in often.tolist()]
    expected = [float(mass[point + 60]) * 4000 for point in often.tolist()]
    counts.append(4000 - sum(counts))
    expected.append(4000 - math.fsum(expected))
    if expected[-1] < 5:
        counts[-2:], expected[-2:] = [sum(counts[-2:])], [math.fsum(expected[-2:])]
    assert chisquare(counts, expected).pvalue > 1e-6


def test_exactly_as_many_draws_as_asked(entropy: Maker) -> None:
    for count in (1, 2, 5):
        assert len(ball_gaussian(Fraction(7, 3), count, entropy(2))) == count
        assert len(ball_laplace(Fraction(7, 3), count, entropy(2))) == count


def test_noise_that_wraps_noise_asks_for_integers_in_full() -> None:
    noise = RecordingNoise(Noise.simulated(3))
    assert isinstance(noise, PassingNoise)
    found = noise._integers("discrete_laplace", Fraction(2), (3,), ("a",))
    assert found.tolist() == Noise.simulated(3).discrete_laplace(2, 3, stream="a").tolist()
    (one,) = noise.draws
    assert (one.law, one.scale, one.shape, one.stream) == ("discrete_laplace", Fraction(2), (3,), ("a",))


def test_a_split_is_recorded_as_what_it_is() -> None:
    noise = RecordingNoise(Noise.simulated(1))
    groups = noise.split(7, stream="halves")
    assert groups.sum() == 4
    (one,) = noise.draws
    assert (one.law, one.stream, one.scale, one.shape, one.grid) == ("split", ("halves",), Fraction(0), (7,), -1)


def test_missing_noise_is_added_to_the_sum() -> None:
    noise = Noise.replayed({"absentees": [5]})
    assert add_missing_noise(noise, 100, 3, missing_variance=9) == 105
    with pytest.raises(Overspent, match="a variance of 9"):
        add_missing_noise(Noise.replayed({"absentees": [5]}), 100, 3, missing_variance=10)


def test_noise_is_added_around_the_center_on_a_grid() -> None:
    plain = Noise.simulated(4).laplace(2.0, 2, stream="a", center=[1.0, -3.0])
    assert add_laplace(Noise.simulated(4), [1.0, -3.0], noise_scale=2.0, l1_sensitivity=1, stream="a").tolist() == \
        plain.tolist()
    noise = RecordingNoise(Noise.simulated(4))
    add_laplace(noise, [1.0, -3.0], noise_scale=2.0, l1_sensitivity=1, stream="a")
    found = add_vector_laplace(noise, [1.0, -3.0], noise_scale=2.0, l2_sensitivity=1, stream="b", stretch=[1.0, 4.0])
    assert [(one.grid, [float(point) for point in one.center]) for one in noise.draws] == [(30, [1.0, -3.0])] * 2
    own = Noise.simulated(4).vector_laplace(2.0, 2, stream="b", center=[1.0, -3.0], stretch=[1.0, 4.0])
    assert found.tolist() == own.tolist()


@pytest.mark.parametrize(("stored", "ask", "words"), [
    (["x"], lambda noise: noise.laplace(1.0, 1, stream="a"), "must be numbers|no number|not numbers|finite numbers"),
    ([0.5], lambda noise: noise.discrete_laplace(1.0, 1, stream="a"), "must be whole numbers"),
    ([0.5], lambda noise: noise.words(1, stream="a"), "must be whole numbers"),
    ([1], lambda noise: noise.split(1, stream="a"), "must be booleans"),
    ([True], lambda noise: noise.laplace(1.0, 1, stream="a"), "must be numbers"),
    ([True], lambda noise: noise.exponential(1, stream="a"), "must be numbers"),
    ([True, True], lambda noise: noise.vector_laplace(1.0, 2, stream="a"), "must be numbers"),
    ([-1], lambda noise: noise.selection([0.0, 0.0], 1, stream="a"), r"must be in 0\.\.1"),
    ([2], lambda noise: noise.selection([0.0, 0.0], 1, stream="a"), r"must be in 0\.\.1"),
])
def test_replayed_draws_of_another_kind_are_refused(
    stored: list[object], ask: Callable[[Noise], object], words: str
) -> None:
    with pytest.raises(InvalidInput, match=words):
        ask(Noise.replayed({"a": stored}))
