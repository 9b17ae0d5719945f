"""What the tests of settlements share: where a campaign stands, what the ledger says, what lies in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from confide.campaign import Campaign, Settled, State, Store

RECORD = {"age": "40", "sex": "male", "pay": "41.5"}
"""One that anybody may type."""


class Done(NamedTuple):
    """A settled campaign that nobody changes, and its store."""

    campaign: Campaign
    settled: Settled
    store: Store


def alone(folder: Path, names: set[str]) -> None:
    """Nothing else lies in the folder, such as drafts."""
    assert {path.name for path in folder.iterdir()} == names


def charged() -> tuple[object, int]:
    """What the data set of `small` has spent in the installation's ledger, and the number of its debits."""
    with Store() as store:
        found = store.ledger("pay survey")
        return (found[0].filter.spent, len(found[0].debits)) if found else (None, 0)


def stands(campaign: Campaign) -> tuple[State | None, int]:
    """Where a campaign stands in the installation's store, and how many reports are there."""
    with Store() as store:
        known = store.find(campaign.file)
        return (None, 0) if known is None else (known.state, store.submitted(known.number))


def history(campaign: Campaign) -> list[str]:
    """What was done to a settled campaign."""
    with Store() as store:
        return [entry.event for entry in store.events(store.settled(campaign.file).number)]
