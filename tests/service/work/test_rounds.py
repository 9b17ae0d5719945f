"""Rounds of contracts while several people decide at once: one is final, and nobody is in it who has said no."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from confide.campaign.contracts import round_of
from confide.campaign.kinds.mean import MeanKind
from confide.campaign.store.reports import put_row
from confide.campaign.store.states import State
from confide.contract import InvalidInput, Refused, kind
from confide.service.access import Participant
from confide.service.work import OpenedCampaign, Task
from confide.service.work.rounds import FIRST
from service.parts import Parts, sent


def reported(parts: Parts, people: int = 6) -> tuple[OpenedCampaign, list[Participant]]:
    """A campaign in which everybody has reported; some of them have joined."""
    number = parts.open(kind("mean").template)
    joined = parts.join(number, range(people))
    with parts.store.database.writing() as connection:
        for slot in range(1000):
            row = {"id": str(slot + 1), "concern": repr((slot + 0.5) / 1000)}
            put_row(connection, number, slot, json.dumps(row), FIRST)
    return parts.opened.get(number), joined


def once_drawn(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Do something when the next round has been computed, and is not written yet."""
    real = MeanKind.draw_up

    def then(self: MeanKind, *args: Any, **more: Any) -> Any:
        found = real(self, *args, **more)
        monkeypatch.setattr(MeanKind, "draw_up", real)
        act()
        return found

    monkeypatch.setattr(MeanKind, "draw_up", then)


def test_a_round_that_is_made_final_while_another_is_drawn_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stays as it was, devices draw by it, and it is settled."""
    with Parts.at(tmp_path) as parts:
        opened, people = reported(parts)
        assert parts.rounds.draw_up(opened).number == 1
        once_drawn(monkeypatch, lambda: parts.rounds.finish(opened))
        with pytest.raises(Refused, match="contracts of this campaign are final"):
            parts.rounds.draw_up(opened, [str(each) for each in range(900, 1001)])
        found = round_of(opened.campaign.file, parts.store.home, final=True)
        assert (found.number, found.without) == (1, ())
        assert parts.rounds.finish(opened).number == 1
        instructions = parts.participation.device(people[0])
        assert instructions is not None
        (field,) = parts.participation.form(people[0])
        parts.participation.submit(people[0], sent(instructions, {field.column: "30"}, drawn=7))
        assert parts.do(opened.number, Task.SETTLE).problem == ""
        assert parts.participation.share(people[0])


def test_of_two_rounds_that_are_drawn_up_at_once_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of one number would be offered otherwise, to different people."""
    with Parts.at(tmp_path) as parts:
        opened, _ = reported(parts)
        for number in (1, 2):  # also where there was none before
            once_drawn(monkeypatch, lambda number=number: parts.rounds.draw_up(opened, [f"{10 * number}"]))
            with pytest.raises(Refused, match="another round was drawn up meanwhile"):
                parts.rounds.draw_up(opened)
            found = round_of(opened.campaign.file, parts.store.home)
            assert (found.number, found.without) == (number, ("10", "20")[:number])
        assert [path.name for path in opened.folder.iterdir()] == ["contracts.json"]


