"""A process that has imported everything and forks children on demand, so that they can be killed by the hundred.

The tests' own process runs threads that may hold a lock when it forks. This one never does anything but to import and
fork; what threads it has are those in which allocators tidy up, and they know of forks. It is a script: a line of JSON
in (a list of jobs, which start together), a line of JSON out (what became of each).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

__all__ = ["Answer", "Nursery"]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What became of a child.

    Args:
        killed: name of the step at which it was killed; empty where it lived.
        error: type and text of the exception that ended it; empty where there was none.
        value: what it returned.
    """

    killed: str = ""
    error: str = ""
    value: Any = None


class Nursery:
    """Children that run jobs of `JOBS`, each in a process of its own."""

    def __init__(self) -> None:
        paths = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
        self._process = subprocess.Popen([sys.executable, "-W", "ignore::DeprecationWarning", __file__], text=True,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         env={**os.environ, "PYTHONPATH": paths})
        if self._read() != "ready":
            raise RuntimeError("the nursery did not start")

    def run(self, *jobs: Mapping[str, Any]) -> list[Answer]:
        """Run jobs at once; each names what to `do`, its other keys are arguments."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(jobs) + "\n")
        self._process.stdin.flush()
        return [Answer(**each) for each in self._read()]

    def _read(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the nursery ended with {self._process.wait()}")
        return json.loads(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._process.communicate()


# ---- in the nursery


def settle(
    report: Callable[[str], None], campaign: str, url: str, home: str, out: str, kill: int | None = None
) -> dict[str, Any]:
    """Settle a campaign, and be killed at a step.

    Args:
        tell: called with the step's name before the kill.
        campaign: its file.
        url: of the store.
        home: the installation.
        out: folder of the pack.
        kill: at which step, from 1.
    """
    from campaign.store.faults import Steps, counted
    from confide.campaign import Campaign, Home, Store

    def die(name: str) -> None:
        report(name)
        os.kill(os.getpid(), signal.SIGKILL)

    os.environ["CONFIDE_HOME"] = home
    with counted(Steps(kill, die)) as steps, Store(url, home=Home(Path(home))) as store:
        done = Campaign.load(campaign).settle(out, store=store)
    return {"steps": steps.names, "fresh": done.fresh, "draw": done.outcome.billboard.draw}  # type: ignore[attr-defined]


def open_store(report: Callable[[str], None], url: str, home: str) -> str:
    """Open a store, whether it is there or not."""
    from confide.campaign import Home, Store

    with Store(url, home=Home(Path(home))) as store:
        return store.home.fingerprint


JOBS: dict[str, Callable[..., Any]] = {"settle": settle, "open": open_store}


def _prepare() -> None:
    """Import whatever a child needs, by settling once."""
    from campaign.store import counting
    from confide.contract import kinds

    found = counting.entries()
    kinds._entries = lambda: found
    with suppress(ImportError):
        import sqlalchemy.dialects.postgresql.psycopg  # noqa: F401
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        campaign = counting.write(folder, {0: 1})
        settle(lambda _: None, str(campaign.file.path), f"sqlite:///{folder}/store.db", str(folder / "home"),
               str(folder / "out"))


def _serve() -> None:
    _prepare()
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        print(json.dumps(_run(json.loads(line))), flush=True)


def _run(jobs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    barrier, starter = os.pipe()
    children = []
    for job in jobs:
        answer, says = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(starter)
            _live(job, barrier, says)
        os.close(says)
        children.append((child, answer))
    os.close(barrier)
    os.close(starter)  # all begin
    return [_awaited(child, answer) for child, answer in children]


def _live(job: dict[str, Any], barrier: int, says: int) -> None:
    """What a child does. It never returns."""
    def report(**what: Any) -> None:
        os.write(says, json.dumps(what).encode() + b"\n")

    try:
        os.read(barrier, 1)
        report(value=JOBS[job.pop("do")](lambda name: report(killed=name), **job))
    except BaseException as error:  # noqa: BLE001
        report(error=f"{type(error).__name__}: {error}")
    finally:
        os._exit(0)


def _awaited(child: int, answer: int) -> dict[str, Any]:
    with os.fdopen(answer) as file:
        lines = file.read().splitlines()
    _, status = os.waitpid(child, 0)
    said: dict[str, Any] = json.loads(lines[-1]) if lines else {"error": "nothing was said"}
    if os.WIFSIGNALED(status) != ("killed" in said):
        return {"error": f"ended with {status} and said {said}"}
    return said


if __name__ == "__main__":
    _serve()
