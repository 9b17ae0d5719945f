"""Limits: who has to wait and who has not, what is read of whom, and what an answer has that nobody foresaw."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from confide.contract import StoreFailed, kind
from confide.service.access import csrf_of
from confide.service.shell import trying
from confide.service.shell.guards import OPERATOR_COOKIE, PARTICIPANT_COOKIE
from service.clients import Caller, serving
from service.parts import PASSWORD

WRONG = {"name": "ada", "password": "not her password"}


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long whoever tried had to wait."""
    found: list[float] = []

    async def waited(seconds: float) -> None:
        found.append(round(seconds, 3))

    monkeypatch.setattr(trying, "sleep", waited)
    return found


def at(app: FastAPI, address: str) -> Caller:
    """Somebody at an address."""
    return Caller(TestClient(app, raise_server_exceptions=False, client=(address, 50_000)))


def test_who_guesses_at_a_name_does_not_keep_its_owner_out(tmp_path: Path, waits: list[float]) -> None:
    with serving(tmp_path, attempts=3, attempts_at_ease=5) as (app, _):
        stranger, ada = at(app, "192.0.2.2"), at(app, "192.0.2.9")
        for status in (401, 401, 401, 429, 429, 429, 429, 429):
            stranger("POST", "/login", json=WRONG, status=status)
        assert stranger("POST", "/login", json={**WRONG, "password": PASSWORD}, status=429)["status"] == 429
        ada.logged_in("ada")
        assert waits == []  # whoever is refused slows nobody
        assert stranger.client.post("/login", data=WRONG).status_code == 429  # the page counts the same
        at(app, "192.0.2.2")("POST", "/login", json={**WRONG, "name": "olga"}, status=401)


def test_many_who_guess_at_a_name_make_it_slow_and_no_more(tmp_path: Path, waits: list[float]) -> None:
    with serving(tmp_path, attempts=3, attempts_at_ease=4) as (app, _):
        for place in range(8):
            at(app, f"192.0.2.{place}")("POST", "/login", json=WRONG, status=401)
        assert waits == [0.1, 0.2, 0.3, 0.4]
        at(app, "192.0.2.99").logged_in("ada")
        assert waits[4:] == [0.5]
        at(app, "192.0.2.99").logged_in("ada")
        assert waits[5:] == [0.5]  # who succeeds is not counted


def test_a_class_behind_one_address_joins(tmp_path: Path, waits: list[float]) -> None:
    """Whoever has a code joins, however many have; wrong codes from there only make it slow, up to some seconds."""
    with serving(tmp_path, attempts=2, attempts_at_ease=3) as (app, _):
        school = at(app, "2001:db8::7")
        olga = at(app, "192.0.2.9").logged_in("olga")
        draft = olga("POST", "/drafts", json={"text": kind("bits").template}, status=201)
        olga("POST", f"/drafts/{draft['number']}/open")
        codes = olga("POST", "/campaigns/1/invitations", json={})["codes"]
        for each in codes[:8]:
            school.joined(each["code"])
        assert waits == []
        for place in range(60):  # all addresses of its network are one place
            at(app, f"2001:db8::{place:x}")("POST", "/join", json={"code": "AAAA-BBBB"}, status=401)
        assert (waits[0], waits[1], waits[-1]) == (0.1, 0.2, 5.0)
        school.joined(codes[8]["code"])


def asked(app: FastAPI, path: str, headers: dict[str, str], length: int | None) -> tuple[int, int]:
    """The status of a request with a body, and how many of its parts were read before the answer."""
    read, answers = 0, []

    async def receive() -> dict[str, Any]:
        nonlocal read
        read += 1
        return {"type": "http.request", "body": b"x" * min(length or 1 << 16, 1 << 16), "more_body": True}

    async def send(message: Any) -> None:
        answers.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"",
             "root_path": "", "scheme": "http", "http_version": "1.1", "server": ("testserver", 80),
             "client": ("192.0.2.7", 50_000), "headers": [(name.lower().encode(), value.encode()) for name, value in {
                 **({} if length is None else {"Content-Length": str(length)}),
                 "Content-Type": "multipart/form-data; boundary=x", **headers}.items()]}
    asyncio.run(app(scope, receive, send))  # type: ignore[arg-type]
    return answers[0]["status"], read


