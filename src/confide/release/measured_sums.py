"""Answers to further queries as sums of measured answers. The module finds measured answers that add up to the answer
to a further query. The module also bounds the effect of the noise of these measured answers on the sum.

A record lies in exactly one cell of each column. The answer to a query about several cells of a column is therefore the
sum of the answers for the single cells. This answer also equals the answer without the condition on the column, minus
the sum of the answers for all other cells. The sum has the noise of all added answers. Answers that were cut to [0, 1]
must not be added up, since cutting biases each of them.

The module also computes marginals from parities: every conjunction is a signed mean of the parities of its attributes.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from confide.contract.checks import fraction
from confide.contract.errors import InvalidInput
from confide.contract.words import counted
from confide.release._baseline_boards import alike
from confide.release._inputs import of_kind, reals
from confide.release.baselines import NoisyAnswers
from confide.release.queries import keys_of
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = ["Parts", "Sums", "marginals_from_parities", "noise_bar", "sum_bar"]

# ---- measured sums

_MOST_STEPS = 1 << 18
_ROUNDING = 0.01  # of a failure probability: left for the rounding of many counts

_Key = tuple[tuple[int, int], ...]
"""The columns that a query names, ascending, each with its set of allowed cells as the bits of an integer. A column
that the query does not restrict has no entry.
"""


@dataclass(frozen=True)
class Parts:
    """The count of a query, written as a linear combination of the number of all records and of measured counts.

    Args:
        records: coefficient of the number of all records.
        times: mapping from the position of a measured query to the coefficient of the query's noisy count. No
            coefficient is 0.
    """

    records: int = 0
    times: dict[int, int] = field(default_factory=dict)

    @classmethod
    def total(cls, parts: Iterable[tuple[Parts, int]]) -> Parts:
        """The sum of several linear combinations, each multiplied by a sign (1 or -1)."""
        records, times = 0, dict[int, int]()
        for part, sign in parts:
            records += sign * part.records
            for query, count in part.times.items():
                times[query] = times.get(query, 0) + sign * count
        return cls(records, {query: count for query, count in times.items() if count})

    @property
    def square(self) -> int:
        """The variance of the linear combination, in units of the noise variance of one measured count."""
        return sum(count * count for count in self.times.values())

    def share(self, counts: NDArray[np.int64], n: int) -> float:
        """The value of the linear combination as a fraction of the n records.

        Args:
            counts: (j,) noisy counts of the measured queries.
            n: number of records.
        """
        return (self.records * n + sum(count * int(counts[query]) for query, count in self.times.items())) / n


class Sums:
    """Search for sums of measured answers of a release that equal the answers to other conjunctions.

    Args:
        mechanism: the mechanism, whose queries are conjunctions.
        schema: the public columns.

    Example:
        >>> from confide.release import Levels, Workload
        >>> schema = Schema((Levels(column="job", levels=("none", "part", "full", "self", "both")),))
        >>> asked = Workload.complete(schema, width=1)
        >>> it = NoisyAnswers(records=100, workload=asked, schema=schema, epsilon=1.0, delta=1e-6)
        >>> found = Sums(it, schema).of(schema.literals("job in {none, part}"))
        >>> found.records, found.times  # the first two
        (0, {0: 1, 1: 1})
        >>> Sums(it, schema).of(schema.literals("job in {none, part, full}")).times  # less noise in the other two
        {3: -1, 4: -1}
    """

    def __init__(self, mechanism: NoisyAnswers, schema: Schema) -> None:
        self.mechanism, self.schema = mechanism, schema
        self._reported = alike(mechanism.workload, mechanism.schema)
        self._whole = [(1 << size) - 1 for size in schema.sizes]
        self._found: dict[tuple[_Key, int], Parts | None] = {}
        self._steps = 0

    @property
    def measured(self) -> NDArray[np.int64]:
        """The positions of the measured queries among the released queries, (j,)."""
        return self._reported.kept

    def of(self, literals: Collection[tuple[int, bool]]) -> Parts | None:
        """The sum with the least noise among the examined sums that equal the answer to a conjunction. The result is
        None if no examined sum equals this answer.

        Args:
            literals: literals of the conjunction, as pairs of an attribute and the required bit.

        Raises:
            InvalidInput: the search would examine too many combinations of cells.
        """
        self._steps = 0
        key = self._key(literals)
        return Parts() if key is None else self._best(key, 0)

    def _key(self, literals: Collection[tuple[int, bool]]) -> _Key | None:
        """The cells that a conjunction allows in each column; None if no record can satisfy the conjunction."""
        asked: dict[int, int] = {}
        for attribute, bit in literals:
            column, cell = int(self.schema.column_of[attribute]), int(self.schema.cell_of[attribute])
            mask = 0 if cell < 0 else 1 << cell
            before = asked.get(column, self._whole[column])
            asked[column] = before & (mask if bit else self._whole[column] ^ mask)
        if not all(asked.values()):
            return None
        return tuple(sorted((column, mask) for column, mask in asked.items() if mask != self._whole[column]))

    @cached_property
    def _released(self) -> dict[_Key, Parts]:
        """Mapping from each released query to its measured count, as `Parts`."""
        workload, reported = self.mechanism.workload, self._reported
        found: dict[_Key, Parts] = {(): Parts(1)}
        for row, bits, place, negated in zip(workload.index.tolist(), workload.bits.tolist(), reported.place.tolist(),
                                             reported.negated.tolist(), strict=True):
            key = self._key([(each, bit) for each, bit in zip(row, bits, strict=True) if each >= 0])
            if key is not None:
                found.setdefault(key, Parts(1, {place: -1}) if negated else Parts(0, {place: 1}))
        return found

    @cached_property
    def _column_sets(self) -> list[tuple[int, ...]]:
        return sorted({tuple(column for column, _ in key) for key in self._released}, key=len)

    def _best(self, key: _Key, done: int) -> Parts | None:
        """The best sum for a query whose first `done` columns are restricted to one cell each."""
        known = self._released.get(key)
        if known is not None:
            return known
        if (key, done) not in self._found:
            self._step()
            self._found[key, done] = self._wider(key) if done == len(key) else self._split(key, done)
        return self._found[key, done]

    def _step(self) -> None:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise InvalidInput("queries", "a query needs too many combinations of cells",
                               "ask for fewer combinations in one query")

    def _split(self, key: _Key, done: int) -> Parts | None:
        """The least noisy sum that splits the query by its next column: a sum over the allowed cells of the column, or
        the query without the column, minus the sum over the column's other cells.
        """
        column, mask = key[done]
        before, after = key[:done], key[done + 1 :]

        def cells(of: int) -> list[_Key]:
            return [(*before, (column, 1 << cell), *after) for cell in range(of.bit_length()) if of >> cell & 1]

        ways = (self._total([(each, 1, done + 1) for each in cells(mask)]),
                self._total([((*before, *after), 1, done),
                             *((each, -1, done + 1) for each in cells(self._whole[column] ^ mask))]))
        return min((way for way in ways if way is not None), key=lambda way: way.square, default=None)

    def _total(self, parts: list[tuple[_Key, int, int]]) -> Parts | None:
        found = list[tuple[Parts, int]]()
        for key, sign, done in parts:
            part = self._best(key, done)
            if part is None:
                return None
            found.append((part, sign))
        return Parts.total(found)

    def _wider(self, key: _Key) -> Parts | None:
        """The best sum for a query about single cells of some columns. The sum adds up released queries about the same
        cells and one cell of each of some further columns, over all combinations of these further cells.
        """
        mine = {column for column, _ in key}
        best: Parts | None = None
        for columns in self._column_sets:
            if not mine < set(columns):
                continue
            more = [column for column in columns if column not in mine]
            found = list[tuple[Parts, int]]()
            for cells in product(*(range(self.schema.sizes[column]) for column in more)):
                self._step()
                single = self._released.get(tuple(sorted((*key, *((column, 1 << cell) for column, cell
                                                                  in zip(more, cells, strict=True))))))
                if single is None:
                    break
                found.append((single, 1))
            else:
                total = Parts.total(found)
                if best is None or total.square < best.square:
                    best = total
        return best


def sum_bar(it: NoisyAnswers, beta: float) -> float:
    """A bound on the effect of noise on the sum of all released answers, as a fraction of the records. The bound fails
    with probability at most `beta`.
    """
    reported = alike(it.workload, it.schema)
    times = np.bincount(reported.place, weights=np.where(reported.negated, -1, 1)).astype(np.int64)
    return noise_bar(it, times[times != 0].tolist(), beta)


def noise_bar(it: NoisyAnswers, times: Collection[int], beta: float) -> float:
    """A bound on the effect of noise on a linear combination of measured counts, as a fraction of the records. The
    bound fails with probability at most `beta`.

    A Laplace variable is a Gaussian variable with an exponentially distributed variance. The variance of a sum of
    Laplace variables therefore has a Gamma distribution. Noisy counts are whole numbers, so their noise differs from
    this continuous noise: discrete Laplace noise by less than 1, and rounded Gaussian noise by at most 1/2.

    Args:
        it: the mechanism, whose counts have independent noise.
        times: coefficients of the measured counts in the linear combination; empty if there is no noisy count.
        beta: failure probability of the bound, in (0, 1).

    Example:
        >>> from confide.release import Workload
        >>> asked = Workload.conjunctions([[0], [1], [2], [3]], attributes=4)
        >>> it = NoisyAnswers(records=1000, workload=asked, epsilon=1.0, delta=1e-6)
        >>> [round(noise_bar(it, [1] * many, 0.05), 4) for many in (0, 1, 4)]
        [0.0, 0.0171, 0.0351]
    """
    beta, sizes = fraction("beta", beta), [abs(each) for each in times]
    if not sizes:
        return 0.0
    laplace = it.law == "laplace"
    if laplace and sizes == [1]:  # P[|noise| > x] <= 2 r^x / (1 + r) of the discrete law
        return it.noise_scale * math.log(2 / (1 + math.exp(-1 / it.noise_scale)) / beta) / it.records
    step, length = (1.0 if laplace else 0.5), math.sqrt(sum(each * each for each in sizes))
    rounded, drawn = step * sum(sizes), beta
    likely = step * length * math.sqrt(2 * math.log(2 / (beta * _ROUNDING)))  # Hoeffding's bound
    if likely < rounded:
        rounded, drawn = likely, beta * (1 - _ROUNDING)
    if laplace:
        return (_laplace_sum(it.noise_scale * max(sizes), len(sizes), drawn) + rounded) / it.records
    return (it.noise_std * length * -float(scipy.special.ndtri(drawn / 2)) + rounded) / it.records


def _laplace_sum(scale: float, count: int, beta: float) -> float:
    """The bound that |sum of `count` independent Laplace variables| exceeds with probability at most `beta`."""
    from scipy.optimize import brentq

    left = np.concatenate([np.linspace(1.0, 0.01, 4000), np.geomspace(0.01, beta * 1e-4, 2000)[1:]])
    # Of each slice of Gamma variables the largest.
    spread = 2.0 * scale * np.sqrt(scipy.special.gammainccinv(count, left[1:]))
    mass = left[:-1] - left[1:]

    def tail(bound: float) -> float:
        return float(mass @ scipy.special.erfc(bound / spread)) + float(left[-1]) - beta

    high = scale * (count + 1.0) * (2.0 - math.log(beta))
    return float(brentq(tail, 0.0, high, rtol=1e-9)) * (1 + 1e-8)


# ---- identities


def marginals_from_parities(marginals: Workload, parities: Workload, answers: Any) -> np.ndarray:
    """Answers to conjunctions from answers to parities, by an identity that holds for every data set.

    For a set T of attributes let p_T(x) = prod over i in T of (1 - 2 x_i). The product p_T(x) is +1 if the number of
    ones of x among T is even, and otherwise -1. A literal "x_i = 1" equals (1 - p_i)/2, and "x_i = 0" equals (1 +
    p_i)/2. A conjunction of r literals on the set S therefore equals

        2^-r sum over subsets T of S of (-1)^(positive literals in T) p_T(x).

    The formula printed in Wu 2017 lacks the signs and the factor 2^-r (erratum 5). Without the signs the formula gives
    the fraction of records with all attributes off. If each parity has an error of at most a on the scale from -1 to
    +1, the conjunction has an error of at most (1 - 2^-r) a, since the parity of the empty set is exact. If the
    parities are answers as fractions of the records with an error of at most a, the conjunction has an error of at most
    2 (1 - 2^-r) a.

    Args:
        marginals: a workload of k conjunctions.
        parities: workload that holds the parity of every non-empty set of attributes within a conjunction.
        answers: answers to the parities: fractions of the records with an even number of ones.

    Returns:
        The answers to the conjunctions, float64 (k,).

    Raises:
        InvalidInput: a workload is of the wrong kind, the workloads are over different attributes, or a parity is
            missing.

    Source: spec query_release E3 and erratum 5.

    Example:
        >>> from confide.release import PackedBits
        >>> marginals = Workload.conjunctions([[0, 1], [0, 2]], [[True, True], [True, False]], attributes=3)
        >>> parities = Workload.complete(3, width=2, kind="parities")
        >>> records = PackedBits.pack([[1, 1, 0], [1, 0, 1], [1, 1, 1], [0, 0, 0]])
        >>> marginals_from_parities(marginals, parities, parities.answers(records)), marginals.answers(records)
        (array([0.5 , 0.25]), array([0.5 , 0.25]))
    """
    of_kind("marginals", marginals, Workload)
    of_kind("parities", parities, Workload)
    if marginals.kind != "conjunctions" or parities.kind != "parities":
        raise InvalidInput("workload", f"marginals holds {marginals.kind}, and parities holds {parities.kind}",
                           "marginals must hold conjunctions, and parities must hold parities")
    if marginals.attributes != parities.attributes:
        raise InvalidInput("parities", f"are over {counted(parities.attributes, 'attribute')}",
                           f"the marginals are over {marginals.attributes}")
    values = 2 * reals("answers", answers) - 1
    if values.shape != (len(parities),):
        raise InvalidInput("answers", f"are of shape {values.shape}", f"must be ({len(parities)},)")
    known = keys_of(parities.index, parities.bits, parities.attributes)
    order = np.argsort(known)
    known = known[order]
    total = np.ones(len(marginals))
    lengths = (marginals.index >= 0).sum(axis=1)
    for subset in range(1, 1 << marginals.width):
        places = np.flatnonzero(subset >> np.arange(marginals.width) & 1)
        there = np.flatnonzero(lengths > places[-1])
        if not len(there):
            continue
        if len(places) > parities.width:
            raise _missing(marginals.index[there[0], places])
        index = np.full((len(there), parities.width), -1, np.int32)
        index[:, : len(places)] = marginals.index[there][:, places]
        keys = keys_of(index, np.ones(index.shape, np.bool_), parities.attributes)
        found = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        if not np.array_equal(known[found], keys):
            raise _missing(index[np.argmax(known[found] != keys)])
        odd = marginals.bits[there][:, places].sum(axis=1) % 2 == 1
        total[there] += np.where(odd, -1.0, 1.0) * values[order[found]]
    found_answers: np.ndarray = np.ldexp(total, -lengths)
    return found_answers


def _missing(index: np.ndarray) -> InvalidInput:
    shown = ", ".join(str(each) for each in index.tolist() if each >= 0)
    return InvalidInput("parities", f"the parity of the attribute{'s' * (',' in shown)} {shown} is missing",
                        'measure a workload such as Workload.complete(domain, width=3, kind="parities")')
