"""One run of a mechanism. The call is the same for a settlement, a study, a trial and an audit.

A `run` method with the parameter `progress` always gets a function of the same class. If only some runs got a function,
a mechanism could have a branch that is taken only in a settlement, and that no audit has tested. For the same reason
records come as `Batches` both in a settlement and in an audit, whether they are read or simulated.

`written` turns a share into text, so that the shares in a run's table can be compared with the shares that participants
decode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from inspect import signature
from operator import index
from typing import Any

import numpy as np
import pyarrow as pa

from confide.contract.errors import InvalidInput
from confide.contract.kinds import Collection, HeldData, Progress
from confide.contract.mechanism import Mechanism
from confide.contract.outcome import Outcome, SimulatedOutcome
from confide.contract.private_parts import behind, put_behind
from confide.contract.words import counted

__all__ = ["Batches", "Reading", "Reported", "Submissions", "as_data", "check_shares", "ran", "written"]


class Batches:
    """The records of a run, as batches that can be read repeatedly, but neither counted nor indexed.

    Args:
        source: an object that yields the batches each time that it is iterated over.

    Example:
        >>> data = Batches(["some", "others"])
        >>> list(data), list(data)
        (['some', 'others'], ['some', 'others'])
    """

    __slots__ = ("__weakref__",)

    def __init__(self, source: Iterable[Any]) -> None:
        put_behind(self, source)

    def __iter__(self) -> Iterator[Any]:
        yield from behind(self)


class Reported:
    """The function `progress(done, total)` that a run calls as it advances. Both numbers count public units, such as
    rounds.

    Args:
        listener: the function that receives the progress; None if nobody receives it.

    Raises:
        TypeError: the call has an argument that is no whole number. For an unknown total, None is allowed.

    Example:
        >>> observed = []
        >>> Reported(lambda done, total: observed.append((done, total)))(1, 3)
        >>> observed
        [(1, 3)]
    """

    __slots__ = ("__weakref__",)

    def __init__(self, listener: Progress | None = None) -> None:
        put_behind(self, listener)

    def __call__(self, done: int, total: int | None) -> None:
        it = index(done), None if total is None else index(total)
        listener = behind(self)
        if listener is not None:
            listener(*it)


def ran(mechanism: Mechanism, data: Any, noise: Any, progress: Progress | None = None) -> Outcome | SimulatedOutcome:
    """Run a mechanism and return the outcome. The argument `progress` is passed on only if the mechanism's `run` has
    this parameter.

    Args:
        mechanism: the mechanism to run.
        data: the data in the form that the mechanism's `run` takes.
        noise: the source of noise for the mechanism's `run`.
        progress: the function that receives the progress; None if nobody receives it.
    """
    run = mechanism.run
    if "progress" not in signature(run).parameters:
        return run(data, noise)
    more: dict[str, Any] = {"progress": Reported(progress)}
    return run(data, noise, **more)


def check_shares(shares: Any, slots: int) -> None:
    """Check that a table of shares has one row for each slot, and no empty cells.

    Args:
        shares: the shares of a run.
        slots: number of invited slots.

    Raises:
        InvalidInput: the shares are not a table with one row for each slot, or some cell is empty. Only shares that
            were erased later may have empty cells.

    Example:
        >>> check_shares(pa.table({"like": [3, 0]}), 2)
        >>> check_shares(pa.table({"like": [3, None]}), 2)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        confide.contract.errors.InvalidInput: shares: like has empty cells; must hold a value for each slot, since ...
    """
    if not isinstance(shares, pa.Table):
        raise InvalidInput("shares", f"{type(shares).__name__} is not a table", "must be a pyarrow.Table")
    if shares.num_rows != slots:
        raise InvalidInput("shares", f"have {counted(shares.num_rows, 'row')}",
                           f"must have one for each of {slots:,} slots")
    empty = [name for name in shares.column_names if shares[name].null_count]
    if empty:
        raise InvalidInput("shares", f"{', '.join(empty)} has empty cells",
                           "must hold a value for each slot, since an empty share means an erased share")


# ---- written shares


def written(share: Mapping[str, Any], schema: pa.Schema) -> str:
    """A share as text, in the form that it has in a table of all shares.

    Values are converted to the column types, so a 0 in a column of floats is 0.0. Numpy numbers and arrays become
    Python numbers and lists, also inside other values. Two shares with nan in the same place are equal as texts,
    although nan is not equal to nan as a number.

    Args:
        share: mapping from column to value, from `Mechanism.decode` or a row of the table.
        schema: the schema of the table.

    Returns:
        The text. If a share does not fit the table, its text differs from the text of every row.

    Example:
        >>> table = pa.schema({"a": pa.list_(pa.int64()), "b": pa.float64()})
        >>> written({"b": np.float64("nan"), "a": np.arange(2)}, table)
        "{'a': [0, 1], 'b': nan}"
        >>> written({"a": [], "b": 0}, table) == written({"a": [], "b": 0.0}, table)
        True
    """
    if set(share) != set(schema.names):
        return f"columns {sorted(map(str, share))}"
    plain = {name: _plain(value) for name, value in share.items()}
    try:
        row = pa.Table.from_pylist([plain], schema=schema).to_pylist()[0]
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        return f"does not fit a row of the table: {type(error).__name__}"
    if _cut(plain, row):
        return "does not fit a row of the table: a number would lose digits"
    return repr(dict(sorted(row.items())))


def _cut(given: Any, stored: Any) -> bool:
    """Whether a fraction was stored as a whole number, a conversion that Arrow makes without an error."""
    if isinstance(given, dict):
        return any(_cut(part, stored[name]) for name, part in given.items() if name in stored)
    if isinstance(given, list):
        return any(map(_cut, given, stored))
    return isinstance(given, float) and isinstance(stored, int) and given != stored


def _plain(value: Any) -> Any:
    """The value with all numpy numbers and arrays replaced by Python's own, at any depth."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value
