"""Every endpoint and every page, by every method, tried by everybody who must not: nothing leaks or changes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from confide.contract import kind
from confide.service.access import csrf_of
from confide.service.shell.guards import OPERATOR_COOKIE, PARTICIPANT_COOKIE
from confide.service.work import Worker
from service.api.test_endpoints import audiences, routes
from service.api.world import World, rows_of, world
from service.parts import PASSWORD

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
OPERATORS = ("viewer", "operator", "admin")
ACTS = ("close", "settle", "audit", "round", "final", "approve", "export", "answer", "reopen")
"""What a page's form can do with a campaign."""

BODIES: Mapping[str, Any] = {
    "POST /drafts": {"text": "format = 1"}, "PUT /drafts/{number}": {"text": "format = 1", "version": 1},
    "POST /campaigns/{number}/deposits": {"slots": [7]},
    "POST /campaigns/{number}/invitations": {"slots": [7]}, "POST /campaigns/{number}/rounds": {},
    "POST /campaigns/{number}/rounds/final": {"confirm": True, "round": 1},
    "POST /campaigns/{number}/close": {"confirm": True},
    "POST /campaigns/{number}/settle": {"confirm": True}, "POST /campaigns/{number}/payouts/approve": {"code": "x"},
    "POST /campaigns/{number}/payouts/batches": {"format": "csv"},
    "POST /campaigns/{number}/payouts/batches/{batch}": {"format": "csv"},
    "POST /operators": {"name": "eve", "password": PASSWORD, "role": "admin"},
    "PUT /operators/{number}": {"role": "admin", "active": True}, "PUT /mine/report": {"values": {"report": "yes"}},
    "POST /mine/share": {},
}
"""What an endpoint takes, so that nothing but the guard is in the way."""


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world(tmp_path_factory.mktemp("world")) as found:
        yield found


def endpoints(there: World) -> Iterator[tuple[str, str, str, Any]]:
    """Method, path, audience and body of every endpoint that is not for everybody, for an open and a settled one."""
    for endpoint, named in audiences(there.app).items():
        method, pattern = endpoint.split(" ")
        body = BODIES.get(f"{method} {pattern.removeprefix('/api/v1')}")
        for audience in named:
            for number in {there.open, there.settled} if "/campaigns/" in pattern else {there.draft}:
                path = pattern.replace("{task}", "settle").replace("{batch}", "1").replace("{number}", str(number))
                yield method, path, audience, body


def shut_out(there: World, audience: str) -> dict[str, tuple[str, int]]:
    """Who must not go through: token, and what she is told."""
    found = {name: (token, 401) for name, token in there.nobodies.items()}
    for role, token in there.roles.items():
        if role == audience or (audience in OPERATORS and role in OPERATORS
                                and OPERATORS.index(role) > OPERATORS.index(audience)):
            continue
        found[role] = (token, 403 if audience in OPERATORS and role in OPERATORS else 401)
    if audience in OPERATORS:
        found |= {name: (token, 401) for name, token in there.neighbours.items()}
    return found


def test_no_endpoint_lets_anybody_else_in(there: World) -> None:
    before, tried = rows_of(there.app), 0
    for method, path, audience, body in endpoints(there):
        for who, (token, status) in shut_out(there, audience).items():
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            answer = there.anybody.client.request(method, path, json=body, headers=headers)
            assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), (
                method, path, who)
            assert set(answer.json()) == {"title", "status", "detail"}
            tried += 1
    assert rows_of(there.app) == before
    assert tried > 700


@pytest.mark.slow
def test_no_cookie_of_another_kind_or_time_opens_an_endpoint(there: World) -> None:
    """A browser's way: with the word of its own form, so that only whose session it is can be in the way."""
    before, tried = rows_of(there.app), 0
    for method, path, audience, body in endpoints(there):
        for who, (token, status) in shut_out(there, audience).items():
            for cookie in (OPERATOR_COOKIE, PARTICIPANT_COOKIE):
                if cookie == PARTICIPANT_COOKIE and audience in OPERATORS and status == 403:
                    status = 401  # noqa: PLW2901 - a viewer's token is nobody's in the other cookie
                answer = there.anybody.client.request(method, path, json=body, headers={
                    "Cookie": f"{cookie}={token}", "X-CSRF-Token": csrf_of(token)})
                assert answer.status_code == status, (method, path, who, cookie, answer.status_code)
                tried += 1
    assert rows_of(there.app) == before
    assert tried > 1400


