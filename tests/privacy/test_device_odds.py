"""What leaves a device beside what was typed: the odds that pages show, against exact numbers and against draws."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from confide.contract import kind
from confide.privacy.device_odds import AnswerOdds, NoiseSize, device_odds, of_hundred
from people.all_kinds import campaign_of
from people.device_follower import truth_of


def response(level: Fraction, answers: tuple[str, ...] = ("no", "yes")) -> dict[str, Any]:
    """Instructions at one level."""
    return {"law": "response", "answers": list(answers), "column": "report", "input": "answer",
            "epsilon": {"numerator": str(level.numerator), "denominator": str(level.denominator)}}


def lattice(steps: int, sigma: int, low: str = "0", high: str = "80") -> dict[str, Any]:
    """Instructions for a number."""
    return {"law": "lattice", "low": low, "high": high, "steps": str(steps), "sigma": str(sigma), "column": "record",
            "input": "record"}


@given(st.fractions(0, 30))
def test_the_odds_are_those_of_the_exact_channel(level: Fraction) -> None:
    found = device_odds(response(level))
    assert isinstance(found, AnswerOdds)
    assert found.most == found.least == found.guessed
    assert found.most == pytest.approx(float(truth_of(level)), rel=1e-12)
    assert found.most + found.other[1] == pytest.approx(1.0)


@pytest.mark.parametrize("answers", [3, 5])
def test_of_many_answers_each_other_one_is_as_likely(answers: int) -> None:
    found = device_odds(response(Fraction(1), tuple("abcde"[:answers])))
    assert isinstance(found, AnswerOdds)
    assert found.most / found.other[1] == pytest.approx(math.e)
    assert found.most + (answers - 1) * found.other[1] == pytest.approx(1.0)


def test_where_a_device_chooses_its_level_both_ends_are_reported() -> None:
    campaign = campaign_of("bits-unknown-costs")
    reported = campaign.file.kind.device(campaign.file.config, campaign.plan)
    found = device_odds(reported)
    assert isinstance(found, AnswerOdds)
    market = campaign.plan.market
    assert found.least == pytest.approx(1.0 / (1.0 + math.exp(-market.epsilon)))
    assert found.most == pytest.approx(1.0 / (1.0 + math.exp(-market.largest_level)))
    assert found.least < found.most == found.guessed


@pytest.mark.parametrize(("steps", "sigma"), [(1, 8), (16, 8), (17, 8), (1000, 300), (1000, 8)])
def test_how_far_noise_goes_is_summed_exactly(steps: int, sigma: int) -> None:
    found = device_odds(lattice(steps, sigma))
    assert isinstance(found, NoiseSize)
    at = np.arange(-40 * sigma - steps, 40 * sigma + 2 * steps)
    mass = np.exp(-0.5 * (at / sigma) ** 2)
    mass /= mass.sum()
    unit = 80.0 / steps
    for share, size in ((0.5, found.half), (0.95, found.most)):
        inside = mass[np.abs(at) <= round(size / unit)].sum()
        less = mass[np.abs(at) <= round(size / unit) - 1].sum()
        assert less < share <= inside + 1e-12
    assert found.deviation == pytest.approx(math.sqrt((mass * at**2).sum()) * unit, rel=1e-9)
    other = np.exp(-0.5 * ((at - steps) / sigma) ** 2)
    other /= other.sum()
    assert found.guessed == pytest.approx(0.5 * (1.0 + 0.5 * np.abs(mass - other).sum()), abs=1e-12)


def test_noise_on_a_fine_lattice_is_as_good_as_continuous() -> None:
    fine, finer = (device_odds(lattice(1 << bits, 1 << bits)) for bits in (16, 40))
    assert isinstance(fine, NoiseSize)
    assert isinstance(finer, NoiseSize)
    for name in ("deviation", "half", "most", "guessed"):
        assert getattr(fine, name) == pytest.approx(getattr(finer, name), rel=1e-4)
    assert finer.guessed == pytest.approx(norm.cdf(0.5))
    assert finer.half == pytest.approx(80.0 * norm.ppf(0.75))


def test_a_participant_who_is_asked_for_nothing_has_no_odds() -> None:
    assert device_odds(lattice(0, 0)) is None


@given(st.floats(0.0, 1.0))
def test_words_say_never_and_always_of_these_alone(probability: float) -> None:
    shown = float(of_hundred(probability))
    assert abs(shown - 100.0 * probability) <= 0.5
    if 1e-8 < probability < 1.0 - 1e-8:
        assert 0.0 < shown < 100.0


def test_the_offer_and_the_page_give_the_same_odds() -> None:
    campaign = campaign_of("bits")
    found = device_odds(campaign.file.kind.device(campaign.file.config, campaign.plan))
    assert isinstance(found, AnswerOdds)
    reported = " ".join(text for section in campaign.offer() for block in section.blocks
                        for text in getattr(block, "paragraphs", ()))
    assert f"right at most {found.guessed:.1%} of the time" in reported
    assert kind("bits").template.count("epsilon = 1.0")
