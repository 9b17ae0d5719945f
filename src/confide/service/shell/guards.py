"""Identification of the caller of a request: a program with a bearer token, or a browser with a cookie. If the request
of a browser changes something, the request must also have the form word of the session (`csrf_of`).

Every entry point has one of three audiences: anybody, operators with at least a given role, or the participant
themselves.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, HTTPException, Request
from starlette.concurrency import run_in_threadpool
from starlette.types import Scope

from confide.contract.worded import worded
from confide.service.access import Operator, Participant, Role, csrf_of
from confide.service.shell.parts import Parts

__all__ = ["OPERATOR_COOKIE", "PARTICIPANT_COOKIE", "PartsOf", "TakingPart", "address_of", "bearer", "check_form",
           "cookie_name", "cookie_of", "has_session", "may_upload", "needs", "parts_of", "taking_part", "token_of"]

OPERATOR_COOKIE, PARTICIPANT_COOKIE = "confide_operator", "confide_participant"
_SAFE = ("GET", "HEAD", "OPTIONS")


def parts_of(request: Request) -> Parts:
    """The parts of the process that answers a request."""
    found: Parts = request.app.state.parts
    return found


async def _parts_of(request: Request) -> Parts:  # not to be sent to another thread for this
    return parts_of(request)


PartsOf = Annotated[Parts, Depends(_parts_of)]


def cookie_name(request: Request, cookie: str) -> str:
    """The name of a cookie. Over TLS the name begins with `__Host-`. Browsers accept a cookie with such a name only
    from this very host, and from no other host of the same site.

    Args:
        request: request of the caller.
        cookie: name of the cookie without TLS.
    """
    return f"__Host-{cookie}" if parts_of(request).settings.secure else cookie


def cookie_of(request: Request, cookie: str) -> str:
    """The content of a cookie; empty if the request does not have this cookie."""
    return request.cookies.get(cookie_name(request, cookie), "")


def bearer(request: Request) -> str:
    """The bearer token in the header `Authorization`; empty if there is none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def token_of(request: Request, cookie: str) -> str:
    """The caller's token, from the header, or from the cookie together with the form word of the session.

    Raises:
        HTTPException: status 403: the request would change something, and may come from a page of another site.
    """
    token = bearer(request)
    if token:
        return token
    token = cookie_of(request, cookie)
    if token and request.method not in _SAFE:
        check_form(token, request.headers.get("x-csrf-token", ""))
    return token


def check_form(token: str, word: str) -> None:
    """Check that the form word of a request belongs to the session of a token.

    Raises:
        HTTPException: status 403: the form was not made for this session.
    """
    if not hmac.compare_digest(csrf_of(token).encode(), word.encode("utf-8", "replace")):
        raise HTTPException(403, worded("the form does not belong to this session; load the page again"))


def needs(role: Role) -> Callable[[Request], Operator]:
    """A guard for entry points of operators: it returns the operator who makes the request, or refuses the request.

    Args:
        role: least role with which an operator may use the entry point.
    """
    def guard(request: Request) -> Operator:
        found = parts_of(request).sessions.who(token_of(request, OPERATOR_COOKIE))
        if found is None:
            raise HTTPException(401, worded("only operators who have logged in may do "
                                            "this"), {"WWW-Authenticate": "Bearer"})
        if not found.role.covers(role):
            raise HTTPException(403, f"only operators with the role {role.value!r} may do this")
        return found

    guard.audience = role.value  # type: ignore[attr-defined] # read by the test that tries every endpoint
    return guard


async def has_session(scope: Scope) -> bool:
    """Whether the caller is an operator who has logged in, or a participant who has joined."""
    request = Request(scope)
    sessions, token = parts_of(request).sessions, bearer(request)
    operator = token or cookie_of(request, OPERATOR_COOKIE)
    if operator and await run_in_threadpool(sessions.who, operator) is not None:
        return True
    given = token or cookie_of(request, PARTICIPANT_COOKIE)
    return bool(given) and await run_in_threadpool(sessions.participant, given) is not None


async def may_upload(scope: Scope) -> bool:
    """Whether the caller is an operator who may upload files. The entry point that takes the upload also checks the
    form word.
    """
    request = Request(scope)
    token = bearer(request) or cookie_of(request, OPERATOR_COOKIE)
    found = await run_in_threadpool(parts_of(request).sessions.who, token) if token else None
    return found is not None and found.role.covers(Role.OPERATOR)


def taking_part(request: Request) -> Participant:
    """A guard for entry points of participants: it returns the participant who makes the request, or refuses the
    request.
    """
    found = parts_of(request).sessions.participant(token_of(request, PARTICIPANT_COOKIE))
    if found is None:
        raise HTTPException(401, worded("only participants who have joined with their code may do this"),
                            {"WWW-Authenticate": "Bearer"})
    return found


taking_part.audience = "participant"  # type: ignore[attr-defined]

TakingPart = Annotated[Participant, Depends(taking_part)]


def address_of(request: Request) -> str:
    """The network address from which a request comes. The address is used only to limit attempts. It is stored only as
    a hash under a random key, for some minutes.
    """
    return request.client.host if request.client is not None else ""
