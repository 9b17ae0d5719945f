"""Run the service in one or several processes, which end gracefully. Each process reads its settings from the
environment.

A process that has to end accepts no new requests, answers the requests that it has begun, and stores received reports.
Another process resumes the job that the ending process leaves. A process whose supervisor has died ends in the same
way.

The sockets are opened before the service reports that it serves, so that an occupied port is reported at once.
"""

from __future__ import annotations

import errno
import gc
import logging
import multiprocessing
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess

from confide.contract.errors import InvalidInput, Refused, show_public_warnings
from confide.service.app import create_app
from confide.service.shell.settings import Settings
from confide.service.shell.watching import TOGETHER, log_as_json

__all__ = ["VARIABLE", "application", "listen", "serve"]

_BACKLOG = 2048  # connections that wait
_SYSTEM_PORTS = 1024  # below, a port takes rights of its own


def listen(host: str, port: int) -> list[socket.socket]:
    """Open sockets that listen at every address of a host. The caller closes the sockets.

    Args:
        host: name or address of this machine.
        port: number of the port at which the service listens.

    Raises:
        Refused: the port is occupied, or this process may not use it.
        InvalidInput: the host is not on this machine.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise _no_address(host) from None
    with ExitStack() as stack:
        out = []
        for family, kind, protocol, _, address in dict.fromkeys(found):
            try:
                one = stack.enter_context(socket.socket(family, kind, protocol))
                _bind(one, family, address)
            except OSError as error:
                if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                    continue  # a name may have an address that this machine does not use
                raise _refused(error, host, port) from None
            out.append(one)
        if not out:
            raise _no_address(host)
        stack.pop_all()
        return out


def _bind(one: socket.socket, family: int, address: tuple[object, ...]) -> None:
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # else a port rests for a minute after each service
    if family == socket.AF_INET6:
        one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    one.bind(address)
    one.listen(_BACKLOG)  # of two that bind at once, one listens
    one.set_inheritable(True)


def _no_address(host: str) -> InvalidInput:
    return InvalidInput("host", f"{host!r} is not an address of this machine",
                        "give an address such as 127.0.0.1, or 0.0.0.0 for all addresses")


def _refused(error: OSError, host: str, port: int) -> Refused:
    if error.errno == errno.EADDRINUSE:
        return Refused(f"port {port} of {host} is in use",
            "end the process that uses this port, or choose another port with --port")
    if error.errno in (errno.EACCES, errno.EPERM) and port < _SYSTEM_PORTS:
        return Refused(f"port {port} needs rights that this process does not have",
                       f"choose a port of {_SYSTEM_PORTS} or more with --port, and put a reverse proxy in front")
    return Refused(f"the operating system refuses port {port} of {host}", "choose another port with --port")


VARIABLE = "CONFIDE_SERVICE"
"""Name of the environment variable that holds the settings as JSON."""

_APPLICATION = "confide.service.serving:application"
_PROTOCOL = "confide.service.shell.headers:Protocol"
_GRACE = 20  # seconds that requests have to end
_SILENT = 30  # seconds without a sign of life after which a process is replaced: a settlement may keep all of it busy


def application() -> FastAPI:
    """The ASGI application of this process, with settings from the environment. Uvicorn can also start the application,
    with the option `--factory`.

    Warnings of a run may quote records. The log contains only warnings that are built from public facts.
    """
    log_as_json()
    show_public_warnings(logging.getLogger("confide").warning)
    _end_with_supervisor()
    app = create_app(Settings.model_validate_json(os.environ.get(VARIABLE, "{}")))
    gc.collect()
    gc.freeze()  # a full collection would look through all that was loaded, and hold up answers for 0.1 s
    return app


def serve(
    settings: Settings, *, host: str, port: int, workers: int = 1, proxy: str = "",
    listening: Callable[[], None] = lambda: None,
) -> None:
    """Run the service until it is stopped.

    Args:
        settings: settings of the service.
        host: name or address at which the service listens.
        port: number of the port at which the service listens.
        workers: number of processes that answer requests.
        proxy: address of a reverse proxy in front of the service, whose headers with the caller's address are trusted;
            empty if there is no proxy.
        listening: function that is called when the service listens at the port.

    Raises:
        Refused: the port is occupied.
        InvalidInput: the host is not on this machine.
    """
    sockets = listen(host, port)
    listening()
    os.environ[VARIABLE] = settings.model_dump_json()
    log_as_json()  # of the process that looks after the others, too
    with _counting_together(workers > 1 and settings.metrics_digest is not None):
        _serve(sockets, workers, proxy)


def _serve(sockets: list[socket.socket], workers: int, proxy: str) -> None:
    options: dict[str, Any] = {
        "factory": True, "http": _PROTOCOL, "log_config": None, "access_log": False, "server_header": False,
        "timeout_graceful_shutdown": _GRACE, "proxy_headers": bool(proxy), "forwarded_allow_ips": proxy or None}
    if workers == 1:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # it comes again once the process has ended gracefully
        server = uvicorn.Server(uvicorn.Config(_APPLICATION, **options))
        with suppress(KeyboardInterrupt):
            server.run(sockets)
        if not server.started:
            sys.exit(1)
        return
    config = uvicorn.Config(_APPLICATION, workers=workers, timeout_worker_healthcheck=_SILENT, **options)
    _Supervisor(config, sockets).run()


class _Supervisor(Multiprocess):
    """Supervisor that replaces processes that have died. The supervisor checks its processes twice a second."""

    def keep_subprocess_alive(self) -> None:
        """Replace every process that has died, or has been silent for too long."""
        for each in self.processes:
            each.child_conn.close()  # it has its own; as long as we have one, we wait for an answer of the dead
        super().keep_subprocess_alive()


def _end_with_supervisor() -> None:
    """End this process, one of several, when its supervisor has died. If a process went on without its supervisor, it
    would occupy the port that the next service needs, and nobody would replace the process.
    """
    supervisor = multiprocessing.parent_process()
    if supervisor is None:
        return

    def watch() -> None:
        supervisor.join()
        os.kill(os.getpid(), signal.SIGTERM)

    Thread(target=watch, name="supervisor", daemon=True).start()


@contextmanager
def _counting_together(several: bool) -> Iterator[None]:
    """Context in which several processes add up their counts in a folder that is deleted at the end. Each process can
    report the totals.
    """
    if not several or TOGETHER in os.environ:
        yield
        return
    with TemporaryDirectory(prefix="confide-metrics-") as folder:
        os.environ[TOGETHER] = folder
        try:
            yield
        finally:
            del os.environ[TOGETHER]
