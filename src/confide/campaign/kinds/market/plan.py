"""The tables that the campaign files of `bits`, `bits-pair` and `bits-unknown-costs` share, and the plan of these
campaigns. Tables and plan are public.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from confide.campaign.kinds.skeleton import CurrencyTable, LawTable, MoneyWords, Parameters, Positive, ShownPlan
from confide.contract.errors import InvalidInput, Refused
from confide.contract.guarantees import Accuracy, Budget
from confide.contract.known_keys import MOST_PEOPLE, Keys, PeopleTable, keys_of
from confide.contract.remedies import Remedy
from confide.contract.replanned import nearest
from confide.market.coalitions import Agreements
from confide.market.collection import BitCollection
from confide.market.costs import Cost, ExponentialCost, LinearCost, PowerCost
from confide.market.majority import MajorityMarket
from confide.market.signal_model import SignalModel
from confide.tables import Above, Category

__all__ = ["MARKET_KEYS", "BitConfig", "BitPlan", "Costs", "People", "Privacy", "State", "more_reports",
           "worth_asking"]


class People(PeopleTable):
    """`[people]`: the invited people, who have the ids 1 to count."""

    count: int = Field(ge=2, le=MOST_PEOPLE, description="N, invited slots; fixed and public")


class Data(Keys):
    """`[data]`: the file of the reports, which participants' devices have randomised already."""

    source: str = Field(min_length=1, description="a .parquet, .csv or .arrow file of reports, never of true answers")


class Bit(Keys):
    """`[bit]`: the question, and the form of reports."""

    question: str = Field(min_length=1, description="question to participants, as people read it")
    column: str = Field(default="report", min_length=1, description="column of the reports")
    one: str = Field(default="yes", min_length=1, description="word for the report 1")
    zero: str = Field(default="no", min_length=1, description=
        "word for the report 0; an empty cell means that the person takes no part")

    def role(self) -> Category:
        """The public role of the column of reports: rank 0 stands for the report 0, and rank 1 for the report 1."""
        return Category(column=self.column, levels=(self.zero, self.one))


class Rehearsal(Keys):
    """`[rehearsal]`: true answers that are public already. A rehearsal draws all participants' reports from these
    answers. A run that releases an outcome never reads the answers of `[rehearsal]`.
    """

    source: str = Field(min_length=1, description="a file, or a data set PACKAGE:NAME")
    column: str = Field(min_length=1, description="column of the true answers")
    id: str | None = Field(default=None, min_length=1, description=
        "column with the ids, or 'row'; by default that of [people]")
    above: float | None = Field(default=None, allow_inf_nan=False, description=
        "threshold: a number above it is the bit 1; without it, the column holds the words of [bit]")

    def role(self, bit: Bit) -> Above | Category:
        """The public rule that turns a cell of the rehearsal's file into a bit."""
        if self.above is None:
            return Category(column=self.column, levels=(bit.zero, bit.one))
        return Above(column=self.column, threshold=self.above)


@keys_of(LinearCost, "rate")
@keys_of(PowerCost, "exponent", optional=True)
@keys_of(ExponentialCost, "growth", optional=True)
class Costs(LawTable):
    """`[cost]`: the common belief about a participant's cost of a privacy level x, in the currency: rate x, rate
    x^exponent, or rate (e^(growth x) - 1).
    """

    law: Literal["linear", "power", "exponential"] = Field(
        default="linear", description="growth of the cost with the level")
    if TYPE_CHECKING:  # keys of the costs that are read here
        rate: float
        exponent: float | None
        growth: float | None

    NEEDS: ClassVar[Parameters] = {"power": ("exponent",), "exponential": ("growth",)}

    def build(self) -> Cost:
        """The function g: the cost g(x) of a privacy level of x nats to a participant, in the currency."""
        if self.exponent is not None:
            return PowerCost(self.rate, self.exponent)
        return LinearCost(self.rate) if self.growth is None else ExponentialCost(self.rate, self.growth)


@keys_of(BitCollection, "minor_units")
class Payment(CurrencyTable):
    """`[payment]`: the currency of the payments."""

    most: Positive | None = Field(default=None, description=
        "largest single payment or debt that you want; a plan with a larger one has a warning")


