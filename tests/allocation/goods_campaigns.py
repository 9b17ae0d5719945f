"""Forgeries of the packs of campaigns that hand out goods."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from confide.contract.outcome import PublicOutcome

__all__ = ["cleared_later", "praised"]


def cleared_later(outcome: PublicOutcome) -> PublicOutcome:
    """Everybody is admitted a bid later than the cells say."""
    board: Any = outcome.billboard
    return replace(outcome, billboard=replace(board, clearing=replace(board.clearing, cuts=board.clearing.cuts + 1)))


def praised(outcome: PublicOutcome) -> PublicOutcome:
    """Its certificate claims nearly all of the optimum."""
    certificate: Any = outcome.certificate
    return replace(outcome, certificate=replace(certificate, ratio=0.999))
