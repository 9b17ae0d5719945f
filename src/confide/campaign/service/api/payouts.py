"""Payouts of a settled campaign: what is due, approved, exported, and what the bank says. Operators alone.

Amounts are private, since they follow from records: files leave in answers, and lie nowhere.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, HTTPException, Response
from pydantic import BaseModel, Field

from confide.campaign.pages import payout_sections
from confide.campaign.service.access import Operator, Role
from confide.campaign.service.api.models import Number, Strict
from confide.campaign.service.api.uploads import Uploaded
from confide.campaign.service.shell.guards import PartsOf, needs
from confide.campaign.service.shell.problems import answers
from confide.campaign.store import Store

__all__ = ["router"]

router = APIRouter(prefix="/campaigns/{number}/payouts", tags=["payouts"])
Running = Annotated[Operator, Depends(needs(Role.OPERATOR))]
_WHO = (401, 403, 404, 409, 422)
_FILES: dict[int | str, dict[str, Any]] = {200: {"content": {"text/csv": {}, "application/xml": {}}}}
_TYPES = {".csv": "text/csv", ".xml": "application/xml"}


class QueueModel(BaseModel):
    """How payouts stand: private."""

    code: str = Field(description="of what is queued: to be given to approve it")
    sections: list[dict[str, Any]]


class Approve(Strict):
    """What is approved."""

    code: str = Field(max_length=200, description="as the queue showed it")


class Changed(BaseModel):
    """How many payouts were changed."""

    people: int


class Export(Strict):
    """How a file of payouts is written."""

    format: Literal["csv", "xml"] = "csv"
    payees: str | None = Field(default=None, max_length=1 << 26, description="CSV of id,name,iban; for xml")
    payer: str | None = Field(default=None, max_length=300, description="NAME,IBAN or NAME,IBAN,BIC; for xml")
    text: str | None = Field(default=None, max_length=140, description="on bank statements")


class Answers(BaseModel):
    """What the bank said."""

    paid: int
    failed: int
    known: int = Field(description="payouts that were so before")


@router.get("", responses=answers(*_WHO))
def show_payouts(parts: PartsOf, _: Running, number: Number) -> QueueModel:
    """How payouts stand."""
    found = parts.opened.get(number).campaign.payouts(store=parts.store)
    return QueueModel(code=found.queue.code, sections=[each.to_dict() for each in payout_sections(found, listed=True)])


@router.post("/approve", responses=answers(*_WHO))
def approve(parts: PartsOf, _: Running, number: Number, given: Approve) -> Changed:
    """Approve what is queued; nothing is paid without it."""
    return Changed(people=parts.opened.get(number).campaign.approve_payouts(given.code, store=parts.store))


@router.post("/batches", response_class=Response, responses={**answers(*_WHO, 413), **_FILES})
def export(parts: PartsOf, _: Running, number: Number, how: Export) -> Response:
    """Take what is approved into a new batch, and its file; the answer's header `X-Batch` has its number."""
    return _file(parts.opened.get(number).campaign.export_payouts, parts.store, how, None)


@router.post("/batches/{batch}", response_class=Response, responses={**answers(*_WHO, 413), **_FILES})
def export_again(parts: PartsOf, _: Running, number: Number, batch: Number, how: Export) -> Response:
    """The file of an earlier batch, which the bank has not answered."""
    return _file(parts.opened.get(number).campaign.export_payouts, parts.store, how, batch)


@router.post("/confirmations", responses=answers(*_WHO, 413, 415), openapi_extra={
    "requestBody": {"required": True, "content": {"text/csv": {"schema": {"type": "string"}},
                                                  "application/xml": {"schema": {"type": "string"}}}}})
def confirm(parts: PartsOf, _: Running, number: Number, sent: Uploaded) -> Answers:
    """Take what the bank says: CSV of reference,status, or ISO 20022 pain.002. When all is paid, records, shares and
    amounts are erased.
    """
    ending = next((end for end, media in _TYPES.items() if media == sent.media), None)
    if ending is None:
        raise HTTPException(415, "must be text/csv or application/xml")
    campaign = parts.opened.get(number).campaign
    with TemporaryDirectory(dir=parts.store.home.folder) as folder:
        path = Path(folder) / f"answer{ending}"
        path.write_bytes(sent.data)
        found = campaign.import_confirmations(path, store=parts.store)
    return Answers(paid=found["paid"], failed=found["failed"], known=found["known"])


@router.post("/reopen", responses=answers(*_WHO))
def reopen(parts: PartsOf, _: Running, number: Number) -> Changed:
    """Queue again what the bank could not pay."""
    return Changed(people=parts.opened.get(number).campaign.reopen_payouts(store=parts.store))


def _file(write: Callable[..., int], store: Store, how: Export, batch: int | None) -> Response:
    """A file of payouts, which lies in a private folder for as long as it is written."""
    ending = f".{how.format}"
    with TemporaryDirectory(dir=store.home.folder) as folder:
        payees = None
        if how.payees is not None:
            payees = Path(folder) / "payees.csv"
            payees.write_text(how.payees, encoding="utf-8")
        path = Path(folder) / f"payouts{ending}"
        number = write(path, batch=batch, payees=payees, payer=how.payer, text=how.text, store=store)
        data = path.read_bytes()
    return Response(data, media_type=_TYPES[ending], headers={
        "X-Batch": str(number), "Content-Disposition": f'attachment; filename="payouts-{number}{ending}"'})
