"""`confide serve` as it runs on a machine: a supervisor, its workers, and what becomes of them when they are killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

__all__ = ["SERVE", "Tree", "await_that", "children"]

SERVE = (sys.executable, "-m", "confide", "serve")
PATIENCE = 120.0
"""Seconds that a start, or a worker in another's place, may take on a busy machine."""


class Tree:
    """A service on a port of its own, with all its processes; ended when left.

    Args:
        home: the installation's folder.
        url: of the store; default the installation's own.
        workers: processes that answer.
        program: what is run; options of `confide serve` follow it.
        env: more of the environment.
    """

    def __init__(self, home: Path, url: str | None = None, *, workers: int = 2, program: Sequence[str] = SERVE,
                 env: Mapping[str, str] | None = None) -> None:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port: int = found.getsockname()[1]
        self.home, self.count = home, workers
        self._command = [*program, "--port", str(self.port), "--workers", str(workers),
                         *(["--store", url] if url else [])]
        self._env = {**os.environ, "CONFIDE_HOME": str(home), **(env or {})}
        self.log = home.parent / f"served-{self.port}.log"
        self._seen: set[int] = set()

    def start(self) -> Self:
        """Start it, and wait until it is ready and has all its workers."""
        with self.log.open("ab") as log:
            self.child = subprocess.Popen(self._command, stdout=log, stderr=log, env=self._env)
        self.await_ready()
        return self

    def await_ready(self) -> None:
        """Wait until the service answers and nobody is missing.

        Raises:
            AssertionError: it does not come up.
        """
        await_that(lambda: len(self.workers()) == self.count and self.ready(), f"the service is up: see {self.log}")

    def ready(self) -> bool:
        """Whether it answers now that it can do its work."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health/ready", timeout=5) as answer:
                return bool(answer.status == 200)
        except (OSError, urllib.error.URLError):
            return False

    def workers(self) -> list[int]:
        """The processes that answer, oldest first."""
        if self.count == 1:
            return [self.child.pid]
        found = children(self.child.pid)
        self._seen.update(found)
        return found

    def kill(self, worker: int) -> None:
        """End one process at once."""
        os.kill(worker, signal.SIGKILL)

    def kill_all(self) -> None:
        """End all at once, as when the machine loses its power."""
        workers = self.workers()
        for process in (self.child.pid, *(each for each in workers if each != self.child.pid)):
            os.kill(process, signal.SIGKILL)
        self.child.wait()
        await_that(lambda: not any(map(alive, workers)), "the killed are gone")

    def end(self, patience: float = 60.0) -> int:
        """Tell it to end, as whoever runs services does; the exit status."""
        self.child.send_signal(signal.SIGTERM)
        return self.child.wait(patience)

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.__exit__()  # nobody else ends what did not come up
            raise

    def __exit__(self, *_: object) -> None:
        workers = [each for each in {*self.workers(), *self._seen} if alive(each)]
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()
        for each in workers:  # of a supervisor that a test has killed
            if alive(each):
                os.kill(each, signal.SIGKILL)


def children(process: int) -> list[int]:
    """A supervisor's workers by age: its children, but for Python's own helper."""
    try:
        found = [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []
    return [each for each in sorted(found, key=_age) if alive(each) and b"spawn_main" in _command(each)]


def alive(process: int) -> bool:
    """Whether a process is there and is no zombie."""
    return _stat(process)[:1] not in ([], ["Z"])


def await_that(holds: Callable[[], bool], what: str, patience: float = PATIENCE) -> None:
    """Wait until something holds.

    Raises:
        AssertionError: it does not within the time.
    """
    last = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < last, f"not within {patience:g} s: {what}"
        time.sleep(0.05)


def _stat(process: int) -> list[str]:
    """What Linux says of a process, from its state on."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _age(process: int) -> int:
    return int((_stat(process) or ["0"] * 20)[19])


def _command(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""
