"""The ledger: a privacy filter per account. Charge before running; a charge is never returned.

An account is one data subject or data set, seen by one audience, under one neighbouring relation. Its budget, and the
rule that adds up, are fixed when it is registered. A charge that does not fit is refused before anything is touched,
and changes nothing. Unlike an accountant, the rule stays valid when a spend was chosen after seeing earlier outputs: it
is a filter (spec query_release A2). Advanced, per-round and optimal composition are proved for levels that were fixed
beforehand, so no rule here uses them.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from confide.contract.checks import fraction, one_of
from confide.contract.errors import BudgetExceeded, InvalidInput
from confide.contract.guarantees import Audience, Unit
from confide.privacy.accounting.split import concentrated_epsilon
from confide.privacy.accounting.sums import counted, float_up, totals, written, written_up
from confide.privacy.events import Event
from confide.privacy.losses import ZCDP, ApproxDP, PureDP

__all__ = ["Account", "Ledger", "Rule"]


@dataclass(frozen=True, kw_only=True)
class Account:
    """Whose budget: a subject's or a data set's name, in the eyes of one audience, under one relation."""

    name: str
    neighbours: Unit
    audience: Audience

    def __post_init__(self) -> None:
        for field_name, kind in (("neighbours", Unit), ("audience", Audience)):
            if not isinstance(getattr(self, field_name), kind):
                raise InvalidInput(field_name, f"{getattr(self, field_name)!r} is none",
                                   f"use confide.contract.{kind.__name__}")

    def __str__(self) -> str:
        return f"{self.name} ({self.neighbours.value}, seen by {self.audience.value})"


Rule = Literal["basic", "zcdp"]


@dataclass(frozen=True)
class _Cost:
    """What events cost by the account's rule, exactly."""

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)
    pure: bool = True

    def __add__(self, other: _Cost) -> _Cost:
        return _Cost(self.epsilon + other.epsilon, self.delta + other.delta, self.rho + other.rho,
                     self.pure and other.pure)


@dataclass
class _Entry:
    """An account's budget, its running total, and its events: a charge takes the same time however many came before."""

    budget: PureDP | ApproxDP
    rule: Rule
    total: _Cost = field(default_factory=_Cost)
    events: list[Event] = field(default_factory=list)


class Ledger:
    """An in-memory ledger; every method is safe under threads.

    Example:
        >>> from confide.contract import Audience, Unit
        >>> from confide.privacy import PureDP, PureEvent
        >>> survey = Account(name="survey", neighbours=Unit.RECORD_REPLACED, audience=Audience.PUBLIC)
        >>> ledger = Ledger()
        >>> ledger.register(survey, PureDP(1.0))
        >>> ledger.charge(survey, PureEvent(epsilon=0.75, neighbours=Unit.RECORD_REPLACED))
        >>> ledger.spent(survey)
        PureDP(epsilon=0.75)
    """

    def __init__(self) -> None:
        self._entries: dict[Account, _Entry] = {}
        self._lock = threading.Lock()

    def register(self, account: Account, budget: PureDP | ApproxDP, rule: Rule = "basic") -> None:
        """Open an account with a budget and a rule, fixed from now on. Registering it again may only lower the budget.

        Args:
            account: whose budget.
            budget: the limit.
            rule: "basic" adds the epsilons and deltas of the charges. "zcdp" adds up concentrated privacy and converts
                once, better for many small charges; it needs a delta in the budget and admits no approximate events. As
                long as all events are pure it also admits what the sum of their epsilons does: outputs of which only
                the sum is known lose at most epsilon and add nothing to delta, the others are a zCDP filter.

        Raises:
            InvalidInput: the account exists with a smaller epsilon or delta, or with the other rule.
        """
        one_of("rule", rule, ("basic", "zcdp"))
        new = _pair(budget)
        if rule == "zcdp" and new[1] == 0:
            raise InvalidInput("budget", f"{budget} has no delta", "the rule 'zcdp' needs a delta above 0")
        with self._lock:
            entry = self._entries.get(account)
            if entry is None:
                self._entries[account] = _Entry(budget, rule)
                return
            if entry.rule != rule:
                raise InvalidInput("rule", f"{rule!r} differs from the registered {entry.rule!r}",
                                   "the rule of an account is fixed when it is opened")
            old = _pair(entry.budget)
            if new[0] > old[0] or new[1] > old[1]:
                raise InvalidInput("budget", f"{budget} exceeds the registered {entry.budget}",
                                   "a campaign may lower a budget, never raise it")
            entry.budget = budget

    def charge(self, account: Account, *events: Event, delta: float = 0.0) -> None:
        """Debit the events of one release, all or none, before the data is touched.

        Args:
            account: whose budget.
            events: a list that was fixed before the release.
            delta: under the rule "basic", the delta at which the list's concentrated events, zCDP and Gaussian, are
                turned into an epsilon.

        Raises:
            InvalidInput: unknown account, an event of another neighbouring relation, or one that the rule cannot add.
            BudgetExceeded: the events do not fit; nothing was debited.
        """
        with self._lock:
            entry = self._entry(account)
            for event in events:
                if not isinstance(event, Event):
                    raise InvalidInput("events", f"{type(event).__name__} is no event",
                                       "charge events one by one, such as PureEvent; unpack a tuple of them with *")
                if event.neighbours is not account.neighbours:
                    raise InvalidInput("neighbours", f"{event.neighbours.value!r} charged to {account}",
                                       "relations are converted only by proved rules")
            if entry.rule == "zcdp" and delta:
                raise InvalidInput("delta", f"{delta:g}", "the rule 'zcdp' converts once, at the delta of the budget")
            asked = _price(entry.rule, events, fraction("delta", delta, zero=True))
            if not _admits(entry, entry.total + asked):
                raise BudgetExceeded(str(account), _say(entry, asked), _left(entry))
            entry.total = entry.total + asked
            entry.events.extend(events)

    def spent(self, account: Account) -> PureDP | ZCDP | ApproxDP:
        """What was debited so far, by the account's rule."""
        with self._lock:
            entry = self._entry(account)
            total = entry.total
        if entry.rule == "zcdp":
            return ZCDP(float_up(total.rho))
        epsilon = written_up(total.epsilon)
        return ApproxDP(epsilon, written_up(total.delta)) if total.delta else PureDP(epsilon)

    def events(self, account: Account) -> tuple[Event, ...]:
        """The debited events, in order."""
        with self._lock:
            return tuple(self._entry(account).events)

    def _entry(self, account: Account) -> _Entry:
        try:
            return self._entries[account]
        except KeyError:
            raise InvalidInput("account", f"{account} is not registered", "register it with a budget first") from None


