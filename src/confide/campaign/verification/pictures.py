"""Checks of the pictures of a pack. The data of each picture are compared with the numbers that follow from the public
files, and the marks of each drawing are compared with these data.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from confide.campaign.pack import PICTURES, REPORT
from confide.campaign.report import DRAWN, NO_SOFTWARE, UNKNOWN_FORM, Placed
from confide.campaign.verification.findings import Broken
from confide.campaign.verification.likeness import alike, contradicts, same_doubles, same_words
from confide.campaign.verification.reading import json_of
from confide.charts import fault
from confide.contract.presentation import Picture

__all__ = ["same_as_drawn_by_first", "same_data"]

_KEYS = {"alt", "drawn", "vega_lite"}
_LATER = {"Average prices", "Final prices", "How frequent each value is",
          "The mean, and one standard error at most on each side"}
"""Titles of pictures that the first version of confide did not make; stored packs of that version lack them."""


def same_as_drawn_by_first(now: Sequence[Picture], there: Sequence[Placed]) -> bool:
    """Whether a page of confide 0.1.0, which stored no data of its pictures, shows the pictures that follow from the
    public files.

    Args:
        now: the pictures that follow from the public files. Pictures that confide 0.1.0 did not make are left out of
            the comparison.
        there: the pictures on the page of the pack.

    Returns:
        True if all pictures agree, and False if they differ in titles alone.

    Raises:
        Broken: the page has another picture, has a picture in another place, or lacks one.
    """
    made = [each.before for each in now if each.spec.get("title") not in _LATER]
    if len(there) != len(made):
        raise Broken(f"{REPORT} has {len(there)} pictures, not {len(made)}")
    _check_left_out([each.spec for each in made], there)
    if any(each.state == UNKNOWN_FORM for each in there):
        raise Broken(f"{REPORT} leaves out a picture for a reason that its version did not have")
    same = True
    for place, (picture, each) in enumerate(zip(made, there, strict=True), 1):
        if each.drawing is not None and fault(picture.spec, each.drawing, first=True):
            _check_drawing(place, picture.spec, each.drawing, first=True, retitled=True)
            same = False
    return same


def same_data(now: Sequence[Picture], there: Sequence[Placed], data: bytes, other: str | None) -> bool:
    """Whether the pictures of a pack are the pictures that follow from the public files. The stored data and the
    drawings on the page are both checked.

    Args:
        now: the pictures that follow from the public files.
        there: the pictures on the page of the pack.
        data: the contents of `pictures.json` in the pack, with one entry for each picture of the page.
        other: the version of confide that the pack names as its writer; None if the pack names the running version.
            Another version may have its own words and style, and fewer pictures in the same order.

    Returns:
        True if all pictures agree, and False if another version differs in words, style or number of pictures.

    Raises:
        Broken: a picture shows other numbers, or, in a pack of this version, differs in any other way.
    """
    said = json_of(data)
    if not isinstance(said, list) or any(
        not isinstance(each, dict) or each.keys() != _KEYS or not isinstance(each["alt"], str)
        or not isinstance(each["vega_lite"], dict) for each in said
    ):
        raise Broken(f"{PICTURES} does not hold the data of pictures")
    specs: list[Mapping[str, Any]] = [each["vega_lite"] for each in said]
    same = len(said) == len(now) and all(
        same_words(mine.alt, theirs["alt"]) and _same(mine.spec, theirs["vega_lite"])
        for mine, theirs in zip(now, said, strict=True))
    if not same and (other is None or not _are_some(now, specs)):
        raise Broken(f"{PICTURES} does not agree with the billboard")
    if [each["drawn"] for each in said] != [each.state for each in there]:
        raise Broken(f"{REPORT} and {PICTURES} do not agree on the drawn pictures")
    if other is not None and any(
        html.unescape(each.words) != one["alt"] for each, one in zip(there, said, strict=True)
    ):
        raise Broken(f"{REPORT} and {PICTURES} do not agree on the words of the pictures")
    _check_left_out(specs, there)
    for place, (spec, each) in enumerate(zip(specs, there, strict=True), 1):
        if each.drawing is not None:
            _check_drawing(place, spec, each.drawing)
    return same


def _are_some(now: Sequence[Picture], specs: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the specifications plot the numbers of different given pictures, in the order of these pictures."""
    left = iter(now)
    return all(any(_same_numbers(each.spec, spec) for mine in left for each in (mine, mine.before)) for spec in specs)


def _check_left_out(specs: Sequence[Mapping[str, Any]], there: Sequence[Placed]) -> None:
    """Check that missing drawing software is the reason for all pictures of a page or for none."""
    states = {each.state for spec, each in zip(specs, there, strict=True) if spec}
    if DRAWN in states and NO_SOFTWARE in states:
        raise Broken(f"{REPORT} leaves out a picture for lack of software, but the software drew another picture")


def _check_drawing(
    place: int, spec: Mapping[str, Any], drawing: str, *, first: bool = False, retitled: bool = False
) -> None:
    wrong = fault(spec, drawing, first=first, retitled=retitled)
    if wrong:
        raise Broken(f"picture {place} of {REPORT} is not a drawing of its data: {wrong}")


def _same(now: Any, then: Any) -> bool:
    """Whether two specifications are the same, with their rows of data compared column by column."""
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
    """Whether two columns of data are the same. A column with at least one double counts as a column of doubles, since
    canonical JSON writes a whole double as a whole number.
    """
    if any(type(each) is float for each in now):
        return all(type(each) in (int, float) or each is mine for each, mine in zip(then, now, strict=True)) and (
            same_doubles([*map(_spelled, now)], [*map(_spelled, then)]))
    return all(type(one) is type(other) and one == other for one, other in zip(now, then, strict=True))


def _spelled(value: Any) -> str:
    return repr(float(value)) if type(value) in (int, float) else ""


def _same_numbers(now: Mapping[str, Any], then: Mapping[str, Any]) -> bool:
    """Whether a picture of another version has the same rows of data as a given picture, and no title with other
    numbers.
    """
    mine, theirs, titles = _data(now), _data(then), [*_titles(now)]
    return len(mine) == len(theirs) and not any(contradicts(titles, each) for each in _titles(then)) and all(
        _same_rows(one, other) for one, other in zip(mine, theirs, strict=True))


def _titles(spec: Any) -> Iterator[str]:
    """The titles of a picture and of its axes."""
    parts = spec.items() if isinstance(spec, dict) else enumerate(spec) if isinstance(spec, list) else ()
    for key, part in parts:
        if key == "title" and isinstance(part, str):
            yield part
        elif key != "values":
            yield from _titles(part)


def _data(spec: Any) -> list[Any]:
    """All rows of data in a specification, in the order of its keys."""
    if isinstance(spec, dict):
        return [rows for key in sorted(spec) for rows in ([spec[key]] if key == "values" else _data(spec[key]))]
    return [rows for each in spec for rows in _data(each)] if isinstance(spec, list) else []
