"""The installed kinds of campaigns, and a template file for each."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel

from confide.campaign.file import schema
from confide.contract.kinds import kind, summaries
from confide.service.shell.problems import answers

__all__ = ["router"]

router = APIRouter(prefix="/kinds", tags=["kinds"])


class KindModel(BaseModel):
    """A kind of campaigns."""

    name: str
    summary: str


class KindsModel(BaseModel):
    """All kinds that are installed."""

    kinds: list[KindModel]


class TemplateModel(BaseModel):
    """A kind's template file, and the keys that a campaign file of the kind may have."""

    name: str
    summary: str
    template: str
    keys: dict[str, Any]


@router.get("")
def list_kinds() -> KindsModel:
    """All kinds that are installed."""
    return KindsModel(kinds=[KindModel(name=name, summary=said) for name, said in summaries()[0].items()])


@router.get("/{name}", responses=answers(422))
def show_kind(name: str) -> TemplateModel:
    """A commented template of a campaign file, and the JSON schema of the kind's campaign files."""
    found = kind(name)
    return TemplateModel(name=name, summary=found.summary, template=found.template, keys=schema(name))
