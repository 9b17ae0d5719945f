"""How accounts of the ledger stand: what is known of them without a database."""

from __future__ import annotations

from dataclasses import dataclass

from confide.contract.guarantees import Audience
from confide.privacy.filter import Filter
from confide.privacy.ledger import Account

__all__ = ["Debit", "Standing"]


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