def test_a_round_is_replaced_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever dies while writing leaves the earlier one; what she left of the next goes when it is written again."""
    with Parts.at(tmp_path) as parts:
        opened, _ = reported(parts)
        parts.rounds.draw_up(opened)
        left = opened.folder / ".contracts.json-abcd_123"
        left.write_text("half a round")
        other = opened.folder / ".contracts.json-of somebody else"
        other.write_text("")

        def dies(*_: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr("os.replace", dies)
            with pytest.raises(KeyboardInterrupt):
                parts.rounds.draw_up(opened, ["7"])
        assert round_of(opened.campaign.file, parts.store.home).number == 1
        assert parts.rounds.draw_up(opened, ["7"]).number == 2
        assert not left.exists()
        assert other.exists()


def test_nobody_is_in_a_final_round_who_has_declined_or_withdrawn(parts: Parts) -> None:
    opened, people = reported(parts)
    taking, rounds = parts.participation, parts.rounds
    rounds.draw_up(opened)
    taking.decline(people[2])
    assert taking.standing(people[2]).declined
    assert not taking.standing(people[3]).declined
    for number, without in ((1, ("3",)), (2, ("3", "2"))):
        with pytest.raises(Refused, match=f"round {number} includes a person who has declined or withdrawn.*draw up "
                                          f"another round"):
            rounds.finish(opened)
        assert parts.store.get(opened.number).state is State.OPEN
        assert parts.store.home.final_round(opened.campaign.file.digest) is None
        assert rounds.draw_up(opened).without == without
        if number == 1:
            assert taking.withdraw(people[1])
    with pytest.raises(InvalidInput, match="has the id of a person who has withdrawn"):
        rounds.draw_up(opened, again=["2"])
    assert rounds.finish(opened).without == ("3", "2")
    assert taking.standing(people[2]).declined


def test_a_participant_who_declined_takes_part_after_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Parts.at(tmp_path) as parts:
        opened, people = reported(parts)
        taking, rounds, participant = parts.participation, parts.rounds, people[2]
        rounds.draw_up(opened)
        taking.decline(participant)
        assert rounds.draw_up(opened).without == ("3",)
        assert rounds.draw_up(opened, again=["3"]).without == ()
        assert not taking.standing(participant).declined
        taking.decline(participant)
        with pytest.raises(Refused, match="round 3 includes a person"):
            rounds.finish(opened)
        real = type(parts.store).forget_row

        def declines(*args: Any, **more: Any) -> None:
            taking.decline(participant)  # the new round, which she is shown since a moment
            real(*args, **more)

        monkeypatch.setattr(type(parts.store), "forget_row", declines)
        assert rounds.draw_up(opened, again=["3"]).number == 4
        assert taking.standing(participant).declined
        with pytest.raises(Refused, match="round 4 includes a person"):
            rounds.finish(opened)


def test_nobody_declines_while_a_round_is_made_final(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """She waits until it is, and is told so; also where whoever made it final has died on the way."""
    with Parts.at(tmp_path) as parts:
        opened, people = reported(parts)
        parts.rounds.draw_up(opened)
        real, reasons = parts.store.check_charge, list[str]()

        def declines() -> None:
            try:
                parts.participation.decline(people[0])
            except Refused as error:
                reasons.append(error.reason)

        thread = Thread(target=declines)

        def dies(*_: object) -> None:
            thread.start()
            thread.join(0.2)
            assert thread.is_alive()
            raise KeyboardInterrupt

        monkeypatch.setattr(parts.store, "check_charge", dies)
        with pytest.raises(KeyboardInterrupt):
            parts.rounds.finish(opened)
        thread.join(60)
        assert reasons == ["there is no contract to decline"]
        monkeypatch.setattr(parts.store, "check_charge", real)
        assert parts.rounds.finish(opened).final


def test_no_report_changes_while_a_round_is_drawn_up_from_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is told that something is stored from which her contract does not follow; a withdrawal is always taken."""
    with Parts.at(tmp_path) as parts:
        opened, people = reported(parts)
        taking, participant, reasons = parts.participation, people[0], list[str]()
        assert opened.contracts is not None

        def refused_by(who: Participant, concern: str) -> None:
            with pytest.raises(Refused) as caught:
                taking.submit(who, {"concern": concern})
            reasons.append(caught.value.reason)

        taking.submit(participant, {"concern": "0.1"})
        once_drawn(monkeypatch, lambda: refused_by(participant, "0.95"))
        found = parts.rounds.draw_up(opened)
        assert json.loads(str(parts.store.row_of(opened.number, participant.slot, phase=FIRST)))["concern"] == "0.1"
        terms = opened.contracts.terms(opened.campaign.file.config, found.drawn, "1")
        refused_by(participant, "0.95")
        assert reasons == ["the operator draws up contracts now", "nothing is asked for now"]
        once_drawn(monkeypatch, lambda: taking.withdraw(people[1]))
        again = parts.rounds.draw_up(opened)
        assert opened.contracts.terms(opened.campaign.file.config, again.drawn, "1") == terms  # what is stored
        assert parts.rounds.draw_up(opened).without == ("2",)


