"""What a run on reports of devices publishes and pays: shares beside decodes, billboards beside the check, and what all
others see of what one device was told. Families bring their rounds, their runs and their pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from confide.audit.fixed_transcript import Neighbours, TranscriptAudit, fixed_transcript_audit
from confide.audit.implied import strongest
from confide.audit.report import AuditRow, Concern, Control
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Audience, Privacy, Relation
from confide.privacy.noise import Noise

__all__ = ["CHECKED", "DECODED", "JOINTLY", "JointAudits", "checked_row", "decoded_row", "device_controls",
           "joint_audits", "joint_rows"]

DECODED = "people whose own device finds another share than the run gave them"
CHECKED = "billboards of its runs that a verifier would call forged"
JOINTLY = "privacy: everything that others see of a run, jointly"

JointAudits = list[tuple[TranscriptAudit, tuple[Privacy, ...]]]
"""A walk for each promise from which others follow, and what follows from it."""


def decoded_row(
    rounds: Iterable[tuple[Any, Mapping[int, Any]]], decode: Callable[[Any, int, Any], Mapping[str, Any]], of: str
) -> AuditRow:
    """Whether shares are those that devices find for themselves.

    Args:
        rounds: outcomes, each with the places that are looked at and what the device there reported, or None.
        decode: (report, place, billboard) -> share.
        of: what the rounds are made of, in words.
    """
    wrong = tried = 0
    for outcome, reported in rounds:
        places = list(reported)
        for place, share in zip(places, outcome.shares.take(pa.array(places)).to_pylist(), strict=True):
            wrong += dict(decode(reported[place], place, outcome.billboard)) != share
            tried += 1
    return AuditRow.at_most(DECODED, 0.0, float(wrong), f"{tried:,} decodes of runs on made-up {of}",
                            unit="people", concern=Concern.ACCURACY)


def checked_row(rounds: Iterable[tuple[Any, bool]], check: Callable[[Any], None], of: str) -> AuditRow:
    """Whether billboards of sound runs pass their own check and name the sums that were reported.

    Args:
        rounds: billboards, each with whether it names these sums.
        check: of a billboard.
        of: what the rounds are made of, in words.
    """
    refused = runs = 0
    for board, agrees in rounds:
        runs += 1
        try:
            check(board)
        except InvalidInput:
            refused += 1
        else:
            refused += not agrees
    return AuditRow.at_most(CHECKED, 0.0, float(refused),
                            f"its own check, and the sums of {runs} runs on made-up {of}", unit="runs",
                            concern=Concern.ACCURACY)


def joint_audits(
    promises: Iterable[Privacy], unit: Relation, played: Callable[[Any, Noise], Any], pairs: Iterable[Neighbours],
    seed: int, histories: int = 1,
) -> JointAudits:
    """What people hold, through their devices and the run, to all that others see: one walk for each promise towards
    whoever receives the reports, from which that towards all others follows.

    Args:
        promises: of the mechanism.
        unit: the step by which pairs differ.
        played: (what people hold, noise) -> outcome.
        pairs: of what people hold.
        seed: of the histories.
        histories: of each pair.
    """
    held = strongest(each for each in promises if each.neighbours is unit and each.audience is Audience.COLLECTOR)
    found = fixed_transcript_audit(played, pairs, {}, lambda k: Noise.simulated(seed * 1013 + k), histories=histories,
                                   promises=[promise for promise, _ in held])
    return [(audit, follow) for audit, (_, follow) in zip(found.values(), held, strict=True)]


def joint_rows(audits: JointAudits, people: int) -> list[AuditRow]:
    """The walks as rows, which hold their promises.

    Args:
        audits: of `joint_audits`.
        people: who all report in one of the pairs.
    """
    rows = [(audit.row(JOINTLY), follow) for audit, follow in audits]
    there = f"in one pair all {people:,} people report"
    return [replace(row, note=f"{row.note}; {there}" if row.note else there).holding(*follow) for row, follow in rows]


def device_controls(
    decoded: tuple[str, AuditRow], checked: tuple[str, AuditRow], jointly: tuple[str, JointAudits]
) -> list[Control]:
    """The three of runs that were broken on purpose.

    Args:
        decoded: what was broken, and the row of it.
        checked: likewise.
        jointly: likewise, with the walks.
    """
    return [Control(DECODED, decoded[0], decoded[1].flagged), Control(CHECKED, checked[0], checked[1].flagged),
            Control(JOINTLY, jointly[0], any(audit.flagged for audit, _ in jointly[1]))]
