"""The tables of a campaign that hands out one good or several goods to each participant; every key is public."""

from __future__ import annotations

import csv
import io
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, create_model, model_validator

from confide.allocation.bundles import Additive, CappedAdditiveValuation, SymmetricConcave, UnitDemandValuation
from confide.allocation.bundles.bidders import BundleClass
from confide.allocation.bundles.rows import usable
from confide.allocation.market import NEIGHBOURS_WRITTEN, Overflow
from confide.allocation.palloc import PAlloc
from confide.allocation.pmatch import PMatch
from confide.allocation.preflib import SUFFIXES
from confide.allocation.scales import Points, PointsTogether, Ranks, RanksTogether, Scale
from confide.allocation.sinkhorn_match import SinkhornMatch
from confide.allocation.tables import Rows
from confide.contract.checks import not_exactly_one
from confide.contract.errors import InvalidInput
from confide.contract.file_words import FileWords
from confide.contract.known_keys import FileTable, Keys, PeopleTable, keys_of
from confide.contract.parameters import parameters
from confide.contract.words import counted
from confide.tables import Roster

__all__ = ["AUCTION_KEYS", "FILE_WORDS", "TEMPERATURES", "AuctionTable", "BestTable", "BundleAuctionTable",
           "BundlesConfig", "BundlesTable", "GoodsConfig", "MatchingConfig", "Method", "RoundsTable", "ScalingTable"]

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Supply = Annotated[int, Field(ge=1, le=10**9)]

AUCTION_KEYS = "increment bid_cap rounds batch arity reclear reserve law halting halt_with"
"""Keys of `[auction]` that every auction in rounds has. The mechanism has parameters with the same names and ranges."""

FILE_WORDS = FileWords(
    keys={"privacy.gamma": "failure_probability"},
    values={"privacy.neighbours": {old: word for word, old in NEIGHBOURS_WRITTEN.items()}})
"""Former words in campaign files of the kinds that hand out goods, with the words that replace them."""

TEMPERATURES = FileWords(keys={"auction.hottest": "start_temperature", "auction.coolest": "end_temperature"})
"""Former keys of `SinkhornMatch` in the table `[auction]`, with the keys that replace them."""

_MOST_PEOPLE = 10**8
_MOST_GOODS = 10**5


class People(PeopleTable):
    """`[people]`: the invited people, who have the ids 1 to count."""

    count: int = Field(ge=1, le=_MOST_PEOPLE, description="n, invited slots; fixed and public")


class Goods(Keys):
    """`[goods]`: the goods, and the number of copies of each. Exactly one of names, count and table must be given."""

    names: tuple[Annotated[str, Field(min_length=1)], ...] | None = Field(
        default=None, min_length=1, max_length=_MOST_GOODS, description="names of the goods")
    count: int | None = Field(default=None, ge=1, le=_MOST_GOODS, description=
        "number of goods, with the names 1 to count")
    supply: Supply | tuple[Supply, ...] | None = Field(
        default=None, description="number of copies: one number for all goods, or one number for each good")
    table: str | None = Field(default=None, description="lines of name,supply below this heading, for many goods")

    @model_validator(mode="after")
    def _one(self) -> Goods:
        if problem := not_exactly_one(names=self.names, count=self.count, table=self.table):
            raise ValueError(problem)
        if (self.table is None) is (self.supply is None):
            raise ValueError("give supply with names or count, and not with table, which has a column supply")
        return self

    def listed(self) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """The names of the k goods, and the number of copies of each good, in the same order.

        Raises:
            InvalidInput: two goods have the same name, a name has spaces around it or invisible characters, the number
                of supplies differs from the number of goods, or the table cannot be read.
        """
        if self.table is not None:
            names, supply = _parsed(self.table)
        else:
            names = self.names if self.names is not None else tuple(map(str, range(1, (self.count or 0) + 1)))
            supply = (self.supply,) * len(names) if isinstance(self.supply, int) else tuple(self.supply or ())
        if len(supply) != len(names):
            raise InvalidInput("goods.supply",
                               f"has {counted(len(supply), 'number')} for {counted(len(names), 'good')}",
                               "must be one number, or one for each good")
        if len(set(names)) < len(names):
            twice = next(name for place, name in enumerate(names) if name in names[:place])
            raise InvalidInput("goods.names", f"{twice!r} is the name of two goods",
                               "give every good another name")
        padded = next((name for name in names if name != name.strip() or not name.isprintable()), None)
        if padded is not None:
            raise InvalidInput("goods.names", f"{padded!r} has spaces around it or invisible characters")
        return names, supply


