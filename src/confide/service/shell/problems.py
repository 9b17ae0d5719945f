"""Error answers in the form `problem+json` of RFC 9457. Their texts repeat nothing that the caller sent, except names
from the schema of the API.

Answers to unforeseen faults get the same headers, log lines and counts as other answers: see `Faults`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from confide.contract.errors import BudgetExceeded, ConfideError, InvalidInput, Refused, StoreFailed
from confide.contract.worded import Worded, worded
from confide.service.access import new_code
from confide.service.work.faults import Changed, NotNow, Unknown

__all__ = ["AWAY", "MEDIA", "Answer", "Faults", "Problem", "Reported", "TooLarge", "answers", "install",
           "problem_response", "status_of"]

_log = logging.getLogger("confide.service")
MEDIA = "application/problem+json"
AWAY = (worded("the database is busy"), worded("try again in a moment"))
"""The problem and the remedy that callers read if the store has failed. The error message of the store itself is only
for the owner of the service.
"""
_TITLES = {400: "bad request", 401: "log in first", 403: "not allowed", 404: "not there", 405: "not done here",
           409: "refused", 413: "too large", 415: "another format", 422: "cannot be used", 429: "too often",
           500: "an internal error", 503: "not now"}


class Problem(BaseModel):
    """The model of an error answer to a request."""

    title: str = Field(description="name of this kind of problem")
    status: int
    detail: str = Field(description="of this one")
    field: str | None = Field(default=None, description="field of the request, or of the campaign file, that is wrong")
    limit: str | None = Field(default=None, description="correct values, or changes that would help")


def answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The error answers of an entry point, by HTTP status, as documentation in the schema of the API."""
    return {status: {"model": Problem, "description": _TITLES[status],
                     "content": {MEDIA: {"schema": {"$ref": "#/components/schemas/Problem"}}}} for status in statuses}


class Reported(JSONResponse):
    """An error answer to a program. It keeps the problem, so that a page can show the same problem in the language of
    the reader.
    """

    detail: str
    limit: str


