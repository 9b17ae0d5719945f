"""What every plan shows: its figures, its alternatives and its promises, as a table, a frame and a page."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from confide.contract import Alternative, Picture, Plan, Predicted
from confide.privacy import PureDP
from confide.release import NoisyAnswers, Schema, Workload


@dataclass(frozen=True, kw_only=True)
class Chosen(Plan[NoisyAnswers]):
    """A plan of this test."""

    mechanism: NoisyAnswers

    @property
    def predicted(self) -> Mapping[str, Predicted]:
        return {"error": Predicted(0.25, "share of the records", "bound"), "rounds": Predicted(3)}

    @property
    def alternatives(self) -> tuple[Alternative, ...]:
        return (Alternative(name="mwem", predicted={"error": Predicted(0.5, "share of the records")}),
                Alternative(name="<other>", predicted={"error": Predicted(math.nan)}, refused="needs a delta"))

    @property
    def warnings(self) -> tuple[str, ...]:
        return ("a & b",)

    def _own_figures(self) -> Mapping[str, Any]:
        return {"limit": math.inf, "sizes": (1, np.arange(2))}

    def plot(self) -> Picture:
        return Picture(spec={}, alt="nothing")


def of_a_mechanism() -> Chosen:
    schema = Schema.bits(3)
    return Chosen(mechanism=NoisyAnswers(records=100, workload=Workload.random(schema, 4, seed=1), schema=schema,
                                         epsilon=1.0, delta=0.0, law="laplace"))


def test_the_table_has_a_row_for_each_method_and_a_column_for_each_figure() -> None:
    table = of_a_mechanism().table()
    assert table.columns == ("method", "error (share of the records)", "rounds", "why not")
    assert table.rows == (("NoisyAnswers", 0.25, 3, ""), ("mwem", 0.5, None, ""), ("<other>", None, None,
                                                                                    "needs a delta"))
    assert table.note == "The first row is the plan. error: bound. rounds: exact."


def test_a_frame_has_the_same_rows() -> None:
    found = of_a_mechanism().to_pandas()
    assert list(found.columns) == ["method", "error (share of the records)", "rounds", "why not"]
    assert found["method"].tolist() == ["NoisyAnswers", "mwem", "<other>"]
    assert pd.isna(found["rounds"][1])


def test_promises_are_those_of_the_mechanism() -> None:
    assert [each.loss for each in of_a_mechanism().guarantees.privacy] == [PureDP(1.0)]


def test_a_plan_prints_its_figures_and_warnings() -> None:
    """In a terminal, without its alternatives, which may take long."""
    found = of_a_mechanism()
    assert str(found) == repr(found)
    assert str(found).splitlines() == [
        "Chosen: NoisyAnswers", "predicted  value  unit                  basis",
        "error       0.25  share of the records  bound",
        "rounds         3                        exact", "Warning: a & b"]


def test_every_plan_has_one_dictionary() -> None:
    """The keys of all plans, then the family's own; every JSON reader accepts it."""
    found = json.loads(json.dumps(of_a_mechanism().to_dict(), allow_nan=False))
    assert found.pop("guarantees")[0]["guarantee"] == "privacy"
    assert found == {
        "mechanism": "NoisyAnswers", "warnings": ["a & b"], "limit": "Infinity", "sizes": [1, [0, 1]],
        "predicted": {"error": {"value": 0.25, "unit": "share of the records", "basis": "bound"},
                      "rounds": {"value": 3, "unit": "", "basis": "exact"}},
        "alternatives": [
            {"name": "mwem", "refused": "",
             "predicted": {"error": {"value": 0.5, "unit": "share of the records", "basis": "exact"}}},
            {"name": "<other>", "refused": "needs a delta",
             "predicted": {"error": {"value": "NaN", "unit": "", "basis": "exact"}}}]}


def test_a_notebook_shows_escaped_words() -> None:
    shown = of_a_mechanism()._repr_html_()
    assert "&lt;other&gt;" in shown
    assert "<li>a &amp; b</li>" in shown
    assert "Epsilon = 1: differential privacy towards the public" in shown
