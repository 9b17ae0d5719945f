"""The ledger: one privacy filter for each account. A release is charged before it runs, and a charge is never returned.

An account is for one data subject or data set, one audience, and one neighbouring relation. The budget of an account,
and the rule that adds up charges, are fixed when the account is registered. A charge that exceeds the budget is refused
before any data are touched, and changes nothing. The class `Ledger` is kept in memory; the ledger of a campaign is kept
by the campaign's store.
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
    """The owner of a privacy budget: the name of a data subject or data set, for one audience and one neighbouring
    relation.
    """

    name: str
    neighbours: Relation
    audience: Audience

    def __post_init__(self) -> None:
        for field_name, kind, example in (("neighbours", Relation, "Relation.REPLACE"),
                                          ("audience", Audience, "Audience.PUBLIC")):
            if not isinstance(getattr(self, field_name), kind):
                raise InvalidInput(field_name, f"{getattr(self, field_name)!r} is not one of {kind.__name__}",
                                   f"must be one of confide.contract.{kind.__name__}, such as {example}")

    def __str__(self) -> str:
        return f"{self.name} ({self.neighbours.words}, seen by {_EYES[self.audience]})"


def check_relation(event: Event, account: Account) -> None:
    """Refuse an event whose neighbouring relation differs from the relation of the account."""
    if event.neighbours is not account.neighbours:
        raise InvalidInput("neighbours", f"an event for {event.neighbours.words!r} is charged to {account}",
                           "must be those of the account: a loss for other neighbours needs a proved rule")


@dataclass(frozen=True, kw_only=True)
class Charge:
    """The request of one campaign to charge a data set's account and the accounts of the data set's subjects.

    Args:
        account: the account of the data set.
        events: the events of all releases of the campaign. The list is fixed before the first release.
        delta: under the rule "basic", the delta at which concentrated events, zCDP and Gaussian, are converted to an
            epsilon.
        budget: the budget of the data set, which the first campaign fixes and later campaigns may only lower.
        subject_budget: the budget of each subject, new subjects included, which the first campaign fixes and later
            campaigns may only lower.
        rule: the rule by which charges add up.
        subjects: ids of all invited subjects. If `subjects` is empty, no list of subjects is known, and every subject
            of the data set is charged.
        audiences: the audiences whose promises the charge covers. All audiences share one account, because a loss
            towards one audience is also a loss towards every audience that sees less.
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
            raise InvalidInput("subjects", "a person is listed twice", "list each person once")

    def entry(self) -> dict[str, Any]:
        """The entry that records this charge in the log of the campaign, whose entries are chained by hashes."""
        return {"data_set": self.account.name, "delta": repr(self.delta),
                "events": [event.to_dict() for event in self.events]}


@dataclass
class _Entry:
    """The filter and the events of an account. The filter holds the running total, so the time of a charge does not
    depend on the number of earlier charges.
    """

    filter: Filter
    events: list[Event] = field(default_factory=list)


class Ledger:
    """An in-memory ledger whose methods are all thread-safe.

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
        """Open an account with a fixed budget and rule. Registering an open account again may only lower its budget.

        Args:
            account: the account to open.
            budget: the largest loss that may be charged to the account.
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
        """Charge the events of one release to an account, all or none, before the data are touched.

        Args:
            account: the account to charge.
            events: a list that was fixed before the release.
            delta: under the rule "basic", the delta at which the concentrated events of the list, zCDP and Gaussian,
                are converted to an epsilon.

        Raises:
            InvalidInput: unknown account, an event of another neighbouring relation, or an event that the rule cannot
                add.
            BudgetExceeded: the events exceed the budget; nothing is charged.
        """
        with self._lock:
            entry = self._entry(account)
            for event in events:
                if not isinstance(event, Event):
                    raise InvalidInput("events", f"{type(event).__name__} is not an event",
                                       "charge events one by one, such as PureEvent; unpack a tuple of them with *")
                check_relation(event, account)
            entry.filter = entry.filter.charged(price(entry.filter.rule, events, delta), str(account))
            entry.events.extend(events)

    def rule(self, account: Account) -> Rule:
        """The rule by which charges to an account add up, fixed when the account was registered.

        Raises:
            InvalidInput: unknown account.
        """
        with self._lock:
            return self._entry(account).filter.rule

    def spent(self, account: Account) -> PureDP | ZCDP | ApproxDP:
        """The loss charged to an account so far, by the account's rule."""
        with self._lock:
            return self._entry(account).filter.spent

    def events(self, account: Account) -> tuple[Event, ...]:
        """The events charged to an account, in order."""
        with self._lock:
            return tuple(self._entry(account).events)

    def _entry(self, account: Account) -> _Entry:
        try:
            return self._entries[account]
        except KeyError:
            raise InvalidInput("account", f"{account} is not registered", "register it with a budget first") from None
