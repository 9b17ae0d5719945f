"""The operator's check of the records before a run. The check stops a run with too many unusable records. All findings
are for the operator alone.

If too many rows of the data file cannot be used, the run stops before the charge, and the operator receives the
reasons. Without the stop, the run would spend privacy budget on a useless result. The privacy promise would still hold,
since unusable rows count as null records. For this check, a custodian's table is read once before anything is charged.
The rows of a file about people are counted while they are collected.

The stop depends on records, so only the operator may see the stop. The operator may let the run go on, and no published
file contains this decision. The accepted fraction of unusable rows must stand in the campaign file before the first
look at the records, since a fraction that is written later may depend on the records.

Records that people handed in one by one never stop a settlement. Reports that participants' devices drew never stop a
settlement, either. In both cases, other people would see that the settlement stopped. If a kind asks people for missing
answers during a run, the run stops before the charge only if the data file has rows and none of them can be used.
"""

from __future__ import annotations

from collections import Counter
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confide.campaign.file import CampaignFile, Planned
from confide.campaign.store.home import Home
from confide.campaign.store.states import State
from confide.contract.digests import canonical, digest
from confide.contract.errors import ConfideError, InvalidInput
from confide.contract.kinds import Check, LocalKind, PausingKind, Progress
from confide.contract.mechanism import MOST_UNUSABLE
from confide.contract.presentation import Section, Table, Text
from confide.tables import is_packaged

if TYPE_CHECKING:
    from confide.campaign.store import Store, Stored

__all__ = ["SHOWN", "accepted", "cell_texts", "check_harm", "check_sections", "harm", "harmful", "look", "may_stop",
           "missing_files", "reasons", "too_many_empty"]

SHOWN = 10
"""Number of rejected records that a page shows. The operator's file of rejected records lists all of them."""


def missing_files(file: CampaignFile) -> dict[str, Path]:
    """Mapping from a key such as "data.source" to the path of the file that a run needs and that does not exist. No
    file is opened for this check.
    """
    found = {}
    for key, said in file.kind.files(file.config):
        if key.endswith(".source") and not is_packaged(said):
            place = file.folder / Path(said).expanduser()
            if not place.exists():
                found[key] = place
    return found


def reasons(found: Check) -> dict[str, int]:
    """Mapping from the reason of a rejection to the number of rejected rows, with the most frequent reason first."""
    return dict(Counter(found.rejected.values()).most_common())


def cell_texts(found: Check) -> list[str]:
    """Texts about the faults of cells and rows in the data file, each with the number of faulty cells or rows."""
    return [text for texts in found.cells.values() for text in texts]


def too_many_empty(slots: int, usable: int, tolerated: int | None) -> str:
    """The warning to the operator that more slots are empty than the promises of truthfulness and accuracy allow for.
    The result is an empty text if these promises hold.

    Args:
        slots: the number of invited slots, which is the length of the public list of ids.
        usable: the number of slots with a usable record.
        tolerated: the number of empty slots that the promises of truthfulness and accuracy allow for; None if these
            promises need no such limit.
    """
    if tolerated is None or slots - usable <= tolerated:
        return ""
    return (f"{slots - usable:,} slots are empty, but the promises of truth and accuracy allow for {tolerated:,}. So "
            "these promises do not hold for this run. The promise of privacy holds. Invite only people who have agreed "
            "to take part, or allow for more empty slots in a new plan.")


def check_sections(found: Check) -> list[Section]:
    """The sections of a page with the findings of a check, for the operator alone."""
    parts = list(found.own) if found.own else _records(found)
    if found.rejected:
        first = tuple(found.rejected.items())[:SHOWN]
        parts.append(Section(title="Rejected rows (private: for the operator alone)", private=True, blocks=(
            Table(columns=("reason", "rows"), rows=tuple(reasons(found).items())),
            *([Text(tuple(cells))] if (cells := cell_texts(found)) else []),
            Table(columns=("id", "reason"), rows=first,
                  note=f"The table shows the first {len(first)} of {len(found.rejected)} rejected rows; --write lists "
                       "all."),
        )))
    return parts


def _records(found: Check) -> list[Section]:
    slots, empty = ("records (fixed and public)", "missing or unusable records (each counts as the null record)"
                    ) if found.held else ("invited slots", "slots without a usable record (each counts as empty)")
    asked = found.slots if found.asked is None else found.asked
    if found.asked is not None:
        empty = "people asked, without a usable record (each counts as empty)"
    counts = Table(columns=("records", "number"), rows=(
        (slots, found.slots),
        *([] if found.asked is None else [("people asked for a record, by their contracts", asked)]),
        ("rows read", found.rows),
        ("usable records", found.usable),
        ("rejected rows", len(found.rejected)),
        (empty, asked - found.usable),
        *([] if found.tolerated is None else [
            ("lies and missing records that the promises of truth and accuracy allow, together", found.tolerated)]),
    ))
    absent = too_many_empty(found.slots, found.usable, found.tolerated)
    better = ("You may correct a record in the table before the run." if found.held else
              "A rejected participant may hand in a better record.")
    return [Section(title="The records (private: for the operator alone)", private=True, blocks=(counts, Text((
        "Nothing was charged. These numbers follow from private records: keep them to yourself.",
        f"{better} If you correct the campaign file now, take bounds and levels from the codebook or your question: "
        "the promises of the campaign do not cover bounds and levels that follow from records.",
        *([absent] if absent else []),
        *([f"{found.slots - found.usable:,} of {found.slots:,} records would count as {found.missing_as} in every "
           "answer. Error bars are for the table with these replacements, and do not cover the effect of the "
           "replacements."]
          if found.missing_as and found.slots > found.usable else ()),
    ))))]


