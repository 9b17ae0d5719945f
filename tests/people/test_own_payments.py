"""A mechanism that pays, in a `MechanismPlan`: every amount of money on its pages has its currency."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
import pyarrow as pa

from campaign.forging import words
from confide.campaign.kinds import MechanismPlan, PeoplesKind, SlotRows
from confide.contract import Billboard, Budget, Guarantees, Mechanism, Participation, Source, Truthfulness
from confide.contract.offering import Question
from confide.contract.parameters import Parameter
from confide.contract.payout_terms import PayoutTerms
from confide.contract.presentation import Section, Table
from confide.privacy.events import Event
from confide.privacy.noise import Noise
from confide.tables import Category

SOURCE = Source(document="test", statement="a fixed price")
ROLES = (Category(column="answer", levels=("no", "yes")),)
TERMS = PayoutTerms(column="payment", currency="EUR", minor_units=100, highest=25, deposit=10)


@dataclass(frozen=True, kw_only=True, eq=False)
class Board(Billboard):
    answered: int


@dataclass(frozen=True, kw_only=True)
class FixedPrice(Mechanism):
    """Everybody who answers is paid the same."""

    people: int
    price: Annotated[float, Parameter("of one answer", unit="the currency", at_least=0)]
    patience: Annotated[float, Parameter("time for an answer", unit="days", above=0)] = 7.0

    def guarantees(self) -> Guarantees:
        return Guarantees((
            Budget(expected=self.people * self.price, lowest=0.0, highest=self.price, source=SOURCE),
            Truthfulness(gain=0.0, baseline=self.price, who="everybody", source=SOURCE),
            Participation(utility=0.0, who="everybody", source=SOURCE)))

    def events(self) -> tuple[Event, ...]:
        return ()

    def run(self, data: Any, noise: Any) -> Any:
        there = np.concatenate([batch.index for batch in data])
        paid = [25 if slot in there else 0 for slot in range(self.people)]
        return self._outcome(noise, billboard=Board(answered=len(there)), shares=pa.table({"payment": paid}))

    def decode(self, record: Any, index: int, billboard: Any) -> dict[str, Any]:
        return {"payment": 0 if record is None else 25}


class FixedPriceKind(PeoplesKind):
    def columns(self, config: Any) -> tuple[Category]:
        return ROLES


IT = FixedPrice(people=4, price=0.25)
PLAN = MechanismPlan(config=None, mechanism=IT, roles=ROLES, share="the price of an answer", pays=TERMS)
PROMISED = ("total is at most 1.00 EUR, each payment between 0.00 and 0.25 EUR", "no lie gains more than 0 EUR",
            "expected payment less privacy cost, in EUR, is at least 0")


def answered(question: Question) -> Section:
    return next(each for each in PLAN.offer() if each.answers == question.name.lower())


def test_parameters_and_promises_of_a_plan_are_in_the_currency() -> None:
    table = next(block for block in PLAN.sections()[0].blocks if isinstance(block, Table))
    assert table.rows == (("people", 4), ("price (EUR)", 0.25), ("patience (days)", 7.0))
    for said in PROMISED:
        assert said in words(PLAN.sections())


def test_the_offer_has_a_table_of_payments() -> None:
    (table,) = (block for block in answered(Question.GETS).blocks if isinstance(block, Table))
    assert table.rows == (("at most", "0.25 EUR"), ("your deposit, which you get back", "0.10 EUR"))
    assert "0.25 EUR" in words([answered(Question.GETS)])
    assert "No lie gains more than 0 EUR" in words([answered(Question.LIES)])


def test_result_and_share_are_in_the_currency() -> None:
    outcome = IT.run([SlotRows(np.array([1]), np.array([[1.0]]))], Noise.simulated(1))
    it = FixedPriceKind()
    assert it.payouts(PLAN) is TERMS
    for said in PROMISED:
        assert said in words(it.result(PLAN, outcome))
    for record, slot, paid in ((np.array([1.0]), 1, "0.25 EUR"), (None, 0, "0.00 EUR")):
        (section,) = it.explain(PLAN, outcome, record, slot)
        (table,) = (block for block in section.blocks if isinstance(block, Table))
        assert table.rows == (("payment", paid),)


def test_a_unit_that_a_promise_names_itself_stays() -> None:
    from confide.campaign.kinds.mechanism_plan import in_currency

    budget = IT.guarantees().of(Budget)[0]
    dollars = Guarantees((replace(budget, currency="USD"),))
    assert in_currency(dollars, TERMS) == dollars
    assert in_currency(Guarantees((budget,)), None) == Guarantees((budget,))


def test_without_payments_nothing_is_in_a_currency() -> None:
    plan = replace(PLAN, pays=None)
    assert FixedPriceKind().payouts(plan) is None
    assert "EUR" not in words([*plan.sections(), *plan.offer()])
    assert ("price (the currency)", 0.25) in plan.sections()[0].blocks[0].rows  # type: ignore[union-attr]
