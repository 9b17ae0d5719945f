"""A record as its owner types it: column by column, coded exactly as the operator's table would be."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from confide.contract.errors import InvalidInput
from confide.people.column_rows import check_typed
from confide.tables import Design, Numeric

__all__ = ["parse_record"]


def parse_record(design: Design, response: Numeric, values: Mapping[str, str]) -> tuple[np.ndarray, float]:
    """(x, y) of one participant, on her own side.

    Args:
        design: coding of the features.
        response: role of the response.
        values: column -> what she typed.

    Raises:
        InvalidInput: a column that the campaign does not ask for, or a value that it cannot use. The message is hers.
    """
    check_typed(values, (*design.columns, response.column))
    x, problem = design.encode_one(values)
    y, wrong = response.encode_one(values[response.column])
    if problem or wrong:
        raise InvalidInput("record", str(problem or wrong), "such a record counts as empty and is paid nothing")
    return x, y
