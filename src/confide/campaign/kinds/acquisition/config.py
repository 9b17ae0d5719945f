"""The tables of a `mean` campaign file: every key is public, and no number ever comes from the records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from confide.acquisition.beliefs.priors import ConcernPrior, DiscretePrior, HistogramPrior, PowerPrior, UniformPrior
from confide.acquisition.mechanism import TwoPartMechanism
from confide.contract.checks import is_power_of_ten
from confide.contract.known_keys import Keys, keys_of
from confide.contract.remedies import printed
from confide.people.campaign_tables import MOST_PEOPLE

__all__ = ["MeanConfig"]

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Weight = Annotated[float, Field(ge=0, le=1)]


class People(Keys):
    """`[people]`: the invited slots. Ids are 1 to count."""

    count: int = Field(ge=1, le=MOST_PEOPLE, description="n, invited slots; fixed and public")
    id: str = Field(default="id", min_length=1, description="column with the id in all files, or 'row': the "
                    "file's i-th row is i")


@keys_of(TwoPartMechanism, "variance")
class Record(Keys):
    """`[record]`: what each person knows of herself."""

    if TYPE_CHECKING:
        variance: float | None

    question: str = Field(min_length=1, description="as people read it")
    column: str = Field(default="record", min_length=1, description="of the noisy records")
    low: Finite = Field(description="public lower end; a record below it counts as it")
    high: Finite = Field(description="public upper end")
    unit: str = Field(default="", description="of a record, as people read it")

    @model_validator(mode="after")
    def _range(self) -> Record:
        if not self.low < self.high:
            raise ValueError(f"low must be below high, {self.low:g} is not below {self.high:g}")
        return self


class Reports(Keys):
    """`[reports]`: how much each fears the platform's knowledge, against the public's. Not private."""

    source: str = Field(min_length=1, description="a .csv, .parquet or .arrow file")
    column: str = Field(default="concern", min_length=1, description="c, in [0, 1]: 1 fears the platform alone, 0 the "
                        "public alone; an empty cell did not report")


class Contracts(Keys):
    """`[contracts]`: where the round of contracts lies."""

    file: str = Field(default="contracts.json", min_length=1, description="made by `confide contracts`; private")


class Data(Keys):
    """`[data]`: the noisy records that people sent on their contracts."""

    source: str = Field(min_length=1, description="a .csv, .parquet or .arrow file")


@keys_of(UniformPrior, "low high", optional=True)
@keys_of(PowerPrior, "exponent", optional=True)
class Belief(Keys):
    """`[belief]`: the law of the concerns, as everybody believes; independent of the records."""

    if TYPE_CHECKING:
        low: float | None
        high: float | None
        exponent: float | None

    law: Literal["uniform", "power", "histogram", "discrete"] = Field(
        default="uniform", description="of one concern c: 'uniform' between low and high, by default 0 and 1; 'power', "
        "F(c) = c^exponent; 'histogram' of bins; 'discrete' points")
    edges: tuple[Weight, ...] | None = Field(default=None, description="of 'histogram': ends of the bins")
    points: tuple[Weight, ...] | None = Field(default=None, description="of 'discrete'")
    masses: tuple[Annotated[float, Field(ge=0, le=1)], ...] | None = Field(
        default=None, description="of 'histogram' and 'discrete'; they sum to 1")

    _NEEDS: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "uniform": (), "power": ("exponent",), "histogram": ("edges", "masses"), "discrete": ("points", "masses")}

    @model_validator(mode="after")
    def _parameters(self) -> Belief:
        own = self._NEEDS[self.law]
        for name in own:
            if getattr(self, name) is None:
                raise ValueError(f"{name} is missing, which law = {self.law!r} needs")
        for name in ("low", "high", "exponent", "edges", "points", "masses"):
            if getattr(self, name) is not None and name not in own and not (self.law == "uniform"
                                                                           and name in ("low", "high")):
                raise ValueError(f"{name} does not belong to law = {self.law!r}")
        return self

    def build(self) -> ConcernPrior:
        """F."""
        if self.exponent is not None:
            return PowerPrior(exponent=self.exponent)
        if self.edges is not None and self.masses is not None:
            return HistogramPrior(edges=self.edges, masses=self.masses)
        if self.points is not None and self.masses is not None:
            return DiscretePrior(points=self.points, masses=self.masses)
        return UniformPrior(0.0 if self.low is None else self.low, 1.0 if self.high is None else self.high)


@keys_of(TwoPartMechanism, "", error="mse_price")
class Price(Keys):
    """`[price]`: what the mean is worth to the buyer, and privacy to people."""

    if TYPE_CHECKING:
        error: float

    nat: Positive = Field(description="what one nat of loss costs a person who fears that leak alone, in the currency")
    known: Positive | None = Field(default=None, description="with [privacy] largest_local_loss: standard error of "
                                   "what is known without buying, in the record's unit; default half the range. "
                                   "Nothing is bought where that is cheaper")


@keys_of(TwoPartMechanism, "largest_local_loss order")
class Privacy(Keys):
    """`[privacy]`: in what order losses are measured, and how much is bought of one person at most."""

    if TYPE_CHECKING:
        largest_local_loss: float | None = None
        order: float = 2.0

    psi_floor: float = Field(default=0.25, gt=0, le=2, description="least virtual cost: the larger, the less is bought "
                             "of those who fear the public alone")
    approximation: float = Field(default=0.001, gt=0, le=1, description="delta: cost is at most this share above the "
                                 "least; in return no lie gains")


class Payment(Keys):
    """`[payment]`: in which money."""

    currency: str = Field(min_length=1, description="what it is called on pages and in files, such as euro")
    minor_units: int = Field(default=100, ge=1, le=10**18, description="smallest coins per unit, a power of ten")

    @model_validator(mode="after")
    def _power_of_ten(self) -> Payment:
        if not is_power_of_ten(self.minor_units):
            raise ValueError(f"minor_units must be a power of ten, not {self.minor_units}")
        return self


class Rehearsal(Keys):
    """`[rehearsal]`: records that are public already, to play people with. Never read by a run that releases."""

    source: str = Field(min_length=1, description="a file, or a data set PACKAGE:NAME")
    column: str = Field(min_length=1, description="of the records")
    id: str | None = Field(default=None, min_length=1, description="column with the ids, or 'row'; default that of "
                           "[people]")


class MeanConfig(Keys):
    """All tables of the kind `mean`."""

    people: People
    record: Record
    reports: Reports
    contracts: Contracts = Contracts()
    data: Data
    belief: Belief
    price: Price
    privacy: Privacy = Privacy()
    payment: Payment
    rehearsal: Rehearsal | None = None

    @model_validator(mode="after")
    def _columns(self) -> MeanConfig:
        if self.price.known is not None and self.privacy.largest_local_loss is None:
            raise ValueError("[price] known belongs to [privacy] largest_local_loss")
        if self.price.known is not None and self.price.known > (self.record.high - self.record.low) / 2:
            half = printed((self.record.high - self.record.low) / 2, up=False)
            raise ValueError(f"[price] known must be at most {half}: the middle of the range is never further off")
        if self.people.id in (self.record.column, self.reports.column):
            raise ValueError(f"the column {self.people.id!r} of ids also holds records or reports")
        return self
