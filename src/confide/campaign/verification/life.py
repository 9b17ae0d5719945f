"""The events of a pack: a whole chain, a legal life, and nothing that would tell of people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from confide.campaign.store.chain import Entry
from confide.campaign.store.chain import broken as broken_at
from confide.campaign.store.states import State, StateEvent, advance
from confide.campaign.verification.findings import Broken
from confide.contract.errors import Refused
from confide.contract.kinds import may_wait

__all__ = ["chain_of", "charge_of", "events"]

_NOTHING, _DEBIT = set[str](), {"data_set", "delta", "events"}
_HOLDS: dict[StateEvent, tuple[set[str], ...]] = {
    StateEvent.PLAN: ({"content"},), StateEvent.OPEN: (_NOTHING, _DEBIT), StateEvent.CLOSE: (_NOTHING,),
    StateEvent.CHARGE: (_DEBIT, _NOTHING), StateEvent.RESUME: (_NOTHING,), StateEvent.PUBLISH: ({"manifest"},),
}
"""The events that a pack can hold, and what each may say; how many came or went is nobody's to see. The debit stands
with the opening or with the registration of the settlement, which then says nothing more."""


def chain_of(rows: Any) -> tuple[Entry, ...]:
    """The entries of `events.json`."""
    shape = {"event": str, "day": str, "data": dict, "hash": str}
    if not isinstance(rows, list) or not rows:
        raise Broken("there are none")
    for position, row in enumerate(rows, 1):
        if not isinstance(row, dict) or {name: type(value) for name, value in row.items()} != shape:
            raise Broken(f"event {position} is none")
    return tuple(Entry(**row) for row in rows)


def charge_of(chain: Sequence[Entry]) -> Entry:
    """The one debit, of the opening or of the settlement."""
    charges = [entry for entry in chain if entry.event in (StateEvent.OPEN, StateEvent.CHARGE) and entry.data]
    if len(charges) != 1:
        raise Broken(f"{len(charges)} debits, not one")
    return charges[0]


def events(chain: Sequence[Entry], note: Mapping[str, Any]) -> str:
    """Whether the events are those of a campaign that was charged once, and then published what was signed."""
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
            raise Broken("the events are those of another outcome or campaign")
    return f"{len(chain)} events, one debit, published on {day or 'a day that is not told'}"


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
        raise Broken(f"event {position}, {event.value!r}, says something else than such an event does")
    return state


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
