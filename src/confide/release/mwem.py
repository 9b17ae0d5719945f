"""`MWEM`: a histogram over all possible records, which multiplicative weights improve for queries to which its answers
are wrong.

Each round uses the exponential mechanism to select a query to which the histogram's answer has a large error. The round
measures this query with Laplace noise, and updates the histogram. The histogram is a function of the selected queries
and their noisy counts, so only the queries and counts are published.

Without a schema, or with a schema of bits, cells are combinations of the bits that queries join. With other columns a
record has one value of each column, and cells are combinations of the joined columns' values.

Source: Hardt, Ligett and McSherry 2012; spec query_release C. Wu 2017 names MWEM as the primal baseline, a method for
comparison.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, Literal, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.contract.checks import fraction, positive, whole
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Accuracy, Audience, Guarantees, Privacy, Relation, Source
from confide.contract.mechanism import Mechanism, NoiseSource, Phase, Progress
from confide.contract.outcome import Billboard, Certificate, RunOutcome
from confide.contract.parameters import Parameter
from confide.contract.progress import advance
from confide.contract.renamed import by_position_before, renamed
from confide.contract.wire import wire
from confide.privacy.accounting import Accountant, float_up, spendable, written
from confide.privacy.events import BoundedRangeEvent, Event, PureEvent, Repeated
from confide.privacy.losses import ZCDP, ApproxDP, PureDP
from confide.privacy.noise.base import as_noise
from confide.privacy.primitives.additive import add_discrete_laplace
from confide.privacy.selection import exponential_mechanism, selection_error
from confide.release._column_histogram import MOST_CELLS, ColumnBlocks, ColumnHistogram, column_blocks, has_columns
from confide.release._histogram import Blocks, Histogram, blocks_of
from confide.release._inputs import of_kind
from confide.release.answers import check_parts, check_scale, counts_of, no_shares, settle, true_errors
from confide.release.draws_a_round import usual_rounds
from confide.release.guarantees import BASELINE_ERROR
from confide.release.records import Codes, PackedBits
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = ["MOST_WORK", "MWEM", "MWEMBillboard", "MWEMCertificate", "fits"]

_GRID = 20  # scores are whole multiples of 2^-20 counts
_MOST = 2**42  # records: their counts on the grid stay within 64 bits
_MOST_ITEMS = 2**24  # of one selection

MOST_WORK = 2.0**43
"""Largest number of cell updates in all rounds, which take about an hour. Every verifier of a release repeats the
updates.
"""
_SPEC = "query_release C"
_UNIT = Relation.REPLACE

Form = Literal["replay", "analysed"]
Stop = Literal["settled", "unchanged"]
_Floats = NDArray[np.float64]


@wire("MWEMBillboard", "records workload form passes chosen measured schema stop", absent={"stop": "unchanged"})
@dataclass(frozen=True, kw_only=True, eq=False)
class MWEMBillboard(Billboard):
    """The published result of MWEM: the selected queries and their noisy counts, from which the histogram follows.

    Args:
        records: number of records, n.
        workload: the k queries.
        form: form of the updates, "replay" (all past updates are repeated in each round) or "analysed" (one update in
            each round).
        passes: largest number of passes over all past updates in a round, for the form "replay".
        chosen: (T,) position of the query that each of the T rounds selected.
        measured: (T,) noisy count of each selected query.
        schema: the columns whose values make the cells; None if the cells are combinations of bits.
        stop: rule for a side of a query that has lost nearly all of its mass, "settled" or "unchanged" (the class
            `MWEM` describes both rules).
    """

    records: int
    workload: Workload
    form: Form
    passes: int
    chosen: np.ndarray
    measured: np.ndarray
    schema: Schema | None = None
    stop: Stop = "settled"

    def answers(self, workload: Workload | None = None) -> _Floats:
        """The answers of the histogram as fractions in [0, 1], (k,).

        Args:
            workload: any queries on the same attributes; if left out, the workload of the release.

        Raises:
            InvalidInput: the workload has other attributes, or it has a predicate although no query of the release
                joins all columns. In the form "analysed", a query over several blocks is refused too, since the mean
                over rounds of a product is not the product of the means. A block is a set of attributes or columns that
                the queries of the release join.
        """
        if workload is None or workload is self.workload:
            return self._play.answers
        of_kind("workload", workload, Workload)
        histogram = self._play.histogram
        if self.form == "analysed" and len(histogram.blocks.starts) > 2:
            block = np.where(workload.index >= 0, histogram.blocks.block_of[workload.index], -1)
            lone = np.where(block < 0, block.max(axis=1, initial=-1)[:, None], block)
            if (lone != lone[:, :1]).any():
                raise InvalidInput("workload", "has a query across blocks, but the release averages each block "
                                               "separately",
                                   'a release with form = "replay" answers such a query')
        return histogram.answers(workload)

    def rows(self, schema: Schema, count: int | None = None) -> pa.Table:
        """The histogram as equally weighted rows of the schema's columns. The number of rows in every cell is the
        expected number, rounded up or down.

        If cells are combinations of the columns' values, every row has one value of each column. If cells are
        combinations of bits, a row may have none or several of the attributes of a column, and the column is then null
        in this row.

        Args:
            schema: the public columns that define the attributes.
            count: number of rows; the number of records n if left out.

        Raises:
            InvalidInput: the schema has other columns than the histogram, or another number of attributes.
            Refused: the cells are combinations of bits, and there are more than 22 attributes.
        """
        from confide.release.records import bits_table, columns_of

        columns_of(schema)
        if self.schema is None:
            return bits_table(self.bits(count), schema)
        if schema != self.schema:
            raise InvalidInput("schema", "differs from the schema of the release", "must be the columns of its plan")
        return self._codes(count).table()

    def bits(self, count: int | None = None) -> PackedBits:
        """The histogram as equally weighted records. The number of records in every cell is the expected number,
        rounded up or down.

        The method is systematic sampling without a random start, in the order of the cells, so that the count of any
        interval of cells has an error of at most one record. If cells are combinations of columns' values, this bound
        holds for each block of columns that the workload joins. The records of different blocks are combined in a fixed
        pseudorandom order. If there are not many more records than cells, the rounding changes answers; the method
        `answers` gives answers without rounding.

        Args:
            count: number of records; the number of records n of the data if left out.

        Raises:
            Refused: the cells are combinations of bits, and there are more than 22 attributes.
        """
        histogram = self._play.histogram
        if isinstance(histogram, ColumnHistogram):
            return self._codes(count).packed()
        size = self._size(count)
        dense = histogram.dense()
        ends = np.cumsum(dense)
        cells = np.searchsorted(ends, (np.arange(size) + 0.5) / size * ends[-1], side="right")
        places = np.arange(self.workload.attributes)
        return PackedBits.pack((np.minimum(cells, len(dense) - 1)[:, None] >> places & 1).astype(np.bool_))

    def _size(self, count: int | None) -> int:
        return self.records if count is None else whole("count", count, at_least=1)

    def _codes(self, count: int | None) -> Codes:
        histogram = self._play.histogram
        if not isinstance(histogram, ColumnHistogram):
            raise InvalidInput("schema", "has only bits", "the histogram has no columns")
        return Codes(schema=histogram.blocks.schema, cells=histogram.rows(self._size(count)))

    @cached_property
    def _play(self) -> _Play:
        blocks = _blocks(self.workload, self.schema)
        play = _Play(self.workload, blocks, self.records, len(self.chosen), self.form, self.passes,
                     self.stop)
        for chosen, measured in zip(self.chosen.tolist(), self.measured.tolist(), strict=True):
            play.ask()
            play.learn(chosen, measured)
        return play.finish()


@renamed(beta="failure_probability")
@wire("MWEMCertificate", "beta measured everywhere", failure_probability="beta")
@dataclass(frozen=True, kw_only=True, eq=False)
class MWEMCertificate(Certificate):
    """Bounds on the errors of a run, computed from its published result, as fractions of n.

    Args:
        failure_probability: upper bound on the probability that at least one of the two bounds fails.
        measured: bound on the error of the measured queries.
        everywhere: bound on the error of every query of the workload. The bound 1 says nothing, because no error
            exceeds 1.
    """

    failure_probability: float
    measured: float
    everywhere: float

    @property
    def vacuous(self) -> bool:
        """Whether the bound on all queries is at least 1/2, the largest error of the answer 1/2 to every query."""
        return not self.everywhere < BASELINE_ERROR


def _blocks(workload: Workload, schema: Schema | None) -> Blocks | ColumnBlocks:
    return column_blocks(workload, schema) if schema is not None and has_columns(schema) else blocks_of(workload)


def fits(workload: Workload, schema: Schema | None = None, *, cells: int = MOST_CELLS) -> bool:
    """Whether `MWEM` accepts a workload with a histogram of at most `cells` cells.

    Args:
        workload: the queries.
        schema: the public columns; None if the cells are combinations of bits.
        cells: largest number of cells of all blocks together. The time of a round is proportional to this number.

    Example:
        >>> from confide.release.schema import Levels
        >>> schema = Schema(tuple(Levels(column=name, levels=tuple("0123456789")) for name in "abc"))
        >>> workload = Workload.complete(schema, width=2)
        >>> fits(workload, schema), fits(workload, schema, cells=999), fits(workload)
        (True, False, False)
    """
    try:
        return _blocks(workload, schema).cells <= cells
    except Refused:
        return False


class _Play:
    """The public computation of MWEM's histogram: `ask` and then `learn` in each of T rounds, and `finish`
    at the end.
    """

    def __init__(
        self, workload: Workload, blocks: Blocks | ColumnBlocks, records: int, rounds: int, form: Form, passes: int,
        stop: Stop,
    ) -> None:
        self.workload, self.records, self.form, self.passes = workload, records, form, passes
        self.settled = stop == "settled"
        self.histogram: Histogram | ColumnHistogram = _uniform(blocks)
        self.rounds = rounds
        self.chosen: list[int] = []
        self.targets: list[float] = []
        self.weights = np.zeros(0)
        self.gaps: list[float] = []
        """The distance |q_t(A_{t-1}) - m_t| of each round, as a fraction, between histogram and noisy answer."""
        self.mean: _Floats | None = None
        self.best: tuple[float, _Floats] | None = None
        self.last: tuple[float, _Floats] | None = None
        self.answers = np.zeros(0)

    def ask(self) -> _Floats:
        """The answers of the histogram before the next update, as fractions, (k,)."""
        self.answers = self.histogram.answers(self.workload)
        if self.form == "analysed":
            # The mean of the histograms that selection saw, A_0..A_{T-1}: of these the theorem speaks.
            share = self.histogram.cells / self.rounds
            self.mean = share if self.mean is None else self.mean + share
        return self.answers

    def learn(self, chosen: int, measured: int) -> None:
        """Update the histogram by the noisy count of a selected query."""
        # A count lies in 0..n, so that to cut there brings a measurement nearer to it, whatever the noise was.
        target = min(max(measured / self.records, 0.0), 1.0)
        residual = target - float(self.answers[chosen])
        self.last = (abs(residual), self.answers)
        if self.best is None or abs(residual) <= self.best[0]:
            self.best = self.last
        self.gaps.append(abs(residual))
        self.chosen.append(chosen)
        self.targets.append(target)
        one_step = self.form == "analysed"
        self.weights = np.append(self.weights, residual / 2 if one_step else 0.0)
        fitted: Any = self.histogram
        pieces = fitted.pieces(self.workload, np.array(self.chosen))
        fitted.fit(pieces, np.array(self.targets), self.weights, 0 if one_step else self.passes, settled=self.settled)

    def finish(self) -> _Play:
        """Compute the final histogram and its answers."""
        if self.mean is not None:
            self.histogram = _uniform(self.histogram.blocks)
            self.histogram.cells = self.mean
        self.answers = self.histogram.answers(self.workload)
        return self


def _uniform(blocks: Blocks | ColumnBlocks) -> Histogram | ColumnHistogram:
    return ColumnHistogram(blocks) if isinstance(blocks, ColumnBlocks) else Histogram(blocks)


@renamed(n="records", beta="failure_probability", scale="noise_scale")
@wire("MWEM", "n workload rounds epsilon form passes beta schema delta stop", absent={"stop": "unchanged"}, records="n",
      failure_probability="beta")
@dataclass(frozen=True, kw_only=True)
class MWEM(Mechanism[MWEMBillboard, MWEMCertificate]):
    """Multiplicative weights with the exponential mechanism, on a histogram over all possible records. A set of
    attributes or columns that the workload joins is a block. The histogram has at most 2^22 cells for each block.

    The form "replay" repeats all past updates for at most `passes` passes in each round, and answers from the last
    histogram. The passes stop when no residual changes by 10^-6 n or more. The replay is post-processing, since it is a
    function of the published measurements. The form "analysed" updates once in each round, and answers from the mean of
    the histograms from which queries were selected. The theorem on the error holds for this mean. On correlated data
    the error of the form "analysed" is many times larger than that of the form "replay".

    If a column of the schema has bins or levels, the histogram is over the combinations of the columns' values, and
    records have one value of each column. The parameter `stop` is the rule for a side of a query that has lost nearly
    all of its mass. A side of a query is the set of cells that satisfy the query, or the set of the other cells. With
    "settled" such a side receives its measured mass, at most one half, before the replay goes on. With "unchanged", the
    rule of version 0.1.0, the mass of the side grows by less than the replay's tolerance and stays near 0.

    Raises:
        InvalidInput: a number is out of range, or there is no query.
        Refused: a block has more than 2^22 cells, or all blocks together have more than 2^24; or the run would take
            more than 2^43 cell updates. The message gives the numbers. Nothing is charged.

    Source: Hardt, Ligett and McSherry 2012; spec query_release C.

    Example:
        >>> from confide.privacy.noise import Noise
        >>> pairs = Workload.conjunctions([[0, 1], [0, 2], [1, 2]], attributes=3)
        >>> mwem = MWEM(records=1000, workload=pairs, rounds=3, epsilon=1.0)
        >>> records = np.repeat(np.array([[True, True, False], [False, False, True]]), 500, axis=0)
        >>> board = mwem.run(records, Noise.simulated(1)).billboard
        >>> bool(np.abs(board.answers() - [0.5, 0.0, 0.0]).max() < 0.05)
        True
    """

    records: Annotated[int, Parameter("records of the data, a public number", at_least=1, at_most=_MOST)]
    workload: Annotated[Workload, Parameter("queries, which are public", symbol="k")]
    rounds: Annotated[int, Parameter("number of queries that the run chooses and measures, one in each round",
                                     symbol="T", at_least=1)]
    epsilon: Annotated[float, Parameter("privacy loss of the whole run", unit="nats", above=0)]
    form: Annotated[Form, Parameter("how the histogram is updated: \"replay\" or \"analysed\"")] = "replay"
    passes: Annotated[int, Parameter("largest number of repetitions of the past updates in a round of a replay",
                                     at_least=1)] = 100
    failure_probability: Annotated[float, Parameter("probability that the certificate fails", above=0,
                                                    below=1)] = 0.05
    schema: Annotated[Schema | None, Parameter("public columns")] = None
    delta: Annotated[float, Parameter("delta at which the concentrated loss is stated; 0 states none", at_least=0,
                                      below=1)] = 0.0
    stop: Annotated[Stop, Parameter("when a replay ends: \"settled\" or \"unchanged\"")] = "settled"

    phases = (Phase(name="custody", asks="a table of records, held by one custodian"),)

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self)
        check_parts(self.workload, self.schema)
        if len(self.workload) > _MOST_ITEMS:
            raise InvalidInput("workload", f"{len(self.workload):,} queries are too many",
                               f"a selection can have at most {_MOST_ITEMS:,}")
        if (work := self._work) > MOST_WORK:
            raise Refused(f"{self.rounds:,} rounds over {self.cells:,} cells take about {work:.2g} updates of a cell",
                          f"must be at most {MOST_WORK:.2g}: choose fewer rounds or passes, or queries on fewer "
                          "columns together")
        if not self.each > 0:
            raise InvalidInput("epsilon", f"{self.epsilon!r} is too small for {self.rounds} rounds")
        check_scale("epsilon", self.noise_scale)
        _ = self._blocks

    @property
    def _work(self) -> float:
        """Number of cell updates of a run, and of a verification. Passes of a replay repeat all earlier updates."""
        repeats = self.passes * self.rounds * (self.rounds + 1) / 2 if self.form == "replay" else float(self.rounds)
        return repeats * self.cells

    @classmethod
    @renamed(n="records")
    @by_position_before("cls", "records", "epsilon", "delta")
    def for_budget(
        cls, *, records: int, epsilon: float, delta: float = 0.0, workload: Workload, rounds: int | None = None,
        **rest: Any,
    ) -> Self:
        """The mechanism with the largest parameter `epsilon` that satisfies (epsilon, delta)-DP for the given budget.

        Args:
            records: number of records of the data, public.
            epsilon: budget of privacy loss, in nats.
            delta: delta of the budget; 0 for pure DP. For delta above 0 the losses are composed in zCDP, unless pure
                composition is better. The zCDP cost is rho = 5 e^2 / (32 T) for T rounds, where e is the parameter
                `epsilon` of the returned mechanism.
            workload: the queries.
            rounds: number of rounds T. The default is computed by `usual_rounds` from the number of records, the
                budget, the number of queries and ln|X|.
            rest: further parameters: form, passes, failure_probability, schema.

        Example:
            >>> pair = Workload.conjunctions([[0, 1]], attributes=2)
            >>> round(MWEM.for_budget(records=1000, epsilon=1.0, delta=1e-6, rounds=20, workload=pair).epsilon, 4)
            1.7657
        """
        delta = fraction("delta", delta, zero=True)
        epsilon = spendable(positive("epsilon", epsilon), delta)
        pure = cls(records=records, workload=workload, rounds=1 if rounds is None else rounds, epsilon=epsilon, **rest)
        allowed = ZCDP.within(epsilon, delta).rho if delta else 0.0
        if rounds is None:
            pure = replace(pure, rounds=usual_rounds(pure.records, epsilon, allowed, len(workload), pure.log_universe,
                                                     analysed=pure.form == "analysed"))
        if delta == 0:
            return pure
        own = math.sqrt(32 * pure.rounds * allowed / 5)
        if not own > epsilon:
            return pure
        found = replace(pure, epsilon=own, delta=delta)
        while found.rho > allowed:
            own = math.nextafter(own, 0.0)
            found = replace(found, epsilon=own)
        return found

    # ---- promises

    @property
    def each(self) -> float:
        """The epsilon of one selection, and of one measurement: epsilon / (2T), rounded down."""
        share = written(self.epsilon) / (2 * self.rounds)
        nearest = float(share)
        return nearest if written(nearest) <= share else math.nextafter(nearest, 0.0)

    @property
    def noise_scale(self) -> float:
        """The scale of the Laplace noise, in counts: 2T / epsilon, rounded up."""
        return float_up(1 / written(self.each))

    def events(self) -> tuple[Event, ...]:
        """The privacy events of T selections and T measurements. The replacement of a record changes each count, and
        therefore each score, by at most 1.
        """
        each = self.each
        return (
            Repeated(event=BoundedRangeEvent(epsilon=each, neighbours=_UNIT, label="selection"), count=self.rounds,
                     neighbours=_UNIT, label="selections"),
            Repeated(event=PureEvent(epsilon=each, neighbours=_UNIT, label="measurement"), count=self.rounds,
                     neighbours=_UNIT, label="measurements"),
        )

    @cached_property
    def rho(self) -> float:
        """The zCDP cost, 5 epsilon^2 / (32 T), rounded up."""
        return Accountant(self.events()).rho()

    @cached_property
    def _blocks(self) -> Blocks | ColumnBlocks:
        return _blocks(self.workload, self.schema)

    @property
    def _columns(self) -> Schema | None:
        """The schema, if the cells of the histogram are combinations of its columns' values; otherwise None."""
        return self.schema if has_columns(self.schema) else None

    @property
    def cells(self) -> int:
        """The number of cells of the histogram in all blocks. The time of a round is proportional to this number."""
        return self._blocks.cells

    @property
    def log_universe(self) -> float:
        """The logarithm ln|X| of the number of combinations of values of the attributes, or columns, that the workload
        names.
        """
        return self._blocks.log_universe

    @property
    def universe_bits(self) -> int:
        """The logarithm log2|X|, rounded up. If cells are combinations of bits, this is the number of attributes that
        the workload names.
        """
        blocks = self._blocks
        return blocks.bits if isinstance(blocks, Blocks) else math.ceil(blocks.log_universe / math.log(2) - 1e-9)

    @renamed(beta="failure_probability")
    def noise_error(self, failure_probability: float) -> float:
        """A bound on the noise of one measurement, in counts, which fails with at most the given probability.

        The bound follows from P(|noise| > x) <= 2 r^x / (1 + r) with r = exp(-1/scale), which is above the tail of
        continuous noise.
        """
        ratio = math.exp(-1 / self.noise_scale)
        return self.noise_scale * max(0.0, math.log(2 / (1 + ratio) / failure_probability))

    def bound(self) -> tuple[float, float]:
        """The bound, before a run, on the error of every query for the form "analysed", in counts, and the failure
        probability of the bound.

        The bound is 2n sqrt(ln|X| / T) + 10 T ln(k) / epsilon for k queries, T rounds and a universe of size |X|, and
        fails with probability at most 2T / k. The code uses the tail of discrete noise, and includes the rounding of
        scores in the bound.
        """
        k, n = len(self.workload), self.records
        game = 2 * n * math.sqrt(self.log_universe / self.rounds)
        # Of one query the selection is never wrong.
        select = (selection_error(k, self.each, 1.0, 1 / k) if k > 1 else 0.0) + 2.0**-_GRID
        return game + select + self.noise_error(1 / k), 2 * self.rounds / k

    def guarantees(self) -> Guarantees:
        rule = "in each of T rounds, a selection and a Laplace measurement at epsilon/(2T) each"
        source = Source(document="Hardt, Ligett and McSherry 2012", statement="Theorem 2.1", spec=_SPEC)
        items: list[Any] = [
            Privacy(loss=PureDP(self.epsilon), neighbours=_UNIT, audience=Audience.PUBLIC, source=source, note=rule),
            Privacy(loss=ZCDP(self.rho), neighbours=_UNIT, audience=Audience.PUBLIC,
                    note=f"{rule}: 5 epsilon^2 / (32 T)",
                    source=Source(document="confide", statement="selections have bounded range", spec=_SPEC)),
        ]
        if self.delta:
            items.append(Privacy(
                loss=ApproxDP(Accountant(self.events()).epsilon(self.delta), self.delta), neighbours=_UNIT,
                audience=Audience.PUBLIC, note="by concentrated composition",
                source=Source(document="confide", statement="selections have bounded range", spec=_SPEC)))
        if self.form == "analysed":
            error, failure = self.bound()
            items.append(Accuracy(
                bound=error / self.records, baseline=BASELINE_ERROR, failure_probability=min(1.0, failure),
                measure="the largest error of any query, as a fraction of the records",
                source=Source(document="Hardt, Ligett and McSherry 2012", statement="Theorem 2.2", spec=_SPEC,
                              erratum="the mean is over the histograms that selection saw, A_0 to A_{T-1}; discrete "
                                      "noise; measurements are cut to 0..n")))
        return Guarantees(tuple(items))

    # ---- the run

    def scores(self, counts: NDArray[np.int64], answers: _Floats) -> NDArray[np.int64]:
        """The private scores |q(A) - q(D)| of queries q, for histogram A and data D, in whole units of 2^-20 counts.

        The histogram is public, so its answers are fixed numbers, including rounding errors. The replacement of a
        record changes each count, and therefore each score, by at most one count. The sensitivity is therefore exactly
        2^20 units.

        Args:
            counts: (k,) true counts of the queries, private.
            answers: (k,) answers of the histogram, as fractions.
        """
        model = np.rint(np.ldexp(answers * self.records, _GRID)).astype(np.int64)
        return np.asarray(np.abs((counts << _GRID) - model))

    def run(
        self, data: Any, noise: NoiseSource, *, progress: Progress | None = None
    ) -> RunOutcome[MWEMBillboard, MWEMCertificate]:
        """Play T rounds on the true counts.

        Args:
            data: n records: rows of bits, a table (without a schema each column a bit), codes, or `TrueAnswers`.
            noise: source of noise, `Noise.secure()` for a release.
            progress: function that is called with the number of finished rounds and the number of all rounds.

        Raises:
            InvalidInput: there are not n records, or the true answers belong to other queries. If cells are
                combinations of columns' values, the error is also raised for records without exactly one value of each
                column, and for true answers without their schema.
        """
        source = as_noise(noise)
        # Records that the histogram cannot hold would break no privacy, and every promise of accuracy.
        counts = counts_of(data, self.workload, self.records, self.schema, one_hot=self._columns is not None)
        play = _Play(self.workload, self._blocks, self.records, self.rounds, self.form, self.passes, self.stop)
        chosen, measured = np.zeros(self.rounds, np.int64), np.zeros(self.rounds, np.int64)
        for t in range(self.rounds):
            scores = self.scores(counts, play.ask())
            query = int(exponential_mechanism(scores, self.each, float(1 << _GRID), source, stream=("select", t),
                                              line="selections")[0])
            count = int(add_discrete_laplace(source, counts[[query]], noise_scale=self.noise_scale, l1_sensitivity=1,
                                             stream=("measure", t), line="measurements")[0])
            chosen[t], measured[t] = query, count
            play.learn(query, count)
            advance(progress, t + 1, self.rounds)
        board = MWEMBillboard(records=self.records, workload=self.workload, form=self.form, passes=self.passes,
                              chosen=chosen, measured=measured, schema=self._columns, stop=self.stop)
        vars(board)["_play"] = play.finish()  # what it would compute again
        return self._outcome(noise, billboard=board, shares=no_shares(), certificate=self.certify(board),
                             diagnostics=true_errors(board.answers(), counts, self.records))

    def decode(self, record: Any, index: int, billboard: Billboard) -> Mapping[str, Any]:
        """Nothing, because the data belong to a custodian and no participant gets a share."""
        self._own(billboard)
        return {}

    def certify(self, billboard: Billboard) -> MWEMCertificate:
        """The certificate: bounds on errors that follow from the measurements.

        The error of a measured query is at most the distance between answer and measurement, plus a bound on the noise.
        The bound on all queries uses a round in which the histogram's answer to the selected query was nearly right.
        Except with small probability, no query had a much larger error in that round. The bound also includes the
        distance between the released histogram and the histogram of that round. Both histograms are public.
        """
        board = self._own(billboard)
        play, each = board._play, self.failure_probability / (2 * self.rounds)
        noise = self.noise_error(each) / self.records
        targets = np.clip(board.measured / self.records, 0.0, 1.0)
        measured = float(np.abs(play.answers[board.chosen] - targets).max()) + noise
        slack = noise + (selection_error(len(self.workload), self.each, 1.0, each) + 2.0**-_GRID) / self.records
        bounds = [1.0]
        for seen in (play.best, play.last):
            if seen is not None:
                gap, answers = seen
                bounds.append(gap + slack + float(np.abs(play.answers - answers).max()))
        if self.form == "analysed":
            bounds.append(math.fsum(play.gaps) / self.rounds + slack)
        return MWEMCertificate(failure_probability=self.failure_probability, measured=min(1.0, measured),
                               everywhere=min(bounds))

    def check(self, billboard: Billboard) -> None:
        """Check that a billboard can come from the mechanism's plan, so that its histogram can be computed again.

        Raises:
            InvalidInput: the billboard belongs to another plan, or has arrays that no run produces.
        """
        self._own(billboard)

    def _own(self, billboard: Billboard) -> MWEMBillboard:
        if not isinstance(billboard, MWEMBillboard):
            raise InvalidInput("billboard", f"{type(billboard).__name__} is not an MWEMBillboard")
        own = (self.records, self.form, self.passes, self._columns, self.stop)
        theirs = (billboard.records, billboard.form, billboard.passes, billboard.schema, billboard.stop)
        if own != theirs or not self.workload.same(billboard.workload):
            raise InvalidInput("billboard", "is of another plan",
                               "n, form, passes, stop, workload and columns must be those of this mechanism")
        for name in ("chosen", "measured"):
            array = getattr(billboard, name)
            if array.shape != (self.rounds,) or array.dtype != np.int64:
                raise InvalidInput(f"billboard.{name}", f"has shape {array.shape} and type {array.dtype}",
                                   f"must have shape ({self.rounds},) and type int64")
        if billboard.chosen.min() < 0 or billboard.chosen.max() >= len(self.workload):
            raise InvalidInput("billboard.chosen", "holds a position without a query",
                               f"each must be in 0..{len(self.workload) - 1}")
        return billboard
