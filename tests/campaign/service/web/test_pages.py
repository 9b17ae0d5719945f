"""The pages, without any script: a campaign from a draft to a share, by forms alone."""

from __future__ import annotations

import csv
import io
import re
import time
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from campaign.service.clients import serving
from campaign.service.parts import PASSWORD, filled
from confide.campaign.service.access import Participant
from confide.campaign.service.shell.guards import OPERATOR_COOKIE, PARTICIPANT_COOKIE
from confide.contract import kind

TEMPLATE = kind("matching").template


class Browser:
    """Somebody who reads pages, follows links, and fills in forms.

    Args:
        app: the application.
    """

    def __init__(self, app: FastAPI) -> None:
        self.client = TestClient(app, raise_server_exceptions=False, headers={"Accept": "text/html"})
        self.text = ""

    def see(self, path: str, status: int = 200) -> str:
        """Look at a page."""
        answer = self.client.get(path)
        assert answer.status_code == status, answer.text
        self.text = answer.text
        return self.text

    def send(self, path: str, status: int = 200, *, files: Any = None, **fields: str) -> str:
        """Send the form of this page that goes to a path."""
        assert f'action="{path}"' in self.text, path
        form = self.text.partition(f'action="{path}"')[2].partition("</form>")[0]
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form))
        answer = self.client.post(path, data={**hidden, **fields}, files=files,
                                  headers={"Sec-Fetch-Site": "same-origin"})
        assert answer.status_code == status, (answer.status_code, answer.text)
        self.text = answer.text
        return self.text

    def log_in(self, name: str) -> None:
        """As an operator."""
        self.see("/login")
        self.send("/login", name=name, password=PASSWORD)
        assert "Desk" in self.text

    def join(self, code: str) -> None:
        """As a participant."""
        self.see("/join")
        self.send("/join", code=code)


def begun(browser: Browser, text: str) -> int:
    """A campaign from the desk: its number."""
    browser.see("/desk")
    browser.send("/desk/drafts", kind="matching")
    (number,) = set(re.findall(r'action="/desk/drafts/(\d+)"', browser.text))
    browser.send(f"/desk/drafts/{number}", text=text, version="1")
    assert "The ledger admits" in browser.text
    assert "<table>" in browser.see(f"/desk/drafts/{number}/trade-off")
    browser.see(f"/desk/drafts/{number}")
    browser.send(f"/desk/drafts/{number}/open")
    (campaign,) = set(re.findall(r'action="/desk/campaigns/(\d+)/settle"', browser.text))
    return int(campaign)


def finished(browser: Browser, number: int, task: str) -> None:
    """Wait until a job is done."""
    for _ in range(600):
        if re.search(rf"id=\"{task}-state\">done", browser.see(f"/desk/campaigns/{number}")):
            return
        time.sleep(0.05)
    raise AssertionError(browser.text)


def test_the_desk_opens_the_text_that_was_looked_at(tmp_path: Path) -> None:
    with serving(tmp_path) as (app, _):
        olga, otto = Browser(app), Browser(app)
        olga.log_in("olga")
        otto.log_in("olga")
        olga.see("/desk")
        olga.send("/desk/drafts", kind="bits")
        (number,) = set(re.findall(r'action="/desk/drafts/(\d+)"', olga.text))
        otto.see(f"/desk/drafts/{number}")
        otto.send(f"/desk/drafts/{number}", text=kind("bits").template.replace("title = \"", "title = \"Otherwise: "))
        assert "the draft was changed meanwhile" in olga.send(f"/desk/drafts/{number}/open", 409)
        assert app.state.parts.opened.all() == ()
        assert "Otherwise: " in olga.text  # what stands there now is what she sees, and may open
        olga.send(f"/desk/drafts/{number}/open")
        assert len(app.state.parts.opened.all()) == 1


