"""What a plan of a market for bits says of agreements and second identities."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from confide.contract.presentation import Section, Table, Text
from confide.contract.words import number, percent
from confide.market.coalitions import AnswerCoalition, ShareCoalition, answer_coalition, share_coalition, turned
from confide.market.pairs.market import PairMarket
from confide.numerics.fewest import fewest

if TYPE_CHECKING:
    from confide.campaign.kinds.market.plan import BitPlan

__all__ = ["coalitions_section", "deciding", "smallest"]

_HALF = 0.5
_MANY = 100_000  # people, above which every number of identities is not tried


def _smallest_peers(plan: BitPlan) -> int | None:
    """The smallest group of peers, where an agreement gains first; None where everybody is in one."""
    groups = getattr(getattr(plan.pages, "belief", None), "groups", None)
    return None if not groups else max(2, min(each.size for each in groups))


def _truthful(market: Any) -> float:
    """What truth is worth on average: its pay less the cost of privacy where that is known, else its pay."""
    return float(market.quote().participation) if hasattr(market, "cost") else _paid(market)


def _paid(market: Any) -> float:
    """What a truthful report is paid on average."""
    return float(market.quote().expected_payment)


def deciding(plan: BitPlan) -> int | None:
    """The fewest identities that decide the result; None where no number does.

    They decide a yes or no where it is wrong in half of all cases, and a share where it moves by its stated error.

    Args:
        plan: of the file.
    """
    it = plan.market
    if isinstance(it, PairMarket):
        bound = it.half_width(_SHARE_DELTA)
        return fewest(lambda m: share_coalition(it, m).shift >= bound, it.people)
    singly = 32 if it.people <= _MANY else 1  # where few decide, ties matter
    return fewest(lambda m: max(turned(it, m, x) for x in (0, 1)) >= _HALF, it.people, singly)


_SHARE_DELTA = 0.05  # at which the plan states the error of a share


def _among(plan: BitPlan) -> int:
    """How many people are compared with each other at least."""
    peers = _smallest_peers(plan)
    return int(plan.market.people) if peers is None else min(peers, int(plan.market.people))


def _coalition(plan: BitPlan, size: int) -> AnswerCoalition | ShareCoalition:
    it = plan.market
    return share_coalition(it, size, _smallest_peers(plan)) if isinstance(it, PairMarket) else answer_coalition(
        it, size)


def _done(plan: BitPlan, size: int) -> float:
    """What so many identities do to the result."""
    it = plan.market
    return share_coalition(it, size).shift if isinstance(it, PairMarket) else max(turned(it, size, x) for x in (0, 1))


def _with_one(plan: BitPlan) -> float:
    """The most that one person is paid on average with one id, privacy not counted."""
    return max(_coalition(plan, 1).chosen, _paid(plan.market), 0.0)


def smallest(plan: BitPlan) -> dict[str, int | None]:
    """The fewest identities of several kinds.

    "second" of one person who is paid more than with one, "group" of people each of whom earns more than by the truth,
    "fixed" of such people who give the same report whatever is true, and "deciding".

    Args:
        plan: of the file.
    """
    truth, paid, one, among = _truthful(plan.market), _paid(plan.market), _with_one(plan), _among(plan)

    def fixed(m: int) -> bool:
        return m > 1 and _coalition(plan, m).each > truth

    return {"second": fewest(lambda m: m > 1 and m * _coalition(plan, m).chosen > one, among),
            "group": fewest(lambda m: m > 1 and (_coalition(plan, m).drawn > paid or fixed(m)), among),
            "fixed": fewest(fixed, among), "deciding": deciding(plan)}


def coalitions_section(plan: BitPlan) -> Section:
    """The smallest number of identities, and the smallest group, that gains; what each gains, and what the result is.

    Args:
        plan: of the file.
    """
    it, truth, paid, one = plan.market, _truthful(plan.market), _paid(plan.market), _with_one(plan)
    among, peers = _among(plan), _smallest_peers(plan)
    second, group, fixed, many = smallest(plan).values()

    def row(words: str, size: int | None, each: Callable[[AnswerCoalition | ShareCoalition], float]) -> list[Any]:
        if size is None or size > among:
            return []
        pay = each(_coalition(plan, size))
        return [(words, size, percent(size / it.people, 2), plan.money(pay), plan.money(size * pay),
                 number(_done(plan, size)))]

    rows = [*row("ids of one person, who is paid more than with one", second, lambda found: found.chosen),
            *row("people who agree, each of whom earns more than by the truth", group,
                 lambda found: found.drawn if found.drawn > paid else found.each),
            *row("the same, where they give one report whatever is true", fixed, lambda found: found.each),
            *row("identities that decide the result", many, lambda found: found.each)]
    share = isinstance(it, PairMarket)
    result = ("estimate moves by at most" if share else "answer is wrong with probability, where they report what is "
              "not true")
    stated = (f"the stated error of the estimate is {number(it.half_width(_SHARE_DELTA))}" if share else
              f"without any agreement the answer is wrong with probability {number(it.error_probability())}")
    more = [f"A truthful report is paid {plan.money(paid)} on average"
            + (f". That is worth {plan.money(truth)} once the cost of its privacy is taken off." if hasattr(it, "cost")
               else ", before the cost of its privacy.")]
    if second is None:
        more.append("By the routes computed here, with no number of ids one person is paid more than with one.")
    else:
        all_of_them = second * _coalition(plan, second).chosen
        more.append(f"With {second} ids of one person they gain {plan.money(all_of_them - one)} more than with one: "
                    f"{plan.money(all_of_them)} in place of {plan.money(one)} on average. This is the most by the "
                    "routes computed here: all ids take part, and give the report that pays more by their owner's "
                    "answer, without the device's noise. What the owner's privacy is worth is left out of both "
                    "amounts.")
    if group is None:
        more.append("No group gains by agreeing on one report.")
    else:
        more.append(f"{group} people who agree {_gains(plan, group, paid, truth)}.")
    if many is None or many > among:
        more.append("No number of identities decides the result as it is counted here." if many is None else
                    f"{many:,} identities ({percent(many / it.people, 2)} of the invited) decide the result.")
    more.append("A promise of truth is about one person alone. The operator has to see to it that nobody has two ids.")
    return Section(title="Second identities and agreements", blocks=(
        Table(columns=("who gives one and the same report", "how many", "of the invited", "each is paid, on average",
                       "all of them", result), rows=tuple(rows),
              note=f"Exact, in money of the plan. All others keep to the equilibrium; {stated}. A result is decided "
                   + ("where it moves by its stated error." if share else "where it is wrong in half of all cases.")
                   + (" Payments are those within the smallest group of peers." if peers is not None else "")),
        Text(tuple(more))))


def _gains(plan: BitPlan, size: int, paid: float, truth: float) -> str:
    """What the smallest group does, and what each of its members gains."""
    found = _coalition(plan, size)
    if found.drawn > paid:
        return (f"can all hand in one report, which the device of one of them draws: each gains "
                f"{number(found.drawn - paid)} {plan.collection.currency} more than by the truth, on average, and "
                "only one of them spends privacy")
    return (f"can all hand in the report that is paid more, whatever is true: each gains "
            f"{number(found.each - truth)} {plan.collection.currency} more than by the truth")
