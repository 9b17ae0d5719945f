"""Entry points for everybody: the installed kinds of campaigns, and a template of a campaign file for each kind."""

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
    """The name of a kind of campaigns, with a summary in one sentence."""

    name: str
    summary: str


class KindsModel(BaseModel):
    """The installed kinds of campaigns."""

    kinds: list[KindModel]


class TemplateModel(BaseModel):
    """A commented template of a campaign file of one kind, and the keys that such a file may have."""

    name: str
    summary: str
    template: str
    keys: dict[str, Any]


@router.get("")
def list_kinds() -> KindsModel:
    """The installed kinds of campaigns."""
    return KindsModel(kinds=[KindModel(name=name, summary=said) for name, said in summaries()[0].items()])


@router.get("/{name}", responses=answers(422))
def show_kind(name: str) -> TemplateModel:
    """Show a commented template of a campaign file, and the JSON schema of the kind's campaign files."""
    found = kind(name)
    return TemplateModel(name=name, summary=found.summary, template=found.template, keys=schema(name))