def _parsed(text: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    try:
        lines = [line for line in csv.reader(io.StringIO(text.strip()), strict=True) if line]
    except csv.Error as error:
        raise InvalidInput("goods.table", f"is not CSV: {error}") from None
    if not lines or [cell.strip() for cell in lines[0]] != ["name", "supply"]:
        raise InvalidInput("goods.table", "does not begin with the line name,supply")
    names, supply = list[str](), list[int]()
    for number, line in enumerate(lines[1:], 2):
        copies = line[1].strip() if len(line) == 2 else ""
        if not copies.isascii() or not copies.isdecimal() or not 1 <= int(copies[:12]) <= 10**9 or not line[0].strip():
            raise InvalidInput("goods.table", f"line {number} describes no good",
                               "must be a name, a comma, and a whole number of copies from 1")
        names.append(line[0].strip())
        supply.append(int(copies))
    if not 1 <= len(names) <= _MOST_GOODS:
        raise InvalidInput("goods.table", f"has {counted(len(names), 'good')}", f"must be 1 to {_MOST_GOODS}")
    return tuple(names), tuple(supply)


class PointsTable(Keys):
    """`[values]` with scale = "points": numbers from `lowest`, which stands for the value 0, to `highest`, which stands
    for the value 1.
    """

    scale: Literal["points"]
    lowest: Finite = Field(default=0.0, description="number that counts as the value 0, like an empty cell")
    highest: Finite = Field(description="number that counts as the value 1")
    out_of_bounds: Literal["reject", "clip"] = Field(
        default="reject", description="rule for a number beyond lowest or highest: reject makes the row unusable, clip "
                                      "moves the number to the bound")

    def rule(self, goods: int, categories: bool) -> Points:
        """The public rule that turns a participant's points into values in [0, 1]. The rule does not depend on the
        arguments.
        """
        return Points(lowest=self.lowest, highest=self.highest, out_of_bounds=self.out_of_bounds)


class RanksTable(Keys):
    """`[values]` with scale = "ranks": 1 is the best, equal ranks tie, and a good without a rank has the value 0."""

    scale: Literal["ranks"]
    points: tuple[Annotated[float, Field(ge=0, allow_inf_nan=False)], ...] | None = Field(
        default=None, min_length=1, max_length=_MOST_GOODS,
        description="values of the first place, the second place, and so on; by default Borda's, (k - place + 1)/k for "
                    "k goods")

    def rule(self, goods: int, categories: bool) -> Ranks:
        """The public rule that turns a participant's ranks of `goods` goods into values in [0, 1]. `categories` says
        whether the file of submissions has PrefLib's format of categories.
        """
        if self.points is not None:
            return Ranks(points=self.points, as_written=categories)
        if categories:
            raise InvalidInput("values.points", "is missing", "give the points of each category")
        return Ranks.borda(goods)


class Data(FileTable):
    """`[data]`: the path of the file of submissions, and its layout."""

    source: str = Field(min_length=1, description="a .parquet, .csv or .arrow file, a data set PACKAGE:NAME, or a "
                                                  ".soc, .soi, .toc, .toi or .cat file of PrefLib")
    form: Literal["wide", "long", "preflib"] = Field(
        default="wide", description="wide: a column for each good; long: a line for each person and good; preflib: a "
                                    "file of PrefLib")
    good: str = Field(default="good", min_length=1, description="column of the goods' names, for form = 'long'")
    value: str = Field(default="value", min_length=1, description="column of the values, for form = 'long'")
    unlisted: Literal["reject", "ignore"] = Field(
        default="reject", description="rule for a good that is not in [goods], for form = 'long' and 'preflib'")

    @property
    def categories(self) -> bool:
        """Whether the file has PrefLib's format of categories."""
        return self.form == "preflib" and self.source.lower().endswith(".cat")

    @model_validator(mode="after")
    def _form(self) -> Data:
        if (self.form == "preflib") != self.source.lower().endswith(SUFFIXES):
            raise ValueError(f"use form = 'preflib' for files that end in {', '.join(SUFFIXES)}, and for no other "
                             "files")
        return self


@keys_of(PMatch, "epsilon delta neighbours failure_probability on_overflow certify_with")
class PrivacyTable(Keys):
    """`[privacy]`: the bound on the information that all other participants together may gain about one participant,
    and the allowed probability that the copies of a good do not suffice.
    """

    if TYPE_CHECKING:  # keys of the mechanism that are read here
        epsilon: float
        delta: float
        failure_probability: float
        on_overflow: Overflow


class RoundsTable(Keys):
    """The key `halt_below` of every auction in rounds. In a campaign file, `halt_below` must be at least 1, although
    the mechanism also takes smaller numbers.
    """

    halt_below: int | None = Field(default=None, ge=1, description=parameters(PMatch)["halt_below"].parameter.text)


@keys_of(PMatch, f"{AUCTION_KEYS} charge", optional=True)
class AuctionTable(RoundsTable):
    """`[auction]` with method = "auction", or left out: the settings of `PMatch`. Keys that are left out get the values
    recommended for the campaign's size.
    """

    method: Literal["auction"]
    if TYPE_CHECKING:
        charge: bool | None = None


@keys_of(SinkhornMatch, "rounds start_temperature end_temperature step growth clear spread charge", optional=True)
class ScalingTable(Keys):
    """`[auction]` with method = "scaling": the settings of `SinkhornMatch`. Keys that are left out get the values
    recommended for the campaign's size.

    If the file leaves out `spread`, the spread is 0.02 for points. For ranks, the spread is then the mean difference in
    value between one rank and the next.
    """

    method: Literal["scaling"]
    if TYPE_CHECKING:
        charge: bool | None = None


@keys_of(PMatch, "charge", optional=True)
class BestTable(Keys):
    """`[auction]` with method = "best": either "auction" or "scaling", with the settings recommended for the campaign's
    size. The method with the better prediction is chosen.
    """

    method: Literal["best"]
    if TYPE_CHECKING:
        charge: bool | None = None


Method = AuctionTable | ScalingTable | BestTable


class GoodsConfig(Keys):
    """The tables on people, goods and data that all kinds that hand out goods have."""

    people: People
    goods: Goods
    values: Annotated[PointsTable | RanksTable, Field(discriminator="scale")]
    data: Data
    privacy: PrivacyTable

    @model_validator(mode="after")
    def _names(self) -> GoodsConfig:
        if self.data.form == "wide" and self.people.id in self.columns():
            raise InvalidInput("people.id", f"{self.people.id!r} is also the name of a good, so both need the same "
                                            "column of the file",
                               "give the column of ids, or the good, another name")
        return self

    def at_epsilon(self, epsilon: float) -> Self:
        """A copy of the tables of the campaign file with another epsilon.

        Args:
            epsilon: new epsilon in nats, > 0.
        """
        return self.model_copy(update={"privacy": self.privacy.model_copy(update={"epsilon": epsilon})})

    def columns(self) -> tuple[str, ...]:
        """The names of the columns of a participant's row that hold numbers: by default one column for each good."""
        return self.goods.listed()[0]

    def rule(self) -> Scale:
        """The scale: the public rule that turns the numbers of a submission into values in [0, 1].

        Raises:
            InvalidInput: the scale does not fit the other tables; the message names the key.
        """
        if self.data.form == "preflib" and isinstance(self.values, PointsTable):
            raise InvalidInput("values.scale", "is 'points', but a file of orders has no points", "must be 'ranks'")
        try:
            return self._rule(len(self.goods.listed()[0]))
        except InvalidInput as error:
            place = error.field if "." in error.field else f"values.{error.field}"
            raise InvalidInput(place, error.problem, error.ways) from None

    def _rule(self, goods: int) -> Scale:
        return self.values.rule(goods, self.data.categories)

    def usable(self, batch: Rows, rejected: MutableMapping[str, str]) -> Rows:
        """The usable rows of a batch of submissions. Every number of the batch is valid by itself. A row may still be
        unusable, for example because its numbers add up to more than the allowed total.

        Args:
            batch: rows that were read from the file of submissions; private.
            rejected: mapping that receives the participant's id and the reason for each unusable row; for the operator
                alone.
        """
        return batch


class MatchingConfig(GoodsConfig):
    """All tables of the kind `matching`."""

    auction: Annotated[Method, Field(discriminator="method")] = AuctionTable(method="auction")


_MOST = 100  # goods of one person


# ---- from numbers to values


class TotalTable(PointsTable):
    """`[values]` with scale = "points" and a largest total."""

    total: Positive | None = Field(
        default=None, description="largest sum of one person's numbers, each counted from `lowest`; this sum counts as "
                                  "the value 1. By default `highest` minus `lowest`, times the largest number of goods "
                                  "for one person")


# ---- classes


class _OfClass(Keys):
    @property
    def name(self) -> str:
        """The name of the valuation class, as written in the file."""
        return str(getattr(self, "class"))

    def valuation(self) -> BundleClass:
        """The valuation class, as an object."""
        return UnitDemandValuation()

    def cells(self, goods: tuple[str, ...]) -> tuple[str, ...]:
        """The names of the columns of a row that hold its numbers."""
        return goods


class _AdditiveTable(_OfClass):
    """`[bundles]` with class = "additive": the value of several goods is the sum of their single values."""

    def valuation(self) -> BundleClass:
        return Additive()


class _UnitDemandTable(_OfClass):
    """`[bundles]` with class = "unit-demand": each participant uses one good only, so the value of several goods is the
    largest single value.
    """


class _CappedAdditiveTable(_OfClass):
    """`[bundles]` with class = "capped-additive": the value of several goods is the sum of the `cap` largest single
    values.
    """

    cap: int = Field(ge=1, le=_MOST, description="largest number of goods that one person wants")

    def valuation(self) -> BundleClass:
        return CappedAdditiveValuation(cap=self.cap)


class _SymmetricConcaveTable(_OfClass):
    """`[bundles]` with class = "symmetric-concave": all goods are alike, and each further good adds no more value than
    the one before. A row states the value that the first good adds, the second good, and so on.
    """

    most: int = Field(ge=1, le=_MOST, description="L, largest number of goods that one person wants")
    columns: tuple[Annotated[str, Field(min_length=1)], ...] | None = Field(
        default=None, description="columns of the file for the first good, the second good, and so on; by default '1' "
                                  "to most")

    def valuation(self) -> BundleClass:
        return SymmetricConcave(most=self.most)

    def cells(self, goods: tuple[str, ...]) -> tuple[str, ...]:
        names = tuple(map(str, range(1, self.most + 1))) if self.columns is None else self.columns
        if len(names) != self.most or len(set(names)) < len(names):
            raise InvalidInput("bundles.columns",
                               f"has {counted(len(names), 'name')}, {len(set(names))} of them different",
                               f"must have {self.most} different names")
        return names


def _named(table: type[_OfClass], name: str) -> Any:
    """Add the key `class` to a table, since a class body cannot define a field of this name."""
    fields: dict[str, Any] = {"class": (Literal[name], ...)}
    return create_model(table.__name__.removeprefix("_"), __base__=table, __doc__=table.__doc__, **fields)


if TYPE_CHECKING:
    BundlesTable = _OfClass
else:
    BundlesTable = Annotated[
        _named(_UnitDemandTable, "unit-demand") | _named(_AdditiveTable, "additive")
        | _named(_CappedAdditiveTable, "capped-additive") | _named(_SymmetricConcaveTable, "symmetric-concave"),
        Field(discriminator="class")]


@keys_of(PAlloc, f"{AUCTION_KEYS} bundle outbid_tests", optional=True)
class BundleAuctionTable(RoundsTable):
    """`[auction]`: settings of `PAlloc`. Keys that are left out get the values recommended for the campaign's size."""


class BundlesConfig(GoodsConfig):
    """All tables of the kind `bundles`."""

    bundles: BundlesTable
    values: Annotated[TotalTable | RanksTable, Field(discriminator="scale")]
    auction: BundleAuctionTable = BundleAuctionTable()

    @property
    def valuation(self) -> BundleClass:
        """The class to which the valuations of all participants belong, such as additive valuations."""
        return self.bundles.valuation()

    @property
    def wanted(self) -> int:
        """The largest number of goods that can add value for one participant."""
        return self.valuation.largest(len(self.goods.listed()[0]))

    @property
    def counted(self) -> bool:
        """Whether a row states the value that a first good adds, the value that a second good adds, and so on. All
        other rows state a number for each good.
        """
        return self.valuation.repeats

    def columns(self) -> tuple[str, ...]:
        return self.bundles.cells(self.goods.listed()[0])

    def rule(self) -> Scale:
        if self.counted and isinstance(self.values, RanksTable):
            raise InvalidInput("values.scale",
                               "is 'ranks', but an order does not state the value that a second good adds",
                               "must be 'points' for the class 'symmetric-concave'")
        if self.counted and self.data.form != "wide":
            raise InvalidInput("data.form", f"{self.data.form!r} is a form with the names of goods",
                               "must be 'wide' for the class 'symmetric-concave': a column for the first good, the "
                               "second good, and so on")
        return super().rule()

    def _rule(self, goods: int) -> Scale:
        found = super()._rule(goods)
        if isinstance(self.values, TotalTable) and isinstance(found, Points):
            total, apart = self.values.total, found.highest - found.lowest
            return PointsTogether(lowest=found.lowest, highest=found.highest, out_of_bounds=found.out_of_bounds,
                                  total=apart * self.wanted if total is None else total)
        if isinstance(found, Ranks):
            return RanksTogether(points=found.points, as_written=found.as_written, most=self.wanted)
        return found

    def usable(self, batch: Rows, rejected: MutableMapping[str, str]) -> Rows:
        fine, roster = usable(self.valuation, batch, len(self.goods.listed()[0])), Roster(self.people.count)
        if fine.all():
            return batch
        rejected.update((roster.identity(int(who)), self.unusable()) for who in batch.index[~fine].tolist())
        lengths = np.diff(batch.starts)
        cells = np.repeat(fine, lengths)
        return Rows(batch.index[fine], np.append(0, np.cumsum(lengths[fine])).astype(np.int64), batch.named[cells],
                    batch.values[cells])

    def unusable(self) -> str:
        """The reason why a row is unusable although each of its numbers is valid by itself. The text names public
        limits only.
        """
        scale, most = self.rule(), self.wanted
        total = f"{scale.total:.12g}" if isinstance(scale, PointsTogether) else "1"
        if self.counted:
            return f"the numbers rise from one good to the next, or add up to more than {total}"
        best = "all goods" if most >= len(self.columns()) else f"the best {most} goods"
        return f"the values of {best} add up to more than {total}"
