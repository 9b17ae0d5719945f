"""Comparison of markup with the expected markup, element by element and attribute by attribute. The markup must have no
further elements or attributes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from confide.charts.markup import Element, Unreadable

__all__ = ["NUMBER", "Chosen", "Expected", "Free", "Label", "Near", "Said", "compare"]

NUMBER = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?(?:e-?[0-9]+)?)")
"""Pattern of a number within a text, which splits the text into words and numbers."""
_EXACT = 0.002  # pixels: paths are written with three decimals
_SPELLED = re.compile(r"\u2212?(?:0|[1-9][0-9]*|[1-9][0-9]{0,2}(?:,[0-9]{3})+)(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?")
_CLOSE = 1e-9


@dataclass(frozen=True)
class Near:
    """Expected value of an attribute with numbers that are known up to a tolerance.

    Args:
        text: value that follows from the specification.
        within: largest allowed difference between a found and an expected number.
    """

    text: str
    within: float = _EXACT


@dataclass(frozen=True)
class Free:
    """Expected value of an attribute with numbers that depend on fonts.

    Args:
        text: value that follows from the specification, with `#` for each number.
        name: key in `Kept.numbers` under which the found numbers are kept.
    """

    text: str
    name: str


@dataclass(frozen=True)
class Chosen:
    """Expected value of an attribute that is one of several given words, depending on fonts. The word that is found in
    the drawing is kept with the text of its element.
    """

    words: tuple[str, ...]


@dataclass(frozen=True)
class Said:
    """Expected value of an attribute with words and numbers for screen readers.

    Args:
        parts: words, and numbers in any spelling that the drawing software uses.
        decimals: number of decimals to which the numbers are rounded. None for numbers that are not rounded; only their
            last digits may differ.
    """

    parts: Sequence[str | float]
    decimals: int | None = None


@dataclass(frozen=True)
class Label:
    """The expected text of an element: a text or a number.

    Args:
        text: the expected text; empty if a number is expected.
        value: the expected number.
        blank: whether the element stays empty although the tick has a number.
        letters: smallest number of letters that a shortened text keeps; 0 if the text must not be shortened.
        name: key in `Kept.labels` under which the place, the text and the chosen word of the element are kept; empty if
            they need not be kept.
        place: position along the axis, in pixels.
    """

    text: str = ""
    value: float | None = None
    blank: bool = False
    letters: int = 0
    name: str = ""
    place: float = 0.0


Value = str | Near | Free | Chosen | Said


@dataclass(frozen=True)
class Expected:
    """An expected element, with all of its attributes and its whole content.

    Args:
        name: name of the tag.
        attributes: mapping from attribute name to value.
        children: expected elements inside this element, in order.
        text: text of the element. An element with a text has no children.
    """

    name: str
    attributes: Mapping[str, Value]
    children: Sequence[Expected] = ()
    text: Label | None = None


@dataclass
class Kept:
    """The parts of a drawing that depend on fonts.

    Args:
        numbers: mapping from key to numbers, in order.
        labels: mapping from key to triples (place, text, chosen word of the element), in order.
    """

    numbers: dict[str, list[float]] = field(default_factory=dict)
    labels: dict[str, list[tuple[float, str, str]]] = field(default_factory=dict)


def compare(now: Expected, then: Element) -> Kept:
    """Compare a found element with the expected one.

    Args:
        now: the expected element, which follows from the specification.
        then: the element that was found in the drawing.

    Returns:
        The parts that depend on fonts.

    Raises:
        Unreadable: the elements differ. The message names the place.
    """
    kept = Kept()
    _compare(now, then, kept)
    return kept


def _compare(now: Expected, then: Element | str, kept: Kept) -> None:
    if isinstance(then, str) or then.name != now.name:
        raise Unreadable(f"{'a text' if isinstance(then, str) else f'<{then.name}>'} stands where <{now.name}> belongs")
    if then.attributes.keys() != now.attributes.keys():
        odd = min(then.attributes.keys() ^ now.attributes.keys())
        raise Unreadable(f"the attribute {odd} is {'not expected' if odd in then.attributes else 'missing'} on "
                         f"<{now.name}>")
    chosen = ""
    for key, value in now.attributes.items():
        said = then.attributes[key]
        if not _fits(value, said, kept):
            raise Unreadable(f"{key} of <{now.name}> is {_short(said)}, not {_short(value)}")
        if isinstance(value, Chosen):
            chosen = said
    if now.text is not None:
        _check_text(now.text, then, chosen, kept)
        return
    if len(then.children) != len(now.children):
        raise Unreadable(f"<{now.name}> holds {len(then.children)} parts, not {len(now.children)}")
    for one, other in zip(now.children, then.children, strict=True):
        _compare(one, other, kept)


def _short(value: Value) -> str:
    text = value if isinstance(value, str) else str(getattr(value, "text", value))
    return repr(text[:60])


def _fits(now: Value, then: str, kept: Kept) -> bool:
    match now:
        case str():
            return now == then
        case Chosen(words=words):
            return then in words
        case Said():
            return _says(now, then)
        case Free(text=text, name=name):
            theirs = NUMBER.split(then)
            kept.numbers.setdefault(name, []).extend(map(float, theirs[1::2]))
            return text.split("#") == theirs[::2] and all(map(math.isfinite, kept.numbers[name]))
        case Near(text=text, within=within):
            mine, theirs = NUMBER.split(text), NUMBER.split(then)
            return mine[::2] == theirs[::2] and len(mine) == len(theirs) and all(
                abs(float(one) - float(other)) <= within
                for one, other in zip(mine[1::2], theirs[1::2], strict=True))


def _says(now: Said, then: str) -> bool:
    pattern = "".join(re.escape(each) if isinstance(each, str) else f"({_SPELLED.pattern})" for each in now.parts)
    found = re.fullmatch(pattern, then)
    values = [each for each in now.parts if not isinstance(each, str)]
    if found is None:
        return False
    if now.decimals is None:
        return all(_is_number(text, value) for text, value in zip(found.groups(), values, strict=True))
    within = 0.5 * 10.0**-now.decimals * (1 + _CLOSE)
    return all(len(text.partition(".")[2]) == now.decimals and _is_number(text, value, within)
               for text, value in zip(found.groups(), values, strict=True))


def _is_number(text: str, value: float, within: float = 0.0) -> bool:
    if not _SPELLED.fullmatch(text):
        return False
    said = float(text.replace(",", "").replace("\u2212", "-"))
    return math.isclose(said, value, rel_tol=_CLOSE, abs_tol=within)


def _check_text(label: Label, then: Element, chosen: str, kept: Kept) -> None:
    if any(not isinstance(each, str) for each in then.children):
        raise Unreadable("a text has an element inside")
    said = "".join(map(str, then.children))
    if label.value is not None:
        right = not said if label.blank else _is_number(said, label.value)
    else:
        text = label.text.strip()  # as the drawing software does
        right = said == text or (0 < label.letters < len(said) <= len(text) and said.endswith("\u2026")
                                 and text.startswith(said[:-1]))
    if not right:
        raise Unreadable(f"{_short(said)} stands where {_short(label.text) if label.value is None else label.value} "
                         "belongs")
    if label.name:
        kept.labels.setdefault(label.name, []).append((label.place, said, chosen))
