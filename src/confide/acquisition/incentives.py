"""Gains from a second identity, or from an agreement among people, in a campaign that buys a mean, and the effect on
the mean.

Contracts depend on everybody's reports, so the gains have no closed form. The gains are computed exactly on profiles of
reports drawn from the public belief, and then averaged over the profiles.

The module also searches for a profitable lie, in a mechanism of `confide` or in any other mechanism.

Source: spec two_part_acquisition section 4 (brute deviation search, revelation principle).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.acquisition.mechanism import TwoPartMechanism
from confide.acquisition.optimum.solver import Solution
from confide.acquisition.payments import Offer, OfferRule
from confide.acquisition.priors import prior_draws
from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.contract.wire import wire
from confide.numerics.fewest import fewest

__all__ = ["DeviationAudit", "SecondIdentities", "audit_ic", "direct_from_indirect", "second_identities"]

# ---- incentives


@dataclass(frozen=True, eq=False)
class DeviationAudit:
    """Utility of one person for each report that was tried, while the others' reports stay fixed.

    Args:
        person: position of the person.
        truth: utility of the person's true report. A utility below 0 means that the contract pays the person less than
            their privacy losses cost them.
        reports: (k,) false reports that were tried.
        utilities: (k,) utilities of the false reports; minus infinity for a record sold without noise to an audience
            that the person cares about.
    """

    person: int
    truth: float
    reports: NDArray[np.float64]
    utilities: NDArray[np.float64]

    @property
    def regret(self) -> float:
        """Largest gain of a lie over the truth; 0 where no lie gains."""
        return max(float(np.max(self.utilities)) - self.truth, 0.0)

    @property
    def best_report(self) -> float:
        """The false report with the largest utility."""
        return float(self.reports[int(np.argmax(self.utilities))])


def audit_ic(rule: OfferRule, reports: ArrayLike, person: int, misreports: ArrayLike) -> DeviationAudit:
    """Search for a report that gives a person more utility than the truth.

    Args:
        rule: a `PaymentRule`, or any function from everybody's reports and a person's position to the offer to that
            person.
        reports: (n,) reports of all people. The entry at position `person` is that person's true sensitivity.
        person: position of the person.
        misreports: (k,) reports that the person tries.

    Raises:
        InvalidInput: the position belongs to no person, there is no report to try, or the prior cannot produce one of
            the reports.

    Example:
        >>> from confide.acquisition.payments import PaymentRule
        >>> from confide.acquisition.priors import UniformPrior
        >>> rule = PaymentRule(UniformPrior().virtual_cost(), 10 / 12, 10.0)
        >>> audit_ic(rule, [0.5, 0.5], 0, [0.0, 0.25, 0.75, 1.0]).regret
        0.0
    """
    c = np.array(reports, dtype=np.float64)
    tried = np.array(misreports, dtype=np.float64).reshape(-1)
    if whole("person", person) >= c.size:
        raise InvalidInput("person", f"{person} is not the position of a person", f"must be below {c.size}")
    if not tried.size:
        raise InvalidInput("misreports", "the list is empty", "must have at least one report")
    truth = float(c[person])
    honest = rule(c.copy(), person).utility(truth)
    utilities = np.empty(tried.size)
    for k, lie in enumerate(tried.tolist()):
        c[person] = lie
        utilities[k] = rule(c.copy(), person).utility(truth)
    return DeviationAudit(person, honest, tried, utilities)


def direct_from_indirect(
    outcome: Callable[[Sequence[object], int], Offer], strategies: Sequence[Callable[[float], object]]
) -> OfferRule:
    """The direct mechanism that plays each person's strategy on their behalf. Reporting the truth in the direct
    mechanism has the same outcome as playing the strategy in the original mechanism.

    Args:
        outcome: function from everybody's actions and a position to that person's offer.
        strategies: one function for each person, from their sensitivity to their action.

    Returns:
        A rule for `audit_ic`. If the strategies are an equilibrium, no lie gains.

    Source: the revelation principle; Fallah, Makhdoumi, Malekian and Ozdaglar, section 4.

    Example:
        >>> from confide.acquisition.payments import PaymentRule
        >>> from confide.acquisition.priors import UniformPrior
        >>> rule = PaymentRule(UniformPrior().virtual_cost(), 10 / 12, 10.0)
        >>> percent = direct_from_indirect(lambda asked, i: rule([each / 100 for each in asked], i),
        ...                                [lambda c: 100 * c] * 2)
        >>> percent([0.5, 0.5], 0) == rule([0.5, 0.5], 0)
        True
    """
    players = tuple(strategies)

    def rule(reports: NDArray[np.float64], person: int) -> Offer:
        if len(reports) != len(players):
            raise InvalidInput("reports", f"are {len(reports)} for {len(players)} strategies",
                               "must be one report for each strategy")
        return outcome([play(float(c)) for play, c in zip(players, reports, strict=True)], person)

    return rule


# ---- second identities

_WORK = 40_000  # people, over all profiles
_MOST, _FEWEST = 20, 3
_REPORTS, _LEAST_REPORTS = 33, 5  # that are tried of one person
_TRIED = 300_000  # people, over all reports that are tried
_CHOSEN, _CHOICES = 3_000, (3, 7)  # people over the profiles on which two ids choose; fewest and most reports of each

_Owner = tuple[NDArray[np.float64], int, int]
"""Everybody's reports, the slot of the owner of two identities, and the slot of the second identity."""


