"""Entry points for running a campaign: progress, invitations, contracts, settlement and audit. Only operators can use
these entry points.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, HTTPException
from pydantic import BaseModel, Field

from confide.campaign.charging import cost_of
from confide.campaign.handing_in import When, charged_at
from confide.campaign.store.states import State
from confide.contract.errors import Refused
from confide.contract.worded import worded
from confide.service.access import Operator, Role
from confide.service.api.models import JobModel, Number, SectionsModel, Strict, Uploaded, job_model
from confide.service.shell.guards import PartsOf, needs
from confide.service.shell.problems import answers
from confide.service.work import Task
from confide.service.work.opened import OpenedCampaign
from confide.service.work.participation import take_known
from confide.service.work.rounds import current

__all__ = ["router"]

router = APIRouter(prefix="/campaigns/{number}", tags=["running"])
Viewer = Annotated[Operator, Depends(needs(Role.VIEWER))]
Running = Annotated[Operator, Depends(needs(Role.OPERATOR))]
_WHO = (401, 403, 404, 422)


class ProgressModel(BaseModel):
    """Progress of a campaign, which only operators see."""

    state: str
    slots: int
    handed_in: int = Field(description="number of participants who have handed something in")
    withdrawn: int = Field(description="number of participants who have withdrawn")
    codes_waiting: int = Field(description="number of codes that nobody has used yet")
    round: int | None = Field(description="round of contracts; null if there is none")
    final: bool = Field(description="true if the contracts of the campaign are final")
    known_fields: list[str] = Field(description="the fields that the operator must fill in for everybody who is "
                                                "invited")
    held: bool = Field(description="true if a custodian holds the records and nobody is invited")
    charged: bool = Field(description="true if the ledger was charged; a charge is final")
    charged_at: Literal["opening", "final round", "settlement"] = Field(
        description="the step that charges the ledger: the opening if people's devices draw their reports, the final "
                    "round if there are contracts, else the settlement")
    cost: str = Field(description="the cost of the campaign for the data set, in words")
    deposit: str = Field(description="deposit of each participant, in words; empty if there is none")
    deposits: int = Field(description="number of deposits that are noted as received: only these are returned, or set "
                                      "against a debt")
    settling: JobModel | None
    auditing: JobModel | None


class Invited(Strict):
    """The slots (positions in the public list of ids, from 0) for which new codes are made."""

    slots: list[Annotated[int, Field(ge=0, le=2**31 - 1)]] | None = Field(
        default=None, max_length=1_000_000, description="ranks in the public list of ids, from 0; default everybody")


class Code(BaseModel):
    """The code for one participant, which works once and cannot be read again later."""

    id: str = Field(description="id of the participant on the public list")
    slot: int
    code: str
    link: str = Field(description="link for the participant alone: anybody with this link can take part in their place")


class CodesModel(BaseModel):
    """The new codes, one for each participant in the request."""

    codes: list[Code]


class Deposits(Strict):
    """The slots (positions in the public list of ids, from 0) for which the receipt of a deposit is noted, or for which
    such a note is removed.
    """

    slots: list[Annotated[int, Field(ge=0, le=2**31 - 1)]] = Field(
        max_length=1_000_000, description="ranks in the public list of ids, from 0")
    received: bool = Field(default=True, description="true notes deposits, false removes the notes")


class DepositsModel(BaseModel):
    """The slots of participants whose deposits are noted as received. Only operators see these slots."""

    slots: list[int]
    deposit: str = Field(description="amount of each deposit, in words")


class RoundOf(Strict):
    """Options of the next round of contracts: further participants who are left out, and participants who take part
    again. Participants who have declined or withdrawn are left out anyway.
    """

    without: list[str] = Field(default=[], max_length=1_000_000)
    again: list[str] = Field(default=[], max_length=1_000_000, description="ids of people who take part after all")


class Confirmed(Strict):
    """A confirmation of an act that cannot be undone."""

    confirm: Literal[True]


class Settling(Confirmed):
    """Options of a settlement."""

    accept_unusable: bool = Field(default=False, description=(
        "true: settle even if too many rows of the operator's file cannot be used. A record without a usable row "
        "counts as the null record. No published file shows this choice"))


class FinalRound(Confirmed):
    """The round of contracts that is made final, with a confirmation."""

    round: int = Field(ge=1, le=2**31 - 1, description="the state that the client read")


class RoundModel(BaseModel):
    """A round of contracts: one contract for each participant who is asked for a record."""

    round: int
    final: bool
    without: list[str]
    sections: list[dict[str, Any]]


class KnownModel(BaseModel):
    """The number of people in the operator's table of the fields that the operator fills in."""

    people: int


