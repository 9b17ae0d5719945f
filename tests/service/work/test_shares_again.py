"""A share, computed again: from what was handed in, in words and units, and never from an answer that stays at home."""

from __future__ import annotations

from pathlib import Path

import pytest

from confide.campaign.pages import share_section
from confide.contract import InvalidInput, Refused, kind
from confide.contract.kinds import LocalKind
from confide.contract.payout_terms import PayoutTerms
from confide.contract.presentation import Section, Table, Text
from confide.service.access import Participant
from confide.service.work import Task
from people.all_kinds import PEOPLES
from service.parts import Parts, filled, sent


def words(sections: object) -> str:
    """All that sections say."""
    found: list[str] = []
    for section in sections if isinstance(sections, list | tuple) else ():
        assert isinstance(section, Section)
        found.append(section.title)
        for block in section.blocks:
            if isinstance(block, Text):
                found.extend(block.paragraphs)
            if isinstance(block, Table):
                found.extend(str(cell) for row in block.rows for cell in row)
    return " ".join(found)


@pytest.mark.parametrize("name", [name for name in PEOPLES if isinstance(kind(name), LocalKind) and name != "mean"])
def test_a_local_kind_asks_for_what_left_the_device(name: str, tmp_path: Path) -> None:
    with Parts.at(tmp_path) as parts:
        number = parts.open(kind(name).template)
        (who,) = parts.join(number, [0])
        (field,) = parts.participation.share_form(who)
        instructions = parts.participation.device(who)
        assert instructions is not None
        assert (field.column, field.choices) == (instructions["column"], tuple(instructions["answers"]))
        own = {each.column for each in parts.participation.form(who)}
        assert field.column not in own


def test_a_share_follows_from_what_left_the_device(tmp_path: Path) -> None:
    with Parts.at(tmp_path) as parts:
        number = parts.open(kind("bits").template)
        people = parts.join(number, range(4))
        taking = parts.participation
        rows = []
        for who in people:
            rows.append(sent(taking.device(who), filled(taking.form(who), turn=1)))
            taking.submit(who, rows[-1])
        assert parts.do(number, Task.SETTLE).problem == ""
        for who, row in zip(people, rows, strict=True):
            assert words(taking.share(who, row)) == words(taking.share(who))
            assert " EUR" in words(taking.share(who))
        with pytest.raises(InvalidInput, match="not a column"):
            taking.share(people[0], {"answer": "yes"})


def test_what_was_stored_for_somebody_is_reported_as_it_was(tmp_path: Path) -> None:
    """Who withdrew has no share, whatever she types; who handed in nothing reads so, as long as that can be known."""
    with Parts.at(tmp_path) as parts:
        number, taking = parts.open(kind("bits").template), parts.participation
        participant, gone, idle, *others = parts.join(number, range(6))
        for who in (participant, gone, *others):  # so that something is due: else all is erased at once
            taking.submit(who, {"report": "yes"})
        assert taking.withdraw(gone)
        assert parts.do(number, Task.SETTLE).problem == ""
        for values in (None, {"report": "yes"}):
            with pytest.raises(Refused, match="the participant has withdrawn"):
                taking.share(gone, values)
        assert "You handed in nothing" in words(taking.share(idle))
        assert "erased" not in words(taking.share(idle))
        assert "You handed in nothing" not in words(taking.share(participant))


def test_a_winner_reads_the_names_of_the_goods_after_their_record_is_erased(tmp_path: Path) -> None:
    text = kind("matching").template
    for said, fewer in (("count = 600", "count = 200"), ("[110, 120, 120, 120]", "[37, 40, 40, 40]"),
                        ("epsilon = 4.0", "epsilon = 8.0")):
        assert said in text
        text = text.replace(said, fewer)
    with Parts.at(tmp_path) as parts:
        number = parts.open(text)
        taking, (who, other) = parts.participation, parts.join(number, [0, 1])
        taking.submit(who, {"algebra": "0", "drawing": "0", "law": "90", "music": "0"})
        assert parts.do(number, Task.SETTLE).problem == ""
        reported, (again,) = words(taking.share(who)), taking.share(who, {"law": "90"})
        assert "All records were erased" in reported
        got = again.title.removeprefix("Participant 1: ")
        assert reported.endswith("law" if got == "law" else "You get nothing.")
        assert "You get nothing." in words(taking.share(Participant(number, other.slot)))


def test_a_stored_share_has_its_unit() -> None:
    terms = PayoutTerms(column="payment", currency="EUR", minor_units=100, highest=5000)
    assert "6.41 EUR" in words([share_section({"payment": 641}, terms)])
