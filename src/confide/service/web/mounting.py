"""All pages on one application, and problems as pages where a browser asks for one."""

from __future__ import annotations

from fastapi import FastAPI, Request, Response
from fastapi.staticfiles import StaticFiles

from confide.service.web import desk, joining, log_in, public
from confide.service.web.page import STATIC, page

__all__ = ["add_pages", "as_page"]

_API = ("/api/", "/health/", "/metrics")


def add_pages(app: FastAPI) -> None:
    """Add the pages and what they load."""
    for part in (public, joining, log_in, desk):
        app.include_router(part.router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")


def as_page(request: Request, status: int, detail: str, limit: str) -> Response | None:
    """A problem as a page; None where a program asks.

    Args:
        request: what was asked.
        status: of HTTP.
        detail: what is wrong.
        limit: what would do.
    """
    if request.url.path.startswith(_API) or "text/html" not in request.headers.get("accept", ""):
        return None
    return page(request, "problem.html", status=status, detail=detail, limit=limit)