def _charged_at(parts: PartsOf, opened: OpenedCampaign, charged: bool) -> When:
    """Step at which a campaign was or will be charged. A campaign that an earlier version opened keeps the step of that
    version.
    """
    found = charged_at(opened.campaign.file.kind)
    if found == "opening" and not (charged and parts.store.events(opened.number)[1].data):
        return "settlement"
    return found


@router.get("/progress", responses=answers(*_WHO))
def show_progress(parts: PartsOf, who: Viewer, number: Number) -> ProgressModel:
    """Show the progress of a campaign: its state, and the numbers of codes, answers, withdrawals and deposits."""
    known, opened = parts.opened.stored(number), parts.opened.get(number)
    campaign = opened.campaign
    drawn = None if opened.contracts is None else current(parts.store, opened)
    settling, auditing = (parts.jobs.of(number, task) for task in (Task.SETTLE, Task.AUDIT))
    fields = () if opened.local is None else opened.local.known(campaign.file.config, campaign.plan)
    charged, deposit = parts.store.is_charged(number), opened.deposit
    return ProgressModel(
        state=known.state.value, slots=known.slots, handed_in=parts.store.submitted(number),
        withdrawn=known.withdrawals, codes_waiting=parts.invitations.waiting(number),
        round=None if drawn is None else drawn.number, final=drawn is not None and drawn.final,
        known_fields=[field.column for field in fields], held=campaign.held,
        charged=charged, charged_at=_charged_at(parts, opened, charged), cost=cost_of(campaign.file, campaign.plan),
        deposit=deposit, deposits=len(parts.store.deposits(number) or ()) if deposit else 0,
        settling=None if settling is None else job_model(settling, who),
        auditing=None if auditing is None else job_model(auditing, who))


@router.post("/invitations", responses=answers(*_WHO, 409, 413))
def invite(parts: PartsOf, _: Running, number: Number, invited: Invited) -> CodesModel:
    """Make new codes for participants. The participants' earlier codes become invalid, and sessions that began with
    these codes end. A participant who has withdrawn gets no code.
    """
    opened = parts.opened.get(number)
    if opened.campaign.held:
        raise Refused(worded("nobody is invited to this campaign: a custodian holds its data"), worded("settle it"))
    gone = parts.store.withdrawn(number)
    if not gone.keys().isdisjoint(invited.slots or ()):
        raise Refused(worded("one of these people has withdrawn and no longer takes part"), worded("leave them out"))
    slots = [slot for slot in range(len(opened.identities)) if slot not in gone] if invited.slots is None \
        else invited.slots
    base = parts.settings.base_url
    return CodesModel(codes=[Code(id=opened.identities[slot], slot=slot, code=code, link=f"{base}/join#{code}")
                             for slot, code in parts.invitations.invite(number, slots)])


@router.post("/deposits", responses=answers(*_WHO, 409, 413))
def note_deposits(parts: PartsOf, _: Running, number: Number, noted: Deposits) -> DepositsModel:
    """Note before the settlement which participants' deposits were received. Only received deposits are returned, or
    used to cover a participant's debt. The service itself handles no money.
    """
    opened = parts.opened.get(number)
    if not opened.deposit:
        raise Refused("nobody leaves a deposit in this campaign", "no payment in it can be below zero")
    parts.store.note_deposits(number, noted.slots, received=noted.received)
    return DepositsModel(slots=sorted(parts.store.deposits(number) or ()), deposit=opened.deposit)


