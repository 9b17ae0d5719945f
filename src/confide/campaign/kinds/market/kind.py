"""The common part of the kinds `bits`, `bits-pair` and `bits-unknown-costs`: reading and storing reports, results,
participants' payments, and the rehearsal.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from confide import market
from confide.campaign.kinds.device_kind import ANSWER, DeviceKind, Played
from confide.campaign.kinds.market.plan import BitConfig, BitPlan
from confide.campaign.kinds.peoples_kind import absent, own_values
from confide.campaign.kinds.skeleton import (
    KindSkeleton,
    no_rehearsal,
)
from confide.contract.asked import Field
from confide.contract.errors import InvalidInput
from confide.contract.kinds import Collection, Progress, Trial, by_slots
from confide.contract.payout_terms import PayoutTerms
from confide.contract.wire import wire_types
from confide.market.collection import BitCodec, BitCollection, Reports, read_reports
from confide.market.strategies import NONE
from confide.privacy.noise import Noise
from confide.tables import Category, Roster, TableSource, open_table
from confide.tables.column_rows import field_of

__all__ = ["BitKind"]

_STORED = ("BitBillboard", "BitCollection", "ExponentialCost", "ExponentialLaw", "GammaLaw", "HistogramLaw",
           "LinearCost", "LogNormalLaw", "MajorityMarket", "MixtureLaw", "NoPurchase", "PairMarket", "PairPrior",
           "PowerCost", "SumCost", "ThresholdMarket", "UniformLaw")


class BitKind(KindSkeleton, DeviceKind, ABC):
    """The base class of the kinds that buy one randomised bit from each participant."""

    summary: ClassVar[str]
    config: type[Any]
    runs = BitCollection
    part = "collection"
    # One mechanism serves three markets: a reader of its outcomes may meet any of them.
    types: ClassVar[Mapping[str, type]] = wire_types(*(getattr(market, name) for name in _STORED))

    @abstractmethod
    def plan(self, config: Any) -> BitPlan: ...

    @abstractmethod
    def audit(self, plan: BitPlan, seed: int, progress: Progress | None = None) -> Any: ...

    def codec(self, plan: BitPlan) -> BitCodec:
        """The codec that stores a report in three bytes: one byte for the report, and two bytes for the participant's
        group.
        """
        return BitCodec()

    def payouts(self, plan: BitPlan) -> PayoutTerms:
        """The terms of the payouts. A payment may be negative. The participant's deposit is returned together with the
        payment, so no payout is negative.
        """
        collection = plan.collection
        return PayoutTerms(column="payment", currency=collection.currency, minor_units=collection.minor_units,
                           highest=plan.highest, deposit=plan.deposit)

    def files(self, config: BitConfig) -> Sequence[tuple[str, str]]:
        """The files that the campaign file names, as pairs (key, path): the reports, and the true answers for a
        rehearsal.
        """
        played = [] if config.rehearsal is None else [("rehearsal.source", config.rehearsal.source)]
        return [("data.source", config.data.source), *played]

    # ---- records

    def read(
        self, config: BitConfig, plan: BitPlan, source: TableSource, *, roster: Roster, rejected: dict[str, str],
        counted: list[int], rows: int | None = None,
    ) -> Iterator[Reports]:
        return read_reports(source, bit=config.role(), group=config.group(), roster=roster, id=config.people.id,
                            rejected=rejected, counted=counted, rows=rows)

    def typed(self, config: BitConfig, plan: BitPlan, index: int, values: Mapping[str, str]) -> Reports:
        """A batch of one row, with the report and the group that one participant types. An empty report becomes `NONE`,
        the value of a missing report.
        """
        group = config.group()
        roles = [config.role(), *([] if group is None else [group])]
        unknown = sorted(values.keys() - {role.column for role in roles})
        if unknown:
            raise InvalidInput("record", f"{unknown[0]!r} is not a column of this campaign",
                               f"columns: {', '.join(role.column for role in roles)}")
        found = []
        for role in roles:
            if role is roles[0] and values.get(role.column) == "":
                found.append(NONE)  # they took no part
                continue
            rank, problem = role.encode_one(values.get(role.column))
            if problem:
                raise InvalidInput("record", problem)
            found.append(rank)
        return Reports(np.array([index]), np.array(found[:1], np.uint8), np.array(found[1:] or [0]))

    def one(self, plan: BitPlan, batch: Reports, place: int) -> tuple[int, int]:
        return int(batch.report[place]), int(batch.group[place])

    def submission(
        self, config: BitConfig, plan: BitPlan, identity: str, values: Mapping[str, str]
    ) -> tuple[int, bytes]:
        """The participant's position in the public list of ids, from 0, and the bytes of their report. The values are
        the row that the participant's device made and the participant's group, which the operator knows.
        """
        roster = self.roster(config)
        index = roster.rank(identity)
        batch = self.typed(config, plan, index, own_values(values, self._id(config), roster.identity(index)))
        if batch.report[0] == NONE:
            raise absent()
        (slot,), (report,) = self.codec(plan).pack(batch)
        return int(slot), report

    # ---- the participant's side

    def private(self, config: BitConfig, plan: BitPlan, values: Mapping[str, str]) -> tuple[Any, float]:
        """A pair: the input of the participant's device, and the epsilon, in nats, that a report costs. The pair is
        (None, 0) for a participant who takes no part.
        """
        unknown = sorted(values.keys() - {ANSWER, *self._own(config)})
        if unknown:
            raise InvalidInput("record", f"{unknown[0]!r} is not asked for in this campaign",
                               f"give {', '.join([ANSWER, *self._own(config)])}: give the true answer, not the report")
        if not str(values.get(ANSWER, "")).strip():
            return None, 0.0
        bit, problem = Category(column=ANSWER, levels=config.role().levels).encode_one(values[ANSWER])
        if problem:
            raise InvalidInput("record", problem)
        worth = self._worth(values)
        level = float(plan.market.level_of(worth))
        return (None, 0.0) if math.isnan(level) else ((bit, worth), level)

    def question(self, config: BitConfig) -> str:
        """The question to participants."""
        return config.bit.question

    def known(self, config: BitConfig, plan: BitPlan) -> Sequence[Field]:
        """The field for the participant's group of peers, which the operator fills in; no field where there are no
        groups.
        """
        group = config.group()
        return [] if group is None else [field_of(group, note="The operator knows the group of each invited person.")]

    def trials(self, config: Any, plan: Any) -> Iterable[Trial]:
        """No trials, since the mechanisms that confide ships have tests of their own."""
        return ()

    def _role(self, config: Any) -> Category:
        role: Category = config.role()
        return role

    def level(self, plan: BitPlan) -> float:
        """The largest epsilon that one report costs, in nats."""
        return float(plan.market.largest_level)

    def _own(self, config: BitConfig) -> tuple[str, ...]:
        """Names of further private values that the participant's device needs and never sends."""
        return ()

    def _worth(self, values: Mapping[str, str]) -> float | None:
        """The participant's value of a nat of privacy; None where the market does not depend on it."""
        return None

    def row(self, config: BitConfig, identity: str, report: int | None) -> dict[str, str]:
        """The row that the participant hands in: their id and report. The operator's file also has the participant's
        group, which the operator knows.
        """
        return super().row(config, str(identity), None if report in (None, NONE) else report)

    def rows(self, config: BitConfig, data: Any) -> Sequence[dict[str, str]]:
        """The rows that all participants of a rehearsal hand in, with their groups. In a campaign without ids, the rows
        have the order of the public list, with an empty row for each person who takes no part.
        """
        group, played, found = config.group(), data.reports, dict[int, dict[str, str]]()
        columns = (each.tolist() for each in (played.index, played.report, played.group))
        for index, report, peers in zip(*columns, strict=True):
            own = {} if group is None else {group.column: group.levels[peers]}
            found[index] = {**self.row(config, str(index + 1), report), **own}
        if config.people.id == "row":
            empty = {} if group is None else {group.column: ""}
            return [found.get(k) or {**self.row(config, str(k + 1), NONE), **empty} for k in range(config.people.count)]
        return [found[index] for index in sorted(found)]

    # ---- rehearsal

    def rehearse(
        self, config: BitConfig, plan: BitPlan, folder: Path, noise: Noise, progress: Progress | None = None
    ) -> Collection:
        """Draw the reports of all participants from true answers that are public already.

        Returns:
            A collection whose `data` is `Played`.

        Raises:
            Refused: the campaign file names no public answers.
        """
        table = config.rehearsal
        if table is None:
            raise no_rehearsal()
        source = open_table(table.source, folder=folder)
        if progress is not None:
            source = source.watched(by_slots(progress, config.people.count))
        rejected = dict[str, str]()
        parts = list(read_reports(
            source, bit=table.role(config.bit), group=config.group(), roster=self.roster(config),
            id=config.people.id if table.id is None else table.id, rejected=rejected, counted=[]))
        truth = Reports(*(np.concatenate([getattr(part, name) for part in parts])
                          for name in ("index", "report", "group")))
        report = self._drawn(plan, truth.report, noise).astype(np.uint8)
        there = report != NONE
        reports = Reports(truth.index[there], report[there], truth.group[there])
        return Collection(data=Played(truth=truth, reports=reports), rejected=rejected)

    @abstractmethod
    def _drawn(self, plan: BitPlan, bits: np.ndarray, noise: Noise) -> np.ndarray:
        """One report for each bit, drawn as in the market's equilibrium."""
