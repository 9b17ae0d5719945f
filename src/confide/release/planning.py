"""Which method to release answers with, from public facts alone: columns, records, queries and the budget.

The advice compares what each method's errors will be about (`predicted`), and says why. It is held against measured
runs in the tests: where it changes from one method to another, so do the errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from confide.charts import intervals
from confide.contract.checks import fraction, positive, whole
from confide.contract.errors import ConfideError, InvalidInput, Refused
from confide.contract.former_calls import by_position_before
from confide.contract.mechanism import Mechanism
from confide.contract.missing import names_missing
from confide.contract.plan import Alternative, Plan, Predicted
from confide.contract.presentation import Picture
from confide.contract.renamed import renamed
from confide.privacy.accounting import spendable
from confide.release.baselines import NoisyAnswers
from confide.release.draws_a_round import WIDE
from confide.release.dual_query import MOST_QUERIES, DualQuery
from confide.release.marginal_fit import MarginalFit
from confide.release.mwem import MWEM
from confide.release.predicted import Prediction, predict
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = ["ReleasePlan", "candidates", "dual_query", "plan"]

_CELLS = 2**17  # of MWEM's histogram: so many take seconds
_QUICK = 200  # columns that MarginalFit takes up in seconds
_PREFERENCE = 1.5
"""How many times as exact a rule of thumb must be than noise, whose errors are known, to be preferred to it."""

Advised = MarginalFit | NoisyAnswers | MWEM | DualQuery

_ROWS = ("marginal-fit", "mwem", "dual-query")


@dataclass(frozen=True, kw_only=True)
class ReleasePlan(Plan[Advised]):
    """The method that public facts speak for, its mechanism, and what every method's errors will be about.

    Args:
        method: "marginal-fit", "gaussian", "laplace", "mwem" or "dual-query".
        mechanism: built for the budget; `run` it.
        reasons: why, one sentence each.
        predictions: what each method's errors will be about, the best one first; those that cannot run say why.
    """

    method: str
    mechanism: Advised
    reasons: tuple[str, ...]
    predictions: tuple[Prediction, ...]

    @property
    def prediction(self) -> Prediction:
        """The figures of the method that is recommended."""
        return next(each for each in self.predictions if each.method == self.method)

    @property
    def predicted(self) -> Mapping[str, Predicted]:
        """The typical error of an answer on average, by which methods are compared, and of the worst answer."""
        return _figures(self.prediction)

    @property
    def alternatives(self) -> tuple[Alternative, ...]:
        """The other methods, the best first, each with its figures or why it cannot run."""
        return tuple(Alternative(name=each.method, predicted={} if each.mechanism is None else _figures(each),
                                 mechanism=each.mechanism, refused=each.refused or self._not_chosen(each))
                     for each in self.predictions if each.method != self.method)

    def _not_chosen(self, other: Prediction) -> str:
        if other.uncut > self.prediction.uncut:
            return "its errors are predicted to be larger"
        if self.method in _ROWS and other.method not in _ROWS:
            return "it gives no rows"
        return "its errors are a rule of thumb, and those of noise are known beforehand"

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is doubtful: errors as large as those of answers without data, and a long run."""
        return tuple(_doubts(self.prediction))

    def plot(self) -> Picture:
        """The errors of every method that can run: a dot at the average, and a line up to the worst answer."""
        rows = [(each.method, "chosen" if each.method == self.method else "other", each.average, each.average,
                 each.largest) for each in self.predictions if 0 < each.average <= each.largest < math.inf]
        said = "; ".join(f"{name}: {average:.2g} to {largest:.2g}" for name, _, _, average, largest in rows)
        return intervals(rows, title="Predicted errors", log=True,
                         axis="error, as a share of the records: average to worst answer",
                         alt=f"Predicted errors of each method, on average and at worst: {said}.")[0]

    def _own_figures(self) -> Mapping[str, Any]:
        return {"method": self.method, "reasons": self.reasons, "predictions": [
            {"method": each.method, "average": each.average, "largest": each.largest, "basis": each.basis,
             "refused": each.refused} for each in self.predictions]}