@pytest.mark.slow
def test_nothing_is_done_by_another_method(there: World) -> None:
    """Every path by every method that it does not have, by an admin and by a participant."""
    found: dict[str, set[str]] = {}
    for route in routes(there.app):
        path = route.path
        known = next((each for each in there.app.openapi()["paths"] if each.endswith(path.replace(":path}", "}"))
                      and each.removeprefix("/api/v1") == path.replace(":path}", "}")), None)
        found.setdefault(known if known is not None and route.include_in_schema else path, set()).update(route.methods)
    acts = [(re.compile(re.sub(r"{number}", "[0-9]+", pattern).replace("{act}", "[^/]+")), has)
            for pattern, has in found.items() if pattern.endswith("{act}")]
    before, tried = rows_of(there.app), 0
    for pattern, has in found.items():
        path = re.sub(r"{number}|{batch}", "1", pattern).replace("{task}", "settle").replace("{path}", "manifest.json")
        path = path.replace("{name}", "bits").replace("{act}", "settle")
        for method in set(METHODS) - has:
            for role in ("admin", "participant"):
                token = there.roles[role]
                answer = there.anybody.client.request(method, path, follow_redirects=False, headers={
                    "Authorization": f"Bearer {token}"})
                an_act = any(each.fullmatch(path) and method in methods for each, methods in acts)
                assert answer.status_code == (401 if an_act else 405), (method, path, answer.status_code)
                tried += 1
    assert rows_of(there.app) == before
    assert tried > 300


def pages(there: World) -> Iterator[tuple[str, str]]:
    """Method and path of every page that is not for everybody, with every act."""
    for route in routes(there.app):
        if route.include_in_schema or route.path in ("/", "/campaigns/{number}", "/join", "/login", "/login/provider",
                                                  "/login/provider/answer"):
            continue
        number = there.draft if "/drafts/" in route.path else there.open
        for method in route.methods:
            for act in ACTS if "{act}" in route.path else ("",):
                yield method, route.path.replace("{number}", str(number)).replace("{act}", act)


@pytest.mark.slow
def test_no_page_shows_or_does_anything_for_others(there: World) -> None:
    """Those without the role, whatever cookie they put their token in, and with the word that goes with it."""
    before, tried = rows_of(there.app), 0
    for method, path in pages(there):
        desk = path.startswith(("/desk", "/logout"))
        right = OPERATORS if desk else ("participant",)
        others = {**there.nobodies, **{name: token for name, token in there.roles.items() if name not in right},
                  **(there.neighbours if desk else {})}
        for who, token in others.items():
            for cookie in (OPERATOR_COOKIE, PARTICIPANT_COOKIE):
                answer = there.anybody.client.request(method, path, follow_redirects=False, headers={
                    "Cookie": f"{cookie}={token}", "Accept": "text/html",
                    **({"Content-Type": "application/x-www-form-urlencoded"} if method == "POST" else {})},
                    content=f"word={csrf_of(token)}&meant=yes&report=yes" if method == "POST" else None)
                sent_on = (303, "/login" if desk else "/join")
                reported = (answer.status_code, answer.headers.get("location"))
                assert reported == (sent_on if method == "GET" else (401, None)), (method, path, who, cookie, reported)
                tried += 1
    assert rows_of(there.app) == before
    assert tried > 700


def test_no_form_without_its_word_and_no_act_of_a_viewer(there: World) -> None:
    """Also with the right cookie: another session's word, none, or a page of another site; and who may only look."""
    before, tried = rows_of(there.app), 0
    for method, path in pages(there):
        if method != "POST":
            continue
        desk = path.startswith(("/desk", "/logout"))
        cookie, token = ((OPERATOR_COOKIE, there.roles["admin"]) if desk else
                         (PARTICIPANT_COOKIE, there.roles["participant"]))
        viewer, own = there.roles["viewer"], csrf_of(token)
        tries: list[tuple[str, str, dict[str, str]]] = [
            (token, "", {}), (token, csrf_of(viewer), {}), (token, own, {"Sec-Fetch-Site": "cross-site"})]
        if desk and path != "/logout":
            tries.append((viewer, csrf_of(viewer), {}))
        for whose, word, more in tries:
            answer = there.anybody.client.post(path, follow_redirects=False, headers={
                "Cookie": f"{cookie}={whose}", "Accept": "text/html", **more}, data={"word": word, "meant": "yes"})
            assert answer.status_code == 403, (path, answer.status_code)
            tried += 1
    assert rows_of(there.app) == before
    assert tried > 60


def test_a_participant_is_asked_about_nobody_else(there: World) -> None:
    """No endpoint of a participant takes a number, and nothing else sent counts: each changes one slot."""
    for endpoint, named in audiences(there.app).items():
        assert "participant" not in named or "{" not in endpoint
    store = there.app.state.parts.store
    participant, neighbour, elsewhere = (there.by(token) for token in (
        there.roles["participant"], there.neighbours["same campaign"], there.neighbours["other campaign"]))
    before = rows_of(there.app)
    assert [(mine["campaign"], mine["id"]) for mine in (
            each("GET", "/mine") for each in (participant, neighbour, elsewhere))] == [
            (there.open, "1"), (there.open, "2"), (there.settled, "1")]
    for query in ("?slot=0&campaign=1&id=1", "?number=1"):
        assert neighbour("GET", f"/mine{query}") == neighbour("GET", "/mine")
    for more in ({"slot": 0}, {"id": "1"}, {"campaign": there.settled}):
        neighbour("PUT", "/mine/report", json={"values": {"report": "no"}, **more}, status=422)
        neighbour("PUT", "/mine/report", json={"values": {"report": "no", **{k: str(v) for k, v in more.items()}}},
                  status=422)
        elsewhere("POST", "/mine/share", json=more, status=422)
    neighbour("PUT", "/mine/report", json={"values": {"report": "yes"}}, status=409)  # another draw of her own
    elsewhere("PUT", "/mine/report", json={"values": {"report": "yes"}}, status=409)  # her campaign is settled
    neighbour("POST", "/mine/share", json={}, status=409)  # and the share of the other campaign is not hers
    neighbour("POST", "/mine/decline", status=409)
    assert rows_of(there.app) == before
    first = store.report_of(there.open, 0)
    assert neighbour("POST", "/mine/withdraw") == {"before_settlement": True}
    assert store.withdrawn(there.open) == {1: True}
    assert (store.report_of(there.open, 0), store.report_of(there.open, 1)) == (first, None)
    assert participant("GET", "/mine")["handed_in"]


