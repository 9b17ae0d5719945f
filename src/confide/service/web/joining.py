"""Web pages for participants: joining with a code, the offer, the form, the share, and withdrawal."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import HTMLResponse
from starlette.concurrency import run_in_threadpool

from confide.campaign.pack import signed_digest
from confide.campaign.store.states import State
from confide.contract.asked import faults
from confide.contract.errors import ConfideError, InvalidInput, Refused
from confide.contract.worded import worded
from confide.service.access import Participant
from confide.service.api.campaigns import settled_files
from confide.service.shell.guards import PARTICIPANT_COOKIE, PartsOf, cookie_of
from confide.service.shell.trying import tried
from confide.service.web.page import STATIC, Form, checked, forget_token, go, keep_token, page, taking

__all__ = ["Program", "programs", "router"]

router = APIRouter(include_in_schema=False)
_KEPT = 400 * 86_400  # seconds: as long as browsers keep a cookie; when a session ends, the store says
_LONGEST_CODE = 200


@router.get("/join")
def ask_code(request: Request, parts: PartsOf) -> HTMLResponse:
    """Show the page that asks for the code. A script fills in the code from the fragment of the link, which browsers
    send to no server.
    """
    return _ask_code(request, parts)


@router.post("/join")
async def join(request: Request, parts: PartsOf, form: Form) -> Response:
    """Use up a code, and begin a session. If this browser already has a session of a participant, the participant is
    asked for confirmation before the code is used.
    """
    there = await run_in_threadpool(taking, request)
    if there is not None:
        if form.get("instead") != "yes":
            return await run_in_threadpool(_ask_code, request, parts, "instead", 409)
        checked(request, form, PARTICIPANT_COOKIE)

    def begin() -> str | None:
        found = parts.invitations.join(str(form.get("code", ""))[:_LONGEST_CODE])
        if found is not None and there is not None:
            parts.sessions.end(cookie_of(request, PARTICIPANT_COOKIE))
        return None if found is None else found[0]

    token = await tried(parts, request, "join", "", begin)
    if token is None:
        return await run_in_threadpool(_ask_code, request, parts, "unknown", 401)
    answer = go("/mine")
    keep_token(request, answer, PARTICIPANT_COOKIE, token, _KEPT)
    return answer


@router.get("/mine")
def mine(request: Request, parts: PartsOf) -> Response:
    """Show the participant's page: the offer, the form, and whether they have handed in values, declined or
    withdrawn.
    """
    who = taking(request)
    return go("/join") if who is None else _mine(request, parts, who)


@router.post("/mine/report")
def hand_in(request: Request, parts: PartsOf, form: Form) -> Response:
    """Take the values that the participant hands in. Problems are shown above the form, and next to the fields that are
    wrong.

    An empty form replaces the stored values only after the participant confirms it.
    """
    who = _participant(request, form)
    values = {name.removeprefix("field."): str(text) for name, text in form.items() if name.startswith("field.")}
    standing = parts.participation.standing(who)
    typed = standing.asks in ("record", "report") and not standing.local
    wrong = faults(parts.participation.form(who), values) if typed else {}
    if wrong:
        return _mine(request, parts, who, typed=values, wrong=wrong, status=422)
    if typed and form.get("nothing") != "yes" and parts.participation.empties(who, values):
        return _mine(request, parts, who, typed=values, emptied=True, status=422)
    try:
        parts.participation.submit(who, values)
    except InvalidInput as error:
        return _mine(request, parts, who, typed=values, wrong={error.field: (error.problem, error.limit)}, status=422)
    except Refused as error:
        now = parts.participation.standing(who)
        late = not now.withdrawn and now.asks not in ("record", "report")
        return _mine(request, parts, who, typed=values, problem=None if late else error, late=late, status=409)
    return go("/mine#handed-in")


@router.post("/mine/decline")
def decline(request: Request, parts: PartsOf, form: Form) -> Response:
    """Decline the contract that the participant is offered and that is not final yet."""
    parts.participation.decline(_participant(request, form))
    return go("/mine")


@router.get("/mine/withdraw")
def ask_withdrawal(request: Request, parts: PartsOf) -> Response:
    """Show the page that asks the participant to confirm a withdrawal."""
    who = taking(request)
    return go("/join") if who is None else _withdrawal(request, parts, who)


@router.post("/mine/withdraw")
def withdraw(request: Request, parts: PartsOf, form: Form) -> Response:
    """Delete everything that the participant has handed in."""
    who = _participant(request, form)
    before = parts.participation.withdraw(who)
    return go("/mine") if before else _withdrawal(request, parts, who, done=True)


@router.get("/mine/share")
def share(request: Request, parts: PartsOf) -> Response:
    """Show the participant's share and the reasons for it, computed from their stored record."""
    who = taking(request)
    return go("/join") if who is None else _share(request, parts, who)


@router.post("/mine/share")
def share_of(request: Request, parts: PartsOf, form: Form) -> Response:
    """Show the participant's share and the reasons for it, computed from a record that the participant types."""
    who = _participant(request, form)
    return _share(request, parts, who, {name.removeprefix("field."): str(text) for name, text in form.items()
                                        if name.startswith("field.")})


