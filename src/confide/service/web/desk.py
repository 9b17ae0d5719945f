"""The operators' pages: campaigns and drafts, planning, inviting, settling, auditing, paying, and the ledger."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import HTMLResponse
from starlette.datastructures import UploadFile

from confide.campaign.campaign import Campaign
from confide.campaign.charging import cost_of, ledger_says
from confide.campaign.handing_in import charged_at
from confide.campaign.ledger_gaps import ledger_warnings
from confide.campaign.pages import ledger_sections, payout_sections
from confide.campaign.store.payouts import Sent
from confide.campaign.store.states import State
from confide.campaign.trade_off import kept_trade_off
from confide.contract.errors import ConfideError, InvalidInput
from confide.contract.kinds import kind, summaries
from confide.contract.presentation import Section
from confide.contract.worded import worded
from confide.service.access import Operator, Role
from confide.service.api.models import Before, Number
from confide.service.api.running import Confirmed, Settling, close, settle, show_progress
from confide.service.shell.guards import OPERATOR_COOKIE, PartsOf, cookie_of
from confide.service.web.page import Form, checked, forget_token, from_elsewhere, go, leafed, looking, page
from confide.service.work import Task
from confide.service.work.opened import OpenedCampaign, payout_file, settled_campaign, take_answer
from confide.service.work.participation import take_known
from confide.service.work.rounds import SECOND, current

__all__ = ["router"]

router = APIRouter(include_in_schema=False)
_MOST = 50  # campaigns, and drafts, on a page
_DIGITS = 9  # of a version: more than anybody writes
_FEW = 0.9  # of the invited slots: errors were planned for all of them


@router.post("/logout")
def log_out(request: Request, parts: PartsOf, form: Form) -> Response:
    """End the operator's session, and show the front page."""
    _operator(request, Role.VIEWER, form)
    parts.sessions.end(cookie_of(request, OPERATOR_COOKIE))
    answer = go("/")
    forget_token(request, answer, OPERATOR_COOKIE)
    return answer


@router.get("/desk")
def desk(request: Request, parts: PartsOf, before: Before = None, drafts_before: Before = None) -> Response:
    """Show campaigns and drafts, the newest first. Each of the two lists can have several pages."""
    if looking(request) is None:
        # Browsers do not show a session's cookie to a page that they reach from another site, such as a provider's.
        return page(request, "arriving.html") if from_elsewhere(request) else go("/login")
    campaigns, older = leafed(parts.opened.newest(limit=_MOST + 1, before=before), _MOST)
    drafts, drafts_older = leafed(parts.drafts.newest(limit=_MOST + 1, before=drafts_before), _MOST)
    return page(request, "desk.html", desk=True, campaigns=campaigns, older=older, before=before, drafts=drafts,
                drafts_older=drafts_older, drafts_before=drafts_before, may=_may(request),
                kinds=list(summaries()[0].items()))


@router.post("/desk/drafts")
def begin(request: Request, parts: PartsOf, form: Form) -> Response:
    """Begin a draft from the template of a kind's campaign file."""
    who = _operator(request, Role.OPERATOR, form)
    draft = parts.drafts.new(kind(str(form.get("kind", ""))).template, who.number)
    return go(f"/desk/drafts/{draft.number}")


@router.get("/desk/drafts/{number}")
def draft(request: Request, parts: PartsOf, number: Number) -> Response:
    """Show a draft and the planned outcome of its campaign."""
    return go("/login") if looking(request) is None else _draft(request, parts, number)


@router.get("/desk/drafts/{number}/trade-off")
def levels(request: Request, parts: PartsOf, number: Number) -> Response:
    """Show the predicted privacy loss, error and payments of a draft's campaign at other levels of privacy, in one
    chart.
    """
    if looking(request) is None:
        return go("/login")
    found = parts.drafts.get(number)
    return _levels(request, found.name, f"/desk/drafts/{number}", lambda: parts.drafts.campaign(found))


@router.get("/desk/campaigns/{number}/trade-off")
def levels_of(request: Request, parts: PartsOf, number: Number) -> Response:
    """Show the predicted privacy loss, error and payments of an opened campaign at other levels of privacy, in one
    chart.
    """
    if looking(request) is None:
        return go("/login")
    it = parts.opened.get(number).campaign
    return _levels(request, "", f"/desk/campaigns/{number}", lambda: it)


