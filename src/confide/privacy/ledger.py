"""The ledger: a privacy filter per account. Charge before running; a charge is never returned.

An account is one data subject or data set, seen by one audience, under one neighbouring relation. Its budget, and the
rule that adds up, are fixed when it is registered. A charge that does not fit is refused before anything is touched,
and changes nothing. This one lives in memory; a campaign's is kept by its store.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Audience, Relation
from confide.privacy.events import Event
from confide.privacy.filter import Filter, Rule, price
from confide.privacy.losses import ZCDP, ApproxDP, PureDP

__all__ = ["Account", "Charge", "Ledger", "Rule", "check_relation"]

_EYES = {Audience.PUBLIC: "the public", Audience.OTHERS: "everybody else", Audience.COLLECTOR: "the collector",
         Audience.FELLOWS: "fellow participants"}


@dataclass(frozen=True, kw_only=True)
class Account:
    """The owner of a budget: a subject's or a data set's name, in the eyes of one audience, under one relation."""

    name: str
    neighbours: Relation
    audience: Audience

    def __post_init__(self) -> None:
        for field_name, kind in (("neighbours", Relation), ("audience", Audience)):
            if not isinstance(getattr(self, field_name), kind):
                raise InvalidInput(field_name, f"{getattr(self, field_name)!r} is none",
                                   f"use confide.contract.{kind.__name__}")

    def __str__(self) -> str:
        return f"{self.name} ({self.neighbours.words}, seen by {_EYES[self.audience]})"


def check_relation(event: Event, account: Account) -> None:
    """Refuse an event of another neighbouring relation than the account's."""
    if event.neighbours is not account.neighbours:
        raise InvalidInput("neighbours", f"{event.neighbours.words!r} charged to {account}",
                           "relations are converted only by proved rules")


@dataclass(frozen=True, kw_only=True)
class Charge:
    """The request of one campaign to a data set's account and to its subjects'.

    Args:
        account: the data set's.
        events: all that the campaign releases, fixed beforehand.
        delta: the delta at which concentrated events are converted, under the rule "basic".
        budget: the budget of the data set; the first campaign fixes it, later ones may lower it.
        subject_budget: the budget of each subject, in the same way, also of those who are new.
        rule: the rule by which charges add up.
        subjects: ids of all who were invited; empty where nobody is listed, so that everybody is charged.
        audiences: the audiences of the promises that it covers. There is one account for all of them: a loss towards
            some is one towards whoever sees less, too.
    """

    account: Account
    events: tuple[Event, ...]
    delta: float
    budget: PureDP | ApproxDP
    subject_budget: PureDP | ApproxDP
    rule: Rule = "basic"
    subjects: Sequence[str] = ()
    audiences: tuple[Audience, ...] = ()

    def __post_init__(self) -> None:
        for event in self.events:
            check_relation(event, self.account)
        if len(set(self.subjects)) < len(self.subjects):
            raise InvalidInput("subjects", "somebody is listed twice", "each subject is debited once")

    def entry(self) -> dict[str, Any]:
        """The entry of this charge in the campaign's chain of events."""
        return {"data_set": self.account.name, "delta": repr(self.delta),
                "events": [event.to_dict() for event in self.events]}


@dataclass
class _Entry:
    """An account's filter and its events: a charge takes the same time however many came before."""

    filter: Filter
    events: list[Event] = field(default_factory=list)


class Ledger:
    """An in-memory ledger; every method is safe under threads.

    Example:
        >>> from confide.contract import Audience, Relation
        >>> from confide.privacy import PureDP, PureEvent
        >>> survey = Account(name="survey", neighbours=Relation.REPLACE, audience=Audience.PUBLIC)
        >>> ledger = Ledger()
        >>> ledger.register(survey, PureDP(1.0))
        >>> ledger.charge(survey, PureEvent(epsilon=0.75, neighbours=Relation.REPLACE))
        >>> ledger.spent(survey)
        PureDP(epsilon=0.75)
    """

    def __init__(self) -> None:
        self._entries: dict[Account, _Entry] = {}
        self._lock = threading.Lock()

    def register(self, account: Account, budget: PureDP | ApproxDP, rule: Rule = "basic") -> None:
        """Open an account with a budget and a rule, fixed from now on. Registering it again may only lower the budget.

        Args:
            account: the account to open.
            budget: the limit.
            rule: the rule by which charges add up, "basic" or "zcdp"; see `Filter`.

        Raises:
            InvalidInput: the account exists with a smaller epsilon or delta, or with the other rule.
        """
        with self._lock:
            entry = self._entries.get(account)
            if entry is None:
                self._entries[account] = _Entry(Filter(budget, rule))
            else:
                entry.filter = entry.filter.lowered(budget, rule)

    def charge(self, account: Account, *events: Event, delta: float = 0.0) -> None:
        """Debit the events of one release, all or none, before the data is touched.

        Args:
            account: the account to debit.
            events: a list that was fixed before the release.
            delta: the delta, under the rule "basic", at which the list's concentrated events, zCDP and Gaussian, are
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
                check_relation(event, account)
            entry.filter = entry.filter.charged(price(entry.filter.rule, events, delta), str(account))
            entry.events.extend(events)

    def rule(self, account: Account) -> Rule:
        """The rule by which charges to an account add up, as it was registered.

        Raises:
            InvalidInput: unknown account.
        """
        with self._lock:
            return self._entry(account).filter.rule

    def spent(self, account: Account) -> PureDP | ZCDP | ApproxDP:
        """The loss that was debited so far, by the account's rule."""
        with self._lock:
            return self._entry(account).filter.spent

    def events(self, account: Account) -> tuple[Event, ...]:
        """The debited events, in order."""
        with self._lock:
            return tuple(self._entry(account).events)

    def _entry(self, account: Account) -> _Entry:
        try:
            return self._entries[account]
        except KeyError:
            raise InvalidInput("account", f"{account} is not registered", "register it with a budget first") from None