@wire("SecondIdentities", "rent adds made_up gain deciding deciding_pay group group_gain draws")
@dataclass(frozen=True, kw_only=True)
class SecondIdentities:
    """Gains from second identities of people who are asked for a record. Amounts of money are in the campaign's
    currency.

    Args:
        rent: average amount by which the payment of one identity exceeds the cost of its record.
        adds: relative increase of the owner's rent through a second identity with the same report; nan if the rent is
            0.
        made_up: average payment of an identity with an invented record, at the report with the largest payment. An
            invented record costs no privacy.
        gain: average gain of the owner of two identities over the owner of one, at the best of all routes tried. In one
            route the first identity gives its true record and its true report. In another route, the first identity
            reports falsely but gives its true record. In a third route, the owner invents the record and the report of
            the first identity in both cases, with one identity and with two. The second identity always has an invented
            record. Every invented report is the best of the reports tried.
        deciding: the smallest number of identities that together can move the mean by the mean's standard error; None
            where all identities together cannot.
        deciding_pay: average payment of one identity among the `deciding` identities.
        group: the smallest number of people who together gain at least the smallest unit of the currency if one of them
            reports falsely. The gain counts their payments less the costs of their privacy losses. None where no report
            that was tried has this effect.
        group_gain: gain of the whole group, in the currency; nan where `group` is None.
        draws: number of profiles of reports.
    """

    rent: float
    adds: float
    made_up: float
    gain: float
    deciding: int | None
    deciding_pay: float
    group: int | None
    group_gain: float
    draws: int


