"""A restored installation lets in nobody who was thrown out since, and settles and pays nothing of its own accord."""

from __future__ import annotations

from pathlib import Path

import pytest

from confide.campaign import State
from confide.campaign.backup import ASKED_BEFORE, backup, confirm, held, restore
from confide.campaign.charging import charge_of
from confide.contract import InvalidInput, Refused, kind
from confide.service.access import Role
from confide.service.work import Task
from service.parts import PASSWORD, Parts, filled, sent

COPY = "this is a copy"


def answered(parts: Parts) -> int:
    """A campaign to which 190 people have answered, ten of them in the service."""
    number = parts.open(kind("bits").template)
    for turn, who in enumerate(parts.join(number, range(10))):
        typed = filled(parts.participation.form(who), turn)
        parts.participation.submit(who, sent(parts.participation.device(who), typed))
    parts.store.submit_many(number, [(slot, b"\1\0\0") for slot in range(20, 200)])
    return number


def copied(parts: Parts, folder: Path) -> Path:
    """A copy of an installation, restored in a folder of its own."""
    archive = backup(folder / "copy.tar", store=parts.store)
    (folder / "restored").mkdir()
    found = restore(archive, folder / "restored" / "home")
    assert found.home == folder / "restored" / "home"
    assert found.store == f"sqlite:///{found.home / 'store.db'}"
    return folder / "restored"


def test_who_was_let_in_then_is_not_let_in_now(tmp_path: Path) -> None:
    with Parts.at(tmp_path) as parts:
        number = answered(parts)
        (_, used), (_, unused) = parts.invitations.invite(number, [10, 11])
        joined = parts.invitations.join(used)
        eve = parts.operators.add("eve", PASSWORD, Role.ADMIN)
        session = parts.sessions.begin(eve)
        assert joined is not None
        folder = copied(parts, tmp_path)
        assert parts.sessions.participant(joined[0]) is not None  # the original goes on
    with Parts.at(folder) as parts:
        assert parts.sessions.who(session) is None
        assert parts.sessions.participant(joined[0]) is None
        assert parts.invitations.join(unused) is None
        assert parts.store.submitted(number) == 190
        assert parts.join(number, [11])  # a new code works


def test_a_copy_settles_when_somebody_who_knows_has_said_so(tmp_path: Path) -> None:
    with Parts.at(tmp_path) as parts:
        number = answered(parts)
        parts.jobs.ask(number, Task.SETTLE)  # and no worker has come yet
        folder = copied(parts, tmp_path)
    with Parts.at(folder) as parts:
        assert not parts.worker.once()  # what was asked for then is not done now
        job = parts.jobs.of(number, Task.SETTLE)
        assert job is not None
        assert (job.state, job.problem) == ("failed", ASKED_BEFORE)
        assert COPY in parts.do(number, Task.SETTLE).problem
        campaign = parts.opened.get(number).campaign
        with pytest.raises(Refused, match=COPY):
            campaign.settle(tmp_path / "out", store=parts.store)
        assert parts.store.get(number).state is State.OPEN
        with pytest.raises(Refused, match=f"confide restored --confirm {number}"):  # the last word is the store's
            parts.store.charge(number, charge_of(campaign.file, campaign.plan))
        assert [each.number for each in held(parts.store)] == [number]
        with pytest.raises(InvalidInput, match="there is no restored campaign 7 that waits"):
            confirm(parts.store, 7)
        again = backup(tmp_path / "again.tar", store=parts.store)
        assert restore(again, tmp_path / "twice").held == 1  # a copy of a copy is held, too
        assert confirm(parts.store, number).number == number
        assert held(parts.store) == ()
        assert parts.do(number, Task.SETTLE).problem == ""
        assert parts.store.get(number).state is State.SETTLED


@pytest.mark.parametrize("exported", [False, True])
def test_a_copy_pays_when_somebody_who_knows_has_said_so(exported: bool, tmp_path: Path) -> None:
    with Parts.at(tmp_path) as parts:
        number = answered(parts)
        assert parts.do(number, Task.SETTLE).problem == ""
        campaign = parts.opened.get(number).campaign
        campaign.approve_payouts(campaign.payouts(store=parts.store).queue.code, store=parts.store)
        if exported:
            campaign.export_payouts(tmp_path / "first.csv", store=parts.store)
        folder = copied(parts, tmp_path)
    with Parts.at(folder) as parts:
        campaign = parts.opened.get(number).campaign
        assert campaign.settle(tmp_path / "out", store=parts.store).number == number  # the public result is as it was
        before = campaign.payouts(store=parts.store).queue
        batch = 1 if exported else None
        for act in (lambda: campaign.export_payouts(tmp_path / "second.csv", batch=batch, store=parts.store),
                    lambda: parts.store.export(number, "csv"), lambda: campaign.reopen_payouts(store=parts.store),
                    lambda: campaign.approve_payouts(before.code, store=parts.store)):
            with pytest.raises(Refused, match=COPY):
                act()
        assert campaign.payouts(store=parts.store).queue == before
        assert not (tmp_path / "second.csv").exists()
        confirm(parts.store, number)
        assert campaign.export_payouts(tmp_path / "second.csv", batch=batch, store=parts.store) == 1


def test_final_contracts_of_a_copy_are_not_charged(tmp_path: Path) -> None:
    with Parts.at(tmp_path) as parts:
        number = parts.open(kind("mean").template)
        for who in parts.join(number, range(4)):
            parts.participation.submit(who, {"concern": "0.1"})
        parts.rounds.draw_up(parts.opened.get(number))
        folder = copied(parts, tmp_path)
    with Parts.at(folder) as parts:
        opened = parts.opened.get(number)
        with pytest.raises(Refused, match=COPY):
            parts.rounds.finish(opened)
        assert parts.store.get(number).state is State.OPEN
