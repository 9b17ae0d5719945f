"""Forms: those of other sites change nothing, whatever is typed is answered, and lists have pages. By the routes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote_from_bytes

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.testclient import TestClient

from cases import fast
from confide.contract import kind
from confide.service.access import csrf_of
from confide.service.shell.guards import OPERATOR_COOKIE, PARTICIPANT_COOKIE
from confide.service.web import desk, joining, public
from confide.service.web.page import HERE
from service.clients import Caller, everything, routes, serving
from service.parts import PASSWORD

COMING_IN = ("/login", "/join")
PARTICIPANT = ("/mine", "/leave")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FastAPI, Caller]]:
    """With an open campaign and a draft."""
    with serving(tmp_path_factory.mktemp("forms")) as (app, anybody):
        olga = anybody.logged_in("olga")
        for _ in range(2):
            draft = olga("POST", "/drafts", json={"text": kind("bits").template}, status=201)["number"]
        olga("POST", f"/drafts/{draft}/open")
        yield app, anybody


def test_the_page_has_a_text_for_each_problem_of_a_typed_value() -> None:
    """The script finds the text of a problem by the problem's words, in an attribute of the form."""
    folder = Path(desk.__file__).parent
    script, page = ((folder / name).read_text("utf-8") for name in ("static/device.js", "templates/mine.html"))
    problems = re.findall(r"new NotUsable\([\w.]+, \"(.+?)\"\)", script)
    assert len(problems) == script.count("new NotUsable(") > 2
    for problem in problems:
        assert f' data-{re.sub(r"[^a-z0-9]+(?=[a-z])", "-", problem).replace(" ", "")}="' in page, problem


def changing(app: FastAPI) -> list[APIRoute]:
    """All pages that take a form."""
    return [each for each in routes(app) if not each.include_in_schema and each.methods != {"GET"}]


def session(app: FastAPI, path: str) -> tuple[str, str]:
    """A new session of whoever may do what is done there: its cookie and its token."""
    parts = app.state.parts
    if path.startswith(PARTICIPANT):
        (_, code), = parts.invitations.invite(1, [0])
        return PARTICIPANT_COOKIE, parts.invitations.join(code)[0]
    return OPERATOR_COOKIE, parts.sessions.begin(parts.operators.named("ada"))


def filled_in(path: str) -> str:
    return path.replace("{number}", "1").replace("{act}", "settle")


def test_every_form_needs_its_word(served: tuple[FastAPI, Caller]) -> None:
    """In the right person's browser, and from no other site as far as that says: nothing without the word."""
    app, _ = served
    client, tried = TestClient(app), 0
    for route in changing(app):
        if route.path in COMING_IN:
            continue
        cookie, token = session(app, route.path)
        other = session(app, "/desk")[1]
        before = everything(app)
        for word in (None, "", "0" * 64, csrf_of(other), csrf_of(token).upper() + " "):
            answer = client.post(filled_in(route.path), headers={"Cookie": f"{cookie}={token}"}, follow_redirects=False,
                                 data={"meant": "yes", **({} if word is None else {"word": word})})
            assert answer.status_code == 403, (route.path, word)
            tried += 1
        assert everything(app) == before, route.path
    assert tried >= 5 * 13


@pytest.mark.parametrize(("headers", "refused"), [
    ({"Origin": "https://evil.example"}, True), ({"Origin": "null"}, True), ({"Origin": ""}, True),
    ({"Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"}, True),
    ({"Origin": "http://testserver", "Sec-Fetch-Site": "cross-site"}, True), ({"Sec-Fetch-Site": "same-site"}, True),
    ({"Origin": "http://localhost:8000.evil.example"}, True), ({"Origin": "http://testserver"}, False),
    ({"Origin": "http://localhost:8000"}, False), ({"Origin": "null", "Sec-Fetch-Site": "same-origin"}, False),
    ({"Sec-Fetch-Site": "none"}, False), ({}, False)])
