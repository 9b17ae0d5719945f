"""Whoever declines a contract is told so, by the API and on her page; the operator, what is to be done, and of what."""

from __future__ import annotations

from pathlib import Path

from confide.campaign.store.reports import put_row
from confide.contract import kind
from confide.service.shell.guards import PARTICIPANT_COOKIE
from confide.service.work.rounds import FIRST
from service.clients import serving
from service.web.test_pages import Browser


def test_declining(tmp_path: Path) -> None:
    with serving(tmp_path, settling=False) as (_, anybody):
        olga = anybody.logged_in("olga")
        draft = olga("POST", "/drafts", json={"text": kind("mean").template}, status=201)["number"]
        at = f"/campaigns/{olga('POST', f'/drafts/{draft}/open')['number']}"
        codes = olga("POST", f"{at}/invitations", json={"slots": [0, 1]})["codes"]
        people = [anybody.joined(each["code"]) for each in codes]
        for turn, participant in enumerate(people):
            (field,) = participant("GET", "/mine/form")["fields"]
            participant("PUT", "/mine/report", json={"values": {field["column"]: f"0.{turn + 2}"}}, status=204)
        olga("POST", f"{at}/rounds", json={})

        def page() -> str:
            shown = anybody.client.get("/mine", headers={"Accept": "text/html",
                                                         "Cookie": f"{PARTICIPANT_COOKIE}={people[1].token}"})
            assert shown.status_code == 200
            return shown.text

        assert people[1]("GET", "/mine")["declined"] is False
        assert ("Decline this contract" in page(), "You have declined" in page()) == (True, False)
        people[1]("POST", "/mine/decline", status=204)
        assert [each("GET", "/mine")["declined"] for each in people] == [False, True]
        assert ("Decline this contract" in page(), "You have declined" in page()) == (False, True)
        said = olga("POST", f"{at}/rounds/final", json={"confirm": True, "round": 1}, status=409)
        assert "draw up another round" in said["limit"]
        assert olga("POST", f"{at}/rounds", json={})["without"] == [codes[1]["id"]]
        assert olga("POST", f"{at}/rounds/final", json={"confirm": True, "round": 2})["final"] is True
        assert "You have declined" in page()


def test_a_round_that_nobody_has_read_is_not_made_final(tmp_path: Path) -> None:
    """By the API and by the page: what was drawn up since is refused, and shown."""
    with serving(tmp_path, settling=False) as (app, anybody):
        olga, ada = anybody.logged_in("olga"), Browser(app)
        ada.log_in("ada")
        draft = olga("POST", "/drafts", json={"text": kind("mean").template}, status=201)["number"]
        number = olga("POST", f"/drafts/{draft}/open")["number"]
        at, desk = f"/campaigns/{number}", f"/desk/campaigns/{number}"
        with app.state.parts.store.database.writing() as connection:
            for slot in range(100):
                put_row(connection, number, slot, f'{{"id": "{slot + 1}", "concern": "0.{slot + 10}"}}', FIRST)
        olga("POST", f"{at}/rounds", json={})
        ada.see(desk)
        olga("POST", f"{at}/rounds", json={"without": ["7"]})
        assert olga("POST", f"{at}/rounds/final", json={"confirm": True}, status=422)["field"] == "round"
        said = olga("POST", f"{at}/rounds/final", json={"confirm": True, "round": 1}, status=409)
        assert said["detail"] == "the present round is round 2, not round 1"
        assert "look at the present round first" in said["limit"]
        assert "the present round is round 2, not round 1" in ada.send(f"{desk}/final", 409, meant="yes")
        assert "Round 2 was drawn up" in ada.text
        assert olga("GET", f"{at}/progress")["final"] is False
        ada.send(f"{desk}/final", 409, meant="yes", round="")
        ada.send(f"{desk}/final", meant="yes")  # the one that she has been shown
        found = olga("GET", f"{at}/progress")
        assert (found["final"], found["round"], found["state"]) == (True, 2, "charged")
