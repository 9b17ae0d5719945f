"""Tables with a line for each person and bundle: lists of bids, of which she wants one.

A line that cannot be used makes its person's record unusable; so do two lines about the same bundle, and more lines
than a record may have.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.programs.reading.columns import Number, reason
from confide.tables import Roster, TableSource
from confide.tables._cells import places, plain, strings
from confide.tables.roles import FINE
from confide.tables.slot_rows import SlotRows

__all__ = ["Bids"]

_PEOPLE = 2**16  # of a batch
_JOIN = "+"


@dataclass(frozen=True, kw_only=True)
class Bids:
    """Lists of bids: "a+b" stands for the bundle of the goods a and b.

    Args:
        goods: their names, none of which holds a plus.
        size: goods of a bundle, at most.
        most: bids of a record, at most.
        value: the rule of the column of values.
        bundle: the column of bundles.

    Example:
        >>> from confide.programs.reading.columns import Points
        >>> both = Bids(goods=("a", "b"), size=2, most=1, value=Number.of_values("value", Points(highest=4)))
        >>> both.typed({"b+a": "3"}).tolist()
        [0.0, 1.0, 0.75]
    """

    goods: tuple[str, ...]
    size: int
    most: int
    value: Number
    bundle: str = "bundle"

    @property
    def limit(self) -> str:
        """What a bundle must be, in words."""
        return f"must be 1 to {self.size} different goods with {_JOIN} between them, such as {self._example}"

    @property
    def _example(self) -> str:
        return _JOIN.join(self.goods[: self.size])

    def parsed(self, text: str | None) -> tuple[int, ...] | None:
        """The goods of a bundle, ascending; None where it is none.

        Args:
            text: such as "a+b".
        """
        named = [part.strip() for part in (text or "").split(_JOIN)]
        if not 1 <= len(named) <= self.size:
            return None
        known = places(pa.array(named, pa.large_string()), tuple(self.goods)).tolist()
        if min(known) < 0 or len(set(known)) < len(known):
            return None
        return tuple(sorted(known))

    def check(self, source: TableSource, id: str) -> None:  # noqa: A002
        """Whether the columns are there and can hold what they are for; looks at no value.

        Args:
            source: the table.
            id: the column of ids.

        Raises:
            InvalidInput: they cannot.
        """
        if id == "row":
            raise InvalidInput("people.id", "'row' is no column",
                               "several lines may belong to one person: name their id")
        names = [id, self.bundle, self.value.name]
        if len(set(names)) < len(names):
            raise InvalidInput("data", f"{', '.join(map(repr, names))} are not three columns")
        for batch in source.batches(names, 1):
            Roster(1).index(batch.column(id), id)
            strings(self.bundle, plain(batch.column(self.bundle)))
            self.value.cells(batch.column(self.value.name))
            return

    def read(
        self, source: TableSource, *, roster: Roster, id: str,  # noqa: A002
        rejected: MutableMapping[str, str] | None = None, counted: list[int] | None = None,
    ) -> Iterator[SlotRows]:
        """Read a table once.

        Args:
            source: the table.
            roster: the public list of ids.
            id: the column of ids.
            rejected: receives id -> reason; the operator's alone.
            counted: receives how many lines there were.
        """
        told, lines, before = dict[str, str](), defaultdict[int, list[tuple[tuple[int, ...], float]]](list), 0
        bad = dict[int, str]()
        for batch in source.batches([id, self.bundle, self.value.name]):
            index = roster.index(batch.column(id), id).tolist()
            words = strings(self.bundle, plain(batch.column(self.bundle))).to_pylist()
            cells, wrong = self.value.cells(batch.column(self.value.name))
            for place, (who, text, cell, problem) in enumerate(
                    zip(index, words, cells.tolist(), wrong.tolist(), strict=True)):
                if who < 0:
                    told[f"row {before + place + 1}"] = "no id of the public list"
                    continue
                goods = self.parsed(text)
                if goods is None:
                    bad.setdefault(who, f"{self.bundle}: is no bundle; {self.limit}")
                elif problem != FINE:
                    bad.setdefault(who, reason(self.value, problem))
                else:
                    lines[who].append((goods, cell))
            before += batch.num_rows
        if counted is not None:
            counted.append(before)
        for who, bids in lines.items():
            fault = self._fault(bids)
            if fault:
                bad.setdefault(who, fault)
        told.update((roster.identity(who), why) for who, why in bad.items())
        if rejected is not None:
            rejected.update(told)
        kept = sorted(lines.keys() - bad.keys())
        for at in range(0, len(kept), _PEOPLE):
            some = kept[at : at + _PEOPLE]
            yield SlotRows(np.array(some, dtype=np.int64), np.stack([self._row(lines[who]) for who in some]))

    def typed(self, given: Mapping[str, str]) -> NDArray[np.float64]:
        """(c,) one person's bids as she types them.

        Args:
            given: bundle -> what it is worth to her.

        Raises:
            InvalidInput: no bundle, or bids that cannot be used. The message is hers.
        """
        bids = []
        for text, worth in given.items():
            goods = self.parsed(text)
            if goods is None:
                raise InvalidInput("record", f"{text!r} is no bundle", self.limit)
            cells, wrong = self.value.cells(pa.array([str(worth)], pa.large_string()))
            if wrong[0] != FINE:
                raise InvalidInput("record", reason(self.value, int(wrong[0])))
            bids.append((goods, float(cells[0])))
        fault = self._fault(bids)
        if fault:
            raise InvalidInput("record", fault)
        return self._row(bids)

    def listed(self, row: NDArray[np.float64]) -> list[tuple[str, float]]:
        """(bundle, what it is worth as a number of the file) of each bid of a row, as `typed` made it.

        Args:
            row: (c,) of one person.

        Example:
            >>> from confide.programs.reading.columns import Points
            >>> both = Bids(goods=("a", "b"), size=2, most=2, value=Number.of_values("value", Points(highest=4)))
            >>> both.listed(both.typed({"b+a": "3"}))
            [('a+b', 3.0)]
        """
        goods, values = row[: -self.most].reshape(self.most, self.size).astype(np.int64), row[-self.most :]
        return [(_JOIN.join(self.goods[good] for good in named if good >= 0), self.value.zero + worth * self.value.unit)
                for named, worth in zip(goods.tolist(), values.tolist(), strict=True) if named[0] >= 0]

    def _fault(self, bids: Sequence[tuple[tuple[int, ...], float]]) -> str:
        if len(bids) > self.most:
            return f"{self.bundle}: {len(bids)} of them are too many; at most {self.most}"
        if len({goods for goods, _ in bids}) < len(bids):
            return f"{self.bundle}: one stands twice; each bundle once"
        return ""

    def _row(self, bids: Sequence[tuple[tuple[int, ...], float]]) -> NDArray[np.float64]:
        """Bids in the order of their goods, so that the order of lines says nothing."""
        goods: NDArray[Any] = np.full((self.most, self.size), -1.0)
        values = np.zeros(self.most)
        for place, (named, worth) in enumerate(sorted(bids)):
            goods[place, : len(named)] = named
            values[place] = worth
        return np.concatenate([goods.reshape(-1), values])
