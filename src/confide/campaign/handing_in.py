"""What people hand in, one by one, and everybody's side played at once."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from confide.campaign.home import released_elsewhere
from confide.campaign.settlement import charge_of
from confide.contract.errors import Refused
from confide.contract.files import write_new
from confide.contract.kinds import ContractKind, LocalKind, Progress
from confide.privacy.noise import Noise
from confide.privacy.report_book import EVERYBODY

if TYPE_CHECKING:
    from confide.campaign.campaign import Campaign
    from confide.campaign.home import Home
    from confide.campaign.store import Store

__all__ = ["hand_in", "rehearse"]


def hand_in(campaign: Campaign, identity: str, values: Mapping[str, str], store: Store | None) -> None:
    """Take one participant's record into the store: see `Campaign.hand_in`."""
    from confide.campaign.store import Store

    file, plan = campaign.file, campaign.plan
    slot, report = file.kind.submission(file.config, plan, identity, values)  # what is wrong is told before all else
    with Store() if store is None else nullcontext(store) as there:
        known = there.find(file)
        if known is None:  # nobody hands in what can never be settled
            if there.home.released(file.digest) is not None:
                raise released_elsewhere()
            asked = charge_of(file, plan)
            there.check_charge(asked)
            known = there.open(file, max(1, len(asked.subjects)))
        there.submit(known.number, slot, report)


def rehearse(
    campaign: Campaign, kind: LocalKind, target: Path, total: float | None, home: Home | None,
    progress: Progress | None,
) -> int:
    """Play everybody's side, and write what they would hand in: see `Campaign.rehearse`."""
    file = campaign.file
    if isinstance(kind, ContractKind):
        from confide.campaign.contracts import round_of

        round_of(file, home, final=True)
    write_new("out", target, "", private=False)  # before anything is drawn: a bad path must cost no level
    drawn = False

    def draw() -> int:
        nonlocal drawn
        found = kind.rehearse(file.config, campaign.plan, file.folder, Noise.secure(), progress)
        rows, text = kind.rows(file.config, found.data), io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        target.write_text(text.getvalue(), encoding="utf-8")
        drawn = True
        return len(rows)

    try:
        count = campaign.book(home).report(
            person=EVERYBODY, bit=file.budget.data_set, question=kind.question(file.config), campaign=file.digest,
            level=kind.level(campaign.plan), notion=kind.notion, total=total, draw=draw)
        if not drawn:
            raise Refused("these people were played before, and their reports written",
                          "use the file that was written")
    finally:
        if not drawn:
            target.unlink(missing_ok=True)
    return count
