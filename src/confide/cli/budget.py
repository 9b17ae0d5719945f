"""The remaining privacy budget of a data set. If the ledger does not know the data set, the budget is that of the
campaign file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import ConfigDict, Field

from confide.campaign.store.states import State
from confide.cli.options import store_if_any
from confide.contract.errors import InvalidInput, Refused
from confide.contract.presentation import Section, Table, Text
from confide.contract.words import as_sentence

if TYPE_CHECKING:
    from confide.campaign import Campaign, Store
    from confide.campaign.store.debits import Standing
    from confide.privacy.filter import Cost
    from confide.privacy.ledger import Charge

__all__ = ["Budget", "budget", "budget_section"]


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The remaining part of the data set's budget, and the part that this campaign asks for."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # it stands in `PlanOutput` as it is

    data_set: str
    asks: Annotated[str, Field(description="the amount that this campaign asks for")]
    left: Annotated[str, Field(description="the remaining budget, in words")]
    source: Annotated[Literal["ledger", "file"], Field(
        description="source of that figure: the ledger, if earlier campaigns were charged, or the campaign file's own "
                    "[budget]")]
    store: Annotated[str | None, Field(description="the ledger's database, without its password; null if the figure "
                                                   "comes from the campaign file")]
    charged: Annotated[bool, Field(description="true if this campaign is charged already: `left` is the remaining "
                                               "budget after the charge")]
    says: Annotated[str | None, Field(description="the ledger's answer to a run, if the campaign is charged or a "
                                                  "custodian holds the data")]
    another: Annotated[str | None, Field(description="the campaign before its file was changed, and the new charge of "
                                                     "a run; null if there is none")]


_FROM = {
    "ledger": "the ledger: the remaining budget after all campaigns so far",
    "file": "[budget] of the campaign file, since this ledger does not know the data set",
}


def budget(
    campaign: Campaign, url: str | None
) -> tuple[Budget, Refused | InvalidInput | None, tuple[str, ...]]:
    """The privacy budget for a campaign, the reason why the ledger would refuse the campaign, and warnings about
    charges that the ledger may not know.

    Args:
        campaign: campaign whose charge is asked for.
        url: URL of the store with the ledger; None for the installation's own store. The store need not exist yet.

    Returns:
        The budget; the reason for a refusal, or None if the account of the data set admits the campaign; and warnings
        about charges to the same people that the ledger may not know.

    Raises:
        InvalidInput: `url` is not the URL of a store, or the store cannot be used.
    """
    try:
        with store_if_any(url) as (name, there):
            return _budget(campaign, name, there)
    except InvalidInput as error:
        if error.field != "store" or not error.limit.endswith("makes one"):
            raise
    return _budget(campaign, "", None)  # the first run makes it


def _budget(
    campaign: Campaign, name: str, store: Store | None
) -> tuple[Budget, Refused | InvalidInput | None, tuple[str, ...]]:
    from confide.campaign.another import another_campaign
    from confide.campaign.charging import data_set_charge, ledger_says
    from confide.campaign.ledger_gaps import ledger_warnings
    from confide.privacy.filter import Filter, price

    asked = data_set_charge(campaign.file, campaign.plan)
    cost = price(asked.rule, asked.events, asked.delta)
    standing = None if store is None else next(
        (each for each in store.ledger(asked.account.name) if each.account == asked.account), None)
    known = None if store is None else store.find(campaign.file)
    charged = known is not None and store is not None and store.is_charged(known.number)
    asks_ledger = charged or (campaign.held and standing is not None)
    says = ledger_says(campaign.file, campaign.plan, store)[1] if asks_ledger else None
    found = Budget(
        data_set=asked.account.name, asks=str(Filter(asked.budget, asked.rule, cost).spent),
        left=Filter(asked.budget, asked.rule).left if standing is None else standing.filter.left,
        source="file" if standing is None else "ledger", store=None if standing is None else name, charged=charged,
        says=says, another=another_campaign(campaign.file, campaign.plan, store, campaign.default_folder) or None)
    refusal = None if store is None else _refusal(campaign, store, asked, cost, standing)
    return found, refusal, ledger_warnings(campaign.file, store, campaign.default_folder)


def _refusal(
    campaign: Campaign, store: Store, asked: Charge, cost: Cost, standing: Standing | None
) -> Refused | InvalidInput | None:
    """The reason why a run of the campaign would not be charged. The result is None if the run would be charged, or was
    charged already. For a campaign with participants, the function checks the account of the data set alone, because
    the reader of a plan must not learn the account of a participant.
    """
    known = store.find(campaign.file)
    if known is not None and known.state is State.CANCELLED:
        return Refused("the ledger has refused the campaign, and a spent budget stays spent")
    if known is not None and store.is_charged(known.number):
        return None
    try:
        if campaign.held:
            store.check_charge(asked)
        elif standing is not None:
            standing.filter.lowered(asked.budget, asked.rule).charged(cost, str(asked.account))
    except (Refused, InvalidInput) as error:
        return error
    return None


def budget_section(found: Budget) -> Section:
    """The budget as a section of a page."""
    asks, left = (("this campaign was charged", "left after that") if found.charged else
                  ("this campaign asks for", "left"))
    rows = [("data set", found.data_set), (asks, found.asks), (left, found.left),
            ("according to", _FROM[found.source])]
    if found.store is not None:
        rows.append(("the ledger of", found.store))
    said = [each for each in (found.says, found.another and as_sentence(found.another)) if each]
    return Section(title="Budget", blocks=(Table(columns=("what", "budget"), rows=tuple(rows)),
                                           *((Text(tuple(said)),) if said else ())))
