"""A client of an application in this process, as programs and browsers use it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from sqlalchemy import select
from starlette.testclient import TestClient

from confide.campaign.store import schema
from confide.service.access import Role
from confide.service.app import create_app
from confide.service.shell.settings import Settings
from service.parts import PASSWORD

__all__ = ["Caller", "everything", "routes", "serving"]


class Caller:
    """Somebody who calls the API.

    Args:
        client: of the application.
        token: hers; empty where she has none.
    """

    def __init__(self, client: TestClient, token: str = "") -> None:
        self.client, self.token = client, token

    def __call__(self, method: str, path: str, *, status: int = 200, **more: Any) -> Any:
        """Call, and check the status; JSON where there is some, else bytes."""
        headers = {**({"Authorization": f"Bearer {self.token}"} if self.token else {}), **more.pop("headers", {})}
        answer = self.client.request(method, f"/api/v1{path}", headers=headers, **more)
        assert answer.status_code == status, (answer.status_code, answer.text)
        return answer.json() if "json" in answer.headers.get("content-type", "") else answer.content

    def logged_in(self, name: str, password: str = PASSWORD) -> Caller:
        """The same client as an operator."""
        return Caller(self.client, self("POST", "/login", json={"name": name, "password": password})["token"])

    def joined(self, code: str) -> Caller:
        """The same client as a participant."""
        return Caller(self.client, self("POST", "/join", json={"code": code})["token"])


def routes(app: FastAPI) -> list[APIRoute]:
    """All routes, however they are nested."""
    found: list[APIRoute] = []

    def visit(parts: Any) -> None:
        for each in parts:
            if isinstance(each, APIRoute):
                found.append(each)  # pages among them
            visit(getattr(each, "routes", None) or getattr(getattr(each, "original_router", None), "routes", ()))

    visit(app.routes)
    return found


def everything(app: FastAPI) -> dict[str, list[Any]]:
    """All rows of the store, by table; but who has tried to come in."""
    with app.state.parts.store.database.reading() as connection:
        return {name: sorted(map(repr, connection.execute(select(table)).all()))
                for name, table in schema.metadata.tables.items() if not name.startswith("attempt")}


@contextmanager
def serving(folder: Path, url: str | None = None, **settings: Any) -> Iterator[tuple[FastAPI, Caller]]:
    """An application in an installation of its own, with an admin, an operator and a viewer."""
    (folder / "data").mkdir(exist_ok=True)
    app = create_app(Settings(home=folder / "home", store=url, data=folder / "data", **{"attempts": 1000, **settings}))
    for name, role in (("ada", Role.ADMIN), ("olga", Role.OPERATOR), ("vera", Role.VIEWER)):
        app.state.parts.operators.add(name, PASSWORD, role)
    with TestClient(app, raise_server_exceptions=False) as client:
        yield app, Caller(client)