@router.post("/known", responses=answers(*_WHO, 409, 413, 415), openapi_extra={
    "requestBody": {"required": True, "content": {"text/csv": {"schema": {"type": "string"}}}}})
def take_known_fields(parts: PartsOf, _: Running, number: Number, sent: Uploaded) -> KnownModel:
    """Take the fields that the operator fills in for all invited people: CSV of id and the kind's fields."""
    if sent.media != "text/csv":
        raise HTTPException(415, "must be text/csv")
    try:
        text = sent.data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise HTTPException(422, "is not UTF-8 text") from None
    return KnownModel(people=take_known(parts.opened.get(number), text))


@router.post("/rounds", responses=answers(*_WHO, 409))
def draw_up_round(parts: PartsOf, _: Running, number: Number, of: RoundOf) -> RoundModel:
    """Draw up the next round of contracts, from all reports."""
    opened = parts.opened.get(number)
    found = parts.rounds.draw_up(opened, of.without, again=of.again)
    return RoundModel(round=found.number, final=found.final, without=list(found.without),
                      sections=[each.to_dict() for each in opened.campaign.round_sections(found)])


@router.post("/rounds/final", responses=answers(*_WHO, 409))
def finish_round(parts: PartsOf, _: Running, number: Number, meant: FinalRound) -> RoundModel:
    """Make the given round final, and charge the ledger. From then on devices use the round's contracts. Refused if
    another round was drawn up after the operator read the given round.
    """
    opened = parts.opened.get(number)
    found = parts.rounds.finish(opened, meant.round)
    return RoundModel(round=found.number, final=found.final, without=list(found.without),
                      sections=[each.to_dict() for each in opened.campaign.round_sections(found)])


@router.post("/close", responses=answers(*_WHO, 409))
def close(parts: PartsOf, who: Running, number: Number, _confirmed: Confirmed) -> ProgressModel:
    """Close the collection, so that nobody can hand anything in any more. A repeated request changes nothing."""
    if parts.opened.get(number).contracts is not None:
        raise Refused(worded("this collection ends with its final contracts"),
                      worded("draw up a round and make it final, then settle"))
    if parts.store.get(number).state is State.OPEN:
        parts.store.close_collection(number)
    return show_progress(parts, who, number)


@router.post("/settle", status_code=202, responses=answers(*_WHO, 409))
def settle(parts: PartsOf, who: Running, number: Number, meant: Settling) -> JobModel:
    """Ask a worker to close the collection, run with secure noise, and publish the result, once. The ledger is charged
    before the run, unless the opening or a final round charged it: see `charged` and `charged_at` of the progress.
    """
    known, opened = parts.opened.stored(number), parts.opened.get(number)
    if known.state is State.CANCELLED:
        raise Refused(worded("the campaign is cancelled"), worded("plan another one"))
    if opened.contracts is not None and known.state is State.OPEN:
        raise Refused(worded("no contracts of this campaign are final"), worded("draw up a round and make it final"))
    return job_model(parts.jobs.ask(number, Task.SETTLE, accept_unusable=meant.accept_unusable), who)


@router.post("/audit", status_code=202, responses=answers(*_WHO))
def audit(parts: PartsOf, who: Running, number: Number) -> JobModel:
    """Ask a worker to compare promises with measurements; the audit uses no record."""
    parts.opened.get(number)
    return job_model(parts.jobs.ask(number, Task.AUDIT), who)


@router.get("/jobs/{task}", responses=answers(*_WHO))
def show_job(parts: PartsOf, who: Viewer, number: Number, task: Task) -> JobModel:
    """Show the progress of a settlement or an audit."""
    parts.opened.get(number)
    found = parts.jobs.of(number, task)
    if found is None:
        raise HTTPException(404, "nobody has requested this job")
    return job_model(found, who)


@router.get("/plan", responses=answers(*_WHO))
def show_plan(parts: PartsOf, _: Viewer, number: Number) -> SectionsModel:
    """Show the planned outcome of the campaign."""
    return SectionsModel(sections=[each.to_dict() for each in parts.opened.get(number).campaign.plan.sections()])
