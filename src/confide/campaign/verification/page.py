"""Comparison of the words and numbers of a pack's page, without its pictures, with the page that this version makes.

Pages show numbers with few digits, so another processor computes the same text. Only two kinds of numbers may differ.
Doubles that are written with all their digits may differ in the last digits. Numbers in a table may differ if both are
mere rounding errors, compared with the largest number of the column.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from confide.campaign.pack import REPORT
from confide.campaign.report import head
from confide.campaign.verification.findings import Broken
from confide.campaign.verification.former_words import page_today
from confide.campaign.verification.likeness import ROUNDING, contradicts, same_words, split_numbers
from confide.charts.markup import Element, Unreadable, elements

__all__ = ["check_other", "same_page"]

_TAGS = ("body", "main", "section", "div", "h1", "h2", "p", "table", "thead", "tbody", "tr", "th", "td",
         "details", "summary")
_CLASSES = {"", "badge", "folded", "found", "lead", "note", "number", "private", "scroll", "study"}
_END = "</html>\n"
_THOUSANDS = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")
_FALSE = "no: as printed, and false"
_CELLS = "\t"  # between the cells of a table's row


def same_page(now: str, then: str) -> bool:
    """Whether two HTML pages, both without pictures, have the same contents.

    Args:
        now: the page that this version makes from the public files.
        then: the page in the pack, without pictures.
    """
    if now == then:
        return True
    (top, mine), (other, theirs) = (_parts(text) for text in (now, then))
    try:
        return top == other and len(theirs) <= 2 * len(mine) and _same(
            Element("", {}, elements(mine, _TAGS)), Element("", {}, elements(theirs, _TAGS)))
    except Unreadable:
        return False


def _parts(text: str) -> tuple[str, str]:
    """The text of a page above the body, and its body."""
    top, middle, rest = text.partition("<body>")
    return top, middle + rest.removesuffix(_END) if rest.endswith(_END) else text


def _same(now: Element, then: Element) -> bool:
    if (now.name, now.attributes, len(now.children)) != (then.name, then.attributes, len(then.children)):
        return False
    if now.name == "table" and not _same_columns(now, then):
        return False
    for mine, theirs in zip(now.children, then.children, strict=True):
        if isinstance(mine, Element) and isinstance(theirs, Element):
            same = _same(mine, theirs)
        elif isinstance(mine, str) and isinstance(theirs, str):
            # A number is compared with its column.
            same = now.attributes.get("class") == "number" or same_words(mine, theirs)
        else:
            same = False
        if not same:
            return False
    return True


def _same_columns(now: Element, then: Element) -> bool:
    """Whether the columns of two tables are the same, up to rounding errors in columns of numbers."""
    mine, theirs = ([[_text(cell) for cell in row] for row in _rows(each)] for each in (now, then))
    if [len(row) for row in mine] != [len(row) for row in theirs] or len({len(row) for row in mine}) > 1:
        return False
    return all(_same_column(one, other) for one, other in zip(
        zip(*mine, strict=True), zip(*theirs, strict=True), strict=True))


def _same_column(now: Sequence[str], then: Sequence[str]) -> bool:
    scale = ROUNDING * max((abs(each) for each in map(_number, now) if each is not None), default=0.0)
    return all(one == other or same_words(one, other) or _are_rounding(_number(one), _number(other), scale)
               for one, other in zip(now, then, strict=True))


def _are_rounding(now: float | None, then: float | None, scale: float) -> bool:
    return now is not None and then is not None and max(abs(now), abs(then)) <= scale


def _number(text: str) -> float | None:
    """The finite double that `confide.contract.words.number` writes as this text; None for any other text, such as
    `inf`.
    """
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and text in (f"{value:.3e}", f"{value:.4g}") else None


def _rows(table: Element) -> Iterator[list[Element]]:
    for part in table.children:
        if isinstance(part, Element):
            for row in part.children:
                if isinstance(row, Element):
                    yield [cell for cell in row.children if isinstance(cell, Element)]


def _text(part: Element) -> str:
    return "".join(each if isinstance(each, str) else _text(each) for each in part.children)


# ---- of another version


def check_other(now: str, then: str, title: str) -> None:
    """Check a page that another version made, without its pictures. The page must be only text and tables, and must
    contradict no number of the page that this version makes.

    A page of another version may have that version's own words. A sentence, table row or cell with words must also have
    the same numbers as in this version's page, if it has the same words.

    Args:
        now: the page that this version makes, without pictures.
        then: the page in the pack, without pictures.
        title: the title of the campaign.

    Raises:
        Broken: the page is more than text and tables, or states another number.
    """
    top, body = _parts(then)
    if top != head(title):
        raise Broken(f"{REPORT} does not begin like a page of confide")
    try:
        theirs, mine = ([*_blocks(elements(text, _TAGS))] for text in (body, _parts(now)[1]))
    except Unreadable as problem:
        raise Broken(f"{REPORT} is more than a page of words: {problem}") from None
    known: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for block in map(_ungrouped, mine):
        for text in {block, *block.split(_CELLS)}:
            known[split_numbers(text)[::2]].append(text)
    for block in map(_ungrouped, map(page_today, theirs)):
        # Where a table has other columns than today, each cell is compared alone, if it has words. Version 0.1.0 also
        # lists false claims of the sources, each called false in its row.
        whole, cells = split_numbers(block)[::2] in known, block.split(_CELLS)
        for text in [block] if whole or _FALSE in cells else filter(_worded, cells):
            if contradicts(known.get(split_numbers(text)[::2], ()), text):
                raise Broken(f"{REPORT} says {text[:80]!r}, which does not follow from the public files")


def _ungrouped(text: str) -> str:
    """A text without the commas inside its numbers, so that small and large numbers have the same words around them."""
    return _THOUSANDS.sub("", text)


def _worded(text: str) -> bool:
    """Whether a text has words beside its numbers, so that it can be compared wherever it stands on the page."""
    return any(any(map(str.isalpha, each)) for each in split_numbers(text)[::2])


def _blocks(parts: Sequence[Element | str]) -> Iterator[str]:
    """The texts of a page: paragraphs, headings, and rows of tables."""
    for part in parts:
        if isinstance(part, str):
            if part.strip():
                raise Unreadable("a text stands outside of any paragraph")
            continue
        if part.attributes.keys() - {"class"} or part.attributes.get("class", "") not in _CLASSES:
            raise Unreadable(f"<{part.name}> has attributes of its own")
        if part.name in ("h1", "h2", "p"):
            yield _text(part)
        elif part.name == "tr":
            yield _CELLS.join(_text(cell) for cell in part.children if isinstance(cell, Element))
        else:
            yield from _blocks(part.children)
