"""A check for a file that was changed after it was settled, and so is another campaign that would charge the same data
anew.

A word of the title is enough to make it one. So the command line, before it charges a ledger, looks for an earlier
campaign that the file may have been: its pack lies in the folder where this one's would go, or the same data set was
charged for one of the same title, or of a file of the same name. All of this is public: files of campaigns, packs, the
ledger's list of debits.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from confide.campaign.charging import charge_of, cost_of
from confide.campaign.file import CampaignFile
from confide.campaign.pack import NOTE
from confide.contract.errors import InvalidInput, Refused
from confide.contract.files import read_json
from confide.contract.kinds import CampaignPlan

if TYPE_CHECKING:
    from confide.campaign.store.store import Store
    from confide.campaign.store.transactions import Stored

__all__ = ["Earlier", "another_campaign", "check_meant", "earlier_campaign"]


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """A charged campaign that a file looks like, and is not.

    Args:
        known: the campaign, as the store knows it.
        how: the common points: its pack lies in a folder of this one's, or they share a data set and a title, or a data
            set and the name of their files.
        folder: the folder in which its pack lies, if it is that.
        same_file: whether the file that was settled had this one's name.
    """

    known: Stored
    how: Literal["folder", "title", "name"]
    folder: Path = Path()
    same_file: bool = False

    def __str__(self) -> str:
        """What it was, as a clause."""
        if self.how == "folder":
            return f"which was settled{' from it' * self.same_file} into {_shown(self.folder)}"
        both = {"title": "of the same title", "name": "from a file of the same name"}[self.how]
        return f"which was charged to the same data set, {both}"


def another_campaign(file: CampaignFile, plan: CampaignPlan, store: Store | None, *folders: Path) -> str:
    """Warn that a run of the file would be another campaign than an earlier one, and name its charge; empty where there
    is none, or where the file's own campaign is charged already.

    Args:
        file: the file that would be run.
        plan: the plan.
        store: the store whose ledger would be charged; None where there is none yet.
        folders: the folders into which its outcome would go, and go by default; they need not be there.
    """
    found = earlier_campaign(file, store, *folders)
    if found is None:
        return ""
    return (f"this file differs from campaign {found.known.number}, {found}; running it is another campaign and "
            f"charges {cost_of(file, plan)} anew")


def check_meant(file: CampaignFile, plan: CampaignPlan, store: Store, *folders: Path) -> None:
    """Check that a run would charge no data anew by a slip: a finding of `another_campaign` has to be meant.

    Raises:
        Refused: it finds something.
        BudgetExceeded: the same, and the ledger would not admit it, either.
    """
    found = another_campaign(file, plan, store, *folders)
    if found:
        store.check_charge(charge_of(file, plan))
        raise Refused(found, "if that is meant, say --another-campaign; if not, put back the file that was settled, "
                      "campaign.toml in its pack")


def earlier_campaign(file: CampaignFile, store: Store | None, *folders: Path) -> Earlier | None:
    """The latest charged campaign that the file may have been meant to be; None where there is none, or where the
    file's own campaign is charged already: then a run charges nothing anew.

    Args:
        file: the file that would be run.
        store: the store whose ledger would be charged; None where there is none yet.
        folders: the folders into which its outcome would go, and go by default; they need not be there.
    """
    if store is None:
        return None
    own = store.find(file)
    if own is not None and store.is_charged(own.number):
        return None
    numbers = store.charged()
    charged = [each for each in store.campaigns() if each.number in numbers]
    for folder in folders:
        content = _content(folder)
        for known in charged:
            if known.content == content:
                return Earlier(known=known, how="folder", folder=folder, same_file=known.name == file.name)
    spent = store.charged(file.budget.data_set)
    alike = [each for each in reversed(charged) if each.number in spent]
    for known in alike:
        if known.title == file.title:
            return Earlier(known=known, how="title")
    for known in alike:
        if known.name == file.name:
            return Earlier(known=known, how="name")
    return None


def _content(folder: Path) -> str | None:
    """Whose pack a folder holds: the digest of what the campaign's file says. None where nothing says so."""
    try:
        note, _ = read_json("out", folder / NOTE)
    except InvalidInput:
        return None
    found = note.get("content") if isinstance(note, dict) else None
    return found if isinstance(found, str) else None


def _shown(folder: Path) -> str:
    """A folder as somebody in the working directory would name it."""
    try:
        near = os.path.relpath(folder)
    except (OSError, ValueError):  # the working directory is gone
        return str(folder)
    return str(folder) if near.startswith("..") else near
