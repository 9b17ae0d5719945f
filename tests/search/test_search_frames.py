"""Answers and contacts from frames, Arrow and files, and the released list as one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from confide.contract import InvalidInput
from confide.privacy import Noise
from confide.search import Graph, Investigation, PTarget

NETWORK = Graph.from_edges(["ann", "bob", "cid", "dan"], ["bob", "cid", "dan", "eve"])
ANSWERS = {"id": ["bob", "ann", "eve", "dan", "cid"], "targeted": [False, True, True, False, True]}
SEARCH = PTarget(5, 2, None, 50.0, None, "none")
FRAMES: list[Callable[[Any], Any]] = [pd.DataFrame, pl.DataFrame, pa.table]


def released(oracle: Any) -> list[str]:
    found: list[str] = SEARCH.run(Investigation(NETWORK, "ann", oracle), Noise.simulated(1)).billboard.order.tolist()
    return found


@pytest.mark.parametrize("frame", FRAMES)
def test_answers_come_in_frames(frame: Callable[[Any], Any]) -> None:
    expected = released({"ann", "cid", "eve"})
    assert len(expected) == 2
    assert released(frame(ANSWERS)) == expected
    assert released(frame({**ANSWERS, "targeted": [0, 1, 1, 0, 1]})) == expected
    assert released(frame({**ANSWERS, "targeted": ["no", "Yes", "true", "0", "1"]})) == expected


def test_answers_come_in_files_and_targets_in_columns(tmp_path: Path) -> None:
    pd.DataFrame(ANSWERS).to_csv(tmp_path / "answers.csv", index=False)
    assert released(str(tmp_path / "answers.csv")) == released(tmp_path / "answers.csv") == released(pa.array(
        ["ann", "cid", "eve"])) == released({"ann", "cid", "eve"})


@pytest.mark.parametrize("frame", FRAMES)
def test_an_empty_cell_is_no_answer_yet(frame: Callable[[Any], Any]) -> None:
    some = frame({**ANSWERS, "targeted": [None, True, True, False, True]})
    asked = SEARCH.start(Investigation(NETWORK, "ann", some), Noise.simulated(1))
    assert asked.pending() == ["bob"]


@pytest.mark.parametrize("frame", FRAMES)
def test_answers_that_are_none_are_refused(frame: Callable[[Any], Any]) -> None:
    for change, said in (({"targeted": [False, True, True, False, 2]}, "targeted: an answer is not one of"),
                         ({"targeted": ["no", "yes", "maybe", "no", "yes"]}, "targeted: an answer is not one of"),
                         ({"id": ["bob", "ann", "eve", "dan", "zoe"]}, "id: a line has no id"),
                         ({"id": ["bob", "ann", "eve", "dan", None]}, "id: a line has no id"),
                         ({"id": ["bob", "ann", "eve", "dan", "ann"], "targeted": [0, 1, 1, 0, 0]},
                          "targeted: two answers about one person differ")):
        table = {**ANSWERS, **change}
        if said.startswith("targeted: an answer") and 2 in table["targeted"]:
            table["targeted"] = [int(each) for each in table["targeted"]]
        with pytest.raises(InvalidInput, match=rf"^oracle: {said}"):
            Investigation(NETWORK, "ann", frame(table))


@pytest.mark.parametrize("frame", FRAMES)
def test_a_weight_of_text_is_refused_by_its_column(frame: Callable[[Any], Any], tmp_path: Path) -> None:
    lines: dict[str, Any] = {"source": [1, 2, 1], "target": [2, 1, 3], "minutes": [5, 10, 2]}
    assert Graph.from_table(frame(lines), weight="minutes", at_least=15).edges == 1
    with pytest.raises(InvalidInput, match=r"^minutes: the column holds text; must be numbers"):
        Graph.from_table(frame({**lines, "minutes": ["5", "10", "2"]}), weight="minutes", at_least=15)
    pd.DataFrame(lines).to_csv(tmp_path / "lines.csv", index=False)  # whose cells have no types
    assert Graph.from_table(tmp_path / "lines.csv", weight="minutes", at_least=15).edges == 1


def test_the_list_is_a_table() -> None:
    board = SEARCH.run(Investigation(NETWORK, "ann", {"ann", "bob", "dan", "eve"}), Noise.simulated(1)).billboard
    rows = board.to_arrow().to_pylist()
    assert [row["id"] for row in rows] == board.order.tolist()
    assert [(row["component"], row["how"]) for row in rows[:3]] == [
        (1, "seed"), (1, "contact"), (2, "searched for")]
    assert board.to_pandas().to_dict("records") == board.to_polars().to_dicts() == rows