def test_a_round_that_comes_to_nothing_leaves_reports_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Parts.at(tmp_path) as parts:
        opened, (participant, *_) = reported(parts)

        def fails() -> None:
            raise MemoryError

        once_drawn(monkeypatch, fails)
        with pytest.raises(MemoryError):
            parts.rounds.draw_up(opened)
        parts.participation.submit(participant, {"concern": "0.95"})
        assert json.loads(str(parts.store.row_of(opened.number, participant.slot, phase=FIRST)))["concern"] == "0.95"


def test_a_report_that_is_being_stored_is_in_the_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever draws one up waits until it is: what was asked for before is not stored after."""
    with Parts.at(tmp_path) as parts:
        opened, (participant, *_) = reported(parts)
        real, found = type(parts.store).hand_row, list[Any]()
        thread = Thread(target=lambda: found.append(parts.rounds.draw_up(opened)))

        def slow(*args: Any, **more: Any) -> None:
            thread.start()
            thread.join(0.5)
            assert thread.is_alive()
            real(*args, **more)

        with monkeypatch.context() as patch:
            patch.setattr(type(parts.store), "hand_row", slow)
            parts.participation.submit(participant, {"concern": "0.95"})
        thread.join(60)
        again = parts.rounds.draw_up(opened)
        assert (found[0].number, again.number) == (1, 2)
        assert found[0].drawn == again.drawn


def test_the_round_that_was_read_is_the_one_that_is_made_final(parts: Parts) -> None:
    opened, _ = reported(parts)
    parts.rounds.draw_up(opened)
    parts.rounds.draw_up(opened, [str(each) for each in range(500, 1001)])
    with pytest.raises(Refused, match=r"the present round is round 2, not round 1.*look at the present round first"):
        parts.rounds.finish(opened, 1)
    assert parts.store.get(opened.number).state is State.OPEN
    assert parts.store.home.final_round(opened.campaign.file.digest) is None
    assert parts.rounds.finish(opened, 2).number == 2
    with pytest.raises(Refused, match="round 2 is final, not round 1"):
        parts.rounds.finish(opened, 1)
    assert parts.rounds.finish(opened, 2).final


@pytest.mark.parametrize("final", [False, True])
def test_who_has_withdrawn_has_no_contract(final: bool, tmp_path: Path) -> None:
    with Parts.at(tmp_path) as parts:
        opened, people = reported(parts)
        parts.rounds.draw_up(opened)
        if final:
            parts.rounds.finish(opened)
        taking, (who, other, *_) = parts.participation, people
        before = taking.offer(other)
        assert taking.contract(who) is not None
        assert taking.withdraw(who)
        assert taking.contract(who) is None
        assert taking.offer(who) == opened.campaign.offer(home=parts.store.home)
        assert taking.offer(other) == before


def test_no_round_is_drawn_up_where_nothing_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the installation has noted of it: where the campaign stands, the store says, before a report is read."""
    with Parts.at(tmp_path) as parts:
        opened, people = reported(parts)
        parts.rounds.draw_up(opened)
        read: list[int] = []
        real = MeanKind.draw_up

        def looked(self: MeanKind, *args: Any, **more: Any) -> Any:
            read.append(1)
            return real(self, *args, **more)

        monkeypatch.setattr(MeanKind, "draw_up", looked)
        parts.rounds.finish(opened)
        monkeypatch.setattr(type(parts.store.home), "final_round", lambda *_: None)
        with pytest.raises(Refused, match="contracts of this campaign are final"):
            parts.rounds.draw_up(opened)
        with pytest.raises(Refused, match="no contract to decline"):
            parts.participation.decline(people[0])
        other = parts.opened.get(parts.open(kind("mean").template.replace("week 12", "week 13").replace(
            "How many", "Again: how many")))
        parts.store.cancel(other.number)
        with pytest.raises(Refused, match="the campaign is cancelled"):
            parts.rounds.draw_up(other)
        assert read == []
