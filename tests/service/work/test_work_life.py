"""Every kind from a draft to shares, by the service's parts alone."""

from __future__ import annotations

import csv
import io
import json
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from cases import fast
from confide.campaign import State, Store, verify
from confide.campaign.backup import backup
from confide.campaign.store import service_schema as t
from confide.campaign.store.reports import put_row
from confide.contract import InvalidInput, Refused, kind
from confide.service.work import Drafts, Opened, Task
from confide.service.work import opened as opened_module
from confide.service.work.opened import payout_file, take_answer
from confide.service.work.rounds import FIRST
from people.all_kinds import PEOPLES
from service.parts import Parts, filled, sent


def known_of(parts: Parts, number: int) -> str:
    """What an operator knows of everybody, in any group."""
    opened = parts.opened.get(number)
    found = opened.campaign.file.kind
    fields = found.known(opened.campaign.file.config, opened.campaign.plan)
    rows = [",".join([who, *(field.choices[0] for field in fields)]) for who in opened.identities]
    return "\n".join([",".join(["id", *(field.column for field in fields)]), *rows]) + "\n"


@pytest.mark.parametrize("name", fast(1, [name for name in PEOPLES if name != "mean"]))
def test_a_kind_of_peoples_records(name: str, tmp_path: Path) -> None:
    with Parts.at(tmp_path) as parts:
        number = parts.open(kind(name).template)
        people = parts.join(number, range(6))
        for turn, who in enumerate(people):
            standing = parts.participation.standing(who)
            assert (standing.asks, standing.handed_in, standing.withdrawn) == ("record", False, False)
            assert parts.participation.offer(who)
            typed = filled(parts.participation.form(who), turn)
            row = sent(parts.participation.device(who), typed)
            parts.participation.submit(who, row)
            parts.participation.submit(who, row)  # again, as another tab does
            if standing.local and turn < 2:  # another draw of the same person would cost her again
                other = sent(parts.participation.device(who), typed, drawn=0)
                with pytest.raises(Refused, match="a second report would disclose more"):
                    parts.participation.submit(who, other)
            assert parts.participation.standing(who).handed_in
        assert parts.store.submitted(number) == 6
        assert parts.participation.withdraw(people[5])
        assert parts.participation.standing(people[5]).withdrawn
        with pytest.raises(Refused, match="not settled"):
            parts.participation.share(people[0])
        job = parts.do(number, Task.SETTLE)
        assert (job.state, job.problem) == ("done", "")
        assert parts.store.get(number).state is State.SETTLED
        assert verify(parts.opened.get(number).pack).passed
        assert parts.participation.share(people[0])
        if parts.store.has_withdrawn(number, people[5].slot):  # until all is paid: here, nothing may be due
            with pytest.raises(Refused, match="withdrawn"):
                parts.participation.share(people[5])
        with pytest.raises(Refused, match="nothing is asked"):
            parts.participation.submit(people[0], {})
        if parts.store.payouts(number).done:  # nothing was due, so that shares stay, with those who may look at them
            assert private(parts.opened.get(number).folder) == []
            assert sessions(parts) == 6
            assert parts.join(number, [1])


def test_no_campaign_is_opened_in_which_no_device_would_draw(tmp_path: Path) -> None:
    """The program in the browser follows no level above 10."""
    text = kind("bits").template
    assert text.count("epsilon = 1.0 ") == 2
    with Parts.at(tmp_path) as parts:
        with pytest.raises(Refused, match=r"do not draw reports at this large level.*10 at most"):
            parts.open(text.replace("epsilon = 1.0 ", "epsilon = 10.5 "))
        parts.open(text.replace("epsilon = 1.0 ", "epsilon = 10.0 "))