_REASONS = 12  # that a stop names


def may_stop(campaign: Planned, store: Store | None, known: Stored | None) -> bool:
    """Whether a run would read the operator's data file before anything is charged, so that the run may still stop.

    Args:
        campaign: the campaign that would be run.
        store: the store of the campaign; None if there is no store yet.
        known: the campaign as the store records it; None if the store does not know the campaign.
    """
    if isinstance(campaign.file.kind, LocalKind):
        return False
    if store is None or known is None:
        return True
    asked = store.submitted(known.number) or store.withdrawn(known.number)  # people, and not a file alone
    return known.state is State.OPEN and (campaign.held or not asked)


def check_harm(campaign: Planned, home: Home | None = None, *, accept_unusable: bool = False) -> None:
    """Check the operator's data file, and raise an error if a run should stop before the charge.

    Args:
        campaign: the campaign that would be run.
        home: the installation (the folder with the keys and notes); default `Home.default()`.
        accept_unusable: whether the run goes on in any case. If so, the rows of the data file are not checked.

    Raises:
        InvalidInput: the error that `harm` returns, for the operator alone, or the error that `accepted` raises.
    """
    if accept_unusable:
        accepted(campaign.file, home)
        return
    try:
        seen = look(campaign, home)
    except ConfideError:
        if isinstance(campaign.file.kind, PausingKind):  # its run says so, and reads what it searches after the charge
            return
        raise
    found = harm(campaign, seen, home)
    if found is not None:
        raise found


def look(campaign: Planned, home: Home | None = None, progress: Progress | None = None) -> Check:
    """Note in the installation that somebody looks at the records, and then read the operator's data file once, in the
    same way as the run.

    Args:
        campaign: the campaign whose file names the data file.
        home: the installation (the folder with the keys and notes); default `Home.default()`.
        progress: a function that receives the progress.
    """
    file = campaign.file
    accepted(campaign.file, home)
    return file.kind.check(file.config, campaign.plan, file.folder, progress)


def accepted(file: CampaignFile, home: Home | None = None) -> float:
    """The largest fraction of unusable rows at which a run still goes on, as the campaign file declares it.

    Args:
        file: the campaign file.
        home: the installation, which notes the accepted fraction at the first look; default `Home.default()`.

    Raises:
        InvalidInput: the file declares a larger fraction than at the first look at the records. A fraction that was
            raised after the first look may depend on the records, and the campaign file is published.
    """
    there = home or Home.default()
    said: Any = getattr(getattr(file.config, "data", None), "accept_unusable", None)
    share = MOST_UNUSABLE if said is None else float(said)
    sources = [[key, normpath(where)] for key, where in file.kind.files(file.config)]
    first = there.look(digest(canonical([file.budget.data_set, sources])), share)
    if share > first:
        raise InvalidInput("data.accept_unusable", f"is {share:g}, but was {first:g} at the first look at these "
                                                   "records",
                           f"choose {first:g} or less, and continue with --accept-unusable: the campaign file is "
                           "published, and must not depend on records")
    return share


def harmful(usable: int, lost: int, share: float) -> bool:
    """Whether too many rows of the operator's data file cannot be used, or none can be used.

    Args:
        usable: the number of rows, or of people's records, that can be used.
        lost: the number of rows that cannot be used.
        share: the largest fraction of unusable rows at which a run still goes on, as `accepted` returns it.
    """
    return not usable or lost > share * (usable + lost)


def harm(campaign: Planned, found: Check, home: Home | None = None) -> InvalidInput | None:
    """The error with which a run of the operator's data file stops before the charge, for the operator alone; None if
    the run does not stop.

    Args:
        campaign: the campaign whose file names the data file.
        found: the result of a check of the data file, as `Campaign.check` returns it.
        home: the installation (the folder with the keys and notes); default `Home.default()`.
    """
    share, rows, lost = accepted(campaign.file, home), found.usable + len(found.rejected), len(found.rejected)
    absent = found.slots - found.usable if found.held else 0  # of people who were invited, some stay away
    if isinstance(campaign.file.kind, PausingKind):  # what is missing will be asked for; of a whole file, it is a slip
        if found.usable or not rows:
            return None
        absent = 0
    said = []
    if rows and harmful(found.usable, lost, share):
        said.append(f"{lost:,} of {rows:,} rows cannot be used {_of(lost, rows, share)}: {'; '.join(_why(found))}")
    if rows and absent > max(share * found.slots, lost):
        said.append(f"{absent:,} of {found.slots:,} records have no usable row {_of(absent, found.slots, share)}: the "
                    f"file has {rows:,} rows")
    if not rows:
        said.append("the file has no rows")
    if not said:
        return None
    return InvalidInput("data.source", "; ".join(said), "nothing was charged. Correct the data file or its description "
                                                        "in the campaign file. To go on anyway, use --accept-unusable: "
                                                        "a record without a usable row then counts as the null record, "
                                                        "and a row that belongs to no record is left out. This message "
                                                        "follows from private records: it is for the operator alone")


def _of(part: int, whole: int, accepted: float) -> str:
    return f"({100 * part / whole:.3g} %; at most {100 * accepted:.3g} % are accepted)"


def _why(found: Check) -> list[str]:
    """The faults of cells, and the reasons of rejected rows that no fault of a cell explains."""
    known = {*found.cells, "no id of the public list"} if found.cells else set()
    rows = [f"{why}: {count:,} {'row' if count == 1 else 'rows'}" for why, count in reasons(found).items()
            if why.partition(": ")[0] not in known]
    lines = [*cell_texts(found), *rows]
    return lines if len(lines) <= _REASONS else [*lines[:_REASONS], f"and {len(lines) - _REASONS} more reasons"]
