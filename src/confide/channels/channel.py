"""Finite channels: probabilities of each release given the true database. Channels have several forms, each as small as
its structure allows.

`Channel` stores a full table, `RowProduct` one small table for each row of the database, and `ExponentialForm` one
weight for each output and a privacy level. A table has one line for each input, and the probabilities in a line sum to
1.

Source: spec privacy_notions sections 1.1 and 8.

`JointTypeChannel` is a channel that treats all rows alike. Its probabilities depend only on the joint type of input and
output: the m x m table that counts how often letter a became letter b.

For an exchangeable prior, some optimal channel treats all rows alike. Averaging a channel over all permutations of the
rows keeps the objective and the constraints of every notion.

Source: spec privacy_notions 6 ("exchangeable prior").
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from confide.channels.kernels import distances_sum, ratio
from confide.channels.priors import LARGEST_FULL, compositions, must_sum
from confide.contract.checks import non_negative, whole
from confide.contract.errors import InvalidInput, Unsupported
from confide.contract.probabilities import as_probabilities
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.contract.words import counted

__all__ = [
    "Channel",
    "ExponentialForm",
    "FiniteChannel",
    "JointTypeChannel",
    "JointTypes",
    "RowProduct",
    "as_table",
    "joint_types",
]

# ---- channel

_SUM = 1e-9
_DENSE = 2**26  # cells of a table that is built from another form


def as_table(field: str, value: ArrayLike) -> NDArray[np.float64]:
    """A table of conditional probabilities after a check, shape (inputs, outputs), with one line for each input.

    Raises:
        InvalidInput: the value is no table of probabilities whose rows sum to 1 within 1e-9.
    """
    try:
        table = as_probabilities(value)
    except (TypeError, ValueError):
        raise InvalidInput(field, "is not a table of numbers") from None
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 1:
        raise InvalidInput(field, f"has shape {table.shape}", "must be a table with two rows or more")
    if not np.isfinite(table).all() or (table < 0).any():
        raise InvalidInput(field, "holds a number that is negative or not finite", "must be probabilities")
    sums = table.sum(axis=1)
    worst = int(np.abs(sums - 1.0).argmax())
    if abs(sums[worst] - 1.0) > _SUM:
        raise InvalidInput(field, f"row {worst + 1} sums to {sums[worst]:.10g}", f"each {must_sum(sums[worst])}")
    return table


@renamed(rows="records")
class FiniteChannel:
    """Common base class of all forms of a channel from databases of `records` rows over `letters` letters."""

    letters: int = 2
    records: int = 1

    def table(self) -> NDArray[np.float64]:
        """Probabilities of the outputs for each database, shape (m^n, outputs).

        Raises:
            Unsupported: the table is too large to build.
        """
        raise NotImplementedError


@renamed()
@wire("Channel", "probabilities letters records")
@dataclass(init=False, eq=False, repr=False)
class Channel(FiniteChannel):
    """A channel as a full table.

    Args:
        probabilities: probabilities of the outputs, shape (m^n, outputs), one line for each database in C order, in
            which the first row of the database varies slowest. If there are as many outputs as databases, outputs count
            as databases, and the channel has a distortion.
        letters: number of letters, m. If left out, the database has one row, and m is the number of lines of the table.
        records: number of rows of the database, n.

    Raises:
        InvalidInput: the value is no table of probabilities, or does not have m^n lines.

    Example:
        >>> Channel([[0.6, 0.4], [0.4, 0.6]])
        Channel(<2 inputs, 2 outputs>, letters=2, records=1)
    """

    probabilities: NDArray[np.float64]
    letters: int
    records: int

    @renamed(table="probabilities")
    def __init__(self, probabilities: ArrayLike, letters: int | None = None, records: int = 1) -> None:
        self.probabilities = as_table("channel", probabilities)
        self.records = whole("records", records, at_least=1)
        self.letters = whole("letters", len(self.probabilities) if letters is None else letters, at_least=2)
        if self.letters**self.records != len(self.probabilities):
            raise InvalidInput("channel", f"has {counted(len(self.probabilities), 'row')}",
                               f"must have {self.letters}^{self.records}")

    def __repr__(self) -> str:
        inputs, outputs = self.probabilities.shape
        return f"Channel(<{inputs} inputs, {outputs} outputs>, letters={self.letters}, records={self.records})"

    def table(self) -> NDArray[np.float64]:
        return self.probabilities


@renamed()
@wire("RowProduct", "tables which")
@dataclass(init=False, eq=False, repr=False)
class RowProduct(FiniteChannel):
    """A channel in which every row of the database goes through its own small table, independently of the other rows.
    Equal tables are stored once.

    Args:
        tables: the u distinct tables, shape (u, m, outputs).
        which: position in `tables` of the table that each row goes through, shape (n,); if left out, row i has table i.

    Example:
        >>> RowProduct([[[0.6, 0.4], [0.4, 0.6]]], np.zeros(10**6, dtype=int))
        RowProduct(<1 tables>, letters=2, records=1000000)
    """

    tables: list[NDArray[np.float64]]
    which: NDArray[np.int64]

    def __init__(self, tables: Sequence[ArrayLike], which: ArrayLike | None = None) -> None:
        self.tables = [as_table("channel", table) for table in tables]
        if not self.tables or any(table.shape[0] != self.tables[0].shape[0] for table in self.tables):
            raise InvalidInput("channel", "row tables are missing, or have different numbers of letters",
                               "must all have m letters")
        self.letters = len(self.tables[0])
        self.which = np.arange(len(self.tables)) if which is None else np.array(which, dtype=np.int64)
        if self.which.ndim != 1 or not self.which.size or self.which.min() < 0 or self.which.max() >= len(self.tables):
            raise InvalidInput("which", "does not name a table for each row")
        self.records = len(self.which)

    def __repr__(self) -> str:
        return f"RowProduct(<{len(self.tables)} tables>, letters={self.letters}, records={self.records})"

    def table(self) -> NDArray[np.float64]:
        out = np.ones((1, 1))
        for k in self.which:
            one = self.tables[k]
            if out.size * one.size > _DENSE:
                raise Unsupported("channel", f"a table of {self.letters}^{self.records} rows",
                                  f"at most {_DENSE:,} cells")
            out = np.kron(out, one)
        return out


@renamed()
@wire("ExponentialForm", "weights level letters records")
@dataclass(init=False, eq=False, repr=False)
class ExponentialForm(FiniteChannel):
    """The generic form of optimal channels: Q(y|x) = q(y) r^d(x,y) / Z(x) with r = e^-level. Here Q(y|x) is the
    probability of output y for database x, d counts the rows in which x and y differ, and Z(x) makes the probabilities
    of the outputs sum to 1 for each database.

    Args:
        weights: weights q of the outputs, at least 0 and not all 0, shape (m^n,).
        level: level >= 0 in the exponent, in nats.
        letters: number m of letters, which are the values that a row can have.
        records: number of rows, n.

    Raises:
        InvalidInput: a weight is negative, or there are not m^n weights.
    """

    weights: NDArray[np.float64]
    level: float
    letters: int
    records: int

    def __init__(self, weights: ArrayLike, level: float, letters: int, records: int) -> None:
        self.letters, self.records = whole("letters", letters, at_least=2), whole("records", records, at_least=1)
        self.weights = np.asarray(weights, dtype=np.float64)
        self.level = non_negative("level", level)
        if self.letters**self.records > LARGEST_FULL or self.weights.shape != (self.letters**self.records,):
            raise InvalidInput("weights", f"shape {self.weights.shape}", f"must be ({letters}^{records},)")
        if not np.isfinite(self.weights).all() or (self.weights < 0).any() or not self.weights.any():
            raise InvalidInput("weights", "cannot be used", "must be numbers >= 0, not all 0")

    def __repr__(self) -> str:
        return (f"ExponentialForm(<{self.weights.size} weights>, level={self.level:g}, letters={self.letters}, "
                f"records={self.records})")

    @cached_property
    def normaliser(self) -> NDArray[np.float64]:
        """Normaliser Z(x) = sum over y of q(y) r^d(x,y), shape (m^n,)."""
        return distances_sum(self.weights, ratio(self.level), self.letters, self.records)

    def table(self) -> NDArray[np.float64]:
        size = self.weights.size
        if size * size > _DENSE:
            raise Unsupported("channel", f"a table of {size:,} x {size:,} cells", f"at most {_DENSE:,}")
        kernel = np.ones((1, 1))
        row = np.full((self.letters, self.letters), ratio(self.level))
        np.fill_diagonal(row, 1.0)
        for _ in range(self.records):
            kernel = np.kron(kernel, row)
        return kernel * self.weights / self.normaliser[:, None]


# ---- joint types

_Vector = NDArray[np.float64]
_Index = NDArray[np.int64]
_TABLE = 2**20  # cells of a channel that is listed


@wire("JointTypes", "letters records counts inputs outputs log_sequences")
@dataclass(frozen=True, eq=False)
class JointTypes:
    """All joint types of n rows over m letters, ordered by the numbers of the output's letters and then by the numbers
    of the input's letters. A joint type is the m x m table that counts how often input letter a goes with output letter
    b.

    Args:
        letters: number m of letters, which are the values that a row can have.
        records: number of rows, n.
        counts: the k joint types, shape (k, m, m). Entry (a, b) of a joint type is the number of rows with input letter
            a and output letter b.
        inputs: position of each joint type's input composition among all compositions, shape (k,).
        outputs: position of each joint type's output composition among all compositions, shape (k,).
        log_sequences: ln M, where M is the number of outputs that have the joint type with one given input, shape (k,).
    """

    letters: int
    records: int
    counts: _Index
    inputs: _Index
    outputs: _Index
    log_sequences: _Vector

    @cached_property
    def changed(self) -> _Vector:
        """Number of rows that differ between input and output, for each joint type, shape (k,)."""
        return np.asarray(self.records - self.counts.trace(axis1=1, axis2=2), dtype=np.float64)

    @cached_property
    def _codes(self) -> _Index:
        return _coded(self.counts.reshape(len(self.counts), -1), self.records)

    def place(self, counts: _Index) -> _Index:
        """Positions among the joint types, shape (j,), of given tables of letter counts, shape (j, m, m)."""
        order = np.argsort(self._codes)
        found = np.searchsorted(self._codes[order], _coded(counts.reshape(len(counts), -1), self.records))
        return np.asarray(order[found])

    @cached_property
    def neighbours(self) -> tuple[_Index, _Index, _Index, _Index]:
        """Pairs of joint types that differ by the input letter of one row, in the order of output types, as four arrays
        (first, second, over, under). The arrays first and second have the positions of a pair's two joint types. Let M
        be the number of outputs that have a joint type with one given input. Then M(first)/M(second) = over/under.
        """
        m, first, second, over, under = self.letters, [], [], [], []
        tau = self.counts.sum(axis=2)
        for a in range(m):
            for other in range(m):
                for b in range(m):
                    if a == other:
                        continue
                    have = np.flatnonzero(self.counts[:, a, b])
                    moved = self.counts[have]
                    moved[:, a, b] -= 1
                    moved[:, other, b] += 1
                    there = self.place(moved)
                    up = there > have
                    have, there, moved = have[up], there[up], moved[up]
                    first.append(have)
                    second.append(there)
                    over.append(tau[have, a] * moved[:, other, b])
                    under.append((tau[have, other] + 1) * self.counts[have, a, b])
        order = np.argsort(np.concatenate(first), kind="stable")
        found = [np.concatenate(each)[order] for each in (first, second, over, under)]
        return found[0], found[1], found[2], found[3]


def _coded(counts: _Index, rows: int) -> _Index:
    """One whole number for each line of counts. The last count of a line is left out, as it follows from the other
    counts.
    """
    powers = (rows + 1) ** np.arange(counts.shape[1] - 1, dtype=np.int64)
    return np.asarray(counts[:, :-1] @ powers)


@cache
def joint_types(letters: int, rows: int, most: int = 2**17) -> JointTypes:
    """All joint types of the given numbers of letters and rows.

    Raises:
        Unsupported: there are more than `most` joint types.

    Example:
        >>> found = joint_types(2, 40)
        >>> len(found.counts), joint_types(2, 1).counts.tolist()
        (12341, [[[1, 0], [0, 0]], [[0, 0], [1, 0]], [[0, 1], [0, 0]], [[0, 0], [0, 1]]])
    """
    number = math.comb(rows + letters**2 - 1, letters**2 - 1)
    if number > most or (rows + 1) ** (letters**2 - 1) >= 2**63:
        raise Unsupported("records", f"a channel with {number:,} joint types of {rows} rows over {letters} letters",
                          f"at most {most:,}")
    counts = compositions(rows, letters**2).reshape(-1, letters, letters)
    inputs, outputs = counts.sum(axis=2), counts.sum(axis=1)
    codes = _coded(np.asarray(compositions(rows, letters)), rows)
    order = np.argsort(codes)

    def which(types: _Index) -> _Index:
        return np.asarray(order[np.searchsorted(codes[order], _coded(types, rows))])

    which_in, which_out = which(inputs), which(outputs)
    line = np.lexsort((which_in, which_out))
    counts = counts[line]
    log = (gammaln(inputs[line] + 1).sum(axis=1)) - gammaln(counts + 1).sum(axis=(1, 2))
    return JointTypes(letters, rows, counts, which_in[line], which_out[line], log)


@renamed()
@wire("JointTypeChannel", "types probabilities")
@dataclass(init=False, eq=False, repr=False)
class JointTypeChannel(FiniteChannel):
    """A channel that treats all rows alike: its probabilities depend only on the joint type of input and output.

    Args:
        types: all joint types.
        probabilities: probability u(T) of each joint type T, given an input with the input type of T, shape (k,). The
            probabilities for each input type sum to 1.

    Raises:
        InvalidInput: the values are not probabilities.
    """

    types: JointTypes
    probabilities: _Vector

    def __init__(self, types: JointTypes, probabilities: ArrayLike) -> None:
        self.types, self.letters, self.records = types, types.letters, types.records
        self.probabilities = np.asarray(probabilities, dtype=np.float64)
        if self.probabilities.shape != types.inputs.shape or not (self.probabilities >= 0).all():
            raise InvalidInput("channel", "is not one probability for each joint type")
        sums = np.bincount(types.inputs, self.probabilities)
        if np.abs(sums - 1.0).max() > 1e-9:
            raise InvalidInput("channel", "the probabilities of an input type do not sum to 1",
                               "must sum to 1 within 1e-9")

    def __repr__(self) -> str:
        return (f"JointTypeChannel(<{len(self.probabilities)} joint types>, letters={self.letters}, "
                f"records={self.records})")

    @cached_property
    def log_sequence(self) -> _Vector:
        """Logarithm of the probability of one output sequence of each joint type, given the input, shape (k,)."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.probabilities) - self.types.log_sequences)

    def table(self) -> _Vector:
        m, n = self.letters, self.records
        if m ** (2 * n) > _TABLE:
            raise Unsupported("channel", f"a table of {m}^{n} rows", f"at most {_TABLE:,} cells")
        x = np.arange(m**n)
        digits = np.stack([(x // m ** (n - 1 - i)) % m for i in range(n)], axis=1)
        pairs = digits[:, None, :] * m + digits
        counts = (pairs[..., None] == np.arange(m * m)).sum(axis=2).reshape(-1, m, m)
        return np.exp(self.log_sequence)[self.types.place(counts)].reshape(len(x), len(x))
