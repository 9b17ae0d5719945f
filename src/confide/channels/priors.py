"""Priors: distributions of a database of n rows over m letters, in forms that need little memory.

`IndependentRows` never builds anything of size m^n, and stores equal distributions of rows once. `Exchangeable` stores
one number for each composition of letter counts. `FullPrior` is a vector of m^n cells in which the first row of the
database varies slowest.

Source: spec privacy_notions sections 1, 2 and 8.

A composition says how often each letter occurs among n rows. Compositions have a fixed order.

`as_letters` reads the letters of people from any object that holds a column of whole numbers. A letter is a position in
a list of answers.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, logsumexp

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput, Unsupported
from confide.contract.probabilities import as_probabilities
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.contract.words import counted
from confide.numerics.sums import running_sum
from confide.privacy.noise.arguments import as_inputs

__all__ = [
    "LARGEST_FULL",
    "Exchangeable",
    "FullPrior",
    "IndependentRows",
    "Prior",
    "as_law",
    "as_letters",
    "as_prior",
    "compositions",
    "must_sum",
]

# ---- types

_MOST = 2_000_000


@cache
def compositions(total: int, parts: int) -> NDArray[np.int64]:
    """All ways to write n = `total` as a sum of m = `parts` counts, shape (C(n+m-1, m-1), m). The last counts grow
    fastest along the array. For two letters, entry k is (n - k, k).

    Raises:
        Unsupported: more than two million compositions.

    Example:
        >>> compositions(2, 3).tolist()
        [[2, 0, 0], [1, 1, 0], [1, 0, 1], [0, 2, 0], [0, 1, 1], [0, 0, 2]]
    """
    number = comb(total + parts - 1, parts - 1)
    if number > _MOST:
        raise Unsupported("records", f"a list of {number:,} compositions of {total} rows over {parts} letters",
                          f"at most {_MOST:,}")
    if parts == 1:
        out = np.array([[total]], dtype=np.int64)
    else:
        blocks = []
        for first in range(total, -1, -1):
            rest = compositions(total - first, parts - 1)
            blocks.append(np.column_stack([np.full(len(rest), first, dtype=np.int64), rest]))
        out = np.concatenate(blocks)
    out.setflags(write=False)
    return out


# ---- letters


def as_letters(values: Any, letters: int, *, field: str, kind: str) -> NDArray[np.int64]:
    """Letters as whole numbers below m, shape (n,). No error message contains the values of the letters.

    Args:
        values: letters of n people: an array or a list; a column of pandas, Polars or Arrow; or a frame, an Arrow
            table, a mapping or a file with one column.
        letters: number m of letters, which are the values that a row can have.
        field: name of the argument that holds the letters, for error messages.
        kind: word for one letter in error messages, with its article, such as "an answer".

    Raises:
        InvalidInput: a column holds text (the message names the column), an entry is missing, no whole number or out of
            range, or entries are true and false, which are no positions.

    Example:
        >>> import pyarrow as pa
        >>> as_letters(pa.table({"answer": [0, 2, 1]}), 3, field="reports", kind="a report").tolist()
        [0, 2, 1]
    """
    from confide.tables.frames import column_of  # frames come with pyarrow, which priors do without

    column = column_of(values, field, no_truths="must be whole numbers, positions in the list of letters")
    if column is None:
        return as_inputs(values, letters, field=field, kind=kind)
    if not np.all(np.isfinite(column)) or np.any(column != np.floor(column)):
        raise InvalidInput(field, "an entry is missing, or is not a whole number", f"each must be in 0..{letters - 1}")
    return as_inputs(column.astype(np.int64), letters, field=field, kind=kind)


# ---- priors

LARGEST_FULL = 2**24
"""Largest number of cells of a vector with the probabilities of all databases."""

_SUM = 1e-9
_ROUNDED = 0.01  # off 1 by less than what hand-written digits leave


def _ways(records: int, types: NDArray[np.int64]) -> NDArray[np.float64]:
    """Logarithm of the number of sequences with each composition of letter counts, shape (t,)."""
    found: NDArray[np.float64] = gammaln(records + 1) - gammaln(types + 1).sum(axis=1)
    return found


def must_sum(total: float) -> str:
    """Text for error messages that says how to correct probabilities with the sum `total` instead of 1."""
    more = "; write more digits (0.3333333333, not 0.333), or each number over the sum" if abs(
        total - 1.0) < _ROUNDED else ""
    return f"must sum to 1 within {_SUM:g}{more}"


def as_law(field: str, value: ArrayLike, *, normalise: bool = False) -> NDArray[np.float64]:
    """A probability distribution over letters or databases.

    Args:
        field: name of the distribution, for error messages.
        value: probabilities, shape (k,).
        normalise: whether to divide the probabilities by their sum. If False, the sum must be 1.

    Raises:
        InvalidInput: the value is not one-dimensional, has fewer than two entries, a negative entry or an entry that is
            not finite, or its sum differs from 1 by more than 1e-9.
    """
    try:
        law = as_probabilities(value)
    except (TypeError, ValueError):
        raise InvalidInput(field, "is not an array of numbers") from None
    if law.ndim != 1 or law.size < 2:
        raise InvalidInput(field, f"has shape {law.shape}", "must be one-dimensional, of two entries or more")
    if not np.isfinite(law).all() or (law < 0).any():
        raise InvalidInput(field, "holds a number that is negative or not finite", "must be probabilities")
    total = math.fsum(law) if law.size < 10**6 else float(law.sum())
    if normalise and total > 0:
        return law / total
    if abs(total - 1.0) > _SUM:
        raise InvalidInput(field, f"sums to {total:.10g}", must_sum(total))
    return law


@renamed(rows="records")
class Prior(ABC):
    """Distribution of a database with `records` rows, n, over `letters` letters, m."""

    letters: int = 2
    records: int = 1

    @property
    def cells(self) -> int:
        """Number of databases N = m^n, as an exact integer."""
        return int(self.letters**self.records)

    @property
    @abstractmethod
    def positive(self) -> bool:
        """Whether every database has a positive probability."""

    @abstractmethod
    def marginals(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The u distinct distributions of single rows, shape (u, m), and the number of rows with each distribution,
        shape (u,).
        """

    @property
    @abstractmethod
    def entropy(self) -> float:
        """Entropy H(X) of the database in nats."""

    @abstractmethod
    def vector(self) -> NDArray[np.float64]:
        """Probabilities of all databases, shape (N,); the first row of the database varies slowest.

        Raises:
            Unsupported: more than 2^24 cells.
        """

    _smaller = f"at most {LARGEST_FULL:,}; use independent rows, an exchangeable law, or fewer rows"

    def _check_size(self) -> None:
        if self.records > 24 or self.cells > LARGEST_FULL:  # two letters and 25 rows are too many already
            raise Unsupported("prior", f"a list of {self.letters}^{self.records} cells",
                              self._smaller)


