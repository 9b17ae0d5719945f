"""What a plan of a market for bits says of agreements and second identities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from confide.contract.presentation import Section, Table, Text
from confide.contract.words import number, percent
from confide.market.coalitions import answer_coalition, share_coalition, turned
from confide.market.pairs.market import PairMarket
from confide.numerics.fewest import fewest

if TYPE_CHECKING:
    from confide.market.campaign.plan import BitPlan

__all__ = ["FEW", "coalitions_section", "deciding", "smallest"]

FEW = 0.01
"""Where a smaller share of the invited people decides the result, the plan warns."""

_HALF = 0.5
_MANY = 100_000  # people, above which every number of identities is not tried


def _smallest_peers(plan: BitPlan) -> int | None:
    """The smallest group of peers, where an agreement gains first; None where everybody is in one."""
    groups = getattr(getattr(plan.pages, "belief", None), "groups", None)
    return None if not groups else max(2, min(each.size for each in groups))


def _truthful(market: Any) -> float:
    """What truth is worth on average: less the cost of privacy where that is known, else what it is paid."""
    quote = market.quote()
    return float(quote.participation if hasattr(market, "cost") else quote.expected_payment)


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


def _effect(plan: BitPlan, size: int) -> tuple[float, float]:
    """What each of so many identities is paid, and what they do to the result."""
    it = plan.market
    if isinstance(it, PairMarket):
        return share_coalition(it, size, _smallest_peers(plan)).each, share_coalition(it, size).shift
    found = answer_coalition(it, size)
    return found.each, found.turned


def smallest(plan: BitPlan) -> dict[str, int | None]:
    """The fewest identities: "second" of one person who earns more, "group" of people each of whom does, "deciding".

    Args:
        plan: of the file.
    """
    truth, among = _truthful(plan.market), _among(plan)
    return {"second": fewest(lambda m: m > 1 and m * _effect(plan, m)[0] > max(truth, 0.0), among),
            "group": fewest(lambda m: _effect(plan, m)[0] > truth, among), "deciding": deciding(plan)}


def coalitions_section(plan: BitPlan) -> Section:
    """The smallest number of identities, and the smallest group, that gains; what each gains, and what the result is.

    Args:
        plan: of the file.
    """
    it, truth = plan.market, _truthful(plan.market)
    among, peers = _among(plan), _smallest_peers(plan)
    second, group, many = smallest(plan).values()

    def of(size: int) -> tuple[float, float]:
        return _effect(plan, size)

    rows = [(words, size, percent(size / it.people, 2), plan.money(of(size)[0]), plan.money(size * of(size)[0]),
             number(of(size)[1])) for words, size in (
        ("ids of one person, who earns more than with one", second),
        ("people who agree, each of whom earns more than by the truth", group),
        ("identities that decide the result", many)) if size is not None and size <= among]
    share = isinstance(it, PairMarket)
    result = ("estimate moves by at most" if share else "answer is wrong with probability, where they report what is "
              "not true")
    stated = (f"the stated error of the estimate is {number(it.half_width(_SHARE_DELTA))}" if share else
              f"without any agreement the answer is wrong with probability {number(it.error_probability())}")
    more = [f"A truthful report is worth {plan.money(truth)} on average"
            + (", less the cost of privacy." if hasattr(it, "cost") else ", before its cost of privacy.")]
    if second is not None and not share:
        more.append(f"The {second} ids of one person may also all give her own answer: then they are paid "
                    f"{plan.money(second * answer_coalition(it, second).own)} together.")
    if second is None:
        more.append("No number of second identities earns more than one truthful report.")
    if group is None:
        more.append("No group gains by agreeing on one report.")
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
