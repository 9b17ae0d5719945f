"""The ledger: a privacy filter per account. Charge before running; a charge is never returned.

An account is one data subject or data set, seen by one audience, under one neighbouring relation. Its budget is fixed
when it is registered. A charge that does not fit is refused before anything is touched, and changes nothing. Unlike an
accountant, the rule stays valid when a spend was chosen after seeing earlier outputs (a filter; spec query_release A2).
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from fractions import Fraction

from confide.contract.errors import BudgetExceeded, InvalidInput
from confide.contract.guarantees import Audience, Unit
from confide.privacy.accounting import Totals, float_up, totals
from confide.privacy.events import Event
from confide.privacy.losses import ZCDP, ApproxDP, PureDP

__all__ = ["Account", "Ledger"]


@dataclass(frozen=True, kw_only=True)
class Account:
    """Whose budget: a subject's or a data set's name, in the eyes of one audience, under one relation."""

    name: str
    neighbours: Unit
    audience: Audience

    def __str__(self) -> str:
        return f"{self.name} ({self.neighbours.value}, seen by {self.audience.value})"


@dataclass
class _Entry:
    budget: PureDP | ApproxDP
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

    def register(self, account: Account, budget: PureDP | ApproxDP) -> None:
        """Open an account with a budget that is fixed from now on. Registering it again may only lower the budget.

        Raises:
            InvalidInput: the account exists with a smaller epsilon or delta.
        """
        with self._lock:
            entry = self._entries.get(account)
            if entry is None:
                self._entries[account] = _Entry(budget)
                return
            old = _pair(entry.budget)
            new = _pair(budget)
            if new[0] > old[0] or new[1] > old[1]:
                raise InvalidInput("budget", f"{budget} exceeds the registered {entry.budget}",
                                   "a campaign may lower a budget, never raise it")
            entry.budget = budget

    def charge(self, account: Account, *events: Event) -> None:
        """Debit events, all or none, before the data is touched.

        Raises:
            InvalidInput: unknown account, or an event of another neighbouring relation.
            BudgetExceeded: the events do not fit; nothing was debited.
        """
        with self._lock:
            entry = self._entry(account)
            for event in events:
                if event.neighbours is not account.neighbours:
                    raise InvalidInput("neighbours", f"{event.neighbours.value!r} charged to {account}",
                                       "relations are converted only by proved rules")
            if not _admits(entry.budget, totals([*entry.events, *events])):
                raise BudgetExceeded(str(account), _say(totals(events)), self._remaining_text(entry))
            entry.events.extend(events)

    def spent(self, account: Account) -> PureDP | ZCDP | ApproxDP:
        """What was debited so far, in the tightest single notion that all events share."""
        with self._lock:
            sums = totals(self._entry(account).events)
        if sums.epsilon is not None:
            epsilon = float_up(sums.epsilon)
            return ApproxDP(epsilon, float_up(sums.delta)) if sums.delta else PureDP(epsilon)
        if sums.rho is not None:
            return ZCDP(float_up(sums.rho))
        raise InvalidInput("account", f"{account} holds zCDP and approximate events", "no single notion covers both")

    def events(self, account: Account) -> tuple[Event, ...]:
        """The debited events, in order."""
        with self._lock:
            return tuple(self._entry(account).events)

    def _entry(self, account: Account) -> _Entry:
        try:
            return self._entries[account]
        except KeyError:
            raise InvalidInput("account", f"{account} is not registered", "register it with a budget first") from None

    @staticmethod
    def _remaining_text(entry: _Entry) -> str:
        sums = totals(entry.events)
        epsilon, delta = _pair(entry.budget)
        if sums.epsilon is not None:
            left = max(Fraction(0), epsilon - sums.epsilon)
            return f"epsilon {float(left):.6g} of {float(epsilon):g}"
        return f"{_say(sums)} is spent of epsilon {float(epsilon):g}, delta {float(delta):g}"


def _pair(budget: PureDP | ApproxDP) -> tuple[Fraction, Fraction]:
    if budget.vacuous:
        raise InvalidInput("budget", f"{budget} is unlimited", "must be finite")
    return Fraction(budget.epsilon), Fraction(budget.delta if isinstance(budget, ApproxDP) else 0)


def _admits(budget: PureDP | ApproxDP, sums: Totals) -> bool:
    epsilon, delta = _pair(budget)
    if sums.epsilon is not None and sums.epsilon <= epsilon and sums.delta <= delta:
        return True
    return sums.rho is not None and Fraction(ZCDP(float_up(sums.rho)).delta_at(float(epsilon))) <= delta


def _say(sums: Totals) -> str:
    parts = []
    if sums.epsilon is not None:
        parts.append(f"epsilon {float(sums.epsilon):.6g}")
        if sums.delta:
            parts.append(f"delta {float(sums.delta):.3g}")
    elif sums.rho is not None:
        parts.append(f"rho {float(sums.rho):.6g}")
    return ", ".join(parts) or "these events"
