"""Texts for sets of bins or levels of one column, such as "age in [20, 40)" over several bins, or "job in {none,
part}".

In a list of levels, a level with a comma stands in double quotes, as a JSON text: 'job in {"none, or part", full}'.

A valid record lies in exactly one bin of a column. A valid record therefore lies in a set of bins if and only if it
lies in no bin outside the set. Lying in no bin outside the set is a conjunction of negated literals. Conjunctions
therefore suffice for all sets of bins.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from confide.contract.errors import InvalidInput
from confide.contract.words import did_you_mean
from confide.release.columns import Binned, Bit, Levels

if TYPE_CHECKING:
    from confide.release.schema import Schema

__all__ = ["set_literals", "shortened"]

_MOST_ABSENT = 1 << 12  # negated literals that one set may become: each query is as wide as the widest
_SHOWN = 12  # levels in an error message
_IN = re.compile(r"\s+(not\s+)?in\s*(?=[\[({])")
_COMPARED = re.compile(r"(<=|>=|==?|!=|<|>|\u2264|\u2265)\s*([^\s<>=\u2264\u2265]+)")
_RANGE = re.compile(r"([\[(])\s*([^,\s]+)\s*,\s*([^,\s]+)\s*([\])])")


def set_literals(schema: Schema, text: str) -> tuple[tuple[int, bool], ...] | None:
    """The literals whose conjunction says that a record lies in a set of bins or levels; None if the text names no set.

    A set with one reachable bin is one positive literal. Any other set has one negated literal for each reachable bin
    outside the set.

    Raises:
        InvalidInput: a bound is no edge of a bin, a level is unknown, the set splits a bin, or the set holds for every
            record or for none. For a wrong bound the message names the nearest edges.
    """
    if text.startswith('"'):
        whole = _unquoted(text, 0)
        if whole is not None and whole[1] == len(text):
            return schema.literals(whole[0])
    for found in _IN.finditer(text):
        place = schema.place_of(text[: found.start()].strip())
        column, body = None if place is None else schema.columns[place], text[found.end() :].strip()
        if place is None or column is None or isinstance(column, Bit):
            continue
        named = _range(column, text, body) if isinstance(column, Binned) else _levels(column, text, body)
        reachable = column.reachable.tolist()
        inside = [each for each in reachable if (each in named) != bool(found[1])]
        if not inside or len(inside) == len(reachable):
            raise InvalidInput("attribute", f"{text!r} holds for {'every record' if inside else 'no record'}",
                               "leave it out" if inside else "ask for at least one bin or level that a record can have")
        start = int(schema.starts[place])
        if len(inside) == 1:
            return ((start + inside[0], True),)
        if len(reachable) - len(inside) > _MOST_ABSENT:
            raise InvalidInput("attribute", f"{text!r} leaves out {len(reachable) - len(inside):,} bins or levels",
                               f"must be at most {_MOST_ABSENT:,}: take wider bins, such as edges=(...)")
        return tuple((start + each, False) for each in reachable if each not in inside)
    _refuse_comparison(schema, text)
    return None


def _refuse_comparison(schema: Schema, text: str) -> None:
    """Refuse a comparison such as "age >= 65" with a helpful message. The usual hint, the most similar known name,
    could be a range on the wrong side.

    Raises:
        InvalidInput: a column of bins is compared with a number. The message shows a range of whole bins on the right
            side.
    """
    found = _COMPARED.search(text)
    place = None if found is None else schema.place_of(text[: found.start()].strip())
    column = None if place is None else schema.columns[place]
    if found is None or not isinstance(column, Binned):
        return
    edges = [float(cut) for cut in column.cuts]
    try:
        value = float(found[2])
    except ValueError:
        value = math.nan
    low, high = _side(edges, value, found[1])
    closing = "]" if high == column.count else ")"
    word = "not in" if found[1] == "!=" else "in"
    raise InvalidInput("attribute", f"{text!r} is a comparison, but a condition must ask for whole bins",
                       f"ranges are written like '{column.column} {word} [{column.cuts[low]}, "
                       f"{column.cuts[high]}{closing}', with edges of bins")


def _side(edges: list[float], value: float, sign: str) -> tuple[int, int]:
    """Edges of a range of whole bins on the side of a comparison. The range lies within the side of the comparison if
    any bin does.
    """
    last = len(edges) - 1
    if sign in (">", ">=", "\u2265"):
        inner = [place for place, edge in enumerate(edges) if 0 < place < last and edge >= value]
        return (inner[0] if inner else last - 1), last
    if sign in ("<", "<=", "\u2264"):
        inner = [place for place, edge in enumerate(edges) if 0 < place < last and edge <= value]
        return 0, (inner[-1] if inner else 1)
    place = min(max(bisect_right(edges, value) - 1, 0), last - 1)
    return place, place + 1


def _range(column: Binned, text: str, body: str) -> set[int]:
    found = _RANGE.fullmatch(body)
    if found is None or found[1] != "[":
        raise InvalidInput("attribute", f"{text!r} is not a range", f"must be written like {column.names[0]!r}")
    edges = [float(cut) for cut in column.cuts]
    low, high = (_edge(column, edges, text, number) for number in found.group(2, 3))
    if not low < high:
        raise InvalidInput("attribute", f"{text!r} is empty", "the second edge must be above the first")
    closing = "]" if high == column.count else ")"
    if found[4] != closing:
        meant = f"{text[: -len(body)]}[{column.cuts[low]}, {column.cuts[high]}{closing}"
        raise InvalidInput("attribute", f"{text!r} does not end at the edge of a bin",
                           f"did you mean {meant!r}? only the last bin holds its upper edge")
    return set(range(low, high))


def _edge(column: Binned, edges: list[float], text: str, number: str) -> int:
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if value in edges:
        return edges.index(value)
    above = bisect_right(edges, value) if edges[0] < value < edges[-1] else 0
    limit = (f"it lies between {column.cuts[above - 1]} and {column.cuts[above]}" if above else
             f"they run from {column.cuts[0]} to {column.cuts[-1]}")
    raise InvalidInput("attribute", f"{text!r}: {number} is not an edge of a bin of {column.column}", limit)


def _levels(column: Levels, text: str, body: str) -> set[int]:
    if not (body.startswith("{") and body.endswith("}")):
        raise InvalidInput("attribute", f"{text!r} is not a list of levels",
                           f"must be written like '{column.column} in {{{', '.join(column.levels[:2])}}}'")
    named = _listed(column, body[1:-1])
    for each in named:
        if each not in column.levels:
            quotes = ("; write double quotes around a level with a comma, and close them before the next comma"
                      if any(map(_needs_quotes, column.levels)) else "")
            raise InvalidInput("attribute", f"{text!r}: {each!r} is not a level of {column.column}",
                               did_you_mean(each, column.levels, _limit(column)) + quotes)
    places = [column.levels.index(each) for each in named]
    bins = {int(column.bin_of[place]) for place in places}
    for level, found in zip(column.levels, column.bin_of.tolist(), strict=True):
        if found in bins and level not in named:
            raise InvalidInput("attribute", f"{text!r} splits a bin, since {level!r} is in the same bin",
                               "name all levels of a bin")
    return bins


def _limit(column: Levels) -> str:
    """The levels of a column as they are written in a list."""
    shown = [json.dumps(each, ensure_ascii=False) if _needs_quotes(each) else each for each in column.levels[:_SHOWN]]
    return f"must be one of {', '.join(shown)}" + (", ..." if len(column.levels) > _SHOWN else "")


def _listed(column: Levels, text: str) -> list[str]:
    """The levels of a list. Without quotes a comma ends a level. Quotes belong to a level whose name has them."""
    plain = [each.strip() for each in text.split(",")]
    if all(each in column.levels for each in plain) and not any(map(_needs_quotes, column.levels)):
        return plain
    found, at = list[str](), 0
    while at <= len(text):
        start = at + len(text[at:]) - len(text[at:].lstrip())
        quoted = _unquoted(text, start)
        rest = "" if quoted is None else text[quoted[1] :].lstrip()
        if quoted is not None and (not rest or rest.startswith(",")):
            found.append(quoted[0])
            at = len(text) - len(rest) + 1
        else:
            end = text.find(",", at)
            end = len(text) if end < 0 else end
            found.append(text[at:end].strip())
            at = end + 1
    return found


def _unquoted(text: str, at: int) -> tuple[str, int] | None:
    """The text in quotes that begins at a position, and the position behind it; None if no quoted text begins there."""
    if not text.startswith('"', at):
        return None
    try:
        found, end = json.JSONDecoder(strict=False).raw_decode(text, at)
    except ValueError:
        return None
    return found, end


def _needs_quotes(level: str) -> bool:
    """Whether a list that contains a level cannot be split by its commas alone."""
    return "," in level or level != level.strip()


def shortened(schema: Schema, literals: Sequence[tuple[int, bool]]) -> list[str]:
    """Literals of one conjunction as texts. Several negated literals of a column are written as one set, if the set can
    be written as a text.

    `set_literals` turns the texts back into the literals.
    """
    texts: dict[int, list[str]] = {}
    absent: dict[int, list[int]] = {}
    for attribute, bit in literals:
        place = int(schema.column_of[attribute])
        texts.setdefault(place, [])
        if bit or isinstance(schema.columns[place], Bit):
            texts[place].append((schema.names if bit else schema.negated)[attribute])
        else:
            absent.setdefault(place, []).append(attribute - int(schema.starts[place]))
    for place, bins in absent.items():
        start, short = int(schema.starts[place]), _in_words(schema.columns[place], bins)
        texts[place] += [schema.negated[start + each] for each in bins] if short is None else [short]
    return [text for each in texts.values() for text in each]


def _in_words(column: Binned | Levels | Bit, absent: list[int]) -> str | None:
    present = [each for each in column.reachable.tolist() if each not in absent]
    if len(absent) < 2 or len(present) < 2 or not set(absent) <= set(column.reachable.tolist()):
        return None
    if isinstance(column, Binned):
        for word, some, others in (("in", present, absent), ("not in", absent, present)):
            low, high = min(some), max(some)
            if not any(low < each < high for each in others):
                closing = "]" if high + 1 == column.count else ")"
                return f"{column.column} {word} [{column.cuts[low]}, {column.cuts[high + 1]}{closing}"
        return None
    if isinstance(column, Bit) or any(map(_needs_quotes, column.levels)):  # packs of before have these words
        return None
    word, some = ("in", present) if len(present) <= len(absent) else ("not in", absent)
    chosen = [level for level, found in zip(column.levels, column.bin_of.tolist(), strict=True) if found in some]
    return f"{column.column} {word} {{{', '.join(chosen)}}}"