Reading = Callable[[dict[str, str], list[int]], Iterator[Any]]
"""Function that reads a file once and yields batches. The function adds each rejected id with the reason to the first
argument, and may append numbers of rows to the second argument.
"""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Submissions:
    """The records of a campaign's file as batches, which can be read repeatedly. The attribute `index` of a batch holds
    the position of each person in the public list of ids.

    Args:
        reading: function that reads the file once and yields batches.
        rejected: mapping from each rejected id to the reason, complete after one pass. The mapping is for the operator
            alone.
        counted: private numbers that add up to the number of rows in the file, complete after one pass. The list is
            empty if every row is either used or rejected.

    Example:
        >>> def reading(rejected, counted):
        ...     rejected["2"] = "is missing"
        ...     yield "the others"
        >>> found = Submissions(reading=reading)
        >>> list(found), list(found), found.rejected
        (['the others'], ['the others'], {'2': 'is missing'})
    """

    reading: Reading
    rejected: dict[str, str] = field(default_factory=dict)
    counted: list[int] = field(default_factory=list)

    def __iter__(self) -> Iterator[Any]:
        # Each pass finds the same rejections; the list is rebuilt so that a broken pass cannot leave half of one.
        self.rejected.clear()
        self.counted.clear()
        yield from self.reading(self.rejected, self.counted)

    def rows(self, usable: int) -> int:
        """The number of rows in the file.

        Args:
            usable: the number of usable rows that one pass found.
        """
        return sum(self.counted) if self.counted else usable + len(self.rejected)


def as_data(collection: Collection) -> Any:
    """The input of a run, made from a collection.

    Args:
        collection: the result of a kind's `collect`. If a custodian holds the data, this function reads them.
    """
    data = collection.data
    if isinstance(data, Submissions):
        return Batches(data)
    return data.read() if isinstance(data, HeldData) else data
