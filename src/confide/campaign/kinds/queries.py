"""The kind `queries`: it answers counting queries about a custodian's table. This module connects all steps of a
campaign: the plan of its file, the table, answers, a study, and an audit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from confide.audit import AuditReport
from confide.campaign.kinds.release import pages
from confide.campaign.kinds.release.config import QueriesConfig
from confide.campaign.kinds.release.described import null_record
from confide.campaign.kinds.release.plan import QueriesPlan, plan_of
from confide.campaign.kinds.skeleton import AnyOutcome, KindSkeleton
from confide.contract.asked import CustodiansKind
from confide.contract.file_words import FileWords
from confide.contract.kinds import Check, Collection, Progress, by_slots
from confide.contract.mechanism import Mechanism
from confide.contract.wire import wire_types
from confide.release._dual_fit import MostDrawn
from confide.release.baselines import (
    AllZeros,
    FixedBillboard,
    IndependentBillboard,
    IndependentMarginals,
    NoisyAnswers,
    NoisyBillboard,
    Uniform,
)
from confide.release.columns import Binned, Bit, Levels
from confide.release.dual_query import DualQuery
from confide.release.guarantees import AnswersCertificate
from confide.release.marginal_fit import FittedMarginals, FittedMarginalsCertificate, MarginalFit, MeasuredTables
from confide.release.mwem import MWEM, MWEMBillboard, MWEMCertificate
from confide.release.oracle.integer_program import Enumeration, IntegerProgram
from confide.release.oracle.local_search import LocalSearch
from confide.release.reading import HeldTable
from confide.release.records import PackedBits
from confide.release.results import more_answers, more_rows
from confide.release.reweighted import Reweighted, ReweightedCertificate, ReweightedRecords
from confide.release.schema import Schema
from confide.release.synthetic import Rounds, SyntheticRecords
from confide.release.workload import Workload
from confide.tables.cell_problems import CellProblems, ids_of, judged
from confide.tables.roster import Roster
from confide.tables.sources import open_table

__all__ = ["KIND", "QueriesKind"]


class QueriesKind(KindSkeleton, CustodiansKind):
    """Answer counting queries about a table that a custodian holds, and publish synthetic rows."""

    name = "queries"
    summary = "answer many counting queries about a custodian's table, and publish synthetic rows"
    config = QueriesConfig
    file_words = FileWords(values={"method.free": {"coins": "random"}})
    types: ClassVar[Mapping[str, type]] = wire_types(
        AllZeros, AnswersCertificate, Binned, Bit, DualQuery, Enumeration, FittedMarginals,
        FittedMarginalsCertificate, FixedBillboard, IndependentBillboard, IndependentMarginals, IntegerProgram, Levels,
        LocalSearch, MWEM, MWEMBillboard, MWEMCertificate, MarginalFit, MeasuredTables, MostDrawn,
        NoisyAnswers, NoisyBillboard, PackedBits, Reweighted, ReweightedCertificate, ReweightedRecords, Rounds, Schema,
        SyntheticRecords, Uniform, Workload)
    runs = Mechanism

    def check_new(self, config: QueriesConfig) -> None:
        """Refuse a new campaign file in which a column of whole numbers has more bins than whole numbers between its
        bounds.
        """
        config.check_new()

    def plan(self, config: QueriesConfig) -> QueriesPlan:
        """Choose a method if the campaign file names none, and calibrate the method from the file's public
        parameters.
        """
        return plan_of(config, pages)

    def files(self, config: QueriesConfig) -> Sequence[tuple[str, str]]:
        """The file of the custodian's table, as a list with one pair (key, path)."""
        return [("data.source", config.data.source)]

    def collect(
        self, config: QueriesConfig, plan: QueriesPlan, folder: Path, progress: Progress | None = None
    ) -> Collection:
        """Open the custodian's table and check its columns. The rows are read later, during the run."""
        data = self._held(config, plan, folder, progress)
        return Collection(data=data, rejected=data.rejected)

    @staticmethod
    def _held(
        config: QueriesConfig, plan: QueriesPlan, folder: Path, progress: Progress | None = None,
        problems: CellProblems | None = None,
    ) -> HeldTable:
        source = open_table(config.data.source, folder=folder)
        if progress is not None:
            source = source.watched(by_slots(progress, config.data.records))
        if problems is not None:
            source = problems.of(source)
        data = HeldTable(source=source, schema=plan.schema, records=config.data.records, identity=config.data.id)
        data.check()
        return data

    def check(
        self, config: QueriesConfig, plan: QueriesPlan, folder: Path, progress: Progress | None = None
    ) -> Check:
        """Read the custodian's table once, and return the findings, which are for the custodian alone."""
        problems = CellProblems([*judged(plan.schema.columns), *ids_of(Roster(config.data.records), config.data.id)],
                                examples=True)
        data = self._held(config, plan, folder, progress, problems)
        rows = data.count()
        return Check(slots=config.data.records, rows=rows, usable=rows - len(data.rejected), rejected=data.rejected,
                     tolerated=None, held=True, cells=problems.reported(),
                     missing_as=null_record(plan.schema))

    def more_rows(self, plan: QueriesPlan, outcome: AnyOutcome, count: int) -> pa.Table:
        """A table of `count` synthetic rows, made from the published release alone; the custodian's table is not
        read.
        """
        return more_rows(plan.schema, plan.method, outcome.billboard, count)

    def more_answers(self, plan: QueriesPlan, outcome: AnyOutcome, queries: Sequence[str | Sequence[str]]) -> pa.Table:
        """A table of answers to further queries, computed from the published release alone; the custodian's table is
        not read.
        """
        return more_answers(plan.schema, plan.method, outcome.mechanism, outcome.billboard, queries)

    def audit(self, plan: QueriesPlan, seed: int, progress: Progress | None = None) -> AuditReport:
        from confide.audit import audit
        from confide.release import audited

        known = audited.release(plan.mechanism, plan.schema, plan.workload, loss=plan.loss,
                                predicted=plan.prediction.average, seed=seed)
        return audit(known, progress)


KIND = QueriesKind()