def second_identities(it: TwoPartMechanism, root_error: float) -> SecondIdentities | None:
    """Gains from second identities in a campaign. The result is None where fewer than two people are registered, or
    nobody is asked for a record in any profile.

    Args:
        it: mechanism of the campaign.
        root_error: the standard error of the mean, in the unit of a record.
    """
    if it.people < 2:
        return None
    draws = int(min(_MOST, max(_FEWEST, _WORK // it.people)))
    profiles = [reports for reports, _ in prior_draws(it.prior, it.people, draws, 0, stream="identities")]
    before, after, owners = list[float](), list[float](), list[_Owner]()
    for reports in profiles:
        solution = it.payment_rule.solve(it.payment_rule.virtual_costs(reports))
        if not solution.winners.size:
            continue
        owner = int(solution.winners[0])
        second = (owner + 1) % it.people
        changed = reports.copy()
        changed[second] = reports[owner]
        before.append(float(_rents(it, _paid(it, reports, [owner]), reports)[owner]))
        rents = _rents(it, _paid(it, changed, [owner, second]), changed)
        after.append(float(rents[[owner, second]].sum()))
        owners.append((reports, owner, second))
    if not before:
        return None
    rent = float(np.mean(before))
    made_up, most = _best_routes(it, owners)
    deciding, paid = _deciding(it, profiles[0], root_error)
    group, gain = _agreement(it, profiles[0])
    return SecondIdentities(
        rent=rent, adds=float(np.mean(after)) / rent - 1.0 if rent > 0 else math.nan, made_up=made_up, gain=most,
        deciding=deciding, deciding_pay=paid, group=group, group_gain=gain, draws=len(before))


class _Paid(NamedTuple):
    """Solution for everybody and the payments of some people: the contracts without their noise, with money in the
    currency.
    """

    solution: Solution
    exact: NDArray[np.float64]


def _paid(it: TwoPartMechanism, reports: NDArray[np.float64], people: Sequence[int] | range | None = None) -> _Paid:
    """Payments of the given people, or of everybody. The payment of each person needs a computation of its own."""
    found = it.payment_rule.pay(reports, people=None if people is None else np.asarray(people, dtype=np.int64))
    return _Paid(found.solution, found.payments * it.price_per_nat)


def _rents(it: TwoPartMechanism, paid: _Paid, c: NDArray[np.float64]) -> NDArray[np.float64]:
    """Amount by which each person's payment exceeds the cost of their losses at the given sensitivities, shape (n,); 0
    for people who are not asked for a record.
    """
    found, asked = np.zeros(c.size), paid.solution.winners
    local, central = paid.solution.epsilon_local[asked], paid.solution.epsilon_central[asked]
    found[asked] = paid.exact[asked] - it.price_per_nat * (c[asked] * local + (1.0 - c[asked]) * central)
    return found


def _best_routes(it: TwoPartMechanism, owners: Sequence[_Owner]) -> tuple[float, float]:
    """Best payment of an invented record, and best gain from a second identity. Both numbers are means over profiles of
    reports.
    """
    many = int(min(_CHOICES[1], max(_CHOICES[0], _CHOSEN // it.people)))
    reports, owner, second = owners[0]
    own, others = (_tried(it, slot, reports, many).tolist() for slot in (owner, second))
    few = owners[: max(1, min(2, _CHOSEN // it.people))]

    def left(x: float | None, y: float | None, honest: bool, profiles: Sequence[_Owner] = owners) -> float:
        """Average surplus of an owner who reports x, or the drawn report if x is None, with a second identity that
        reports y, or without one if y is None. Giving a record costs the owner privacy only if the record is true,
        which is the case for an honest first identity.
        """
        found = list[float]()
        for reports, owner, second in profiles:
            changed = reports.copy()
            changed[owner] = reports[owner] if x is None else x
            changed[second] = reports[second] if y is None else y
            made = _paid(it, changed, [owner, second])
            first = _rents(it, made, changed)[owner] if honest else made.exact[owner]
            found.append(float(first) + (0.0 if y is None else float(made.exact[second])))
        return float(np.mean(found))

    best = max(own, key=lambda x: left(x, None, False, few))
    made_up = left(best, None, False)
    y = max(others, key=lambda y: left(best, y, False, few))
    x = max(own, key=lambda x: left(x, y, False, few))
    gain = left(x, y, False) - made_up
    for true in (None, own[-1]):  # the last is hardly ever asked
        y = max(others, key=lambda y: left(true, y, True, few))
        gain = max(gain, left(true, y, True) - left(true, None, True))
    return made_up, gain


def _tried(
    it: TwoPartMechanism, slot: int, reports: NDArray[np.float64], many: int | None = None
) -> NDArray[np.float64]:
    """Reports that the person in a slot may try: a thinned selection of the reports that the beliefs can produce."""
    rule = it.rules[slot if len(it.rules) > 1 else 0]
    low, high = rule.support
    known = np.unique(np.concatenate([[low, high], reports if len(it.rules) == 1 else reports[[slot]]]))
    many = int(min(_REPORTS, max(_LEAST_REPORTS, _TRIED // it.people))) if many is None else many
    found: NDArray[np.float64] = known[np.unique(np.linspace(0, known.size - 1, many).round().astype(int))]
    return found


def _deciding(it: TwoPartMechanism, reports: NDArray[np.float64], error: float) -> tuple[int | None, float]:
    """Smallest number m of identities whose weights, at the report with the largest weight, move the mean by `error`,
    and their average payment: (m, payment).
    """
    def claimed(m: int, report: float) -> NDArray[np.float64]:
        changed = reports.copy()
        changed[:m] = report
        return changed

    def weight(m: int, report: float) -> float:
        solved = it.payment_rule.solve(it.payment_rule.virtual_costs(claimed(m, report)))
        return float(solved.weights[:m].sum())

    if len(it.rules) > 1:  # each slot has a belief of its own, and may not report what others may
        return None, math.nan
    best = max(_tried(it, 0, reports).tolist(), key=lambda report: weight(1, report))
    found = fewest(lambda m: weight(m, best) * it.width >= error, it.people, singly=1)  # it grows with m
    if found is None:
        return None, math.nan
    return found, float(_paid(it, claimed(found, best), range(found)).exact[:found].mean())


def _agreement(it: TwoPartMechanism, reports: NDArray[np.float64]) -> tuple[int | None, float]:
    """Smallest number m of people who together gain at least a coin, after the costs of their privacy losses, if one of
    them reports falsely; and that gain, as the pair (m, money).
    """
    true = _paid(it, reports)
    if not true.solution.winners.size:
        return None, math.nan
    liar = int(true.solution.winners[0])
    own, coin = _rents(it, true, reports), 1.0 / it.minor_units
    found: tuple[int | None, float] = (None, math.nan)
    for report in _tried(it, liar, reports).tolist():
        changed = reports.copy()
        changed[liar] = report
        # The liar bears the true cost whatever is reported; all others report the truth.
        gains = _rents(it, _paid(it, changed), reports) - own
        lost, others = gains[liar], np.sort(np.delete(gains, liar))[::-1]
        together = lost + np.cumsum(others)
        enough = np.flatnonzero(together >= coin)
        if enough.size and (found[0] is None or enough[0] + 2 < found[0]):
            found = int(enough[0]) + 2, float(together[enough[0]])
    return found
