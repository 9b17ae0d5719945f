"""A campaign file with its kind and its plan: all that a step of a campaign's life is told of it.

Steps take a `Planned`, and the store and the installation where they need one. `confide.campaign.Campaign` is built
on them, and none of them knows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confide.campaign.file import CampaignFile
from confide.contract.errors import InvalidInput
from confide.contract.kinds import CampaignPlan, Kind, PayoutTerms
from confide.tables.roster import Roster

__all__ = ["Planned", "default_folder", "slot_of"]


@dataclass(frozen=True, eq=False, repr=False)
class Planned:
    """A campaign that was planned.

    Args:
        file: the validated campaign file.
        kind: what its records, results and pages are; the file's own.
        plan: what the kind plans of it.
    """

    file: CampaignFile
    kind: Kind
    plan: CampaignPlan

    def __repr__(self) -> str:
        return f"<plan of {self.file.title!r}, {self.kind.name}, of {self.file.path}>"

    @property
    def held(self) -> bool:
        """Whether a custodian holds the records: nobody is invited, and nobody has a share."""
        return self.kind.codec(self.plan) is None

    @property
    def ids(self) -> Sequence[str]:
        """The public list of who is invited; empty where a custodian holds the records."""
        return self.kind.identities(self.file.config)

    @property
    def terms(self) -> PayoutTerms:
        """How its shares become money.

        Raises:
            InvalidInput: it pays nothing.
        """
        found = self.kind.payouts(self.plan)
        if found is None:
            raise InvalidInput("campaign", f"a campaign of kind {self.kind.name} pays nothing")
        return found

    def record(self, identity: str) -> tuple[Any, int]:
        """A participant's record and index, as the file that the campaign names has them.

        Args:
            identity: her id.
        """
        return self.kind.record(self.file.config, self.plan, self.file.folder, identity)


def slot_of(file: CampaignFile, identity: str) -> int:
    """The rank of an id in the public list of ids, from 0.

    Args:
        file: the campaign.
        identity: the id.

    Raises:
        InvalidInput: it is not on the list, or there is none.
    """
    ids = file.kind.identities(file.config)
    if not ids:
        raise InvalidInput("id", f"{identity!r} is on no list", "the custodian of the data has the records")
    return Roster.from_ids(ids).rank(identity)


def default_folder(file: CampaignFile) -> Path:
    """Where the pack of a campaign goes if nobody says otherwise: `out/NAME` beside the campaign file."""
    return file.folder / "out" / file.name
