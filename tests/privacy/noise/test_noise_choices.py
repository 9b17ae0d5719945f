"""Draws from finite laws: exact integers, whatever the law."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from confide.contract import InvalidInput
from confide.privacy.noise import Noise, choices

SIX = np.array([0.0, -1.0, -3.0, -6.0, 0.5, -50.0])


def test_a_selection_has_the_stated_law(entropy):
    # spec query_release, acceptance 11: 200,000 draws, chi-square p > 1e-4
    drawn = choices.select(SIX, 200_000, entropy(1))
    law = np.exp(SIX) / np.exp(SIX).sum()
    counts = np.bincount(drawn, minlength=6)
    assert counts[5] == 0  # e^-50.5 of the draws
    assert stats.chisquare(counts[:5], law[:5] / law[:5].sum() * 200_000).pvalue > 1e-4
    off = np.exp(0.97 * SIX)  # control: the same draws do not follow a law that is 3 % flatter
    assert stats.chisquare(counts[:5], off[:5] / off[:5].sum() * 200_000).pvalue < 1e-9


@pytest.mark.parametrize("answer", [True, False])
def test_each_weight_is_its_sure_places_and_its_part_exactly(monkeypatch, answer):
    """All places below the sum of the integer weights, once each: what is kept for sure, and with what probability."""
    monkeypatch.setattr(choices, "_FINE", 5)
    logits = np.array([0.0, -0.3, -1.0, -1.0, -2.7, -9.0])
    weights = [Fraction(w) * 32 for w in choices.relative_weights(logits)]
    expected = [math.ceil(w) if answer else math.floor(w) for w in weights]
    asked = []

    def part(bound, entropy):
        asked.append(Fraction(bound))
        return answer

    monkeypatch.setattr(choices, "_below", lambda total, count, entropy: list(range(total)))
    monkeypatch.setattr(choices, "_falls_below", part)
    kept = choices.select(logits, sum(expected), None)
    assert np.bincount(kept, minlength=6).tolist() == expected
    assert asked == [w - math.floor(w) for w in weights if w.denominator > 1]


def test_equal_scores_have_equal_weights_and_wide_gaps_are_kept(entropy):
    assert np.unique(choices.relative_weights(np.full(1000, 123.456))).tolist() == [1.0]
    assert choices.relative_weights(np.array([0.0, -1e4]))[1] == np.exp(-700.0) > 0
    assert choices.select(np.array([-1e4, 0.0]), 50, entropy(2)).tolist() == [1] * 50
    assert choices.select(np.array([3.0]), 5, entropy(3)).tolist() == [0] * 5


def test_a_part_is_decided_by_as_many_bits_as_it_takes(entropy):
    assert choices._falls_below(0.5, entropy(given=bytes(8)))
    assert not choices._falls_below(0.5, entropy(given=b"\xff" * 8))
    tiny = 2.0**-70
    undecided = entropy(given=bytes(8) + b"\xff" * 8)  # 64 zeros could still be below 2^-70; the next 64 ones are not
    assert not choices._falls_below(tiny, undecided)
    assert undecided.requests == 2
    assert choices._falls_below(tiny, entropy(given=bytes(16)))
    share = np.mean([choices._falls_below(0.3, entropy(k)) for k in range(4000)])
    assert abs(share - 0.3) < 6 * np.sqrt(0.21 / 4000)


def test_integers_below_a_private_total_are_unbiased(entropy):
    drawn = np.array(choices._below(7, 70_000, entropy(4)))
    assert stats.chisquare(np.bincount(drawn, minlength=7)).pvalue > 1e-4
    # 2^128 = 7 q + 4: products whose low part is below 4 are redrawn, so that 0 and its kin are not favoured.
    assert choices._below(7, 1, entropy(given=bytes(16) + (2**127).to_bytes(16, "little"))) == [3]


@pytest.mark.parametrize("total", [1, 2, 3, 7, 2**62 - 1, 2**62])
def test_uniform_integers_stay_below_their_total(total, entropy):
    drawn = choices.uniform_below(total, 5000, entropy(5))
    assert drawn.min() >= 0
    assert drawn.max() < total
    cells = np.bincount((drawn // -(-total // 4)).astype(int), minlength=4)[: min(total, 4)]
    if total >= 2**60:
        assert stats.chisquare(cells).pvalue > 1e-6


@pytest.mark.parametrize("outputs", [1, 2, 3, 5, 8, 13])
def test_a_channel_reads_its_table(outputs):
    rng = np.random.default_rng(outputs)
    table = rng.integers(0, 4, (4, outputs))
    table[:, -1] += 40 - table.sum(axis=1)
    inputs, uniforms = rng.integers(0, 4, 3000), rng.integers(0, 40, 3000)
    expected = [np.searchsorted(np.cumsum(table[i]), u, side="right") for i, u in zip(inputs, uniforms, strict=True)]
    assert choices.channel_outputs(table, inputs, uniforms).tolist() == expected


def test_every_uniform_integer_counts_once():
    table = np.array([[3, 0, 5, 2], [0, 10, 0, 0]])
    for row in (0, 1):
        out = choices.channel_outputs(table, np.full(10, row), np.arange(10))
        assert np.bincount(out, minlength=4).tolist() == table[row].tolist()


def test_blocks_change_nothing(monkeypatch):
    table = np.array([[1, 2, 3], [3, 2, 1]])
    inputs = np.arange(1000) % 2
    whole = Noise.simulated(1).channel(table, inputs, stream="a")
    monkeypatch.setattr(choices, "_BLOCK", 77)
    assert np.array_equal(whole, Noise.simulated(1).channel(table, inputs, stream="a"))


@pytest.mark.parametrize(("arguments", "field"), [
    (([[1, 2], [2, 2]], [0]), "table"), (([[-1, 2]], [0]), "table"), (([[0, 0]], [0]), "table"),
    (([[0.5, 0.5]], [0]), "table"), (([[2**62, 1]], [0]), "table"), ((np.zeros((0, 2), int), []), "table"),
    (([[1, 1]], [1]), "inputs"), (([[1, 1]], [-1]), "inputs"), (([[1, 1]], [[0]]), "inputs"),
    (([[1, 1]], [0.0]), "inputs"),
])
def test_channels_that_are_refused(arguments, field):
    noise = Noise.simulated(1)
    with pytest.raises(InvalidInput) as caught:
        noise.channel(*arguments, stream="x")
    assert caught.value.field == field
    noise.channel([[1, 1]], [0], stream="x")  # a refused call uses nothing up


@pytest.mark.parametrize("logits", [[], [[1.0]], [1.0, np.nan], [np.inf], ["a"]])
def test_logits_that_are_refused(logits):
    with pytest.raises(InvalidInput) as caught:
        Noise.simulated(1).selection(logits, stream="x")
    assert caught.value.field == "logits"


def test_messages_never_quote_private_inputs():
    with pytest.raises(InvalidInput) as caught:
        Noise.simulated(1).channel([[1, 1]], [0, 987654], stream="x")
    assert "987654" not in str(caught.value)
    with pytest.raises(InvalidInput) as caught:
        Noise.simulated(1).selection([31415.0, np.nan], stream="x")
    assert "31415" not in str(caught.value)
