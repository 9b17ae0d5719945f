"""The service as an ASGI application: the API with its schema (under `/api/v1`), pages, health checks and metrics."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI, HTTPException, Request, Response
from fastapi.responses import PlainTextResponse
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel
from sqlalchemy import text

import confide
from confide.service.api import campaigns, drafts, kinds, ledger, mine, operators, payouts, running
from confide.service.shell import problems
from confide.service.shell.body_limit import BodyLimit
from confide.service.shell.guards import PartsOf, bearer, has_session, may_upload
from confide.service.shell.headers import SecurityHeaders
from confide.service.shell.parts import Parts
from confide.service.shell.problems import Faults, answers
from confide.service.shell.settings import Settings
from confide.service.shell.watching import Metrics, Watched
from confide.service.web import desk, joining, log_in, public
from confide.service.web.page import STATIC, page

__all__ = ["add_pages", "as_page", "create_app", "router"]

_API = ("/api/", "/health/", "/metrics")


def add_pages(app: FastAPI) -> None:
    """Add the pages, and the static files that they load."""
    for part in (public, joining, log_in, desk):
        app.include_router(part.router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")


def as_page(request: Request, status: int, detail: str, limit: str) -> Response | None:
    """The page that shows a problem to a browser; None if a program made the request.

    Args:
        request: request that has the problem.
        status: HTTP status.
        detail: problem, as a text.
        limit: way to solve the problem, as a text.
    """
    if request.url.path.startswith(_API) or "text/html" not in request.headers.get("accept", ""):
        return None
    return page(request, "problem.html", status=status, detail=detail, limit=limit)


router = APIRouter(prefix="/api/v1", responses=answers(503))  # the store may be busy, or away, whatever is asked
for _part in (kinds, campaigns, drafts, running, payouts, ledger, operators, mine):
    router.include_router(_part.router)


_STRANGERS = 1 << 16  # bytes of a request without a session: a log-in and a code are far shorter
_UPLOADS = re.compile(r".*/(known|confirmations|batches(/[0-9]+)?|answer)")


class Alive(BaseModel):
    """A sign that the process answers, or that it can do its work."""

    status: str


def create_app(settings: Settings | None = None) -> FastAPI:
    """Make the ASGI application of one process.

    Args:
        settings: settings of the service; if left out, the settings for the installation's own store.
    """
    settings = Settings() if settings is None else settings
    parts, metrics = Parts(settings), Metrics()

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        parts.start()
        yield
        parts.close()

    app = FastAPI(title="confide", version=confide.__version__, lifespan=life, docs_url=None, redoc_url=None,
                  openapi_url="/api/v1/openapi.json",
                  description="Campaigns with people's private data: plan, offer, collect, settle, audit.")
    app.state.parts, app.state.metrics = parts, metrics
    unforeseen = problems.install(app, as_page)
    app.include_router(router)
    add_pages(app)

    @app.get("/health/live", tags=["health"])
    def live() -> Alive:
        """Whether the process answers."""
        return Alive(status="alive")

    @app.get("/health/ready", tags=["health"], responses=problems.answers(503))
    def ready(parts: PartsOf) -> Alive:
        """Whether the process can do its work: the store answers, and the worker that does its jobs runs."""
        if not parts.working:
            raise HTTPException(503, "the worker of this process has ended, so nobody does its jobs: start the process "
                                     "again")
        with parts.store.database.reading() as connection:
            connection.execute(text("SELECT 1"))
        return Alive(status="ready")

    @app.get("/metrics", tags=["health"], response_class=PlainTextResponse, responses=problems.answers(401, 404))
    def shown_metrics(request: Request) -> Response:
        """Counts of answers for Prometheus, for callers with its token. The counts reveal nothing about campaigns or
        people.
        """
        if settings.metrics_digest is None:
            raise HTTPException(404, "there are none")
        given = hashlib.sha256(bearer(request).encode("utf-8", "replace")).hexdigest()
        if not hmac.compare_digest(given, settings.metrics_digest):
            raise HTTPException(401, "this request needs the token of the metrics", {"WWW-Authenticate": "Bearer"})
        return PlainTextResponse(metrics.text(), media_type="text/plain; version=0.0.4")

    app.add_middleware(BodyLimit, strangers=_STRANGERS, largest=settings.largest_body,
                       largest_upload=settings.largest_upload, uploads=_UPLOADS, has_session=has_session,
                       may_upload=may_upload)
    app.add_middleware(Faults, unforeseen)
    app.add_middleware(SecurityHeaders, settings.secure)
    app.add_middleware(Watched, metrics)
    return app
