"""The contents of a settled release: its answers with error bars, its synthetic rows, and further answers and rows that
follow from it.

All results in this module are computed from the billboard, the published result. The computation is post-processing,
which costs no privacy, and anybody may repeat it any number of times. For sums of measured answers the distribution of
the noise is known. Further answers from a synthetic population have no error bar.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput, PublicWarning, Refused
from confide.contract.mechanism import Mechanism
from confide.contract.outcome import Billboard, Certificate, Outcome, PublicOutcome, SimulatedOutcome
from confide.contract.words import counted
from confide.privacy.noise.simulated import study_generator
from confide.release.baselines import (
    IndependentBillboard,
    NoisyAnswers,
    NoisyBillboard,
)
from confide.release.dual_query import DualQuery
from confide.release.guarantees import AnswersCertificate
from confide.release.marginal_fit import FittedMarginals, MarginalFit
from confide.release.measured_sums import Sums, noise_bar
from confide.release.mwem import MWEM, MWEMBillboard, MWEMCertificate
from confide.release.reweighted import Reweighted, ReweightedCertificate, ReweightedRecords
from confide.release.schema import Schema, split
from confide.release.synthetic import SyntheticRecords
from confide.release.workload import Workload

__all__ = ["LEVEL", "MOST_QUERIES", "MOST_ROWS", "AnyOutcome", "Bars", "bars", "more_answers", "more_rows",
           "released_answers", "synthetic_rows", "uncut_answers"]

B = TypeVar("B", bound=Billboard)

AnyOutcome = Outcome | PublicOutcome | SimulatedOutcome

LEVEL = 0.95
"""Probability that an error bar is at least as large as the error that it covers."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Bars:
    """Error bars: bounds on the distance of answers from the true answers about the n records.

    Args:
        each: (k,) error bar of each answer, as a fraction of the records; NaN for an answer without an error bar.
        covers: errors that the bars in `each` cover, and the probability with which the bars hold, in words; empty if
            there are no bars.
        single: whether the probability holds for each bar separately rather than for all bars together.
        together: one error bar that holds for all answers together, as a fraction of the records; infinite if there is
            none.
        together_covers: errors that the bar `together` covers, and the probability with which the bar holds, in words.
    """

    each: NDArray[np.float64]
    covers: str
    single: bool
    together: float
    together_covers: str


def released_answers(outcome: AnyOutcome, workload: Workload) -> NDArray[np.float64]:
    """The released answers as fractions in [0, 1], (k,)."""
    board: Any = outcome.billboard
    return np.clip(np.asarray(board.answers(workload), dtype=np.float64), 0.0, 1.0)


def uncut_answers(outcome: AnyOutcome, workload: Workload) -> NDArray[np.float64] | None:
    """The released answers before they are cut to [0, 1], (k,). The result is None for answers of synthetic records,
    which are never cut.
    """
    board = outcome.billboard
    return board.uncut(workload) if isinstance(board, NoisyBillboard | IndependentBillboard) else None


def bars(
    mechanism: Mechanism, board: Billboard, certificate: Certificate | None, workload: Workload, *,
    failure_probability: float = 1 - LEVEL,
) -> Bars:
    """The error bars of a release, computed from public facts and the billboard.

    Args:
        mechanism: the mechanism that ran.
        board: published result of the run.
        certificate: certificate of the run; None if the mechanism gives none. Bars from a certificate have the failure
            probability of the certificate.
        workload: the queries.
        failure_probability: failure probability of all bars that do not come from the certificate, in (0, 1).
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
    """The synthetic rows of a release; None for a release without synthetic records.

    DualQuery's records are returned unchanged, since more rows would only repeat them.

    Args:
        board: the billboard (published result) of the release.
        schema: the public columns.
        count: number of rows, for releases that can give any number of rows.
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
    """The rows in a public pseudorandom order that is unrelated to the columns, so that any part of the rows is a fair
    sample.
    """
    return table.take(pa.array(study_generator(0, "rows").permutation(table.num_rows)))