def _figures(found: Prediction) -> dict[str, Predicted]:
    exact = found.certain
    return {"average error": Predicted(found.average, "share of the records", "bound" if exact else "rule of thumb"),
            "largest error": Predicted(found.largest, "share of the records", "exact" if exact else "rule of thumb")}


@renamed(n="records")
@by_position_before("schema", "records", "workload", "epsilon", "delta")
@names_missing()
def plan(
    schema: Schema, *, records: int, workload: Workload, epsilon: float, delta: float = 0.0, rows: bool = False
) -> ReleasePlan:
    """Choose a method and build its mechanism, from public facts alone.

    Args:
        schema: the public columns.
        records: of the data, a public number.
        workload: the queries.
        epsilon: the budget in nats, > 0.
        delta: in [0, 1); 0 leaves methods without Gaussian noise.
        rows: whether synthetic rows are wanted, and not answers alone.

    Raises:
        InvalidInput: a number out of range, or a workload over other attributes.
        Refused: no method runs within the budget; says why each of them does not.

    Source: spec query_release D6 (defaults and failure modes), F and erratum 15 (what a plain Gaussian does).

    Example:
        >>> few = Workload.random(Schema.bits(500), 100, seed=1)
        >>> found = plan(Schema.bits(500), records=100_000, workload=few, epsilon=1.0, delta=1e-6)
        >>> found.method, found.mechanism.noise_std < 43
        ('gaussian', True)
    """
    n, delta = whole("records", records, at_least=1), fraction("delta", delta, zero=True)
    epsilon = positive("epsilon", epsilon)
    if schema.attributes != workload.attributes:
        raise InvalidInput("workload", f"is over {workload.attributes} attributes",
                           f"the schema has {schema.attributes}")
    found = candidates(schema, n, workload, epsilon, delta)
    able = [each for each in found if each.mechanism is not None and (each.method in _ROWS or not rows)]
    if not able:
        why = "; ".join(f"{each.method}: {each.refused or 'gives no rows'}" for each in found)
        raise Refused(f"no method releases {len(workload):,} answers about {n:,} records at epsilon = {epsilon:g}, "
                      f"delta = {delta:g} ({why})", "spend more, or ask fewer queries")
    best = min(able, key=lambda each: each.uncut * (1.0 if each.certain else _PREFERENCE))
    ordered = tuple(sorted(found, key=lambda each: (each.mechanism is None, each.average, each.uncut)))
    return ReleasePlan(method=best.method, mechanism=_there(best), predictions=ordered,
                          reasons=tuple(_reasons(best, ordered, schema, workload, n, delta, rows)))


def candidates(
    schema: Schema, n: int, workload: Workload, epsilon: float, delta: float
) -> tuple[Prediction, ...]:
    """Every method at this budget, with what its errors will be about, or why it cannot run."""
    pure = delta == 0
    gaussian = "adds Gaussian noise, which needs a delta above 0"
    return (
        _try("marginal-fit", lambda: MarginalFit.for_budget(records=n, epsilon=epsilon, delta=delta, schema=schema),
             gaussian if pure else "", workload),
        _try("gaussian", lambda: NoisyAnswers.for_budget(records=n, epsilon=epsilon, delta=delta, workload=workload,
                                                         schema=schema), gaussian if pure else ""),
        _try("laplace", lambda: NoisyAnswers(records=n, workload=workload, schema=schema, epsilon=epsilon, delta=0.0,
                                             law="laplace"),
             "" if pure else "is the weaker noise for many answers; it is for delta = 0"),
        _try("mwem", lambda: _mwem(schema, n, workload, epsilon, delta)),
        _try("dual-query", lambda: dual_query(schema, n, workload, epsilon, delta)),
    )


def _try(
    method: str, build: Callable[[], Mechanism], refused: str = "", workload: Workload | None = None
) -> Prediction:
    try:
        if refused:
            raise Refused(refused)
        return predict(method, build(), workload)
    except ConfideError as error:  # on public grounds: a size, or a budget
        why = error.reason if isinstance(error, Refused) else str(error)
        return Prediction(method=method, mechanism=None, average=math.inf, largest=math.inf, refused=why)


