"""The stop before harm: a run of a file whose rows cannot be used ends before the charge, and tells its operator why.

A release of such a file costs a whole budget and says nothing true, and its promises hold all the same: unusable rows
count as null records. So the operator's file is read once before anything is charged. The stop depends on records:
nobody else may be shown it, and her answer stands in nothing that is published. A share in the campaign file counts as
it stood at the first look at the records, since a later one may follow from them. What people have handed in one by one
never stops a settlement, nor does what their devices have drawn: others would see that it stopped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from confide.campaign.check import cell_texts, reasons
from confide.campaign.home import Home
from confide.campaign.states import State
from confide.contract.encoding import canonical, digest
from confide.contract.errors import BudgetExceeded, InvalidInput
from confide.contract.kinds import Check, LocalKind, Progress
from confide.contract.unusable import MOST_UNUSABLE

if TYPE_CHECKING:
    from confide.campaign.campaign import Campaign
    from confide.campaign.file import CampaignFile
    from confide.campaign.store import Store, Stored

__all__ = ["accepted", "check_harm", "check_study", "harm", "look", "may_stop"]

_REASONS = 12  # that a stop names


def may_stop(campaign: Campaign, store: Store | None, known: Stored | None) -> bool:
    """Whether a run would read the operator's file, with nothing charged yet.

    Args:
        campaign: that would be run.
        store: where.
        known: the campaign there.
    """
    if isinstance(campaign.file.kind, LocalKind):
        return False
    if store is None or known is None:
        return True
    if campaign.held:
        return known.state in (State.OPEN, State.CLOSED)
    return known.state is State.OPEN and not store.submitted(known.number)


def check_harm(campaign: Campaign, store: Store, progress: Progress | None) -> None:
    """Look at the operator's file before anything is charged.

    Args:
        campaign: that is run.
        store: where.
        progress: told how far the look is.

    Raises:
        InvalidInput: as `harm` says; for the operator alone.
    """
    from confide.campaign.settlement import charge_of

    known = store.find(campaign.file)
    if not may_stop(campaign, store, known):
        return
    try:
        store.check_charge(charge_of(campaign.file, campaign.plan), None if known is None else known.number)
    except BudgetExceeded:
        return  # the run is going to say so: no record is read for it
    found = harm(campaign.file, look(campaign, store.home, progress), store.home)
    if found is not None:
        raise found


def check_study(campaign: Campaign, progress: Progress | None) -> None:
    """As `check_harm`, before a study, which charges nothing.

    Args:
        campaign: that is studied.
        progress: told how far the look is.
    """
    if may_stop(campaign, None, None):
        home = campaign.home or Home.default()
        found = harm(campaign.file, look(campaign, home, progress), home)
        if found is not None:
            raise found


def look(campaign: Campaign, home: Home, progress: Progress | None) -> Check:
    """One pass over the operator's file, as the run reads it, which is noted before.

    Args:
        campaign: whose file.
        home: the installation.
        progress: told how far it is.
    """
    file = campaign.file
    accepted(file, home)
    return file.kind.check(file.config, campaign.plan, file.folder, progress)


def accepted(file: CampaignFile, home: Home) -> float:
    """The share of unusable rows that a run goes on with: what was declared before the first look at the file's
    records, or less where less is declared now.

    Args:
        file: the campaign's.
        home: the installation, which notes the first look.
    """
    said: Any = getattr(getattr(file.config, "data", None), "accept_unusable", None)
    share = MOST_UNUSABLE if said is None else float(said)
    sources = [[key, where] for key, where in file.kind.files(file.config)]
    return min(share, home.look(digest(canonical([file.budget.data_set, sources])), share))


def harm(file: CampaignFile, found: Check, home: Home) -> InvalidInput | None:
    """Why a run of the file should not go on; None where it may.

    Args:
        file: the campaign's.
        found: what `look` found.
        home: the installation.
    """
    most, lost = accepted(file, home), len(found.rejected)
    rows = found.usable + lost
    if found.own or (found.usable and lost <= most * rows):
        return None
    if not rows:
        problem = "the file has no rows"
    else:
        share = f"{100 * lost / rows:.3g} %, and up to {100 * most:.3g} % is accepted"
        problem = f"{lost:,} of {rows:,} rows cannot be used ({share}): {'; '.join(_why(found))}"
    return InvalidInput("data.source", problem, "nothing was charged. Mend the file, or go on with --accept-unusable: "
                        "then such rows count as null records. This follows from private records, and is for the "
                        "operator alone")


def _why(found: Check) -> list[str]:
    """What is wrong with cells, and with rows beside that."""
    known = {*found.cells, "no id of the public list"} if found.cells else set()
    rows = [f"{why}: {count:,} {'row' if count == 1 else 'rows'}" for why, count in reasons(found).items()
            if why.partition(": ")[0] not in known]
    told = [*cell_texts(found), *rows]
    return told if len(told) <= _REASONS else [*told[:_REASONS], f"and {len(told) - _REASONS} more reasons"]
