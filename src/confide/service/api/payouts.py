"""Entry points for the payouts of a settled campaign: queue, approval, export, and the bank's answers. Only operators
can use these entry points.

Amounts are private, because they follow from records. Files of payouts are sent in requests and answers only, and are
never stored.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, HTTPException, Response
from pydantic import BaseModel, Field

from confide.campaign.campaign import Campaign
from confide.campaign.pages import payout_sections
from confide.service.access import Operator, Role
from confide.service.api.models import Number, Strict, Uploaded
from confide.service.shell.guards import PartsOf, needs
from confide.service.shell.parts import Parts
from confide.service.shell.problems import answers
from confide.service.work.opened import payout_file, settled_campaign, take_answer

__all__ = ["router"]

router = APIRouter(prefix="/campaigns/{number}/payouts", tags=["payouts"])
Running = Annotated[Operator, Depends(needs(Role.OPERATOR))]
_WHO = (401, 403, 404, 409, 422)
_FILES: dict[int | str, dict[str, Any]] = {200: {"content": {"text/csv": {}, "application/xml": {}}}}
_TYPES = {"csv": "text/csv", "xml": "application/xml"}


class QueueModel(BaseModel):
    """The private sections of a page about the queue of payouts, and the code that an approval of this queue must
    repeat.
    """

    code: str = Field(description="code of the queued payouts, which approves them")
    sections: list[dict[str, Any]]


class Approve(Strict):
    """An approval of the queued payouts, with the code of the queue that the operator has read."""

    code: str = Field(max_length=200, description="the code that the queue showed")


class Changed(BaseModel):
    """The number of payouts whose state was changed."""

    people: int


class Export(Strict):
    """The format of a file of payouts, and the details that this format needs."""

    format: Literal["csv", "xml"] = "csv"
    payees: str | None = Field(default=None, max_length=1 << 26, description="CSV of id,name,iban; for xml")
    payer: str | None = Field(default=None, max_length=300, description="NAME,IBAN or NAME,IBAN,BIC; for xml")
    text: str | None = Field(default=None, max_length=140, description="on bank statements")


class Answers(BaseModel):
    """The numbers of payouts by the bank's answer: paid, failed, or the same answer as before."""

    paid: int
    failed: int
    known: int = Field(description="number of payouts that had this state before")


@router.get("", responses=answers(*_WHO))
def show_payouts(parts: PartsOf, _: Running, number: Number) -> QueueModel:
    """Show the payouts with their states, and the code for their approval."""
    found = _settled(parts, number).payouts(store=parts.store)
    return QueueModel(code=found.queue.code, sections=[
        each.to_dict() for each in payout_sections(found, listed=True, commands=False)])


@router.post("/approve", responses=answers(*_WHO))
def approve(parts: PartsOf, _: Running, number: Number, given: Approve) -> Changed:
    """Approve the queued payouts. Nothing is paid without approval."""
    return Changed(people=_settled(parts, number).approve_payouts(given.code, store=parts.store))


@router.post("/batches", response_class=Response, responses={**answers(*_WHO, 413), **_FILES})
def export(parts: PartsOf, _: Running, number: Number, how: Export) -> Response:
    """Put all approved payouts into a new batch, and return the file of this batch for the bank. The header `X-Batch`
    of the answer has the number of the batch.
    """
    return _file(parts, number, how, None)


@router.post("/batches/{batch}", response_class=Response, responses={**answers(*_WHO, 413), **_FILES})
def export_again(parts: PartsOf, _: Running, number: Number, batch: Number, how: Export) -> Response:
    """Return again the file of an earlier batch that the bank has not answered yet."""
    return _file(parts, number, how, batch)


@router.post("/confirmations", responses=answers(*_WHO, 413, 415), openapi_extra={
    "requestBody": {"required": True, "content": {"text/csv": {"schema": {"type": "string"}},
                                                  "application/xml": {"schema": {"type": "string"}}}}})
def confirm(parts: PartsOf, _: Running, number: Number, sent: Uploaded) -> Answers:
    """Take the bank's answers: CSV of reference,status, or ISO 20022 pain.002. When everything is paid, records, shares
    and amounts are erased.
    """
    if sent.media not in _TYPES.values():
        raise HTTPException(415, "must be text/csv or application/xml")
    found = take_answer(_settled(parts, number), parts.store, sent.data)
    return Answers(paid=found["paid"], failed=found["failed"], known=found["known"])


@router.post("/reopen", responses=answers(*_WHO))
def reopen(parts: PartsOf, _: Running, number: Number) -> Changed:
    """Put payouts that the bank could not pay into the queue again."""
    return Changed(people=_settled(parts, number).reopen_payouts(store=parts.store))


def _settled(parts: Parts, number: int) -> Campaign:
    return settled_campaign(parts.opened.get(number), parts.store)


def _file(parts: PartsOf, number: int, how: Export, batch: int | None) -> Response:
    made, data = payout_file(_settled(parts, number), parts.store, form=how.format, batch=batch,
                             payees=how.payees, payer=how.payer, text=how.text)
    return Response(data, media_type=_TYPES[how.format], headers={
        "X-Batch": str(made), "Content-Disposition": f'attachment; filename="payouts-{made}.{how.format}"'})
