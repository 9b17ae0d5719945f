"""Serving: one process or several, which end gracefully; each knows how it is run from the environment.

A process that is told to end takes nothing any more, answers what it has begun, stores what has come, and leaves its
job to others, who resume it.
"""

from __future__ import annotations

import logging
import os

import uvicorn
from fastapi import FastAPI

from confide.campaign.service.app import create_app
from confide.campaign.service.shell.settings import Settings
from confide.campaign.service.shell.watching import log_as_json
from confide.contract.public_warnings import show_public_warnings

__all__ = ["VARIABLE", "application", "serve"]

VARIABLE = "CONFIDE_SERVICE"
"""The environment variable that holds the settings, as JSON."""

_GRACE = 20  # seconds that requests have to end


def application() -> FastAPI:
    """The application of this process, as the environment says; for `uvicorn --factory`, too.

    What a run warns of may quote records: the log has warnings that are built from public facts, and no others.
    """
    log_as_json()
    show_public_warnings(logging.getLogger("confide").warning)
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
    uvicorn.run("confide.campaign.service.serving:application", factory=True, host=host, port=port, workers=workers,
                log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=_GRACE,
                proxy_headers=bool(proxy), forwarded_allow_ips=proxy or None)
