"""The tables that the three kinds' campaign files share: every key is public, and no number ever comes from data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from confide.contract.checks import is_power_of_ten
from confide.contract.errors import InvalidInput
from confide.contract.known_keys import Keys, keys_of
from confide.market.collection import BitCollection
from confide.market.costs import Cost, ExponentialCost, LinearCost, PowerCost
from confide.market.majority import MajorityMarket
from confide.market.signal_model import SignalModel
from confide.people.campaign_tables import MOST_PEOPLE, PeopleTable
from confide.tables import Above, Category

__all__ = ["BitConfig", "Costs", "People", "Positive", "Privacy", "State", "belongs"]

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


def belongs(name: str, value: float | None, law: str, chosen: str) -> None:
    """Whether a parameter is there where its law is chosen, and only there."""
    if law == chosen and value is None:
        raise ValueError(f"{name} is missing, which law = {law!r} needs")
    if law != chosen and value is not None:
        raise ValueError(f"{name} belongs to law = {law!r}, and only to it")


class People(PeopleTable):
    """`[people]`: the invited slots. Ids are 1 to count."""

    count: int = Field(ge=2, le=MOST_PEOPLE, description="N, invited slots; fixed and public")


class Data(Keys):
    """`[data]`: the reports, as they left the people: already randomised."""

    source: str = Field(min_length=1, description="a .parquet, .csv or .arrow file of reports, never of true answers")


class Bit(Keys):
    """`[bit]`: what is asked, and how reports are written."""

    question: str = Field(min_length=1, description="as people read it")
    column: str = Field(default="report", min_length=1, description="of the reports")
    one: str = Field(default="yes", min_length=1, description="the report 1")
    zero: str = Field(default="no", min_length=1, description="the report 0; an empty cell takes no part")

    def role(self) -> Category:
        """The column's public role; rank 1 is the report 1."""
        return Category(column=self.column, levels=(self.zero, self.one))


class Rehearsal(Keys):
    """`[rehearsal]`: true answers that are public already, to play people with. Never read by a run that releases."""

    source: str = Field(min_length=1, description="a file, or a data set PACKAGE:NAME")
    column: str = Field(min_length=1, description="of the true answers")
    id: str | None = Field(default=None, min_length=1, description="column with the ids, or 'row'; default that of "
                           "[people]")
    above: float | None = Field(default=None, allow_inf_nan=False, description="the bit is whether a number is above "
                                "it; otherwise the column holds the words of [bit]")

    def role(self, bit: Bit) -> Above | Category:
        """How a cell becomes a bit."""
        if self.above is None:
            return Category(column=self.column, levels=(bit.zero, bit.one))
        return Above(column=self.column, threshold=self.above)


@keys_of(LinearCost, "rate")
@keys_of(PowerCost, "exponent", optional=True)
@keys_of(ExponentialCost, "growth", optional=True)
class Costs(Keys):
    """`[cost]`: what everybody believes that a privacy level costs a person: rate x, rate x^exponent, or
    rate (e^(growth x) - 1), in the currency.
    """

    law: Literal["linear", "power", "exponential"] = Field(
        default="linear", description="how cost grows with the level")
    if TYPE_CHECKING:  # keys of the costs that are read here
        rate: float
        exponent: float | None
        growth: float | None

    @model_validator(mode="after")
    def _parameters(self) -> Costs:
        for name, law in (("exponent", "power"), ("growth", "exponential")):
            belongs(name, getattr(self, name), law, self.law)
        return self

    def build(self) -> Cost:
        """g."""
        if self.exponent is not None:
            return PowerCost(self.rate, self.exponent)
        return LinearCost(self.rate) if self.growth is None else ExponentialCost(self.rate, self.growth)


@keys_of(BitCollection, "minor_units")
class Payment(Keys):
    """`[payment]`: in which money."""

    currency: str = Field(min_length=1, description="what it is called on pages and in files, such as euro")
    if TYPE_CHECKING:
        minor_units: int
    most: Positive | None = Field(default=None, description="largest single payment, or debt, that is wanted; a "
                                  "plan that could come to more is warned of")

    @model_validator(mode="after")
    def _power_of_ten(self) -> Payment:
        if not is_power_of_ten(self.minor_units):
            raise ValueError(f"minor_units must be a power of ten, not {self.minor_units}")
        return self


class BitConfig(Keys):
    """What all three kinds ask for."""

    people: People
    data: Data
    bit: Bit
    payment: Payment
    rehearsal: Rehearsal | None = None

    def role(self) -> Category:
        """The reports' public role; errors say which table they are about."""
        try:
            return self.bit.role()
        except InvalidInput as error:
            raise InvalidInput(f"bit.{error.field}", error.problem, error.ways) from None


@keys_of(SignalModel, "prior_one signal_accuracy")
class State(Keys):
    """`[state]`: what everybody believes of the fact that the bits are signs of; truth and accuracy rest on it, privacy
    does not.
    """

    if TYPE_CHECKING:
        prior_one: float
        signal_accuracy: float


@keys_of(MajorityMarket, "epsilon")
class Privacy(Keys):
    """`[privacy]`: what is bought of each person."""

    if TYPE_CHECKING:
        epsilon: float