def _price(rule: Rule, events: tuple[Event, ...], delta: float) -> _Cost:
    """What one fixed list of events costs by a rule."""
    sums = totals(counted(events))
    if rule == "zcdp":
        if sums.rho is None:
            raise InvalidInput("events", "an approximate event has no zCDP cost",
                               "charge it to an account with the rule 'basic'")
        return _Cost(sums.pure, Fraction(0), sums.rho, pure=sums.concentrated == 0)
    epsilon, spent = sums.pure + sums.approx, sums.delta
    if sums.concentrated:
        converted = concentrated_epsilon(sums, delta)
        if not math.isfinite(converted):
            raise InvalidInput("delta", f"{delta:g}", "concentrated events have an epsilon only at a delta above 0")
        epsilon, spent = epsilon + Fraction(converted), spent + written(delta)
    return _Cost(epsilon, spent, Fraction(0))


def _pair(budget: PureDP | ApproxDP) -> tuple[Fraction, Fraction]:
    if not isinstance(budget, PureDP | ApproxDP):
        raise InvalidInput("budget", f"{type(budget).__name__} is no budget", "must be PureDP or ApproxDP")
    if budget.vacuous:
        raise InvalidInput("budget", f"{budget} is unlimited", "must be finite")
    return written(budget.epsilon), written(budget.delta if isinstance(budget, ApproxDP) else 0.0)


def _admits(entry: _Entry, total: _Cost) -> bool:
    epsilon, delta = _pair(entry.budget)
    if entry.rule == "basic":
        return total.epsilon <= epsilon and total.delta <= delta
    if total.pure and total.epsilon <= epsilon:
        return True
    return Fraction(ZCDP(float_up(total.rho)).delta_at(entry.budget.epsilon)) <= delta


def _say(entry: _Entry, charge: _Cost) -> str:
    if entry.rule == "zcdp":
        return f"rho {float(charge.rho):.6g}"
    return f"epsilon {float(charge.epsilon):.6g}" + (f", delta {float(charge.delta):.3g}" if charge.delta else "")


def _left(entry: _Entry) -> str:
    total = entry.total
    epsilon, delta = _pair(entry.budget)
    if entry.rule == "zcdp":
        allowed = ZCDP.within(float(epsilon), float(delta)).rho
        left = max(0.0, allowed - float(total.rho))
        return f"rho {left:.6g} of {allowed:.6g} (epsilon {float(epsilon):g} at delta {float(delta):g})"
    text = f"epsilon {float(max(Fraction(0), epsilon - total.epsilon)):.6g} of {float(epsilon):g}"
    if delta:
        text += f", delta {float(max(Fraction(0), delta - total.delta)):.3g} of {float(delta):g}"
    return text
