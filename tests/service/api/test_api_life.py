"""A whole campaign over the API: operator, participants, public."""

from __future__ import annotations

import io
import time
import zipfile
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from confide.campaign import verify
from confide.contract import kind
from confide.service.access import Participant
from confide.service.work import Worker
from service.clients import Caller, serving
from service.parts import sent


def settled(operator: Caller, number: int) -> dict[str, Any]:
    """Ask for the settlement, and wait for it."""
    operator("POST", f"/campaigns/{number}/settle", json={"confirm": True}, status=202)
    for _ in range(1200):
        job: dict[str, Any] = operator("GET", f"/campaigns/{number}/jobs/settle")
        if job["state"] in ("done", "failed"):
            return job
        time.sleep(0.05)
    raise AssertionError(job)


def test_the_draft_that_was_read_is_the_one_that_is_opened(tmp_path: Path) -> None:
    with serving(tmp_path, settling=False) as (app, anybody):
        olga, text = anybody.logged_in("olga"), kind("bits").template
        draft = olga("POST", "/drafts", json={"text": text}, status=201)
        at = f"/drafts/{draft['number']}"
        plan = olga("POST", f"{at}/plan")
        assert plan["version"] == draft["version"] == 1
        changed = {"text": text.replace('title = "', 'title = "Otherwise: '), "version": 1}
        anybody.logged_in("ada")("PUT", at, json=changed)
        said = olga("POST", f"{at}/open", json={"version": plan["version"]}, status=409)
        assert said["detail"] == "the draft was changed meanwhile; read it again"
        assert app.state.parts.opened.all() == ()
        assert olga("POST", f"{at}/open", json={"version": 0}, status=422)["field"] == "version"
        version = olga("POST", f"{at}/plan")["version"]
        found = olga("POST", f"{at}/open", json={"version": version})
        assert found["title"].startswith("Otherwise: ")
        assert olga("POST", f"{at}/open") == olga("POST", f"{at}/open", json={}) == found  # which opens nothing anew
        body = anybody("GET", "/openapi.json")["paths"]["/api/v1/drafts/{number}/open"]["post"]["requestBody"]
        assert not body.get("required")


def test_bits_from_a_draft_to_payouts(tmp_path: Path) -> None:
    with serving(tmp_path) as (app, anybody):
        olga = anybody.logged_in("olga")
        draft = olga("POST", "/drafts", json={"text": kind("bits").template}, status=201)
        plan = olga("POST", f"/drafts/{draft['number']}/plan")
        assert plan["ledger"].startswith("The ledger admits")
        assert (plan["charged_at"], plan["cost"]) == ("opening", "epsilon = 1")
        assert plan["opening"].startswith("Opening charges the ledger epsilon = 1 for all 200 invited people of")
        assert olga("GET", "/ledger")["data_sets"] == []
        opened = olga("POST", f"/drafts/{draft['number']}/open")
        number = opened["number"]
        assert opened["charged"]
        assert len(olga("GET", "/ledger")["data_sets"]) == 1
        progress = olga("GET", f"/campaigns/{number}/progress")
        assert [progress[name] for name in ("charged", "charged_at", "cost")] == [True, "opening", "epsilon = 1"]
        other = olga("POST", "/drafts", json={"text": kind("bits").template.replace('title = "', 'title = "Again: ')},
                     status=201)["number"]
        assert "refuses" in olga("POST", f"/drafts/{other}/plan")["ledger"]
        assert "does not admit" in olga("POST", f"/drafts/{other}/open", status=409)["detail"]
        name = olga("GET", "/ledger")["data_sets"][0]
        near = olga("POST", "/drafts", json={"text": kind("bits").template.replace(f'"{name}"', f'"{name.upper()} 2"')},
                    status=201)["number"]
        said = (f"The data set '{name.upper()} 2' is new to the ledger, which knows '{name}'. If these data sets hold "
                "the same")
        assert said in olga("POST", f"/drafts/{near}/plan")["ledger"]
        assert anybody("GET", "/campaigns")["campaigns"][0]["number"] == number
        assert len(anybody("GET", "/campaigns")["campaigns"]) == 1
        assert anybody("GET", f"/campaigns/{number}/offer")["sections"] == plan["offer"]
        codes = olga("POST", f"/campaigns/{number}/invitations", json={"slots": [0, 1, 2]})["codes"]
        assert codes[0]["link"] == f"http://localhost:8000/join#{codes[0]['code']}"
        people = [anybody.joined(each["code"]) for each in codes]
        anybody("POST", "/join", json={"code": codes[0]["code"]}, status=401)
        for answer, participant in zip(("yes", "no", "yes"), people, strict=True):
            form = participant("GET", "/mine/form")
            typed = {form["fields"][0]["column"]: answer}
            participant("PUT", "/mine/report", json={"values": sent(form["device"], typed)}, status=204)
            assert participant("GET", "/mine")["handed_in"]
        assert olga("GET", f"/campaigns/{number}/progress")["handed_in"] == 3
        taking = app.state.parts.participation
        for slot in range(3, 200):  # all others
            who = Participant(number, slot)
            taking.submit(who, sent(taking.device(who), {"answer": "no"}))
        people[2]("POST", "/mine/withdraw")
        people[0]("POST", "/mine/share", json={}, status=409)
        assert settled(olga, number)["problem"] == ""
        assert people[0]("POST", "/mine/share", json={})["sections"]
        assert anybody("GET", f"/campaigns/{number}/result")["sections"]
        with zipfile.ZipFile(io.BytesIO(anybody("GET", f"/campaigns/{number}/pack.zip"))) as archive:
            archive.extractall(tmp_path / "pack")
        listed = anybody("GET", f"/campaigns/{number}/pack")
        assert verify(tmp_path / "pack", key=listed["fingerprint"]).passed
        assert anybody("GET", f"/campaigns/{number}/pack/manifest.json")
        queue = olga("GET", f"/campaigns/{number}/payouts")
        due = olga("POST", f"/campaigns/{number}/payouts/approve", json={"code": queue["code"]})["people"]
        assert 150 < due < 200
        batch = olga("POST", f"/campaigns/{number}/payouts/batches", json={}).decode().splitlines()
        assert olga("POST", f"/campaigns/{number}/payouts/batches/1", json={}).decode().splitlines() == batch
        answer = "reference,status\n" + "".join(f"{line.partition(',')[0]},paid\n" for line in batch[1:])
        reported = olga("POST", f"/campaigns/{number}/payouts/confirmations", content=answer,
                        headers={"Content-Type": "text/csv"})
        assert reported == {"paid": due, "failed": 0, "known": 0}
        people[0]("POST", "/mine/share", json={}, status=401)  # erased, with her session: her own record gives it
        olga("POST", f"/campaigns/{number}/invitations", json={"slots": [0]}, status=409)
        assert olga("GET", "/ledger")["data_sets"]


def test_a_process_whose_worker_is_dead_is_not_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(self: Worker, stop: Event) -> None:
        assert not stop.is_set()

    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
    with serving(tmp_path / "one") as (_, anybody):
        assert anybody.client.get("/health/ready").status_code == 200
    monkeypatch.setattr(Worker, "run", dies)
    with serving(tmp_path / "two") as (app, anybody):
        for thread in app.state.parts._threads[2:]:
            thread.join()
        answer = anybody.client.get("/health/ready")
        assert answer.status_code == 503
        assert "nobody does this process's jobs" in answer.json()["detail"]
        assert anybody.client.get("/health/live").status_code == 200
    with serving(tmp_path / "three", settling=False) as (_, anybody):  # others do jobs
        assert anybody.client.get("/health/ready").status_code == 200
