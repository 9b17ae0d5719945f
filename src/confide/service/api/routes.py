"""The API, `/api/v1`: a door for each thing that operators, participants and the public may do."""

from __future__ import annotations

from fastapi import APIRouter

from confide.service.api import campaigns, drafts, kinds, ledger, mine, operators, payouts, running
from confide.service.shell.problems import answers

__all__ = ["router"]

router = APIRouter(prefix="/api/v1", responses=answers(503))  # the store may be busy, or away, whatever is asked
for _part in (kinds, campaigns, drafts, running, payouts, ledger, operators, mine):
    router.include_router(_part.router)
