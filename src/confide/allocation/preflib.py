"""PrefLib's files of orders (.soc, .soi, .toc, .toi: with or without ties, complete or incomplete), and of categories
(.cat).

A line gives an order and the number of people who gave this order. The people of a line take the next positions in the
public list of ids, so the same file always gives the same positions. A good that a person does not rank is worth 0 to
that person.

A file that contradicts the lines at its head, or the extension of its name, is refused before any order is used,
because one lost line would move all later people to other positions. A line that is not a valid order makes only the
records of the people of that line unusable.

A PrefLib file is for orders that are no longer secret. Positions follow the lines of the file, so anyone who knows how
the file is sorted can infer from a person's position what the person may have ranked. Secret orders are collected under
ids that carry no meaning.

Source: the format of preflib.org (Mattei and Walsh 2013), with lines of "# KEY: value" at its head.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from confide.allocation.scales import Ranks
from confide.allocation.tables import Rows, coded
from confide.contract.errors import InvalidInput
from confide.contract.words import cause
from confide.tables import Roster

__all__ = ["SUFFIXES", "PrefLib"]

SUFFIXES = (".soc", ".soi", ".toc", ".toi", ".cat")
"""File endings of PrefLib's formats."""

_PEOPLE = 2**16  # of a batch
_NUMBER = r"[0-9]{1,9}"
_GROUP = rf"(?:{_NUMBER}|\{{(?:{_NUMBER}(?:,{_NUMBER})*)?\}})"
_ORDER = re.compile(rf"({_NUMBER}):((?:{_GROUP}(?:,{_GROUP})*)?)")
_COUNT = re.compile(rf"({_NUMBER}):")
_PARTS = re.compile(_GROUP)
_STRICT = (".soc", ".soi")  # whose orders have no ties
_COMPLETE = (".soc", ".toc")  # whose orders rank all alternatives


@dataclass(frozen=True, kw_only=True)
class PrefLib:
    """A PrefLib file, and the assignment of its alternatives to the goods.

    Args:
        path: path of the file.
        goods: names of the goods: either all of them names of alternatives in the file, or all of them numbers of
            alternatives.
        unlisted: treatment of an alternative that is none of the goods: "reject" raises an error, and "ignore" leaves
            the alternative out of all orders.

    Raises:
        InvalidInput: a missing file, another format, or a good that is no alternative.
    """

    path: Path
    goods: tuple[str, ...]
    unlisted: Literal["reject", "ignore"] = "reject"

    @property
    def categories(self) -> bool:
        """Whether the file holds categories instead of orders."""
        return self.path.suffix.lower() == ".cat"

    def alternatives(self) -> tuple[int, ...]:
        """The number of the good, from 0, for each alternative, from alternative 1 on; -1 if the alternative is none of
        the goods.
        """
        head, count = self._head(), self._count()
        names = {int(found[1]): value for key, value in head.items()
                 if (found := re.fullmatch(rf"ALTERNATIVE NAME ({_NUMBER})", key))}
        numbers = {name: number for number, name in reversed(names.items())}
        if not all(good in numbers for good in self.goods):
            numbers = {str(number): number for number in range(1, count + 1)}
        missing = [good for good in self.goods if not 1 <= numbers.get(good, 0) <= count]
        if missing:
            raise InvalidInput("goods.names", f"{missing[0]!r} is not an alternative of {self.path.name}")
        found_goods = [-1] * count
        for place, good in enumerate(self.goods):
            found_goods[numbers[good] - 1] = place
        if self.unlisted == "reject" and -1 in found_goods:
            raise InvalidInput("goods.names", f"leave out alternative {found_goods.index(-1) + 1} of {self.path.name}",
                               'name all alternatives, or set unlisted = "ignore"')
        return tuple(found_goods)

    def check(self) -> None:
        """Check that the lines agree with the file's head and with the extension of the file's name.

        Raises:
            InvalidInput: the number of people differs from the number in the line NUMBER VOTERS, or the format forbids
                an order. The error message names both numbers of people, or the forbidden line.
        """
        ending, count, people = self.path.suffix.lower(), self._count(), 0
        for number, here, pairs in self._orders(count):
            people += here
            if pairs is None:
                continue
            if ending in _STRICT and len({place for _, place in pairs}) < len(pairs):
                raise InvalidInput("source", f"line {number} of {self.path.name} has ties",
                                   f"orders of a {ending} file have no ties; a file with ties must end in .toi or .toc")
            if ending in _COMPLETE and len(pairs) < count:
                raise InvalidInput("source", f"line {number} of {self.path.name} ranks {len(pairs)} of {count} "
                                   "alternatives", f"orders of a {ending} file rank all alternatives; a file with "
                                                   "partial orders must end in .soi or .toi")
        said = self._head().get("NUMBER VOTERS")
        if said is not None and (not re.fullmatch(_NUMBER, said) or int(said) != people):
            raise InvalidInput("source", f"the lines of {self.path.name} have {people:,} people, but its head has "
                                         f"NUMBER VOTERS: {said}",
                               "correct the file: a line is lost or a count is wrong, so everybody after it would have "
                               "another person's place")

    def _head(self) -> dict[str, str]:
        """Mapping from key to value of the lines "# KEY: value". If a key is repeated, its last line counts."""
        found = dict[str, str]()
        for line in self._lines():
            if not line.startswith("#"):
                break
            key, _, value = line[1:].strip().partition(":")
            found[key.strip().upper()] = value.strip()
        return found

    def _count(self) -> int:
        """Number of alternatives, from the file's head."""
        said = self._head().get("NUMBER ALTERNATIVES", "")
        if not re.fullmatch(_NUMBER, said):
            raise InvalidInput("source", f"{self.path.name} has no line '# NUMBER ALTERNATIVES: ...'",
                               "must be a file of PrefLib's present format")
        return int(said)

    def _orders(self, alternatives: int) -> Iterator[tuple[int, int, list[tuple[int, int]] | None]]:
        """The number of each line, the number of its people, and its pairs (alternative, place). None stands in place
        of the pairs of an invalid order.
        """
        for number, line in enumerate(self._lines(), 1):
            text = re.sub(r"\s", "", line)
            if text and not text.startswith("#"):
                counts = _COUNT.match(text)
                # What is no line of the format is somebody's all the same.
                yield number, int(counts[1]) if counts else 1, _order(text, alternatives)

    def read(
        self, scale: Ranks, roster: Roster, rejected: MutableMapping[str, str] | None = None,
        counted: list[int] | None = None,
    ) -> Iterator[Rows]:
        """Read the rows of all people once, in the order of the lines.

        Args:
            scale: public rule that turns a place in an order into a value.
            roster: public list of ids. If the list has more ids than the file has people, the last ids have no row.
            rejected: mapping that receives a reason for each id with an unusable record. For a line with more people
                than are left in the list, the key is the line. Only the operator may see the mapping.
            counted: list to which the number of people on all lines together is appended; None for no count.
        """
        rule = replace(scale, as_written=True) if self.categories else scale
        goods = np.array(self.alternatives(), dtype=np.int64)
        reported, orders, at = dict[str, str](), list[tuple[int, int, list[tuple[int, int]]]](), 0
        for number, people, pairs in self._orders(len(goods)):
            if at + people > roster.count:
                reported[f"line {number}"] = "more people than the head declares"
            here = max(0, min(people, roster.count - at))
            if pairs is None:
                reported.update((roster.identity(at + each),
                                 "is not an order of the alternatives") for each in range(here))
            elif here:
                orders.append((at, here, pairs))
            at += people
        if counted is not None:
            counted.append(at)
        if rejected is not None:
            rejected.update(reported)
        yield from _expanded(orders, goods, rule)

    def _lines(self) -> Iterator[str]:
        try:
            with self.path.open(encoding="utf-8-sig", errors="replace") as file:
                yield from file
        except OSError as error:
            raise InvalidInput("source", f"{self.path} cannot be read: {cause(error)}") from None


