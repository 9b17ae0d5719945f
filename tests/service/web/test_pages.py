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

from confide.contract import kind
from confide.service.access import Participant
from confide.service.shell.guards import OPERATOR_COOKIE, PARTICIPANT_COOKIE
from service.clients import serving
from service.parts import PASSWORD, filled

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


def test_of_two_authors_of_a_draft_neither_overwrites_an_unread_change(tmp_path: Path) -> None:
    """Both texts are shown, what is said of the one is not shown for the other, and nothing can be opened there."""
    def titled(title: str) -> str:
        return kind("bits").template.replace('title = "', f'title = "{title} <i>')

    with serving(tmp_path) as (app, _):
        drafts, (olga, otto) = app.state.parts.drafts, (Browser(app), Browser(app))
        olga.log_in("olga")
        otto.log_in("ada")
        at = f"/desk/drafts/{drafts.new(titled('First'), 1).number}"
        olga.see(at)
        otto.see(at)
        otto.send(at, text=titled("Otto"))
        for _ in range(2):  # pressing again does not make it another one
            shown = olga.send(at, 409, text=titled("Olga"))
            assert "another text was stored since you read the draft" in shown
            assert all(shown.count(f"{name} &lt;i&gt;") == 1 for name in ("Olga", "Otto"))
            assert f'action="{at}/open"' not in shown
            assert "The ledger" not in shown
            assert re.findall(r'name="version" value="(\d+)"', shown) == ["1"]
            assert "Otto" in drafts.get(1).text
        otto.see(at)
        otto.send(at, text=titled("Again"))
        olga.send(at, 409, text=titled("Olga"), instead="2")  # she has read another one than stands there now
        assert "Again" in drafts.get(1).text
        assert "Again &lt;i&gt;" in olga.text
        olga.send(at, 409, text=titled("Olga"), instead="x")
        olga.send(at, text=titled("Olga"), instead="3")
        assert "Olga" in drafts.get(1).text
        assert "Olga" in olga.send(f"{at}/open")


def test_a_text_that_cannot_be_stored_is_not_taken_for_the_one_that_is(tmp_path: Path) -> None:
    with serving(tmp_path) as (app, _):
        olga, parts = Browser(app), app.state.parts
        olga.log_in("olga")
        text = kind("bits").template
        number = parts.drafts.new(text, 1).number
        olga.see(f"/desk/drafts/{number}")
        parts.drafts.open(number)
        shown = olga.send(f"/desk/drafts/{number}", 409, text=text.replace('title = "', 'title = "Late: '))
        assert "the draft has become a campaign" in shown
        assert shown.count("Late: ") == 1
        assert f'action="/desk/drafts/{number}/open"' not in shown
        assert 'name="instead"' not in shown
        assert "Save and plan" not in shown


def test_a_campaign_by_forms_alone(tmp_path: Path) -> None:
    with serving(tmp_path) as (app, _):
        olga, participant = Browser(app), Browser(app)
        olga.log_in("olga")
        number = begun(olga, TEMPLATE)
        codes = list(csv.DictReader(io.StringIO(olga.send(f"/desk/campaigns/{number}/invite", ids="1, 2"))))
        assert [row["id"] for row in codes] == ["1", "2"]
        participant.join(codes[0]["code"])
        assert "What you report" in participant.text
        taking = app.state.parts.participation
        who = Participant(number, 0)
        typed = {f"field.{name}": text for name, text in filled(taking.form(who)).items()}
        wrong = dict.fromkeys(typed, "a lot")
        shown = participant.send("/mine/report", 422, **wrong)
        assert "is not a number" in shown
        assert 'value="a lot"' in shown  # she does not type it again
        participant.send("/mine/report", **typed)
        assert "Your report is stored" in participant.text
        olga.see(f"/desk/campaigns/{number}")
        assert "1 of" in olga.text
        assert "cannot be undone" in olga.send(f"/desk/campaigns/{number}/settle", 422)
        olga.send(f"/desk/campaigns/{number}/settle", meant="yes")
        finished(olga, number, "settle")
        assert "See your share" in participant.see("/mine")
        assert "<section" in participant.see("/mine/share")
        public = Browser(app).see(f"/campaigns/{number}")
        assert "confide verify PACK --key" in public
        assert "Settled" in Browser(app).see("/")
        participant.see("/mine/withdraw")
        assert "You have withdrawn" in participant.send("/mine/withdraw")
        participant.see("/mine")
        participant.send("/leave")
        assert "Take part" in participant.see("/mine")


def test_an_audit_by_a_form_is_shown_when_it_is_done(tmp_path: Path) -> None:
    """Of a kind whose audit takes half a second."""
    with serving(tmp_path) as (app, _):
        olga, parts = Browser(app), app.state.parts
        olga.log_in("olga")
        number = parts.drafts.open(parts.drafts.new(kind("bits").template, 1).number).number
        assert "at most" not in olga.see(f"/desk/campaigns/{number}").partition('id="audit-state"')[2]
        olga.send(f"/desk/campaigns/{number}/audit")
        finished(olga, number, "audit")
        assert "at most" in olga.text.partition('id="audit-state"')[2]


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
        participant = re.findall(r'name="word" value="([0-9a-f]+)"', vera.text)[0]  # her page has no such form
        answer = vera.client.post("/desk/drafts", data={"kind": "bits", "word": participant},
                                  headers={"Sec-Fetch-Site": "same-origin"})
        assert (answer.status_code, "Only operators may do this" in answer.text) == (403, True)
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