@router.post("/desk/drafts/{number}")
def change(request: Request, parts: PartsOf, number: Number, form: Form) -> Response:
    """Replace the text of a draft, and show its planned outcome."""
    _operator(request, Role.OPERATOR, form)
    text, read = str(form.get("text", "")).replace("\r\n", "\n"), 0
    try:
        read = _version(form)
        # Another text takes the place of this one only where that one was shown, and the operator confirms.
        parts.drafts.change(number, text, _whole(str(form["instead"]), "instead") if "instead" in form else read)
    except ConfideError as error:
        return _draft(request, parts, number, unsaved=_Unsaved(text, read), problem=error, status=409)
    return go(f"/desk/drafts/{number}")


@router.post("/desk/drafts/{number}/open")
def open_(request: Request, parts: PartsOf, number: Number, form: Form) -> Response:
    """Make the draft a campaign and open its collection, for the version of the draft that the operator has read."""
    _operator(request, Role.OPERATOR, form)
    try:
        found = parts.drafts.open(number, _version(form))
    except ConfideError as error:
        return _draft(request, parts, number, problem=error, status=409)
    return go(f"/desk/campaigns/{found.number}")


@router.post("/desk/drafts/{number}/delete")
def forget(request: Request, parts: PartsOf, number: Number, form: Form) -> Response:
    """Delete a draft."""
    _operator(request, Role.OPERATOR, form)
    parts.drafts.delete(number)
    return go("/desk")


@router.get("/desk/campaigns/{number}")
def campaign(request: Request, parts: PartsOf, number: Number) -> Response:
    """Show a campaign with its progress and the actions that are possible now."""
    return go("/login") if looking(request) is None else _campaign(request, parts, number)


@router.post("/desk/campaigns/{number}/invite")
def invite(request: Request, parts: PartsOf, number: Number, form: Form) -> Response:
    """Make new codes, and return them as a file. The codes cannot be shown again. A person who has somebody's code can
    take part in their place.
    """
    _operator(request, Role.OPERATOR, form)
    opened = parts.opened.get(number)
    wanted, ids, unknown = _named(opened, form)
    if unknown:
        return _campaign(request, parts, number, unknown=unknown[0], status=422)
    gone = parts.store.withdrawn(number)
    lost = [name for name in wanted if ids[name] in gone]
    if lost:
        return _campaign(request, parts, number, gone=lost[0], status=409)
    slots = [ids[name] for name in wanted] if wanted else [
        slot for slot in range(len(opened.identities)) if slot not in gone]
    codes = parts.invitations.invite(number, slots)
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["id", "code", "link"])
    rows.writerows([opened.identities[slot], code, f"{parts.settings.base_url}/join#{code}"] for slot, code in codes)
    return Response(text.getvalue(), media_type="text/csv", headers={
        "Content-Disposition": f'attachment; filename="codes-{number}.csv"'})


@router.post("/desk/campaigns/{number}/deposits")
def note_deposits(request: Request, parts: PartsOf, number: Number, form: Form) -> Response:
    """Note that participants' deposits were received, or correct such a note."""
    _operator(request, Role.OPERATOR, form)
    opened = parts.opened.get(number)
    wanted, ids, unknown = _named(opened, form)
    if unknown:
        return _campaign(request, parts, number, unknown=unknown[0], status=422)
    try:
        parts.store.note_deposits(number, [ids[name] for name in wanted], received=form.get("received") != "no")
    except ConfideError as error:
        return _campaign(request, parts, number, problem=str(error), status=409)
    return go(f"/desk/campaigns/{number}")


@router.post("/desk/campaigns/{number}/known")
def known(request: Request, parts: PartsOf, number: Number, form: Form) -> Response:
    """Take the file with the fields that the operator fills in for all invited people."""
    _operator(request, Role.OPERATOR, form)
    try:
        take_known(parts.opened.get(number), _uploaded(form).decode("utf-8-sig", "replace"))
    except ConfideError as error:
        return _campaign(request, parts, number, problem=error, status=422)
    return go(f"/desk/campaigns/{number}")


