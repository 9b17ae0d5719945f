"""Queries as texts: sets of levels with commas, and words that are read back whatever the levels hold."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.contract import InvalidInput
from confide.release import Binned, Bit, Levels, Schema, Workload
from confide.release.schema import joined, split

JOBS = Schema((Levels(column="job", levels=("none, yet", "part", 'the "full" one', "a {b}", "back\\slash")),
               Bit(column="ill")))


@pytest.mark.parametrize(("text", "found"), [
    ('job in {"none, yet", part}', [0, 1]),
    ('job in {part, "none, yet"}', [0, 1]),
    ('job in { "none, yet" , "part" }', [0, 1]),
    ('job in {"none, yet", the "full" one}', [0, 2]),
    ('job in {"the \\"full\\" one", a {b}}', [2, 3]),
    ('job in {"a {b}", back\\slash, "none, yet"}', [0, 3, 4]),
    ('job in {"back\\\\slash", part}', [1, 4]),
    ('job not in {"none, yet", part, a {b}}', [2, 4]),
])
def test_a_list_of_levels_may_hold_commas(text: str, found: list[int]) -> None:
    absent = [k for k in range(5) if k not in found]
    assert JOBS.literals(text) == tuple((k, False) for k in absent)
    assert split(JOBS, f"{text} and ill") == [text, "ill"]


@pytest.mark.parametrize(("text", "says"), [
    ("job in {none, yet, part}", "'none' is not a level of job; did you mean 'none, yet'?; write double quotes"),
    ('job in {"none, yet, part}', "is not a level"),
    ('job in {"none, yet" part}', "is not a level"),
    ('job in {"none, yet",}', "'' is not a level"),
    ('"job = part', "is unknown"),
])
def test_what_is_no_list(text: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=says.replace("?", r"\?")):
        JOBS.literals(text)


def test_levels_without_commas_are_listed_as_before() -> None:
    """Where no level holds a comma, quotes and braces belong to the levels."""
    schema = Schema((Levels(column="a", levels=('"x"', "x", "{y", "z}", "w")),))
    assert schema.literals('a in {"x", {y}') == tuple((k, False) for k in (1, 3, 4))
    assert schema.literals("a in {x, z}}") == tuple((k, False) for k in (0, 2, 4))


def test_a_literal_in_quotes() -> None:
    assert JOBS.literals('"job = none, yet"') == ((0, True),)
    assert JOBS.literals('"job in {\\"none, yet\\", part}"') == JOBS.literals('job in {"none, yet", part}')
    assert split(JOBS, '"job = none, yet", "ill"') == ['"job = none, yet"', '"ill"']


def test_a_query_that_reads_as_another_is_quoted() -> None:
    schema = Schema((Levels(column="x", levels=("a", "a and y = b", "c")), Levels(column="y", levels=("b", "d"))))
    asked = Workload.conjunctions([["x = a", "y = b"], ["x = a and y = b"], ["x = c", "y = b"]], attributes=schema)
    words = asked.words(schema)
    assert words == ['"x = a" and "y = b"', "x = a and y = b", "x = c and y = b"]
    assert Workload.conjunctions([split(schema, each) for each in words], attributes=schema).same(asked)


HARD = st.sampled_from([",", ", ", " and ", '"', "\\", "{", "}", "[", ")", "=", "!=", " in {", "not ", "or", " ", "a",
                        "b", "x", "y", "x = a", '"a"', "\n", "\u00e9"])


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    """Columns of levels whose texts hold what separates literals and levels, beside a bit and bins."""
    texts = st.lists(HARD, min_size=1, max_size=5).map("".join).map(str.strip).filter(bool)
    columns: list[Any] = [
        Levels(column=name, levels=tuple(draw(st.lists(texts, min_size=2, max_size=6, unique=True))))
        for name in ("x", "y")]
    columns += [Bit(column="b", true="yes, b", false="no"), Binned(column="age", lower=0, upper=100, bins=4)]
    return Schema(tuple(columns))


@settings(max_examples=2 * settings.default.max_examples)
@given(data=st.data())
def test_words_are_read_back(data: st.DataObject) -> None:
    """split(words(q)) == q, for any texts of levels."""
    try:
        schema = data.draw(schemas())
    except InvalidInput:  # two literals would have one text
        return
    place = st.integers(0, schema.attributes - 1)
    literals = st.lists(st.tuples(place, st.booleans()), min_size=1, max_size=6)
    asked = data.draw(st.lists(literals, min_size=1, max_size=5))
    width = max(map(len, asked))
    index = np.full((len(asked), width), -1, np.int64)
    bits = np.ones((len(asked), width), np.bool_)
    for row, query in enumerate(asked):
        for at, (attribute, bit) in enumerate(query):
            index[row, at], bits[row, at] = attribute, bit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # queries that nothing satisfies, or that come twice
        try:
            workload = Workload.conjunctions(index, bits, attributes=schema)
        except InvalidInput:
            return
    for row, text in enumerate(workload.words(schema)):
        there = workload.index[row] >= 0
        wanted = set(zip(workload.index[row][there].tolist(), workload.bits[row][there].tolist(), strict=True))
        assert {literal for each in split(schema, text) for literal in schema.literals(each)} == wanted


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_a_list_in_quotes_is_its_levels(data: st.DataObject) -> None:
    try:
        schema = data.draw(schemas())
    except InvalidInput:
        return
    column: Any = schema.columns[0]
    some = data.draw(st.sets(st.integers(0, len(column.levels) - 1), min_size=1, max_size=len(column.levels) - 1))
    if not any("," in level for level in column.levels):
        return
    text = "x in {" + ", ".join(json.dumps(column.levels[k]) for k in sorted(some)) + "}"
    if text in schema.names:
        return
    left = [k for k in range(len(column.levels)) if k not in some]
    alone = ((min(some), True),)
    assert schema.literals(text) == (alone if len(some) == 1 else tuple((k, False) for k in left))
    assert joined(schema, [text]) in (text, json.dumps(text, ensure_ascii=False))
