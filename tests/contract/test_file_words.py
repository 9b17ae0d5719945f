"""Old words of campaign files: read for ever, one campaign with the same file in today's words."""

from __future__ import annotations

from typing import Any

import pytest

from confide.contract import FileWords, InvalidInput
from confide.contract.remedies import Remedy

WORDS = FileWords(
    keys={"answer": "question", "question.options": "levels", "privacy.gamma": "failure_probability",
          "privacy.beta": "failure_probability", "columns.cells.n": "bins"},
    values={"privacy.neighbours": {"swap": "replace", "substitution": "replace", "add_remove": "add_or_remove"}},
)
OLD: dict[str, Any] = {
    "title": "swap", "answer": {"options": ["substitution", "beta"]},
    "privacy": {"gamma": 0.1, "neighbours": "substitution"},
    "columns": [{"cells": [{"n": 3}, {"bins": 4, "n_": 1}]}, {"n": 5}], "n": [{"gamma": 1}],
}
TODAY: dict[str, Any] = {
    "title": "swap", "question": {"levels": ["substitution", "beta"]},
    "privacy": {"failure_probability": 0.1, "neighbours": "replace"},
    "columns": [{"cells": [{"bins": 3}, {"bins": 4, "n_": 1}]}, {"n": 5}], "n": [{"gamma": 1}],
}


def test_old_words_are_read_in_their_places_alone() -> None:
    found = WORDS.today(OLD)
    assert found == TODAY
    assert list(found) == ["title", "question", "privacy", "columns", "n"]
    assert WORDS.today(TODAY) == TODAY
    assert FileWords().today(OLD) == OLD


def test_first_words_are_the_same_for_all_that_were_written() -> None:
    middle = {**TODAY, "privacy": {"beta": 0.1, "neighbours": "swap"}}
    first = {**OLD, "privacy": {"gamma": 0.1, "neighbours": "swap"},
             "columns": [{"cells": [{"n": 3}, {"n": 4, "n_": 1}]}, {"n": 5}]}
    assert all(WORDS.first(WORDS.today(each)) == first for each in (OLD, middle, TODAY))
    assert WORDS.today(first) == TODAY
    assert FileWords().first(OLD) == OLD


@pytest.mark.parametrize(("document", "problem"), [
    ({"privacy": {"gamma": 1, "failure_probability": 1}},
     "privacy.failure_probability: is in the file twice, as 'gamma' and as 'failure_probability'; "
     "'failure_probability' is the present name: keep only this key"),
    ({"privacy": {"beta": 1, "gamma": 1}}, "privacy.failure_probability: is in the file twice, as 'beta' and as "
                                           "'gamma'"),
    ({"question": {}, "answer": {}}, "question: is in the file twice, as 'question' and as 'answer'"),
])
def test_a_key_under_two_of_its_names_is_refused(document: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        WORDS.today(document)
    assert str(caught.value).startswith(problem)


@pytest.mark.parametrize(("field", "written"), [
    ("question.levels", "answer.options"), ("question.levels[2]", "answer.options[2]"), ("question", "answer"),
    ("columns[1].cells[1].bins", "columns[1].cells[1].n"), ("columns[2].bins", "columns[2].bins"),
    ("privacy.failure_probability", "privacy.gamma"), ("privacy.epsilon", "privacy.epsilon"), ("", ""),
    ("question.nothing", "answer.nothing"), ("no such place: at all", "no such place: at all"),
])
def test_errors_name_the_place_as_it_is_written(field: str, written: str) -> None:
    way = Remedy("at least {it}", {"it": 3})
    found = WORDS.as_written(InvalidInput(field, "is wrong", [way]), OLD)
    assert (found.field, found.problem, found.remedies) == (written, "is wrong", (way,))
    same = InvalidInput(field, "is wrong")
    assert WORDS.as_written(same, TODAY) is same


@pytest.mark.parametrize("words", [
    {"keys": {"privacy.gamma": "gamma"}}, {"keys": {"gamma": "a b"}}, {"keys": {"gamma": "a.b"}},
    {"values": {"law": {"a": "b", "b": "c"}}},
])
def test_words_that_say_nothing_or_two_things_are_refused(words: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"is not a new name|'b' is an old value and a new one"):
        FileWords(**words)


def test_words_of_all_files_and_of_a_kind_stand_together() -> None:
    both = FileWords(keys={"budget.name": "data_set"}) | WORDS
    assert both.today({"budget": {"name": "x"}, **OLD}) == {"budget": {"data_set": "x"}, **TODAY}
    assert both.key_today(("privacy",), "gamma") == "failure_probability"
    assert both.value_today(("privacy", "neighbours"), "swap") == "replace"
