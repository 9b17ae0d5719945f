"""Pages for everybody: what is open, what was found, and how to check it."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from confide.campaign.pack import signed_digest
from confide.campaign.service.api.campaigns import settled_files
from confide.campaign.service.api.models import Number
from confide.campaign.service.shell.guards import PartsOf
from confide.campaign.service.web.page import page
from confide.campaign.states import State

__all__ = ["router"]

router = APIRouter(include_in_schema=False)
_MOST = 200


@router.get("/")
def front(request: Request, parts: PartsOf) -> HTMLResponse:
    """Campaigns that are open, under way, and settled."""
    shown = parts.opened.all(limit=_MOST)
    return page(request, "front.html", campaigns={
        "open": [each for each in shown if each.state is State.OPEN],
        "under_way": [each for each in shown if each.state in (State.CLOSED, State.CHARGED, State.RUN)],
        "settled": [each for each in shown if each.state is State.SETTLED]})


@router.get("/campaigns/{number}")
def campaign(request: Request, parts: PartsOf, number: Number) -> HTMLResponse:
    """One campaign: its result where there is one, and what was offered."""
    known, it = parts.opened.stored(number), parts.opened.get(number).campaign
    result, signed = [], ""
    if known.state is State.SETTLED:
        signed = signed_digest(settled_files(parts, number))
        result = list(it.file.kind.result(it.plan, it.settled(store=parts.store)))
    return page(request, "campaign.html", known=known, result=result, offer=it.offer(home=parts.store.home),
                held=it.held, promises=[each for each in it.plan.guarantees if each.claimable],
                fingerprint=parts.store.home.fingerprint, signed=signed)