def dual_query(
    schema: Schema, n: int, workload: Workload, epsilon: float, delta: float, **options: Any
) -> DualQuery:
    """DualQuery at its usual step size and draws, with as many rounds as the budget pays for.

    Of more than 300 attributes a round leaves many unasked: these follow noisy one-way shares, where delta is above 0.

    Args:
        schema: the public columns; records keep to one value of each.
        n: records.
        workload: the queries.
        epsilon: the budget in nats.
        delta: in [0, 1).
        options: of the class and of `for_budget`; of eta, rounds and samples those that are given stay.
    """
    if len(workload) > MOST_QUERIES:
        raise InvalidInput("workload", f"{len(workload):,} queries are too many", f"must be at most {MOST_QUERIES:,}")
    options = {"one_hot": True, **options}
    if delta and schema.attributes > WIDE:
        options.setdefault("free", "marginals")
    return DualQuery.for_budget(records=n, epsilon=spendable(epsilon, delta), delta=delta, workload=workload,
                                schema=schema, **options)


def _mwem(schema: Schema, n: int, workload: Workload, epsilon: float, delta: float) -> MWEM:
    named = MWEM.for_budget(records=n, epsilon=epsilon, delta=delta, workload=workload, schema=schema)
    if named.cells > _CELLS:
        raise Refused(f"its histogram would have {named.cells:,} cells, and take minutes",
                      f"ask for it by name; it is advised up to {_CELLS:,}")
    return named


def _there(found: Prediction) -> Advised:
    if not isinstance(found.mechanism, Advised):
        raise Refused(f"{found.method} cannot run: {found.refused}")
    return found.mechanism


# ---- why


def _reasons(
    best: Prediction, ordered: tuple[Prediction, ...], schema: Schema, workload: Workload, n: int, delta: float,
    rows: bool,
) -> list[str]:
    k, m = len(workload), len(schema.columns)
    found = [_WHY[best.method].format(k=f"{k:,}", m=f"{m:,}", n=f"{n:,}", d=f"{schema.attributes:,}")]
    found.append(f"Its answers will be off by about {best.average:.2g} on average, the worst by {best.largest:.2g} "
                 f"({best.basis}).")
    found.extend(_doubts(best))
    rest = [each for each in ordered if each.mechanism is not None and each is not best]
    if rest:
        second = rest[0]
        if best.certain and not second.certain and second.uncut < best.uncut:
            found.append(f"{second.method} is predicted to be about as good, by {second.basis}; noise is preferred, "
                         "as its errors are known beforehand.")
        also = "; rows were asked for, which it does not give" if rows and second.method not in _ROWS else ""
        found.append(f"Next: {second.method}, about {second.average:.2g} on average and {second.largest:.2g} at worst"
                     f"{also}.")
    if delta == 0:
        found.append("With delta = 0 nothing Gaussian can run; a delta above 0 would admit more exact methods.")
    found.extend(f"{each.method} was left out: {each.refused}." for each in ordered
                 if each.mechanism is None and each.method != "laplace" and each.refused and delta > 0)
    return found


def _doubts(best: Prediction) -> list[str]:
    found = []
    if best.hopeless:
        found.append("At these sizes no method says anything: answers that read no data are as good. Spend more, or "
                     "ask about more records.")
    if isinstance(best.mechanism, MarginalFit) and (m := len(best.mechanism.schema.columns)) > _QUICK:
        found.append(f"All pairs of {m} columns take a minute or more to fit.")
    return found


_WHY = {
    "marginal-fit": "{m} columns are few enough to measure tables of two or three of them; a population that is fitted "
                    "to the tables answers all {k} queries, and any others.",
    "gaussian": "{k} queries about {n} records are few: noise of its own on every answer costs less than a model of "
                "the whole table, and leaves no error but the noise.",
    "laplace": "{k} queries about {n} records are few: noise of its own on every answer leaves no error but the noise.",
    "mwem": "{d} attributes are few enough to keep a histogram over all records that can be.",
    "dual-query": "{m} columns, or {k} queries, are too many for tables and for noise on every answer: few synthetic "
                  "records, found by a game against the queries, need neither.",
}