def _weight(schema: Schema) -> str:
    """A name for the column of weights, different from the names of all columns of the schema."""
    taken = {column.column for column in schema.columns}
    name = "weight"
    while name in taken:
        name += "_"
    return name


def _board(board: Billboard, kind: type[B]) -> B:
    if not isinstance(board, kind):
        raise InvalidInput("billboard", f"{type(board).__name__} is not a {kind.__name__}")
    return board


MOST_QUERIES = 1_000_000
"""Largest number of queries of a campaign. Each query is a line of the published table."""

MOST_ROWS = 1_000_000
"""Largest number of synthetic rows of a campaign. All rows are published."""



def more_rows(schema: Schema, method: str, board: Billboard, count: int) -> pa.Table:
    """Synthetic rows of a release, in an order that is public and the same for everybody.

    Args:
        schema: the public columns.
        method: name of the method, for error messages.
        board: the billboard (published result) of the release.
        count: number of rows. For DualQuery, `count` must be at most the number of the synthetic records. For
            reweighted records, `count` must be exactly this number, and the rows have a column of weights.

    Raises:
        InvalidInput: `count` is out of range, or the release has fewer synthetic records.
        Refused: the release has answers or counts only, from which no synthetic rows can be made.
    """
    if whole("count", count, at_least=1) > MOST_ROWS:
        raise InvalidInput("count", f"{count:,} rows are too many", f"must be at most {MOST_ROWS:,}")
    table = synthetic_rows(board, schema, count)
    if table is None:
        raise Refused(f"the method {method!r} released only answers, from which no rows follow",
                      'rows follow from a release by "marginal-fit", "mwem", "dual-query" or "reweighted"')
    if isinstance(board, SyntheticRecords):
        if count > len(board):
            raise InvalidInput("count",
                               f"{count:,} rows are more than the {counted(len(board), 'record')} of the release",
                               "ask for at most this number, since more rows would only repeat records")
        if not board.even and count < len(board):
            raise InvalidInput("count", f"the records of this release have weights, so {count:,} of them are not a "
                                        "sample",
                               f"must be all {len(board):,}")
        if count < len(board):  # the first rounds' records are not like the others: take some of all, by a public seed
            table = table.take(pa.array(np.sort(study_generator(0, "some rows").permutation(len(board))[:count])))
    return table


