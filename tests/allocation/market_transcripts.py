"""Walks over tiny markets, sound and broken, by part of the noise; "" is everything together."""

from __future__ import annotations

from functools import partial
from typing import Any

from confide.allocation.audited import jointly
from confide.allocation.market import Market
from confide.audit import TranscriptAudit, inject_fault, run_with_steps


def replayed(
    it: Market, seed: int, code: type[Any] | None = None, *, pairs: int | None = None
) -> dict[str, TranscriptAudit]:
    """What is found of each part, held against the sound market's promises and charges.

    Args:
        it: a tiny, sound one.
        seed: of valuations and histories.
        code: what is put on top of its class.
        pairs: how many neighbour steps are walked; None for all.
    """
    broken = it if code is None else inject_fault(it, code)
    found = jointly(it, seed).replayed(partial(run_with_steps, broken), pairs)
    last = sorted(found.items(), key=lambda each: each[1].promise is None)  # a part's own claim takes its place
    return {part if audit.promise is None else "": audit for part, audit in last}
