"""What a campaign asks of the ledger, and how accounts stand: what is known of them without a database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Audience
from confide.privacy.events import Event
from confide.privacy.filter import Filter, Rule
from confide.privacy.ledger import Account, check_relation
from confide.privacy.losses import ApproxDP, PureDP

__all__ = ["Charge", "Debit", "Standing"]


@dataclass(frozen=True, kw_only=True)
class Charge:
    """What one campaign asks of a data set's account and of its subjects'.

    Args:
        account: the data set's.
        events: all that the campaign releases, fixed beforehand.
        delta: at which concentrated events are converted, under the rule "basic".
        budget: of the data set; the first campaign fixes it, later ones may lower it.
        subject_budget: of each subject, in the same way, also of those who are new.
        rule: how charges add up.
        subjects: ids of all who were invited; empty where nobody is listed, so that everybody is charged.
        audiences: to whom the promises are made that it covers. There is one account for all of them: a loss towards
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
        """What the campaign's chain of events says of it."""
        return {"data_set": self.account.name, "delta": repr(self.delta),
                "events": [event.to_dict() for event in self.events]}


@dataclass(frozen=True, kw_only=True)
class Debit:
    """One campaign's entry.

    Args:
        campaign: its file's name.
        title: its title.
        day: when it was debited, YYYY-MM-DD in UTC.
        cost: by the account's rule, in words.
        subjects: how many people were debited with the data set.
        audiences: to whom the promises are made that it covers; empty where that was not recorded.
    """

    campaign: str
    title: str
    day: str
    cost: str
    subjects: int
    audiences: tuple[Audience, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How one account stands.

    Args:
        account: the data set's.
        filter: budget and spend of the data set, or of the subject.
        debits: the campaigns that were charged.
        subjects: how many subjects have an account; None in a subject's own standing.
        least_left: budget and spend of the subject with the least left; None where there are no subjects.
    """

    account: Account
    filter: Filter
    debits: tuple[Debit, ...]
    subjects: int | None = None
    least_left: Filter | None = None