def test_who_may_look_is_shown_no_payment(there: World) -> None:
    olga, cookie = there.by(there.roles["operator"]), f"{OPERATOR_COOKIE}={there.roles['viewer']}"
    code = olga("GET", f"/campaigns/{there.settled}/payouts")["code"]
    assert code
    for token, shown in ((there.roles["viewer"], False), (there.roles["operator"], True)):
        page = there.anybody.client.get(f"/desk/campaigns/{there.settled}", headers={
            "Cookie": cookie if not shown else f"{OPERATOR_COOKIE}={token}", "Accept": "text/html"})
        assert page.status_code == 200
        assert (code in page.text) is shown


def test_what_belongs_to_another_campaign_is_not_there(there: World) -> None:
    """An operator may do all this, but not to one campaign with what is another one's."""
    olga = there.by(there.roles["operator"])
    code = olga("GET", f"/campaigns/{there.settled}/payouts")["code"]
    assert olga("POST", f"/campaigns/{there.settled}/payouts/approve", json={"code": code})["people"]
    file = olga("POST", f"/campaigns/{there.settled}/payouts/batches", json={}).decode()
    text = kind("bits").template.replace("Does the new schedule make people ill?", "The third").replace(
        "ill since may", "another one")
    draft = olga("POST", "/drafts", json={"text": text}, status=201)["number"]
    third = olga("POST", f"/drafts/{draft}/open")["number"]
    parts = there.app.state.parts
    for slot in range(3):
        parts.intake.submit(third, slot, b"\1\0\0")
    before = rows_of(there.app)
    olga("GET", f"/campaigns/{third}/jobs/settle", status=404)  # the settled one has such a job
    for path in ("result", "pack", "pack.zip", "pack/manifest.json"):
        olga("GET", f"/campaigns/{third}/{path}", status=409)
    for path, body in (("payouts/approve", {"code": code}), ("payouts/batches", {}), ("payouts/batches/1", {})):
        olga("POST", f"/campaigns/{third}/{path}", json=body, status=409)
    assert rows_of(there.app) == before
    olga("POST", f"/campaigns/{third}/settle", json={"confirm": True}, status=202)
    assert Worker(parts.store, parts.opened, parts.jobs, "another").once()
    own = olga("GET", f"/campaigns/{third}/payouts")["code"]
    before = rows_of(there.app)
    assert own != code
    references = [line.split(",")[0] for line in file.splitlines()[1:]]
    answer = "reference,status\n" + "".join(f"{each},paid\n" for each in references)
    for path, sent, status in (("approve", {"json": {"code": code}}, (409, 422)),
                               ("batches/1", {"json": {}}, (409, 422)),
                               ("confirmations", {"content": answer, "headers": {"Content-Type": "text/csv"}}, (422,))):
        headers = {"Authorization": f"Bearer {olga.token}", **sent.pop("headers", {})}  # type: ignore[dict-item]
        reported = there.anybody.client.post(  # type: ignore[arg-type]
            f"/api/v1/campaigns/{third}/payouts/{path}", headers=headers, **sent)
        assert reported.status_code in status, (path, reported.text)
    for number in (10**6, 2**31 - 1):
        for path in ("progress", "plan", "payouts", "jobs/settle", "offer", "file", "result"):
            olga("GET", f"/campaigns/{number}/{path}", status=404)
        olga("GET", f"/drafts/{number}", status=404)
    assert rows_of(there.app) == before


def test_the_right_ones_get_in(there: World) -> None:
    """The control of all of this, and so the last one: the same requests of those for whom the endpoints are."""
    tried, ends_a_session = 0, re.compile(r"/(logout|leave|operators/\d+)$")
    for method, path, audience, body in sorted(endpoints(there), key=lambda one: bool(ends_a_session.search(one[1]))):
        token = there.roles[audience]
        if audience in OPERATORS and path.endswith("/logout"):
            token = there.anybody.logged_in("vera").token
        answer = there.anybody.client.request(method, path, json=body, headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code not in (401, 403, 405, 500), (method, path, answer.status_code)
        files = path.endswith(("/known", "/confirmations"))  # these take a file, and the others the draft as it is now
        assert answer.status_code != 422 or files or "/drafts/" in path, (method, path, answer.text)
        tried += 1
    assert tried > 50
