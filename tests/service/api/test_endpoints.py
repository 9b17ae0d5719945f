"""Every door of the API, tried by everybody whom it is not for; and what all answers have in common."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from confide.contract import kind
from confide.service.access import csrf_of
from confide.service.shell.guards import OPERATOR_COOKIE, PARTICIPANT_COOKIE
from service.clients import Caller, everything, routes, serving

ANYBODY = {
    "GET /api/v1/kinds", "GET /api/v1/kinds/{name}", "GET /api/v1/campaigns", "GET /api/v1/campaigns/{number}",
    "GET /api/v1/campaigns/{number}/file", "GET /api/v1/campaigns/{number}/offer",
    "GET /api/v1/campaigns/{number}/guarantees", "GET /api/v1/campaigns/{number}/result",
    "GET /api/v1/campaigns/{number}/pack", "GET /api/v1/campaigns/{number}/pack.zip",
    "GET /api/v1/campaigns/{number}/pack/{path}", "POST /api/v1/login", "POST /api/v1/join", "GET /health/live",
    "GET /health/ready", "GET /metrics",
}
"""The doors that are meant for everybody: another one without an audience is a mistake."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FastAPI, Caller]]:
    with serving(tmp_path_factory.mktemp("served")) as found:
        yield found


@pytest.fixture(scope="module")
def people(served: tuple[FastAPI, Caller]) -> dict[str, Caller]:
    """Callers of every audience; the participant has slot 0 of campaign 1."""
    _, anybody = served
    olga = anybody.logged_in("olga")
    draft = olga("POST", "/drafts", json={"text": kind("bits").template}, status=201)
    number = olga("POST", f"/drafts/{draft['number']}/open")["number"]
    (code,) = olga("POST", f"/campaigns/{number}/invitations", json={"slots": [0]})["codes"]
    return {"anybody": anybody, "viewer": anybody.logged_in("vera"), "operator": olga,
            "admin": anybody.logged_in("ada"), "participant": anybody.joined(code["code"])}


def audiences(app: FastAPI) -> dict[str, set[str]]:
    """"METHOD path" -> the audiences that its guards name."""
    def guards(dependant: Any) -> Iterator[str]:
        for each in dependant.dependencies:
            named = getattr(each.call, "audience", None)
            if named is not None:
                yield named
            yield from guards(each)

    documented = {f"{method.upper()} {path}" for path, of in app.openapi()["paths"].items() for method in of}
    found: dict[str, set[str]] = {}
    for route in (each for each in routes(app) if each.include_in_schema):
        for method in route.methods:
            ends = [endpoint for endpoint in documented if endpoint.startswith(f"{method} ")
                    and endpoint.endswith(route.path.replace(":path}", "}"))]
            for endpoint in ends:
                if endpoint.partition(" ")[2] in (route.path, f"/api/v1{route.path}".replace(":path}", "}")):
                    found[endpoint] = set(guards(route.dependant))
    assert set(found) == documented
    return found


def test_every_endpoint_names_its_audience(served: tuple[FastAPI, Caller]) -> None:
    found = audiences(served[0])
    assert {endpoint for endpoint, named in found.items() if not named} == ANYBODY
    assert {each for named in found.values() for each in named} == {"viewer", "operator", "admin", "participant"}


def test_every_endpoint_is_closed_to_everybody_else(served: tuple[FastAPI, Caller], people: dict[str, Caller]) -> None:
    order, tried = ["viewer", "operator", "admin"], 0
    for endpoint, named in audiences(served[0]).items():
        method, path = endpoint.split(" ")
        for audience in named:
            shut = [who for who in people if who != audience and not (
                audience in order and who in order and order.index(who) >= order.index(audience))]
            for who in shut:
                url = path.replace("{number}", "1").replace("{task}", "settle").replace("{batch}", "1")
                answer = served[1].client.request(
                    method, url, json={}, headers={"Authorization": f"Bearer {people[who].token}"})
                assert answer.status_code in (401, 403), (endpoint, who, answer.status_code)
                assert answer.headers["content-type"] == "application/problem+json"
                assert (answer.status_code == 403) is (who in order and audience in order), (endpoint, who)
                tried += 1
    assert tried > 60


PAGES = {"/", "/campaigns/{number}", "/join", "/login", "/login/provider", "/login/provider/answer"}
"""Pages that are meant for everybody."""


