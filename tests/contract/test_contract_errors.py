"""Errors: fields for programs, messages that say what to do, exit codes, one tree."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import confide
from confide.contract import (
    BudgetExceeded,
    ConfideError,
    InvalidInput,
    NotGuaranteed,
    Refused,
    SolverFailed,
    StoreFailed,
    checks,
)

CASES = [
    (InvalidInput("people.count", "3 is too small", "must be at least 4"), 2,
     "people.count: 3 is too small; must be at least 4", {"field": "people.count", "limit": "must be at least 4"}),
    (InvalidInput("kind", "missing"), 2, "kind: missing", {"problem": "missing", "limit": ""}),
    (Refused("too few people", "invite 100 more"), 3, "too few people (invite 100 more)",
     {"reason": "too few people", "remedy": "invite 100 more"}),
    (Refused("over"), 3, "over", {"remedy": ""}),
    (BudgetExceeded("survey", "epsilon 2", "epsilon 0.5 of 1"), 3,
     "the privacy budget of survey does not admit epsilon 2; left: epsilon 0.5 of 1 (choose a smaller privacy "
     "loss; if nothing is left, use the records of other people, with a budget of their own)",
     {"account": "survey", "requested": "epsilon 2", "remaining": "epsilon 0.5 of 1"}),
    (NotGuaranteed("truth", "the group is too small", "invite more"), 3,
     "truth is not guaranteed: the group is too small (invite more)", {"claim": "truth", "remedy": "invite more"}),
    (SolverFailed("newton", "no certificate after 50 steps"), 1, "newton: no certificate after 50 steps",
     {"routine": "newton", "detail": "no certificate after 50 steps"}),
    (StoreFailed("sqlite:///a.db", "has no room left", "make room"), 1,
     "the store sqlite:///a.db has no room left; make room", {"problem": "has no room left", "remedy": "make room"}),
    (ConfideError("a fault"), 1, "a fault", {}),
]


@pytest.mark.parametrize(("error", "code", "message", "fields"), CASES, ids=lambda v: type(v).__name__)
def test_fields_messages_and_exit_codes(
    error: ConfideError, code: int, message: str, fields: dict[str, str]
) -> None:
    assert error.exit_code == code
    assert str(error) == message
    assert {name: getattr(error, name) for name in fields} == fields


def test_the_tree() -> None:
    bases = {InvalidInput: (ConfideError, ValueError), Refused: (ConfideError,), BudgetExceeded: (Refused,),
             NotGuaranteed: (Refused,), SolverFailed: (ConfideError,), StoreFailed: (ConfideError,)}
    for error, parents in bases.items():
        assert error.__bases__ == parents
    assert not issubclass(Refused, ValueError)
    assert ConfideError.__bases__ == (Exception,)


def test_a_strangers_words_steer_no_terminal() -> None:
    hostile = "\x1b[2J\x9b\u202e\u2066\r\n\x00"
    for error in (InvalidInput("key", hostile, hostile), Refused(hostile), BudgetExceeded(hostile, "1", "0")):
        assert str(error).isprintable()
        assert "\\x1b[2J\\x9b\\u202e\\u2066\\r\\n\\x00" in str(error)


def test_messages_are_one_line() -> None:
    for error, _, message, _ in CASES:
        assert "\n" not in str(error) + message


def test_a_plain_error_can_cross_a_process() -> None:
    assert str(pickle.loads(pickle.dumps(ConfideError("a fault")))) == "a fault"


@pytest.mark.parametrize(("check", "good", "bad"), [
    (checks.positive, [1, 0.5, 5e-324], [0, -1, float("inf"), float("nan"), True, "1", None, 1j]),
    (checks.non_negative, [0, 0.0, 2], [-5e-324, float("inf"), float("nan"), False, "0", None]),
    (checks.fraction, [0.5, 5e-324, 1 - 2**-53], [0, 1, -0.1, 1.1, float("nan"), True, "0.5"]),
    (checks.whole, [0, 5, 10**30], [-1, 1.0, True, "1", None, float("nan")]),
], ids=lambda v: getattr(v, "__name__", ""))
def test_checks_name_the_field(check: object, good: list[object], bad: list[object]) -> None:
    for value in good:
        assert check("epsilon", value) == value  # type: ignore[operator]
    for value in bad:
        with pytest.raises(InvalidInput, match=r"^epsilon: "):
            check("epsilon", value)  # type: ignore[operator]


def test_checks_with_limits() -> None:
    with pytest.raises(InvalidInput, match=r"must be in \(0, 2\]"):
        checks.positive("t", 2.5, at_most=2.0)
    with pytest.raises(InvalidInput, match=r"must be in \[0, 2\]"):
        checks.non_negative("t", 2.5, at_most=2.0)
    with pytest.raises(InvalidInput, match="at least 4"):
        checks.whole("n", 3, at_least=4)
    assert checks.fraction("delta", 0, zero=True) == 0
    assert checks.one_of("release", "ridge", ("auto", "ridge")) == "ridge"
    with pytest.raises(InvalidInput, match="must be one of auto, ridge"):
        checks.one_of("release", "rigde", ("auto", "ridge"))


def test_no_two_errors_have_the_same_name() -> None:
    """Whoever reads "Infeasible" in a message or in an `except` knows which one it is."""
    classes = [(name, set(re.findall(r"\w+", bases))) for path in Path(confide.__file__).parent.rglob("*.py")
               for name, bases in re.findall(r"^ *class (\w+)\(([^()]*)\):", path.read_text("utf-8"), re.MULTILINE)]
    errors, before = {"Exception", "ValueError", "ConfideError"}, 0
    while len(errors) > before:
        before = len(errors)
        errors |= {name for name, bases in classes if bases & errors}
    found = [name for name, bases in classes if bases & errors]
    assert sorted(found) == sorted(set(found))
    assert {"InvalidInput", "Infeasible", "TargetUnreachable", "EmptyRow"} <= set(found)


@pytest.mark.parametrize(("check", "bounds", "limit"), [
    (checks.positive, {}, "must be above 0"), (checks.positive, {"at_most": 0.5}, "must be in (0, 0.5]"),
    (checks.non_negative, {}, "must be at least 0"), (checks.non_negative, {"at_most": 2.0}, "must be in [0, 2]"),
])
def test_a_range_without_an_upper_end_names_the_lower_end_alone(
    check: Callable[..., float], bounds: dict[str, float], limit: str,
) -> None:
    with pytest.raises(InvalidInput) as caught:
        check("size", -1.0, **bounds)
    assert caught.value.limit == limit
