"""A custodian's table in a service: a settlement that stops, whom it tells why, and how its operator goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaign.reported_files import survey
from service.api.test_api_life import settled
from service.clients import Caller, serving
from service.web.test_pages import Browser, finished

WHY = "income: 55 cells are empty"


def stopped(folder: Path, anybody: Caller) -> tuple[Caller, int]:
    """An operator, and a campaign whose settlement has stopped before the charge."""
    olga, path = anybody.logged_in("olga"), survey(folder / "data")
    draft = olga("POST", "/drafts", json={"text": path.read_text()}, status=201)["number"]
    number = olga("POST", f"/drafts/{draft}/open")["number"]
    job = settled(olga, number)
    assert job["state"] == "failed"
    assert job["problem"].startswith("data.source: 60 of 1,000 rows cannot be used")
    assert WHY in job["problem"]
    assert not olga("GET", f"/campaigns/{number}/progress")["charged"]
    return olga, number


def test_operators_alone_are_reported_why_a_settlement_stopped(tmp_path: Path) -> None:
    with serving(tmp_path) as (app, anybody):
        olga, number = stopped(tmp_path, anybody)
        vera = anybody.logged_in("vera")
        for read in (vera("GET", f"/campaigns/{number}/progress")["settling"],
                     vera("GET", f"/campaigns/{number}/jobs/settle")):
            assert (read["state"], read["problem"]) == ("failed", "the job failed; operators can see the reason")
        seen = Browser(app)
        seen.log_in("vera")
        assert "operators can see the reason" in seen.see(f"/desk/campaigns/{number}")
        assert "data.source" not in seen.text
        assert WHY in olga("GET", f"/campaigns/{number}/progress")["settling"]["problem"]


@pytest.mark.parametrize("by", ["API", "desk"])
def test_an_operator_may_go_on(tmp_path: Path, by: str) -> None:
    with serving(tmp_path) as (app, anybody):
        olga, number = stopped(tmp_path, anybody)
        if by == "API":
            olga("POST", f"/campaigns/{number}/settle", json={"confirm": True, "accept_unusable": "perhaps"},
                 status=422)
            olga("POST", f"/campaigns/{number}/settle", json={"confirm": True, "accept_unusable": True}, status=202)
        browser = Browser(app)
        browser.log_in("olga")
        browser.see(f"/desk/campaigns/{number}")
        if by == "desk":
            assert "Go on even if too many rows of the file cannot be used" in browser.text
            browser.send(f"/desk/campaigns/{number}/settle", meant="yes", unusable="yes")
        finished(browser, number, "settle")
        assert olga("GET", f"/campaigns/{number}")["state"] == "settled"
        assert "unusable" not in anybody("GET", f"/campaigns/{number}/file").decode()
