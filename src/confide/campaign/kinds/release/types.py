"""What an outcome of this family's mechanisms may hold: the only types that are rebuilt from a stranger's manifest."""

from __future__ import annotations

from collections.abc import Mapping

from confide.contract.wire import wire_types
from confide.release.baselines import (
    AllZeros,
    FixedBillboard,
    IndependentBillboard,
    IndependentMarginals,
    NoisyAnswers,
    NoisyBillboard,
    Uniform,
)
from confide.release.certificate import AnswersCertificate
from confide.release.columns import Binned, Bit, Levels
from confide.release.dual_query import DualQuery
from confide.release.marginal_fit import FittedMarginals, FittedMarginalsCertificate, MarginalFit, MeasuredTables
from confide.release.mwem import MWEM, MWEMBillboard, MWEMCertificate
from confide.release.oracle.enumeration import Enumeration
from confide.release.oracle.integer_program import IntegerProgram
from confide.release.oracle.local_search import LocalSearch
from confide.release.packed import PackedBits
from confide.release.reweighted import Reweighted, ReweightedCertificate, ReweightedRecords
from confide.release.schema import Schema
from confide.release.selection_rules import MostDrawn
from confide.release.synthetic import Rounds, SyntheticRecords
from confide.release.workload import Workload

__all__ = ["TYPES"]

TYPES: Mapping[str, type] = wire_types(
    AllZeros, AnswersCertificate, Binned, Bit, DualQuery, Enumeration, FittedMarginals,
    FittedMarginalsCertificate, FixedBillboard, IndependentBillboard, IndependentMarginals, IntegerProgram, Levels,
    LocalSearch, MWEM, MWEMBillboard, MWEMCertificate, MarginalFit, MeasuredTables, MostDrawn,
    NoisyAnswers, NoisyBillboard, PackedBits, Reweighted, ReweightedCertificate, ReweightedRecords, Rounds, Schema,
    SyntheticRecords, Uniform, Workload)
