"""Instructions that no device follows, neither the program in the browser nor the reference; and some that one does."""

from __future__ import annotations

from typing import Any

__all__ = ["FOLLOWED", "REFUSED"]

ONE: dict[str, Any] = {"law": "response", "column": "report", "input": "answer", "answers": ["1", "2"],
                       "epsilon": {"numerator": "1", "denominator": "1"}}
LEVELS: dict[str, Any] = {"worth": "worth", "epsilon": 0.5, "threshold": 1.0, "ceiling": 1.0}
OWN: dict[str, Any] = {**{name: ONE[name] for name in ("law", "column", "input", "answers")}, "levels": LEVELS}
LATTICE: dict[str, Any] = {"law": "lattice", "column": "record", "input": "record", "low": "0", "high": "80",
                           "steps": "1000", "sigma": "1000"}


def own(**changes: Any) -> dict[str, Any]:
    """Levels with something else in them."""
    return {**OWN, "levels": {**LEVELS, **changes}}


def without(instructions: dict[str, Any], name: str) -> dict[str, Any]:
    """One thing less."""
    return {each: value for each, value in instructions.items() if each != name}


FOLLOWED = {
    "one level": ONE, "her own level": OWN, "a lattice": LATTICE,
    "a column of the same name": {**ONE, "column": "answer"},
    "no steps": {**LATTICE, "steps": "0", "sigma": "0"}, "level 0": own(epsilon=0, ceiling=0),
    "blanks within": {**ONE, "answers": ["not at all", "a bit"]},
}
REFUSED = {
    "her answer is her worth": own(worth="answer"),
    "an answer with a blank": {**ONE, "answers": ["1", "2 "]},
    "an answer with a blank of another sort": {**ONE, "answers": ["\u3000 1", "2"]},
    "an answer that begins with a mark": {**ONE, "answers": ["\ufeff1", "2"]},
    "an answer that is a number": {**ONE, "answers": ["1", 2]},
    "an answer that is a list": {**ONE, "answers": [["1"], "2"]},
    "an empty answer": {**ONE, "answers": ["1", ""]},
    "answers that are no list": {**ONE, "answers": "12"},
    "answers that are the same": {**ONE, "answers": ["1", "1"]},
    "one answer": {**ONE, "answers": ["1"]},
    "an input that only reads like one": {**own(worth="answer"), "input": ["answer"]},
    "a worth that only reads like one": own(worth=["answer"]),
    "a worth without a name": own(worth=""),
    "an input with a blank": {**ONE, "input": "answer "},
    "no input": without(ONE, "input"), "no column": without(ONE, "column"), "no answers": without(ONE, "answers"),
    "no level": without(ONE, "epsilon"), "two levels": {**OWN, "epsilon": ONE["epsilon"]},
    "a least level that is a text": own(epsilon="0.5"), "a ceiling that is a text": own(ceiling="1"),
    "a threshold that is a text": own(threshold="1"), "no threshold": own(threshold=None),
    "a least level above the ceiling": own(epsilon=1.5), "a negative one": own(epsilon=-1),
    "a level that is no whole number": {**ONE, "epsilon": {"numerator": "0.5", "denominator": "1"}},
    "a level over nothing": {**ONE, "epsilon": {"numerator": "1", "denominator": "0"}},
    "a level that is a word": {**ONE, "epsilon": "1"},
    "a law of another sort": {**ONE, "law": "truth"}, "no law": without(ONE, "law"),
    "no noise": {**LATTICE, "sigma": "0"}, "negative noise": {**LATTICE, "sigma": "-5"},
    "an empty range": {**LATTICE, "high": "0"}, "a range without end": {**LATTICE, "high": "1e999"},
    "a range of words": {**LATTICE, "high": "much"}, "beyond 64 bits": {**LATTICE, "sigma": str(2**57)},
}
