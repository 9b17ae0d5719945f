"""What the tests of campaigns that hand out goods share: their files and words, and forged packs."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from campaign.forging import found
from confide.campaign import Campaign, Store
from confide.contract.outcome import PublicOutcome

__all__ = ["Forger", "cleared_later", "edited", "praised", "words"]


def edited(text: str, edits: Sequence[tuple[str, str]]) -> str:
    """A file with some of its words replaced, each once."""
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


def words(parts: Any) -> str:
    """All that sections say."""
    return str([section.to_dict() for section in parts])


class Forger:
    """A settled campaign whose pack can be copied and changed.

    Args:
        campaign: not settled yet.
        folder: for the pack and its forgeries.
    """

    def __init__(self, campaign: Campaign, folder: Path) -> None:
        self._folder = folder
        with Store() as store:
            campaign.settle(folder / "out", store=store)
            self.key = store.home.signing_key

    def broken(self, change: Callable[[Path], Any]) -> set[str]:
        """The checks that a changed copy of the pack breaks."""
        pack = self._folder / "forged"
        shutil.rmtree(pack, ignore_errors=True)
        shutil.copytree(self._folder / "out", pack)
        change(pack)
        return set(found(pack))


def cleared_later(outcome: PublicOutcome) -> PublicOutcome:
    """Everybody is admitted a bid later than the cells say."""
    board: Any = outcome.billboard
    return replace(outcome, billboard=replace(board, clearing=replace(board.clearing, cuts=board.clearing.cuts + 1)))


def praised(outcome: PublicOutcome) -> PublicOutcome:
    """Its certificate claims nearly all of the optimum."""
    certificate: Any = outcome.certificate
    return replace(outcome, certificate=replace(certificate, ratio=0.999))
