"""What the service tells of itself: a line for each request, and counts. Neither says who asked, or for what campaign.

A request is known by its method and by the pattern of its path, such as `/campaigns/{number}`: numbers, codes
and queries are in no log, and how long it took is told in classes, since exact times could tell of records.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from http import HTTPStatus
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Metrics", "Watched", "log_as_json"]

_log = logging.getLogger("confide.requests")
_CLASSES = (0.01, 0.05, 0.25, 1.0, 5.0)
_PARTICIPANTS = ("/mine", "/join", "/leave")  # patterns of what participants do, in the API and as pages
_SAID = ("method", "route", "status", "took", "reference", "task")


class Metrics:
    """Counts of a process, for Prometheus.

    What participants do is one row, without times: how many of them handed something in, and how many answers were
    refused, follows from people's records, and whoever scrapes is not the operator.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter("confide_requests", "answers, by pattern of the path and status",
                                 ("method", "route", "status"), registry=self.registry)
        self._seconds = Histogram("confide_request_seconds", "time to an answer; of participants none",
                                  buckets=_CLASSES, registry=self.registry)

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answer."""
        if route.removeprefix("/api/v1").startswith(_PARTICIPANTS):
            self._requests.labels("any", "participants", "5xx" if status >= HTTPStatus.INTERNAL_SERVER_ERROR
                                  else "other").inc()
            return
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.observe(seconds)

    def text(self) -> bytes:
        """As Prometheus reads them."""
        return generate_latest(self.registry)


class Watched:
    """Log and count every request.

    Args:
        app: what comes after.
        metrics: where it is counted.
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
            took = time.monotonic() - begun
            route, method = _pattern(scope), scope["method"] if scope["method"].isalpha() else "other"
            self._metrics.count(method[:10], route, status, took)
            _log.info("request", extra={"method": method[:10], "route": route, "status": status, "took": _class(took)})


def _pattern(scope: Scope) -> str:
    """The pattern of the route that answered; none of its parts."""
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
    def format(self, record: logging.LogRecord) -> str:
        said: dict[str, Any] = {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
                                "level": record.levelname.lower(), "logger": record.name,
                                "message": record.getMessage() if record.name.startswith("confide") else record.msg}
        said |= {name: getattr(record, name) for name in _SAID if hasattr(record, name)}
        return json.dumps(said)


def log_as_json(level: int = logging.INFO) -> None:
    """Write all that is logged to standard error, a JSON object a line. No traceback: it may show private values."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json())
    for name in ("confide", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler] if name != "uvicorn.error" else [], name == "uvicorn.error"
        logger.setLevel(level)
    logging.getLogger("uvicorn.access").disabled = True  # its lines have addresses and whole paths
