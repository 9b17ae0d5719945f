"""The entry point for the ledger: the privacy losses that were charged to each data set, by campaign. Only operators
can see the ledger.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from pydantic import BaseModel

from confide.campaign.pages import ledger_sections
from confide.service.access import Operator, Role
from confide.service.shell.guards import PartsOf, needs
from confide.service.shell.problems import answers

__all__ = ["router"]

router = APIRouter(prefix="/ledger", tags=["ledger"])


class LedgerModel(BaseModel):
    """The privacy budget of every data set, and the charges to it."""

    data_sets: list[str]
    sections: list[dict[str, Any]]


@router.get("", responses=answers(401, 403, 422))
def show_ledger(parts: PartsOf, _: Annotated[Operator, Depends(needs(Role.VIEWER))]) -> LedgerModel:
    """Show the privacy budget of every data set, and the charges to it by campaign."""
    return LedgerModel(data_sets=list(parts.store.data_sets()),
                       sections=[each.to_dict() for each in ledger_sections(parts.store.ledger())])
