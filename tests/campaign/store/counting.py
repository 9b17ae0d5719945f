"""A kind of campaign for tests of the store: a sum and a number drawn anew by each run, settled in milliseconds.

It keeps no promise of privacy. Its noise on the sum is nearly always 0, so that a billboard tells whose records a run
took; its second number never comes twice, so that two runs never publish the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from confide.campaign import Campaign
from confide.contract import kinds
from confide.contract.asked import Field
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Audience, Guarantees, Privacy, Relation, Source
from confide.contract.kinds import Check, Collection
from confide.contract.mechanism import Mechanism
from confide.contract.outcome import Billboard
from confide.contract.payout_terms import PayoutTerms
from confide.contract.presentation import Section, Text
from confide.privacy.events import PureEvent
from confide.privacy.losses import PureDP
from confide.privacy.primitives import add_discrete_laplace

__all__ = ["DEPOSIT", "KIND", "Counting", "CountingCodec", "Sum", "entries", "name", "report", "slot_of", "write"]

DEPOSIT = 3
"""In cents; no payment is below -2."""

Batch = tuple[np.ndarray, np.ndarray]
"""(slots, values)"""


@dataclass(frozen=True, kw_only=True, eq=False)
class Sum(Billboard):
    """The sum of all values, and a number that no other run draws."""

    total: int
    draw: int


@dataclass(frozen=True, kw_only=True)
class Counting(Mechanism):
    """Adds up one whole number per person."""

    people: int
    epsilon: float

    def guarantees(self) -> Guarantees:
        return Guarantees((Privacy(source=Source(document="confide", statement="a stand-in"),
                                   neighbours=Relation.REPLACE,
                                   loss=PureDP(self.epsilon), audience=Audience.PUBLIC),))

    def events(self) -> Sequence[PureEvent]:
        return (PureEvent(
                                   neighbours=Relation.REPLACE, epsilon=self.epsilon, label="sum"),)

    def run(self, data: Any, noise: Any) -> Any:
        records = {int(slot): int(value) for slots, values in data
                   for slot, value in zip(slots, values, strict=True)}
        # As if next to nothing moved it: a sum whose noise is nearly always 0 keeps no promise.
        total = add_discrete_laplace(noise, [sum(records.values())], noise_scale=1 / 64, stream="sum",
                                     l1_sensitivity=Fraction(self.epsilon) / 128)
        draw = add_discrete_laplace(noise, [0], noise_scale=2.0**50, l1_sensitivity=0, stream="draw")
        board = Sum(total=int(total[0]), draw=int(draw[0]))
        shares = [self.decode(records.get(slot), slot, board)["payment"] for slot in range(self.people)]
        return self._outcome(noise, billboard=board, shares=pa.table({"payment": pa.array(shares, pa.int64())}))

    def decode(self, record: Any, index: int, billboard: Any) -> Mapping[str, Any]:
        return {"payment": 0 if record is None else int(record) % 7 - 2 + billboard.draw % 3}


@dataclass(frozen=True, kw_only=True)
class CountingPlan:
    """What the file says."""

    mechanism: Counting

    @property
    def guarantees(self) -> Guarantees:
        return self.mechanism.guarantees()

    def sections(self) -> Sequence[Section]:
        return (Section(title="Plan", blocks=(Text((f"{self.mechanism.people} people",)),)),)

    def offer(self) -> Sequence[Section]:
        return ()

    def to_dict(self) -> dict[str, Any]:
        return {"people": self.mechanism.people}


class CountingConfig(BaseModel):
    """The kind's keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    people: int
    epsilon: float
    source: str


class CountingCodec:
    """A value as eight bytes."""

    def pack(self, batch: Batch) -> tuple[np.ndarray, list[bytes]]:
        return batch[0], [report(value) for value in batch[1].tolist()]

    def unpack(self, slots: np.ndarray, reports: Sequence[bytes]) -> Batch:
        return slots, np.array([int.from_bytes(each, "big", signed=True) for each in reports], dtype=np.int64)


def name(slot: int) -> str:
    """The id of a slot."""
    return f"person-{slot + 1}"


def slot_of(identity: str) -> int:
    """The slot of an id."""
    return int(identity.removeprefix("person-")) - 1


def report(value: int) -> bytes:
    """The report of a value."""
    return value.to_bytes(8, "big", signed=True)