def private(folder: Path) -> list[str]:
    """All files of a campaign besides the public ones: what people have handed in, and what follows from it."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*")
                  if "pack" not in path.relative_to(folder).parts[:1])


def pay_all(parts: Parts, number: int) -> None:
    """Approve, export, and have the bank say that everybody is paid."""
    campaign = parts.opened.get(number).campaign
    campaign.approve_payouts(campaign.payouts(store=parts.store).queue.code, store=parts.store)
    _, data = payout_file(campaign, parts.store)
    rows = list(csv.DictReader(io.StringIO(data.decode())))
    answer = "reference,status\n" + "".join(f"{row['reference']},paid\n" for row in rows)
    assert take_answer(campaign, parts.store, answer.encode())["paid"] == len(rows) > 0


def sessions(parts: Parts) -> int:
    """How many participants' sessions the store has."""
    with parts.store.database.reading() as connection:
        return len(connection.execute(select(t.participant_session.c.digest)).all())


def test_a_kind_with_contracts(tmp_path: Path) -> None:
    """A report first, a contract that may be declined, and a record on the final one."""
    with Parts.at(tmp_path) as parts:
        number = parts.open(kind("mean").template)
        opened = parts.opened.get(number)
        people = parts.join(number, range(8))
        taking = parts.participation
        for turn, who in enumerate(people):
            assert taking.standing(who).asks == "report"
            assert taking.device(who) is None
            (field,) = taking.form(who)
            taking.submit(who, {field.column: f"{(turn + 0.5) / 1000:g}"})
        with parts.store.database.writing() as connection:  # the others at once
            for slot in range(len(people), 1000):
                row = {"id": str(slot + 1), "concern": repr((slot + 0.5) / 1000)}
                put_row(connection, number, slot, json.dumps(row), FIRST)
        assert parts.rounds.draw_up(opened).number == 1
        assert private(opened.folder) == ["contracts.json"]
        assert taking.standing(people[3]).asks == "contract"
        first = taking.contract(people[3])
        assert first is not None
        assert not first.final
        taking.decline(people[3])
        drawn = parts.rounds.draw_up(opened)
        assert (drawn.number, drawn.without) == (2, ("4",))
        parts.rounds.finish(opened)
        assert parts.store.get(number).state is State.CHARGED
        with pytest.raises(Refused, match="no contract to decline"):
            taking.decline(people[3])
        asked = 0
        for who in people:
            instructions = taking.device(who)
            assert instructions is not None
            if instructions["steps"] == "0":
                continue
            asked += 1
            (field,) = taking.form(who)
            typed = {field.column: "30"}
            taking.submit(who, sent(instructions, typed, drawn=-3))
            taking.submit(who, sent(instructions, typed, drawn=-3))  # the same one, as another tab does
            with pytest.raises(Refused, match="a second report would disclose more"):
                taking.submit(who, sent(instructions, typed, drawn=2))
            with pytest.raises(InvalidInput, match="is not a text of a participant's device"):
                taking.submit(who, typed)  # the record itself must not be sent
        assert asked
        parts.jobs.ask(number, Task.SETTLE)
        with pytest.raises(Refused, match="the collection is over"):  # what is settled must not change meanwhile
            taking.submit(who, sent(instructions, typed, drawn=-3))
        assert parts.do(number, Task.SETTLE).problem == ""
        assert private(opened.folder) == ["contracts.json"]
        assert verify(opened.pack).passed
        shown = [taking.share(who) for who in people]
        assert all(shown)
        assert (sessions(parts), len(parts.join(number, [9]))) == (8, 1)  # she may have lost hers
        pay_all(parts, number)
        assert private(opened.folder) == []  # single payments, and who declined
        assert verify(opened.pack).passed
        assert sessions(parts) == 0
        for slots in ([9], range(1000)):
            with pytest.raises(Refused, match="everybody is paid"):
                parts.invitations.invite(number, slots)
        with tarfile.open(backup(tmp_path / "copy.tar", store=parts.store)) as archive:
            assert [name for name in archive.getnames() if "service/" in name and "/pack/" not in name] == []


