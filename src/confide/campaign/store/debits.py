"""The standing of accounts of the ledger; this module needs no database."""

from __future__ import annotations

from dataclasses import dataclass

from confide.contract.guarantees import Audience
from confide.privacy.filter import Filter
from confide.privacy.ledger import Account

__all__ = ["Debit", "Standing"]


@dataclass(frozen=True, kw_only=True)
class Debit:
    """One campaign's entry in an account.

    Args:
        campaign: the name of the campaign's file.
        title: the title of the campaign.
        day: the day of the debit, YYYY-MM-DD in UTC.
        cost: the cost by the account's rule, in words.
        subjects: the number of people who were debited together with the data set.
        audiences: the audiences of the promises that the debit covers; empty where they were not recorded.
    """

    campaign: str
    title: str
    day: str
    cost: str
    subjects: int
    audiences: tuple[Audience, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The budget and the spend of one account.

    Args:
        account: the account of the data set.
        filter: budget and spend of the data set, or of one subject.
        debits: the campaigns that were charged.
        subjects: the number of subjects with an account; None in the standing of one subject.
        least_left: budget and spend of the subject with the least left; None where there are no subjects.
    """

    account: Account
    filter: Filter
    debits: tuple[Debit, ...]
    subjects: int | None = None
    least_left: Filter | None = None
