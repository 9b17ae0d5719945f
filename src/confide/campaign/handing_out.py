"""The operator's list of who is to be handed what: of kinds that hand out goods, private like the shares it is made of.

Where goods are paid out as money the queue of payouts does this. The list is made from what was settled, not from a
file of records that may have changed; who withdrew is not on it. It follows from shares, so it lies outside of packs,
and its owner alone may read it.
"""

from __future__ import annotations

import os
from pathlib import Path

from confide.campaign.file import Planned
from confide.campaign.pack import as_csv
from confide.contract.errors import InvalidInput, Refused
from confide.contract.files import as_path, check_unpublished, write_new
from confide.contract.kinds import HandingKind
from confide.contract.outcome import Outcome

__all__ = ["check_handout", "hand_out"]


def check_handout(campaign: Planned, path: str | os.PathLike[str], folder: Path | None = None) -> Path:
    """Whether a list could be written there: asked before a run is charged.

    Args:
        campaign: of a kind that hands out goods.
        path: a new file.
        folder: where the pack will lie.

    Raises:
        Refused: the kind hands out nothing.
        InvalidInput: something is there, or it is no place for a private file.
    """
    kind, target = campaign.file.kind, as_path("handout", path)
    if not isinstance(kind, HandingKind):
        raise Refused(f"a campaign of the kind {kind.name!r} hands out no goods",
                      "`confide payouts` has what is paid, `confide share` what one person gets")
    check_unpublished("handout", target)
    if folder is not None and folder.absolute() in target.absolute().parents:
        raise InvalidInput("handout", f"{folder} will be a pack, which is public, and the file is private",
                           "choose another folder")
    if target.exists():
        raise InvalidInput("handout", f"{target} exists", "choose another file with --handout")
    if not target.absolute().parent.is_dir():
        raise InvalidInput("handout", f"{target.absolute().parent} is not a folder", "make it before the run")
    return target


def hand_out(campaign: Planned, path: str | os.PathLike[str], outcome: Outcome) -> Path:
    """Write who is handed what, a line for each copy of a good.

    Args:
        campaign: of a kind that hands out goods.
        path: a new CSV file; its owner alone may read it.
        outcome: as it was settled: `campaign.settle().outcome`, or `campaign.settled()`.

    Raises:
        Refused: the kind hands out nothing.
        InvalidInput: something is there, or it is no place for a private file.
    """
    target, kind = check_handout(campaign, path), campaign.file.kind
    if isinstance(kind, HandingKind):
        table = kind.handout(campaign.plan, outcome, kind.identities(campaign.file.config))
        write_new("handout", target, as_csv(table), private=True, taken="choose another file with --handout")
    return target
