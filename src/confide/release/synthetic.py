"""`SyntheticRecords`: the public result of a run of DualQuery, with a few synthetic records and the data needed to
check them.

The release consists of the synthetic records themselves. With T records of equal weight, an answer is a multiple of
1/T. The records are not a data set of n rows, and should not be repeated to make n rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.contract.outcome import Billboard
from confide.contract.renamed import renamed
from confide.contract.wire import wire
from confide.contract.words import counted
from confide.release._inputs import of_kind
from confide.release.query_game import Netted
from confide.release.records import PackedBits
from confide.release.workload import Workload

if TYPE_CHECKING:
    import pyarrow as pa

    from confide.release.schema import Schema

__all__ = ["Rounds", "SyntheticRecords"]

_UNIT = 1e-9  # how far the weights may be from summing to 1


@wire("Rounds", "queries weights ends negations values bounds fell_back timed_out")
@dataclass(frozen=True, kw_only=True, eq=False)
class Rounds:
    """The draws and the oracle's answers, round by round, from which the records follow.

    Args:
        queries: positions in the workload of the netted samples (in which a query and its negation cancel), int64. The
            rounds follow one another, and positions ascend within a round.
        weights: number of draws of each query in `queries`, minus the number of draws of its negation, int64.
        ends: position in `queries` and `weights` directly after the last sample of each round, int64 (T,).
        negations: number of negations that were drawn in each round, int64 (T,).
        values: number of samples of each round that the round's record satisfies, int64 (T,).
        bounds: upper bound, for each round, on the number of samples that any record satisfies, float64 (T,). The
            oracle returns the bound. If the oracle returns no bound, the entry is the number of samples that do not
            cancel.
        fell_back: for each round, whether the oracle failed and the default record took the place of its record, bool
            (T,).
        timed_out: whether a time limit ended the oracle's search in each round, bool (T,).
    """

    queries: NDArray[np.int64] = field(repr=False)
    weights: NDArray[np.int64] = field(repr=False)
    ends: NDArray[np.int64] = field(repr=False)
    negations: NDArray[np.int64] = field(repr=False)
    values: NDArray[np.int64] = field(repr=False)
    bounds: NDArray[np.float64] = field(repr=False)
    fell_back: NDArray[np.bool_] = field(repr=False)
    timed_out: NDArray[np.bool_] = field(repr=False)

    def __post_init__(self) -> None:
        rounds, drawn = len(self.ends), len(self.queries)
        for name, kind, size in (
            ("queries", np.int64, drawn), ("weights", np.int64, drawn), ("ends", np.int64, rounds),
            ("negations", np.int64, rounds), ("values", np.int64, rounds), ("bounds", np.float64, rounds),
            ("fell_back", np.bool_, rounds), ("timed_out", np.bool_, rounds),
        ):
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.dtype != kind or array.shape != (size,):
                raise InvalidInput(f"rounds.{name}", "does not have the expected type and shape",
                                   f"must be {np.dtype(kind)} of shape ({size},)")
        if rounds and not (self.ends[-1] == drawn and self.ends[0] >= 0 and (np.diff(self.ends) >= 0).all()):
            raise InvalidInput("rounds.ends", "do not split the samples into rounds")

    def __len__(self) -> int:
        """The number of rounds, T."""
        return len(self.ends)

    def netted(self, t: int) -> Netted:
        """The netted samples of round t, counted from 1."""
        some = slice(int(self.ends[t - 2]) if t > 1 else 0, int(self.ends[t - 1]))
        return Netted(self.queries[some], self.weights[some], int(self.negations[t - 1]))

    @classmethod
    def of(cls, played: list[tuple[Netted, int, float, bool, bool]]) -> Rounds:
        """The rounds from a list with one tuple for each round: the netted samples, the value, the bound, whether the
        oracle failed, and whether it timed out.
        """
        columns = list(zip(*played, strict=True))
        netted: list[Netted] = list(columns[0])
        return cls(
            queries=np.concatenate([each.queries for each in netted]),
            weights=np.concatenate([each.weights for each in netted]),
            ends=np.cumsum([len(each.queries) for each in netted], dtype=np.int64),
            negations=np.array([each.constant for each in netted], dtype=np.int64),
            values=np.array(columns[1], dtype=np.int64), bounds=np.array(columns[2], dtype=np.float64),
            fell_back=np.array(columns[3], dtype=np.bool_), timed_out=np.array(columns[4], dtype=np.bool_),
        )


@renamed(n="data_records")
@wire("SyntheticRecords", "records weights rounds marginals n eta", data_records="n")
@dataclass(frozen=True, kw_only=True, eq=False)
class SyntheticRecords(Billboard):
    """The public result of a run of `DualQuery`, or of a mechanism that reweights its records.

    Args:
        records: the T records, packed, in the order of the rounds.
        weights: weights of the records, float64 (T,), each >= 0, with sum 1; 1/T each for DualQuery itself.
        rounds: the samples, and the answers of the oracle, round by round.
        marginals: noisy number of records with each attribute, int64 (d,), if these counts were measured; otherwise
            empty.
        data_records: number n of records of the private data; 0 if unknown.
        eta: step size with which the samples were drawn; 0 if unknown.

    Raises:
        InvalidInput: the arguments contradict each other, such as arrays of different lengths.
    """

    records: PackedBits
    weights: NDArray[np.float64] = field(repr=False)
    rounds: Rounds
    marginals: NDArray[np.int64] = field(repr=False)
    data_records: int = 0
    eta: float = 0.0

    def __post_init__(self) -> None:
        size = self.records.records
        weights = self.weights
        if not isinstance(weights, np.ndarray) or weights.dtype != np.float64 or weights.shape != (size,):
            raise InvalidInput("weights", "are not one double for each record", f"must have shape ({size},)")
        if not ((weights >= 0).all() and abs(float(weights.sum()) - 1.0) <= _UNIT):
            raise InvalidInput("weights", "are not a law", "must be >= 0 with sum 1")
        if len(self.rounds) != size:
            raise InvalidInput("rounds", f"{len(self.rounds)} given for {counted(size, 'record')}",
                               "must be one round for each record")
        marginals = self.marginals
        if not isinstance(marginals, np.ndarray) or marginals.dtype != np.int64 or \
                marginals.shape not in ((0,), (self.records.attributes,)):
            raise InvalidInput("marginals", "are not one whole number for each attribute",
                               f"must be int64 ({self.records.attributes},), or empty")

    def __len__(self) -> int:
        """The number of records, T."""
        return self.records.records

    def __repr__(self) -> str:
        return f"<SyntheticRecords: {len(self)} records of {self.records.attributes} attributes>"

    @property
    def even(self) -> bool:
        """Whether all records have the same weight."""
        return bool((self.weights == self.weights[0]).all())

    def answers(self, workload: Workload) -> NDArray[np.float64]:
        """The answers to any workload over the same attributes, (k,): the total weight of the records that satisfy each
        query.

        Args:
            workload: any queries over the same attributes. An error bound is promised only for the workload of the
                plan.

        Raises:
            InvalidInput: the workload has another number of attributes.
        """
        of_kind("workload", workload, Workload)
        if self.even:
            return np.asarray(workload.counts(self.records) / len(self))
        return np.asarray(workload.answers(self.records, self.weights))

    def rows(self, schema: Schema) -> pa.Table:
        """The records as a table of the schema's columns: levels, bins and named bits as texts, other bits as booleans.

        Without one-hot groups, a record may have none of the attributes of a column, or several of them. In the row of
        such a record, the column is null. If `even` is true, all rows have equal weights; otherwise the weight of each
        row is in `weights`.

        Args:
            schema: the public columns that define the attributes.

        Raises:
            InvalidInput: the argument is not a schema, or has another number of attributes.
        """
        from confide.release.records import bits_table

        return bits_table(self.records, schema)
