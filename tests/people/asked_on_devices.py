"""How many people would say yes, where each device randomises the answer: a local mechanism of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from pydantic import Field

from confide.campaign.kinds import DeviceKind, MechanismPlan, PeoplesTables, RehearsalTable
from confide.contract import Billboard, Guarantees, Keys, Mechanism, Privacy, Relation, Source
from confide.contract.guarantees import Audience
from confide.privacy import PureDP, randomized_response
from confide.privacy.events import PureEvent
from confide.tables import Category

TEMPLATE = """\
format = 1
kind = "on-devices"
title = "Did you ever?"

[budget]
data_set = "those asked"
epsilon = 2.0

[people]
count = 40
id = "id"

[data]
source = "reports.csv"

[privacy]
epsilon = 1.0
"""
LEVELS = ("no", "yes")


@dataclass(frozen=True, kw_only=True, eq=False)
class Said(Billboard):
    """How many reports say no, and how many yes."""

    answer: tuple[str, ...]
    reports: np.ndarray


@dataclass(frozen=True, kw_only=True)
class OnDevices(Mechanism):
    """Reports are counted as they come."""

    people: int
    epsilon: float

    def guarantees(self) -> Guarantees:
        law = Source(document="Warner 1965", statement="randomised response")
        return Guarantees((Privacy(source=law, loss=PureDP(self.epsilon), neighbours=Relation.REPLACE,
                                   audience=Audience.COLLECTOR),))

    def events(self) -> tuple[PureEvent, ...]:
        return (PureEvent(epsilon=self.epsilon, neighbours=Relation.REPLACE, label="reports"),)

    def submit(self, private: Any, offer: Any = None, noise: Any = None) -> int | None:
        if private is None:
            return None
        return int(randomized_response(private.astype(int), self.epsilon, noise, stream="report")[0])

    def run(self, data: Any, noise: Any) -> Any:
        report = np.full(self.people, -1)
        for batch in data:
            report[batch.index] = batch.cells[:, 0]
        board = Said(answer=LEVELS, reports=np.bincount(report[report >= 0], minlength=2))
        shares = [self.decode(None if k < 0 else np.array([k]), i, board) for i, k in enumerate(report)]
        return self._outcome(noise, billboard=board, shares=pa.Table.from_pylist(shares))

    def decode(self, record: Any, index: int, billboard: Any) -> Mapping[str, Any]:
        return {"same_report": 0 if record is None else int(billboard.reports[int(record[0])])}


class Spent(Keys):
    epsilon: float = Field(gt=0)


class Tables(PeoplesTables):
    privacy: Spent
    rehearsal: RehearsalTable | None = None


class OnDevicesKind(DeviceKind):
    """Count randomised reports."""

    name = "on-devices"
    summary = "how many say yes, randomised on their devices"
    template = TEMPLATE
    config = Tables
    types: ClassVar = {each.__name__: each for each in (OnDevices, Said)}

    def columns(self, config: Tables) -> tuple[Category]:
        return (Category(column="report", levels=LEVELS),)

    def question(self, config: Tables) -> str:
        return "Did you ever?"

    def plan(self, config: Tables) -> MechanismPlan:
        it = OnDevices(people=config.people.count, epsilon=config.privacy.epsilon)
        return MechanismPlan(config=config, mechanism=it, roles=self.columns(config),
                             share="how many reported as you did")


KIND = OnDevicesKind()