@router.post("/desk/campaigns/{number}/{act}")
def act(request: Request, parts: PartsOf, number: Number, act: str, form: Form) -> Response:
    """Carry out an action on a campaign: close, settle, audit, draw up contracts, make contracts final, approve or
    reopen payouts, or take the bank's answer.
    """
    who = _operator(request, Role.OPERATOR, form)
    it, meant = parts.opened.get(number), form.get("meant") == "yes"
    if act in ("close", "settle", "final", "approve") and not meant:
        return _campaign(request, parts, number, problem=worded("confirm this action"), status=422)
    try:
        match act:
            case "close":
                close(parts, who, number, Confirmed(confirm=True))
            case "settle":
                anyway = form.get("unusable") == "yes"
                settle(parts, who, number, Settling(confirm=True, accept_unusable=anyway))
            case "audit":
                parts.jobs.ask(number, Task.AUDIT)
            case "round":
                parts.rounds.draw_up(it, str(form.get("without", "")).replace(",", " ").split())
            case "final":
                parts.rounds.finish(it, _whole(str(form.get("round", "")), "round"))
            case "approve":
                settled_campaign(it, parts.store).approve_payouts(str(form.get("code", "")), store=parts.store)
            case "export":
                return _export(parts, settled_campaign(it, parts.store), number, form)
            case "answer":
                take_answer(settled_campaign(it, parts.store), parts.store, _uploaded(form))
            case "reopen":
                settled_campaign(it, parts.store).reopen_payouts(store=parts.store)
            case _:
                raise HTTPException(404, worded("there is no action with this name"))
    except ConfideError as error:
        return _campaign(request, parts, number, problem=error, status=409)
    return go(f"/desk/campaigns/{number}")


@router.get("/desk/ledger")
def ledger(request: Request, parts: PartsOf) -> Response:
    """Show the privacy losses that were charged to every data set."""
    if looking(request) is None:
        return go("/login")
    return page(request, "ledger.html", desk=True, ledger=ledger_sections(parts.store.ledger()))


def _operator(request: Request, role: Role, form: Form) -> Operator:
    who = looking(request)
    if who is None:
        raise HTTPException(401, worded("log in first"))
    checked(request, form, OPERATOR_COOKIE)
    if not who.role.covers(role):
        raise HTTPException(403, f"only operators with the role {role.value!r} may do this")
    return who


def _may(request: Request) -> bool:
    """Whether the operator has the rights for actions. A viewer is shown no button that would be refused."""
    who = looking(request)
    return who is not None and who.role.covers(Role.OPERATOR)


def _levels(request: Request, title: str, back: str, campaign: Callable[[], Campaign]) -> HTMLResponse:
    shown, problem = list[Section](), None
    try:
        it = campaign()
        title = it.file.title
        shown = [kept_trade_off(it)]
    except ConfideError as error:
        problem = error
    return page(request, "levels.html", desk=True, title=title, back=back, shown=shown, problem=problem)


@dataclass(frozen=True)
class _Unsaved:
    """An operator's text of a draft that could not be stored.

    Args:
        text: text of the campaign file.
        version: version of the draft that the operator had read; 0 if the form did not state it.
    """

    text: str
    version: int


def _draft(request: Request, parts: PartsOf, number: int, *, unsaved: _Unsaved | None = None,
           problem: ConfideError | None = None, status: int = 200) -> HTMLResponse:
    """Page of a stored draft with its planned outcome; or, if the operator's text could not be stored, both texts side
    by side. If the operator's text could not be stored, there is no plan and the draft cannot be opened, so that
    statements about one text are not taken for statements about the other text.
    """
    found = parts.drafts.get(number)
    if unsaved is not None and unsaved.text != found.text:
        return page(request, "unsaved.html", status=status, desk=True, draft=found, unsaved=unsaved, problem=problem)
    shown: dict[str, Any] = {"plan": (), "offer": (), "ledger": "", "refusal": "", "title": ""}
    try:
        it = parts.drafts.campaign(found)
        verdict, said = ledger_says(it.file, it.plan, parts.store)
        shown |= {"title": it.file.title, "plan": it.plan.sections(), "offer": it.offer(home=parts.store.home),
                  "ledger": " ".join((said, *ledger_warnings(it.file, parts.store))),
                  "refused": verdict == "refuses", "campaign": it.file,
                  "when": charged_at(it.file.kind), "cost": cost_of(it.file, it.plan),
                  "people": len(it.file.kind.identities(it.file.config))}
    except ConfideError as error:
        shown["refusal"] = error
    return page(request, "draft.html", status=status, desk=True, draft=found, problem=problem, may=_may(request),
                **shown)


