"""A check for a campaign file that was changed after its settlement. The changed file counts as another campaign, even
if only one word of its title was changed. A run of the changed file would charge the same data again.

Before the command line charges a ledger, it looks for an earlier campaign that the user may have meant. An earlier
campaign is found if its pack lies in the folder into which the new outcome would go. An earlier campaign is also found
if it was charged to the same data set, and has the same title or a campaign file of the same name. The check reads
public data alone: campaign files, packs, and the ledger's list of debits.
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
    """An earlier, charged campaign that resembles the campaign of a given file.

    Args:
        known: the earlier campaign, in the form in which the store records campaigns.
        how: the resemblance. "folder": the pack of the earlier campaign lies in a folder for the new outcome. "title":
            both campaigns have the same data set and the same title. "name": both campaigns have the same data set, and
            campaign files of the same name.
        folder: the folder that holds the pack of the earlier campaign; set only if `how` is "folder".
        same_file: whether the earlier campaign's file had the same name as the given file; set only if `how` is
            "folder".
    """

    known: Stored
    how: Literal["folder", "title", "name"]
    folder: Path = Path()
    same_file: bool = False

    def __str__(self) -> str:
        """The resemblance, as a clause that begins with "which was"; the clause is a part of a message."""
        if self.how == "folder":
            return f"which was settled{' from this file' * self.same_file} into {_shown(self.folder)}"
        both = {"title": "of the same title", "name": "from a file of the same name"}[self.how]
        return f"which was charged to the same data set, {both}"


def another_campaign(file: CampaignFile, plan: CampaignPlan, store: Store | None, *folders: Path) -> str:
    """A warning that a run of the file would be a new campaign, although the file resembles the file of an earlier
    campaign. The warning names the charge.

    Args:
        file: the file that would be run.
        plan: the plan of the file's campaign.
        store: the store whose ledger would be charged; None if there is no store yet.
        folders: the folders that may hold an earlier pack: the folder chosen for the outcome, and the default one. The
            folders of earlier packs need not exist.

    Returns:
        The warning; empty if no earlier campaign is found, or if the ledger has charged the campaign of this file
        already.
    """
    found = earlier_campaign(file, store, *folders)
    if found is None:
        return ""
    return (f"this file differs from campaign {found.known.number}, {found}; a run of this file is another campaign, "
            f"and charges a further {cost_of(file, plan)}")


def check_meant(file: CampaignFile, plan: CampaignPlan, store: Store, *folders: Path) -> None:
    """Check that a run would not charge data twice by mistake. A warning of `another_campaign` stops the run.

    Raises:
        Refused: `another_campaign` returns a warning, and the ledger would admit the charge.
        BudgetExceeded: `another_campaign` returns a warning, and the ledger would not admit the charge.
    """
    found = another_campaign(file, plan, store, *folders)
    if found:
        store.check_charge(charge_of(file, plan))
        raise Refused(found, "if you want another campaign, use --another-campaign; if not, restore the settled file, "
                             "which is campaign.toml in its pack")


def earlier_campaign(file: CampaignFile, store: Store | None, *folders: Path) -> Earlier | None:
    """The latest charged campaign that the user of the file may have meant.

    Args:
        file: the file that would be run.
        store: the store whose ledger would be charged; None if there is no store yet.
        folders: the folders that may hold an earlier pack: the folder chosen for the outcome, and the default one. The
            folders of earlier packs need not exist.

    Returns:
        The earlier campaign. The result is None if there is no such campaign, or if the ledger has charged the campaign
        of this file already, so that a run would charge nothing more.
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
    """Digest of the campaign file whose pack lies in a folder; None where the folder has no readable note of a pack."""
    try:
        note, _ = read_json("out", folder / NOTE)
    except InvalidInput:
        return None
    found = note.get("content") if isinstance(note, dict) else None
    return found if isinstance(found, str) else None


def _shown(folder: Path) -> str:
    """Path of a folder for a message: a relative path if the folder lies below the working directory, otherwise the
    path as it was given.
    """
    try:
        near = os.path.relpath(folder)
    except (OSError, ValueError):  # the working directory is gone
        return str(folder)
    return str(folder) if near.startswith("..") else near