def test_every_page_is_closed_to_strangers(served: tuple[FastAPI, Caller], people: dict[str, Caller]) -> None:
    """Whoever has not logged in, or not joined, is sent to where she can; who may only look changes nothing."""
    app, anybody = served
    vera = {"Cookie": f"{OPERATOR_COOKIE}={people['viewer'].token}"}
    word = {"word": csrf_of(people["viewer"].token)}
    tried = 0
    for route in (each for each in routes(app) if not each.include_in_schema and each.path not in PAGES):
        path = route.path.replace("{number}", "1").replace("{act}", "settle")
        for method in route.methods:
            answer = anybody.client.request(method, path, follow_redirects=False, headers={"Accept": "text/html"})
            sent_on = answer.status_code == 303 and answer.headers["location"] in ("/login", "/join")
            assert sent_on if method == "GET" else answer.status_code == 401, (method, path, answer.status_code)
            if method == "POST":
                changed = anybody.client.post(path, data=word, headers=vera, follow_redirects=False)
                assert changed.status_code in ((401,) if path.startswith(("/mine", "/leave")) else (403, 303)), path
                assert changed.status_code == 403 or path == "/logout" or path.startswith(("/mine", "/leave")), path
                vera = {"Cookie": f"{OPERATOR_COOKIE}={anybody.logged_in('vera').token}"} if path == "/logout" else vera
                word = {"word": csrf_of(vera["Cookie"].partition("=")[2])}
            tried += 1
    assert tried > 15


def test_a_browser_must_bring_the_word_of_its_form(served: tuple[FastAPI, Caller], people: dict[str, Caller]) -> None:
    client, olga = served[1].client, people["operator"]

    def begin(cookie: str, token: str, word: str | None) -> int:
        headers = {"Cookie": f"{cookie}={token}", **({} if word is None else {"X-CSRF-Token": word})}
        path = "/api/v1/drafts" if cookie == OPERATOR_COOKIE else "/api/v1/mine/withdraw"
        return client.post(path, json={"text": "x"}, headers=headers).status_code

    other = csrf_of(people["viewer"].token)
    assert [begin(OPERATOR_COOKIE, olga.token, word) for word in (None, "", other, "0" * 64)
            ] == [403] * 4
    assert begin(OPERATOR_COOKIE, olga.token, csrf_of(olga.token)) == 201
    assert begin(PARTICIPANT_COOKIE, people["participant"].token, None) == 403
    seen = client.get("/api/v1/drafts", headers={"Cookie": f"{OPERATOR_COOKIE}={olga.token}"})
    assert seen.status_code == 200


def test_every_change_through_a_cookie_needs_the_word(
    served: tuple[FastAPI, Caller], people: dict[str, Caller]
) -> None:
    """Whatever changes something, by whoever may: a stranger's page has her cookie, and not the word."""
    app, anybody = served
    before, tried = everything(app), 0
    for endpoint, named in audiences(app).items():
        method, path = endpoint.split(" ")
        if method == "GET" or not named:
            continue
        who = "participant" if named == {"participant"} else "admin"
        cookie = PARTICIPANT_COOKIE if who == "participant" else OPERATOR_COOKIE
        url = path.replace("{number}", "1").replace("{task}", "settle").replace("{batch}", "1")
        for word in (None, "", csrf_of(people["viewer"].token), "0" * 64):
            headers = {"Cookie": f"{cookie}={people[who].token}", **({} if word is None else {"X-CSRF-Token": word})}
            assert anybody.client.request(method, url, json={}, headers=headers).status_code == 403, (endpoint, word)
            tried += 1
    assert tried > 60
    assert everything(app) == before


def test_headers_of_every_answer(served: tuple[FastAPI, Caller]) -> None:
    for path in ("/api/v1/campaigns", "/api/v1/drafts", "/nothing", "/health/live"):
        headers = served[1].client.get(path).headers
        assert "unsafe" not in headers["content-security-policy"]
        assert "default-src 'none'" in headers["content-security-policy"]
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "same-origin")
        assert headers["cache-control"] == "no-store"
        assert "strict-transport-security" not in headers


def test_over_tls_browsers_are_reported_to_stay_there(tmp_path: Path) -> None:
    with serving(tmp_path, base_url="https://study.example") as (_, anybody):
        assert "max-age" in anybody.client.get("/health/live").headers["strict-transport-security"]


