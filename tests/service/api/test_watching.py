"""What the service tells of itself: nothing of what people do, in no log of any library, no count, no error."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI

from confide.contract import kind
from confide.service.shell.watching import TOGETHER
from service.clients import Caller, serving
from service.parts import PASSWORD, sent

TOKEN = "a token of twenty letters or more"
SECRET = "the-answer-of-my-life"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[FastAPI, Caller]]:
    digest = hashlib.sha256(TOKEN.encode()).hexdigest()
    with serving(tmp_path_factory.mktemp("watched"), metrics_digest=digest) as found:
        yield found


@pytest.fixture(scope="module")
def olga(served: tuple[FastAPI, Caller]) -> Caller:
    """An operator, with an open campaign of number 1."""
    found = served[1].logged_in("olga")
    draft = found("POST", "/drafts", json={"text": kind("bits").template}, status=201)
    found("POST", f"/drafts/{draft['number']}/open")
    return found


@pytest.fixture(scope="module")
def participant(served: tuple[FastAPI, Caller], olga: Caller) -> Caller:
    (code,) = olga("POST", "/campaigns/1/invitations", json={"slots": [0]})["codes"]
    return served[1].joined(code["code"])


def counted(anybody: Caller) -> str:
    """What Prometheus reads."""
    answer = anybody.client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    return answer.text


def reported(caplog: pytest.LogCaptureFixture) -> list[str]:
    """All that any logger was given, but the client's of this test; arguments and texts of errors among it."""
    return [f"{record.getMessage()} {record.exc_info} {vars(record)}" for record in caplog.records
            if not record.name.startswith(("httpx", "httpcore"))]


