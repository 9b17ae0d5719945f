"""Checks of the signed parts of a pack: the statement, the key that signed it, and the files that it lists.

The list of a campaign's events is one of the signed files. The events must be a complete hash chain, must be possible
in this order, and must disclose nothing about people.

Each check returns its finding as a text, and raises `Broken` for a pack that fails the check. The argument `note` is
the signed statement, and `chain` is the list of events.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from confide.campaign.file import CampaignFile
from confide.campaign.pack import CAMPAIGN, EVENTS, MANIFEST, NOTE, REPORT
from confide.campaign.signatures import signed_by
from confide.campaign.store.chain import Entry
from confide.campaign.store.chain import broken as broken_at
from confide.campaign.store.states import State, StateEvent, advance
from confide.campaign.verification.findings import Broken
from confide.campaign.verification.reading import Folder, json_of
from confide.contract.digests import digest
from confide.contract.errors import InvalidInput, Refused
from confide.contract.kinds import may_wait
from confide.contract.outcome import FORMAT

__all__ = ["as_fingerprint", "campaign_file", "chain_of", "charge_of", "events", "files", "signature", "signer_of"]

_FINGERPRINT = re.compile("[0-9a-f]{40}")
_DIGEST = re.compile("[0-9a-f]{64}")
_SHAPE = {"format": int, "kind": str, "title": str, "content": str, "manifest": str, "files": dict, "key": str,
          "signature": str}
_SHOWN = 5  # paths that a message names


def as_fingerprint(key: str) -> str:
    """A fingerprint in the form that `confide.campaign.signatures.fingerprint` returns, from a form in which people
    type fingerprints.

    Args:
        key: 40 hexadecimal digits. Hyphens, spaces and capital letters make no difference.

    Raises:
        InvalidInput: the text is not 40 hexadecimal digits; an empty text is refused, too.

    Example:
        >>> as_fingerprint("01234567 89ABCDEF 01234567 89ABCDEF 01234567")
        '01234567-89abcdef-01234567-89abcdef-01234567'
    """
    plain = re.sub(r"[-\s]", "", key).lower() if isinstance(key, str) else ""
    if not _FINGERPRINT.fullmatch(plain):
        raise InvalidInput("key", f"{key!r} is not a fingerprint",
                           "must be five groups of eight hexadecimal digits, like the fingerprint at the end of the "
                           "offer")
    return "-".join(plain[start : start + 8] for start in range(0, 40, 8))


def signer_of(folder: Folder, note: Mapping[str, Any]) -> str:
    """The fingerprint of the key that signed a pack's statement. A statement that is not signed, or that has another
    form than `campaign.json` in a pack, is an error.
    """
    signer = signed_by(note)
    if signer is None:
        raise Broken(f"{NOTE} has no valid signature")
    json_of(folder[NOTE])
    if {name: type(value) for name, value in note.items()} != _SHAPE or note["format"] != FORMAT:
        raise Broken(f"{NOTE} differs from the note of a pack")
    return signer


def signature(signer: str, known: str | None) -> str:
    """Check that the signing key has the fingerprint that the caller knows from the offer."""
    if known is None:
        return f"signed by {signer}; this shows integrity only: compare the key with the key in your offer"
    if known != signer:
        raise Broken(f"signed by {signer}, not by {known}")
    return f"signed by {signer}, the key that you know"


def files(folder: Folder, note: Mapping[str, Any]) -> str:
    """Check that the folder holds exactly the files that were signed, unaltered."""
    listed = note["files"]
    for path, known in listed.items():
        if not isinstance(known, str) or not _DIGEST.fullmatch(known):
            raise Broken(f"{path!r} is listed without its SHA-256")
        if digest(folder[path]) != known:
            raise Broken(f"{path} was altered")
    unlisted = {path: "was not signed" for path in folder.files if path not in listed and path != NOTE}
    more = [f"{path} {word}" for path, word in sorted((dict(folder.strange) | unlisted).items())]
    if more:
        raise Broken("; ".join(more[:_SHOWN]) + "; ..." * (len(more) > _SHOWN))
    for path in (CAMPAIGN, EVENTS, MANIFEST, REPORT):
        if path not in listed:
            raise Broken(f"{path} was not signed")
    if listed[MANIFEST] != note["manifest"]:
        raise Broken("the manifest is not the one that was signed")
    return f"all {len(listed)} files are those that were signed"


def campaign_file(file: CampaignFile, note: Mapping[str, Any]) -> str:
    """Check that the campaign file is the signed file, and that the statement names the title and the kind of this
    file.
    """
    if file.digest != note["content"]:
        raise Broken(f"{CAMPAIGN} differs from the signed file")
    for name, own in (("title", file.title), ("kind", file.kind.name)):
        if note[name] != own:
            raise Broken(f"{NOTE} gives the {name} {note[name]!r}, but the campaign file gives {own!r}")
    return f"{CAMPAIGN} is {file.title!r}"


_NOTHING, _DEBIT = set[str](), {"data_set", "delta", "events"}
_HOLDS: dict[StateEvent, tuple[set[str], ...]] = {
    StateEvent.PLAN: ({"content"},), StateEvent.OPEN: (_NOTHING, _DEBIT), StateEvent.CLOSE: (_NOTHING,),
    StateEvent.CHARGE: (_DEBIT, _NOTHING), StateEvent.RESUME: (_NOTHING,), StateEvent.PUBLISH: ({"manifest"},),
}
"""Mapping from each event that a pack may hold to the possible sets of its details. No event states how many people
came or withdrew. The details of the debit stand in the opening or in the registration of the settlement; if they stand
in the opening, the registration has no details.
"""


def chain_of(rows: Any) -> tuple[Entry, ...]:
    """The events in `events.json`."""
    shape = {"event": str, "day": str, "data": dict, "hash": str}
    if not isinstance(rows, list) or not rows:
        raise Broken("there are no events")
    for position, row in enumerate(rows, 1):
        if not isinstance(row, dict) or {name: type(value) for name, value in row.items()} != shape:
            raise Broken(f"event {position} is not an event")
    return tuple(Entry(**row) for row in rows)


def charge_of(chain: Sequence[Entry]) -> Entry:
    """The only event that debits the ledger: the opening of the collection, or the registration of the settlement."""
    charges = [entry for entry in chain if entry.event in (StateEvent.OPEN, StateEvent.CHARGE) and entry.data]
    if len(charges) != 1:
        raise Broken(f"{len(charges)} debits, not one")
    return charges[0]


def events(chain: Sequence[Entry], note: Mapping[str, Any]) -> str:
    """Check that the events belong to a campaign that was charged once, and then published the signed result."""
    position = broken_at(chain)
    if position is not None:
        raise Broken(f"event {position + 1} does not follow from the one before it")
    state, day = State.DRAFT, ""
    for position, entry in enumerate(chain, 1):
        state = _next(state, entry, position)
        untold = not entry.day and entry.event == StateEvent.PUBLISH and may_wait(str(note["kind"]))
        if not untold and (not _is_day(entry.day) or entry.day < day):
            raise Broken(f"event {position} bears the day {entry.day!r}" + (f", after {day}" if day else ""))
        day = entry.day
    if state is not State.SETTLED:
        raise Broken(f"the events end with a campaign that is {state.value}")
    charge_of(chain)
    for entry in chain:
        if entry.data.get("content", note["content"]) != note["content"] or (
            entry.data.get("manifest", note["manifest"]) != note["manifest"]
        ):
            raise Broken("the events belong to another outcome or campaign")
    return f"{len(chain)} events, one debit, published on {day or 'an undisclosed day'}"


def _next(state: State, entry: Entry, position: int) -> State:
    try:
        event = StateEvent(entry.event)
        if event is StateEvent.PUBLISH:
            state = advance(state, StateEvent.RUN)  # a run leaves nothing until it is published
        state = advance(state, event)
    except ValueError:
        raise Broken(f"event {position} is unknown: {entry.event!r}") from None
    except Refused as error:
        raise Broken(str(error)) from None
    if event not in _HOLDS:
        raise Broken(f"event {position}, {event.value!r}, belongs to no pack")
    if entry.data.keys() not in _HOLDS[event]:
        raise Broken(f"event {position}, {event.value!r}, does not have the data of such an event")
    return state


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
