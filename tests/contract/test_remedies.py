"""Remedies: rounded outward, tried as printed, left out or marked where they were not."""

from __future__ import annotations

import math
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.contract import remedies
from confide.contract.errors import InvalidInput, NotGuaranteed, Refused
from confide.contract.remedies import Remedy, accepted, first_that, outward, printed, retried, tried, trying, within

NUMBERS = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


@given(NUMBERS, st.integers(1, 12), st.booleans())
def test_outward_is_on_the_side_that_does_and_has_no_more_digits(number: float, digits: int, up: bool) -> None:
    found = outward(number, up=up, digits=digits)
    assert found >= number if up else found <= number
    assert float(f"{found:.{digits}g}") == found
    assert math.isclose(found, number, rel_tol=10.0 ** (1 - digits)) or found == number
    assert outward(found, up=up, digits=digits) == found


@given(NUMBERS, st.integers(3, 12), st.booleans())
def test_what_is_printed_reads_as_a_number_on_that_side(number: float, digits: int, up: bool) -> None:
    found = float(printed(number, up=up, digits=digits))
    assert found >= number if up else found <= number
    if up and number >= 0:
        low, high = within(number, number + 1.0).strip("[]").split(", ")
        assert number <= float(low)
        assert float(high) <= number + 1.0


def at_least(limit: float) -> Any:
    def call(value: float) -> float:
        if value < limit:
            raise InvalidInput("value", "is too small", "larger")
        return value
    return call


@given(st.floats(1e-6, 1e6), st.floats(0.2, 1.0), st.integers(2, 10))
def test_a_guess_that_is_too_low_goes_outward_until_it_does(limit: float, part: float, digits: int) -> None:
    (found,) = tried("value >= {value}", at_least(limit), digits=digits, value=part * limit)
    value = found.settings["value"]
    assert limit <= value == float(str(found).split(">= ")[1])
    assert value <= 17.0 * limit
    assert found.tried


def test_what_does_not_do_anywhere_near_is_no_remedy() -> None:
    assert tried("value >= {value}", at_least(100.0), value=1.0) == ()
    assert tried("value >= {value}", at_least(1.0), value=math.inf) == ()
    assert tried("value >= {value}", at_least(1.0), value=None) == ()


def test_whole_numbers_stay_whole_and_are_printed_in_full() -> None:
    (found,) = tried("{people} people and {value}", lambda people, value: people >= 12_346, people=12_345, value=0.5)
    assert isinstance(found.settings["people"], int)
    assert found.settings["people"] >= 12_346
    assert str(found).startswith("12,3")
    (fewer,) = tried("at most {people}", lambda people: people <= 7, up=False, people=9)
    assert fewer.settings == {"people": 7}


def test_a_long_try_is_marked_and_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(value: float) -> None:
        raise AssertionError("tried")

    (found,) = tried("value >= {value}", never, seconds=2.0, value=1.0)
    assert str(found) == "value >= 1 (untested)"

    begun = list[float]()

    def slowly(value: float) -> bool:
        begun.append(value)
        end = time.process_time() + 0.06
        while time.process_time() < end:
            math.sqrt(value)
        return False

    monkeypatch.setattr(remedies, "_PATIENCE", 0.1)
    assert tried("value >= {value}", slowly, value=1.0) == ()  # a guess near what was refused is no remedy
    assert len(begun) == 2


def test_waiting_for_the_machine_is_no_long_try(monkeypatch: pytest.MonkeyPatch) -> None:
    """What other processes take must not decide whether a refusal names a number."""
    def waits(value: float) -> bool:
        time.sleep(0.2)
        return value >= 2.0

    monkeypatch.setattr(remedies, "_PATIENCE", 0.1)
    (found,) = tried("value >= {value}", waits, digits=1, value=1.0)
    assert (found.tried, found.settings["value"]) == (True, 2.0)


def test_inside_a_try_nothing_is_tried() -> None:
    seen = []

    def outer(value: float) -> None:
        seen.append((trying(), tried("{value}", seen.append, value=lambda: pytest.fail("started")),
                     first_that(seen.append, 1.0)))

    assert tried("{value}", outer, value=1.0)
    assert seen == [(True, (), None)]
    assert not trying()
    assert not accepted(lambda: 1 // 0)
    assert not trying()


def test_errors_keep_what_would_do() -> None:
    way = Remedy("n >= {n}", {"n": 1000})
    for error in (Refused("no", [way, "or less"]), InvalidInput("n", "no", [way, "or less"]),
                  NotGuaranteed("a", "b", [way, "or less"])):
        assert error.remedies == (way,)
        assert "n >= 1,000, or or less" in str(error)
    assert Refused("no").ways == () == Refused("no", "words").remedies
    assert Refused("no", "words").ways == ("words",)


def test_what_did_further_in_is_tried_again_further_out() -> None:
    error = Refused("no", [Remedy("value >= {value}", {"value": 1.0}), Remedy("{other}", {"other": 1.0}), "words"])

    def outer(value: float = 0.0, other: float = 0.0) -> bool:
        return value >= 1.5

    more, words = retried(error, outer)
    assert isinstance(more, Remedy)
    assert 1.5 <= more.settings["value"] < 2.1
    assert words == "words"


@given(st.integers(1, 10**6), st.integers(2, 10**4))
def test_the_first_whole_number_is_found(start: int, times: int) -> None:
    assert first_that(lambda n: n >= start * times, start) == start * times


def test_the_first_number_is_looked_for_on_both_sides_and_not_for_ever() -> None:
    assert first_that(lambda x: x <= 0.3, 1.0, up=False) == pytest.approx(0.3, rel=2e-3)
    assert first_that(lambda x: False, 1.0, farthest=1e6) is None
    assert first_that(lambda n: False, 5, up=False) is None
