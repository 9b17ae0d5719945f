"""The standing (budget, spend and debits) of the accounts of the ledger. The module needs no database."""

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
        campaign: the name of the campaign file, without its ending.
        title: the title of the campaign.
        day: the day of the debit, YYYY-MM-DD in UTC.
        cost: the cost by the account's rule, in words.
        subjects: the number of listed people who were debited together with the data set; 0 if the campaign had no
            list, so that everybody was debited.
        audiences: the audiences of the promises that the debit covers; empty if the audiences were not recorded.
    """

    campaign: str
    title: str
    day: str
    cost: str
    subjects: int
    audiences: tuple[Audience, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The budget and the spend of a data set or of one of its subjects, with the debits of the data set.

    Args:
        account: the account of the data set: its name, its neighbouring relation, and an audience.
        filter: the budget and the spend of the data set, or of one subject.
        debits: the entries of all campaigns that were charged to the data set.
        subjects: the number of subjects of the data set with an account; None in the standing of one subject.
        least_left: the budget and the spend of the subject with the smallest remaining fraction of their budget; None
            if there are no subjects.
    """

    account: Account
    filter: Filter
    debits: tuple[Debit, ...]
    subjects: int | None = None
    least_left: Filter | None = None