@router.post("/leave")
def leave(request: Request, parts: PartsOf, form: Form) -> Response:
    """End the participant's session on this device."""
    _participant(request, form)
    parts.sessions.end(cookie_of(request, PARTICIPANT_COOKIE))
    answer = go("/")
    forget_token(request, answer, PARTICIPANT_COOKIE)
    return answer


@dataclass(frozen=True, kw_only=True)
class Program:
    """A script that runs on a participant's device, on the page with their form.

    Args:
        name: name of the script's file.
        digest: SHA-256 of the file in hexadecimal digits, as printed by `sha256sum`.

    Example:
        >>> Program(name="leave.js", digest="00" * 32).integrity
        'sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='
    """

    name: str
    digest: str

    @property
    def integrity(self) -> str:
        """The digest in the form of the HTML attribute `integrity`. A browser does not run a script with any other
        digest.
        """
        return f"sha256-{base64.b64encode(bytes.fromhex(self.digest)).decode()}"


@cache
def programs() -> tuple[Program, ...]:
    """The scripts on the page with a participant's form. No script imports another script.

    Example:
        >>> [each.name for each in programs()]
        ['device.js', 'leave.js']
    """
    lines = (STATIC / "programs.sha256").read_text(encoding="ascii").splitlines()
    return tuple(Program(name=name, digest=digest) for digest, name in map(str.split, lines))


def _ask_code(request: Request, parts: PartsOf, problem: str = "", status: int = 200) -> HTMLResponse:
    who, title = taking(request), ""
    if who is not None:
        title = parts.opened.get(who.campaign).campaign.file.title
    return page(request, "join.html", status=status, problem=problem, here=title,
                identity="" if who is None else parts.participation.identity(who))


def _withdrawal(request: Request, parts: PartsOf, who: Participant, *, done: bool = False) -> HTMLResponse:
    opened, state = parts.opened.get(who.campaign), parts.opened.stored(who.campaign).state
    it = opened.campaign
    return page(request, "withdraw.html", done=done, title=it.file.title,
                paid=it.file.kind.payouts(it.plan) is not None,
                deposit=bool(opened.deposit), contract=parts.participation.contract(who) is not None,
                settled=state is State.SETTLED, cancelled=state is State.CANCELLED)


def _participant(request: Request, form: Form) -> Participant:
    who = taking(request)
    if who is None:
        raise HTTPException(401, worded("join with your code first"))
    checked(request, form, PARTICIPANT_COOKIE)
    return who


def _mine(
    request: Request, parts: PartsOf, who: Participant, *, typed: Mapping[str, str] | None = None,
    problem: Refused | None = None, wrong: Mapping[str, tuple[str, str]] | None = None, emptied: bool = False,
    late: bool = False, status: int = 200
) -> HTMLResponse:
    opened, standing = parts.opened.get(who.campaign), parts.participation.standing(who)
    device, fields = parts.participation.device(who), parts.participation.form(who)
    stored, unasked = parts.participation.typed(who), parts.participation.unasked(who)
    level, notion = parts.participation.level(who) or (0.0, "epsilon")
    return page(
        request, "mine.html", status=status, campaign=opened.campaign.file, who=parts.participation.identity(who),
        standing=standing, offer=parts.participation.offer(who), fields=fields,
        device=None if device is None else json.dumps(device), odds=parts.participation.odds(who), unasked=unasked,
        unit="".join(f" {each.unit}" for each in fields if each.unit and each.form == "number")[:50],
        typed=(stored or {}) if typed is None else typed, shown=typed is None and stored is not None,
        contracts=opened.contracts is not None, settled=standing.state is State.SETTLED,
        cancelled=standing.state is State.CANCELLED, deposit=bool(opened.deposit),
        deposited=bool(opened.deposit) and parts.store.has_deposit(who.campaign, who.slot),
        number=who.campaign, level=repr(level).removesuffix(".0"), notion=notion, programs=programs(),
        wrong=wrong or {}, emptied=emptied, late=late, problem=problem)


def _share(
    request: Request, parts: PartsOf, who: Participant, values: Mapping[str, str] | None = None
) -> HTMLResponse:
    opened = parts.opened.get(who.campaign)
    it = opened.campaign
    problem: ConfideError | None = None
    try:
        found = parts.participation.share(who, values)
    except (InvalidInput, Refused) as error:
        found, problem = (), error
    # Who withdrew before the settlement has no share, and nothing to compute it from.
    settled = parts.store.get(who.campaign).state is State.SETTLED and not parts.store.has_withdrawn(
        who.campaign, who.slot)
    fields = parts.participation.share_form(who) if settled else ()
    names = "contract=TEXT," * (opened.contracts is not None) + ",".join(f"{each.column}=..." for each in fields)
    return page(
        request, "share.html", status=200 if found else 409, share=found, problem=problem, campaign=it.file,
        number=who.campaign, who=parts.participation.identity(who), fields=fields, own=names, settled=settled,
        local=opened.local is not None, again=values is not None, typed=values or {},
        fingerprint=parts.store.home.fingerprint,
        signed=signed_digest(settled_files(parts, who.campaign)) if settled else "")
