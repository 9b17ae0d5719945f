"""The tables of a campaign that hands out bundles of goods: what a bundle is worth, and how rows become values.

Values lie on a public scale on which everything that one person may get is worth 1 at most: a number is divided by the
highest total that the file names, and a row whose goods are together worth more is unusable, hers alone.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, create_model

from confide.allocation.bundles import Additive, CappedAdditiveValuation, SymmetricConcave, UnitDemandValuation
from confide.allocation.bundles.bidders import BundleClass
from confide.allocation.bundles.rows import usable
from confide.allocation.palloc import PAlloc
from confide.allocation.reading.scales import Points, Ranks, Scale
from confide.allocation.reading.tables import Rows
from confide.campaign.kinds.allocation.config import (
    AUCTION_KEYS,
    GoodsConfig,
    PointsTable,
    Positive,
    RanksTable,
    RoundsTable,
)
from confide.contract.errors import InvalidInput
from confide.contract.known_keys import Keys, keys_of
from confide.contract.remedies import printed
from confide.tables import Roster

__all__ = ["BundleAuctionTable", "BundlesConfig", "BundlesTable", "PointsTogether", "RanksTogether"]

_MOST = 100  # goods of one person


# ---- from numbers to values


@dataclass(frozen=True, kw_only=True)
class PointsTogether(Points):
    """Numbers of which those of one person's goods add up to a public total at most, which is worth 1.

    Args:
        total: of the numbers less `lowest`, of all goods that one person may get.

    Raises:
        InvalidInput: a total that one good alone may exceed.

    Example:
        >>> PointsTogether(highest=10.0, total=40.0).values(np.array([0, 0]), np.array([10.0, 5.0])).tolist()
        [0.25, 0.125]
    """

    total: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.total >= self.highest - self.lowest or not np.isfinite(self.total):
            raise InvalidInput("total", f"{self.total:g} is less than one good may be worth",
                               f"must be at least {printed(self.highest - self.lowest)}")

    @property
    def unit(self) -> float:
        """The total."""
        return self.total

    def values(self, row: NDArray[np.int64], numbers: NDArray[np.float64]) -> NDArray[np.float32]:
        inside = np.clip(numbers, self.lowest, self.highest)
        return ((inside - self.lowest) / self.total).astype(np.float32)


@dataclass(frozen=True, kw_only=True)
class RanksTogether(Ranks):
    """Places of an order, the first worth 1/b: b goods together are worth 1 at most, ties or not.

    Args:
        most: b.

    Example:
        >>> RanksTogether(points=(2.0, 1.0), most=2).values(np.array([0, 0]), np.array([1.0, 2.0])).tolist()
        [0.5, 0.25]
    """

    most: int

    @property
    def unit(self) -> float:
        """Those of b first places."""
        return super().unit * self.most

    def values(self, row: NDArray[np.int64], numbers: NDArray[np.float64]) -> NDArray[np.float32]:
        return (super().values(row, numbers).astype(np.float64) / self.most).astype(np.float32)


class TotalTable(PointsTable):
    """`[values]` with scale = "points", and a highest total."""

    total: Positive | None = Field(
        default=None, description="the most that all goods of one person may be worth together, counted from `lowest`: "
                                  "it counts as 1; left out, `highest` for each good that one person may get")


# ---- classes


class _OfClass(Keys):
    @property
    def name(self) -> str:
        """Of the class, as the file has it."""
        return str(getattr(self, "class"))

    def valuation(self) -> BundleClass:
        """The class."""
        return UnitDemandValuation()

    def cells(self, goods: tuple[str, ...]) -> tuple[str, ...]:
        """What a row has a number for."""
        return goods


class _AdditiveTable(_OfClass):
    """`[bundles]` with class = "additive": goods are worth the sum of what each is worth alone."""

    def valuation(self) -> BundleClass:
        return Additive()


class _UnitDemandTable(_OfClass):
    """`[bundles]` with class = "unit-demand": one good is wanted, the best."""


class _CappedAdditiveTable(_OfClass):
    """`[bundles]` with class = "capped-additive": the best goods count, at most `cap` of them."""

    cap: int = Field(ge=1, le=_MOST, description="goods that one person wants at most")

    def valuation(self) -> BundleClass:
        return CappedAdditiveValuation(cap=self.cap)


class _SymmetricConcaveTable(_OfClass):
    """`[bundles]` with class = "symmetric-concave": any goods will do, and each further one adds no more than the one
    before. A row has a number for what the first one adds, the second, and so on.
    """

    most: int = Field(ge=1, le=_MOST, description="L, goods that one person wants at most")
    columns: tuple[Annotated[str, Field(min_length=1)], ...] | None = Field(
        default=None, description="of the file, for the first good, the second, and so on; left out, '1' to most")

    def valuation(self) -> BundleClass:
        return SymmetricConcave(most=self.most)

    def cells(self, goods: tuple[str, ...]) -> tuple[str, ...]:
        names = tuple(map(str, range(1, self.most + 1))) if self.columns is None else self.columns
        if len(names) != self.most or len(set(names)) < len(names):
            raise InvalidInput("bundles.columns", f"are {len(names)} names, {len(set(names))} of them different",
                               f"must be {self.most} different ones")
        return names


def _named(table: type[_OfClass], name: str) -> Any:
    """The table with its key `class`, which is no name that a class body can hold."""
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
    """`[auction]`: `PAlloc`. What is left out is recommended for these sizes."""


class BundlesConfig(GoodsConfig):
    """All tables of the kind `bundles`."""

    bundles: BundlesTable
    values: Annotated[TotalTable | RanksTable, Field(discriminator="scale")]
    auction: BundleAuctionTable = BundleAuctionTable()

    @property
    def valuation(self) -> BundleClass:
        """The class of everybody's valuation."""
        return self.bundles.valuation()

    @property
    def wanted(self) -> int:
        """Goods that one person wants at most."""
        return self.valuation.largest(len(self.goods.listed()[0]))

    @property
    def counted(self) -> bool:
        """Whether rows have numbers for how many goods, not for each of them."""
        return self.valuation.repeats

    def columns(self) -> tuple[str, ...]:
        return self.bundles.cells(self.goods.listed()[0])

    def rule(self) -> Scale:
        if self.counted and isinstance(self.values, RanksTable):
            raise InvalidInput("values.scale", "an order says nothing of how much a second good adds",
                               "of the class 'symmetric-concave' it must be 'points'")
        if self.counted and self.data.form != "wide":
            raise InvalidInput("data.form", f"{self.data.form!r} names goods", "of the class 'symmetric-concave' it "
                               "must be 'wide': a column for the first good, the second, and so on")
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
        """What is wrong with a row of numbers that are each fine, in public terms."""
        scale, most = self.rule(), self.wanted
        total = f"{scale.total:.12g}" if isinstance(scale, PointsTogether) else "1"
        if self.counted:
            return f"the numbers rise from one good to the next, or add up to more than {total}"
        best = "all goods" if most >= len(self.columns()) else f"the best {most} goods"
        return f"{best} are together worth more than {total}"
