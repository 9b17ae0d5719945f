"""What every plan shows: its figures, its alternatives and its promises, as a table, a frame and a page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from confide.contract import Alternative, Picture, Plan, Predicted
from confide.privacy import PureDP
from confide.release import NoisyAnswers, Schema, Workload


@dataclass(frozen=True, kw_only=True)
class Chosen(Plan[NoisyAnswers | None]):
    """A plan of this test."""

    mechanism: NoisyAnswers | None

    @property
    def predicted(self) -> Mapping[str, Predicted]:
        return {"error": Predicted(0.25, "share of the records", "bound"), "rounds": Predicted(3)}

    @property
    def alternatives(self) -> Sequence[Alternative]:
        return (Alternative(name="mwem", predicted={"error": Predicted(0.5, "share of the records")}),
                Alternative(name="<other>", predicted={"error": Predicted(math.nan)}, refused="needs a delta"))

    @property
    def warnings(self) -> Sequence[str]:
        return ("a & b",)

    def to_dict(self) -> dict[str, Any]:
        return {"error": 0.25}

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
    assert list(Chosen(mechanism=None).guarantees) == []
    assert Chosen(mechanism=None).table().rows[0][0] == "nothing"


def test_a_notebook_shows_escaped_words() -> None:
    shown = of_a_mechanism()._repr_html_()
    assert "&lt;other&gt;" in shown
    assert "<li>a &amp; b</li>" in shown
    assert "epsilon = 1: differential privacy towards the public" in shown
