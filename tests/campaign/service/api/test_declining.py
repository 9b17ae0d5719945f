"""Whoever declines a contract is told so, by the API and on her page; and the operator, what is to be done."""

from __future__ import annotations

from pathlib import Path

from campaign.service.clients import serving
from confide.campaign.service.shell.guards import PARTICIPANT_COOKIE
from confide.contract import kind


def test_declining(tmp_path: Path) -> None:
    with serving(tmp_path, settling=False) as (_, anybody):
        olga = anybody.logged_in("olga")
        draft = olga("POST", "/drafts", json={"text": kind("mean").template}, status=201)["number"]
        at = f"/campaigns/{olga('POST', f'/drafts/{draft}/open')['number']}"
        codes = olga("POST", f"{at}/invitations", json={"slots": [0, 1]})["codes"]
        people = [anybody.joined(each["code"]) for each in codes]
        for turn, her in enumerate(people):
            (field,) = her("GET", "/mine/form")["fields"]
            her("PUT", "/mine/report", json={"values": {field["column"]: f"0.{turn + 2}"}}, status=204)
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
        said = olga("POST", f"{at}/rounds/final", json={"confirm": True}, status=409)
        assert "draw up another round" in said["limit"]
        assert olga("POST", f"{at}/rounds", json={})["without"] == [codes[1]["id"]]
        assert olga("POST", f"{at}/rounds/final", json={"confirm": True})["final"] is True
        assert "You have declined" in page()
