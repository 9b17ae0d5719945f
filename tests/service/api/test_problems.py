"""What is wrong with a request is told by its field, with what would be right, and never with what was sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from confide.contract import kind
from confide.service.shell.problems import install, status_of
from confide.service.work.faults import NotNow
from service.clients import Caller, serving

SECRET = "a-secret-value"


@pytest.fixture(scope="module")
def ada(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    with serving(tmp_path_factory.mktemp("problems")) as (_, anybody):
        yield anybody.logged_in("ada")


def test_a_process_that_ends_says_when_to_come_again() -> None:
    """It is nothing that the participant did, and another process, or the next one, takes it."""
    error = NotNow("the service is shutting down", "hand in your answer again in a moment")
    app = FastAPI()
    install(app)

    @app.get("/")
    def ending() -> None:
        raise error

    answer = TestClient(app).get("/")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert answer.json()["detail"] == "the service is shutting down"
    assert answer.json()["limit"] == "hand in your answer again in a moment"
    assert status_of(error) == 503


@pytest.mark.parametrize(("method", "path", "sent", "field", "detail", "limit"), [
    ("POST", "/drafts", {}, "body", "body: is missing", "send one JSON object, with Content-Type: application/json"),
    ("POST", "/drafts", {"content": b"{" + SECRET.encode(), "headers": {"Content-Type": "application/json"}}, "body",
     "body: is not JSON", "send one JSON object, with Content-Type: application/json"),
    ("POST", "/drafts", {"json": [SECRET]}, "body", "body: cannot be used", "must be a JSON object"),
    ("POST", "/drafts", {"json": {}}, "text", "text: is missing", None),
    ("POST", "/drafts", {"json": {"text": 5}}, "text", "text: cannot be used", "must be a valid string"),
    ("POST", "/drafts", {"json": {"text": "x", "other": SECRET}}, "body", "body: has an unknown field",
     "/api/v1/openapi.json lists the fields"),
    ("POST", "/drafts", {"json": {"text": "\0" + SECRET}}, "body", "body: has a zero byte, or half of a surrogate pair",
     None),
    ("POST", "/drafts", {"json": {"text": "x", SECRET: "x"}}, "body", "body: has an unknown field",
     "/api/v1/openapi.json lists the fields"),
    ("POST", "/drafts", {"json": {"text": "x", "values": "x"}}, "body", "body: has an unknown field",
     "/api/v1/openapi.json lists the fields"),
    ("POST", "/drafts", {"content": b'{"text": "\xff' + SECRET.encode() + b'"}', "headers": {
        "Content-Type": "application/json"}}, "body", "body: is not JSON",
     "send one JSON object, with Content-Type: application/json"),
    ("POST", "/drafts", {"content": b"[" * 200_000, "headers": {"Content-Type": "application/json"}}, "body",
     "body: is not JSON", "send one JSON object, with Content-Type: application/json"),
    ("POST", "/operators", {"json": {"name": "eve", "password": "x" * 20, "role": SECRET}}, "role",
     "role: cannot be used", "must be 'viewer', 'operator' or 'admin'"),
    ("POST", "/campaigns/1/settle", {"json": {"confirm": False}}, "confirm", "confirm: cannot be used", "must be true"),
    ("POST", "/campaigns/1/invitations", {"json": {"slots": [0, SECRET]}}, "slots.1", "slots.1: cannot be used",
     "must be a valid integer"),
    ("GET", f"/campaigns/1/jobs/{SECRET}", {}, "task", "task: cannot be used", "must be 'settle' or 'audit'"),
    ("GET", f"/campaigns/{SECRET}", {}, "number", "number: cannot be used", "must be a valid integer"),
    ("GET", "/campaigns?limit=0", {}, "limit", "limit: cannot be used", "must be greater than or equal to 1"),
])
def test_a_field_is_named_with_what_it_takes(
    method: str, path: str, sent: dict[str, Any], field: str, detail: str, limit: str | None, ada: Caller
) -> None:
    found = ada(method, path, status=422, **sent)
    assert (found["field"], found["detail"], found.get("limit")) == (field, detail, limit)
    assert SECRET not in json.dumps(found)


def test_a_name_that_the_caller_made_up_is_not_repeated(tmp_path: Path) -> None:
    """Whatever stands where a column's name should: also where its value is what is wrong."""
    with serving(tmp_path, settling=False) as (_, anybody):
        olga = anybody.logged_in("olga")
        draft = olga("POST", "/drafts", json={"text": kind("bits").template}, status=201)["number"]
        olga("POST", f"/drafts/{draft}/open")
        (code,) = olga("POST", "/campaigns/1/invitations", json={"slots": [0]})["codes"]
        participant = anybody.joined(code["code"])
        for values in ({SECRET: 5}, {"report": "yes", SECRET: None}, {SECRET: "yes"}, {SECRET + "\0": "yes"}):
            assert SECRET not in json.dumps(participant("PUT", "/mine/report", json={"values": values}, status=422))


def test_malformed_bodies_are_answered_as_the_schema_says(tmp_path: Path) -> None:
    """At every door that takes JSON: no body that breaks the reader gives another answer than is documented."""
    tried = 0
    with serving(tmp_path, settling=False) as (app, anybody):
        ada = anybody.logged_in("ada")
        for path, endpoints in app.openapi()["paths"].items():
            for method, endpoint in endpoints.items():
                if "application/json" not in endpoint.get("requestBody", {}).get("content", {}):
                    continue
                for body in (b"\xff\xfe{", b"[" * 100_000, b'{"a":' * 100_000, b"{", b"", b"9" * 6000,
                             b'"\xed\xa0\x80"'):
                    answer = anybody.client.request(method, path.format(number=1, batch=1, task="settle"), content=body,
                                                    headers={"Authorization": f"Bearer {ada.token}",
                                                             "Content-Type": "application/json"})
                    assert str(answer.status_code) in endpoint["responses"], (method, path, body[:9], answer.text)
                    assert answer.status_code < 500
                    tried += 1
    assert tried > 100