def more_answers(
    schema: Schema, method: str, mechanism: Mechanism, board: Any, queries: Sequence[str | Sequence[str]]
) -> pa.Table:
    """Answers of a release to other conjunctions of literals, as a table with the columns `query` and `answer`, a
    fraction in [0, 1].

    For a release of measured answers, a further answer is a sum of measured answers, and has the noise of all of them.
    The table then has three further columns. `uncut` is the sum before it is cut to [0, 1]. `plus_minus` is a bound on
    the noise of the sum that holds with probability 95 %; it is empty if the bound is 1 or more. `added` is the number
    of measured answers in the sum. For a release of `IndependentMarginals`, whose answers are products, the table has
    the column `uncut` too. To add up several answers, use the column `uncut`.

    Args:
        schema: the public columns.
        method: name of the method, for error messages.
        mechanism: the mechanism that ran.
        board: the billboard (published result) of the release.
        queries: queries, each a list of literals, such as ["job = none", "age in [20, 25)"], or a text in which
            literals are separated by commas or "and" (`confide.release.schema`).

    Raises:
        InvalidInput: a literal names no attribute of the columns, or there are too many queries. The message names the
            query and the nearest known literal.
        Refused: the answer to one of the queries is not a sum of measured answers.
    """
    measured = isinstance(board, NoisyBillboard)
    if board.workload.kind != "conjunctions" if measured else not isinstance(
            board, FittedMarginals | SyntheticRecords | MWEMBillboard | IndependentBillboard):
        raise Refused(f"the method {method!r} released only the answers to its own queries",
                      'other answers follow from a release by "marginal-fit", "mwem", "dual-query", "reweighted" or '
                      '"product"')
    if not 0 < len(queries) <= MOST_QUERIES:
        raise InvalidInput("queries", f"{len(queries):,} queries", f"must be 1 to {MOST_QUERIES:,} queries")
    asked = [_one(schema, split(schema, each) if isinstance(each, str) else each, number)
             for number, each in enumerate(queries, 1)]
    # One by one they are canonical, and none is dropped because it stands twice.
    width = max(each.width for each in asked)
    index = np.full((len(asked), width), -1, np.int32)
    bits = np.ones((len(asked), width), np.bool_)
    for place, each in enumerate(asked):
        index[place, : each.width], bits[place, : each.width] = each.index[0], each.bits[0]
    rows = np.concatenate([index, bits], axis=1)
    different, where = np.unique(rows, axis=0, return_inverse=True)
    found = Workload(kind="conjunctions", attributes=schema.attributes,
                     index=different[:, :width].astype(np.int32), bits=different[:, width:].astype(np.bool_))
    words = found.words(schema)
    places = where.reshape(-1).tolist()
    columns = _sums(mechanism, schema, board, found, words) if measured else _answers(board, found)
    return pa.table({"query": [words[place] for place in places],
                     **{name: pa.array([values[place] for place in places], pa.int64() if name == "added" else
                                       pa.float64()) for name, values in columns.items()}})


def _answers(board: Any, asked: Workload) -> dict[str, list[Any]]:
    """Answers that are computed from a synthetic population, or as products of measured fractions."""
    uncut = np.asarray(board.uncut(asked) if isinstance(board, IndependentBillboard) else board.answers(asked))
    cut = np.clip(uncut, 0.0, 1.0).tolist()
    return {"answer": cut, "uncut": uncut.tolist()} if isinstance(board, IndependentBillboard) else {"answer": cut}


def _sums(
    it: Mechanism, schema: Schema, board: NoisyBillboard, asked: Workload, words: Sequence[str]
) -> dict[str, list[Any]]:
    """Answers that are sums of measured answers.

    Raises:
        Refused: the answer to one of the queries is not a sum of measured answers.
    """
    if not isinstance(it, NoisyAnswers):
        raise InvalidInput("billboard", f"does not belong to a mechanism of type {type(it).__name__}")
    sums, found = Sums(it, schema), dict[str, list[Any]](answer=[], uncut=[], plus_minus=[], added=[])
    for row, bits, text in zip(asked.index.tolist(), asked.bits.tolist(), words, strict=True):
        parts = sums.of([(each, bit) for each, bit in zip(row, bits, strict=True) if each >= 0])
        if parts is None:
            raise Refused(f"the measured answers of this release do not add up to {text!r}",
                          "ask for a sum of released queries, such as several levels of one of their columns")
        share = parts.share(board.noisy[sums.measured], it.records)
        bar = noise_bar(it, parts.times.values(), 1 - LEVEL)
        for name, value in (("answer", min(max(share, 0.0), 1.0)), ("uncut", share),
                            ("plus_minus", bar if bar < 1.0 else None), ("added", len(parts.times))):
            found[name].append(value)
    return found


def _one(schema: Schema, literals: Sequence[str], number: int) -> Workload:
    """A workload of one query.

    Raises:
        InvalidInput: the query is not valid. The message names the query by its number.
    """
    where = f"queries[{number}]"
    if not literals:
        raise InvalidInput(where, "has no condition", "must have at least one")
    try:
        for literal in literals:
            Workload.conjunctions([[literal]], attributes=schema)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PublicWarning)  # what is dropped is the only one, and then it is refused
            return Workload.conjunctions([list(literals)], attributes=schema)
    except InvalidInput as error:
        raise InvalidInput(where, error.problem, error.limit) from None
