"""The log of the service with a line for each request, and counts of requests. Neither the log nor the counts name the
caller or the campaign.

A request is described by its method and by the pattern of its path, such as `/campaigns/{number}`. The log therefore
has no numbers, codes or queries from requests. The duration is logged in classes, since exact times could reveal
records.

Requests of participants, and requests for their pages, are neither logged nor counted, because the times of log lines
would reveal when a participant hands something in. Only if the service itself fails on such a request, the log and the
counts show a failure, without the request.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import threading
import time
from http import HTTPStatus
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["TOGETHER", "Metrics", "Watched", "log_as_json"]

TOGETHER = "PROMETHEUS_MULTIPROC_DIR"
"""Name of the environment variable with the folder in which several processes add up their counts."""

_log = logging.getLogger("confide.requests")
_CLASSES = (0.01, 0.05, 0.25, 1.0, 5.0)
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_PARTICIPANTS = ("/mine", "/join", "/leave", "/static")  # what participants do, in the API and as pages, and load
_SERVER = ("uvicorn", "uvicorn.error")
_PLACE = re.compile(r"%[-#0 +]*\d*(?:\.\d+)?[a-zA-Z]")  # where a logged message takes what it was given
_SAID = ("method", "route", "status", "took", "reference", "task")


class Metrics:
    """Counts of requests for Prometheus. The counts are those of this process or, if the environment variable
    `TOGETHER` is set before the processes start, those of all processes.

    A request of a participant is counted only if it fails through a fault of the service.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter("confide_requests", "number of answers by pattern of the path and status; answers to "
                                                     "participants are not counted",
                                 ("method", "route", "status"), registry=self.registry)
        self._seconds = Histogram("confide_request_seconds",
                                  "time to an answer; answers to participants are not measured",
                                  buckets=_CLASSES, registry=self.registry)

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answer to a request that no participant made."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.observe(seconds)

    def count_failure(self) -> None:
        """Count a failure of the service on a participant's request."""
        self._requests.labels("any", "participants", "5xx").inc()

    def text(self) -> bytes:
        """The counts, in the text format of Prometheus."""
        if TOGETHER not in os.environ:
            return generate_latest(self.registry)
        all_of_them = CollectorRegistry()
        MultiProcessCollector(all_of_them)  # type: ignore[no-untyped-call] # registers itself
        return generate_latest(all_of_them)


class Watched:
    """Log and count every request, except the requests of participants.

    Args:
        app: application that answers the requests.
        metrics: counts to which the requests are added.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, status = time.monotonic(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            self._note(scope, status, time.monotonic() - begun)

    def _note(self, scope: Scope, status: int, took: float) -> None:
        if scope["path"].removeprefix("/api/v1").startswith(_PARTICIPANTS):
            if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                self._metrics.count_failure()
                _log.error("failed", extra={"route": "participants", "status": "5xx"})
            return
        method = scope["method"] if scope["method"] in _METHODS else "other"
        route = _pattern(scope)
        self._metrics.count(method, route, status, took)
        _log.info("request", extra={"method": method, "route": route, "status": status, "took": _class(took)})


def _pattern(scope: Scope) -> str:
    """The pattern of the route that answered, without the values of its parameters."""
    route = scope.get("route")
    path = getattr(route, "path", None)
    if path is not None:
        return str(path)
    for each in getattr(scope.get("app"), "routes", ()):
        if each.matches(scope)[0] is Match.FULL:
            return str(getattr(each, "path", "other"))
    return "other"


def _class(seconds: float) -> str:
    return next((f"<= {limit:g} s" for limit in _CLASSES if seconds <= limit), f"> {_CLASSES[-1]:g} s")


class _Json(logging.Formatter):
    """Formatter for log lines. Messages of this package are logged in full. Messages of the server are logged without
    inserted values, unless all of them are numbers. Messages of other libraries may contain private values, so only the
    logger's name, the severity and the type of the error are logged.
    """

    def format(self, record: logging.LogRecord) -> str:
        ours = record.name.partition(".")[0] == "confide"
        message = (record.getMessage() if ours else _servers(record) if record.name in _SERVER else "").strip()
        said: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)), "level": record.levelname.lower(),
            "logger": record.name, "message": "not shown" if "\n" in message or not message else message}
        if record.exc_info and record.exc_info[0] is not None:
            said["error"] = record.exc_info[0].__name__
        elif message.startswith("Traceback"):  # the server has made a text of it
            said["error"] = message.splitlines()[-1].partition(":")[0]
        said |= {name: getattr(record, name) for name in _SAID if ours and hasattr(record, name)}
        return json.dumps(said)


def _servers(record: logging.LogRecord) -> str:
    """A message of the server. Inserted numbers come from the server itself, but inserted texts may be an address or a
    path.
    """
    given = record.args if isinstance(record.args, tuple) else (record.args,) if record.args else ()
    if given and all(type(each) is int for each in given):
        return record.getMessage()
    return _PLACE.sub("(not shown)", str(record.msg)) if given else str(record.msg)


def log_as_json(level: int = logging.INFO) -> None:
    """Write all log lines of this process to standard error, as one JSON object a line. The lines include libraries'
    log lines and warnings, and failures in threads. Tracebacks are left out, because they may show private values.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json())
    root = logging.getLogger()
    for name in list(root.manager.loggerDict):  # nobody writes for herself
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [], True
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    for name in ("confide", *_SERVER):
        logging.getLogger(name).setLevel(level)
    logging.getLogger("uvicorn.access").disabled = True  # its lines have addresses and whole paths
    logging.captureWarnings(True)
    threading.excepthook = _thread_failed
    sys.unraisablehook = _unraisable


def _thread_failed(failed: threading.ExceptHookArgs) -> None:
    if failed.exc_type is not SystemExit:
        logging.getLogger("confide.service").error("a thread has failed: %s", failed.exc_type.__name__)


def _unraisable(failed: Any) -> None:
    logging.getLogger("confide.service").error("the report of an error has failed: %s", failed.exc_type.__name__)
