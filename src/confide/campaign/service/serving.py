"""Serving: one process or several, which end gracefully; each knows how it is run from the environment.

A process that is told to end takes nothing any more, answers what it has begun, stores what has come, and leaves its
job to others, who resume it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

import uvicorn
from fastapi import FastAPI

from confide.campaign.service.app import create_app
from confide.campaign.service.shell.settings import Settings
from confide.campaign.service.shell.watching import TOGETHER, log_as_json

__all__ = ["VARIABLE", "application", "serve"]

VARIABLE = "CONFIDE_SERVICE"
"""The environment variable that holds the settings, as JSON."""

_GRACE = 20  # seconds that requests have to end


def application() -> FastAPI:
    """The application of this process, as the environment says; for `uvicorn --factory`, too."""
    log_as_json()
    return create_app(Settings.model_validate_json(os.environ.get(VARIABLE, "{}")))


def serve(settings: Settings, *, host: str, port: int, workers: int = 1, proxy: str = "") -> None:
    """Answer until told to end.

    Args:
        settings: how it is run.
        host: the address to listen on.
        port: the port.
        workers: processes.
        proxy: address of a reverse proxy in front, whose word on who asks is taken; empty where there is none.
    """
    os.environ[VARIABLE] = settings.model_dump_json()
    log_as_json()  # of the process that looks after the others, too
    with _counting_together(workers > 1 and settings.metrics_digest is not None):
        _serve(host, port, workers, proxy)


def _serve(host: str, port: int, workers: int, proxy: str) -> None:
    uvicorn.run("confide.campaign.service.serving:application", factory=True, host=host, port=port, workers=workers,
                log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=_GRACE,
                proxy_headers=bool(proxy), forwarded_allow_ips=proxy or None)


@contextmanager
def _counting_together(several: bool) -> Iterator[None]:
    """Have several processes add up what they count, in a folder that is gone with them; any of them tells all."""
    if not several or TOGETHER in os.environ:
        yield
        return
    with TemporaryDirectory(prefix="confide-metrics-") as folder:
        os.environ[TOGETHER] = folder
        try:
            yield
        finally:
            del os.environ[TOGETHER]
