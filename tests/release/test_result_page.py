"""The result page of a release: the finding first, then the tables that people expect, with their errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from confide.contract.presentation import Picture, Section, Table, Text
from confide.contract.words import Measured
from confide.privacy.noise import Noise
from confide.release.records import made_up_table
from confide.release.results import more_answers
from release.held_campaign import METHODS, campaign

COMPLETE = 'form = "complete"\nwidth = 2'


def shown(it: Any, seed: int = 1) -> tuple[Any, list[Section]]:
    """A run of a campaign with simulated noise, and its result as the public would see it."""
    outcome = it.plan.mechanism.run(made_up_table(it.plan.schema, 2000, seed=seed), Noise.simulated(seed))
    return outcome, it.plan.pages.result_sections(it.plan, outcome)


def tables(found: list[Section], title: str) -> list[Table]:
    return [table for part in found if part.title == title for table in part.tables]


@pytest.mark.parametrize("method", METHODS)
def test_the_finding_is_first_and_lists_are_folded(tmp_path: Path, method: str) -> None:
    it = campaign(tmp_path, method=method)
    _, found = shown(it)
    assert found[0].found
    assert isinstance(found[0].blocks[0], Text)
    assert len(found[0].blocks[0].paragraphs) == 1
    assert sum(isinstance(block, Picture) for block in found[0].blocks) == 1
    open_, folded = ([part for part in found if part.folded is state] for state in (False, True))
    assert found == [*open_, *folded]
    assert [part.title for part in folded] == [f"All {len(it.plan.workload):,} answers",
                                               "Promises and their audiences"]
    assert len(folded[0].tables[0].rows) == len(it.plan.workload)
    assert open_[-1].title == "Limits of conclusions from this page"
    assert "whether a given person's record says 'smoker' or 'not smoker'" in open_[-1].paragraphs[0]


@pytest.mark.parametrize("method", ["gaussian", "marginal-fit"])
def test_the_finding_claims_nothing_that_its_errors_leave_open(tmp_path: Path, method: str) -> None:
    """Once, it named the value with the largest noisy share, whatever the errors said."""
    said = {}
    for epsilon in ("2.0", "0.05", "100.0"):
        it = campaign(tmp_path, ("epsilon = 3.0", "epsilon = 100.0"), ("epsilon = 2.0", f"epsilon = {epsilon}"),
                      method=method)
        _, found = shown(it)
        (said[epsilon],) = found[0].paragraphs
        (single,) = tables(found, "Single columns")
        for name in ("age", "job", "smoker", "owner"):
            cells = sorted((row[2] for row in single.rows if row[0] == name), reverse=True)
            sure = cells[0] - cells[0].error > cells[1] + cells[1].error
            if not sure:
                assert "most frequent value" not in said[epsilon] or f" {name}" not in said[epsilon].split("(")[0]
    assert said["0.05"].startswith("Between ")
    assert said["0.05"].endswith("too large to say which value of a column is the most frequent.")
    assert said["100.0"].startswith("The most frequent value")


@pytest.mark.parametrize("method", ["gaussian", "laplace"])
def test_tables_of_columns_are_what_released_answers_add_up_to(tmp_path: Path, method: str) -> None:
    it = campaign(tmp_path, method=method)
    outcome, found = shown(it)

    def reported(query: str) -> tuple[float, float]:
        row = more_answers(it.plan.schema, method, it.plan.mechanism, outcome.billboard, [query]).to_pylist()[0]
        return row["answer"], row["plus_minus"]

    (single,) = tables(found, "Single columns")
    assert [row[:2] for row in single.rows] == [
        *(("age", name) for name in ("[0, 25)", "[25, 50)", "[50, 75)", "[75, 100]")),
        *(("job", name) for name in ("none", "some", "full")), ("smoker", "yes"), ("smoker", "no"), ("owner", "yes"),
        ("owner", "no")]
    for place, query in ((1, "age in [25, 50)"), (6, "job = full"), (7, "smoker"), (8, "not smoker")):
        cell = single.rows[place][2]
        assert isinstance(cell, Measured)
        assert (cell, cell.error) == pytest.approx(reported(query))
    crossed = tables(found, "Pairs of columns")
    assert [table.columns[0] for table in crossed] == ["age", "age", "age", "job", "job", "smoker"]
    assert crossed[0].columns == ("age", "job: none", "job: some", "job: full")
    cell = crossed[0].rows[2][3]
    assert isinstance(cell, Measured)
    assert (cell, cell.error) == pytest.approx(reported("age in [50, 75) and job = full"))
    assert " +- " in str(crossed[0])


def test_parities_of_one_attribute_give_its_frequency(tmp_path: Path) -> None:
    it = campaign(tmp_path, (COMPLETE, 'form = "parities"\nwidth = 2'), method="gaussian")
    outcome, found = shown(it)
    (single,) = tables(found, "Single columns")
    words = it.plan.workload.words(it.plan.schema)
    even = float(outcome.billboard.answers(it.plan.workload)[words.index("an even number of: smoker")])
    assert [row[2] for row in single.rows if row[1] in ("yes", "no")][:2] == pytest.approx([1 - even, even])
    assert not tables(found, "Pairs of columns")


def test_queries_that_add_up_to_no_column_have_the_largest_answer_as_their_finding(tmp_path: Path) -> None:
    it = campaign(tmp_path, (COMPLETE, 'form = "listed"\nqueries = [["job = none", "smoker"], ["owner", "smoker"]]'),
                  method="laplace")
    _, found = shown(it)
    assert not tables(found, "Single columns")
    assert "Of 2 answers, " in found[0].paragraphs[0]


def test_a_bound_that_says_nothing_has_no_figure(tmp_path: Path) -> None:
    it = campaign(tmp_path, ("epsilon = 2.0\ndelta = 1e-6", "epsilon = 0.06\ndelta = 0"), method="laplace")
    _, found = shown(it)
    (exact,) = [part for part in found if part.title == "Accuracy of the answers"]
    assert exact.paragraphs[0].startswith("At these sizes the bound on the error of all answers at once is larger ")
    assert exact.paragraphs[0].endswith("so it says nothing.")


def test_shares_of_a_table_are_numbers_for_programs(tmp_path: Path) -> None:
    _, found = shown(campaign(tmp_path, method="gaussian"))
    (single,) = tables(found, "Single columns")
    assert all(isinstance(row[2], float) for row in single.to_dict()["rows"])
    assert np.isclose(sum(row[2] for row in single.rows[:4] if isinstance(row[2], float)), 1.0, atol=0.2)
