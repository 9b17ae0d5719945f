"""An answer shows by nothing but the draw: what browsers refuse to follow, and the reference with them."""

from __future__ import annotations

import pytest

from confide.contract.errors import InvalidInput
from confide.privacy.device_odds import check_instructions, device_odds
from device.engines import run
from device.refused_instructions import FOLLOWED, LEVELS, OWN, REFUSED


def test_both_refuse_the_same() -> None:
    reported = {**FOLLOWED, **REFUSED}
    answers = run([{"call": "terms", "instructions": each, "draws": 1, "bytes": ""} for each in reported.values()])
    for (name, instructions), answer in zip(reported.items(), answers, strict=True):
        assert bool(answer["problem"]) is (name in REFUSED), (name, answer)
        if name in FOLLOWED:
            check_instructions(instructions)
            device_odds(instructions)
            continue
        for reads in (check_instructions, device_odds):
            with pytest.raises(InvalidInput, match=r"^instructions: "):
                reads(instructions)


@pytest.mark.slow
@pytest.mark.parametrize("call", ["follow", "preview", "terms"])
def test_whatever_is_answered_it_is_refused(call: str) -> None:
    """Before anything is typed, so that it is no matter which answer is."""
    typed = [{"answer": each, "worth": "0.5"} for each in ("", "1", "2", "3")]
    for name, instructions in REFUSED.items():
        cases = [{"call": call, "instructions": instructions, "typed": each, "draws": 1, "bytes": "00" * 200}
                 for each in typed]
        problems = {(answer["problem"], answer["used"]) for answer in run(cases)}
        assert len(problems) == 1, name
        assert "" not in {problem for problem, _ in problems}


@pytest.mark.slow
def test_every_answer_leaves_a_report_where_another_does() -> None:
    """By instructions that are followed, whether a report leaves depends on her answer no more than its length does."""
    for name, instructions in FOLLOWED.items():
        for worth in ("0.5", "1", "1.5", "", "much"):
            given = instructions.get("answers", ["0", "80", "-7"])
            answers = run([{"call": "follow", "instructions": instructions, "typed": {instructions["input"]: each,
                            "worth": worth}, "draws": 1, "bytes": "5a" * 4000} for each in given])
            shown = {(answer["problem"], *(bool(row) for each in answer["found"] for row in each["row"].values()))
                     for answer in answers}
            assert len(shown) == 1, (name, worth, answers)


def test_a_device_says_what_shows_without_noise() -> None:
    """Where she is asked what privacy is worth to her, whether it is above the threshold shows."""
    own, one = run([{"call": "terms", "instructions": each, "draws": 1, "bytes": ""} for each in (
        OWN, FOLLOWED["one level"])])
    assert own["found"][0]["threshold"] == LEVELS["threshold"]
    assert "threshold" not in one["found"][0]
