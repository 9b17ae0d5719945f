"""A schema: which public columns a table has, and which binary attributes they make.

Queries as texts: the literals of one stand between commas or "and", and names may hold both.

Of what a name could be, the longest is meant. Where that would read another query than was written, a literal stands in
quotes, as a text of JSON: "job = a, b" and "smoker".
"""

from __future__ import annotations

import json
import re
import warnings
from collections import Counter
from collections.abc import Collection, MutableMapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.contract.mechanism import MOST_UNUSABLE
from confide.contract.wire import wire
from confide.contract.words import did_you_mean
from confide.release._inputs import of_kind
from confide.release.columns import Binned, Bit, Levels
from confide.release.sets import set_literals

if TYPE_CHECKING:
    from confide.release.records import Codes
    from confide.tables.roster import Roster

__all__ = ["Binned", "Bit", "Levels", "Schema", "hazards", "joined", "split"]

# ---- query texts

_BETWEEN = re.compile(r"\s*,\s*|\s+and\s+")
_ENDS = re.compile(r"(?=\s*,|\s+and\s)")
"""Where a literal may end before the last one: also within what another separator would take."""


def split(schema: Schema, text: str) -> list[str]:
    """The literals of a text. Names of bins and levels may hold commas: the longest known one is meant.

    Args:
        schema: the public columns.
        text: literals between commas or "and"; one in quotes is a text of JSON.

    Example:
        >>> from confide.release.schema import Levels, Schema
        >>> split(Schema((Levels(column="job", levels=("a", "b, c")), Levels(column="d", levels=("e", "f")))),
        ...       "job = b, c and d = e")
        ['job = b, c', 'd = e']
    """
    text = text.strip()
    ends, found, start = [each.start() for each in _ENDS.finditer(text)] + [len(text)], list[str](), 0
    while start < len(text):
        ahead = [end for end in ends if end > start]
        end = next((end for end in reversed(ahead) if _known(schema, text[start:end])), None)
        if end is None:  # up to where its brackets close: the reader is told that this is unknown
            end = next((end for end in ahead if _closed(text[start:end])), len(text))
        found.append(text[start:end].strip())
        between = _BETWEEN.match(text, end)
        start = end if between is None else between.end()
    return [each for each in found if each] if any(found) else []


def joined(schema: Schema, literals: Sequence[str]) -> str:
    """One text of literals, which `split` takes apart again."""
    text = " and ".join(literals)
    if not schema.braces and schema.hazards.isdisjoint(literals):
        return text
    if _read(schema, split(schema, text)) == _read(schema, literals):
        return text
    return " and ".join(json.dumps(each, ensure_ascii=False) for each in literals)


def hazards(known: Collection[str]) -> frozenset[str]:
    """The texts that others begin with, up to a comma or an "and" in them: the longer one could be read."""
    return frozenset(text[: found.start()] for text in known for found in _ENDS.finditer(text)) & frozenset(known)


def _read(schema: Schema, literals: Sequence[str]) -> list[tuple[tuple[int, bool], ...]] | None:
    try:
        return [schema.literals(each) for each in literals]
    except InvalidInput:
        return None


def _known(schema: Schema, text: str) -> bool:
    return _read(schema, [text]) is not None


def _closed(text: str) -> bool:
    return sum(map(text.count, "[{")) <= sum(map(text.count, ")]}"))


# ---- schema

_MOST_BITS = 1 << 24


