"""The tables of a `mean` campaign file, and the plan of the campaign. Both are public and do not depend on records."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from confide.acquisition.incentives import SecondIdentities, second_identities
from confide.acquisition.mechanism import TwoPartMechanism
from confide.acquisition.priors import ConcernPrior, DiscretePrior, HistogramPrior, PowerPrior, UniformPrior
from confide.acquisition.targeting import Expected, expected
from confide.campaign.kinds.skeleton import Finite, LawTable, MoneyTable, MoneyWords, Parameters, Positive, ShownPlan
from confide.contract.guarantees import Accuracy
from confide.contract.known_keys import MOST_PEOPLE, Keys, keys_of
from confide.contract.remedies import printed
from confide.contract.wire import parts_of
from confide.contract.words import Measured, few, number

__all__ = ["MeanConfig", "PlannedMean", "identity_warnings"]

Weight = Annotated[float, Field(ge=0, le=1)]


class People(Keys):
    """`[people]`: the invited people, who have the ids 1 to count."""

    count: int = Field(ge=1, le=MOST_PEOPLE, description="n, invited slots; fixed and public")
    id: str = Field(default="id", min_length=1, description=
                    "column with the id in all files, or 'row': the file's i-th row belongs to id i")


@keys_of(TwoPartMechanism, "variance")
class Record(Keys):
    """`[record]`: the number that each participant knows about themselves."""

    if TYPE_CHECKING:
        variance: float | None

    question: str = Field(min_length=1, description="question to participants, as people read it")
    column: str = Field(default="record", min_length=1, description="column of the noisy records")
    low: Finite = Field(description="public lower end; a record below counts as this end")
    high: Finite = Field(description="public upper end; a record above counts as this end")
    unit: str = Field(default="", description="unit of a record, as people read it")

    @model_validator(mode="after")
    def _range(self) -> Record:
        if not self.low < self.high:
            raise ValueError(f"low is {self.low:g}, which must be below high = {self.high:g}")
        return self


class Reports(Keys):
    """`[reports]`: the file of the participants' reports. A report states how much a participant fears the platform's
    knowledge, compared with the public's knowledge. Reports are not private.
    """

    source: str = Field(min_length=1, description="a .csv, .parquet or .arrow file")
    column: str = Field(default="concern", min_length=1, description=
                        "column of the concern c, in [0, 1]: a person with 1 fears only the platform, and a person "
                        "with 0 fears only the public; an empty cell is not a report")


class Contracts(Keys):
    """`[contracts]`: the path of the file into which the contracts of all participants are written."""

    file: str = Field(default="contracts.json", min_length=1, description=
                      "private file that `confide contracts` writes")


class Data(Keys):
    """`[data]`: the noisy records that participants sent on their contracts."""

    source: str = Field(min_length=1, description="a .csv, .parquet or .arrow file")


@keys_of(UniformPrior, "low high", optional=True)
@keys_of(PowerPrior, "exponent", optional=True)
class Belief(LawTable):
    """`[belief]`: the public belief about the probability law of participants' concerns. The law does not depend on the
    participants' records.
    """

    if TYPE_CHECKING:
        low: float | None
        high: float | None
        exponent: float | None

    law: Literal["uniform", "power", "histogram", "discrete"] = Field(
        default="uniform", description="law of one concern c: 'uniform' between low and high, by default 0 and 1; "
                                       "'power', F(c) = c^exponent; 'histogram' with bins; 'discrete' with points")
    edges: tuple[Weight, ...] | None = Field(default=None, description="ends of the bins, for law = 'histogram'")
    points: tuple[Weight, ...] | None = Field(default=None, description="values of the concern, for law = 'discrete'")
    masses: tuple[Annotated[float, Field(ge=0, le=1)], ...] | None = Field(
        default=None, description="probabilities of the bins or points, for law = 'histogram' and 'discrete'; they sum "
                                  "to 1")

    NEEDS: ClassVar[Parameters] = {
        "power": ("exponent",), "histogram": ("edges", "masses"), "discrete": ("points", "masses")}
    MAY_HAVE: ClassVar[Parameters] = {"uniform": ("low", "high")}

    def build(self) -> ConcernPrior:
        """The probability law F of a participant's concern c in [0, 1]. A participant with c = 1 fears the platform
        alone, and a participant with c = 0 fears the public alone.
        """
        if self.exponent is not None:
            return PowerPrior(exponent=self.exponent)
        if self.edges is not None and self.masses is not None:
            return HistogramPrior(edges=self.edges, masses=self.masses)
        if self.points is not None and self.masses is not None:
            return DiscretePrior(points=self.points, masses=self.masses)
        return UniformPrior(0.0 if self.low is None else self.low, 1.0 if self.high is None else self.high)


@keys_of(TwoPartMechanism, "", error="mse_price")
class Price(Keys):
    """`[price]`: the worth of an accurate mean to the buyer, and of privacy to participants."""

    if TYPE_CHECKING:
        error: float

    nat: Positive = Field(description="cost of one nat of loss towards the platform to a person who fears only the "
                                      "platform, or towards the public to a person who fears only the public, in the "
                                      "currency")
    known: Positive | None = Field(default=None, description=
        "with [privacy] largest_local_loss: standard error of the best guess without buying, in the record's unit; "
        "default half the range. The campaign buys nothing if the guess is cheaper")


@keys_of(TwoPartMechanism, "largest_local_loss order")
class Privacy(Keys):
    """`[privacy]`: the Renyi order in which losses are measured, and the largest loss that is bought from one
    participant.
    """

    if TYPE_CHECKING:
        largest_local_loss: float | None = None
        order: float = 2.0

    psi_floor: float = Field(default=0.25, gt=0, le=2, description=
                             "least virtual cost: with a larger value, the campaign buys less from people who fear "
                             "only the public")
    approximation: float = Field(default=0.001, gt=0, le=1, description=
                                 "delta: the cost is at most this share above the least cost; in return, no lie gains")


class Payment(MoneyTable):
    """`[payment]`: the currency of the payments."""


class Rehearsal(Keys):
    """`[rehearsal]`: records that are public already. A rehearsal draws all participants' noisy records from these
    records. A run that releases an outcome never reads the records of `[rehearsal]`.
    """

    source: str = Field(min_length=1, description="a file, or a data set PACKAGE:NAME")
    column: str = Field(min_length=1, description="column of the records")
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
            raise ValueError(f"[price] known must be at most {half}, the largest possible error of guessing the middle "
                             "of the range")
        if self.people.id in (self.record.column, self.reports.column):
            raise ValueError(f"the column {self.people.id!r} of ids also holds records or reports")
        return self




@dataclass(frozen=True, kw_only=True)
class PlannedMean(ShownPlan, MoneyWords):
    """The plan of a campaign that buys a mean: the mechanism, the question to participants, and the currency.

    Args:
        mechanism: mechanism that draws up the contracts and computes the mean.
        config: tables of the campaign file.
        least: smallest share, in [0, 1], of simulated sets of reports in which records are bought. If records are
            bought in a smaller share, the plan counts as buying nothing.
    """

    mechanism: TwoPartMechanism
    config: MeanConfig
    least: float = 0.0

    @cached_property
    def here(self) -> Expected:
        """The expected error, payments and privacy losses of the campaign, with the settings of its file."""
        return expected("this campaign", self.mechanism, self.least)

    @cached_property
    def others(self) -> tuple[Expected, ...]:
        """The expected error, payments and privacy losses of the same campaign at a quarter and at four times the price
        of an error. If the file limits a participant's loss, the results at half and at twice this limit are added.
        """
        it = self.mechanism
        found = [expected(f"[price] error = {it.mse_price * times:g}", it, mse_price=it.mse_price * times)
                 for times in (0.25, 4.0)]
        if it.largest_local_loss is not None:
            found += [expected(f"[privacy] largest_local_loss = {it.largest_local_loss * times:g}", it,
                                largest_local_loss=it.largest_local_loss * times) for times in (0.5, 2.0)]
        return tuple(found)

    @cached_property
    def identities(self) -> SecondIdentities | None:
        """The gains of people who take part under several identities, or who agree on their reports; None where nobody
        is asked for a record.
        """
        return second_identities(self.mechanism, self.here.root_error)

    @property
    def remedy(self) -> str:
        """The change of the campaign file that would help where nothing is bought."""
        if "largest_local_loss" in self.here.why:
            return "raise [privacy] largest_local_loss, lower [price] error, or ask more people"
        return "raise [price] error, or do without this campaign"

    @property
    def coined(self) -> TwoPartMechanism:
        return self.mechanism

    @property
    def largest_coins(self) -> int:
        """An upper bound on every payment, in the smallest units of the currency; payments are rounded up."""
        return math.ceil(self.mechanism.largest_payment * self.mechanism.minor_units) + 1

    def measured(self, value: float, error: float | None = None) -> str:
        """A value in the unit of a record, as text, with as many digits as the given error justifies."""
        return f"{number(Measured(value, error))}{' ' + self.config.record.unit if self.config.record.unit else ''}"

    def warnings(self) -> list[str]:
        """The warnings to the operator before anybody is asked for a report."""
        it, here, found = self.mechanism, self.here, []
        if here.bought < 1:
            found.append(f"the campaign buys nothing in {1 - here.bought:.1%} of the simulated sets of reports. "
                         f"Reason: {here.why}. Remedy: {self.remedy}")
        if here.payments < it.people / it.minor_units and here.asked > 0:
            found.append("the campaign rounds payments up to whole coins, which raises them a lot: choose smaller "
                         "coins (minor_units)")
        if it.caps.local > 20:
            found.append(f"a contract may allow a loss of {it.caps.local:.3g} nats towards the operator, which "
                         "protects hardly anything: raise psi_floor, or lower [price] error")
        if self.identities is not None:
            found += identity_warnings(self, self.identities)
        return found

    def to_dict(self) -> dict[str, Any]:
        it, here = self.mechanism, self.here
        return {
            "people": it.people, "order": it.order, "largest_local": it.caps.local, "largest_central": it.caps.central,
            "error_bound": self.guarantees.of(Accuracy)[0].bound, "largest_payment": it.largest_payment,
            "expected": {"error": here.root_error**2, "payments": here.payments, "payments_error": here.payments_error,
                         "asked": here.asked, "largest_local": here.local, "largest_central": here.central,
                         "bought": here.bought, "draws": here.draws},
            "identities": None if self.identities is None else {
                name: None if isinstance(value, float) and math.isnan(value) else value
                for name, value in parts_of(self.identities).items()},
            "warnings": self.warnings(),
        }


def identity_warnings(plan: PlannedMean, found: SecondIdentities) -> list[str]:
    """The warnings to the operator about people with several identities; empty where there is nothing to warn about."""
    said = few(found.deciding, plan.mechanism.people, "identities")
    return [] if said is None else [
        f"{said}, can move the mean by its standard error: anybody with that many ids can choose the mean within its "
        "standard error"]