class CountingKind:
    """Adds up whole numbers from a file of `id,value`; ids are person-1, person-2, ..."""

    name = "counting"
    summary = "a stand-in for tests"
    template = ""
    config = CountingConfig
    types: Mapping[str, type] = {"Counting": Counting, "Sum": Sum}
    rows = 2
    """Of one batch of a collection."""

    def plan(self, config: CountingConfig) -> CountingPlan:
        return CountingPlan(mechanism=Counting(people=config.people, epsilon=config.epsilon))

    def files(self, config: CountingConfig) -> Sequence[tuple[str, str]]:
        return [("source", config.source)]

    def asked(self, config: CountingConfig, plan: CountingPlan) -> Sequence[Field]:
        return [Field(column="value", label="value", form="number", whole=True)]

    def identities(self, config: CountingConfig) -> Sequence[str]:
        return [name(slot) for slot in range(config.people)]

    def codec(self, plan: CountingPlan) -> CountingCodec:
        return CountingCodec()

    def payouts(self, plan: CountingPlan) -> PayoutTerms:
        return PayoutTerms(column="payment", currency="EUR", minor_units=100, highest=6, deposit=DEPOSIT)

    def collect(self, config: CountingConfig, plan: CountingPlan, folder: Path, progress: Any = None) -> Collection:
        found = list(self._lines(config, folder))
        batches = [found[start : start + self.rows] for start in range(0, len(found), self.rows)]
        data = [(np.array([slot for slot, _ in batch], dtype=np.int64),
                 np.array([value for _, value in batch], dtype=np.int64)) for batch in batches]
        return Collection(data=data, rejected={})

    def _lines(self, config: CountingConfig, folder: Path) -> Iterator[tuple[int, int]]:
        for line in (folder / config.source).read_text().split()[1:]:
            identity, value = line.split(",")
            yield slot_of(identity), int(value)

    def check(self, config: CountingConfig, plan: CountingPlan, folder: Path, progress: Any = None) -> Check:
        rows = len(list(self._lines(config, folder)))
        return Check(slots=config.people, rows=rows, usable=rows, rejected={}, tolerated=0)

    def record(self, config: CountingConfig, plan: CountingPlan, folder: Path, identity: str) -> tuple[Any, int]:
        slot = slot_of(identity)
        return dict(self._lines(config, folder)).get(slot), slot

    def parse_record(
        self, config: CountingConfig, plan: CountingPlan, identity: str, values: Mapping[str, str]
    ) -> tuple[Any, int]:
        if set(values) != {"value"}:
            raise InvalidInput("record", "has other columns", "must be value")
        return int(values["value"]), slot_of(identity)

    def submission(
        self, config: CountingConfig, plan: CountingPlan, identity: str, values: Mapping[str, str]
    ) -> tuple[int, bytes]:
        value, slot = self.parse_record(config, plan, identity, values)
        return slot, report(value)

    def result(self, plan: CountingPlan, outcome: Any) -> Sequence[Section]:
        return (Section(title="Result", blocks=(Text((str(outcome.billboard.total),)),)),)

    def tables(self, plan: CountingPlan, outcome: Any) -> Mapping[str, pa.Table]:
        return {"sum": pa.table({"total": [outcome.billboard.total], "draw": [outcome.billboard.draw]})}

    def explain(self, plan: CountingPlan, outcome: Any, record: Any, index: int) -> Sequence[Section]:
        share = plan.mechanism.decode(record, index, outcome.billboard)
        return (Section(title="Share", blocks=(Text((str(share),)),)),)

    def study(self, plan: CountingPlan, collection: Collection, outcome: Any) -> Sequence[Section]:
        return ()

    def audit(self, plan: CountingPlan, seed: int, progress: Any = None) -> Any:
        return None


for stand_in in (Counting, CountingKind):  # for a mechanism of confide's: the noise of others is kept in a journal
    stand_in.__module__ = "confide.counting"

KIND = CountingKind()


def entries() -> dict[str, Any]:
    """The installed kinds and this one."""
    return {**kinds._entries(), KIND.name: SimpleNamespace(load=lambda: KIND)}


def write(
    folder: Path, answers: Mapping[int, int], *, people: int = 6, file: str = "town", epsilon: str = "1.0",
    budget: str = "2.0", data_set: str = "town", title: str = "How much in all?", extra: str = "",
) -> Campaign:
    """Write a campaign and its answers.

    Args:
        folder: where.
        answers: slot -> value, of the file that the campaign names.
        people: invited slots.
        file: name of the campaign file.
        epsilon: of one run, as the file has it.
        budget: epsilon of the data set and of each subject.
        data_set: name in the ledger.
        title: of the campaign; another title is another campaign.
        extra: lines of the budget's table.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["id,value", *(f"{name(slot)},{value}" for slot, value in answers.items())]
    (folder / f"{file}.csv").write_text("\n".join(lines) + "\n")
    (folder / f"{file}.toml").write_text(
        f'format = 1\nkind = "counting"\ntitle = "{title}"\npeople = {people}\nepsilon = {epsilon}\n'
        f'source = "{file}.csv"\n\n[budget]\ndata_set = "{data_set}"\nepsilon = {budget}\n{extra}')
    return Campaign.load(folder / f"{file}.toml")
