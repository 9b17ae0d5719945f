"""The pictures of a pack: their data beside what follows, and the marks of each drawing beside the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from confide.campaign.pack import PICTURES, REPORT
from confide.campaign.verification.findings import Broken
from confide.campaign.verification.likeness import alike, same_doubles, same_words
from confide.campaign.verification.reading import json_of
from confide.charts import fault
from confide.contract.presentation import Picture

__all__ = ["check_drawings", "same_data"]


def same_data(now: Sequence[Picture], data: bytes, other: str | None) -> tuple[bool, list[Mapping[str, Any]]]:
    """Hold the specifications in a pack against those that follow.

    Args:
        now: the pictures that follow.
        data: of the pack's file.
        other: the version that the pack names, where it is another one: its words and its style are its own.

    Returns:
        Whether all is the same, and the specifications of the pack.

    Raises:
        Broken: a number is another one, or, in this version, anything.
    """
    said = json_of(data)
    if not isinstance(said, list) or any(
        not isinstance(each, dict) or each.keys() != {"alt", "vega_lite"} or not isinstance(each["alt"], str)
        or not isinstance(each["vega_lite"], dict) for each in said
    ):
        raise Broken(f"{PICTURES} holds something else than pictures")
    specs: list[Mapping[str, Any]] = [each["vega_lite"] for each in said]
    same = len(said) == len(now) and all(
        same_words(mine.alt, theirs["alt"]) and _same(mine.spec, theirs["vega_lite"])
        for mine, theirs in zip(now, said, strict=True))
    if not same and (other is None or not all(any(_same_numbers(mine.spec, spec) for mine in now) for spec in specs)):
        raise Broken(f"{PICTURES} is not what the billboard says")
    return same, specs


def _same(now: Any, then: Any) -> bool:
    """Two specifications; rows of data are compared column by column."""
    if isinstance(now, dict) and isinstance(then, dict):
        return now.keys() == then.keys() and all(
            _same_rows(now[key], then[key]) if key == "values" else _same(now[key], then[key]) for key in now)
    if isinstance(now, list) and isinstance(then, list):
        return len(now) == len(then) and all(_same(one, other) for one, other in zip(now, then, strict=True))
    return alike(now, then)


def _same_rows(now: Any, then: Any) -> bool:
    if not _are_rows(now) or not _are_rows(then) or [row.keys() for row in now] != [row.keys() for row in then]:
        return False
    names = {name for row in now for name in row}
    return all(_same_column([row.get(name) for row in now], [row.get(name) for row in then]) for name in names)


def _are_rows(found: Any) -> bool:
    return isinstance(found, list) and all(isinstance(row, dict) for row in found)


def _same_column(now: Sequence[Any], then: Sequence[Any]) -> bool:
    """Canonical JSON writes a whole double as a whole number: a column that has doubles holds doubles."""
    if any(type(each) is float for each in now):
        return all(type(each) in (int, float) or each is mine for each, mine in zip(then, now, strict=True)) and (
            same_doubles([*map(_spelled, now)], [*map(_spelled, then)]))
    return all(type(one) is type(other) and one == other for one, other in zip(now, then, strict=True))


def _spelled(value: Any) -> str:
    return repr(float(value)) if type(value) in (int, float) else ""


def _same_numbers(now: Mapping[str, Any], then: Mapping[str, Any]) -> bool:
    """Whether all rows of data that another version plots are those of a picture here."""
    mine, theirs = _data(now), _data(then)
    return len(mine) == len(theirs) and all(_same_rows(one, other) for one, other in zip(mine, theirs, strict=True))


def _data(spec: Any) -> list[Any]:
    """All rows that a specification holds, in the order of its keys."""
    if isinstance(spec, dict):
        return [rows for key in sorted(spec) for rows in ([spec[key]] if key == "values" else _data(spec[key]))]
    return [rows for each in spec for rows in _data(each)] if isinstance(spec, list) else []


def check_drawings(
    specs: Sequence[Mapping[str, Any]], drawings: Sequence[str | None], *, ordered: bool, retitled: bool
) -> None:
    """See that each drawing shows the numbers of its specification, and nothing else.

    Args:
        specs: of the pictures.
        drawings: as they stand in the page; None of one that was left out.
        ordered: whether they belong to each other one by one; otherwise, any specification will do.
        retitled: whether titles are another version's.

    Raises:
        Broken: one does not.
    """
    for place, drawing in enumerate(drawings):
        if drawing is not None:
            mine = specs[place : place + 1] if ordered else specs
            faults = [fault(spec, drawing, retitled=retitled) for spec in mine]
            if all(faults):
                what = f": {faults[0]}" if ordered and faults else ""
                raise Broken(f"picture {place + 1} of {REPORT} is not a drawing of its data{what}")
