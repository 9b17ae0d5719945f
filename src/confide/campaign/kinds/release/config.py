"""The tables of a `queries` campaign file. Every key is public, and no bound, level or query comes from data."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from confide.campaign.kinds.skeleton import Positive
from confide.contract.direction_marks import already_judged
from confide.contract.errors import InvalidInput
from confide.contract.known_keys import FileTable, Keys, keys_of
from confide.privacy.accounting import written
from confide.release.columns import Binned, Bit, Column, Levels
from confide.release.dual_query import DualQuery
from confide.release.results import MOST_QUERIES, MOST_ROWS
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = ["Method", "QueriesConfig"]

Seed = Annotated[int, Field(ge=0, le=2**62, description="seed of public randomness, which protects nobody")]


class Data(FileTable):
    """`[data]`: the path of the custodian's table, and its number of records."""

    source: str = Field(min_length=1, description="a .parquet, .csv or .arrow file, or a data set PACKAGE:NAME")
    records: int = Field(ge=1, le=10**9, description="n, number of records, fixed and public; a missing record counts "
                                                     "as the null record")
    id: str = Field(default="row", min_length=1,
                    description="column with the ids 1 to records, or 'row': the file's i-th row is record i")


class BinnedColumn(Keys):
    """A column of numbers with public bounds; a release states only the bin of a number."""

    column: str = Field(min_length=1, description="name of the column in the table")
    lower: float | None = Field(default=None, allow_inf_nan=False, description=
        "public bound; give lower, upper and bins together")
    upper: float | None = Field(default=None, allow_inf_nan=False, description=
        "public bound; give lower, upper and bins together")
    bins: int | None = Field(default=None, ge=1, le=1 << 16, description=
        "number of bins of equal width, from lower to upper")
    edges: tuple[float, ...] | None = Field(default=None, min_length=2, max_length=(1 << 16) + 1, description=(
        "ends of the bins, ascending, for bins of any widths; in place of lower, upper and bins"))
    whole: bool = Field(default=False, description="values are whole numbers")
    out_of_bounds: Literal["reject", "clip"] = Field(
        default="reject", description="rule for a value outside of the bounds: reject makes the record the null "
                                      "record, clip moves the value to the bound")
    unit: str = Field(default="", description="unit of the column, shown with the bounds")

    def check_whole(self, place: str) -> None:
        """Check that a column of whole numbers has no more bins than whole numbers between its bounds. Other columns
        pass.

        Args:
            place: key of the column in the campaign file, such as columns[1].

        Raises:
            InvalidInput: the column has more bins than whole numbers between its bounds, or there is no whole number
                between its bounds.
        """
        edges = self.edges
        lower, upper = (self.lower, self.upper) if edges is None else (edges[0], edges[-1])
        bins = self.bins if edges is None else len(edges) - 1
        if not self.whole or bins is None or lower is None or upper is None:
            return
        numbers = math.floor(upper) - math.ceil(lower) + 1
        if numbers < 1:
            raise InvalidInput(f"{place}.lower" if edges is None else f"{place}.edges",
                               f"there is no whole number in [{lower:.12g}, {upper:.12g}], and whole = true",
                               "choose bounds with a whole number between them, or whole = false")
        if bins > numbers:
            raise InvalidInput(
                f"{place}.{'bins' if edges is None else 'edges'}",
                f"makes {bins:,} bins for {numbers:,} whole numbers in [{lower:.12g}, {upper:.12g}]: the other bins "
                "stay empty, and cost time",
                f"must make at most {numbers:,} bins")

    def roles(self) -> tuple[Binned, ...]:
        """The public role of the column, as a tuple with one entry."""
        return (Binned(**self.model_dump(exclude_none=True)),)


class LevelsColumn(Keys):
    """A column in which each cell has one of a few public values, called levels."""

    column: str = Field(min_length=1, description="name of the column in the table")
    levels: tuple[str | int | bool, ...] = Field(min_length=2, description="all values that a record may hold")
    bins: int | None = Field(default=None, ge=1, le=1 << 16, description=
        "number of attributes for the levels; by default one for each level")

    def roles(self) -> tuple[Levels, ...]:
        """The public role of the column, as a tuple with one entry."""
        return (Levels(**self.model_dump()),)


class BitColumn(Keys):
    """One or several columns with two values each: true and false, 1 and 0, or two named texts."""

    column: str | tuple[str, ...] = Field(description="name of the column, or a list of names", min_length=1)
    bit: Literal[True]
    true: str | int | None = Field(default=None, description="text for true; by default true and 1")
    false: str | int | None = Field(default=None, description="text for false; give both texts or none")

    def roles(self) -> tuple[Bit, ...]:
        """The public roles of the columns, one for each named column."""
        names = (self.column,) if isinstance(self.column, str) else self.column
        texts: dict[str, Any] = {"true": self.true, "false": self.false}
        return tuple(Bit(column=name, **texts) for name in names)


