"""What a device hands in is one column with one of its words: nothing rides along with it."""

from __future__ import annotations

import pytest

from confide.contract import InvalidInput
from confide.service.work.participation import check_row

RESPONSE = {"law": "response", "column": "report", "answers": ["no", "yes"]}
NOISE = {"law": "gaussian", "column": "sum"}


@pytest.mark.parametrize(("instructions", "row"), [
    (RESPONSE, {}), (RESPONSE, {"report": "perhaps"}), (RESPONSE, {"report": "yes", "typed": "no"}),
    (RESPONSE, {"report": "yes", "": ""}), (RESPONSE, {"typed": "yes"}),
    (NOISE, {"sum": "30"}), (NOISE, {"sum": "0123456789abcdeF"}), (NOISE, {"sum": "0" * 17}),
    (NOISE, {"sum": "0" * 16, "record": "30"})])
def test_nothing_rides_along(instructions: dict[str, object], row: dict[str, str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_row(instructions, row)
    assert not any(text in str(caught.value) for text in ("perhaps", "30", "typed", "abcdeF"))
    good = {"report": "yes"} if instructions is RESPONSE else {"sum": "0123456789abcdef"}
    check_row(instructions, good)
    check_row(instructions, dict.fromkeys(good, ""))  # who hands in nothing
