"""What a process leaves that is killed: nothing of payouts; rows until the next start, or until somebody withdraws."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from confide.campaign.payouts import export
from confide.contract import InvalidInput, kind
from confide.service.app import create_app
from confide.service.shell.settings import Settings
from confide.service.work import CampaignRounds, Task
from confide.service.work.opened import payout_file, settled_campaign, take_answer
from service.clients import serving
from service.parts import Parts

PAYEES = "id,name,iban\n" + "".join(f"{i + 1},Ann Person,DE89370400440532013000\n" for i in range(200))
PAYER = "The Study,DE89370400440532013000"


def files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if not path.name.startswith("confide.db")}


def test_files_of_payouts_lie_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever kills the process at any moment finds no name, no account, no amount."""
    with Parts.at(tmp_path) as parts:
        number = parts.open(kind("bits").template)
        parts.store.submit_many(number, [(slot, b"\1\0\0") for slot in range(200)])
        parts.do(number, Task.SETTLE)
        it = settled_campaign(parts.opened.get(number), parts.store)
        it.approve_payouts(it.payouts(store=parts.store).queue.code, store=parts.store)
        before, seen = files(parts.store.home.folder), list[set[Path]]()
        for name in ("_file", "parse_confirmations"):
            real = getattr(export, name)

            def looked(*args: Any, real: Any = real, **more: Any) -> Any:
                found = real(*args, **more)
                seen.append(files(parts.store.home.folder) - before)
                return found

            monkeypatch.setattr(export, name, looked)
        with pytest.raises(InvalidInput) as caught:
            payout_file(it, parts.store, form="xml", payees=PAYEES.replace("12,Ann", "11,Ann"), payer=PAYER)
        assert (caught.value.field, str(tmp_path) in str(caught.value)) == ("payees", False)
        batch, data = payout_file(it, parts.store, form="xml", payees=PAYEES, payer=PAYER)
        assert data.count(b"Ann Person") == 200
        assert payout_file(it, parts.store, form="xml", batch=batch, payees=PAYEES, payer=PAYER) == (batch, data)
        with pytest.raises(InvalidInput) as caught:
            take_answer(it, parts.store, b"reference,status\nnobody's,perhaps\n")
        assert str(tmp_path) not in str(caught.value)
        references = [part.split("<")[0] for part in data.decode().split("<EndToEndId>")[1:]]
        answer = "reference,status\n" + "".join(f"{each},paid\n" for each in references)
        assert take_answer(it, parts.store, answer.encode()) == {"paid": 200, "failed": 0, "known": 0}
        assert seen == [set()] * len(seen)
        assert len(seen) == 4


def test_refusals_of_payouts_do_not_reveal_the_place_of_the_store(tmp_path: Path) -> None:
    with serving(tmp_path, settling=False) as (_, anybody):
        olga = anybody.logged_in("olga")
        for name in ("bits", "mean"):
            draft = olga("POST", "/drafts", json={"text": kind(name).template}, status=201)["number"]
            number = olga("POST", f"/drafts/{draft}/open")["number"]
        at = f"/campaigns/{number}"
        answers = [olga(method, f"/campaigns/1/payouts{path}", status=409, **body) for method, path, body in (
            ("GET", "", {}), ("POST", "/approve", {"json": {"code": "x"}}), ("POST", "/batches", {"json": {}}),
            ("POST", "/reopen", {}), ("POST", "/batches/1", {"json": {}}),
            ("POST", "/confirmations", {"content": b"reference,status\n", "headers": {"Content-Type": "text/csv"}}))]
        assert {each["detail"] for each in answers} == {"the campaign is not settled yet"}
        said = olga("POST", f"{at}/rounds/final", json={"confirm": True, "round": 1}, status=409)
        assert str(tmp_path) not in str(said)


def test_rows_of_a_process_that_died_are_swept(tmp_path: Path) -> None:
    """At the next start, and when somebody withdraws; what another process reads just now stays."""
    with Parts.at(tmp_path) as parts:
        number = parts.open(kind("mean").template)
        opened = parts.opened.get(number)
        (who,) = parts.join(number, [0])
        parts.participation.submit(who, {"concern": "0.1"})
        parts.rounds.draw_up(opened)
        left = opened.folder / ".rows-draft-abcd_123"

        def leave() -> None:
            (left / "rows").mkdir(parents=True)
            (left / "rows" / "records.csv").write_text("id,record\n1,30\n")

        with parts.rounds.records(opened) as campaign:
            read = campaign.file.folder / "records.csv"
            for act in (CampaignRounds(parts.store).sweep, lambda: parts.participation.withdraw(who)):
                leave()
                act()
                assert not left.exists()
                assert read.exists()
        leave()
        app = create_app(Settings(home=parts.store.home.folder, settling=False))
        with TestClient(app):
            assert not left.exists()
    assert sorted(path.name for path in opened.folder.iterdir()) == ["contracts.json"]