class RandomQueries(Keys):
    """`[workload]` with form = "random": `count` different conjunctions, drawn with a public seed."""

    form: Literal["random"]
    count: int = Field(ge=1, le=MOST_QUERIES, description="k, number of queries")
    width: int = Field(default=3, ge=1, le=8, description="number of columns in each query")
    signed: bool = Field(default=True, description="whether half of the conditions ask for another value")
    seed: Seed = 0

    def build(self, schema: Schema) -> Workload:
        """The workload of queries about these public columns."""
        return Workload.random(schema, self.count, width=self.width, seed=self.seed, signed=self.signed)


class ParityQueries(Keys):
    """`[workload]` with form = "parities": each query asks for the share of records with an even number of some
    attributes. The sets of attributes are all sets of up to `width` attributes, or `count` random sets of `width`
    attributes.
    """

    form: Literal["parities"]
    width: int = Field(default=2, ge=1, le=8, description=
        "number of columns in each query; without count, the largest number")
    count: int | None = Field(default=None, ge=1, le=MOST_QUERIES,
                              description="number of random queries; by default all queries of up to `width` columns")
    seed: Seed | None = Field(default=None, description="seed of random queries; by default 0")

    def build(self, schema: Schema) -> Workload:
        """The workload of queries about these public columns."""
        if self.count is not None:
            return Workload.random(schema, self.count, width=self.width, seed=self.seed or 0, kind="parities")
        if self.seed is not None:
            raise InvalidInput("workload.seed", "has no effect without a count", "add count, or remove seed")
        return Workload.complete(schema, width=self.width, kind="parities")


class CompleteQueries(Keys):
    """`[workload]` with form = "complete": all combinations of values of every set of `width` columns."""

    form: Literal["complete"]
    width: int = Field(default=2, ge=1, le=8, description="number of columns in each query")
    smaller: bool = Field(default=False, description="whether queries of fewer columns are added")

    def build(self, schema: Schema) -> Workload:
        """The workload of queries about these public columns."""
        return Workload.complete(schema, width=self.width, smaller=self.smaller)


class ListedQueries(Keys):
    """`[workload]` with form = "listed": each query lists literals, such as ["sex = male", "age in [20, 25)"]."""

    form: Literal["listed"]
    queries: tuple[tuple[str, ...], ...] = Field(
        min_length=1, max_length=MOST_QUERIES,
        description="queries, each a list of conditions that hold together; negated conditions are 'sex != male', 'age "
                    "not in [20, 25)' and 'not smoker'; several values are 'job in {none, part time}'")

    def build(self, schema: Schema) -> Workload:
        """The workload of queries about these public columns."""
        known: set[str] = set()
        for number, query in enumerate(self.queries, 1):
            where = f"workload.queries[{number}]"
            if not query:
                raise InvalidInput(where, "has no condition", "must have at least one condition")
            for literal in (each for each in query if each not in known):
                try:
                    Workload.conjunctions([[literal]], attributes=schema)
                except InvalidInput as error:
                    raise InvalidInput(where, error.problem, error.limit) from None
                known.add(literal)
        return Workload.conjunctions(self.queries, attributes=schema)


class PrivacyTable(Keys):
    """`[privacy]`: the total privacy loss of the release."""

    epsilon: Positive = Field(description="in nats")
    delta: float = Field(default=0.0, ge=0, lt=1, description="delta; with 0, only pure mechanisms are possible")

    @property
    def spendable(self) -> float:
        """The epsilon that a method may spend, in nats. It is chosen such that a written budget of 0.1 admits an
        epsilon of 0.1.

        With a delta above 0, the result is the file's epsilon, and each method ensures that the written decimal is not
        exceeded. With delta 0, the result is the largest double that is not above the written decimal.
        """
        if self.delta or Fraction(self.epsilon) <= written(self.epsilon):
            return self.epsilon
        return math.nextafter(self.epsilon, 0.0)


class Recommended(Keys):
    """`[method]` with name = "recommended": the method that the planner recommends from public facts."""

    name: Literal["recommended"] = "recommended"


class MarginalFitTable(Keys):
    """`[method]` with name = "marginal-fit": noisy tables of a few columns, and a synthetic population that fits these
    tables.
    """

    name: Literal["marginal-fit"]
    tables: int | None = Field(default=None, ge=0, le=10_000,
                               description="T, number of sets of columns with measured tables; by default the run "
                                           "chooses it")
    population: int | None = Field(default=None, ge=1000, le=2_000_000,
                                   description="N, number of weighted rows of the fit; by default 100,000, and half "
                                               "for more than 60 columns")
    seed: Seed = 0