def test_what_strangers_upload_is_not_read(tmp_path: Path) -> None:
    """A made-up cookie or token opens nothing; nor does a viewer's session."""
    with serving(tmp_path, largest_upload=4 << 20) as (app, anybody):
        vera = anybody.logged_in("vera")
        for path in ("/desk/campaigns/1/known", "/api/v1/campaigns/1/known"):
            for headers in ({}, {"Cookie": "x=y"}, {"Cookie": f"{OPERATOR_COOKIE}=y"}, {"Authorization": "nonsense"},
                            {"Authorization": "Bearer x"}, {"Authorization": f"Bearer {vera.token}"}):
                assert asked(app, path, headers, 3 << 20) == (413, 0), (path, headers)
        for path in ("/desk/drafts", "/desk/campaigns/1/known", "/mine/report", "/leave"):
            assert asked(app, path, {"Cookie": "x=y"}, 1 << 15) == (401, 0), path
        for path in ("/desk/drafts", "/api/v1/drafts", "/api/v1/campaigns/1/invitations", "/api/v1/login", "/join"):
            for headers in ({}, {"Cookie": f"{PARTICIPANT_COOKIE}=y"}, {"Authorization": "Bearer x"}):
                assert asked(app, path, {"Content-Type": "application/json", **headers}, 1 << 19) == (413, 0), path
                chunked = {"Content-Type": "application/json", "Transfer-Encoding": "chunked", **headers}
                status, read = asked(app, path, chunked, None)
                assert status in (401, 413), path
                assert read <= 2, path  # at most 64 KiB, and what goes beyond
        olga = anybody.logged_in("olga")
        large = b"id\n" + b"1" * (3 << 20)
        answer = anybody.client.post("/api/v1/campaigns/1/known", content=large, headers={
            "Authorization": f"Bearer {olga.token}", "Content-Type": "text/csv"})
        assert answer.status_code == 404  # it was let through, to where there is no campaign
        for batch in ("", "/7"):  # also where a batch is written again
            answer = anybody.client.post(f"/api/v1/campaigns/1/payouts/batches{batch}", json={
                "format": "xml", "payees": "x" * (3 << 20)}, headers={"Authorization": f"Bearer {olga.token}"})
            assert answer.status_code == 404
        assert asked(app, "/api/v1/campaigns/1/payouts/batches/7", {"Authorization": f"Bearer {vera.token}"},
                     3 << 20) == (413, 0)


