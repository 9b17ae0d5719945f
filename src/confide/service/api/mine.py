"""Entry points for participants: reading the offer, handing in values, withdrawing, and getting a share. Each entry
point gives access to the caller's own part in the campaign alone.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import BaseModel, Field

from confide.service.api.models import FieldModel, SectionsModel, Strict, Values, field_model
from confide.service.shell.guards import PARTICIPANT_COOKIE, PartsOf, TakingPart, token_of
from confide.service.shell.problems import answers
from confide.service.shell.trying import tried

__all__ = ["router"]

router = APIRouter(tags=["participants"])
_WHO = (401, 403, 422)


class Join(Strict):
    """The code of an invitation, as the participant received it."""

    code: str = Field(max_length=200)


class JoinedModel(BaseModel):
    """The token of a participant's new session."""

    token: str = Field(description="token for the header `Authorization: Bearer TOKEN`")
    campaign: int


class MineModel(BaseModel):
    """The state of one participant's part in the campaign, which only this participant sees."""

    campaign: int
    id: str = Field(description="the participant's id on the public list")
    state: str
    asks: str = Field(description="the participant's next step: record, report, contract (to agree or decline), or "
                                  "nothing")
    handed_in: bool
    withdrawn: bool
    declined: bool = Field(description="true if the participant has declined a contract; no final contract includes "
                                       "them")
    local: bool = Field(description="true if the participant's device draws their report")


class FormModel(BaseModel):
    """The fields that a participant is asked to fill in, and the instructions for the participant's device."""

    fields: list[FieldModel]
    device: dict[str, Any] | None = Field(description="instructions for the participant's device; null if it does "
                                                      "nothing")


class HandedIn(Strict):
    """The values that a participant hands in, as a mapping from column to text. If the participant's device draws the
    report, the values are the row with the drawn report.
    """

    values: Values


class ShareOf(Strict):
    """The values that the participant handed in, from which their share is computed; if left out, the stored values are
    used.
    """

    values: Values | None = None


class WithdrawnModel(BaseModel):
    """The result of a participant's withdrawal."""

    before_settlement: bool


class ContractModel(BaseModel):
    """The signed contract that a participant is offered."""

    round: int
    final: bool
    signer: str
    token: str
    sections: list[dict[str, Any]]


@router.post("/join", responses=answers(401, 413, 422))
async def join(parts: PartsOf, request: Request, given: Join) -> JoinedModel:
    """Use up a code, and begin a session of the participant."""
    found = await tried(parts, request, "join", "", lambda: parts.invitations.join(given.code))
    if found is None:
        raise HTTPException(401, "the code is not known, or was used; ask the person who gave it to you for a new one",
                            {"WWW-Authenticate": "Bearer"})
    token, who = found
    return JoinedModel(token=token, campaign=who.campaign)


@router.post("/leave", status_code=204, response_class=Response, responses=answers(*_WHO))
def leave(parts: PartsOf, request: Request, _: TakingPart) -> Response:
    """End the participant's session. Values that the participant handed in stay stored."""
    parts.sessions.end(token_of(request, PARTICIPANT_COOKIE))
    return Response(status_code=204)


@router.get("/mine", responses=answers(*_WHO))
def show_mine(parts: PartsOf, who: TakingPart) -> MineModel:
    """Show whether the participant has handed values in, declined or withdrawn, and their possible next step."""
    standing = parts.participation.standing(who)
    return MineModel(campaign=who.campaign, id=parts.participation.identity(who), state=standing.state.value,
                     asks=standing.asks, handed_in=standing.handed_in, withdrawn=standing.withdrawn,
                     declined=standing.declined, local=standing.local)


@router.get("/mine/offer", responses=answers(*_WHO))
def show_my_offer(parts: PartsOf, who: TakingPart) -> SectionsModel:
    """Show the offer of the campaign and, if there is one, the participant's contract."""
    return SectionsModel(sections=[each.to_dict() for each in parts.participation.offer(who)])


@router.get("/mine/form", responses=answers(*_WHO))
def show_my_form(parts: PartsOf, who: TakingPart) -> FormModel:
    """Show the fields that the participant is asked to fill in now."""
    device = parts.participation.device(who)
    return FormModel(fields=[field_model(each) for each in parts.participation.form(who)],
                     device=None if device is None else dict(device))


@router.put("/mine/report", status_code=204, response_class=Response, responses=answers(*_WHO, 409, 413))
def hand_in(parts: PartsOf, who: TakingPart, given: HandedIn) -> Response:
    """Hand in values. Later values replace earlier ones, so that a repeated request does no harm. A report that the
    participant's device has drawn is never replaced by another draw.
    """
    parts.participation.submit(who, given.values)
    return Response(status_code=204)


@router.post("/mine/withdraw", responses=answers(*_WHO, 409))
def withdraw(parts: PartsOf, who: TakingPart) -> WithdrawnModel:
    """Delete everything that the participant has handed in. A withdrawal is possible at any time."""
    return WithdrawnModel(before_settlement=parts.participation.withdraw(who))


@router.get("/mine/contract", responses=answers(*_WHO, 404))
def show_my_contract(parts: PartsOf, who: TakingPart) -> ContractModel:
    """Show the signed contract that the participant is offered for their record."""
    found = parts.participation.contract(who)
    if found is None:
        raise HTTPException(404, "no contract was drawn up")
    sections = parts.opened.get(who.campaign).campaign.contract_sections(found)
    return ContractModel(round=found.round, final=found.final, signer=found.signer, token=found.token,
                         sections=[each.to_dict() for each in sections])


@router.post("/mine/decline", status_code=204, response_class=Response, responses=answers(*_WHO, 409))
def decline(parts: PartsOf, who: TakingPart) -> Response:
    """Decline the contract. Afterwards, a round of contracts that includes the participant cannot be made final."""
    parts.participation.decline(who)
    return Response(status_code=204)


@router.post("/mine/share", responses=answers(*_WHO, 409, 413))
def show_my_share(parts: PartsOf, who: TakingPart, of: ShareOf) -> SectionsModel:
    """Show the participant's share and the reasons for it, computed from their record and the public result."""
    return SectionsModel(sections=[each.to_dict() for each in parts.participation.share(who, of.values)])
