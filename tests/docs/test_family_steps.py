"""The same steps in every family: the page says of each mechanism how a step is done, or why there is none."""

from __future__ import annotations

import pytest
from family_steps import COLUMNS, FAMILIES, MISSING, PAGE, Cell, called, mechanisms, page, sentence, steps, text

from confide.release import MWEM, Uniform

Found = dict[str, dict[str, dict[str, Cell]]]

@pytest.fixture(scope="module")
def found() -> Found:
    return steps()


def test_the_page_is_that_of_the_code(found: Found) -> None:
    assert PAGE.read_text(encoding="utf-8") == page(text(found)), "do `python tests/docs/family_steps.py`"


def test_every_step_is_there_or_explained(found: Found) -> None:
    missing = {family: {column for its in each.values() for column in COLUMNS if its[column].text == MISSING}
               for family, each in found.items()}
    assert {family: columns for family, columns in missing.items() if columns} == {}


def test_every_mechanism_of_a_family_runs_alike(found: Found) -> None:
    """It takes the same arguments, and tells how far it is up to the end."""
    for family in FAMILIES:
        for its in found[family].values():
            assert its["run"] == Cell("`run(data, noise)`")
            assert its["progress"].full
    assert sum(len(each) for each in found.values()) >= 25


def test_only_what_a_mechanism_has_is_full(found: Found) -> None:
    assert found["release"]["MWEM"]["frames in"] == Cell("arrays, Arrow, pandas, Polars, files")
    assert not found["release"]["MWEM"]["decode"].full
    assert not found["release"]["Uniform"]["for_budget"].full
    assert found["allocation"]["PMatch"]["decode"] == Cell("from one's own record and the public billboard")


def test_a_step_without_a_word_is_missing() -> None:
    assert sentence("release", Uniform, "for_budget").text.startswith("Epsilon is no input")
    assert sentence("release", MWEM, "for_budget") == Cell(MISSING, full=False)


def test_calls_show_what_has_to_be_given() -> None:
    def scaled(value: float, *, by: float, delta: float = 0.0, plus: float = 0.0) -> float:
        return value * by + plus + delta

    assert called("scaled", scaled) == "scaled(value, by=, delta=, ...)"
    assert "MWEM" in mechanisms("release")
    assert "Workload" not in mechanisms("release")