def test_what_is_uploaded_by_a_page_stays_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names, accounts and what the bank says lie in no folder for temporary files, however large they are."""
    rolled: list[object] = []

    def rollover(self: object) -> None:
        rolled.append(self)

    monkeypatch.setattr(SpooledTemporaryFile, "rollover", rollover)
    with serving(tmp_path, settling=False) as (app, anybody):
        olga = anybody.logged_in("olga")
        draft = olga("POST", "/drafts", json={"text": kind("bits").template}, status=201)["number"]
        olga("POST", f"/drafts/{draft}/open")
        answer = TestClient(app).post(
            "/desk/campaigns/1/answer", headers={"Cookie": f"{OPERATOR_COOKIE}={olga.token}"},
            data={"word": csrf_of(olga.token)}, files={"file": b"reference,status\n" + b"x,paid\n" * 500_000})
        assert (answer.status_code, "not settled yet" in answer.text) == (409, True)
    assert rolled == []


def test_a_caller_with_a_session_may_send_more(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, anybody):
        long = {"text": "x" * (1 << 17)}
        anybody("POST", "/drafts", json=long, status=413)
        olga = anybody.logged_in("olga")
        assert olga("POST", "/drafts", json=long, status=201)["text"] == long["text"]
        draft = olga("POST", "/drafts", json={"text": kind("regression").template}, status=201)
        number = olga("POST", f"/drafts/{draft['number']}/open")["number"]
        code = olga("POST", f"/campaigns/{number}/invitations", json={"slots": [0]})["codes"][0]["code"]
        participant = anybody.joined(code)
        assert participant("PUT", "/mine/report", json={"values": {"x" * 70_000: "1"}}, status=422)["status"] == 422


def test_an_answer_that_nobody_foresaw_has_all_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(tmp_path) as (app, anybody):
        def broken(*_: object, **__: object) -> None:
            raise ValueError("the-answer-of-my-life")

        olga = anybody.logged_in("olga")
        monkeypatch.setattr(app.state.parts.opened, "newest", broken)
        monkeypatch.setattr(app.state.parts.opened, "all", broken)
        for path, accept in (("/", "text/html"), ("/", "*/*"), ("/api/v1/campaigns", "*/*")):
            answer = anybody.client.get(path, headers={"Accept": accept})
            assert answer.status_code == 500
            assert "reference" in answer.text
            assert "the-answer" not in answer.text
            assert ("<h1>A problem</h1>" in answer.text) is (accept == "text/html")
            assert "default-src 'none'" in answer.headers["content-security-policy"]
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["cache-control"] == "no-store"
        monkeypatch.setattr(app.state.parts.sessions, "who", broken)  # the page that would tell it fails, too
        answer = anybody.client.get("/desk", headers={
            "Accept": "text/html", "Cookie": f"{OPERATOR_COOKIE}={olga.token}"})
        assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
        assert answer.headers["cache-control"] == "no-store"


def test_a_store_that_is_busy_is_a_documented_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not now: at every door, and never a fault."""
    with serving(tmp_path) as (app, anybody):
        olga = anybody.logged_in("olga")

        @contextmanager
        def busy() -> Iterator[None]:
            raise StoreFailed("store", "is in use by another process, which did not finish in time", "run it again")
            yield

        database = app.state.parts.store.database
        monkeypatch.setattr(database, "reading", busy)
        monkeypatch.setattr(database, "writing", busy)
        asked = 0
        for path, endpoints in app.openapi()["paths"].items():
            for method, endpoint in endpoints.items():
                if not path.startswith("/api/v1/"):
                    continue
                assert "503" in endpoint["responses"], (method, path)
                answer = anybody.client.request(method, path.format(number=1, slot=1, task="settle", batch=1, path="x",
                                                                    kind="bits", name="x"),
                                                headers={"Authorization": f"Bearer {olga.token}"})
                assert answer.status_code < 500 or answer.status_code == 503, (method, path, answer.text)
                if answer.status_code == 503:
                    assert answer.headers["retry-after"] == "5"
                    asked += 1
        assert asked > 30


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, anybody):
        ada = anybody.logged_in("ada")
        for path, body in (
                ("/login", b'{"name":"ada","password":"\\ud800xxxxxxxxxxxxx"}'),
                ("/login", b'{"name":"\\ud800","password":"x"}'), ("/login", b'{"name":"a\\u0000","password":"x"}'),
                ("/join", b'{"code":"\\ud800"}'),
                ("/drafts", b'{"text":"\\ud800"}'), ("/drafts", b'{"text":"\\u0000"}'),
                ("/operators", b'{"name":"eve","password":"\\udfffxxxxxxxxxxxx","role":"viewer"}')):
            found = ada("POST", path, content=body, status=422, headers={"Content-Type": "application/json"})
            assert found["status"] == 422, (path, body)


def test_failures_at_one_place_slow_no_other(tmp_path: Path, waits: list[float]) -> None:
    """Neither those who log in elsewhere, under other names, nor those who join there."""
    with serving(tmp_path, attempts=3, attempts_at_ease=4) as (app, _):
        stranger, there = at(app, "192.0.2.2"), at(app, "192.0.2.9")
        for turn in range(6):
            stranger("POST", "/login", json={**WRONG, "name": f"nobody{turn}"}, status=401)
            stranger("POST", "/join", json={"code": "AAAA-BBBB"}, status=401)
        assert waits == [0.1, 0.1, 0.2, 0.2]
        there("POST", "/login", json={**WRONG, "name": "somebody"}, status=401)
        there("POST", "/join", json={"code": "AAAA-BBBB"}, status=401)
        there.logged_in("olga")
        assert len(waits) == 4