class BitConfig(Keys):
    """The tables that the campaign files of `bits`, `bits-pair` and `bits-unknown-costs` have in common."""

    people: People
    data: Data
    bit: Bit
    payment: Payment
    rehearsal: Rehearsal | None = None

    def role(self) -> Category:
        """The public role of the column of reports. An error names the table of the campaign file that is wrong."""
        try:
            return self.bit.role()
        except InvalidInput as error:
            raise InvalidInput(f"bit.{error.field}", error.problem, error.ways) from None

    def group(self) -> Category | None:
        """The public role of the column with each person's group; None where all participants are in one group."""
        return None

    def peers(self) -> tuple[str, ...]:
        """The names of the groups of peers; only "all" where there are no groups."""
        group = self.group()
        return ("all",) if group is None else group.levels


@keys_of(SignalModel, "prior_one signal_accuracy")
class State(Keys):
    """`[state]`: the common belief about a fact, of which each bit is a noisy sign. The promises of truthfulness and
    accuracy depend on this belief. The promise of privacy does not.
    """

    if TYPE_CHECKING:
        prior_one: float
        signal_accuracy: float


@keys_of(MajorityMarket, "epsilon")
class Privacy(Keys):
    """`[privacy]`: the privacy level (epsilon, in nats) of the report that is bought from each participant."""

    if TYPE_CHECKING:
        epsilon: float


MARKET_KEYS = {"people": "people.count", "epsilon": "privacy.epsilon", "signal_accuracy": "state.signal_accuracy",
               "prior_one": "state.prior_one", "presence": "people.presence"}
"""Mapping from the name of a parameter of the market to the key in the campaign file."""


@dataclass(frozen=True, kw_only=True)
class BitPlan(ShownPlan, MoneyWords):
    """The plan of a campaign that buys one randomised bit from each participant: the market, the question and the
    currency.

    Args:
        collection: mechanism that counts the reports and computes the payments.
        config: tables of the campaign file.
    """

    collection: BitCollection
    config: BitConfig

    @property
    def mechanism(self) -> BitCollection:
        return self.collection

    @property
    def market(self) -> Any:
        """The market: the rule that computes payments from the counts of reports."""
        return self.collection.market

    @property
    def coined(self) -> BitCollection:
        return self.collection

    @cached_property
    def agreements(self) -> Agreements:
        """The gains of several identities that agree on their reports, and the smallest number of identities that
        gain.
        """
        groups = getattr(getattr(self.pages, "belief", None), "groups", None)
        return Agreements(self.market, None if not groups else max(2, min(each.size for each in groups)))

    @property
    def deposit(self) -> int:
        """The deposit that each participant leaves before the run, in the smallest units of the currency. The deposit
        covers the largest possible debt, so nobody owes anything after the run.
        """
        lowest = self.market.payment_range()[0]
        return math.ceil(-lowest * self.collection.minor_units) if lowest < 0 else 0

    @property
    def highest(self) -> int:
        """An upper bound on every payment, in the smallest units of the currency, such as cents, rounded up to a whole
        number.
        """
        return math.ceil(float(self.market.payment_range()[1]) * self.collection.minor_units)

    def to_dict(self) -> dict[str, Any]:
        market = self.market
        return {"people": market.people, "largest_level": market.largest_level, "margin": market.margin,
                "payments": list(market.payment_range()), "deposit_coins": self.deposit,
                "expected_total": self.guarantees.of(Budget)[0].expected,
                "accuracy": self.guarantees.of(Accuracy)[0].bound, "fewest_identities": self.agreements.smallest,
                "planned": {name.strip(): value for name, value in self.pages.planned(self)}}


def worth_asking(plan: BitPlan, config: BitConfig, replan: Callable[[Any], BitPlan]) -> BitPlan:
    """Return the given plan, or refuse a plan whose promised error is no smaller than the error without any reports.

    Raises:
        Refused: the promised accuracy is no better than the accuracy without any reports.
    """
    accuracy = plan.guarantees.of(Accuracy)[0]
    if accuracy.vacuous:
        raise Refused(f"the reports would teach nothing. With the reports, the error would be {accuracy.bound:.4g}. "
                      f"Without any reports, the error is {accuracy.baseline:.4g}. The error is "
                      f"{accuracy.measure.rstrip(',')}",
                      more_reports(config, replan))
    return plan


def more_reports(config: Any, replan: Callable[[Any], BitPlan]) -> list[str | Remedy]:
    """Changes of the number of people or of epsilon that make reports useful. `replan` has planned the whole campaign
    again with each change.
    """
    found = [*nearest(config, replan, "people.count", config.people.count),
             *nearest(config, replan, "privacy.epsilon", config.privacy.epsilon)]
    return [*found] or ["changing only one of [people] count and [privacy] epsilon is not enough: change both"]
