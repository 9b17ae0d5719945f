"""Web pages for everybody: open campaigns, results, and how to check results."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from confide.campaign.pack import signed_digest
from confide.campaign.store.states import State
from confide.service.api.campaigns import settled_files
from confide.service.api.models import Before, Number
from confide.service.shell.guards import PartsOf
from confide.service.web.page import leafed, page

__all__ = ["router"]

router = APIRouter(include_in_schema=False)
_MOST = 50  # campaigns of a list on a page
_LISTS = {"open": (State.OPEN,), "under_way": (State.CLOSED, State.CHARGED, State.RUN), "settled": (State.SETTLED,)}


@router.get("/")
def front(
    request: Request, parts: PartsOf, only: Literal["open", "under_way", "settled"] | None = None,
    before: Before = None
) -> HTMLResponse:
    """Show three lists of campaigns, the newest first: campaigns that are open, under way, and settled. Each list can
    have several pages.
    """
    campaigns, older = {}, {}
    for name in _LISTS if only is None else (only,):
        found = parts.opened.newest(limit=_MOST + 1, before=before, states=_LISTS[name])
        campaigns[name], older[name] = leafed(found, _MOST)
    return page(request, "front.html", campaigns=campaigns, older=older, only=only)


@router.get("/campaigns/{number}")
def campaign(request: Request, parts: PartsOf, number: Number) -> HTMLResponse:
    """Show the result of one campaign, if there is one, and its offer."""
    known, opened = parts.opened.stored(number), parts.opened.get(number)
    it = opened.campaign
    result, signed = [], ""
    # Devices answer on contracts that are final.
    joined = (State.OPEN,) if opened.contracts is None else (State.OPEN, State.CHARGED)
    if known.state is State.SETTLED:
        signed = signed_digest(settled_files(parts, number))
        result = list(it.file.kind.result(it.plan, it.settled(store=parts.store).published()))
    return page(request, "campaign.html", known=known, result=result, joinable=known.state in joined,
                offer=it.offer(home=parts.store.home),
                held=it.held, promises=[each for each in it.plan.guarantees if each.claimable],
                fingerprint=parts.store.home.fingerprint, signed=signed)
