"""A service with two campaigns, and everybody who may try its doors: those with a role, and those who have lost it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from sqlalchemy import select, update

from confide.campaign.store.schema import metadata
from confide.campaign.store.service_schema import draft as draft_table
from confide.contract import kind
from confide.service.access import Role, Sessions
from confide.service.work import Worker
from service.clients import Caller, serving
from service.parts import PASSWORD

__all__ = ["World", "rows_of", "world"]

_COUNTED = ("attempt", "attempt_key")
"""Tables in which a try may leave something: how often it was tried."""


@dataclass(frozen=True)
class World:
    """The service and who is there.

    Args:
        app: of the service.
        anybody: a caller without a token.
        open: number of a campaign that is open; slots 0 and 1 have joined it.
        settled: of one that is settled, with payouts; slot 0 has joined it.
        draft: number of a draft.
        roles: tokens of those who may do something: "viewer", "operator", "admin", and "participant" of the open
            campaign's slot 0.
        nobodies: tokens that are nobody's, or nobody's any more, by what is wrong with them.
        neighbours: tokens of other participants: of the same campaign, and of the other one.
    """

    app: FastAPI
    anybody: Caller
    open: int
    settled: int
    draft: int
    roles: Mapping[str, str]
    nobodies: Mapping[str, str]
    neighbours: Mapping[str, str]

    def by(self, token: str) -> Caller:
        """Somebody who calls with this token."""
        return Caller(self.anybody.client, token)


def rows_of(app: FastAPI) -> dict[str, list[tuple[Any, ...]]]:
    """All that is stored, but for how often something was tried."""
    with app.state.parts.store.database.reading() as connection:
        return {name: sorted((tuple(row) for row in connection.execute(select(table))), key=repr)
                for name, table in metadata.tables.items() if name not in _COUNTED}


@contextmanager
def world(folder: Path) -> Iterator[World]:
    """All of that, in an installation of its own; jobs are done by nobody."""
    with serving(folder, settling=False) as (app, anybody):
        parts = app.state.parts
        olga = anybody.logged_in("olga")

        def opened(title: str, slots: int) -> tuple[int, list[str]]:
            text = kind("bits").template.replace("ill since may", title)  # a data set of its own
            draft = olga("POST", "/drafts", json={"text": text}, status=201)["number"]
            number = olga("POST", f"/drafts/{draft}/open")["number"]
            codes = olga("POST", f"/campaigns/{number}/invitations", json={"slots": list(range(slots))})["codes"]
            return number, [anybody.joined(each["code"]).token for each in codes]

        settled, (elsewhere, *_) = opened("The first", 8)
        for slot in range(1, 8):
            parts.intake.submit(settled, slot, b"\1\0\0")
        Caller(anybody.client, elsewhere)("PUT", "/mine/report", json={"values": {"report": "yes"}}, status=204)
        olga("POST", f"/campaigns/{settled}/settle", json={"confirm": True}, status=202)
        assert Worker(parts.store, parts.opened, parts.jobs, "worker").once()
        number, (participant, neighbour, left, again) = opened("The second", 4)
        for token, report in ((participant, "yes"), (neighbour, "no")):
            Caller(anybody.client, token)("PUT", "/mine/report", json={"values": {"report": report}}, status=204)
        draft = olga("POST", "/drafts", json={"text": kind("bits").template}, status=201)["number"]
        Caller(anybody.client, left)("POST", "/leave", status=204)
        olga("POST", f"/campaigns/{number}/invitations", json={"slots": [3]})  # her earlier session ends
        roles = {role: anybody.logged_in(name).token
                 for name, role in (("vera", "viewer"), ("olga", "operator"), ("ada", "admin"))}
        over, (ended,) = opened("The third", 1)
        with parts.store.database.writing() as connection:
            connection.execute(update(draft_table).where(draft_table.c.campaign_id == over).values(
                last_day="2020-12-31"))
        nobodies = {"participant of an earlier year": ended,
                    "no token": "", "no token of ours": "x" * 43, "left": left, "invited again": again,
                    **_lost(app, anybody)}
        yield World(app, anybody, number, settled, draft, {**roles, "participant": participant}, nobodies,
                    {"same campaign": neighbour, "other campaign": elsewhere})


def _lost(app: FastAPI, anybody: Caller) -> dict[str, str]:
    """Sessions of admins that are over."""
    parts, found = app.state.parts, {}
    late = Sessions(parts.store, hours=1.0, clock=lambda: time.time() - 7200)
    for name in ("expired", "deactivated", "still there though deactivated", "logged out", "made less"):
        parts.operators.add(name, PASSWORD, Role.ADMIN)
        found[name] = anybody.logged_in(name).token
    found["expired"] = late.begin(parts.operators.named("expired"))
    for name in ("deactivated", "still there though deactivated"):
        parts.operators.change(parts.operators.named(name).number, active=False)
    # As a login would leave it that had checked the password just before.
    found["still there though deactivated"] = parts.sessions.begin(parts.operators.named(
        "still there though deactivated"))
    Caller(anybody.client, found["logged out"])("POST", "/logout", status=204)
    parts.operators.change(parts.operators.named("made less").number, role=Role.VIEWER)
    return found
