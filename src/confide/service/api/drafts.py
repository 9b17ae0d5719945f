"""Drafts: campaign files that operators write, plan, and open.

A request that is repeated with the same idempotency key is not carried out twice. The repeated request gets the earlier
answer: see `once`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Depends, Header, Response
from pydantic import BaseModel, Field

from confide.campaign.charging import cost_of, ledger_says
from confide.campaign.handing_in import charged_at, opening_says
from confide.campaign.ledger_gaps import ledger_warnings
from confide.campaign.trade_off import kept_trade_off
from confide.contract.guarantees import promises_json
from confide.service.access import Operator, Role
from confide.service.api.models import (
    After,
    CampaignModel,
    DraftModel,
    DraftsModel,
    Limit,
    Number,
    SectionsModel,
    Strict,
    campaign_model,
    draft_model,
)
from confide.service.shell.guards import PartsOf, needs
from confide.service.shell.parts import Parts
from confide.service.shell.problems import answers
from confide.service.work.drafts import LONGEST_TEXT
from confide.service.work.replays import Reply

__all__ = ["IdempotencyKey", "once", "router"]

Answer = TypeVar("Answer", bound=BaseModel)

IdempotencyKey = Annotated[str, Header(alias="Idempotency-Key", max_length=200, description=(
    "any text that the client chooses; the service does not repeat the same request with the same text within a day"))]


def once(
    parts: Parts, who: str, key: str, what: str, asked: BaseModel, do: Callable[[], Answer], answer: type[Answer]
) -> Answer:
    """Carry out an action once for each idempotency key. If several requests with one key arrive at the same time, one
    request carries out the action, and the other requests get the same answer.

    Args:
        parts: parts of the service process, such as the store.
        who: name of the caller; different callers may use the same key.
        key: idempotency key of the request; empty if the caller gave none, so that the action is always carried out.
        what: name of the action; a request is the same as an earlier one only if action and body are the same.
        asked: body of the request.
        do: function that carries out the action.
        answer: type of the answer, a model of the API.

    Raises:
        Refused: the key was used for another request, or the same request is still being carried out.
    """
    if not key:
        return do()
    request = f"{what}\0{asked.model_dump_json()}".encode()
    known = parts.replays.begin(who, key, request)
    if known is not None:
        return answer.model_validate_json(known.body)
    try:
        found = do()
    except BaseException:
        parts.replays.drop(who, key, request)
        raise
    parts.replays.keep(who, key, request, Reply(200, found.model_dump_json().encode()))
    return found


router = APIRouter(prefix="/drafts", tags=["drafts"])
Viewer = Annotated[Operator, Depends(needs(Role.VIEWER))]
Running = Annotated[Operator, Depends(needs(Role.OPERATOR))]
_WHO = (401, 403, 422)


class NewDraft(Strict):
    """A new draft: the text of a campaign file, which may still be incomplete."""

    text: str = Field(max_length=LONGEST_TEXT)
    name: str = Field(default="", max_length=50, description="name of the file; by default made from the title")


class ChangedDraft(Strict):
    """A new text of a campaign file."""

    text: str = Field(max_length=LONGEST_TEXT)
    version: int = Field(ge=1, le=2**31 - 1, description="the version that the client read")


class ReadDraft(Strict):
    """The version of the draft that the operator has read and wants to open."""

    version: int | None = Field(default=None, ge=1, le=2**31 - 1,
                                description="the version that the client read; by default the present version")


class PlanModel(BaseModel):
    """The planned outcome of a campaign."""

    version: int = Field(description="version of the planned draft; the request that opens the draft must give it")
    title: str
    kind: str
    slots: int = Field(description="number of invited slots; 0 if a custodian holds the records")
    plan: dict[str, Any]
    guarantees: list[dict[str, Any]]
    sections: list[dict[str, Any]]
    offer: list[dict[str, Any]] = Field(description="the plan as a participant reads it")
    ledger: str = Field(description="true if the ledger would admit the campaign now")
    charged_at: Literal["opening", "final round", "settlement"] = Field(description="the step that charges the ledger")
    cost: str = Field(description="the charge for the data set, in words")
    opening: str = Field(description="the charge of opening the collection, in words")


class OpenedModel(CampaignModel):
    """The campaign that an opened draft has become."""

    charged: bool = Field(description="true if the ledger has charged the campaign; a charge is final")


@router.get("", responses=answers(*_WHO))
def list_drafts(parts: PartsOf, _: Viewer, after: After = 0, limit: Limit = 50) -> DraftsModel:
    """List the drafts that have not become campaigns."""
    found = parts.drafts.all(limit=limit + 1, after=after)
    shown = found[:limit]
    return DraftsModel(drafts=[draft_model(each) for each in shown],
                       after=shown[-1].number if len(found) > limit else None)


@router.post("", status_code=201, responses=answers(*_WHO, 409, 413))
def begin_draft(parts: PartsOf, who: Running, new: NewDraft, key: IdempotencyKey = "") -> DraftModel:
    """Begin a draft from the text of a campaign file."""
    return once(parts, f"operator {who.number}", key, "drafts", new,
                lambda: draft_model(parts.drafts.new(new.text, who.number, new.name)), DraftModel)


@router.get("/{number}", responses=answers(*_WHO, 404))
def show_draft(parts: PartsOf, _: Viewer, number: Number) -> DraftModel:
    """Show a draft with its text and version."""
    return draft_model(parts.drafts.get(number))


@router.put("/{number}", responses=answers(*_WHO, 404, 409, 413))
def change_draft(parts: PartsOf, _: Running, number: Number, changed: ChangedDraft) -> DraftModel:
    """Replace the text of a draft. Refused if another operator has changed the draft since it was read."""
    return draft_model(parts.drafts.change(number, changed.text, changed.version))


@router.delete("/{number}", status_code=204, response_class=Response, responses=answers(*_WHO, 404, 409))
def forget_draft(parts: PartsOf, _: Running, number: Number) -> Response:
    """Delete a draft."""
    parts.drafts.delete(number)
    return Response(status_code=204)


@router.post("/{number}/plan", responses=answers(*_WHO, 404, 409))
def plan_draft(parts: PartsOf, _: Viewer, number: Number) -> PlanModel:
    """Show the planned outcome of the draft's campaign, from public parameters alone."""
    draft = parts.drafts.get(number)
    campaign = parts.drafts.campaign(draft)
    plan, file = campaign.plan, campaign.file
    return PlanModel(
        version=draft.version, title=file.title, kind=file.kind.name,
        slots=len(file.kind.identities(file.config)), plan=plan.to_dict(),
        guarantees=promises_json(plan.guarantees), sections=[each.to_dict() for each in plan.sections()],
        offer=[each.to_dict() for each in campaign.offer(home=parts.store.home)],
        ledger=" ".join((ledger_says(file, plan, parts.store)[1], *ledger_warnings(file, parts.store))),
        charged_at=charged_at(file.kind), cost=cost_of(file, plan),
        opening=opening_says(campaign.planned))


@router.post("/{number}/trade-off", responses=answers(*_WHO, 404, 409))
def show_trade_off(parts: PartsOf, _: Viewer, number: Number) -> SectionsModel:
    """Show the predicted privacy loss, error and payments of the draft's campaign at other levels of privacy, from
    public parameters alone.
    """
    return SectionsModel(sections=[kept_trade_off(parts.drafts.campaign(parts.drafts.get(number))).to_dict()])


@router.post("/{number}/open", responses=answers(*_WHO, 404, 409))
def open_draft(parts: PartsOf, _: Running, number: Number, read: ReadDraft | None = None) -> OpenedModel:
    """Make the draft a campaign, and open its collection. A repeated request returns the same campaign. Refused if
    another operator has changed the draft since the given version. If people's devices draw their reports, opening
    charges the ledger, which cannot be undone; the draft's plan states the charge.
    """
    known = parts.drafts.open(number, None if read is None else read.version)
    return OpenedModel(**campaign_model(known).model_dump(), charged=parts.store.is_charged(known.number))
