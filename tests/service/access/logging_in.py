"""A browser that logs in by the word of a provider, and the service that trusts it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from fastapi import FastAPI
from starlette.testclient import TestClient

from confide.service.access import Role
from confide.service.shell.guards import OPERATOR_COOKIE
from service.access.identity_provider import (
    CLIENT,
    SECRET,
)
from service.clients import serving

__all__ = ["BASE", "BEGIN", "UNBELIEVED", "browser", "come_back", "refused", "sent_back", "trusting"]

BASE = "http://localhost:8000"


@contextmanager
def trusting(folder: Path, issuer: str, *, base: str = BASE, name: str = "", seconds: float = 5.0,
             **settings: Any) -> Iterator[FastAPI]:
    """The service, where this issuer says who operators are; it knows her whom it calls subject-17."""
    secret = folder / "secret"
    secret.write_text(SECRET + "\n")
    oidc = {"issuer": issuer, "client": CLIENT, "secret_file": secret, "name": name, "seconds": seconds}
    with serving(folder, oidc=oidc, base_url=base, **settings) as (app, _):
        app.state.parts.operators.admit("eve", Role.OPERATOR, issuer=issuer, subject="subject-17")
        yield app


def browser(app: FastAPI, base: str = BASE) -> TestClient:
    return TestClient(app, base_url=base, raise_server_exceptions=False, follow_redirects=False,
                      headers={"Accept": "text/html"})


def sent_back(client: TestClient) -> str:
    """She is sent to the provider, and says who she is: the path to which she is sent back."""
    begun = client.get("/login/provider")
    assert begun.status_code == 303, begun.text
    back = httpx2.get(begun.headers["location"])
    assert back.status_code == 303, back.text
    return back.headers["location"].removeprefix(BASE).removeprefix("https://study.example")


def come_back(client: TestClient) -> httpx2.Response:
    return client.get(sent_back(client))


def refused(answer: Any, status: int, words: str) -> None:
    """A plain page that tells no secret, and lets nobody in."""
    assert answer.status_code == status, answer.text
    assert words in answer.text
    assert OPERATOR_COOKIE not in answer.headers.get("set-cookie", "")
    for secret in (SECRET, "code-", "access-of", "eyJ", "Traceback"):
        assert secret not in answer.text


UNBELIEVED = "did not confirm your identity in a form that can be checked"
BEGIN = "Begin again."
