"""Comparison of releases with all baselines on the same queries. The compared numbers are true errors, which are
private and must not be released.

Source: spec query_release F.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from confide.contract.errors import InvalidInput, NotGuaranteed, Refused
from confide.contract.mechanism import Mechanism
from confide.contract.outcome import RunOutcome, SimulatedOutcome
from confide.contract.wire import parts_of, wire
from confide.privacy.noise import Noise
from confide.release._column_histogram import MOST_CELLS
from confide.release.answers import TrueAnswers, records_of, true_answers, true_errors
from confide.release.baselines import AllZeros, IndependentMarginals, NoisyAnswers, Uniform
from confide.release.mwem import MWEM
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = ["Comparison", "ComparisonRow", "compare"]


@wire("ComparisonRow", "method average_error maximum_error privacy")
@dataclass(frozen=True, kw_only=True)
class ComparisonRow:
    """One method's true errors, as fractions of the records.

    Args:
        method: name of the method.
        average_error: average error over the queries.
        maximum_error: largest error over the queries.
        privacy: privacy loss of the method, in words.
    """

    method: str
    average_error: float
    maximum_error: float
    privacy: str


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """True errors of several methods on the same queries. True errors are non-private diagnostics of a study. True
    errors must never be published with a release or shown to an analyst who asks queries.

    Args:
        rows: errors of each method.
        left_out: mapping from the name of a method that could not be compared to the reason.
    """

    rows: tuple[ComparisonRow, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)

    label: ClassVar[str] = "non-private diagnostics: true errors under simulated noise"

    def __getitem__(self, method: str) -> ComparisonRow:
        """The errors of a method, by the name of the method."""
        for row in self.rows:
            if row.method == method:
                return row
        raise KeyError(method)

    def to_dict(self) -> dict[str, Any]:
        return {"label": self.label, "rows": [parts_of(row) for row in self.rows],
                "left_out": dict(self.left_out)}

    def __str__(self) -> str:
        width = max(map(len, (*(row.method for row in self.rows), *self.left_out)))
        lines = [f"{row.method:<{width}}  average {row.average_error:.5f}  maximum {row.maximum_error:.4f}  "
                 f"{row.privacy}" for row in self.rows]
        missing = [f"{name:<{width}}  left out: {why}" for name, why in self.left_out.items()]
        return "\n".join([self.label, *lines, *missing])


def compare(
    data: Any, workload: Workload, *, epsilon: float, delta: float, seed: int, schema: Schema | None = None,
    releases: Mapping[str, RunOutcome] | None = None, mwem_rounds: int | None = None,
    mwem_cells: int = MOST_CELLS,
) -> Comparison:
    """True errors of all baselines, and of given releases, on the same queries. The function is for studies on data
    that may be shown.

    Args:
        data: records that can be read twice: `PackedBits`, a bool array, `Codes`, or with a schema a table. With a
            schema the records must have exactly one attribute of each column with bins or levels.
        workload: the queries.
        epsilon: epsilon of each baseline, in nats.
        delta: delta of each baseline, in (0, 1).
        seed: seed of the simulated noise.
        schema: public columns. With a schema, `NoisyAnswers` with "structured" noise is among the baselines, if the
            queries allow it.
        releases: mapping from a name to a simulated outcome whose billboard answers the workload.
        mwem_rounds: number of rounds T of `MWEM`; None for the default number.
        mwem_cells: largest number of cells of MWEM's histogram; 0 leaves MWEM out.

    Returns:
        A row for each method, and the reason for each method that is left out.

    Raises:
        InvalidInput: an outcome comes from a real release, whose true errors must not be shown.

    Example:
        >>> data = np.tile(np.array([[True, True, False], [False, False, False]]), (500, 1))
        >>> pairs = Workload.conjunctions([[0, 1], [0, 2]], attributes=3)
        >>> found = compare(data, pairs, epsilon=1.0, delta=1e-6, seed=1)
        >>> found["all zeros"].maximum_error, found["uniform"].maximum_error
        (0.5, 0.25)
    """
    given = dict(releases or {})
    for name, outcome in given.items():
        if not isinstance(outcome, SimulatedOutcome):
            raise InvalidInput("releases", f"{name!r} is not a simulated outcome",
                               "the true errors of a release must stay secret")
    if schema is None and isinstance(data, Iterator):
        raise InvalidInput("data", "is an iterator, which can be read only once",
                           "give the records as one array or PackedBits")
    records: Any = records_of(data, schema, attributes=workload.attributes, one_hot=True)
    if isinstance(records, TrueAnswers):
        raise InvalidInput("data", "are true answers", "give the records, since the baselines read other counts too")
    # Bits that were found one-hot are as good as codes.
    true = replace(true_answers(records, workload), schema=schema)
    n = true.records
    noise = Noise.simulated(seed)
    plain: dict[str, Any] = {"records": n, "workload": workload, "schema": schema}
    budget = {**plain, "epsilon": epsilon, "delta": delta}
    product = IndependentMarginals(**budget)
    ones = replace(true_answers(records, product.measured), schema=schema)
    methods: dict[str, tuple[Mechanism, TrueAnswers]] = {
        "all zeros": (AllZeros(**plain), true),
        "uniform": (Uniform(**plain), true),
        "independent marginals": (product, ones),
        "naive Gaussian": (NoisyAnswers(**budget), true),
        "Laplace": (NoisyAnswers(**plain, epsilon=epsilon, delta=0.0, law="laplace"), true),
    }
    left_out = {}
    if schema is None:
        left_out["structured Gaussian"] = "needs a schema: its columns say which queries exclude each other"
    else:
        try:
            methods["structured Gaussian"] = (NoisyAnswers(**budget, law="structured"), true)
        except NotGuaranteed as error:  # negated literals, parities or predicates: there is no such rival
            left_out["structured Gaussian"] = error.reason
    try:
        named = MWEM.for_budget(records=n, epsilon=epsilon, delta=delta, rounds=mwem_rounds, workload=workload,
                                schema=schema)
        if named.cells > mwem_cells:
            raise Refused(f"its histogram would have {named.cells:,} cells; mwem_cells allows at most {mwem_cells:,}")
        methods["MWEM"] = (named, true)
    except Refused as error:  # its histogram does not fit into memory
        left_out["MWEM"] = error.reason
    rows = [_row(name, mechanism.run(answers, noise), true, workload) for name, (mechanism, answers) in methods.items()]
    rows += [_row(name, outcome, true, workload) for name, outcome in given.items()]
    return Comparison(rows=tuple(rows), left_out=left_out)


def _row(name: str, outcome: RunOutcome, true: TrueAnswers, workload: Workload) -> ComparisonRow:
    board: Any = outcome.billboard
    errors = true_errors(board.answers(workload), np.asarray(true.counts), true.records)
    loss = "; ".join(str(promise.loss) for promise in outcome.guarantees.privacy)
    return ComparisonRow(method=name, average_error=errors["mean_error"], maximum_error=errors["max_error"],
                         privacy=loss)