@wire("Schema", "columns")
@dataclass(frozen=True)
class Schema:
    """The columns of a table, each with its public bins, levels or bit, in order.

    A column of bins or levels makes one attribute for each of them; a record has exactly one of these set. A bit makes
    one attribute. A record is held as cells: one small number for each column, which counts its reachable bins.

    Args:
        columns: at least one; each column once.

    Raises:
        InvalidInput: no sequence of columns, none, one that stands twice, one that is no role, or two attributes of one
            name.

    Example:
        >>> schema = Schema((Levels(column="sex", levels=("female", "male")),
        ...                  Binned(column="age", lower=0, upper=100, bins=4), Bit(column="smoker")))
        >>> schema.attributes, schema.sizes, schema.names[3]
        (7, (2, 4, 2), 'age in [25, 50)')
        >>> schema.attribute("age", 30), schema.attribute("smoker", True)
        (3, 6)
    """

    columns: tuple[Binned | Levels | Bit, ...]

    def __post_init__(self) -> None:
        given: object = self.columns
        if not isinstance(given, Sequence) or isinstance(given, str | bytes):
            raise InvalidInput("columns", f"is of type {type(given).__name__}", "must be a sequence of columns")
        if not self.columns:
            raise InvalidInput("columns", "none is given", "a schema has at least one column")
        object.__setattr__(self, "columns", tuple(self.columns))
        seen: set[str] = set()
        for column in self.columns:
            if not isinstance(column, Binned | Levels | Bit):
                raise InvalidInput("columns", f"{type(column).__name__} is no role", "must be Binned, Levels or Bit")
            if column.column in seen:
                raise InvalidInput("columns", f"{column.column!r} stands twice")
            seen.add(column.column)
        if len(set(self.names)) < len(self.names):
            twice = min(name for name in self.names if self.names.count(name) > 1)
            raise InvalidInput("columns", f"two attributes are called {twice!r}", "give a column another name")
        texts = Counter([*self.names, *self.negated])
        if len(texts) < 2 * len(self.names):
            twice = min(text for text, count in texts.items() if count > 1)
            raise InvalidInput("columns", f"{twice!r} would say two things", "give a column another name")

    @classmethod
    def bits(cls, count: int) -> Schema:
        """A schema of so many bits, called x0, x1 and so on.

        Example:
            >>> Schema.bits(3).names
            ('x0', 'x1', 'x2')
        """
        if whole("count", count, at_least=1) > _MOST_BITS:
            raise InvalidInput("count", f"{count} is too many", f"must be at most {_MOST_BITS}")
        return cls(tuple(Bit(column=f"x{number}") for number in range(count)))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of each attribute, d texts."""
        return tuple(name for column in self.columns for name in column.names)

    @property
    def attributes(self) -> int:
        """The number of binary attributes, d, unreachable ones included."""
        return len(self.names)

    @cached_property
    def starts(self) -> np.ndarray:
        """The first attribute of each column and, at the end, d; int64 of shape (m + 1,)."""
        return np.cumsum([0, *(len(column.names) for column in self.columns)])

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many cells each column has: its reachable bins; 2 for a bit."""
        return tuple(len(column.reachable) for column in self.columns)

    @cached_property
    def cell_attributes(self) -> tuple[np.ndarray, ...]:
        """The attribute that each cell of each column sets, int32; -1 for the false of a bit."""
        found = []
        for column, start in zip(self.columns, self.starts.tolist(), strict=False):
            if isinstance(column, Bit):
                found.append(np.array([-1, start], np.int32))
            else:
                found.append((start + column.reachable).astype(np.int32))
        return tuple(found)

    @cached_property
    def groups(self) -> tuple[np.ndarray, ...]:
        """The attributes of each column that is no bit, int32: exactly one of them is set in a valid record."""
        return tuple(np.arange(start, end, dtype=np.int32) for column, start, end
                     in zip(self.columns, self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True)
                     if not isinstance(column, Bit))

    @cached_property
    def column_of(self) -> np.ndarray:
        """The column of each attribute, int32 of shape (d,)."""
        return np.repeat(np.arange(len(self.columns), dtype=np.int32), np.diff(self.starts))

    @cached_property
    def cell_of(self) -> np.ndarray:
        """The cell of its column that sets each attribute, int32 of shape (d,); -1 where no value reaches it."""
        found = np.full(self.attributes, -1, np.int32)
        for cells in self.cell_attributes:
            sets = cells >= 0
            found[cells[sets]] = np.flatnonzero(sets)
        return found

    @cached_property
    def sets(self) -> tuple[np.ndarray, np.ndarray]:
        """The first cell of each column among all cells, int64 (m + 1,), and what each cell sets, int32, as above."""
        return np.cumsum([0, *self.sizes]), np.concatenate(self.cell_attributes)

    @cached_property
    def null_record(self) -> np.ndarray:
        """The record that stands for one that is missing or unusable: cell 0 in every column, as d bits."""
        bits = np.zeros(self.attributes, np.bool_)
        bits[[cells[0] for cells in self.cell_attributes if cells[0] >= 0]] = True
        return bits

    def attribute(self, column: str, value: object) -> int:
        """The attribute that a value of a column sets.

        Args:
            column: name of the column.
            value: as it stands in the table.

        Raises:
            InvalidInput: an unknown column (names the nearest), or a value that none of its attributes stands for.
        """
        names = [each.column for each in self.columns]
        of_kind("column", column, str)
        if column not in names:
            shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
            near = did_you_mean(str(column), names, f"columns: {shown}")
            raise InvalidInput("column", f"{column!r} is unknown", near)
        number = names.index(column)
        role, start = self.columns[number], int(self.starts[number])
        values, problems = role.encode([value])
        if problems[0]:
            raise InvalidInput(column, f"{value!r} is none of its values", role.limit())
        if isinstance(role, Bit):
            if not values[0]:
                raise InvalidInput(column, "false sets no attribute", "ask for the true one with the bit False")
            return start
        return start + int(values[0])

    def find(self, name: str) -> int:
        """The attribute of a name.

        Raises:
            InvalidInput: no attribute has it; names the nearest.
        """
        of_kind("attribute", name, str)
        found = self._places.get(name)
        if found is None:
            shown = ", ".join(self.names[:6]) + (", ..." if len(self.names) > 6 else "")
            raise InvalidInput("attribute", f"{name!r} is unknown",
                               did_you_mean(str(name), self.names, f"attributes: {shown}"))
        return found

    @cached_property
    def negated(self) -> tuple[str, ...]:
        """The text of each attribute where it does not hold; d texts.

        Example:
            >>> Schema((Levels(column="sex", levels=("female", "male")), Bit(column="smoker"),
            ...         Binned(column="age", lower=0, upper=100, bins=2))).negated
            ('sex != female', 'sex != male', 'not smoker', 'age not in [0, 50)', 'age not in [50, 100]')
        """
        found = []
        for column in self.columns:
            for name in column.names:
                rest = name[len(column.column):]
                if isinstance(column, Binned):
                    found.append(f"{column.column} not{rest}")
                elif isinstance(column, Bit):
                    found.append(f"not {name}" if column.false is None else f"{column.column} = {column.false}")
                elif not rest.startswith(" = "):
                    found.append(f"not {name}")
                else:
                    found.append(f"{column.column} !={rest[2:]}")
        return tuple(found)

    def literal(self, text: str) -> tuple[int, bool]:
        """The attribute that a literal names, and the bit that it requires: "sex = male" or "sex != male".

        A bit whose texts are named also goes by its column, "smoker" and "not smoker", where nothing else has the name.

        Raises:
            InvalidInput: no attribute has this name, plain or negated; names the nearest. Or a set of bins or levels
                that takes more than one literal, see `literals`.
        """
        found = self.literals(text)
        if len(found) > 1:
            raise InvalidInput("attribute", f"{text!r} is a set of bins or levels, and no single attribute",
                               "Workload.conjunctions takes it")
        return found[0]

    def literals(self, text: str) -> tuple[tuple[int, bool], ...]:
        """The literals that a text stands for: the attribute of each, and the bit that it requires.

        A name, plain or negated, is one literal. A range over several bins, such as "age in [20, 40)" or "age not in
        [20, 40)", and a list of levels, such as "job in {none, part}", hold where none of the other bins or levels
        does: they are the negated literals of those. A query stays a count of records, whatever sets it asks for. A
        level in a list, and a whole literal, may stand in double quotes, as a text of JSON: 'job in {"none, or part",
        full}'. A level with a comma has to.

        Raises:
            InvalidInput: an unknown name, bound or level (names the nearest), or a set of all or of none.

        Example:
            >>> schema = Schema((Levels(column="job", levels=("none", "part", "full", "self")), Bit(column="smoker")))
            >>> schema.literals("job in {none, part, self}"), schema.literals("not smoker")
            (((2, False),), ((4, False),))
        """
        of_kind("attribute", text, str)
        text = text.strip()
        single = self._literals.get(text)
        if single is not None:
            return (single,)
        found = self._sets.get(text)
        if found is None:
            found = set_literals(self, text)
            if found is None:
                shown = ", ".join(map(repr, self.names[:4])) + (", ..." if len(self.names) > 4 else "")
                # What is written as a negation was not meant as its opposite.
                known = [each for each in self._literals if _negates(each) or not _negates(text)]
                meant = did_you_mean(text, known, f"attributes are {shown}; negated {self.negated[0]!r}")
                raise InvalidInput("attribute", f"{text!r} is unknown",
                                   f"{meant}; a literal names one bin or level, or a set of one column's")
            self._sets[text] = found
        return found

    @cached_property
    def hazards(self) -> frozenset[str]:
        """Literals that another one begins with: a query in which one stands may need quotes."""
        return hazards(self._literals.keys())

    @cached_property
    def braces(self) -> bool:
        """Whether a level holds what ends a list of levels."""
        return any("}" in level for column in self.columns if isinstance(column, Levels) for level in column.levels)

    def place_of(self, column: str) -> int | None:
        """The place of the column with a name; None where there is none."""
        return self._columns.get(column)

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {column.column: place for place, column in enumerate(self.columns)}

    @cached_property
    def _sets(self) -> dict[str, tuple[tuple[int, bool], ...]]:
        """Sets that were read before: workloads name the same ones again and again."""
        return {}

    @cached_property
    def _literals(self) -> dict[str, tuple[int, bool]]:
        absent = {name: (place, False) for place, name in enumerate(self.negated)}
        for start, column in zip(self.starts.tolist(), self.columns, strict=False):
            if isinstance(column, Bit) and column.true is not None:
                absent[f"{column.column} != {column.true}"] = absent[f"not {self.names[start]}"] = (start, False)
                absent[f"{column.column} != {column.false}"] = (start, True)
        known = absent | {name: (place, True) for place, name in enumerate(self.names)}
        short = [(name, (start, bit)) for start, column in zip(self.starts.tolist(), self.columns, strict=False)
                 if isinstance(column, Bit) and column.true is not None
                 for name, bit in ((column.column, True), (f"not {column.column}", False))]
        uses = Counter(name for name, _ in short)
        return known | {name: literal for name, literal in short if name not in known and uses[name] == 1}

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    def encode(
        self, table: Any, *, records: int | Roster | None = None, id: str = "row",  # noqa: A002
        unusable: Literal["refuse", "null"] = "refuse", rejected: MutableMapping[str, str] | None = None,
    ) -> Codes:
        """The records of a table as cells, in one pass.

        Args:
            table: a table that `confide.tables.open_table` reads, or a source that it gave. Where all columns are bits
                without texts, as of `Schema.bits`, also rows of bits in the columns' order, or packed ones.
            records: n, or the public list of ids, whose length is n. None takes the number of rows, which is public
                from then on. With "null", a record that no row gives is the null record; n stays what it is.
            id: the column that holds the id, or "row": the i-th row is the i-th record.
            unusable: treatment of a row with a value that its column does not accept. "refuse" raises, as when a
                data set is registered, before anything is released, and also where records have no row. "null" makes it
                the null record, one by one, and ignores rows beyond the n.
            rejected: receives id or row -> reason for rows that give no record of their own. It is a function of
                private records: the operator's alone.

        Warns:
            UserWarning: more than 1 % of the records have no usable row; for whoever holds the table alone.

        Raises:
            InvalidInput: a column is missing (names the nearest) or of a type that cannot hold its role; no rows; or,
                with "refuse", a value that is not accepted (names the column and what it accepts), or rows for fewer or
                more records than n.

        Example:
            >>> schema, rejected = Schema((Binned(column="age", lower=0, upper=100, bins=10),)), {}
            >>> ages = [31] * 199 + [131]
            >>> schema.encode({"age": ages}, records=201, unusable="null", rejected=rejected).cells[198:].tolist()
            [[3], [0], [0]]
            >>> rejected
            {'200': 'age: is out of bounds; must be in [0, 100]'}
        """
        from confide.release.reading import read_codes

        codes, usable = read_codes(self, table, records, id, unusable, rejected)
        lost = codes.records - usable
        if lost > MOST_UNUSABLE * codes.records:
            warnings.warn(f"{lost:,} of {codes.records:,} records have no usable row and count as the null record: a "
                          "release of them says nothing about these people. `rejected` lists the rows and their "
                          "faults. This follows from private records", stacklevel=2)
        return codes


def _negates(text: str) -> bool:
    """Whether a literal is written as a negation."""
    return text.startswith("not ") or "!=" in text or " not " in text
