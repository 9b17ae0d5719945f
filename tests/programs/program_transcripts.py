"""Walks over tiny programs, sound and broken, by part of the noise, and by promise."""

from __future__ import annotations

from functools import partial

from confide.audit import TranscriptAudit, run_with_steps
from confide.programs.audited import jointly
from confide.programs.audited_records import Pool
from confide.programs.dude import Dude


def replayed(
    it: Dude, pool: Pool, seed: int, broken: Dude | None = None, *, pairs: int | None = None
) -> dict[str, TranscriptAudit]:
    """What is found of each part, held against the sound mechanism's promises and charges.

    Args:
        it: a tiny, sound one.
        pool: records that neighbours are made of.
        seed: of a study.
        broken: what runs in its place.
        pairs: how many neighbour steps are walked; None for all.
    """
    return jointly(it, pool, seed).replayed(partial(run_with_steps, broken or it), pairs)
