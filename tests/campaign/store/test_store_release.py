"""An installation releases one outcome of a campaign, whatever becomes of its stores."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from campaign.small import tree
from campaign.store.counting import write
from campaign.store.invariants import lives
from confide.campaign import Campaign, Home, State, Store, settlement
from confide.contract import Refused

REFUSED = "this campaign was settled in another store; its result is signed"


class Power(Exception):
    """It fails."""


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return write(tmp_path, {0: 3, 1: 4})


@pytest.fixture
def store() -> Iterator[Store]:
    """The installation's own."""
    with Store() as found:
        yield found


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Store]:
    """Another store of the same installation."""
    with Store(f"sqlite:///{tmp_path}/other.db") as found:
        yield found


def dies(campaign: Campaign, store: Store, owner: Any, step: str) -> None:
    """A settlement that ends where a step would begin."""
    with patch.object(owner, step, side_effect=Power), pytest.raises(Power):
        campaign.settle(store=store)


def test_what_was_released_is_settled_in_no_other_store(
    campaign: Campaign, store: Store, other: Store, tmp_path: Path
) -> None:
    """No record is read there, and nothing charged."""
    first = campaign.settle(store=store)
    (tmp_path / "town.csv").unlink()
    for _ in range(2):
        with pytest.raises(Refused, match=REFUSED):
            campaign.settle(tmp_path / "second", store=other)
    assert (other.campaigns(), other.ledger()) == ((), ())
    assert not (tmp_path / "second").exists()
    assert tree(campaign.settle(tmp_path / "again", store=store).folder) == tree(first.folder)
    assert write(tmp_path, {0: 1}, title="Once more", file="more").settle(store=other).fresh


@pytest.mark.parametrize("before", ["collect", "charge", "reports", "publish"])
def test_a_settlement_that_died_elsewhere_is_not_resumed(
    before: str, campaign: Campaign, store: Store, other: Store, tmp_path: Path
) -> None:
    dies(campaign, other, Store, before)
    campaign.settle(store=store)
    with pytest.raises(Refused, match=REFUSED):
        campaign.settle(tmp_path / "second", store=other)
    assert lives(other)["How much in all?"].state is not State.SETTLED


def test_of_two_that_are_published_the_first_that_leaves_counts(
    campaign: Campaign, store: Store, other: Store, tmp_path: Path
) -> None:
    """Two stores were settled at once: the outcome of one never leaves it, neither in a pack nor in a share."""
    dies(campaign, other, Store, "pack")
    campaign.settle(store=store)
    assert lives(other)["How much in all?"].state is State.SETTLED
    for call in (lambda: campaign.settle(tmp_path / "second", store=other), lambda: campaign.settled(store=other),
                 lambda: campaign.share("person-1", store=other), lambda: campaign.payouts(store=other),
                 lambda: campaign.approve_payouts("0" * 8, store=other)):
        with pytest.raises(Refused, match=REFUSED):
            call()
    assert not (tmp_path / "second").exists()


@pytest.mark.parametrize("place", [(Store, "publish"), (Store, "pack"), (settlement, "write_pack")])
def test_who_died_bars_nobody(place: Any, campaign: Campaign, store: Store) -> None:
    """Neither before it was published, so that the next outcome is another one, nor when it was noted, not written."""
    dies(campaign, store, *place)
    settled = campaign.settle(store=store)
    assert settled.fresh == (place[1] == "publish")
    assert store.home.released(campaign.file.digest) is not None


def test_an_old_copy_of_the_store_releases_nothing_anew(tmp_path: Path, campaign: Campaign) -> None:
    home, file = Home(tmp_path / "home"), tmp_path / "home" / "store.db"
    with Store(home.url, home=home):
        pass
    shutil.copy(file, tmp_path / "copy.db")
    with Store(home.url, home=home) as store:
        campaign.settle(store=store)
    shutil.move(tmp_path / "copy.db", file)
    with Store(home.url, home=home) as store:
        with pytest.raises(Refused, match=r"not an old copy of it"):
            campaign.settle(tmp_path / "second", store=store)
        assert store.ledger() == ()


def test_a_note_that_was_lost_is_made_anew(campaign: Campaign, store: Store) -> None:
    """As with a copy of the keys alone."""
    first = campaign.settle(store=store)
    shutil.rmtree(store.home.folder / "released")
    assert tree(campaign.settle(store=store).folder) == tree(first.folder)
    assert store.home.released(campaign.file.digest) is not None


def test_it_is_noted_before_anything_leaves(
    campaign: Campaign, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[State, bool]] = []
    known = Home.release

    def release(self: Home, content: str, manifest: str) -> None:
        with Store() as another:  # the publication is committed by then
            seen.append((another.campaigns()[0].state, campaign.default_folder.exists()))
        known(self, content, manifest)

    monkeypatch.setattr(Home, "release", release)
    campaign.settle(store=store)
    assert seen == [(State.SETTLED, False)]