def test_forms_of_other_sites_are_refused(
    headers: dict[str, str], refused: bool, served: tuple[FastAPI, Caller]
) -> None:
    """On every page that takes a form, those that know nobody yet among them."""
    app, _ = served
    client = TestClient(app)
    for route in changing(app):
        answer = client.post(filled_in(route.path), data={"name": "ada", "password": "x", "code": "x"}, headers=headers)
        assert (answer.status_code == 403) is refused, (route.path, answer.status_code)
    if refused:
        answer = client.post("/login", data={"name": "ada", "password": PASSWORD}, headers=headers)
        assert (answer.status_code, client.cookies.get(OPERATOR_COOKIE)) == (403, None)


def test_a_link_does_not_replace_who_takes_part(served: tuple[FastAPI, Caller]) -> None:
    """Whoever takes part already is asked, and the code is not used before she has said so, on a form of ours."""
    app, _ = served
    parts = app.state.parts
    (_, first), (_, other) = parts.invitations.invite(1, [1, 2])
    client = TestClient(app, headers={"Accept": "text/html"})
    assert "data-ask" not in client.get("/join").text
    assert client.post("/join", data={"code": first}).status_code == 200
    mine = client.cookies[PARTICIPANT_COOKIE]
    text = client.get("/join").text
    assert 'data-ask="yes"' in text
    assert "Use this code instead" in text
    word = re.findall(r'name="word" value="([0-9a-f]+)"', text)[0]
    for data, status in (({}, 409), ({"word": word}, 409), ({"instead": "yes"}, 403),
                         ({"instead": "yes", "word": "0" * 64}, 403)):
        answer = client.post("/join", data={"code": other, **data})
        assert answer.status_code == status
        assert other not in answer.text
        assert client.cookies[PARTICIPANT_COOKIE] == mine
        assert parts.invitations.waiting(1) == 1
    wrong = client.post("/join", data={"code": "AAAA", "instead": "yes", "word": word})
    assert (wrong.status_code, client.cookies[PARTICIPANT_COOKIE]) == (401, mine)
    assert client.post("/join", data={"code": other, "instead": "yes", "word": word}).status_code == 200
    assert parts.sessions.participant(client.cookies[PARTICIPANT_COOKIE]).slot == 2
    assert parts.sessions.participant(mine) is None


ODD = [b"abc", b"", b"-1", b"9" * 40, b"9" * 5000, b"a\x00b", b"\xff\xfe", b"\xed\xa0\x80", "١٢".encode(), b"{{7*7}}",
       b"[[" * 2000, b"a,b,,\n\"\x1f%", "\u202e\u200b".encode()]
_FIRST = (5, 7, 9)  # a zero, half a character, a template: in every run of the suite


ACTS = sorted(set(re.findall(r'case "(\w+)"', inspect.getsource(desk))) - {"audit", "settle"})
"""What can be done to a campaign, but what takes long."""


def fields() -> list[str]:
    """The names of all fields that any page has or reads."""
    pages = "".join(path.read_text(encoding="utf-8") for path in (HERE / "templates").glob("*.html"))
    read = "".join(inspect.getsource(module) for module in (desk, joining))
    found = {*re.findall(r'\bname="([\w.]+)"', pages), *re.findall(r'form\.get\("(\w+)"', read)}
    assert {"version", "text", "code", "name", "password", "kind", "ids", "without"} <= found
    return sorted((found - {"word", "viewport"}) | {"field.report", "field.\ud7ff", "field."})


@pytest.mark.parametrize("turn", fast(1, sorted(range(len(ODD)), key=_FIRST.__contains__, reverse=True)),
                         ids=lambda turn: repr(ODD[turn][:10]))