def test_nothing_private_is_logged_or_counted(
    served: tuple[FastAPI, Caller], olga: Caller, participant: Caller, caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values, codes, tokens, names, passwords, addresses, numbers of campaigns: in no line, no metric, no error."""
    app, anybody = served
    said: list[str] = []
    with caplog.at_level(logging.INFO):
        participant("PUT", "/mine/report", json={"values": {"report": SECRET}}, status=422)
        participant("PUT", "/mine/report", json={"values": {SECRET: "yes"}}, status=422)
        said.append(json.dumps(participant("PUT", "/mine/report", json={"values": {"report": SECRET}}, status=422)))
        said.append(json.dumps(anybody("POST", "/join", json={"code": SECRET}, status=401)))
        said.append(json.dumps(anybody("POST", "/login", json={"name": SECRET, "password": SECRET}, status=401)))
        said.append(anybody.client.get(f"/api/v1/campaigns/1?x={SECRET}").text)
        monkeypatch.setattr(app.state.parts.participation, "submit", broken)
        answer = participant("PUT", "/mine/report", json={"values": sent(None, {"report": SECRET})}, status=500)
        said.append(json.dumps(answer))
        assert answer["detail"].startswith("reference ")
        olga("GET", "/campaigns/1/progress")
    lines, metrics = reported(caplog), counted(anybody)
    assert any("internal error: ValueError" in line for line in lines)
    assert any("/campaigns/{number}/progress" in line for line in lines)
    assert "progress" in metrics
    for text in (*lines, metrics, *said):
        for private in (SECRET, olga.token, participant.token, PASSWORD, "testclient"):
            assert private not in text
    assert not any("/campaigns/1" in text for text in (*lines, metrics))
    assert re.search(r'confide_requests_total\{method="any",route="participants",status="5xx"\} 1\.0', metrics)


def broken(*_: object) -> None:
    raise ValueError(SECRET)


def test_what_participants_do_is_neither_logged_nor_counted(
    served: tuple[FastAPI, Caller], participant: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither a line, nor a count, whatever the answer is; and nothing of what their pages load."""
    client = served[1].client
    before = counted(served[1])
    with caplog.at_level(logging.INFO):
        head = {"Authorization": f"Bearer {participant.token}"}
        answers = [client.request(method, path, headers=head, follow_redirects=False, **more).status_code
                   for method, path, more in (
            ("GET", "/api/v1/mine", {}), ("GET", "/api/v1/mine/form", {}), ("PUT", "/api/v1/mine/report", {"json": {}}),
            ("PUT", "/api/v1/mine/report", {"content": "x" * (2 << 20)}), ("POST", "/api/v1/join", {"json": {}}),
            ("POST", "/api/v1/mine/withdraw", {}), ("GET", "/mine", {}), ("GET", "/join", {}),
            ("GET", "/mine/none", {}), ("DELETE", "/mine", {}), ("POST", "/mine/report", {}),
            ("GET", "/static/join.js", {}), ("GET", "/static/noise.js", {}))]
    assert set(answers) >= {200, 303, 401, 404, 405, 413, 422}
    assert [record for record in caplog.records if record.name.startswith(("confide", "uvicorn"))] == []
    assert re.sub(r'.*(/metrics|_seconds|process_|python_|gc_).*', "", counted(served[1])) == re.sub(
        r'.*(/metrics|_seconds|process_|python_|gc_).*', "", before)
    times = re.compile(r"^confide_request_seconds_count (\d+)", re.MULTILINE)
    first, second = (int(float(times.findall(text)[0])) for text in (before, counted(served[1])))
    assert second - first == 2  # those that asked for the counts themselves


def test_a_method_that_a_stranger_made_up_is_in_no_count(
    served: tuple[FastAPI, Caller], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        for method in ("SECRETS", "get"):
            served[1].client.request(method, "/health/live")
    metrics = counted(served[1])
    assert 'method="other"' in metrics
    assert "SECRETS" not in metrics + "".join(reported(caplog))
    assert set(re.findall(r'method="([^"]*)"', metrics)) <= {"GET", "POST", "any", "other"}


def test_counts_are_shown_to_holders_of_their_token(served: tuple[FastAPI, Caller], tmp_path: Path) -> None:
    for given in ("", "Bearer", "Bearer x", f"Basic {TOKEN}", f"Bearer {TOKEN}x"):
        answer = served[1].client.get("/metrics", headers={"Authorization": given} if given else {})
        assert answer.status_code == 401
        assert "confide_requests" not in answer.text
    with serving(tmp_path) as (_, anybody):  # where nobody asked for them there are none
        assert anybody.client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 404


def run(program: str, **variables: str) -> tuple[str, str]:
    """What a program says on standard output and on standard error."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=600,
                          env={**os.environ, **variables})
    return done.stdout, done.stderr


def test_several_processes_count_together(tmp_path: Path) -> None:
    """Whichever of them is asked tells what all of them counted, those among them that have ended."""
    count = ("from confide.service.shell.watching import Metrics\n"
             "found = Metrics()\nfound.count('GET', '/', 200, 0.1)\nprint(found.text().decode())")
    assert 'confide_requests_total{method="GET",route="/",status="200"} 1.0' in run(count)[0]
    together = {TOGETHER: str(tmp_path)}
    run(count, **together)
    said = run(count, **together)[0]
    assert 'confide_requests_total{method="GET",route="/",status="200"} 2.0' in said
    assert "confide_request_seconds_count 2.0" in said


def test_every_line_on_standard_error_is_ours() -> None:
    """A library's message may carry what somebody sent, put into it before anybody can look: it is not shown."""
    _, said = run("""
import logging, threading, warnings
there = logging.getLogger("before.us")
there.addHandler(logging.StreamHandler())
from confide.service.shell.watching import log_as_json
log_as_json()
for name in ("python_multipart.multipart", "before.us", "asyncio", "uvicorn.access", "sqlalchemy.engine", "root"):
    logging.getLogger(name).error(f"Expected 45, got SECRET")
logging.getLogger("uvicorn.error").info("Started server process [%d]", 7)
logging.getLogger("uvicorn.error").info('%s - "WebSocket %s" %d', "a-strangers-address", "/SECRET", 403)
logging.getLogger("uvicorn.error").error("Traceback (most recent call last):\\n  SECRET\\nValueError: SECRET")
logging.getLogger("confide.service").info("a line of %s", "ours")
warnings.warn("SECRET")
def fail(): raise ValueError("SECRET")
thread = threading.Thread(target=fail); thread.start(); thread.join()
class Last:
    def __del__(self): raise ValueError("SECRET")
Last()
try:
    fail()
except ValueError:
    logging.getLogger("uvicorn.error").exception("Exception in ASGI application\\n")
""")
    lines = [json.loads(line) for line in said.splitlines()]
    assert "SECRET" not in said
    assert "a-strangers" not in said
    shown = [(line["logger"], line["message"], line.get("error")) for line in lines]
    assert shown == [
        *((name, "not shown", None) for name in (
            "python_multipart.multipart", "before.us", "asyncio", "sqlalchemy.engine", "root")),
        ("uvicorn.error", "Started server process [7]", None),
        ("uvicorn.error", '(not shown) - "WebSocket (not shown)" (not shown)', None),
        ("uvicorn.error", "not shown", "ValueError"),
        ("confide.service", "a line of ours", None), ("py.warnings", "not shown", None),
        ("confide.service", "a thread has failed: ValueError", None),
        ("confide.service", "the report of an error has failed: ValueError", None),
        ("uvicorn.error", "Exception in ASGI application", "ValueError")]