def test_a_campaign_by_forms_alone(tmp_path: Path) -> None:
    with serving(tmp_path) as (app, _):
        olga, hers = Browser(app), Browser(app)
        olga.log_in("olga")
        number = begun(olga, TEMPLATE)
        codes = list(csv.DictReader(io.StringIO(olga.send(f"/desk/campaigns/{number}/invite", ids="1, 2"))))
        assert [row["id"] for row in codes] == ["1", "2"]
        hers.join(codes[0]["code"])
        assert "What you report" in hers.text
        taking = app.state.parts.participation
        who = Participant(number, 0)
        typed = {f"field.{name}": text for name, text in filled(taking.form(who)).items()}
        wrong = dict.fromkeys(typed, "a lot")
        shown = hers.send("/mine/report", 422, **wrong)
        assert "is no number" in shown
        assert 'value="a lot"' in shown  # she does not type it again
        hers.send("/mine/report", **typed)
        assert "It is stored" in hers.text
        olga.see(f"/desk/campaigns/{number}")
        assert "1 of" in olga.text
        assert "cannot be undone" in olga.send(f"/desk/campaigns/{number}/settle", 422)
        olga.send(f"/desk/campaigns/{number}/settle", meant="yes")
        finished(olga, number, "settle")
        olga.send(f"/desk/campaigns/{number}/audit")
        finished(olga, number, "audit")
        assert "at most" in olga.text
        assert "See your share" in hers.see("/mine")
        assert "<section" in hers.see("/mine/share")
        public = Browser(app).see(f"/campaigns/{number}")
        assert "confide verify PACK --key" in public
        assert "Settled" in Browser(app).see("/")
        hers.see("/mine/withdraw")
        assert "You have withdrawn" in hers.send("/mine/withdraw")
        hers.see("/mine")
        hers.send("/leave")
        assert "Take part" in hers.see("/mine")


def test_forms_of_strangers_change_nothing(tmp_path: Path) -> None:
    with serving(tmp_path) as (app, _):
        olga, vera = Browser(app), Browser(app)
        olga.log_in("olga")
        vera.log_in("vera")
        for word in ("", "0" * 64, re.findall(r'name="word" value="([0-9a-f]+)"', vera.text)[0]):
            assert olga.client.post("/desk/drafts", data={"kind": "bits", "word": word}).status_code == 403
        good = re.findall(r'name="word" value="([0-9a-f]+)"', olga.text)[0]
        cross = {"Sec-Fetch-Site": "cross-site"}
        assert olga.client.post("/desk/drafts", data={"kind": "bits", "word": good}, headers=cross).status_code == 403
        assert olga.client.post("/login", data={"name": "ada", "password": PASSWORD}, headers=cross).status_code == 403
        hers = re.findall(r'name="word" value="([0-9a-f]+)"', vera.text)[0]  # her page has no such form
        answer = vera.client.post("/desk/drafts", data={"kind": "bits", "word": hers},
                                  headers={"Sec-Fetch-Site": "same-origin"})
        assert (answer.status_code, "This is for operators" in answer.text) == (403, True)
        assert app.state.parts.drafts.all() == ()


def test_cookies_are_out_of_reach(tmp_path: Path) -> None:
    for base, secure in (("http://localhost:8000", False), ("https://study.example", True)):
        (tmp_path / str(secure)).mkdir()
        with serving(tmp_path / str(secure), base_url=base) as (app, _):
            answer = TestClient(app).post("/login", data={"name": "ada", "password": PASSWORD}, follow_redirects=False)
            cookie = answer.headers["set-cookie"]
            assert cookie.startswith(f"{'__Host-' * secure}{OPERATOR_COOKIE}=")
            assert "HttpOnly" in cookie
            assert "SameSite=strict" in cookie
            assert ("Secure" in cookie) is secure


@pytest.mark.parametrize("path", ["/desk", "/desk/ledger", "/desk/campaigns/1", "/desk/drafts/1"])
def test_the_desk_is_for_operators(path: str, tmp_path: Path) -> None:
    with serving(tmp_path) as (app, _):
        assert "For operators" in Browser(app).see(path)


def test_problems_are_pages_for_browsers(tmp_path: Path) -> None:
    with serving(tmp_path) as (app, _):
        browser = Browser(app)
        for path in ("/campaigns/99", "/nowhere", "/campaigns/x"):
            answer = browser.client.get(path)
            assert answer.status_code in (404, 422)
            assert "<h1>A problem</h1>" in answer.text
        assert browser.client.get("/api/v1/campaigns/99").headers["content-type"] == "application/problem+json"
        assert browser.client.post("/mine/withdraw", data={}).status_code == 401


def test_pages_load_nothing_from_elsewhere_and_hold_no_script(tmp_path: Path) -> None:
    with serving(tmp_path) as (app, _):
        browser = Browser(app)
        for path in ("/", "/join", "/login"):
            text = browser.see(path)
            assert not re.search(r"<script(?![^>]*src=)|<style|\son\w+=|javascript:|\sstyle=", text)
            assert not re.findall(r'(?:src|href)="(?!/|#)', text)
            for link in re.findall(r'(?:src|href)="(/static/[^"]+)"', text):
                assert browser.client.get(link).status_code == 200
        assert PARTICIPANT_COOKIE not in browser.client.cookies
