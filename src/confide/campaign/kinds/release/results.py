"""What a settled release says: its answers, how far each may be off, and its synthetic rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.contract.errors import InvalidInput
from confide.contract.mechanism import Mechanism
from confide.contract.outcome import Billboard, Certificate, Outcome, PublicOutcome, SimulatedOutcome
from confide.contract.wire import wire_types
from confide.privacy.noise.simulated import study_generator
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
from confide.release.measured_sums import noise_bar
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

__all__ = ["LEVEL", "TYPES", "AnyOutcome", "Bars", "bars", "released_answers", "synthetic_rows", "uncut_answers"]

B = TypeVar("B", bound=Billboard)

AnyOutcome = Outcome | PublicOutcome | SimulatedOutcome

LEVEL = 0.95
"""With which probability a bar of a result covers what it says."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Bars:
    """How far answers may be from the truth about these n records.

    Args:
        each: (k,) of each answer, as a fraction of the records; NaN where nothing is known of it.
        covers: what a bar covers, and with which probability; empty where there is none.
        single: whether each bar holds by itself with that probability, and not all of them at once.
        together: of all answers at once, a union over them; infinite where nothing says so.
        together_covers: the same of that one.
    """

    each: NDArray[np.float64]
    covers: str
    single: bool
    together: float
    together_covers: str


def released_answers(outcome: AnyOutcome, workload: Workload) -> NDArray[np.float64]:
    """(k,) fractions in [0, 1]."""
    board: Any = outcome.billboard
    return np.clip(np.asarray(board.answers(workload), dtype=np.float64), 0.0, 1.0)


def uncut_answers(outcome: AnyOutcome, workload: Workload) -> NDArray[np.float64] | None:
    """(k,) the same before they were cut to [0, 1]; None where a synthetic population answers, and nothing is cut."""
    board = outcome.billboard
    return board.uncut(workload) if isinstance(board, NoisyBillboard | IndependentBillboard) else None


def bars(
    mechanism: Mechanism, board: Billboard, certificate: Certificate | None, workload: Workload, *,
    failure_probability: float = 1 - LEVEL,
) -> Bars:
    """The error bars that hold, from public facts and the billboard.

    Args:
        mechanism: that ran.
        board: its billboard.
        certificate: its certificate, which has a failure probability of its own.
        workload: the queries.
        failure_probability: of the bars that are computed here, in (0, 1).
    """
    k, level = len(workload), 1 - failure_probability
    held = f"{level:.10g}" if failure_probability < 0.005 else f"{level:.0%}"
    each, covers, together, said = np.full(k, np.nan), "", math.inf, ""
    match mechanism, certificate:
        case NoisyAnswers(), _:
            each = np.full(k, noise_bar(mechanism, (1,), failure_probability))
            covers = f"the noise of that answer alone, with {held}"
            together, said = mechanism.error(failure_probability), f"the noise of all answers at once, with {held}"
        case DualQuery(), AnswersCertificate() if not certificate.vacuous:
            together = certificate.bound
            said = _all_at_once(certificate)
        case Reweighted(), ReweightedCertificate():
            each[_board(board, ReweightedRecords).chosen] = certificate.measured
            covers = f"the measured answers at once, with {1 - certificate.measured_failure_probability:.0%}"
            if not certificate.vacuous:
                together, said = certificate.bound, _all_at_once(certificate)
        case MarginalFit(), _ if workload.kind == "conjunctions":
            found = _board(board, FittedMarginals).error_bars(workload, failure_probability=failure_probability)
            each = np.where(np.isfinite(found), found, np.nan)
            covers = f"noise and fit of all answers that were measured, at once, with {held}"
        case MWEM(), MWEMCertificate():
            each[_board(board, MWEMBillboard).chosen] = certificate.measured
            covers = f"the measured answers at once, with {1 - certificate.failure_probability:.0%}"
            if not certificate.vacuous:
                together, said = certificate.everywhere, _all_at_once(certificate)
    each[each >= 1.0] = np.nan  # says nothing of a share
    if math.isinf(together) and not isinstance(mechanism, NoisyAnswers) and np.isfinite(each).all():
        together, said = float(each.max()), covers  # the bars of all answers hold at once
    return Bars(each=each, covers=covers, single=isinstance(mechanism, NoisyAnswers), together=together,
                together_covers=said)


def _all_at_once(certificate: AnswersCertificate | ReweightedCertificate | MWEMCertificate) -> str:
    return f"all answers at once, with {1 - certificate.failure_probability:.0%}"


def synthetic_rows(board: Billboard, schema: Schema, count: int) -> pa.Table | None:
    """The synthetic rows of a release; None where it has none.

    DualQuery's records are handed out as they are: more rows would only repeat them.

    Args:
        board: of the release.
        schema: the public columns.
        count: rows, where there can be any number of them.
    """
    match board:
        case SyntheticRecords():
            table = board.rows(schema)
            # Nobody reads the last digits, and another computer may differ in them.
            return table if board.even else table.append_column(
                _weight(schema), pa.array(np.round(board.weights, 12)))
        case MWEMBillboard():
            return _shuffled(board.rows(schema, count))
        case FittedMarginals():
            return _shuffled(board.rows(count))
    return None


def _shuffled(table: pa.Table) -> pa.Table:
    """In a public order that goes with no column: the first thousand rows are as good as any."""
    return table.take(pa.array(study_generator(0, "rows").permutation(table.num_rows)))


def _weight(schema: Schema) -> str:
    """A name for the weights that no column has."""
    taken = {column.column for column in schema.columns}
    name = "weight"
    while name in taken:
        name += "_"
    return name


def _board(board: Billboard, kind: type[B]) -> B:
    if not isinstance(board, kind):
        raise InvalidInput("billboard", f"{type(board).__name__} is no {kind.__name__}")
    return board


TYPES: Mapping[str, type] = wire_types(
    AllZeros, AnswersCertificate, Binned, Bit, DualQuery, Enumeration, FittedMarginals,
    FittedMarginalsCertificate, FixedBillboard, IndependentBillboard, IndependentMarginals, IntegerProgram, Levels,
    LocalSearch, MWEM, MWEMBillboard, MWEMCertificate, MarginalFit, MeasuredTables, MostDrawn,
    NoisyAnswers, NoisyBillboard, PackedBits, Reweighted, ReweightedCertificate, ReweightedRecords, Rounds, Schema,
    SyntheticRecords, Uniform, Workload)