def test_nothing_private_is_left_of_a_cancelled_campaign(tmp_path: Path) -> None:
    """And of a campaign of the same number, in another store of the installation, nothing is taken."""
    with Parts.at(tmp_path) as parts:
        number = parts.open(kind("mean").template)
        opened = parts.opened.get(number)
        (who,) = parts.join(number, [0])
        parts.participation.submit(who, {"concern": "0.1"})
        parts.rounds.draw_up(opened)
        with Store(f"sqlite:///{tmp_path / 'other.db'}", home=parts.store.home) as other:
            assert other.open(opened.campaign.file, 1000).number == number
            other.cancel(number)
        assert private(opened.folder) == ["contracts.json"]
        parts.store.cancel(number)
        assert private(opened.folder) == []


QUERIES = """\
format = 1
kind = "queries"
title = "Do those who smoke sleep?"
[budget]
data_set = "sleep"
epsilon = 9.0
delta = 1e-6
[data]
source = "tables/sleep.csv"
records = 400
id = "id"
[[columns]]
column = "smokes"
levels = ["no", "yes"]
[[columns]]
column = "sleeps"
levels = ["badly", "well"]
[workload]
form = "complete"
width = 2
[privacy]
epsilon = 4.0
delta = 1e-7
"""


def test_a_custodians_kind(tmp_path: Path) -> None:
    """Nobody is invited; the table lies in the data folder, and nothing else is opened."""
    with Parts.at(tmp_path) as parts:
        with pytest.raises(InvalidInput, match="not in the service's data folder"):
            parts.open(QUERIES)
        for outside in ("../secret.csv", str(tmp_path / "secret.csv"), "postgresql://host/db", "a/../../b.csv", ""):
            with pytest.raises(InvalidInput, match=r"data\.source"):
                parts.open(QUERIES.replace("tables/sleep.csv", outside))
        (tmp_path / "secret.csv").write_text("id,smokes,sleeps\n1,no,well\n")
        (parts.data / "tables").mkdir()
        (parts.data / "tables" / "sleep.csv").symlink_to(tmp_path / "secret.csv")
        with pytest.raises(InvalidInput, match="is a link to a place outside of"):
            parts.open(QUERIES)
        (parts.data / "tables" / "sleep.csv").unlink()
        rows = [f"{i},{'yes' if i % 3 else 'no'},{'well' if i % 5 else 'badly'}" for i in range(1, 401)]
        (parts.data / "tables" / "sleep.csv").write_text("id,smokes,sleeps\n" + "\n".join(rows) + "\n")
        number = parts.open(QUERIES)
        assert parts.do(number, Task.SETTLE).problem == ""
        assert verify(parts.opened.get(number).pack).passed
        audit = parts.do(number, Task.AUDIT)
        assert audit.state == "done"
        assert audit.result["passed"] is True


def test_without_a_data_folder_nobody_holds_a_table(tmp_path: Path) -> None:
    with Parts.at(tmp_path) as parts:
        drafts = Drafts(parts.store)
        with pytest.raises(Refused, match="no data folder"):
            drafts.open(drafts.new(QUERIES, parts.operator.number).number)


def test_an_opened_campaign_is_read_once_and_before_anybody_asks(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    real = opened_module.parse

    def counted(text: bytes, path: Path, **how: Any) -> Any:
        read.append(len(text))
        return real(text, path, **how)

    monkeypatch.setattr(opened_module, "parse", counted)
    first = parts.open(kind("bits").template)
    fresh = Opened(parts.store)  # of another process
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(fresh.get, [first] * 8))
    assert len({id(each) for each in found}) == 1
    assert len(read) == 1
    second = parts.open(kind("matching").template)
    closed = parts.open(kind("regression").template)
    parts.store.close_collection(closed)
    fresh.look_ahead()
    assert len(read) == 2
    fresh.get(second)
    assert len(read) == 2
    fresh.get(closed)
    assert len(read) == 3