@renamed()
@wire("IndependentRows", "laws counts order")
@dataclass(init=False, eq=False, repr=False)
class IndependentRows(Prior):
    """Prior under which the rows are independent. Equal distributions (laws) of rows are stored once.

    Args:
        laws: the distinct distributions of single rows, shape (u, m).
        counts: number of rows with each distribution, shape (u,); one row for each distribution if left out.
        order: position in `laws` of the distribution of each row, shape (n,). If left out, the rows with the first
            distribution come first, then the rows with the second distribution, and so on.

    Raises:
        InvalidInput: there are no laws, some are no probability distributions, or `order` contradicts `counts`.

    Example:
        >>> prior = IndependentRows([[0.3, 0.7]], [10**7])
        >>> prior.records, prior.letters, round(prior.entropy / prior.records, 6)
        (10000000, 2, 0.610864)
    """

    laws: NDArray[np.float64]
    counts: NDArray[np.int64]
    order: NDArray[np.int64] | None

    def __init__(
        self, laws: Sequence[ArrayLike] | NDArray[np.float64], counts: ArrayLike | None = None,
        order: ArrayLike | None = None,
    ) -> None:
        given = [as_law("prior", law) for law in laws]
        if not given or any(law.size != given[0].size for law in given):
            raise InvalidInput("prior", "row laws are missing, or have different lengths",
                               "give one law for each row, all over m letters")
        numbers = [1] * len(given) if counts is None else [
            whole("counts", count, at_least=1) for count in np.asarray(counts).tolist()]
        if len(numbers) != len(given):
            raise InvalidInput("counts", counted(len(numbers), "count"), f"must be {len(given)}, one for each law")
        table, place = np.unique(np.stack(given), axis=0, return_inverse=True)
        place, given_order = place.reshape(-1).astype(np.int64), None
        if order is not None:
            given_order = np.asarray(order, dtype=np.int64)
            if given_order.ndim != 1 or (given_order < 0).any() or \
                    np.bincount(given_order, minlength=len(numbers)).tolist() != numbers:
                raise InvalidInput("order", "belongs to other rows", "must have each law exactly as often as its count")
        self.laws = table
        self.counts = np.bincount(place, weights=numbers).astype(np.int64)
        self.letters, self.records = int(table.shape[1]), int(sum(numbers))
        # Kept only where it says more than the counts: a law of a hundred million rows is small.
        listed = self.records <= LARGEST_FULL
        found = place[given_order] if given_order is not None else np.repeat(place, numbers) if listed else None
        alike = found is None or bool((np.diff(found) >= 0).all())
        self.order = None if alike else found

    def __repr__(self) -> str:
        return f"IndependentRows(<{len(self.laws)} laws over {self.letters} letters, {self.records} rows>)"

    @property
    def positive(self) -> bool:
        return bool((self.laws > 0).all())

    def marginals(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        return self.laws, self.counts

    def law_of_row(self) -> NDArray[np.int64]:
        """Position in `laws` of each row's law, in the order in which the rows were given, shape (n,)."""
        if self.records > LARGEST_FULL:
            raise Unsupported("prior", f"a list of {self.records:,} rows", f"at most {LARGEST_FULL:,}")
        return np.repeat(np.arange(len(self.counts)), self.counts) if self.order is None else self.order

    @property
    def entropy(self) -> float:
        return float(sum(count * entropy(law) for law, count in zip(self.laws, self.counts, strict=True)))

    def vector(self) -> NDArray[np.float64]:
        self._check_size()
        out = np.ones(1)
        for law in self.laws[self.law_of_row()]:
            out = np.multiply.outer(out, law).reshape(-1)
        return out


@renamed()
@wire("FullPrior", "table letters records")
@dataclass(init=False, eq=False, repr=False)
class FullPrior(Prior):
    """Any distribution of the database, as a vector of m^n cells in C order, so that the first row varies slowest.

    Args:
        table: probabilities of all databases, shape (m^n,).
        letters: number m of letters, which are the values that a row can have.
        records: number of rows, n.
        normalise: whether to divide the probabilities by their sum.
    """

    table: NDArray[np.float64]
    letters: int
    records: int

    @renamed(cells="table")
    def __init__(self, table: ArrayLike, letters: int, records: int, *, normalise: bool = False) -> None:
        self.letters, self.records = whole("letters", letters, at_least=2), whole("records", records, at_least=1)
        self._check_size()
        self.table = as_law("prior", table, normalise=normalise)
        if self.table.size != self.cells:
            raise InvalidInput("prior", f"has {counted(self.table.size, 'cell')}",
                               f"must be {letters}^{records} = {self.cells}")

    def __repr__(self) -> str:
        return f"FullPrior(<{self.cells} cells>, letters={self.letters}, records={self.records})"

    @property
    def positive(self) -> bool:
        return bool(self.table.min() > 0)

    def marginals(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        views = (self.table.reshape(self.letters**i, self.letters, -1) for i in range(self.records))
        return np.stack([view.sum(axis=(0, 2)) for view in views]), np.ones(self.records, dtype=np.int64)

    @property
    def entropy(self) -> float:
        return entropy(self.table)

    def vector(self) -> NDArray[np.float64]:
        return self.table


@renamed()
@wire("Exchangeable", "log_sequence letters records")
@dataclass(init=False, eq=False, repr=False)
class Exchangeable(Prior):
    """Exchangeable prior: its probabilities stay the same if rows change places. The prior is stored as one number for
    each composition of letter counts.

    Args:
        log_sequence: logarithm of the probability of ONE sequence with given letter counts, for each of the t
            compositions in the order of `compositions(records, letters)`, shape (t,); -inf for impossible sequences.
            For two letters, entry k belongs to sequences in which letter 1 occurs k times.
        letters: number m of letters, which are the values that a row can have.
        records: number of rows, n.

    Raises:
        InvalidInput: the number of entries is wrong, or the probabilities sum to a number that differs from 1 by more
            than 1e-9.

    Example:
        >>> prior = Exchangeable.mixture([0.5, 0.5], [[0.8, 0.2], [0.2, 0.8]], 3)
        >>> prior.vector().round(4).tolist()
        [0.26, 0.08, 0.08, 0.08, 0.08, 0.08, 0.08, 0.26]
    """

    _smaller = (f"at most {LARGEST_FULL:,}; more exchangeable rows need two letters, and a channel that takes each row "
                "through one table of two outputs")

    log_sequence: NDArray[np.float64]
    letters: int
    records: int

    def __init__(self, log_sequence: ArrayLike, letters: int, records: int) -> None:
        self.letters, self.records = whole("letters", letters, at_least=2), whole("records", records, at_least=1)
        self.log_sequence = np.array(log_sequence, dtype=np.float64)
        if self.log_sequence.shape != (len(self.types),) or np.isnan(self.log_sequence).any():
            raise InvalidInput("prior", f"shape {self.log_sequence.shape}", f"must be ({len(self.types)},), of numbers")
        total = float(np.exp(logsumexp(self.log_types)))
        if abs(total - 1.0) > _SUM:
            raise InvalidInput("prior", f"sums to {total:.10g}", must_sum(total))

    def __repr__(self) -> str:
        return f"Exchangeable(<{len(self.types)} types>, letters={self.letters}, records={self.records})"

    @classmethod
    @renamed(rows="records")
    def mixture(cls, weights: ArrayLike, laws: Sequence[ArrayLike], records: int) -> Exchangeable:
        """A mixture of several distributions: one distribution is drawn with the probabilities `weights`, and all rows
        are drawn independently from this distribution.
        """
        parts = [as_law("prior", law) for law in laws]
        shares = np.ones(1) if np.shape(weights) == (1,) and np.ravel(weights)[0] == 1 else as_law("weights", weights)
        if len(parts) != len(shares):
            raise InvalidInput("weights", counted(len(shares), "weight"), f"must be {len(parts)}, one for each law")
        if len({part.size for part in parts}) > 1:
            raise InvalidInput("laws", "are over different numbers of letters", "must be over the same letters")
        types = compositions(whole("records", records, at_least=1), parts[0].size)
        with np.errstate(divide="ignore", invalid="ignore"):
            each = [np.log(share) + np.where(types > 0, types * np.log(law), 0.0).sum(axis=1)
                    for share, law in zip(shares, parts, strict=True)]
        log = logsumexp(np.stack(each), axis=0)
        return cls(log - logsumexp(log + _ways(records, types)), parts[0].size, records)

    @classmethod
    def of_counts(cls, law: ArrayLike) -> Exchangeable:
        """Prior over two letters, from the distribution of the number of rows with letter 1. All orders of the rows are
        equally likely.

        Args:
            law: probabilities that 0, 1, ..., n rows have letter 1, shape (n + 1,).

        Example:
            >>> Exchangeable.of_counts([0.5, 0.2, 0.3]).vector().round(4).tolist()
            [0.5, 0.1, 0.1, 0.3]
        """
        some = as_law("counts", law)
        n, k = some.size - 1, np.arange(some.size)
        with np.errstate(divide="ignore"):
            return cls(np.log(some) - _ways(n, np.stack([n - k, k], axis=1)), 2, n)

    @classmethod
    @renamed(rows="records")
    def polya(cls, alpha: ArrayLike, records: int) -> Exchangeable:
        """The prior of a Polya urn (Dirichlet mixture) with parameters alpha > 0, shape (m,)."""
        start = np.array(alpha, dtype=np.float64)
        if start.ndim != 1 or start.size < 2 or not (start > 0).all():
            raise InvalidInput("alpha", "cannot be used", "must be two positive numbers or more, one for each letter")
        types = compositions(whole("records", records, at_least=1), start.size)
        # Rising factorials as sums: differences of log-gammas of large numbers would lose digits.
        steps = np.arange(records)
        each = np.array([np.append(0.0, running_sum(np.log(one + steps))) for one in start.tolist()])
        log = np.take_along_axis(each.T, types, axis=0).sum(axis=1)
        # Normalised: of a million rows, rounding alone leaves a sum off 1 by more than a user's digits may.
        return cls(log - logsumexp(log + _ways(records, types)), start.size, records)

    @cached_property
    def types(self) -> NDArray[np.int64]:
        """Compositions of letter counts, shape (t, m)."""
        return compositions(self.records, self.letters)

    @cached_property
    def log_types(self) -> NDArray[np.float64]:
        """Logarithm of the probability of each composition, shape (t,)."""
        return np.asarray(self.log_sequence + _ways(self.records, self.types))

    @cached_property
    def _place(self) -> dict[tuple[int, ...], int]:
        return {tuple(row): k for k, row in enumerate(self.types.tolist())}

    @cached_property
    def other_types(self) -> NDArray[np.int64]:
        """The l compositions of the letter counts of n - 1 rows, all rows but one, shape (l, m)."""
        if self.records == 1:
            return np.zeros((1, self.letters), np.int64)
        return compositions(self.records - 1, self.letters)

    @cached_property
    def last_row_logs(self) -> NDArray[np.float64]:
        """Logarithm of the probability of one sequence of all n rows, shape (l, m). Entry (i, a) is for composition i
        of `other_types` in all rows but the last, and letter a in the last row.
        """
        which = [[self._place[(*row[:a], row[a] + 1, *row[a + 1:])] for a in range(self.letters)]
                 for row in self.other_types.tolist()]
        return np.asarray(self.log_sequence[np.array(which)])

    @property
    def positive(self) -> bool:
        return bool(np.isfinite(self.log_sequence).all())

    def marginals(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        law = np.exp(self.log_types) @ self.types / self.records
        return law[None], np.array([self.records], dtype=np.int64)

    @property
    def entropy(self) -> float:
        some = self.log_types > -np.inf
        return float(-np.sum(np.exp(self.log_types[some]) * self.log_sequence[some]))

    def vector(self) -> NDArray[np.float64]:
        self._check_size()
        counts = np.zeros((1, self.letters), dtype=np.int64)
        for _ in range(self.records):
            counts = (counts[:, None, :] + np.eye(self.letters, dtype=np.int64)).reshape(-1, self.letters)
        return np.exp(self.log_sequence)[[self._place[tuple(row)] for row in counts.tolist()]]


def entropy(law: NDArray[np.float64]) -> float:
    """Entropy -sum p ln p, in nats."""
    some = law[law > 0]
    return float(-np.sum(some * np.log(some)))


def as_prior(prior: object, letters: int | None = None, records: int | None = None) -> Prior:
    """A prior from any accepted form: a prior object, a list of distributions of single rows, the distribution of one
    row together with `records`, or a vector of the probabilities of all databases.

    Args:
        prior: a prior object, or numbers. A vector of length m is the distribution of each of `records` independent
            rows, and a vector of length m^n gives the probabilities of all databases.
        letters: number m of letters, which are the values that a row can have.
        records: number of rows, n.

    Raises:
        InvalidInput: the value has none of these forms, or contradicts m or n.
    """
    if isinstance(prior, Prior):
        for name, given, known in (("letters", letters, prior.letters), ("records", records, prior.records)):
            if given is not None and given != known:
                raise InvalidInput(name, f"{given} differs from the prior's {known}")
        return prior
    try:
        array = as_probabilities(prior)
    except (TypeError, ValueError):
        raise InvalidInput("prior", "is not an array of numbers",
                           "must be a vector of probabilities, or one law a row, all of the same length") from None
    if array.ndim == 2:
        found: Prior = IndependentRows(list(array)) if records in (None, len(array)) else IndependentRows(
            list(array), [records] if len(array) == 1 else None)
        return as_prior(found, letters, records)
    if array.ndim != 1:
        raise InvalidInput("prior", f"shape {array.shape}", "must be a vector, or one law for each row")
    n = 1 if records is None else whole("records", records, at_least=1)
    root = round(array.size ** (1.0 / n)) if n > 1 else 0
    if letters is None and n > 1 and root > 1 and root**n == array.size:
        raise InvalidInput(
            "letters", f"is missing: {array.size} entries can be one row's law, or the law of all {root}^{n} databases",
            f"set letters={array.size} or letters={root}")
    m = array.size if letters is None else whole("letters", letters, at_least=2)
    if array.size == m:
        return IndependentRows([array], [n])
    if n < 64 and array.size == m**n:
        return FullPrior(array, m, n)
    every = f", or {m**n:,} (of all {m}^{n} databases)" if n > 1 and n * math.log2(m) <= 24 else ""
    raise InvalidInput("prior", f"has {counted(array.size, 'entry', 'entries')}",
                       f"must be {m} (the law of each row){every}")
