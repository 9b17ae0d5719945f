"""Web pages for the log-in of operators, by name and password or, if an identity provider is set, through this
provider.
"""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import TYPE_CHECKING

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import HTMLResponse
from starlette.concurrency import run_in_threadpool

from confide.contract.worded import worded
from confide.service.access import Operator
from confide.service.access.logins import SECONDS
from confide.service.access.operators import LONGEST_NAME
from confide.service.shell.guards import OPERATOR_COOKIE, PartsOf, cookie_of
from confide.service.shell.parts import PROVIDER_BACK, Parts
from confide.service.shell.trying import tried
from confide.service.web.page import Form, forget_token, go, keep_token, looking, page, same_site

if TYPE_CHECKING:
    from confide.service.access.provider import Provider

__all__ = ["LOGIN_COOKIE", "router"]

router = APIRouter(include_in_schema=False)
_log = logging.getLogger("confide.service")
LOGIN_COOKIE = "confide_login"
_PATH = "/login/provider"
_LONGEST = 4096  # letters of what a provider sends along


@router.get("/login")
def ask_login(request: Request, parts: PartsOf) -> Response:
    """Show the log-in page."""
    return go("/desk") if looking(request) is not None else _asked(request, parts)


@router.post("/login")
async def log_in(request: Request, parts: PartsOf, form: Form) -> Response:
    """Check the name and the password of an operator, and begin a session."""
    name, password = str(form.get("name", ""))[:LONGEST_NAME], str(form.get("password", ""))
    try:
        found = await tried(parts, request, "log in", name, lambda: parts.operators.check(name, password))
    except HTTPException as error:
        return await run_in_threadpool(_asked, request, parts, "often", error.status_code)
    if found is None:
        return await run_in_threadpool(_asked, request, parts, "wrong", 401)
    return await run_in_threadpool(_let_in, request, parts, found)


@router.get(_PATH)
async def send_to_provider(request: Request, parts: PartsOf) -> Response:
    """Send a person to the identity provider. The log-in page has a link to this address, because browsers would block
    a form if the provider redirects the person over other sites.
    """
    if parts.provider is None:
        raise HTTPException(404, worded("only this service identifies operators"))
    same_site(request)
    await tried(parts, request, "go to a provider", "", lambda: None)  # each leaves a note: many of them become slow
    return await run_in_threadpool(_sent_away, request, parts, parts.provider)


def _sent_away(request: Request, parts: Parts, provider: Provider) -> Response:
    from confide.service.access.id_tokens import ProviderFailed

    begun = parts.logins.begin()
    try:
        answer = go(provider.address(begun))
    except ProviderFailed as error:
        return _failed(request, parts, error.reason)
    keep_token(request, answer, LOGIN_COOKIE, begun.secret, SECONDS, lax=True)  # it comes back from another site
    return answer


@router.get(PROVIDER_BACK)
async def take_answer(request: Request, parts: PartsOf) -> Response:
    """Take the provider's answer, which can be used once. Begin a session for the person whom the provider names, if
    this person is an operator.
    """
    provider = parts.provider
    if provider is None:
        raise HTTPException(404, worded("only this service identifies operators"))
    answers = list[Response]()

    def let_in() -> bool | None:
        answers.append(_taken(request, parts, provider))
        return True if answers[-1].status_code < HTTPStatus.BAD_REQUEST else None

    await tried(parts, request, "come back from a provider", "", let_in)
    (answer,) = answers
    forget_token(request, answer, LOGIN_COOKIE)
    return answer


def _taken(request: Request, parts: Parts, provider: Provider) -> Response:
    from confide.service.access.id_tokens import ProviderFailed

    begun = parts.logins.take(cookie_of(request, LOGIN_COOKIE), _sent(request, "state") or "")
    if begun is None:
        return _asked(request, parts, "begin", 400)
    if "error" in request.query_params:
        if _sent(request, "error") == "access_denied":
            return _asked(request, parts, "denied", 403)
        return _failed(request, parts, "the provider answers with an error")
    code = _sent(request, "code")
    if not code:
        return _asked(request, parts, "begin", 400)
    try:
        subject = provider.subject(begun, code, _sent(request, "iss"))
    except ProviderFailed as error:
        return _failed(request, parts, error.reason)
    found = parts.operators.by_identity(provider.issuer, subject)
    if found is None or not found.active:
        return page(request, "stranger.html", status=403, issuer=provider.issuer, subject=subject,
                    known=found is not None)
    return _let_in(request, parts, found)


def _sent(request: Request, name: str) -> str | None:
    """The parameter that the provider sent under a name, if it sent exactly one."""
    found = request.query_params.getlist(name)
    if not found:
        return None
    return found[0] if len(found) == 1 and len(found[0]) <= _LONGEST else ""


def _let_in(request: Request, parts: Parts, operator: Operator) -> Response:
    answer = go("/desk")
    keep_token(request, answer, OPERATOR_COOKIE, parts.sessions.begin(operator),
               int(3600 * parts.settings.session_hours))
    return answer


def _failed(request: Request, parts: Parts, reason: str) -> HTMLResponse:
    """Page that names the provider as the cause of a failure. The log has the reason, in this service's own words."""
    _log.warning("the provider of log-ins failed: %s", reason)
    return _asked(request, parts, "provider", 502)


def _asked(request: Request, parts: Parts, problem: str = "", status: int = 200) -> HTMLResponse:
    oidc = parts.settings.oidc
    return page(request, "login.html", status=status, problem=problem, provider="" if oidc is None else oidc.shown)
