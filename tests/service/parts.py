"""The service's parts over one store, without any web server; and people who fill in whatever form they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from confide.campaign import Home, Store
from confide.contract.asked import Field
from confide.service.access import Invitations, Operators, Participant, Role, Sessions
from confide.service.work import CampaignRounds, Drafts, Intake, Jobs, Opened, ParticipantActions, Task, Worker
from people.device_follower import row_of

PASSWORD = "correct horse battery"


class Clock:
    """Seconds since 1970, as a test wants them."""

    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Parts:
    """Everything that a process of the service has.

    Args:
        store: of the installation.
        data: the data folder.
    """

    store: Store
    data: Path

    def __post_init__(self) -> None:
        self.operators, self.sessions = Operators(self.store), Sessions(self.store)
        self.invitations = Invitations(self.store)
        self.drafts, self.opened, self.jobs = Drafts(self.store, self.data), Opened(self.store), Jobs(self.store)
        self.intake, self.rounds = Intake(self.store), CampaignRounds(self.store)
        self.participation = ParticipantActions(self.store, self.opened, self.intake)
        self.worker = Worker(self.store, self.opened, self.jobs, "worker")
        known = self.operators.all()
        self.operator = known[0] if known else self.operators.add("ada", PASSWORD, Role.ADMIN)

    @classmethod
    def at(cls, folder: Path, url: str | None = None) -> Self:
        """In an installation of its own."""
        home = Home(folder / "home")
        (folder / "data").mkdir(exist_ok=True)
        return cls(Store(home.url if url is None else url, home=home), folder / "data")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.intake.close()
        self.store.close()

    def open(self, text: str) -> int:
        """A campaign with this text; its number."""
        return self.drafts.open(self.drafts.new(text, self.operator.number).number).number

    def join(self, campaign: int, slots: Sequence[int]) -> list[Participant]:
        """People who join with the codes that they were sent."""
        found = [self.invitations.join(code) for _, code in self.invitations.invite(campaign, slots)]
        assert None not in found
        return [each[1] for each in found if each is not None]

    def do(self, campaign: int, task: Task) -> Any:
        """Ask for a job, and have it done."""
        self.jobs.ask(campaign, task)
        assert self.worker.once()
        return self.jobs.of(campaign, task)


def filled(form: Sequence[Field], turn: int = 0) -> dict[str, str]:
    """What somebody types into a form: an allowed value of each field."""
    return {field.column: _value(field, turn) for field in form}


def _value(field: Field, turn: int) -> str:
    if field.form == "choice":
        return field.choices[turn % len(field.choices)]
    if field.form == "text":
        return ""
    low = field.lowest if field.lowest is not None else field.above if field.above is not None else 0.0
    high = field.highest if field.highest is not None else low + 1.0
    for part in (0.125, 0.25, 0.5, 0.75, 1.0, 0.0):
        text = f"{round(low + part * (high - low))}" if field.whole else f"{low + part * (high - low):.6g}"
        if not field.problem(text):
            return text
    raise AssertionError(field)


def sent(instructions: Mapping[str, Any] | None, typed: dict[str, str], drawn: int = 1) -> dict[str, str]:
    """What leaves the device of whoever typed this."""
    return typed if instructions is None else row_of(instructions, typed, drawn)
