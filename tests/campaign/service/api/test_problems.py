"""What is wrong with a request is told by its field, with what would be right, and never with what was sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from campaign.service.clients import Caller, serving
from confide.campaign.service.shell.problems import install, status_of
from confide.campaign.service.work.faults import NotNow

SECRET = "a-secret-value"


@pytest.fixture(scope="module")
def ada(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    with serving(tmp_path_factory.mktemp("problems")) as (_, anybody):
        yield anybody.logged_in("ada")


def test_a_process_that_ends_says_when_to_come_again() -> None:
    """It is nothing that the participant did, and another process, or the next one, takes it."""
    error = NotNow("the service is shutting down", "hand it in again in a moment")
    app = FastAPI()
    install(app)

    @app.get("/")
    def ending() -> None:
        raise error

    answer = TestClient(app).get("/")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert answer.json()["detail"] == "the service is shutting down"
    assert answer.json()["limit"] == "hand it in again in a moment"
    assert status_of(error) == 503


@pytest.mark.parametrize(("method", "path", "sent", "field", "detail", "limit"), [
    ("POST", "/drafts", {}, "body", "body: is missing", "send one JSON object, with Content-Type: application/json"),
    ("POST", "/drafts", {"content": b"{" + SECRET.encode(), "headers": {"Content-Type": "application/json"}}, "body",
     "body: is no JSON", "send one JSON object, with Content-Type: application/json"),
    ("POST", "/drafts", {"json": [SECRET]}, "body", "body: cannot be used", "must be a JSON object"),
    ("POST", "/drafts", {"json": {}}, "text", "text: is missing", None),
    ("POST", "/drafts", {"json": {"text": 5}}, "text", "text: cannot be used", "must be a valid string"),
    ("POST", "/drafts", {"json": {"text": "x", "other": SECRET}}, "other", "other: is not a known field",
     "/api/v1/openapi.json lists the fields"),
    ("POST", "/drafts", {"json": {"text": "\0" + SECRET}}, "body", "body: has a zero, or half a letter", None),
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
