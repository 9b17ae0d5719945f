"""Letters from frames, Arrow and files: the same release and shares as from arrays; text is refused by its column."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from confide.channels import RandomizedResponse, TopK, survey_shares
from confide.contract import InvalidInput
from confide.privacy import Noise

ROWS = [0, 2, 1, 1, 0, 2, 2, 1]
RESPONSE = RandomizedResponse(epsilon=1.0, letters=3, records=len(ROWS))


def as_csv(folder: Path) -> str:
    (folder / "answers.csv").write_text("answer\n" + "\n".join(map(str, ROWS)))
    return str(folder / "answers.csv")


FORMS: list[Callable[[Path], Any]] = [
    lambda _: np.array(ROWS), lambda _: pd.Series(ROWS), lambda _: pl.Series(ROWS), lambda _: pa.array(ROWS),
    lambda _: pd.DataFrame({"answer": ROWS}), lambda _: pl.DataFrame({"answer": ROWS}),
    lambda _: pa.table({"answer": ROWS}), as_csv,
]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_column_is_the_same_rows(form: Callable[[Path], Any], tmp_path: Path) -> None:
    fitted = TopK.for_budget(epsilon=2.0, prior=[[0.2, 0.3, 0.5]] * len(ROWS))
    for it in (RESPONSE, fitted):
        assert it.release(form(tmp_path), Noise.simulated(3)).tolist() == it.release(ROWS, Noise.simulated(3)).tolist()
    found, expected = survey_shares(RESPONSE, form(tmp_path)), survey_shares(RESPONSE, ROWS)
    assert found.shares.tolist() == expected.shares.tolist()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_what_is_no_letter_is_refused(frame: Callable[[Any], Any]) -> None:
    for cells, said in ((["0"] * 8, "answer: the column holds text"), ([True] * 8, "answer: the column holds true"),
                        ([None, *ROWS[1:]], "rows: an entry is missing"),
                        ([0.5, *ROWS[1:]], "rows: an entry is missing"),
                        ([3, *ROWS[1:]], "rows: an entry is not the number of a letter")):
        with pytest.raises(InvalidInput, match=rf"^{said}"):
            RESPONSE.release(frame({"answer": cells}), Noise.simulated(3))
    with pytest.raises(InvalidInput, match=r"^answer: the column holds text"):
        survey_shares(RESPONSE, frame({"answer": ["0"] * 8}))


def test_a_file_of_text_or_truths_is_refused_by_its_column(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    for cell, said in (("yes", "answer: the column holds text"), ("TRUE", "answer: the column holds true")):
        path.write_text("answer\n" + f"{cell}\n" * 8)
        with pytest.raises(InvalidInput, match=rf"^{said}"):
            RESPONSE.release(str(path), Noise.simulated(3))


def test_letters_of_different_shapes_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"^rows: are not one-dimensional"):
        RESPONSE.release([*ROWS[1:], [1, 2]], Noise.simulated(3))
