"""A schema: the public columns of a table, and the binary attributes that they define.

The module also parses queries from texts. The literals of a query are separated by commas or "and". The names of
attributes may also contain commas and "and". If several readings of a text are possible, the longest known name is
taken. A literal in double quotes, as a JSON text, prevents a wrong reading: "job = a, b" and "smoker".
"""

from __future__ import annotations

import json
import re
import warnings
from collections import Counter
from collections.abc import Collection, MutableMapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
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
"""Pattern of the positions in a text at which a literal other than the last one may end. A matching position may also
lie inside a longer separator.
"""


def split(schema: Schema, text: str) -> list[str]:
    """The literals of a text. Names of bins and levels may contain commas; the longest known name is taken.

    Args:
        schema: the public columns.
        text: literals, separated by commas or "and". A literal in double quotes is a JSON text.

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
        if end is None:  # up to where its brackets close: the reader learns that this is unknown
            end = next((end for end in ahead if _closed(text[start:end])), len(text))
        found.append(text[start:end].strip())
        between = _BETWEEN.match(text, end)
        start = end if between is None else between.end()
    return [each for each in found if each] if any(found) else []


def joined(schema: Schema, literals: Sequence[str]) -> str:
    """Literals joined into one text, which `split` turns back into the literals."""
    text = " and ".join(literals)
    if not schema.braces and schema.hazards.isdisjoint(literals):
        return text
    if _read(schema, split(schema, text)) == _read(schema, literals):
        return text
    return " and ".join(json.dumps(each, ensure_ascii=False) for each in literals)


def hazards(known: Collection[str]) -> frozenset[str]:
    """The known texts that are the beginning of another known text, up to a comma or an "and". In a joined text, the
    shorter text could be read as a part of the longer one.
    """
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
    """The columns of a table in order, each with its public bins, levels or bit.

    A column of bins or levels defines one attribute for each bin or level, and a record has exactly one attribute of
    the column. A bit defines one attribute. A record is stored as cells: one small number for each column, which
    numbers the bins that some value can reach.

    Args:
        columns: role of each column, `Binned`, `Levels` or `Bit`; at least one role, and each column once.

    Raises:
        InvalidInput: the columns are no sequence or empty, a column occurs twice, an entry is no role, or two
            attributes have the same name.

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
                raise InvalidInput("columns", f"{type(column).__name__} is not a role", "must be Binned, Levels or Bit")
            if column.column in seen:
                raise InvalidInput("columns", f"{column.column!r} stands twice")
            seen.add(column.column)
        if len(set(self.names)) < len(self.names):
            twice = min(name for name in self.names if self.names.count(name) > 1)
            raise InvalidInput("columns", f"two attributes have the name {twice!r}", "give a column another name")
        texts = Counter([*self.names, *self.negated])
        if len(texts) < 2 * len(self.names):
            twice = min(text for text, count in texts.items() if count > 1)
            raise InvalidInput("columns", f"{twice!r} would have two meanings", "give a column another name")

    @classmethod
    def bits(cls, count: int) -> Schema:
        """A schema of `count` bits, called x0, x1 and so on.

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
        """The number of binary attributes, d, including attributes that no value reaches."""
        return len(self.names)

    @cached_property
    def starts(self) -> np.ndarray:
        """The first attribute of each column, followed by d; int64 of shape (m + 1,)."""
        return np.cumsum([0, *(len(column.names) for column in self.columns)])

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of cells of each column: the number of its reachable bins, and 2 for a bit."""
        return tuple(len(column.reachable) for column in self.columns)

    @cached_property
    def cell_attributes(self) -> tuple[np.ndarray, ...]:
        """The attribute that each cell of each column sets, int32; -1 for the cell false of a bit."""
        found = []
        for column, start in zip(self.columns, self.starts.tolist(), strict=False):
            if isinstance(column, Bit):
                found.append(np.array([-1, start], np.int32))
            else:
                found.append((start + column.reachable).astype(np.int32))
        return tuple(found)

    @cached_property
    def groups(self) -> tuple[np.ndarray, ...]:
        """The attributes of each column with bins or levels, int32. In a valid record exactly one attribute of each
        group is set.
        """
        return tuple(np.arange(start, end, dtype=np.int32) for column, start, end
                     in zip(self.columns, self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True)
                     if not isinstance(column, Bit))

    @cached_property
    def column_of(self) -> np.ndarray:
        """The column of each attribute, int32 of shape (d,)."""
        return np.repeat(np.arange(len(self.columns), dtype=np.int32), np.diff(self.starts))

    @cached_property
    def cell_of(self) -> np.ndarray:
        """The cell that sets each attribute, numbered within the attribute's column, int32 of shape (d,); -1 for an
        attribute that no value reaches.
        """
        found = np.full(self.attributes, -1, np.int32)
        for cells in self.cell_attributes:
            sets = cells >= 0
            found[cells[sets]] = np.flatnonzero(sets)
        return found

    @cached_property
    def sets(self) -> tuple[np.ndarray, np.ndarray]:
        """The number of the first cell of each column, if the cells of all columns are numbered one after another,
        int64 (m + 1,); and the attribute that each cell sets, int32, as in `cell_attributes`.
        """
        return np.cumsum([0, *self.sizes]), np.concatenate(self.cell_attributes)

    @cached_property
    def null_record(self) -> np.ndarray:
        """The null record, which stands for a missing or unusable record, as d bits: cell 0 in every column."""
        bits = np.zeros(self.attributes, np.bool_)
        bits[[cells[0] for cells in self.cell_attributes if cells[0] >= 0]] = True
        return bits

    def attribute(self, column: str, value: object) -> int:
        """The attribute that a value of a column sets.

        Args:
            column: name of the column.
            value: value as in the table.

        Raises:
            InvalidInput: the column is unknown, or no attribute of the column stands for the value. For an unknown
                column the message names the nearest one.
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
            raise InvalidInput(column, f"{value!r} is not a value of this column", role.limit())
        if isinstance(role, Bit):
            if not values[0]:
                raise InvalidInput(column, "the value false has no attribute",
                                   "ask for the attribute of true, with the bit "
                                                                      "False")
            return start
        return start + int(values[0])

    def find(self, name: str) -> int:
        """The attribute with a given name.

        Raises:
            InvalidInput: no attribute has the name; the message names the nearest one.
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
        """The text of each attribute's negation; d texts.

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

        A bit with named texts can also be written by its column, "smoker" and "not smoker", unless another attribute
        has that name.

        Raises:
            InvalidInput: no attribute has the given name, plain or negated; the message names the nearest one. The
                error is also raised for a set of bins or levels that needs more than one literal, see `literals`.
        """
        found = self.literals(text)
        if len(found) > 1:
            raise InvalidInput("attribute", f"{text!r} is a set of bins or levels, not a single attribute",
                               "Workload.conjunctions takes it")
        return found[0]

    def literals(self, text: str) -> tuple[tuple[int, bool], ...]:
        """The literals that a text stands for: the attribute of each, and the bit that it requires.

        A name, plain or negated, is one literal. A text may also be a range over several bins, such as "age in [20,
        40)" or "age not in [20, 40)", or a list of levels, such as "job in {none, part}". A record lies in a range or
        list if it lies in none of the other bins or levels, so the text stands for the negated literals of those bins
        or levels. A query with ranges or lists is therefore still a conjunction, and its answer is a count of records.

        A level in a list, and a whole literal, may stand in double quotes, as a JSON text: 'job in {"none, or part",
        full}'. A level with a comma must be quoted.

        Raises:
            InvalidInput: a name, bound or level is unknown, or the set holds for every record or for none. For an
                unknown name, bound or level the message names the nearest known one.

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
                self._check_level(text)
                shown = ", ".join(map(repr, self.names[:4])) + (", ..." if len(self.names) > 4 else "")
                # What is written as a negation was not meant as its opposite.
                known = [each for each in self._literals if _negates(each) or not _negates(text)]
                meant = did_you_mean(text, known, f"attributes are {shown}; a negation is written {self.negated[0]!r}")
                raise InvalidInput("attribute", f"{text!r} is unknown",
                                   f"{meant}; a condition names one bin or level of a column, or a set of them")
            self._sets[text] = found
        return found

    def _check_level(self, text: str) -> None:
        """Raise an error with the column's levels for a condition on a level that the column does not have."""
        found = re.fullmatch(r"(.+?)\s*!?=\s*(.+)", text)
        column = None if found is None else next(
            (each for each in self.columns if isinstance(each, Levels) and each.column == found[1]), None)
        if found is None or column is None or found[2] in column.levels:
            return
        near = get_close_matches(found[2], column.levels, n=1)
        raise InvalidInput("attribute", f"{text!r} is unknown: {found[2]!r} is not a level of {found[1]!r}",
                           (f"did you mean {text[: found.start(2)] + near[0]!r}? " if near else "") + column.limit())

    @cached_property
    def hazards(self) -> frozenset[str]:
        """Literals that are the beginning of another literal. A query with such a literal may need quotes."""
        return hazards(self._literals.keys())

    @cached_property
    def braces(self) -> bool:
        """Whether a level contains a closing brace, which ends a list of levels."""
        return any("}" in level for column in self.columns if isinstance(column, Levels) for level in column.levels)

    def place_of(self, column: str) -> int | None:
        """The position of the column with a given name; None if no column has the name."""
        return self._columns.get(column)

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {column.column: place for place, column in enumerate(self.columns)}

    @cached_property
    def _sets(self) -> dict[str, tuple[tuple[int, bool], ...]]:
        """Cache of sets that were already parsed, since workloads name the same sets repeatedly."""
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
            table: a table that `confide.tables.open_table` reads, or a source that `open_table` returned. If all
                columns are bits without named texts, as for `Schema.bits`, rows of bits in the columns' order, or
                packed bits, are accepted too.
            records: number of records n, or the public list of the n ids. With None, n is the number of rows, which
                becomes public. If `unusable` is "null", a record without a row becomes the null record, and n is
                unchanged.
            id: name of the column that holds the id. With "row", the i-th row is the i-th record.
            unusable: treatment of a row with a value that its column does not accept. "refuse" raises an error, also
                for records without a row. Use "refuse" before anything is released, when a data set is registered.
                "null" replaces each unusable row by the null record, and ignores rows beyond n.
            rejected: mapping to which the method adds the reason for each row that becomes no record, under the id or
                the row number. The mapping depends on private records and is for the operator alone.

        Warns:
            UserWarning: more than 1 % of the records have no usable row. The warning is for the holder of the table
                alone.

        Raises:
            InvalidInput: a column is missing, or has a type that cannot hold the values of its role; or there are no
                rows. With "refuse" the error is also raised if a column does not accept a value, or if the rows belong
                to fewer or more than n records. The message names the column and its accepted values, or the nearest
                name of a missing column.

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
            warnings.warn(f"{lost:,} of {codes.records:,} records have no usable row and count as the null record, so "
                          "a release says nothing about these people. `rejected` lists the rows and their faults. This "
                          "message follows from private records", stacklevel=2)
        return codes


def _negates(text: str) -> bool:
    """Whether a literal is written as a negation."""
    return text.startswith("not ") or "!=" in text or " not " in text
