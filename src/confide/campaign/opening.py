"""Opening a collection into which people hand in one by one.

Where their own devices draw what they hand in, each report is a release to who collects it, whatever becomes of the
campaign. So the ledger is charged when such a collection is opened, in the same transaction, for all invited slots; a
campaign that is never settled keeps its debit. Where contracts come first, nothing is drawn before they are final, and
the final round is charged; all other records are seen by whoever is trusted with them, and the settlement is charged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from confide.campaign.charging import charge_of, cost_of
from confide.campaign.file import Planned
from confide.campaign.own_runs import charged_code
from confide.contract.kinds import ContractKind, Kind, LocalKind

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from confide.campaign.store import Store, Stored

__all__ = ["When", "charged_at", "open_collection", "opening_says"]

When = Literal["opening", "final round", "settlement"]
"""What the ledger is charged with."""


def charged_at(kind: Kind) -> When:
    """With what the ledger is charged where a campaign's collection is opened for people who hand in one by one.

    Args:
        kind: of the campaign.

    Example:
        >>> from confide.contract.kinds import kind
        >>> [charged_at(kind(name)) for name in ("bits", "mean", "regression")]
        ['opening', 'final round', 'settlement']
    """
    if isinstance(kind, ContractKind):
        return "final round"
    return "opening" if isinstance(kind, LocalKind) else "settlement"


def opening_says(campaign: Planned) -> str:
    """What opening a collection charges, or that it charges nothing yet, in words.

    Args:
        campaign: what would be opened.
    """
    file = campaign.file
    when, cost = charged_at(file.kind), cost_of(file, campaign.plan)
    people = len(file.kind.identities(file.config))
    whom = f"all {people:,} invited people of {file.budget.data_set!r}" if people else f"{file.budget.data_set!r}"
    if when == "opening":
        return (f"Opening charges the ledger {cost} for {whom}, whoever of them reports: each report that a device "
                "draws is seen by who collects it. Nothing gives it back, even if the campaign is never settled. Its "
                "settlement charges nothing more.")
    return (f"Opening charges nothing: the {when} charges the ledger {cost} for {whom}, and nothing is set aside for "
            "it until then.")


def open_collection(
    campaign: Planned, store: Store, also: Callable[[Connection, Stored], None] | None = None
) -> Stored:
    """Open a campaign's collection, and charge the ledger where reports are drawn before they come in; once.

    Args:
        campaign: what is opened.
        store: where.
        also: done in the same transaction, told the campaign as it stands.

    Raises:
        BudgetExceeded: the ledger does not admit it; nothing was opened.
        Refused: it is there, and was not charged when it was opened.
    """
    file, plan = campaign.file, campaign.plan
    asked, early = charge_of(file, plan), charged_at(file.kind) == "opening"
    if not early:
        store.check_charge(asked)
    code = charged_code(file, plan) if early else ""
    known = store.open(file, max(1, len(asked.subjects)), charge=asked if early else None, also=also)
    if code:
        store.home.charge(file.digest, code)
    return known
