"""The kind `matching`: it hands at most one good to each participant. This module connects all steps of a campaign: the
plan of its file, records, prices, each participant's own good, a study, and an audit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from confide.allocation.ascending_auction import Rules
from confide.allocation.billboards import AuctionBillboard, Clearing, WelfareCertificate
from confide.allocation.market import Market
from confide.allocation.pmatch import PMatch
from confide.allocation.preflib import PrefLib
from confide.allocation.scales import Ranks
from confide.allocation.sinkhorn_match import ScalingBillboard, SinkhornMatch
from confide.allocation.tables import RowCodec, Rows, judged_cells, read_long, read_wide, typed
from confide.audit import AuditReport
from confide.campaign.kinds import PeoplesKind
from confide.campaign.kinds.allocation import pages
from confide.campaign.kinds.allocation.config import FILE_WORDS, TEMPERATURES, GoodsConfig, MatchingConfig
from confide.campaign.kinds.allocation.plan import GoodsPlan, plan_of
from confide.campaign.kinds.allocation.words import fields_of_goods
from confide.campaign.kinds.skeleton import KindSkeleton
from confide.contract.asked import Field
from confide.contract.errors import InvalidInput
from confide.contract.file_words import FileWords
from confide.contract.kinds import Progress
from confide.contract.outcome import Outcome, SimulatedOutcome
from confide.contract.wire import wire_types
from confide.tables import Roster, TableSource, open_table
from confide.tables.cell_problems import Judged, ids_of

__all__ = ["KIND", "MatchingKind"]


def _open_goods(config: GoodsConfig, folder: Path) -> TableSource | PrefLib:
    """Open the table of submissions, or the file in PrefLib's format, that a campaign names.

    Raises:
        InvalidInput: the file cannot be read.
    """
    data = config.data
    if data.form != "preflib":
        return open_table(data.source, folder=folder)
    if config.people.id != "row":
        raise InvalidInput("people.id", f"{config.people.id!r} is not a column of a PrefLib file",
                           "must be 'row', since the lines of a PrefLib file have no ids")
    path = Path(folder) / Path(data.source).expanduser()
    if not path.is_file():
        raise InvalidInput("data.source", f"{path.resolve()} is not a file")
    file = PrefLib(path=path, goods=config.goods.listed()[0], unlisted=data.unlisted)
    file.alternatives()
    file.check()
    return file


def _read_goods(
    config: GoodsConfig, source: TableSource | PrefLib, roster: Roster, rejected: dict[str, str], counted: list[int],
    rows: int | None = None,
) -> Iterator[Rows]:
    """Read the submissions once, from the result of `_open_goods`.

    Args:
        config: the campaign's tables.
        source: the table, or the file in PrefLib's format.
        roster: the public list of ids.
        rejected: a mapping that receives id -> reason for each rejected row, for the operator alone.
        counted: a list that receives counts of rows. It stays empty if every row is either used or rejected; otherwise
            the counts add up to the number of all rows.
        rows: the largest number of rows in a batch of a wide table.
    """
    scale, data = config.rule(), config.data
    if isinstance(source, PrefLib):
        if not isinstance(scale, Ranks):
            raise InvalidInput("values.scale", "is 'points', but a PrefLib file holds orders", "must be 'ranks'")
        return source.read(scale, roster, rejected, counted)
    if data.form == "long":
        return read_long(source, goods=config.columns(), scale=scale, roster=roster, id=config.people.id,
                         good=data.good, value=data.value, unlisted=data.unlisted, rejected=rejected, counted=counted)
    return read_wide(source, goods=config.columns(), scale=scale, roster=roster, id=config.people.id, rejected=rejected,
                     rows=rows)


def _judged_goods(config: Any) -> list[Judged]:
    """The rules by which the cells of a table of goods are checked."""
    scale, data = config.rule(), config.data
    if data.form == "long":
        return [Judged(column=data.value, judge=partial(judged_cells, data.value, scale=scale))]
    return [Judged(column=name, judge=partial(judged_cells, name, scale=scale)) for name in config.columns()]


def _look_at_lines(source: TableSource, identity: str, good: str, value: str) -> None:
    """Raise `InvalidInput` where a column is missing, or has a type that cannot hold its values."""
    from confide.tables import Measured
    from confide.tables._cells import plain, strings

    if identity == "row":
        return
    for batch in source.batches([identity, good, value], 1):
        Roster(1).index(batch.column(identity), identity)
        strings(good, plain(batch.column(good)))
        Measured(column=value).encode(batch.column(value))
        return


class MatchingKind(KindSkeleton, PeoplesKind):
    """Hand out scarce goods, at most one to each participant, according to the reported values of the goods."""

    name = "matching"
    summary = "hand out scarce goods, at most one to each person, by people's private values"
    config = MatchingConfig
    runs = Market
    part = "market"
    file_words: ClassVar[FileWords] = FILE_WORDS | TEMPERATURES
    types: ClassVar[Mapping[str, type]] = wire_types(
        AuctionBillboard, Clearing, PMatch, Rules, ScalingBillboard, SinkhornMatch, WelfareCertificate)

    def plan(self, config: MatchingConfig) -> GoodsPlan:
        """Calibrate the mechanism from the public parameters of the campaign file."""
        return plan_of(config, pages)

    def codec(self, plan: GoodsPlan) -> RowCodec:
        """The codec that stores a participant's row as bytes: the values of the goods."""
        return RowCodec(len(plan.config.columns()))

    # ---- records

    def asked(self, config: Any, plan: Any) -> Sequence[Field]:
        """Form fields with a number for each good; an empty form gives every good the value 0."""
        return fields_of_goods([(name, name) for name in config.columns()], plan.scale)

    def open(self, config: Any, folder: Path) -> TableSource | PrefLib:
        return _open_goods(config, folder)

    def look(self, config: Any, plan: Any, source: TableSource | PrefLib) -> None:
        if isinstance(source, TableSource) and config.data.form == "long":
            _look_at_lines(source, config.people.id, config.data.good, config.data.value)
        elif isinstance(source, TableSource):
            super().look(config, plan, source)

    def read(
        self, config: Any, plan: Any, source: TableSource | PrefLib, *, roster: Roster, rejected: dict[str, str],
        counted: list[int], rows: int | None = None,
    ) -> Iterator[Rows]:
        for batch in _read_goods(config, source, roster, rejected, counted, rows):
            yield config.usable(batch, rejected)

    def judged(self, config: Any, plan: Any) -> Sequence[Judged]:
        return [*_judged_goods(config), *ids_of(self.roster(config), config.people.id)]

    def typed(self, config: Any, plan: Any, index: int, values: Mapping[str, str]) -> Rows:
        """A batch of one row, coded from the numbers that the participant types, as a row of the file of submissions
        would be.
        """
        row = typed(values, goods=config.columns(), scale=plan.scale)
        places = sorted(row)
        alone = Rows(np.array([index]), np.array([0, len(row)]), np.array(places, dtype=np.int32),
                     np.array([row[place] for place in places], dtype=np.float32))
        if not len(config.usable(alone, {}).index):
            raise InvalidInput("record", config.unusable(), "change the numbers: such a row counts as an empty row")
        return alone

    def retyped(self, config: Any, plan: Any, batch: Rows) -> Mapping[str, str | float]:
        """Mapping from the name of each good to the rank or the points that the participant may have typed for this
        good.
        """
        columns, row, scale = config.columns(), batch.row(0), plan.scale
        if isinstance(scale, Ranks):
            return {columns[place]: 1.0 + sum(other > value for other in row.values()) for place, value in row.items()}
        return {columns[place]: scale.lowest + value * scale.unit for place, value in row.items()}

    def one(self, plan: Any, batch: Rows, place: int) -> Any:
        """One participant's record: a mapping from the index of a good, from 0, to the participant's value of this
        good.
        """
        return batch.row(place)

    # ---- results

    def handout(
        self, plan: GoodsPlan, outcome: Outcome | SimulatedOutcome, identities: Sequence[str]
    ) -> pa.Table:
        """The list of the goods that participants get, with one line for each participant and copy. Where prices are
        charged, a line has the price that the participant owes. Participants who withdrew are not in the list.
        """
        kept = outcome.shares.filter(pc.is_valid(outcome.shares[plan.column]))
        there = pc.indices_nonzero(pc.is_valid(outcome.shares[plan.column])).to_numpy()
        rows = [(identities[index], plan.names[good], share.get("price", 0.0))
                for index, share in zip(there.tolist(), kept.to_pylist(), strict=True)
                for good in plan.goods_of(share)]
        columns = {"id": pa.array([row[0] for row in rows], pa.string()),
                   "good": pa.array([row[1] for row in rows], pa.string())}
        if plan.charges:
            owed = np.array([row[2] for row in rows], dtype=np.float64)
            columns |= {"price": pa.array(owed), "price_points": pa.array(owed * plan.scale.unit)}
        return pa.table(columns)

    def audit(self, plan: GoodsPlan, seed: int, progress: Progress | None = None) -> AuditReport:
        from confide.audit import audit
        from confide.campaign.kinds.allocation.audited import goods  # and its mechanisms that are broken on purpose

        return audit(goods(plan, seed), progress)


KIND = MatchingKind()
