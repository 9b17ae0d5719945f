"""The operator's view of the records before a run. All of it is private: for the operator alone."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from confide.campaign.file import CampaignFile
from confide.contract.kinds import Check
from confide.contract.presentation import Section, Table, Text
from confide.tables import is_packaged

__all__ = ["SHOWN", "cell_texts", "check_sections", "missing_files", "reasons", "too_many_empty"]

SHOWN = 10
"""Rejected records that are shown; the file of the operator has them all."""


def missing_files(file: CampaignFile) -> dict[str, Path]:
    """The files that a run would read and that are not there: key such as "data.source" -> where it would be. Nothing
    is opened.
    """
    found = {}
    for key, said in file.kind.files(file.config):
        if key.endswith(".source") and not is_packaged(said):
            place = file.folder / Path(said).expanduser()
            if not place.exists():
                found[key] = place
    return found


def reasons(found: Check) -> dict[str, int]:
    """How many rows were rejected for each reason, most frequent first."""
    return dict(Counter(found.rejected.values()).most_common())


def cell_texts(found: Check) -> list[str]:
    """What is wrong with cells and rows, in words with counts."""
    return [text for texts in found.cells.values() for text in texts]


def too_many_empty(slots: int, usable: int, tolerated: int | None) -> str:
    """What the operator is told where more slots are empty than promises allow for; empty where they hold.

    Args:
        slots: invited ones.
        usable: those with a usable record.
        tolerated: how many empty ones the promises of truth and accuracy allow for; None where they ask for none.
    """
    if tolerated is None or slots - usable <= tolerated:
        return ""
    return (f"{slots - usable:,} slots are empty, and the promises of truth and accuracy allow for {tolerated:,}: they "
            "do not hold for this run. Privacy does. Invite only people who have agreed to take part, or tolerate more "
            "in a new plan.")


def check_sections(found: Check) -> list[Section]:
    """What a check found, for the operator alone."""
    parts = list(found.own) if found.own else _records(found)
    if found.rejected:
        first = tuple(found.rejected.items())[:SHOWN]
        parts.append(Section(title="Rejected rows (private: for the operator alone)", private=True, blocks=(
            Table(columns=("reason", "rows"), rows=tuple(reasons(found).items())),
            *([Text(tuple(cells))] if (cells := cell_texts(found)) else []),
            Table(columns=("id", "reason"), rows=first,
                  note=f"The first {len(first)} of {len(found.rejected)}; --write lists them all."),
        )))
    return parts


def _records(found: Check) -> list[Section]:
    slots, empty = ("records (fixed and public)", "records that are missing or unusable (each counts as the null one)"
                    ) if found.held else ("invited slots", "slots without a usable record (they count as empty)")
    counts = Table(columns=("records", "number"), rows=(
        (slots, found.slots),
        ("rows read", found.rows),
        ("usable records", found.usable),
        ("rejected rows", len(found.rejected)),
        (empty, found.slots - found.usable),
        *([] if found.tolerated is None else [("lies and empty slots that truth and accuracy allow for",
                                               found.tolerated)]),
    ))
    absent = too_many_empty(found.slots, found.usable, found.tolerated)
    better = ("A record may be corrected in the table before the run." if found.held else
              "A rejected participant may hand in a better record.")
    return [Section(title="The records (private: for the operator alone)", private=True, blocks=(counts, Text((
        "Nothing was charged. These numbers follow from private records: keep them to yourself.",
        f"{better} Do not change the campaign file because of what stands here: bounds and levels that follow from "
        "records are not covered by its promises.",
        *([absent] if absent else []),
        *([f"{found.slots - found.usable:,} of {found.slots:,} records would count as {found.missing_as} in every "
           "answer. Error bars are about that table: no bar covers what it changes."]
          if found.missing_as and found.slots > found.usable else ()),
    ))))]
