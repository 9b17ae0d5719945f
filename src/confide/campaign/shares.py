"""The share of one participant of a settled campaign, the withdrawal of a record, and the list of handed-out goods.

The list of goods is for the operators of kinds that hand out goods. Kinds that pay money have a queue of payouts in
place of a list of goods. The list of handed-out goods follows from the settled outcome, since the file of records may
have changed. People who withdrew are not in the list. The list of goods follows from shares, so it must lie outside of
packs, and only its owner may read it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confide.campaign.contracts import read_contract
from confide.campaign.file import Planned, slot_of
from confide.campaign.pack import as_csv
from confide.campaign.pages import withdrawn_section
from confide.campaign.store.home import Home
from confide.campaign.store.states import unknown
from confide.campaign.stored import existing, stored_outcome
from confide.contract.errors import InvalidInput, Refused
from confide.contract.files import as_path, check_unpublished, write_new
from confide.contract.kinds import ContractKind, HandingKind
from confide.contract.outcome import Outcome, PublicOutcome
from confide.contract.presentation import Section

if TYPE_CHECKING:
    from confide.campaign.store import Store

__all__ = ["check_handout", "hand_out", "own_file", "parsed", "stored_share", "withdraw"]


def stored_share(campaign: Planned, identity: str, store: Store | None = None) -> Sequence[Section]:
    """A participant's stored share, explained with their record from the file that the campaign names.

    Args:
        campaign: the settled campaign.
        identity: the participant's id.
        store: the store in which the campaign was settled; default the store of `Home.default()`.

    Raises:
        Refused: the campaign was not settled in this store, or the shares were erased because everybody is paid.
    """
    file, kind, plan = campaign.file, campaign.kind, campaign.plan
    with existing(file) if store is None else nullcontext(store) as there:
        known = there.settled(file)
        if campaign.held:  # the same for every id: whose record the custodian holds must not show
            outcome = stored_outcome(file, there)
            return kind.explain(plan, outcome, *campaign.record(identity))
        slot, gone = slot_of(file, identity), there.withdrawn(known.number)
        if known.paid is not None:
            raise Refused("everybody is paid, and the shares were erased",
                          "the public files and the participant's own record (--record) still give their share")
        outcome, left = stored_outcome(file, there), there.deposits(known.number)
    if slot in gone:
        terms = kind.payouts(plan)
        back = None
        if terms is not None and terms.deposit:
            back = terms.money(terms.deposit) if (gone[slot] if left is None else slot in left) else ""
        return [withdrawn_section(identity, back, pays=terms is not None)]
    return kind.explain(plan, outcome, *campaign.record(identity))


def parsed(campaign: Planned, identity: str, record: Mapping[str, str]) -> tuple[Any, int]:
    """A participant's record and index, from the values that the participant gives. In a campaign with a public list of
    ids, the index is the position of the participant's id in the list, counted from 0.

    Args:
        campaign: the planned campaign.
        identity: the participant's id.
        record: mapping from the name of a column to the participant's value, as text.

    Raises:
        InvalidInput: the values are no record of this campaign, or the participant's contract is not valid.
    """
    file, kind = campaign.file, campaign.kind
    if not isinstance(record, Mapping):
        raise InvalidInput("record", f"{type(record).__name__} is not a record", "pass a mapping of column to value")
    if isinstance(kind, ContractKind) and "contract" in record:
        read_contract(file, kind.identity(file.config, identity), record["contract"])
    return kind.parse_record(file.config, campaign.plan, identity, record)


def own_file(campaign: Planned, identity: str, record: Mapping[str, str], shown: PublicOutcome) -> dict[str, Any]:
    """The contents of one file with a participant's record and share: see `Campaign.own_file`."""
    own_record, index = parsed(campaign, identity, record)
    return {"format": 1, "content": campaign.file.digest, "id": identity, "index": index, "record": dict(record),
            "share": dict(shown.mechanism.decode(own_record, index, shown.billboard))}


def withdraw(campaign: Planned, identity: str, store: Store | None = None) -> bool:
    """Withdraw a participant's record: see `Campaign.withdraw`."""
    if campaign.held:
        raise Refused("nobody was invited to this campaign: a custodian holds its data",
                      "ask the custodian to leave a record out of the table before the run; the number of records "
                      "stays, and an empty record takes its place")
    from confide.campaign.store import Store

    slot, own = slot_of(campaign.file, identity), Store.existing() if store is None else None
    with nullcontext(store) if own is None else own as there:
        known = there.find(campaign.file) if there else None
        if there is None or known is None:
            raise unknown(there.name if there else Home.default().store_name)
        return there.withdraw(known.number, slot)


def check_handout(campaign: Planned, path: str | os.PathLike[str], folder: Path | None = None) -> Path:
    """Check, before a run is charged, that the list of goods can be written to a path.

    Args:
        campaign: a campaign whose kind hands out goods.
        path: the path of the list, at which no file exists yet.
        folder: the future folder of the pack, in which the list may not lie, since packs are public; None if this is
            not checked.

    Raises:
        Refused: the kind hands out no goods.
        InvalidInput: the file exists, or its folder is no place for a private file.
    """
    kind, target = campaign.file.kind, as_path("handout", path)
    if not isinstance(kind, HandingKind):
        raise Refused(f"campaigns of the kind {kind.name!r} hand out no goods",
                      "`confide payouts` shows the payments, `confide share` shows one person's share")
    check_unpublished("handout", target)
    if folder is not None and folder.absolute() in target.absolute().parents:
        raise InvalidInput("handout", f"{folder} will be a pack, which is public, and the file is private",
                           "choose another folder")
    if target.exists():
        raise InvalidInput("handout", f"{target} exists", "choose another file with --handout")
    if not target.absolute().parent.is_dir():
        raise InvalidInput("handout", f"{target.absolute().parent} is not a folder", "make this folder before the run")
    return target


def hand_out(campaign: Planned, path: str | os.PathLike[str], outcome: Outcome) -> Path:
    """Write the list of handed-out goods, with one line for each copy of a good.

    Args:
        campaign: a campaign whose kind hands out goods.
        path: the path of a new CSV file, which only its owner may read.
        outcome: the settled outcome: `campaign.settle().outcome`, or `campaign.settled()`.

    Raises:
        Refused: the kind hands out no goods.
        InvalidInput: the file exists, or its folder is no place for a private file.
    """
    target, kind = check_handout(campaign, path), campaign.file.kind
    if isinstance(kind, HandingKind):
        table = kind.handout(campaign.plan, outcome, kind.identities(campaign.file.config))
        write_new("handout", target, as_csv(table), private=True, taken="choose another file with --handout")
    return target