def test_whatever_is_typed_is_answered(turn: int, served: tuple[FastAPI, Caller]) -> None:
    """In every field of every form, and every part of every address: refused, or taken, but no fault of ours."""
    app, odd = served[0], ODD[turn]
    client = TestClient(app, raise_server_exceptions=False, headers={"Accept": "text/html"}, follow_redirects=False)
    typed = "&".join(f"{quote_from_bytes(name.encode())}={quote_from_bytes(odd)}" for name in fields())
    parts = b"".join(b'--x\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n' % (
        name.encode(), b'; filename="f"' if name == "file" else b"", odd) for name in fields())
    text, tried = quote_from_bytes(odd[:2000], safe=""), 0
    draft = app.state.parts.drafts.new("x", 1).number  # nothing that takes long to plan
    acts = [ACTS[turn % len(ACTS)], quote_from_bytes(odd[:50], safe="") or "none"]
    for path in sorted({route.path.replace("{act}", act) for route in changing(app) for act in acts}):
        cookie, token = session(app, path)
        who = {} if path in COMING_IN else {"Cookie": f"{cookie}={token}"}
        word, to = csrf_of(token), path.replace("{number}", str(draft if "/drafts/" in path else 1))
        media, body = "application/x-www-form-urlencoded", f"{typed}&word={word}".encode()
        if turn % 2:
            media = "multipart/form-data; boundary=x"
            body = parts + b'--x\r\nContent-Disposition: form-data; name="word"\r\n\r\n%s\r\n--x--\r\n' % word.encode()
        answer = client.post(to, content=body, headers={"Content-Type": media, **who})
        assert answer.status_code < 500, (path, media, answer.text)
        tried += 1
    assert tried >= 13
    everybody = {"Cookie": "; ".join("=".join(session(app, path)) for path in ("/desk", "/mine"))}
    for route in (each for each in routes(app) if not each.include_in_schema and "GET" in each.methods):
        names = [each.alias for each in route.dependant.query_params] or ["x"]
        query = "&".join(f"{name}={text}" for name in names)
        number = str(draft if "/drafts/" in route.path else 1)
        for path in {route.path.replace("{number}", number), re.sub(r"\{\w+\}", text or "none", route.path)}:
            answer = client.get(f"{path}?{query}", headers=everybody)
            assert answer.status_code < 500, (path, query[:100], answer.text)


@pytest.mark.parametrize("charset", ["unicode_escape", "zzz", "utf-7", "utf-16"])
def test_forms_are_utf_8(charset: str, served: tuple[FastAPI, Caller]) -> None:
    """Other ways to write could write what is no text."""
    body = b"".join(b'--x\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' % each for each in (
        (b"name", b"ada"), (b"password", rb"\ud800xxxxxxxxxxxx"))) + b"--x--\r\n"
    client, media = TestClient(served[0], raise_server_exceptions=False), "multipart/form-data; boundary=x; charset="
    assert client.post("/login", content=body, headers={"Content-Type": media + charset}).status_code == 415
    assert client.post("/login", content=body, headers={"Content-Type": media + "UTF-8"}).status_code == 401


def test_lists_have_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is newest stands on the first page, and every one on some page."""
    for module in (desk, public):
        monkeypatch.setattr(module, "_MOST", 2)
    with serving(tmp_path) as (app, anybody):
        olga = anybody.logged_in("olga")
        drafts = [olga("POST", "/drafts", json={"text": kind("bits").template.replace("may", f"may {k}")}, status=201)
                  ["number"] for k in range(10)]
        opened = [olga("POST", f"/drafts/{number}/open")["number"] for number in drafts[:5]]
        client = TestClient(app, headers={"Cookie": f"{OPERATOR_COOKIE}={olga.token}"})
        for start, pattern, onward, all_of_them in (
                ("/", r'href="/campaigns/(\d+)"', r'href="(/\?only=open&amp;before=\d+)"', opened),
                ("/desk", r'href="/desk/campaigns/(\d+)"', r'href="(/desk\?before=\d+)"', opened),
                ("/desk", r'href="/desk/drafts/(\d+)"', r'href="(/desk\?drafts_before=\d+)"', drafts[5:])):
            seen, path = [], [start]
            while path:
                text = client.get(path[0].replace("&amp;", "&")).text
                seen.append([int(number) for number in re.findall(pattern, text)])
                path = re.findall(onward, text)
            assert [len(page) for page in seen] == [2, 2, 1]
            assert [number for page in seen for number in page] == all_of_them[::-1]
        for bad in ("/?before=x", "/?only=x", "/?before=0", "/desk?before=x", "/desk?drafts_before=-1"):
            assert client.get(bad).status_code == 422
