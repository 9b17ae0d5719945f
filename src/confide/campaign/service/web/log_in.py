"""Logging in, for operators: by name and password, or by the word of another service, where one is set."""

from __future__ import annotations

import logging

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import HTMLResponse

from confide.campaign.service.access import Operator
from confide.campaign.service.access.logins import SECONDS
from confide.campaign.service.api.operators import check_attempts
from confide.campaign.service.shell.guards import OPERATOR_COOKIE, PartsOf
from confide.campaign.service.shell.parts import PROVIDER_BACK, Parts
from confide.campaign.service.web.page import Form, go, keep_token, looking, page, same_site

__all__ = ["LOGIN_COOKIE", "router"]

router = APIRouter(include_in_schema=False)
_log = logging.getLogger("confide.service")
LOGIN_COOKIE = "confide_login"
_PATH = "/login/provider"
_LONGEST = 4096  # letters of what a provider sends along


@router.get("/login")
def ask_login(request: Request, parts: PartsOf) -> Response:
    """Who is it?"""
    return go("/desk") if looking(request) is not None else _asked(request, parts)


@router.post("/login")
def log_in(request: Request, parts: PartsOf, form: Form) -> Response:
    """Begin a session."""
    name = str(form.get("name", ""))[:100]
    try:
        check_attempts(parts, request, "log in", name)
    except HTTPException as error:
        return _asked(request, parts, "often", error.status_code)
    found = parts.operators.check(name, str(form.get("password", "")))
    return _asked(request, parts, "wrong", 401) if found is None else _let_in(request, parts, found)


@router.get(_PATH)
def send_to_provider(request: Request, parts: PartsOf) -> Response:
    """Send somebody to the provider. A link leads here, no form: a provider may lead her over other sites."""
    provider = parts.provider
    if provider is None:
        raise HTTPException(404, "nobody but this service says who operators are")
    same_site(request)
    try:
        check_attempts(parts, request, "log in")
    except HTTPException as error:
        return _asked(request, parts, "often", error.status_code)
    from confide.campaign.service.access.id_tokens import ProviderFailed

    begun = parts.logins.begin()
    try:
        answer = go(provider.address(begun))
    except ProviderFailed as error:
        return _failed(request, parts, error.reason)
    answer.set_cookie(LOGIN_COOKIE, begun.secret, max_age=SECONDS, httponly=True, secure=parts.settings.secure,
                      samesite="lax", path=_PATH)  # strict ones are not shown to whoever comes back from another site
    return answer


@router.get(PROVIDER_BACK)
def take_answer(request: Request, parts: PartsOf) -> Response:
    """Take the provider's answer, once, and begin a session for whom it names, where she is an operator."""
    answer = _taken(request, parts)
    answer.delete_cookie(LOGIN_COOKIE, path=_PATH, httponly=True, secure=parts.settings.secure, samesite="lax")
    return answer


def _taken(request: Request, parts: Parts) -> Response:
    provider = parts.provider
    if provider is None:
        raise HTTPException(404, "nobody but this service says who operators are")
    try:
        check_attempts(parts, request, "come back from a provider")
    except HTTPException as error:
        return _asked(request, parts, "often", error.status_code)
    from confide.campaign.service.access.id_tokens import ProviderFailed

    begun = parts.logins.take(request.cookies.get(LOGIN_COOKIE, ""), _sent(request, "state") or "")
    if begun is None:
        return _asked(request, parts, "begin", 400)
    if "error" in request.query_params:
        if _sent(request, "error") == "access_denied":
            return _asked(request, parts, "denied", 403)
        return _failed(request, parts, "it answers with an error")
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
    """What the provider sends along under a name, where it does so once."""
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
    """The page says that it is the provider; the log says why, in words of ours."""
    _log.warning("the provider of log-ins failed: %s", reason)
    return _asked(request, parts, "provider", 502)


def _asked(request: Request, parts: Parts, problem: str = "", status: int = 200) -> HTMLResponse:
    oidc = parts.settings.oidc
    return page(request, "login.html", status=status, problem=problem, provider="" if oidc is None else oidc.shown)
