"""What else a settled release says: more synthetic rows, and answers to queries that were not asked.

All of it follows from the billboard: post-processing, which costs no privacy and may be done by anybody, any number of
times. Of sums of measured answers the noise is known; of what a population answers, no error is promised.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from confide.campaign.kinds.release.config import MOST_QUERIES, MOST_ROWS
from confide.campaign.kinds.release.plan import QueriesPlan
from confide.campaign.kinds.release.results import LEVEL, AnyOutcome, synthetic_rows
from confide.contract.checks import whole
from confide.contract.errors import InvalidInput, Refused
from confide.contract.public_warnings import PublicWarning
from confide.privacy.noise.simulated import study_generator
from confide.release.baselines import IndependentBillboard, NoisyAnswers, NoisyBillboard
from confide.release.marginal_fit import FittedMarginals
from confide.release.measured_sums import Sums, noise_bar
from confide.release.mwem import MWEMBillboard
from confide.release.query_texts import split
from confide.release.synthetic import SyntheticRecords
from confide.release.workload import Workload

__all__ = ["more_answers", "more_rows"]


def more_rows(plan: QueriesPlan, outcome: AnyOutcome, count: int) -> pa.Table:
    """So many synthetic rows in a public order: the same ones whoever asks.

    Args:
        plan: of the release.
        outcome: what it published.
        count: rows; of DualQuery's records no more than it has, and of reweighted ones all, with their weights.

    Raises:
        InvalidInput: a number out of range, or more records than there are.
        Refused: the release is a list of answers, or of counts of single attributes, and no rows follow from it.
    """
    if whole("count", count, at_least=1) > MOST_ROWS:
        raise InvalidInput("count", f"{count:,} rows are too many", f"must be at most {MOST_ROWS:,}")
    board = outcome.billboard
    table = synthetic_rows(board, plan.schema, count)
    if table is None:
        raise Refused(f"the method {plan.method!r} released answers alone, and no rows follow from them",
                      'rows follow from a release by "marginal-fit", "mwem", "dual-query" or "reweighted"')
    if isinstance(board, SyntheticRecords):
        if count > len(board):
            raise InvalidInput("count", f"{count:,} are more than the {len(board):,} records of the release",
                               "more rows would only repeat them")
        if not board.even and count < len(board):
            raise InvalidInput("count", f"the records of this release have weights: {count:,} of them are no sample",
                               f"must be all {len(board):,}")
        if count < len(board):  # the first rounds' records are not like the others: take some of all, by a public seed
            table = table.take(pa.array(np.sort(study_generator(0, "some rows").permutation(len(board))[:count])))
    return table


def more_answers(plan: QueriesPlan, outcome: AnyOutcome, queries: Sequence[str | Sequence[str]]) -> pa.Table:
    """Answers of a release to other conjunctions of literals: a table of `query` and `answer`, a share in [0, 1].

    A release of measured answers gives what they add up to, each with the noise that it was measured with. The table
    then has the sum before it is cut to [0, 1] (`uncut`), how far its noise moves it with 95 % (`plus_minus`, empty
    from 1 on, where it says nothing), and how many measured answers are in it (`added`). A release of products has
    `uncut`, too. What has to be added up further is `uncut`.

    Args:
        plan: of the release.
        outcome: what it published.
        queries: each a list of literals, such as ["job = none", "age in [20, 25)"], or a text of literals between
            commas or "and" (`confide.release.query_texts`).

    Raises:
        InvalidInput: a literal that the columns do not know (names the query and the nearest), or too many queries.
        Refused: the measured answers add up to no such query.
    """
    board: Any = outcome.billboard
    measured = isinstance(board, NoisyBillboard)
    if board.workload.kind != "conjunctions" if measured else not isinstance(
            board, FittedMarginals | SyntheticRecords | MWEMBillboard | IndependentBillboard):
        raise Refused(f"the method {plan.method!r} released the answers to its own queries alone",
                      'others follow from a release by "marginal-fit", "mwem", "dual-query", "reweighted" or "product"')
    if not 0 < len(queries) <= MOST_QUERIES:
        raise InvalidInput("queries", f"{len(queries):,} of them", f"must be 1 to {MOST_QUERIES:,}")
    asked = [_one(plan, split(plan.schema, each) if isinstance(each, str) else each, number)
             for number, each in enumerate(queries, 1)]
    # One by one they are canonical, and none is dropped because it stands twice.
    width = max(each.width for each in asked)
    index = np.full((len(asked), width), -1, np.int32)
    bits = np.ones((len(asked), width), np.bool_)
    for place, each in enumerate(asked):
        index[place, : each.width], bits[place, : each.width] = each.index[0], each.bits[0]
    rows = np.concatenate([index, bits], axis=1)
    different, where = np.unique(rows, axis=0, return_inverse=True)
    found = Workload(kind="conjunctions", attributes=plan.schema.attributes,
                     index=different[:, :width].astype(np.int32), bits=different[:, width:].astype(np.bool_))
    words = found.words(plan.schema)
    places = where.reshape(-1).tolist()
    columns = _sums(plan, board, found, words) if measured else _answers(board, found)
    return pa.table({"query": [words[place] for place in places],
                     **{name: pa.array([values[place] for place in places], pa.int64() if name == "added" else
                                       pa.float64()) for name, values in columns.items()}})


def _answers(board: Any, asked: Workload) -> dict[str, list[Any]]:
    """What a population answers, or products of measured shares."""
    uncut = np.asarray(board.uncut(asked) if isinstance(board, IndependentBillboard) else board.answers(asked))
    cut = np.clip(uncut, 0.0, 1.0).tolist()
    return {"answer": cut, "uncut": uncut.tolist()} if isinstance(board, IndependentBillboard) else {"answer": cut}


def _sums(plan: QueriesPlan, board: NoisyBillboard, asked: Workload, words: Sequence[str]) -> dict[str, list[Any]]:
    """What measured answers add up to.

    Raises:
        Refused: nothing is known of a query.
    """
    it = plan.mechanism
    if not isinstance(it, NoisyAnswers):
        raise InvalidInput("billboard", f"is no {type(it).__name__}'s")
    sums, found = Sums(it, plan.schema), dict[str, list[Any]](answer=[], uncut=[], plus_minus=[], added=[])
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


def _one(plan: QueriesPlan, literals: Sequence[str], number: int) -> Workload:
    """One query.

    Raises:
        InvalidInput: by its number, whatever is wrong with it.
    """
    where = f"queries[{number}]"
    if not literals:
        raise InvalidInput(where, "has no literal", "must ask for at least one")
    try:
        for literal in literals:
            Workload.conjunctions([[literal]], attributes=plan.schema)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PublicWarning)  # what is dropped is the only one, and then it is refused
            return Workload.conjunctions([list(literals)], attributes=plan.schema)
    except InvalidInput as error:
        raise InvalidInput(where, error.problem, error.limit) from None
