"""The tables of the three kinds' campaign files: every key is public, and no number ever comes from data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from confide.contract.checks import is_power_of_ten
from confide.contract.errors import InvalidInput
from confide.contract.known_keys import Keys, keys_of
from confide.market.collection import BitCollection
from confide.market.costs import Cost, ExponentialCost, LinearCost, PowerCost
from confide.market.majority import MajorityMarket
from confide.market.pairs.prior import PairPrior
from confide.market.signal_model import SignalModel
from confide.market.threshold.cost_laws import CostLaw, ExponentialLaw, GammaLaw, LogNormalLaw, UniformLaw
from confide.market.threshold.threshold_market import ThresholdMarket
from confide.people.campaign_tables import MOST_PEOPLE, PeopleTable
from confide.tables import Above, Category

__all__ = ["BitConfig", "BitsConfig", "BitsPairConfig", "BitsUnknownCostsConfig"]

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


def _belongs(name: str, value: float | None, law: str, chosen: str) -> None:
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
            _belongs(name, getattr(self, name), law, self.law)
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


class Group(Keys):
    """One of `[belief] groups`: what is publicly known of people who belong together."""

    name: str = Field(min_length=1, description="public; the groups' names differ")
    size: int = Field(ge=2, description="number of people")
    ones: int = Field(ge=0, description="number of them whose bit is 1")


class Belief(Keys):
    """`[belief]`: how the bits of two people go together, as everybody believes who knows her own bit alone. Give
    groups, or beta, or pairs; never from the answers.
    """

    groups: tuple[Group, ...] | None = Field(default=None, min_length=2, description="people of one group, when nobody "
                                             "knows which")
    column: str | None = Field(default=None, min_length=1, description="of the file of reports: whose peers are whose; "
                               "its values are the groups' names. Otherwise all are peers of all")
    beta: tuple[Positive, Positive] | None = Field(default=None, description="[a, b]: the share of ones is beta(a, b)")
    pairs: tuple[Annotated[float, Field(ge=0, le=1)], Annotated[float, Field(ge=0, le=1)]] | None = Field(
        default=None, description="[P(both are 1), P(both are 0)] of two people")

    @model_validator(mode="after")
    def _one(self) -> Belief:
        if sum(each is not None for each in (self.groups, self.beta, self.pairs)) != 1:
            raise ValueError("give exactly one of groups, beta and pairs")
        if self.column is not None and self.groups is None:
            raise ValueError("column belongs to groups")
        if self.groups is not None and len({each.name for each in self.groups}) < len(self.groups):
            raise ValueError("two groups have one name")
        return self

    def prior(self, people: int) -> PairPrior:
        """The law of the bits."""
        if self.groups is not None:
            return PairPrior.of_groups([each.size for each in self.groups], [each.ones for each in self.groups], people)
        if self.beta is not None:
            return PairPrior.beta_binomial(*self.beta, people)
        return PairPrior.of_pairs(people, *(self.pairs or (0.0, 0.0)))

    def role(self) -> Category | None:
        """Role of the column of groups."""
        if self.column is None or self.groups is None:
            return None
        return Category(column=self.column, levels=tuple(each.name for each in self.groups))


class BitsPairConfig(BitConfig):
    """All tables of the kind `bits-pair`."""

    belief: Belief
    cost: Costs
    privacy: Privacy


@keys_of(LogNormalLaw, "meanlog sdlog", optional=True)
@keys_of(ExponentialLaw, "mean", optional=True)
@keys_of(GammaLaw, "shape scale", optional=True)
@keys_of(UniformLaw, "high", optional=True)
class CostLawTable(Keys):
    """`[costs]`: what everybody believes of what a nat of privacy is worth to people, in the currency; each knows her
    own alone.
    """

    law: Literal["lognormal", "exponential", "gamma", "uniform"] = Field(
        description="of C, what a nat is worth to one person: lognormal has meanlog and sdlog, exponential has mean, "
        "gamma has shape and scale, uniform (from 0) has high")

    _NEEDS: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "lognormal": ("meanlog", "sdlog"), "exponential": ("mean",), "gamma": ("shape", "scale"), "uniform": ("high",)}

    @model_validator(mode="after")
    def _parameters(self) -> CostLawTable:
        for law, names in self._NEEDS.items():
            for name in names:
                _belongs(name, getattr(self, name), law, self.law)
        return self

    def build(self) -> CostLaw:
        """F."""
        values = [float(getattr(self, name)) for name in self._NEEDS[self.law]]
        match self.law:
            case "lognormal":
                return LogNormalLaw(*values)
            case "exponential":
                return ExponentialLaw(*values)
            case "gamma":
                return GammaLaw(*values)
            case _:
                return UniformLaw(0.0, *values)


@keys_of(ThresholdMarket, "epsilon")
class Levels(Keys):
    """`[privacy]` of the kind `bits-unknown-costs`: between what levels people choose their own."""

    if TYPE_CHECKING:
        epsilon: float

    ceiling: float = Field(gt=0, le=700, allow_inf_nan=False, description="the largest level that people's devices let "
                           "through: what is promised, and charged")


@keys_of(ThresholdMarket, "threshold", optional=True, share="participation")
class Taking(Keys):
    """`[participation]`: who is to take part. Give share, or threshold."""

    if TYPE_CHECKING:
        share: float | None
        threshold: float | None

    @model_validator(mode="after")
    def _one(self) -> Taking:
        if (self.share is None) == (self.threshold is None):
            raise ValueError("give exactly one of share and threshold")
        return self


class BitsUnknownCostsConfig(BitConfig):
    """All tables of the kind `bits-unknown-costs`."""

    state: State
    costs: CostLawTable
    privacy: Levels
    participation: Taking


@keys_of(MajorityMarket, "presence")
class BitsPeople(People):
    """`[people]` of the kind `bits`."""

    if TYPE_CHECKING:
        presence: float


class BitsConfig(BitConfig):
    """All tables of the kind `bits`."""

    people: BitsPeople
    state: State
    cost: Costs
    privacy: Privacy
