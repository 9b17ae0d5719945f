"""`confide channel`: one page for a randomisation of one's own, and clear words for what is wrong with a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli.commands import Run

SURVEY = {"format": 1, "title": "Smoking", "records": 1000, "prior": [0.6, 0.3, 0.1],
          "response": {"letters": ["never", "sometimes", "often"], "truth": 0.7}}


def written(folder: Path, document: Any) -> Path:
    path = folder / "channel.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path


def test_one_page(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path, SURVEY)
    found = run("channel", path, "--html", tmp_path / "page.html")
    assert (found.code, found.err) == (0, "")
    for words in ("Smoking", "at most 4.667", "probability at most 0.875", "changes 300 of 1,000 rows"):
        assert words in " ".join(found.out.split())
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("<figure") == 2
    assert "row by a factor of at most 4.667" in page
    again = run("channel", path, "--html", tmp_path / "page.html")
    assert again.code == 2
    assert "exists" in again.err


def test_json(run: Run, tmp_path: Path) -> None:
    found = run("channel", written(tmp_path, SURVEY), "--json").json
    assert found["levels"]["dp"] == pytest.approx(1.5404, abs=1e-4)
    assert found["least"]["dp"]["value"] == pytest.approx(1.2528, abs=1e-4)
    assert found["prior_given"] is True
    # Infinite levels, no distortion, no prior: still JSON.
    odd = {"format": 1, "channel": [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]}
    found = run("channel", written(tmp_path, odd), "--json").json
    assert (found["title"], found["levels"]["dp"], found["levels"]["distortion"]) == ("channel", "Infinity", None)
    assert found["prior_given"] is False


@pytest.mark.parametrize(("document", "message"), [
    ('{"format": 1,\n "channel": [[0.5 0.5]]}', "channel.json cannot be read: line 2, column 19: is not JSON"),
    ([1], "is not a JSON object"),
    ({}, "format: is missing; must be 1"),
    ({"format": 2}, "format: is not known"),
    ({"format": True}, "format: is not known; must be 1"),
    ({"format": 1}, "channel: is missing, and response is missing, too; give either channel or response"),
    ({**SURVEY, "channel": [[1, 0], [0, 1]]}, "channel: is given together with response; give either channel or "
                                              "response, not both"),
    ({**SURVEY, "record": 3}, "record: is not a known key; did you mean 'records'?"),
    ({**SURVEY, "response": {"letters": 3, "thruth": 0.7}}, "did you mean 'truth'?"),
    ({**SURVEY, "response": {"letters": 3}}, "response.truth: is missing"),
    ({**SURVEY, "response": {"letters": 1, "truth": 0.7}}, "response.letters: 1 is too small; must be at least 2"),
    ({**SURVEY, "response": {"letters": ["a", "a"], "truth": 0.7}}, "must be different texts"),
    ({**SURVEY, "response": {"letters": 3, "truth": 1.2}}, "response.truth: 1.2 is not a probability; must be in [0, "
                                                           "1]"),
    ({**SURVEY, "response": {"letters": 3, "truth": 0.7, "otherwise": "no"}}, "must be one of another, any"),
    ({**SURVEY, "records": 0}, "records: 0 is too small"),
    ({**SURVEY, "records": 10**9}, "records: 1,000,000,000 is too large"),
    ({**SURVEY, "title": 3}, "title: is not a text"),
    ({**SURVEY, "prior": [0.6, 0.3, 0.2]}, "prior: sums to 1.1; must sum to 1 within 1e-09"),
    ({**SURVEY, "prior": [0.6, -0.1, 0.5]}, "prior: holds a number that is negative"),
    ({**SURVEY, "prior": ["a", "b"]}, "prior: is not a list of numbers"),
    ({**SURVEY, "prior": [0.5, 0.5]}, "prior: has 2 entries; must be 3 (the law of each row)"),
    ({"format": 1, "channel": [[0.6, 0.5], [0.4, 0.6]]}, "channel: row 1 sums to 1.1; each must sum to 1"),
    ({"format": 1, "channel": [[0.333, 0.333, 0.333], [0.2, 0.3, 0.5]]},
     "row 1 sums to 0.999; each must sum to 1 within 1e-09; write more digits"),
    ({"format": 1, "channel": [[0.6, 0.4], [0.4, 0.6]], "letters": ["a", "b", "c"]},
     "letters: there are 3 letters, but the table has 2 rows; the table must have 3 rows"),
    ({"format": 1, "channel": [[0.6, 0.4], [1.0]]}, "channel: its rows have different lengths"),
    ({"format": 1, "channel": [[0.6, True], [0.4, 0.6]]}, "channel: is not a list of numbers"),
    ({"format": 1, "channel": [[1.0, 0.0]] * 4, "letters": 2, "records": 3},
     "must have 2 rows (one table for each row)"),
    ({"format": 1, "channel": [[[0.6]]]}, "channel: is not a list of numbers"),
    ({"format": 1, "channel": [[0.6, 0.4], [0.4, 0.6]], "prior": 0.5}, "prior: is not a list of numbers"),
    ({**SURVEY, "response": {"design": "dice", "letters": 2}}, "must be one of truth, warner, forced, unrelated"),
    ({**SURVEY, "response": {"design": "forced", "letters": 3}}, "response.forced: is missing"),
    ({**SURVEY, "response": {"design": "forced", "letters": 3, "truth": 0.7}}, "response.truth: is not a known key"),
    ({**SURVEY, "response": {"design": "forced", "letters": 3, "forced": [0.5, 0.6, 0]}},
     "sums to 1.1; must sum to at most 1"),
    ({**SURVEY, "response": {"design": "forced", "letters": 3, "forced": [0.5, 0.5]}}, "must be 3 numbers >= 0"),
    ({**SURVEY, "response": {"design": "warner", "letters": 3, "statement": 0.7}}, "response.letters: 3 letters"),
    ({**SURVEY, "response": {"design": "warner", "letters": 2, "statement": "x"}}, "response.statement: 'x' is no"),
    ({**SURVEY, "response": {"design": "unrelated", "letters": 3, "sensitive": 0.7, "unrelated": [0.5, 0.5]}},
     "response.unrelated: 2 shares; must be 3"),
    ({**SURVEY, "response": {"design": "unrelated", "letters": 3, "sensitive": 0.7, "unrelated": [0.5, 0.6, 0]}},
     "response.unrelated: sums to 1.1"),
    ({**SURVEY, "prior": {"mix": {}}}, "prior.mix: is not a known key"),
    ({**SURVEY, "prior": {}}, "prior: give either a mixture or counts"),
    ({**SURVEY, "prior": {"counts": [0.5, 0.5]}}, "prior.counts: 2 probabilities for 1,000 rows over 3 letters"),
    ({**SURVEY, "prior": {"mixture": {"weights": [0.5, 0.5]}}}, "prior.mixture.laws: is missing"),
    ({**SURVEY, "prior": {"mixture": {"weights": [0.5, 0.6], "laws": []}}}, "prior.mixture.weights: sums to 1.1"),
    ({**SURVEY, "prior": {"mixture": {"weights": [0.5, 0.5], "laws": [[0.5, 0.5]] * 2}}},
     "prior.mixture.laws: shape (2, 2); must have shape (2, 3)"),
    ('{"format": 1, "channel": [[1e999, 1], [0, 1]]}', "negative or not finite"),
    ('{"format": 1, "channel": [[NaN, 1], [0, 1]]}', "NaN is not JSON"),
])
def test_what_is_wrong_is_named(run: Run, tmp_path: Path, document: Any, message: str) -> None:
    found = run("channel", written(tmp_path, document))
    assert (found.code, found.out) == (2, "")
    assert message in found.err


def test_a_file_that_is_not_there(run: Run, tmp_path: Path) -> None:
    found = run("channel", tmp_path / "none.json")
    assert found.code == 2
    assert "does not exist" in found.err
    assert "Error" not in found.err


@pytest.mark.parametrize(("name", "title"), [("smoking", "A survey on smoking"), ("shoplifting", "Have you ever")])
def test_the_examples(run: Run, name: str, title: str) -> None:
    found = run("channel", Path(__file__).parents[2] / "examples" / f"{name}.json")
    assert (found.code, found.err) == (0, "")
    assert found.out.startswith(title)


def test_other_designs(run: Run, tmp_path: Path) -> None:
    """A random answer that may be the truth; a table of the whole database; one law for each row."""
    design = {"format": 1, "response": {"letters": 2, "truth": 0.5, "otherwise": "any"}}
    assert run("channel", written(tmp_path, design), "--json").json["levels"]["dp"] == pytest.approx(1.098612, abs=1e-6)
    whole = {"format": 1, "letters": 2, "records": 2, "prior": [0.45, 0.05, 0.05, 0.45],
             "channel": [[0.7, 0.1, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1], [0.1, 0.1, 0.7, 0.1], [0.1, 0.1, 0.1, 0.7]]}
    found = run("channel", written(tmp_path, whole), "--json").json
    assert found["levels"]["dp"] == pytest.approx(1.945910, abs=1e-6)
    assert found["levels"]["distortion"] == pytest.approx(0.4)
    rows = {"format": 1, "records": 2, "prior": [[0.5, 0.5], [0.9, 0.1]], "channel": [[0.6, 0.4], [0.4, 0.6]]}
    assert run("channel", written(tmp_path, rows), "--json").json["prior"]["prior_level"] == pytest.approx(2.197225,
                                                                                                      abs=1e-6)