@keys_of(DualQuery, "free")
@keys_of(DualQuery, "eta rounds calculator", optional=True)
class DualQueryTable(Keys):
    """`[method]` with name = "dual-query": a small number of synthetic records, found by a game against the queries.

    Two of eta, rounds and samples may be given; the third follows from the budget. By default, the number of rounds
    follows from the budget.
    """

    name: Literal["dual-query"]
    samples: int | None = Field(default=None, ge=1, le=10**7, description=
        "s, draws in each round; by default a value for the campaign's size")
    one_hot: bool = Field(default=True, description="whether each record has exactly one value of a column")
    seed: Seed = 0


@keys_of(DualQuery, "eta", optional=True)
class ReweightedTable(Keys):
    """`[method]` with name = "reweighted": DualQuery's records with weights fitted to a few noisy answers."""

    name: Literal["reweighted"]
    samples: int | None = Field(default=None, ge=1, le=10**7, description=
        "s, draws in each round; by default a value for the campaign's size")
    seed: Seed = 0


class MWEMTable(Keys):
    """`[method]` with name = "mwem": a histogram over all possible records, for few attributes."""

    name: Literal["mwem"]
    rounds: int | None = Field(default=None, ge=1, le=10_000, description=(
        "T, number of queries that the run selects and measures; by default it follows from n, the budget and the "
        "queries"))


class PlainTable(Keys):
    """`[method]` without options: "gaussian" and "laplace" add noise to every answer, "product" adds noise to every
    attribute.
    """

    name: Literal["gaussian", "laplace", "product"]


Method = (Recommended | MarginalFitTable | DualQueryTable | ReweightedTable | MWEMTable | PlainTable)


class RowsTable(Keys):
    """`[rows]`: synthetic rows that are published together with the answers."""

    count: int = Field(default=0, ge=0, le=MOST_ROWS, description=(
        "number of synthetic rows, 0 for none; for any number above 0, dual-query and reweighted publish all of their "
        "records"))


class QueriesConfig(Keys):
    """All tables of the kind `queries`."""

    data: Data
    columns: tuple[BinnedColumn | LevelsColumn | BitColumn, ...] = Field(min_length=1)
    workload: Annotated[RandomQueries | CompleteQueries | ParityQueries | ListedQueries, Field(discriminator="form")]
    privacy: PrivacyTable
    method: Annotated[Method, Field(discriminator="name")] = Recommended()
    rows: RowsTable = RowsTable()

    @model_validator(mode="after")
    def _id(self) -> QueriesConfig:
        names = [name for column in self.columns
                 for name in ((column.column,) if isinstance(column.column, str) else column.column)]
        if self.data.id in names:
            raise ValueError(f"data.id = {self.data.id!r} is also one of the columns: an id is not an attribute, so "
                             "remove it from the columns")
        return self

    def check_new(self) -> None:
        """Refuse settings that a new campaign may not have. A campaign that was opened with an older version of confide
        may still have these settings.

        Raises:
            InvalidInput: a column of whole numbers has more bins than whole numbers between its bounds.
        """
        for place, column in enumerate(self.columns, 1):
            if isinstance(column, BinnedColumn):
                column.check_whole(f"columns[{place}]")

    def public_columns(self) -> Schema:
        """The schema of the public columns.

        Raises:
            InvalidInput: a column is not valid; the message names the key of the file, such as columns[2].upper.
        """
        roles: list[Column] = []
        for place, column in enumerate(self.columns, 1):
            try:
                with already_judged():  # with the whole file, where it was loaded
                    roles.extend(column.roles())
            except InvalidInput as error:
                raise InvalidInput(f"columns[{place}].{error.field}", error.problem, error.limit) from None
        return Schema(tuple(roles))

    def queries(self, schema: Schema) -> Workload:
        """The workload of queries that the file describes.

        Raises:
            InvalidInput: a literal is unknown, there is no query, or there are more than 1,000,000 queries.
        """
        try:
            found = self.workload.build(schema)
        except InvalidInput as error:
            place = error.field if error.field.startswith("workload") else f"workload.{error.field}"
            raise InvalidInput(place, error.problem, error.limit) from None
        if len(found) > MOST_QUERIES:
            raise InvalidInput("workload", f"makes {len(found):,} queries",
                               f"must make at most {MOST_QUERIES:,}: ask for a random sample of the queries")
        return found