def _campaign(request: Request, parts: PartsOf, number: int, *, problem: ConfideError | str = "", unknown: str = "",
              gone: str = "", status: int = 200) -> HTMLResponse:
    who, opened = looking(request), parts.opened.get(number)
    it = opened.campaign
    if who is None:
        raise HTTPException(401, worded("log in first"))
    progress = show_progress(parts, who, number)
    may, known = who.role.covers(Role.OPERATOR), parts.opened.stored(number)
    payouts, code, people, again = [], "", dict[str, int](), list[int]()
    if progress.state == State.SETTLED and it.file.kind.payouts(it.plan) is not None and may:
        found = it.payouts(store=parts.store)
        payouts, code = payout_sections(found, listed=False, commands=False), found.queue.code
        people, again = dict(found.queue.people), [each.number for each in found.queue.batches if _unanswered(each)]
    drawn = None if opened.contracts is None or not may else current(parts.store, opened)
    came = progress.handed_in if opened.contracts is None else parts.store.submitted(number, SECOND)
    return page(request, "running.html", status=status, desk=True, campaign=it.file, progress=progress, number=number,
                plan=it.plan.sections(), payouts=payouts, code=code, people=people, problem=problem, unknown=unknown,
                gone=gone, may=may, contracts=opened.contracts is not None, again=again, came=came,
                depositors=[opened.identities[slot] for slot in sorted(parts.store.deposits(number) or ())]
                if may and progress.deposits else (),
                few=opened.contracts is None and came < _FEW * progress.slots,
                copied=parts.store.home.restored(known.content),
                round=None if drawn is None else drawn.number,
                drawn=() if drawn is None or opened.contracts is None else opened.contracts.round_sections(
                    it.plan, drawn.drawn),
                cost=progress.cost)


def _unanswered(batch: Sent) -> bool:
    """Whether a batch can be written again on this page: the bank has not answered it, and its format needs no account
    numbers.
    """
    return batch.form == "csv" and batch.people["sent"] > 0 and not any(
        batch.people[state] for state in ("paid", "failed", "reopened"))


def _export(parts: PartsOf, campaign: Campaign, number: int, form: Form) -> Response:
    again = str(form.get("batch", ""))
    batch, data = payout_file(campaign, parts.store, batch=_whole(again, "batch") if again else None)
    return Response(data, media_type="text/csv", headers={
        "Content-Disposition": f'attachment; filename="payouts-{number}-{batch}.csv"'})


def _named(opened: OpenedCampaign, form: Form) -> tuple[list[str], dict[str, int], list[str]]:
    """Ids that a form names, a mapping from all ids to slots if the form names any id, and the named ids that are on no
    list.
    """
    wanted = str(form.get("ids", "")).replace(",", " ").split()
    ids = {name: slot for slot, name in enumerate(opened.identities)} if wanted else {}
    return wanted, ids, [name for name in wanted if name not in ids]


def _version(form: Form) -> int:
    """Version of a draft that the operator has read.

    Raises:
        InvalidInput: the form does not state the version.
    """
    return _whole(str(form.get("version", "")), "version")


def _whole(text: str, field: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= _DIGITS):
        raise InvalidInput(field, worded("is not a number"), worded("load the page again"))
    return int(text)


def _uploaded(form: Mapping[str, Any]) -> bytes:
    """The bytes of the form's file.

    Raises:
        InvalidInput: the form has no file.
    """
    found = form.get("file")
    if not isinstance(found, UploadFile):
        raise InvalidInput("file", worded("is missing"), worded("choose one"))
    return found.file.read()
