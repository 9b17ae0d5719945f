"""What goes wrong, as RFC 9457's problem+json. It never repeats what somebody sent."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from confide.campaign.service.access import new_code
from confide.campaign.service.work.faults import Changed, Unknown
from confide.contract.errors import BudgetExceeded, ConfideError, InvalidInput, Refused, StoreFailed

__all__ = ["MEDIA", "Problem", "answers", "install", "problem_response", "status_of"]

_log = logging.getLogger("confide.service")
MEDIA = "application/problem+json"
_TITLES = {400: "bad request", 401: "log in first", 403: "not allowed", 404: "not there", 405: "not done here",
           409: "refused", 413: "too large", 415: "another format", 422: "cannot be used", 429: "too often",
           500: "an internal error", 503: "the store cannot"}


class Problem(BaseModel):
    """What went wrong."""

    title: str = Field(description="of this kind of problem")
    status: int
    detail: str = Field(description="of this one")
    field: str | None = Field(default=None, description="of the request, or of the campaign file, that is wrong")
    limit: str | None = Field(default=None, description="what would be right, or what would do")


def answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What a door may answer besides, for its documentation."""
    return {status: {"model": Problem, "description": _TITLES[status],
                     "content": {MEDIA: {"schema": {"$ref": "#/components/schemas/Problem"}}}} for status in statuses}


def problem_response(status: int, detail: str, *, field: str | None = None, limit: str | None = None,
                     headers: dict[str, str] | None = None) -> JSONResponse:
    """A problem as an answer."""
    said = Problem(title=_TITLES.get(status, "a problem"), status=status, detail=detail, field=field,
                   limit=limit or None)
    return JSONResponse(said.model_dump(exclude_none=True), status, headers, media_type=MEDIA)


def status_of(error: ConfideError) -> int:
    """The status under which an error of ours is told."""
    match error:
        case InvalidInput():
            return 422
        case Unknown():
            return 404
        case Refused() | Changed():
            return 409
        case StoreFailed():
            return 503
    return 500


def _told(error: ConfideError) -> JSONResponse:
    match error:
        case InvalidInput():
            return problem_response(422, f"{error.field} {error.problem}", field=error.field, limit=error.limit)
        case BudgetExceeded():
            return problem_response(409, error.reason, limit=error.remedy)
        case Refused():
            return problem_response(409, error.reason, limit=error.remedy)
        case StoreFailed():
            return problem_response(503, "the store cannot do this now", limit="try again in a moment",
                                    headers={"Retry-After": "5"})
    return problem_response(status_of(error), str(error))


def install(app: FastAPI) -> None:
    """Have every problem told in this way."""

    @app.exception_handler(ConfideError)
    def ours(_: Request, error: ConfideError) -> JSONResponse:
        if status_of(error) == 500:
            return _unexpected(error)
        return _told(error)

    @app.exception_handler(RequestValidationError)
    def unreadable(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:]) or "body"
        return problem_response(422, f"{place}: {first['type'].replace('_', ' ')}", field=place)

    @app.exception_handler(HTTPException)
    def refused(_: Request, error: HTTPException) -> JSONResponse:
        headers = dict(error.headers or {})
        return problem_response(error.status_code, str(error.detail), headers=headers)

    @app.exception_handler(Exception)
    def unexpected(_: Request, error: Exception) -> JSONResponse:
        return _unexpected(error)


def _unexpected(error: Exception) -> JSONResponse:
    """A fault of ours: its text may hold private values, so it goes nowhere; a reference goes to both sides."""
    reference = new_code()[:9]
    _log.error("an internal error: %s", type(error).__name__, extra={"reference": reference})
    return problem_response(500, f"reference {reference}", limit="tell the operator the reference")
