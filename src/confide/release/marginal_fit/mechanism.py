"""`MarginalFit`: measure tables of few columns with noise, and fit a synthetic population to them. The mechanism is for
tables with declared columns.

A run first measures the tables of single columns (one-way tables). After the one-way tables the run chooses, in
batches, tables of two or three columns on which the synthetic population has a large error. The choice uses the
exponential mechanism, and the chosen tables are measured with discrete Gaussian noise. After each batch the population
is fitted to all measurements. Only the choices and the measurements read the data.

Source: spec query_release D6; the idea to measure adaptively chosen marginals is from McKenna, Mullins, Sheldon and
Miklau 2022 (AIM), and the idea to use synthetic rows in place of a graphical model is from Aydore et al. 2021 (RAP).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import positive
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Audience, Guarantees, Privacy, PrivacyLoss, Relation, Source
from confide.contract.kinds import Progress
from confide.contract.mechanism import Mechanism, NoiseSource, Phase
from confide.contract.outcome import Billboard, RunOutcome
from confide.contract.parameters import Parameter
from confide.contract.progress import advance
from confide.contract.renamed import by_position_before, renamed
from confide.contract.wire import wire
from confide.contract.words import counted
from confide.privacy.accounting import Accountant, spendable, written
from confide.privacy.charge import DrawCost
from confide.privacy.events import Event
from confide.privacy.losses import ZCDP, ApproxDP
from confide.privacy.noise.base import Noise, as_noise
from confide.privacy.noise.discrete import LARGEST_SCALE
from confide.privacy.primitives.additive import add_discrete_gaussian
from confide.privacy.selection import exponential_mechanism
from confide.release._inputs import gaussian_delta
from confide.release.answers import no_shares, settle
from confide.release.guarantees import BASELINE_ERROR
from confide.release.marginal_fit.candidates import SENSITIVITY, Batch, Candidates, scores, true_tables, whole_weights
from confide.release.marginal_fit.fitted_marginals import (
    FittedMarginals,
    FittedMarginalsCertificate,
    merged,
    merged_columns,
)
from confide.release.marginal_fit.measured import MeasuredTables, RawTable, consistent
from confide.release.marginal_fit.model import Model
from confide.release.marginal_fit.plan import (
    MOST_TRIPLED,
    MOVED,
    Choice,
    Split,
    bytes_needed,
    check_columns,
    check_memory,
    choose,
    chosen_split,
    default_widths,
    most_tables,
    open_events,
    shares_after,
    split,
    usual_tables,
)
from confide.release.records import Codes
from confide.release.schema import Schema

__all__ = ["MarginalFit"]

_UNIT = Relation.REPLACE
_MOST_RECORDS = 2**31 - 1  # counts of candidate tables are kept in 32 bits
_MOST_ROWS = 10**7  # of the population
_MOST_CELLS = 2**16 - 1  # of a table: cells are numbered in 16 bits
_MOST_CANDIDATES = 2**26  # cells of all candidate tables, which are held in 32 bits each
_BETA = 0.05  # of the certificate
_LINES = {"one-way": "one-way tables", "again": "one-way tables again", "choose": "choices of tables",
          "table": "chosen tables"}  # of the charge, by the first word of a draw's name
_FOLLOWS = "what follows from them"
_WHOLE = 1000  # parts of a run, of which progress is reported


@renamed(n="records")
@wire("MarginalFit", "n schema rho tables batches population one_way selection widths largest_table seed delta",
      records="n")
@dataclass(frozen=True, kw_only=True)
class MarginalFit(Mechanism[FittedMarginals, FittedMarginalsCertificate]):
    """A mechanism that releases noisy tables of one, two and three columns, and a weighted population that fits them.
    The synthetic population answers any query, and is most accurate for queries that name few columns. The mechanism
    needs no workload.

    If n is so large that the noise is negligible, the error of the fit remains. For the Adult table repeated to 10^6
    and 10^7 records, at epsilon = 1, the average errors over three-way conjunctions were .000040 and .000020, and the
    largest errors .0035. The errors come from tables that were not measured, and from the limited number N of rows of
    the population. At 10^7 records, 200 tables instead of 90 reduced the average error to .000009 and the largest error
    to .0010. At 10^7 records, 400,000 rows instead of 100,000 reduced the errors to .000015 and .0030.

    `for_budget` sets the defaults. All parameters are public and must be fixed before the run, since tuning them on the
    private records would leak information. The running time depends on the number of distinct records, which is
    private, so the running time is not published.

    If `tables` is None, the run chooses the number T of tables and the budget share of the one-way tables from its own
    first one-way tables. The docstring of `events` explains why the choice of T has no additional privacy cost. If T is
    0, the one-way tables get all of rho.

    Args:
        widths: allowed numbers of columns of a chosen table: (2,), (3,) or (2, 3).

    Raises:
        InvalidInput: a number is out of range, or there are more tables than candidates.
        Refused: there are too many columns to score all pairs or triples; or the candidates have more than 2^26 cells
            together; or a run may take more memory than 8 GiB (`MOST_BYTES` of the module `plan`). All refusals depend
            on public numbers and happen before any draw.

    Source: spec query_release D6.

    Example:
        >>> from confide.privacy.noise import Noise
        >>> from confide.release import Schema, Workload
        >>> records = np.repeat(np.array([[1, 1, 0], [0, 0, 1]], dtype=np.uint16), 5000, axis=0)
        >>> fit = MarginalFit.for_budget(records=10_000, epsilon=1.0, delta=1e-6, schema=Schema.bits(3), tables=3,
        ...                              population=2000)
        >>> board = fit.run(Codes(schema=fit.schema, cells=records), Noise.simulated(1)).billboard
        >>> pairs = Workload.complete(fit.schema, width=2)
        >>> bool(np.abs(board.answers(pairs) - [0.5, 0.0, 0.0]).max() < 0.01)
        True
    """

    records: Annotated[int, Parameter("records of the data, a public number", at_least=1,
                                at_most=_MOST_RECORDS)]
    schema: Annotated[Schema, Parameter("public columns")]
    rho: Annotated[float, Parameter("zCDP cost of a run", above=0)]
    tables: Annotated[int | None, Parameter("number of sets of columns with measured tables; if it is left out, the "
                                            "run chooses the number",
                                            symbol="T", at_least=0)] = None
    batches: Annotated[int, Parameter("number of batches of choices; the run fits the population after each batch",
                                      at_least=1)] = 5
    population: Annotated[int, Parameter("weighted rows of the population", symbol="N", at_least=100,
                                         at_most=_MOST_ROWS)] = 100_000
    one_way: Annotated[float, Parameter("share of rho for the one-way tables", symbol="f1", above=0, below=1)] = 0.1
    selection: Annotated[float, Parameter("share of rho for the choices; the rest measures the chosen tables",
                                          symbol="fs", above=0, below=1)] = 0.1
    widths: tuple[int, ...] = (2, 3)
    largest_table: Annotated[int, Parameter("largest number of cells of a chosen table", at_least=4,
                                            at_most=_MOST_CELLS)] = 20_000
    seed: Annotated[int, Parameter("public seed of shuffles, resampling and the fit's own draws; privacy does not "
                                   "depend on it",
                                   at_least=0)] = 0
    delta: Annotated[float, Parameter("delta at which epsilon is stated; 0 states none", at_least=0, below=1)] = 0.0

    phases = (Phase(name="custody", asks="a table of records, held by one custodian"),)

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self)
        object.__setattr__(self, "widths", _widths(self.widths))
        if self.one_way + self.selection >= 1:
            raise InvalidInput("selection", f"{self.selection!r} leaves no budget for the measurements",
                               "one_way + selection must be below 1")
        check_columns(self.schema.sizes, (2,) if self.tables == 0 else self.widths)
        if (cells := int(self.candidates.starts[-1])) > _MOST_CANDIDATES:
            raise Refused(f"the candidate tables have {cells:,} cells together",
                          f"must be at most {_MOST_CANDIDATES:,}; lower largest_table, take wider bins, or widths=(2,)")
        if (self.tables or 0) > len(self.candidates):
            raise InvalidInput("tables", f"{self.tables} are more than the {len(self.candidates)} candidates",
                               "measure fewer tables, or allow larger tables")
        check_memory(self.memory)
        if not max(self.split.one_way, self.split.sigma, self._loudest) <= LARGEST_SCALE / 2**10:
            raise InvalidInput("rho", f"{self.rho!r} is too small", "the noise would be too large for 64-bit integers")

    @classmethod
    @renamed(n="records")
    @by_position_before("cls", "records", "epsilon", "delta")
    def for_budget(
        cls, *, records: int, epsilon: float, delta: float = 0.0, schema: Schema, tables: int | None = None,
        widths: tuple[int, ...] | None = None, **rest: Any,
    ) -> Self:
        """The mechanism that spends (epsilon, delta) on n records, with defaults from the schema.

        Args:
            records: number of records of the data, public.
            epsilon: budget of privacy loss in nats, > 0.
            delta: delta of the budget, in (0, 1). There is no version with pure differential privacy, since the noise
                is Gaussian.
            schema: the public columns.
            tables: number of chosen tables T; None lets the run choose it.
            widths: allowed numbers of columns of a chosen table. The default is (2, 3) for up to 60 columns, and (2,)
                for more columns.
            rest: further parameters: batches, population (by default half as large for more than 60 columns), one_way,
                selection, largest_table, seed.

        Example:
            >>> from confide.release import Schema
            >>> fit = MarginalFit.for_budget(records=1000, epsilon=1.0, delta=1e-6, schema=Schema.bits(10))
            >>> fit.tables, round(fit.rho, 5)
            (None, 0.02436)
        """
        sizes = schema.sizes
        columns = sum(size > 1 for size in sizes)
        chosen = default_widths(columns) if widths is None else tuple(widths)
        epsilon = spendable(positive("epsilon", epsilon), gaussian_delta(delta))
        rho = ZCDP.within(epsilon, delta).rho
        if columns > MOST_TRIPLED:
            rest.setdefault("population", cls.population // 2)
        made = cls(records=records, schema=schema, rho=rho, tables=tables, widths=chosen, delta=delta, **rest)
        while (spent := Accountant(made.events())).rho() > rho or \
                spent.epsilon(made.delta, calculator="zcdp") > epsilon:  # parts are rounded up, an ulp or two
            made = replace(made, rho=math.nextafter(made.rho, 0.0))
        return made

    # ---- public arithmetic

    @cached_property
    def candidates(self) -> Candidates:
        """The tables that may be chosen, in lexicographic order of their columns; empty for T = 0."""
        return Candidates.of(self.schema.sizes, () if self.tables == 0 else self.widths, self.largest_table)

    @property
    def memory(self) -> dict[str, int]:
        """Mapping from parameter to the estimated bytes of memory that it causes in a run. The sum of all entries is
        the total memory.
        """
        most = most_tables(self.schema.sizes, len(self.candidates)) if self.tables is None else self.tables
        return bytes_needed(self.records, self.schema.sizes, self.population, most, self.candidates)

    @property
    def _columns(self) -> int:
        """The number m of columns with more than one cell."""
        return sum(size > 1 for size in self.schema.sizes)

    @cached_property
    def split(self) -> Split:
        """The split of the budget: the noise of a run's measurements, and the epsilon of its choices. If the run
        chooses the number T of tables, the split is for the default T (`usual_tables` of the module `plan`).
        """
        tables = self.tables
        if tables is None:
            tables = usual_tables(self.schema.sizes, len(self.candidates))
            if not tables:  # the first one-way tables have their share all the same: all of rho is charged in two parts
                return chosen_split(self.rho, self._columns, self.one_way, self.selection, Choice(0, 1.0))
        return split(self.rho, self._columns, tables, self.one_way, self.selection)

    @property
    def _loudest(self) -> float:
        """The largest noise standard deviation that a run may choose."""
        most = most_tables(self.schema.sizes, len(self.candidates))
        if self.tables is not None or not most:
            return 0.0
        ways = [chosen_split(self.rho, self._columns, self.one_way, self.selection, choice) for choice in (
            Choice(0, 1.0), *(Choice(most, share) for share in shares_after(self.one_way)))]
        return max(max(way.sigma, way.again) for way in ways)

    def follow(self, one_way: list[RawTable]) -> Split:
        """The split of the budget after the first one-way tables, computed from the released one-way tables and public
        facts alone.

        Args:
            one_way: the one-way tables that the run released first.
        """
        if self.tables is not None:
            return self.split
        choice = choose(
            consistent(one_way, self.records), self.candidates, sizes=self.schema.sizes, n=self.records, rho=self.rho,
            one_way=self.one_way, selection=self.selection, seed=self.seed)
        return chosen_split(self.rho, self._columns, self.one_way, self.selection, choice)

    def events(self) -> tuple[Event, ...]:
        """The privacy events of the one-way tables, of the choices and of the chosen tables. The rho values of all
        events add up to the rho of the plan, apart from rounding in doubles.

        If the run chooses T, there are two events: the first one-way tables, and everything after them. T and the
        shares of the later parts are a function of the released one-way tables. For each outcome of the first one-way
        tables, the rest of the run is a mechanism with the same bound on its rho. The run is therefore an adaptive
        composition of two mechanisms with fixed costs, and the sum of both costs holds for any T. The stopping rule of
        a privacy filter is not needed, because no cost depends on an outcome. A campaign with a privacy filter charges
        the sum of both costs.
        """
        return self.split.events() if self.tables is not None else open_events(self.rho, self.one_way)

    def guarantees(self) -> Guarantees:
        account = Accountant(self.events())
        losses: list[PrivacyLoss] = [ZCDP(account.rho())]
        if self.delta:
            losses.append(ApproxDP(account.epsilon(self.delta), self.delta))
        return Guarantees(tuple(
            Privacy(loss=loss, neighbours=_UNIT, audience=Audience.PUBLIC,
                    note="one record is replaced by another, and the number of records is public",
                    source=Source(document="confide", spec="query_release D6",
                                  statement="a replaced record moves two cells of a table, and a score by 2 counts"))
            for loss in losses))

    # ---- the run

    def run(
        self, data: Any, noise: NoiseSource, *, progress: Progress | None = None
    ) -> RunOutcome[FittedMarginals, FittedMarginalsCertificate]:
        """Make all measurements and fits. No error is raised after the first draw.

        Args:
            data: `Codes` of the schema, or a table of n rows. A table with a value that its column does not accept is
                refused. To count unusable rows as null records, encode the table before the run.
            noise: source of noise, `Noise.secure()` for a release.
            progress: function that is called with the finished thousandths of the run, and 1000. The function is called
                after each one-way table, and during the scoring of candidates and the cycles of each fit. The reported
                numbers depend only on the plan and on released tables. The times of the calls depend on the data.

        Returns:
            An outcome with `FittedMarginals` as billboard. Under simulated noise the outcome's diagnostics hold the
            true error of the measured tables.

        Raises:
            InvalidInput: the data are not n records of this schema, or the table cannot be encoded.
        """
        source = as_noise(noise)
        codes = self._codes(data)
        columns, counts = _distinct(codes)
        raw = self._measure_one_way(columns, counts, self.split.one_way, "one-way", source, _part(progress, 0, 30))
        after = self.follow(raw)
        if after.again:
            raw += self._measure_one_way(columns, counts, after.again, "again", source, _part(progress, 30, 60))
        fit = _Fit(self, after, raw)
        private = true_tables(columns, counts, self.candidates, fit.sizes, _part(progress, 60, 200)) \
            if after.tables else []
        rounds = -(-after.tables // max(1, fit.batch))
        for at in range(rounds):
            start, middle, end = (200 + 800 * (2 * at + half) // (2 * rounds) for half in range(3))
            reported = self._scores(fit, private, _part(progress, start, middle))
            picked = self._choose(reported, fit, source)
            fit.learn([self._measure(each, columns, counts, after.sigma, source) for each in picked],
                      _part(progress, middle, end))
        board = fit.billboard()
        del fit, private  # hundreds of columns: what is not needed any more may go
        outcome = self._outcome(noise, billboard=board, shares=no_shares(), certificate=self.certify(board),
                                diagnostics=None if source.release_safe else self._diagnostics(board, columns, counts))
        advance(progress, _WHOLE, _WHOLE)
        return outcome

    def _codes(self, data: Any) -> Codes:
        codes = data if isinstance(data, Codes) else self.schema.encode(data)
        if codes.schema != self.schema:
            raise InvalidInput("data", "is of another schema", "must have the mechanism's own columns")
        if codes.records != self.records:
            raise InvalidInput("data", f"has {counted(codes.records, 'record')}",
                               f"must have {self.records:,}, the number in `records`")
        return codes

    def _measure_one_way(
        self, columns: NDArray[np.uint16], counts: NDArray[np.int64], sigma: float, stream: str, source: Noise,
        progress: Progress | None,
    ) -> list[RawTable]:
        raw = []
        for j, size in enumerate(self.schema.sizes):
            if size > 1:
                table = _table(columns, counts, (j,), (size,))
                noisy = add_discrete_gaussian(source, table, noise_std=sigma, l2_sensitivity_squared=MOVED,
                                              stream=(stream, j), line=self._line(stream))
                raw.append(RawTable((j,), noisy, sigma))
            advance(progress, j + 1, len(self.schema.sizes))
        return raw

    def _scores(self, fit: _Fit, private: list[NDArray[np.int32]], progress: Progress | None) -> NDArray[np.int64]:
        """The private scores of all candidates. Equal rows of the model are merged first, since there may be few
        distinct rows.
        """
        rows, weights = merged_columns(fit.model.rows, fit.model.weights, self.schema.sizes)
        return scores(rows, whole_weights(weights, self.records), self.candidates, fit.sizes, private,
                      self.records, fit.split.sigma, self.seed, fit.batches, progress)

    def _choose(self, scored: NDArray[np.int64], fit: _Fit, source: Noise) -> list[int]:
        """The choices of one batch. Each choice is a draw of the exponential mechanism from the candidates that the
        public rules of `Batch` allow.
        """
        rule, first = Batch(self.candidates, fit.picked), len(fit.picked)
        for t in range(first, min(fit.split.tables, first + fit.batch)):
            places = np.flatnonzero(rule.allowed())
            drawn = exponential_mechanism(scored[places], fit.split.epsilon, SENSITIVITY, source, stream=("choose", t),
                                          line=self._line("choose"))
            fit.picked.append(int(places[drawn[0]]))
            rule.pick(fit.picked[-1])
        return fit.picked[first:]

    def _measure(
        self, at: int, columns: NDArray[np.uint16], counts: NDArray[np.int64], sigma: float, source: Noise
    ) -> RawTable:
        members = self.candidates.columns(at)
        shape = tuple(self.schema.sizes[j] for j in members)
        table = _table(columns, counts, members, shape)
        noisy = add_discrete_gaussian(source, table, noise_std=sigma, l2_sensitivity_squared=MOVED,
                                      stream=("table", at), line=self._line("table"))
        return RawTable(members, noisy, sigma)

    def _line(self, what: str) -> str:
        """Name of the line of the charge that pays for some draws."""
        return _FOLLOWS if self.tables is None and what != "one-way" else _LINES[what]

    def _diagnostics(
        self, board: FittedMarginals, columns: NDArray[np.uint16], counts: NDArray[np.int64]
    ) -> dict[str, float]:
        """Mean true L1 error of the measured tables. The error is private and never published with a release."""
        model, shares = np.ascontiguousarray(board.cells.T), counts / self.records
        distances = []
        for table in board.tables.raw(self.schema.sizes):
            shape = table.counts.shape
            exact = _weigh(columns, shares, table.columns, shape)
            distances.append(float(np.abs(_weigh(model, board.weights, table.columns, shape) - exact).sum()))
        return {"measured_tables_l1": float(np.mean(distances))}

    def decode(self, record: Any, index: int, billboard: Billboard) -> Mapping[str, Any]:
        """Nothing, because the data belong to a custodian and no participant gets a share."""
        self._own(billboard)
        return {}

    def certify(self, billboard: Billboard) -> FittedMarginalsCertificate:
        """A bound on the error of the population in any cell of a measured table, computed from the measurements."""
        board = self._own(billboard)
        raw = board.tables.raw(self.schema.sizes)
        factor = math.sqrt(2.0 * math.log(2.0 * len(board.tables.counts) / _BETA))
        columns, worst = np.ascontiguousarray(board.cells.T), 0.0
        for table in raw:
            model = _weigh(columns, board.weights, table.columns, table.counts.shape)
            worst = max(worst,
                        float(np.abs(model - table.counts / self.records).max()) + factor * table.sigma / self.records)
        return FittedMarginalsCertificate(failure_probability=_BETA, cells=min(1.0, worst),
                                          vacuous=worst >= BASELINE_ERROR)

    def check(self, billboard: Billboard) -> None:
        """Check that the released tables can come from the mechanism's plan, and that the population follows from the
        tables.

        The population is fitted again, which takes nearly as long as the run.

        Raises:
            InvalidInput: an entry of the billboard does not follow from the other entries. The message names the entry.
        """
        board = self._own(billboard)
        raw = board.tables.raw(self.schema.sizes)
        first = [(j,) for j, size in enumerate(self.schema.sizes) if size > 1]
        if [table.columns for table in raw[: len(first)]] != first:
            raise InvalidInput("billboard.tables", "are not the tables of the plan",
                               f"must begin with {counted(len(first), 'table')} of one column")
        after = self.follow(raw[: len(first)])
        expected = first * 2 if after.again else first
        columns = len(expected)
        if [table.columns for table in raw[:columns]] != expected or len(raw) != columns + after.tables:
            raise InvalidInput("billboard.tables", "are not the tables of the plan",
                               f"must be {counted(columns, 'table')} of one column, then "
                               f"{counted(after.tables, 'table')} of several columns")
        step = max(1, -(-after.tables // self.batches))
        self._check_picks([table.columns for table in raw[columns:]], step)
        sigmas = [after.one_way] * len(first) + [after.again] * (columns - len(first)) + [after.sigma] * after.tables
        if board.tables.noise_stds.tolist() != sigmas:
            raise InvalidInput("billboard.tables", "have other noise than the plan's")
        fit = _Fit(self, after, raw[:columns])
        for start in range(columns, len(raw), step):
            fit.learn(raw[start : start + step])
        again = fit.billboard()
        if not (np.array_equal(again.cells, board.cells) and np.array_equal(again.weights, board.weights)
                and (again.misfit, again.diversity) == (board.misfit, board.diversity)):
            raise InvalidInput("billboard.cells", "differs from the population that follows from the tables")

    def _check_picks(self, chosen: list[tuple[int, ...]], step: int) -> None:
        """Check that a run can have chosen the given tables, with the right number in each batch."""
        place = {self.candidates.columns(at): at for at in range(len(self.candidates))}
        if len(set(chosen)) < len(chosen) or not place.keys() >= set(chosen):
            raise InvalidInput("billboard.tables", "have a table twice, or a table that is not a candidate")
        picked = [place[columns] for columns in chosen]
        for first in range(0, len(picked), step):
            rule = Batch(self.candidates, picked[:first])
            for at in picked[first : first + step]:
                if not rule.allowed()[at]:
                    raise InvalidInput("billboard.tables", "have two tables of one batch that share two columns",
                                       "a run chooses such tables only if no other candidates are left")
                rule.pick(at)

    def drawn(self, billboard: Billboard) -> Iterator[tuple[str, DrawCost, int]]:
        """The privacy cost of each released table, computed from the stated noise of the table, and the cost of the
        choices. Each entry has the name of its line in the privacy charge, the cost of one draw, and the number of
        draws.
        """
        board = self._own(billboard)
        raw, columns = board.tables.raw(self.schema.sizes), self._columns
        for place, table in enumerate(raw):
            what = "one-way" if place < columns else "again" if len(table.columns) == 1 else "table"
            yield self._line(what), DrawCost.concentrated(Fraction(MOVED, 2) / Fraction(table.sigma) ** 2), 1
        chosen = sum(len(table.columns) > 1 for table in raw)
        if chosen:
            after = self.follow(raw[:columns])
            yield self._line("choose"), DrawCost.selection(written(after.epsilon)), chosen

    def _own(self, billboard: Billboard) -> FittedMarginals:
        if not isinstance(billboard, FittedMarginals):
            raise InvalidInput("billboard", f"{type(billboard).__name__} is not a FittedMarginals")
        if billboard.schema != self.schema or billboard.records != self.records:
            raise InvalidInput("billboard", "is of another schema or another n", "both must be those of this mechanism")
        return billboard


class _Fit:
    """The public part of a run, which depends only on the measurements, the plan and its seed."""

    def __init__(self, plan: MarginalFit, after: Split, one_way: list[RawTable]) -> None:
        self.plan = plan
        self.split = after
        self.batch = -(-after.tables // plan.batches)  # B, tables that are chosen between two fits
        self.sizes = np.array(plan.schema.sizes, dtype=np.int64)
        self.raw = list(one_way)
        self.picked: list[int] = []  # of the candidates
        self.chosen: list[tuple[int, ...]] = []
        self.batches = 0
        start = consistent(self.raw, plan.records)
        for j, size in enumerate(plan.schema.sizes):
            start.setdefault((j,), np.full(size, 1.0 / size))
        self.model = Model(plan.schema.sizes, plan.population, plan.seed, start)

    def learn(self, measured: list[RawTable], progress: Progress | None = None) -> None:
        self.raw += measured
        self.chosen += [table.columns for table in measured]
        self.batches += 1
        targets = consistent(self.raw, self.plan.records)
        self.model.fit(targets, self.chosen, last=len(self.chosen) >= self.split.tables, progress=progress)

    def billboard(self) -> FittedMarginals:
        model = self.model
        cells, weights = merged(model.rows, model.weights, self.plan.schema.sizes)
        return FittedMarginals(
            schema=self.plan.schema, records=self.plan.records, tables=MeasuredTables.of(self.raw), cells=cells,
            weights=weights, misfit=model.misfit, diversity=min(1.0, model.size / self.plan.population))


def _part(progress: Progress | None, start: int, end: int) -> Progress | None:
    """A progress callback for one part of a run, which extends from `start` to `end` thousandths of the whole run."""
    if progress is None:
        return None

    def report(done: int, total: int | None) -> None:
        advance(progress, start + (end - start) * done // (total or 1), _WHOLE)

    return report


def _widths(given: Any) -> tuple[int, ...]:
    """The widths as a tuple of Python integers. Only (2,), (3,) and (2, 3) are allowed."""
    try:
        return next(each for each in ((2,), (3,), (2, 3)) if each == tuple(given))
    except (StopIteration, TypeError):
        raise InvalidInput("widths", f"{given!r} is not known", "must be (2,), (3,) or (2, 3)") from None


def _distinct(codes: Codes) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
    """The distinct records, column by column, and their multiplicities."""
    cells, counts = codes.distinct()
    return np.ascontiguousarray(cells.T), counts


def _weigh(
    columns: NDArray[np.uint16], weights: NDArray[np.float64], members: tuple[int, ...], shape: tuple[int, ...]
) -> NDArray[np.float64]:
    """The table of some columns, as total weights of rows. The rows are stored column by column."""
    cell = np.zeros(columns.shape[1], dtype=np.int64)
    for j, size in zip(members, shape, strict=True):
        cell = cell * size + columns[j]
    summed: NDArray[np.float64] = np.bincount(cell, weights=weights, minlength=math.prod(shape)).astype(np.float64)
    return summed.reshape(shape)


def _table(
    columns: NDArray[np.uint16], counts: NDArray[np.int64], members: tuple[int, ...], shape: tuple[int, ...]
) -> NDArray[np.int64]:
    """The table of some columns, as counts of distinct records. Doubles add whole numbers below 2^53 exactly."""
    return np.asarray(np.rint(_weigh(columns, counts.astype(np.float64), members, shape)), dtype=np.int64)
