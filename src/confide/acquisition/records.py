"""Records of the platform after messages were received: each person's contract, and the message that they sent.

The module also reads one number for each person from an array, a series, or a frame or a file of one column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.contract.errors import InvalidInput
from confide.contract.renamed import renamed
from confide.contract.words import counted
from confide.tables._cells import decimals, real
from confide.tables.frames import column_of, integers_of, is_table
from confide.tables.sources import open_table

__all__ = [
    "ContractTerms",
    "Contracted",
    "ContractedRecords",
    "RecordCodec",
    "as_contracted",
    "as_record_batches",
    "column_of_numbers",
    "messages_of",
]

# ---- one column


def column_of_numbers(field: str, values: ArrayLike) -> NDArray[np.float64]:
    """The numbers of a column, with nan where a number is missing or a cell is no real number. A number in a narrower
    float type becomes the decimal number that it prints as.

    Args:
        field: name of the numbers, for error messages about values without a column name.
        values: an array of any shape; or a column of pandas, Polars or Arrow, or a frame or a file with one column,
            with n numbers.

    Raises:
        InvalidInput: the column's type holds no numbers (the error names the column), there is more than one column, or
            there are no numbers.

    Example:
        >>> import pyarrow as pa
        >>> column_of_numbers("reports", pa.table({"concern": [0.5, None]})).tolist()
        [0.5, nan]
    """
    column = column_of(values, field)
    typed = column is not None or hasattr(type(values), "__array__")
    try:
        found = np.asarray(values if column is None else column)
    except ValueError:  # somebody's cell is a list
        found = np.empty(0, dtype=object)
    if found.dtype.kind in "fiub":
        return decimals(found)
    cells = list(values) if isinstance(values, Iterable) and not isinstance(values, str | bytes) else []
    read = np.array([real(cell) for cell in cells], dtype=np.float64)
    written = any(cell is not None for cell in cells)
    if not cells or (typed and found.dtype != object) or (written and np.isnan(read).all()):
        raise InvalidInput(field, "are not numbers", "must be one report for each person, nan for no report")
    return read


def messages_of(given: Any) -> Mapping[int, int]:
    """Mapping from a participant's rank to their message, read from a mapping or from a table with the columns `index`
    and `message`.

    Args:
        given: a mapping from ranks to messages, or a mapping with the two columns; or a frame of pandas, Polars or
            Arrow, or a file. A participant without a message has no row.

    Raises:
        InvalidInput: no table, another column, a key of a mapping that is no whole number, text where numbers are
            expected, a cell that is no 64-bit integer, or two messages of one participant. The error does not name the
            participant.

    Example:
        >>> import pyarrow as pa
        >>> messages_of(pa.table({"index": [2, 0], "message": [-5, 7]}))
        {2: -5, 0: 7}
    """
    of_columns = isinstance(given, Mapping) and given.keys() <= {"index", "message"} and len(given) > 0
    if isinstance(given, Mapping) and not of_columns:
        for key in given:
            if not isinstance(key, int | np.integer):
                raise InvalidInput("messages", f"the key {key!r} is no participant's rank",
                                   "must be rank -> message, or the columns index and message")
        return given
    if not of_columns and not is_table(given):
        raise InvalidInput("messages", f"{type(given).__name__} is neither a mapping nor a table",
                           "must be rank -> message, or a table of the columns index and message")
    columns = integers_of(given, ("index", "message"), "messages")
    found = dict(zip(columns["index"].tolist(), columns["message"].tolist(), strict=True))
    if len(found) < len(columns["index"]):
        raise InvalidInput("index", "a person's message occurs twice",
                           "give one message for each person, since the losses of two messages add up")
    return found


# ---- records

_TERMS = {"index": np.int64, "steps": np.int64, "noise_std": np.int64, "epsilon_local": np.float64,
          "epsilon_central": np.float64, "payment": np.int64}
_COLUMNS = {**_TERMS, "message": np.int64, "sent": np.bool_}
_OF_ONE: dict[str, Any] = {"steps": int, "noise_std": int, "epsilon_local": float, "epsilon_central": float,
                           "payment": int, "sent": bool}
_ROW = np.dtype([("steps", "<i8"), ("noise_std", "<i8"), ("epsilon_local", "<f8"), ("epsilon_central", "<f8"),
                 ("payment", "<i8"), ("message", "<i8"), ("sent", "u1"), ("variance", "V24")])


@renamed(sigma="noise_std")
@dataclass(frozen=True, kw_only=True)
class Contracted:
    """One person's contract, and whether their message was received.

    Args:
        steps: the person's weight in steps of the lattice, a_i; 0 where the person was asked for nothing.
        noise_std: noise scale s_i, in steps.
        epsilon_local: loss towards the platform, in nats.
        epsilon_central: loss towards the public, in nats.
        payment: payment if the message is received, in the smallest units of the currency, such as cents.
        sent: whether the message was received.
    """

    steps: int
    noise_std: int
    epsilon_local: float
    epsilon_central: float
    payment: int
    sent: bool


@renamed(sigma="noise_std")
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ContractTerms:
    """Contracts of some people.

    Args:
        index: (k,) ranks in the public list of ids, each at most once in a collection.
        steps: (k,) steps a_i >= 1 of the weights.
        noise_std: (k,) noise scales s_i, in steps.
        epsilon_local: (k,) losses towards the platform, in nats.
        epsilon_central: (k,) losses towards the public, in nats.
        payment: (k,) payments in the smallest units of the currency, such as cents.
        variance: sum of s_i^2 over all contracts of the campaign, including those that are not in this table. The
            platform adds noise for the missing part of the variance.
    """

    index: NDArray[np.int64]
    steps: NDArray[np.int64]
    noise_std: NDArray[np.int64]
    epsilon_local: NDArray[np.float64]
    epsilon_central: NDArray[np.float64]
    payment: NDArray[np.int64]
    variance: int

    def __post_init__(self) -> None:
        for name, array in vars(self).items():
            if name == "variance":
                continue
            kind = _COLUMNS[name]
            if not isinstance(array, np.ndarray) or array.dtype != kind or array.shape != self.index.shape:
                raise InvalidInput(name, "is not one number for each contract", f"must be {np.dtype(kind).name}")
        if self.index.ndim != 1 or self.variance < 0 or self.variance.bit_length() > 192:
            raise InvalidInput("variance", "is out of range", "must be the sum over all contracts")

    @classmethod
    def of_columns(cls, columns: Mapping[str, Sequence[Any] | NDArray[Any]], variance: int) -> ContractTerms:
        """Contracts from one column for each field. Without any columns there are no contracts."""
        arrays: dict[str, Any] = {name: np.asarray(columns.get(name, ()), kind) for name, kind in _TERMS.items()}
        return ContractTerms(variance=variance, **arrays)

    @classmethod
    def of_batches(cls, batches: Iterable[ContractTerms]) -> ContractTerms:
        """All contracts of the given batches, in the order of ranks."""
        parts = [batch for batch in batches if len(batch.index)]
        if not parts:
            return cls.of_columns({}, 0)
        order = np.argsort(np.concatenate([part.index for part in parts]))
        return cls.of_columns({name: np.concatenate([getattr(part, name) for part in parts])[order] for name in _TERMS},
                              parts[0].variance)

    def with_messages(self, messages: Mapping[int, int]) -> ContractedRecords:
        """The contracts, completed by the messages that were sent.

        Args:
            messages: mapping from a participant's rank to their message. A participant without an entry sent nothing.
        """
        ranks = self.index.tolist()
        return self.with_columns(np.array([messages.get(rank, 0) for rank in ranks], dtype=np.int64),
                                 np.array([rank in messages for rank in ranks], dtype=np.bool_))

    def with_columns(self, message: NDArray[np.int64], sent: NDArray[np.bool_]) -> ContractedRecords:
        """The contracts, completed by a column of messages and a column that says whether each was sent, both of shape
        (k,).
        """
        return ContractedRecords(message=message, sent=sent, variance=self.variance,
                                 **{name: getattr(self, name) for name in _TERMS})


@renamed()
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ContractedRecords(ContractTerms):
    """Contracts and messages of some people.

    Args:
        message: (k,) messages, 0 where nothing was sent.
        sent: (k,) whether a message was sent.
    """

    message: NDArray[np.int64]
    sent: NDArray[np.bool_]

    def one(self, row: int) -> Contracted:
        """Contract of the person in one row, and whether their message was received."""
        return Contracted(
            steps=int(self.steps[row]), noise_std=int(self.noise_std[row]),
            epsilon_local=float(self.epsilon_local[row]), epsilon_central=float(self.epsilon_central[row]),
            payment=int(self.payment[row]), sent=bool(self.sent[row]))


def as_contracted(record: Any) -> Contracted | None:
    """One person's contract, from any supported form; None for a person without a contract.

    Args:
        record: `Contracted`; `ContractedRecords` of one row; or a mapping or a table of one row with the columns of a
            contract.

    Raises:
        InvalidInput: a value of another kind, or another number of rows than one.

    Example:
        >>> row = {"steps": 3, "noise_std": 9, "epsilon_local": 0.5, "epsilon_central": 0.1, "payment": 4, "sent": True}
        >>> as_contracted(row) == Contracted(**row)
        True
    """
    if record is None or isinstance(record, Contracted):
        return record
    if isinstance(record, ContractedRecords):
        if len(record.index) != 1:
            raise InvalidInput("record", f"has {counted(len(record.index), 'row')}",
                               "must be one row, the participant's own")
        return record.one(0)
    names = [each.name for each in fields(Contracted)]
    if isinstance(record, Mapping):
        rows = [{name: cell[0] if np.ndim(cell) == 1 and len(cell) == 1 else cell for name, cell in record.items()}]
    elif is_table(record):
        rows = [row for batch in open_table(record).batches(names) for row in batch.to_pylist()]  # exact integers
    else:
        raise InvalidInput("record", f"{type(record).__name__} is not a contract", "must be Contracted")
    if len(rows) != 1:
        raise InvalidInput("record", f"has {counted(len(rows), 'row')}", "must be one row, the participant's own")
    for name in names:
        if not isinstance(rows[0].get(name), Real | np.bool_):
            raise InvalidInput(name, "is missing, or is not a number",
                               f"the columns of a contract are {', '.join(names)}")
    try:
        return Contracted(**{name: kind(rows[0][name]) for name, kind in _OF_ONE.items()})
    except (ValueError, OverflowError):
        raise InvalidInput("record", "has a value that is not a number", "must be Contracted") from None


@dataclass(frozen=True)
class RecordCodec:
    """Encoding of contracts and messages as bytes, 73 bytes for each person.

    Example:
        >>> one, real = np.array([3]), np.array([0.5])
        >>> batch = ContractedRecords(index=one, steps=one, noise_std=one * 9, epsilon_local=real, epsilon_central=real,
        ...     payment=one, message=one, sent=np.array([True]), variance=2**100)
        >>> slots, reports = RecordCodec().pack(batch)
        >>> back = RecordCodec().unpack(slots, reports)
        >>> len(reports[0]), back.noise_std.tolist(), back.sent.tolist(), back.variance == 2**100
        (73, [27], [True], True)
    """

    def pack(self, batch: ContractedRecords) -> tuple[np.ndarray, list[bytes]]:
        """The ranks of the people in a batch, and the contract and message of each person as bytes."""
        rows = np.zeros(len(batch.index), _ROW)
        for name in _COLUMNS.keys() - {"index"}:
            rows[name] = getattr(batch, name)
        rows["variance"] = np.frombuffer(batch.variance.to_bytes(24, "little"), "V24")[0]
        return batch.index, rows.view(f"V{_ROW.itemsize}").tolist()

    def unpack(self, slots: np.ndarray, reports: Sequence[bytes]) -> ContractedRecords:
        """Decode a batch from the ranks of the people and the bytes of each person."""
        rows = np.frombuffer(b"".join(reports), dtype=_ROW)
        kept: dict[str, Any] = {name: rows[name].astype(kind) for name, kind in _COLUMNS.items() if name != "index"}
        variance = int.from_bytes(rows["variance"][0].tobytes(), "little") if len(rows) else 0
        return ContractedRecords(index=np.asarray(slots, np.int64), variance=variance, **kept)


def as_record_batches(data: object, people: int) -> Iterator[ContractedRecords]:
    """Checked batches of contracts and messages, from one batch or from several.

    Raises:
        InvalidInput: the data are no batches of `ContractedRecords`, or an index is out of range. The error does not
            name the index.
    """
    batches = [data] if isinstance(data, ContractedRecords) else data
    if not isinstance(batches, Iterable):
        raise InvalidInput("data", f"{type(data).__name__} has no records", "pass ContractedRecords, or batches")
    for batch in batches:
        if not isinstance(batch, ContractedRecords):
            raise InvalidInput("data", f"a batch is {type(batch).__name__}", "must be ContractedRecords")
        if batch.index.size and not (batch.index.min() >= 0 and batch.index.max() < people):
            raise InvalidInput("data", "an index is out of range", f"must be in 0..{people - 1}")
        yield batch
