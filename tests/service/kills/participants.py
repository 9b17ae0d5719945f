"""Two open campaigns, of drawn answers and of numbers, with a session for everybody; and what of all that is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from sqlalchemy import select

from campaign.small import TEXT
from confide.campaign import Home, Store
from confide.campaign.store import schema as s
from confide.contract import kind
from confide.service.access import Operators, Participant, Role, Sessions
from confide.service.access.sessions import begin_participant
from confide.service.work import Drafts, Opened
from service.kills.load import Person
from service.parts import PASSWORD

__all__ = ["Participants", "check", "gathered", "in_thirds", "stored_reports", "text_of"]


@dataclass(frozen=True)
class Participants:
    """Campaigns and their people.

    Args:
        drawn: number of a campaign whose reports people's devices draw: a second draw is refused.
        typed: number of one whose reports are what people type.
        people: of both by turns.
        operator: the token of an admin's session.
    """

    drawn: int
    typed: int
    people: Sequence[Person]
    operator: str


def text_of(name: str, **changed: object) -> str:
    """A kind's template with lines of its own: key -> value in TOML, the first line of that key."""
    text = kind(name).template
    for key, value in changed.items():
        line = next(line for line in text.splitlines() if line.startswith(f"{key} = "))
        text = text.replace(line, f"{key} = {value}", 1)
    return text


def gathered(home: Path, url: str | None, people: int) -> Participants:
    """A new installation with both campaigns, and so many people in each."""
    with Store(url, home=Home(home)) as store:
        ada = Operators(store).add("ada", PASSWORD, Role.ADMIN)
        drafts, sessions = Drafts(store), Sessions(store)
        drawn, typed = (drafts.open(drafts.new(text, ada.number).number).number
                        for text in (text_of("bits", count=people), TEXT))
        with store.database.writing() as connection:
            tokens = {number: [begin_participant(connection, Participant(number, slot))
                               for slot in range(people)] for number in (drawn, typed)}
        answers = ({"report": "yes"}, {"report": "no"})
        first = [Person(token, drawn, slot, answers[slot % 2], answers[1 - slot % 2])
                 for slot, token in enumerate(tokens[drawn])]
        second = [Person(token, typed, slot, _typed(slot), _typed(slot, 1)) for slot, token in enumerate(tokens[typed])]
        everybody = list(chain.from_iterable(zip(first, second, strict=True)))
        return Participants(drawn, typed, everybody, sessions.begin(ada))


def _typed(slot: int, turn: int = 0) -> dict[str, str]:
    """A record that nobody else has."""
    return {"pay": f"{1 + slot / 50 + turn / 100:.2f}", "age": str(20 + slot % 41), "sex": ("female", "male")[slot % 2]}


def in_thirds(people: Sequence[Person]) -> None:
    """Where no answer comes, a third tries again, a third does not, and a third hands in something else."""
    for place, person in enumerate(people):
        person.way = ("again", "never", "other")[place // 2 % 3]


def stored_reports(store: Store, campaign: int) -> Mapping[int, bytes]:
    """slot -> report.

    Raises:
        AssertionError: some slot has two.
    """
    with store.database.reading() as connection:
        rows = connection.execute(select(s.report.c.slot, s.report.c.report).where(
            s.report.c.campaign_id == campaign)).all()
    times = Counter(row.slot for row in rows)
    assert set(times.values()) <= {1}
    return {row.slot: bytes(row.report) for row in rows}


def check(store: Store, participants: Participants, people: Sequence[Person] | None = None) -> Mapping[str, int]:
    """Hold what is stored against what everybody was told: nothing is lost, doubled or in part.

    Args:
        store: of the service.
        crowd: who has handed in.
        people: who must be there as she was told; default everybody.

    Returns:
        How many were told that theirs is stored, how many were not told, and of how many of these it is stored.
    """
    reported = {id(person) for person in (participants.people if people is None else people)}
    opened, figures = Opened(store), Counter[str]()
    found = {number: stored_reports(store, number) for number in (participants.drawn, participants.typed)}
    known = {(person.campaign, person.slot) for person in participants.people}
    assert {(number, slot) for number, reports in found.items() for slot in reports} <= known

    def report(person: Person, values: Mapping[str, str]) -> bytes:
        it = opened.get(person.campaign)
        file = it.campaign.file
        slot, packed = file.kind.submission(file.config, it.campaign.plan, it.identities[person.slot], values)
        assert slot == person.slot
        return packed

    for person in participants.people:
        there = found[person.campaign].get(person.slot)
        if id(person) in reported and person.acknowledged is not None:
            figures["told"] += 1
            assert there == report(person, person.acknowledged), (person.campaign, person.slot)
            continue
        assert there is None or there in [report(person, values) for values in _distinct(person.sent)]
        if id(person) in reported and person.sent:
            figures["not told"] += 1
            figures["not told, yet stored"] += there is not None
    return figures


def _distinct(sent: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    return [dict(values) for values in {tuple(sorted(values.items())) for values in sent}]