class TooLarge(ConfideError):
    """Error: a request is longer than its caller may send.

    Args:
        most: limit in bytes.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        super().__init__("the request is too large")


def problem_response(status: int, detail: str, *, field: str | None = None, limit: str | None = None,
                     headers: dict[str, str] | None = None) -> Reported:
    """An error answer that states a problem as problem+json."""
    said = Problem(title=_TITLES.get(status, "a problem"), status=status, detail=str(detail), field=field,
                   limit=str(limit) if limit else None)
    answer = Reported(said.model_dump(exclude_none=True), status, headers, media_type=MEDIA)
    answer.detail, answer.limit = detail, limit or ""
    return answer


def status_of(error: ConfideError) -> int:
    """The HTTP status of the answer to an error of confide."""
    match error:
        case InvalidInput():
            return 422
        case Unknown():
            return 404
        case Refused() | Changed():
            return 409
        case StoreFailed() | NotNow():
            return 503
        case TooLarge():
            return 413
    return 500


def _reported(error: ConfideError) -> Reported:
    match error:
        case InvalidInput():
            return problem_response(422, worded("%(field)s %(problem)s", field=error.field, problem=error.problem),
                                    field=error.field, limit=error.limit)
        case BudgetExceeded():
            return problem_response(409, error.reason, limit=error.remedy)
        case Refused():
            return problem_response(409, error.reason, limit=error.remedy)
        case StoreFailed():
            return problem_response(503, AWAY[0], limit=AWAY[1], headers={"Retry-After": "5"})
        case TooLarge():
            return problem_response(413, worded("the request is too large"),
                                    limit=worded("must have at most %(most)s bytes", most=f"{error.most:,}"))
        case Unknown() | Changed():
            return problem_response(status_of(error), error.worded)
        case NotNow():
            return problem_response(503, error.why, limit=error.remedy, headers={"Retry-After": "5"})
    return problem_response(status_of(error), str(error))


Show = Callable[[Request, int, str, str], Response | None]


Answer = Callable[[Scope, Exception], Awaitable[Response]]


def install(app: FastAPI, show: Show = lambda *_: None) -> Answer:
    """Make an application answer every error as problem+json. The result is the function that answers unforeseen
    faults; see `Faults`.

    Args:
        app: application whose errors are answered.
        show: function of the request, the status, the problem and the remedy. It returns a page if a browser made the
            request, and None if a program did.
    """

    def shown(request: Request, answer: Reported) -> Response:
        found = show(request, answer.status_code, answer.detail, answer.limit)
        if found is not None:
            found.headers.update({name: value for name, value in answer.headers.items() if name == "retry-after"})
        return answer if found is None else found

    @app.exception_handler(ConfideError)
    def ours(request: Request, error: ConfideError) -> Response:
        if status_of(error) == 500:
            return shown(request, _unexpected(error))
        return shown(request, _reported(error))

    @app.exception_handler(RequestValidationError)
    def unreadable(request: Request, error: RequestValidationError) -> Response:
        place, what, limit = _unreadable(error.errors()[0], _names(app))
        return shown(request,
                     problem_response(422, worded("%(place)s: %(what)s", place=place, what=what), field=place,
                                      limit=limit))

    @app.exception_handler(HTTPException)
    def refused(request: Request, error: HTTPException) -> Response:
        if error.status_code == HTTPStatus.BAD_REQUEST and request.url.path.startswith("/api/"):
            # What FastAPI says of a body that breaks its reader otherwise than by its grammar: no UTF-8, or too deep.
            return problem_response(422, f"body: {_NO_JSON[1]}", field=_NO_JSON[0], limit=_NO_JSON[2])
        detail = error.detail  # a form's reader speaks for itself, of what is in the form
        if error.status_code == HTTPStatus.BAD_REQUEST and not isinstance(detail, Worded):
            detail = worded("the form cannot be read")
        return shown(request, problem_response(error.status_code, detail, headers=dict(error.headers or {})))

    async def unexpected(scope: Scope, error: Exception) -> Response:
        if isinstance(error, ConfideError) and status_of(error) != HTTPStatus.INTERNAL_SERVER_ERROR:
            answer = _reported(error)
        else:
            answer = _unexpected(error)
        try:
            return await run_in_threadpool(shown, Request(scope), answer)
        except Exception:  # noqa: BLE001 # the page fails, too
            return answer

    return unexpected


_NO_JSON = ("body", "is not JSON", "send one JSON object, with Content-Type: application/json")


def _names(app: FastAPI) -> frozenset[str]:
    """The names of all fields and parameters in the schema, which is public."""
    said = app.openapi()  # made once
    fields = {name for each in said["components"]["schemas"].values() for name in each.get("properties", ())}
    return frozenset(fields.union(each["name"] for path in said["paths"].values() for endpoint in path.values()
                                  for each in endpoint.get("parameters", ())))


def _unreadable(first: Mapping[str, Any], names: Collection[str]) -> tuple[str, str, str]:
    """Place of an error in a request, description of the error, and a correct value. Names that the schema of the API
    lacks are not repeated in the error.
    """
    parts = [part for part in first["loc"][1:] if isinstance(part, int) or part in names]
    place = ".".join(map(str, parts)) or "body"
    match first["type"]:
        case "json_invalid":
            return _NO_JSON
        case "missing" if place == "body":
            return place, "is missing", "send one JSON object, with Content-Type: application/json"
        case "missing":
            return place, worded("is missing"), ""
        case "extra_forbidden":
            known = parts[:-1] if first["loc"][-1] in names else parts  # known elsewhere
            return (".".join(map(str, known)) or "body", "has an unknown field",
                    "/api/v1/openapi.json lists the fields")
        case "value_error":  # of ours
            return place, str(first["msg"]).removeprefix("Value error, "), ""
        case "model_attributes_type" | "model_type" | "dict_type":
            return place, "cannot be used", "must be a JSON object"
        case "literal_error" if first.get("ctx") == {"expected": "True"}:
            return place, "cannot be used", "must be true"
        case "int_parsing" | "int_from_float" | "int_type":
            return place, worded("cannot be used"), worded("must be a valid integer")
        case "greater_than_equal":
            return place, worded("cannot be used"), worded("must be greater than or equal to %(least)s",
                                                           least=first["ctx"]["ge"])
        case "less_than_equal":
            return place, worded("cannot be used"), worded("must be less than or equal to %(most)s",
                                                           most=first["ctx"]["le"])
    reported = re.sub(r"^\w+ (should|must) ", "must ", str(first["msg"]))  # the limit, never what was sent
    return place, worded("cannot be used"), re.sub(r", (unable|got) .*", "", reported)


def _unexpected(error: Exception) -> Reported:
    """Answer to an unforeseen fault. The text of the fault may hold private values, so it is neither sent nor logged;
    the answer and the log share a reference number.
    """
    reference = new_code()[:9]
    _log.error("an internal error: %s", type(error).__name__, extra={"reference": reference})
    return problem_response(500, worded("reference %(reference)s", reference=reference),
                            limit=worded("give this reference to the operator of the service"))


class Faults:
    """Answer the requests on which an application has failed before it began to answer.

    Without this class, the framework would answer outside of all middleware, and its answer would lack the headers of
    this service.

    Args:
        app: application that may fail.
        answer: function that makes the answer from the request and the error.
    """

    def __init__(self, app: ASGIApp, answer: Answer) -> None:
        self._app, self._answer = app, answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = begun or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except Exception as error:
            if begun:
                raise
            await (await self._answer(scope, error))(scope, receive, send)
