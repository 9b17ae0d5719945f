"""Queries in words, and back: "sex = male and age not in [20, 25)"."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confide.contract.errors import InvalidInput
from confide.contract.words import did_you_mean
from confide.release.columns import Binned, Bit
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = ["literals", "parse_queries", "query_words"]


def literals(schema: Schema) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What each attribute says where it holds, and where it does not; d texts each.

    Example:
        >>> from confide.release import Binned, Bit, Levels
        >>> there, absent = literals(Schema((Levels(column="sex", levels=("female", "male")), Bit(column="smoker"),
        ...                                  Binned(column="age", lower=0, upper=100, bins=2))))
        >>> absent
        ('sex != female', 'sex != male', 'not smoker', 'age not in [0, 50)', 'age not in [50, 100]')
    """
    negated = []
    for column in schema.columns:
        for name in column.names:
            rest = name[len(column.column):]
            if isinstance(column, Binned):
                negated.append(f"{column.column} not{rest}")
            elif isinstance(column, Bit) or not rest.startswith(" = "):
                negated.append(f"not {name}")
            else:
                negated.append(f"{column.column} !={rest[2:]}")
    return schema.names, tuple(negated)


def query_words(schema: Schema, workload: Workload, count: int | None = None) -> list[str]:
    """Each conjunction as a sentence, k texts, or the first `count` of them.

    Example:
        >>> from confide.release import Levels
        >>> schema = Schema((Levels(column="sex", levels=("female", "male")), Levels(column="job", levels=("a", "b"))))
        >>> query_words(schema, Workload.conjunctions([[0, 3]], [[True, False]], attributes=4))
        ['sex = female and job != b']
    """
    there, absent = literals(schema)
    texts = np.array([*absent, *there, ""], dtype=object)
    d = len(there)
    index, bits = workload.index[:count], workload.bits[:count]
    chosen = texts[np.where(index >= 0, index + d * bits, 2 * d)]
    return [" and ".join(filter(None, each)) for each in chosen.tolist()]


def parse_queries(schema: Schema, queries: Sequence[Sequence[str]]) -> Workload:
    """Queries from their literals.

    Args:
        schema: whose attributes they name.
        queries: each a list of literals that hold together.

    Raises:
        InvalidInput: an empty query, or a literal that names no attribute (tells the nearest); names the query.

    Example:
        >>> from confide.release import Bit
        >>> found = parse_queries(Schema((Bit(column="smoker"), Bit(column="old"))), [["not smoker", "old"]])
        >>> found.index.tolist(), found.bits.tolist()
        ([[0, 1]], [[False, True]])
    """
    there, absent = literals(schema)
    known = {name: (place, False) for place, name in enumerate(absent)}
    known |= {name: (place, True) for place, name in enumerate(there)}
    width = max(map(len, queries))
    index, bits = np.full((len(queries), width), -1, np.int32), np.ones((len(queries), width), np.bool_)
    for number, query in enumerate(queries, 1):
        where = f"workload.queries[{number}]"
        if not query:
            raise InvalidInput(where, "has no literal", "must ask for at least one")
        for at, literal in enumerate(query):
            found = known.get(literal.strip())
            if found is None:
                shown = ", ".join(map(repr, there[:4])) + (", ..." if len(there) > 4 else "")
                raise InvalidInput(where, f"{literal!r} names no attribute", did_you_mean(
                    literal, known, f"attributes are {shown}; negated {absent[0]!r}"))
            index[number - 1, at], bits[number - 1, at] = found
    return Workload.conjunctions(index, bits, attributes=schema.attributes)
