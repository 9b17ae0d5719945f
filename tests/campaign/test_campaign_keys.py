"""Every key of a campaign file, as tables to read."""

from __future__ import annotations

import re
from typing import Any

import pytest

from confide.campaign import key_sections, schema
from confide.contract import InvalidInput, kind_names


def rows(name: str) -> dict[str, tuple[Any, ...]]:
    """"title/key" -> the row of a kind's tables; of columns of several kinds, the last one's."""
    return {f"{part.title}/{row[0]}": row for part in key_sections(name) for row in part.blocks[-1].rows}  # type: ignore[union-attr]


@pytest.mark.parametrize("name", kind_names())
def test_every_key_has_limits_and_a_meaning(name: str) -> None:
    """Where a single word is allowed, the title of its table says what it means."""
    for place, (key, limits, default, meaning) in rows(name).items():
        assert "anything" not in limits, place
        assert meaning or re.fullmatch(r'"[^"]+"( or "[^"]+")*|true', limits), place
        assert default is not None, key


@pytest.mark.parametrize("name", kind_names())
def test_every_key_of_the_schema_is_shown(name: str) -> None:
    whole = schema(name)
    shown = {place.rsplit("/", maxsplit=1)[-1] for place in rows(name)}
    plain = {key for table in whole["$defs"].values() for key, what in table.get("properties", {}).items()
             if "$ref" not in str(what)}
    assert plain <= shown


def test_limits_and_defaults_are_those_that_are_checked() -> None:
    found = rows("queries")
    assert found['[workload] with form = "random"/count'][1:3] == ("whole number at least 1, at most 1,000,000",
                                                                   "(needed)")
    assert found['[workload] with form = "random"/signed'][1:3] == ("true or false", "true")
    assert found["[privacy]/delta"][1:3] == ("number at least 0, below 1", "0")
    assert found["[[columns]]/levels"][1] == "list, at least 2; each text or whole number or true or false"
    assert found["[budget]/rule"][1:3] == ('"basic" or "zcdp"', '"basic"')
    assert rows("search")["[release] (may be left out)/publish_on"][1] == "date YYYY-MM-DD"
    pairs = rows("bits-pair")
    assert any("[[belief.groups]]" in place for place in pairs)


def test_no_such_kind() -> None:
    with pytest.raises(InvalidInput, match="did you mean 'regression'"):
        key_sections("regresion")