def _order(text: str, alternatives: int) -> list[tuple[int, int]] | None:
    """The pairs (alternative, place) of an order, both counted from 1; None for an invalid order."""
    found = _ORDER.fullmatch(text)
    if found is None:
        return None
    pairs = [(int(number), place) for place, group in enumerate(_PARTS.findall(found[2]), 1)
             for number in re.findall(_NUMBER, group)]
    named = [number for number, _ in pairs]
    return None if len(set(named)) < len(named) or not all(1 <= n <= alternatives for n in named) else pairs


def _expanded(
    orders: list[tuple[int, int, list[tuple[int, int]]]], goods: np.ndarray, rule: Ranks
) -> Iterator[Rows]:
    """Rows that repeat each order for each person who gave it."""
    for start in range(0, len(orders), _PEOPLE):
        some = orders[start : start + _PEOPLE]
        row = np.repeat(np.arange(len(some)), [len(pairs) for _, _, pairs in some])
        flat = np.array([pair for _, _, pairs in some for pair in pairs], dtype=np.int64).reshape(-1, 2)
        named, place = goods[flat[:, 0] - 1], flat[:, 1]
        kept = named >= 0
        row, named, place = row[kept], named[kept], place[kept]
        order = np.lexsort((named, row))
        rows = coded(np.arange(len(some)), row[order], named[order], place[order].astype(np.float64), rule)
        index = np.concatenate([np.arange(at, at + here) for at, here, _ in some])
        again = np.repeat(np.arange(len(some)), [here for _, here, _ in some])
        for first in range(0, len(index), _PEOPLE):
            yield _taken(rows, index[first : first + _PEOPLE], again[first : first + _PEOPLE])


def _taken(rows: Rows, index: np.ndarray, places: np.ndarray) -> Rows:
    """The rows at the given places, one row for each person in `index`. A row repeats if its place is listed again."""
    lengths = np.diff(rows.starts)[places]
    starts = np.append(0, np.cumsum(lengths)).astype(np.int64)
    at = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths) + np.repeat(rows.starts[places], lengths)
    return Rows(index, starts, rows.named[at], rows.values[at])
