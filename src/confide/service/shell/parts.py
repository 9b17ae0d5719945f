"""The parts of a service process, such as the store and the sessions. The parts are made once, and closed with the
process.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from threading import Event, Thread
from typing import TYPE_CHECKING

from confide.campaign.store import Store
from confide.campaign.store.home import Home
from confide.contract.errors import ConfideError, StoreFailed
from confide.service.access import Attempts, Invitations, Logins, Operators, Sessions, new_code
from confide.service.shell.settings import Settings
from confide.service.work import CampaignRounds, Drafts, Intake, Jobs, Opened, ParticipantActions, Worker
from confide.service.work.replays import Replays

if TYPE_CHECKING:
    from confide.service.access.provider import Provider

__all__ = ["PROVIDER_BACK", "Parts", "worker_name"]

PROVIDER_BACK = "/login/provider/answer"
"""The path of this service to which an identity provider sends people back."""


_SWEEP = 60.0  # seconds between two sweeps: who has tried to come in is forgotten within minutes
_AHEAD = 5.0  # seconds between two looks for campaigns that were opened elsewhere
_GRACE = 10.0  # seconds that a job may go on when the process ends; another worker resumes it


@dataclass(eq=False)
class Parts:
    """All parts of a process.

    Args:
        settings: settings of the service.
    """

    settings: Settings

    def __post_init__(self) -> None:
        settings = self.settings
        home = Home.default() if settings.home is None else Home(settings.home.absolute())
        self.provider = _provider(settings)
        self.store = Store(settings.store, home=home)
        self.operators, self.attempts = Operators(self.store), Attempts(self.store)
        self.sessions = Sessions(self.store, hours=settings.session_hours, days=settings.participant_days)
        self.invitations, self.logins = Invitations(self.store), Logins(self.store)
        self.drafts = Drafts(self.store, settings.data, most_people=settings.most_people)
        self.opened = Opened(self.store)
        self.jobs, self.rounds, self.replays = Jobs(self.store), CampaignRounds(self.store), Replays(self.store)
        self.intake = Intake(self.store)
        self.participation = ParticipantActions(self.store, self.opened, self.intake)
        self._stop, self._looked = Event(), Event()
        self._threads: list[Thread] = []
        self._worker: Thread | None = None

    def start(self) -> None:
        """Start the threads that do jobs, delete expired sessions, log-ins, counts and answers, and read newly opened
        campaigns. Also delete the files that dead processes have left.
        """
        self.rounds.sweep()
        with suppress(ImportError):  # pyarrow imports it when first needed: two threads at once would meet half of it
            import_module("pandas")
        runs = [self._sweep, self._look_ahead]
        if self.settings.settling:
            name = worker_name()
            runs.append(lambda: Worker(self.store, self.opened, self.jobs, name).run(self._stop))
        self._threads = [Thread(target=run, daemon=True) for run in runs]
        self._worker = self._threads[-1] if self.settings.settling else None
        for thread in self._threads:
            thread.start()
        self._looked.wait(_GRACE)  # the first caller need not wait for what everybody needs

    @property
    def working(self) -> bool:
        """Whether the worker of this process runs; also true if this process is not meant to do jobs."""
        return not self.settings.settling or (self._worker is not None and self._worker.is_alive())

    def close(self) -> None:
        """Store received reports, stop working, and release all resources."""
        self._stop.set()
        self.intake.close()
        for thread in self._threads:
            thread.join(_GRACE)
        self.store.close()

    def _look_ahead(self) -> None:
        while not self._stop.is_set():
            with suppress(ConfideError, OSError):  # a request for that campaign reports it
                self.opened.look_ahead()
            self._looked.set()
            self._stop.wait(_AHEAD)

    def _sweep(self) -> None:
        while not self._stop.is_set():
            try:
                for part in (self.sessions, self.logins, self.attempts, self.replays):
                    part.sweep()
            except StoreFailed:  # the next time, then
                pass
            self._stop.wait(_SWEEP)


def worker_name() -> str:
    """A new name that no other worker has. Host names and process numbers do not suffice, because hosts may share a
    name, and processes in containers may share a number.
    """
    return f"{socket.gethostname()}-{os.getpid()}-{new_code()[:9]}"


def _provider(settings: Settings) -> Provider | None:
    """The provider that identifies operators, besides passwords; None if none is set. The provider receives no request
    before a person logs in.
    """
    if settings.oidc is None:
        return None
    from confide.service.access.provider import Provider

    return Provider(issuer=settings.oidc.issuer, client=settings.oidc.client, secret=settings.oidc.secret(),
                    back=settings.base_url + PROVIDER_BACK, seconds=settings.oidc.seconds)