def test_a_neighbouring_host_sets_no_session(tmp_path: Path) -> None:
    """Over TLS cookies have names that browsers take from this very host alone; under other names nothing is read."""
    with serving(tmp_path, base_url="https://study.example") as (app, anybody):
        olga = anybody.logged_in("olga")
        draft = olga("POST", "/drafts", json={"text": kind("bits").template}, status=201)["number"]
        olga("POST", f"/drafts/{draft}/open")
        codes = [each["code"] for each in olga("POST", "/campaigns/1/invitations", json={"slots": [0, 1]})["codes"]]
        eve = anybody.joined(codes[0])
        for cookie, token, path in ((PARTICIPANT_COOKIE, eve.token, "/mine"), (OPERATOR_COOKIE, olga.token, "/me")):
            for name, status in ((cookie, 401), (f"__Host-{cookie}", 200)):
                assert anybody.client.get(f"/api/v1{path}", headers={"Cookie": f"{name}={token}"}).status_code == status
        browser = TestClient(app, base_url="https://study.example", follow_redirects=False)
        joined = browser.post("/join", data={"code": codes[1]}, headers={"Cookie": f"{PARTICIPANT_COOKIE}={eve.token}"})
        name, word = f"__Host-{PARTICIPANT_COOKIE}", csrf_of(browser.cookies[f"__Host-{PARTICIPANT_COOKIE}"])
        left = browser.post("/leave", data={"word": word})
        for answer in (joined, left):
            assert answer.status_code == 303
            parts = answer.headers["set-cookie"].split("; ")
            assert parts[0].startswith(f"{name}=")
            assert {"Secure", "HttpOnly", "Path=/"} <= set(parts)
            assert not any(part.lower().startswith("domain") for part in parts)
        assert name not in browser.cookies


def test_problems_have_one_form(served: tuple[FastAPI, Caller], people: dict[str, Caller]) -> None:
    olga = people["operator"]
    for path, status, body in (("/drafts/999999/plan", 404, None), ("/drafts", 422, {"txt": ""}),
                               ("/drafts", 422, {"text": "x", "name": "../x"}),
                               ("/campaigns/1/invitations", 422, {"slots": [10**6]})):
        found = olga("POST", path, json=body, status=status)
        assert {"title", "status", "detail"} <= set(found)
        assert found["status"] == status
    draft = olga("POST", "/drafts", json={"text": kind("bits").template.replace("epsilon", "epsilom", 1)}, status=201)
    found = olga("POST", f"/drafts/{draft['number']}/plan", status=422)
    assert found["field"] == "budget.epsilom"
    assert "epsilon" in found["limit"]


def test_a_request_is_done_once_under_its_key(people: dict[str, Caller]) -> None:
    olga, key = people["operator"], {"Idempotency-Key": "mine"}
    first = olga("POST", "/drafts", json={"text": "a"}, headers=key, status=201)
    assert olga("POST", "/drafts", json={"text": "a"}, headers=key, status=201) == first
    assert "another request" in olga("POST", "/drafts", json={"text": "b"}, headers=key, status=409)["detail"]
    assert people["admin"]("POST", "/drafts", json={"text": "a"}, headers=key, status=201) != first


def test_pages_of_lists(people: dict[str, Caller]) -> None:
    olga = people["operator"]
    for _ in range(5):
        olga("POST", "/drafts", json={"text": "a page"}, status=201)
    seen, after = [], 0
    while after is not None:
        page = olga("GET", "/drafts", params={"limit": 2, "after": after})
        seen += [each["number"] for each in page["drafts"]]
        after = page["after"]
    assert seen == sorted(set(seen))
    assert len(seen) >= 5
    for bad in ({"limit": 0}, {"limit": 201}, {"after": -1}, {"after": "x"}, {"after": 2**40}):
        olga("GET", "/drafts", params=bad, status=422)


def test_too_large_a_body_is_not_read(served: tuple[FastAPI, Caller], people: dict[str, Caller]) -> None:
    client = served[1].client
    large = "x" * (1 << 20)
    for headers in ({}, {"Authorization": f"Bearer {people['operator'].token}"}):
        answer = client.post("/api/v1/drafts", content=json.dumps({"text": large}), headers=headers)
        assert answer.status_code == 413
    chunks = (b"x" * (1 << 16) for _ in range(40))  # without a length
    assert client.post("/api/v1/login", content=chunks).status_code == 413
    known = client.post("/api/v1/campaigns/1/known", content=large + "x", headers={"Content-Type": "text/csv"})
    assert known.status_code == 413
