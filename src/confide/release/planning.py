"""Choice of a method for releasing answers, from public facts alone: the columns, the number of records, the queries
and the budget.

The advice compares the predicted errors of the methods (`predicted`) and gives reasons. Tests compare the advice with
measured runs: where the advice changes from one method to another, the order of the measured errors changes too.

If noise is the only source of error, the predicted error is the expected error of the noise. If the errors of a method
depend on the data, the prediction is a rule of thumb, which was compared with measured runs. Errors are fractions of
the records. The module predicts the average error over the queries and the error of the worst answer. A rule of thumb
is not a promise; only the guarantees of the mechanism are promises. The rules were fitted to runs on a table of people,
a table of network connections and synthetic tables, with 2,000 to 1,000,000 records each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from confide.charts import intervals
from confide.contract.checks import fraction, positive, whole
from confide.contract.errors import ConfideError, InvalidInput, Refused
from confide.contract.mechanism import Mechanism
from confide.contract.missing import names_missing
from confide.contract.plan import Alternative, Plan, Predicted
from confide.contract.presentation import Picture
from confide.contract.renamed import by_position_before, renamed
from confide.contract.words import counted
from confide.privacy.accounting import spendable
from confide.release._baseline_boards import uniform_answers
from confide.release.baselines import NoisyAnswers
from confide.release.draws_a_round import WIDE
from confide.release.dual_query import MOST_QUERIES, DualQuery
from confide.release.marginal_fit import MarginalFit
from confide.release.marginal_fit.measured import RawTable
from confide.release.marginal_fit.plan import Split
from confide.release.mwem import MWEM
from confide.release.reweighted import Reweighted
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = ["Prediction", "ReleasePlan", "candidates", "dual_query", "plan", "predict"]

# ---- predicted

LAW, RULE, NOTHING = "the law of the noise", "a rule of thumb from measured runs", ("no basis: the error depends on "
                                                                                    "the data")
TIES = f"{RULE}; apart from the noise, the error depends on the relation between columns, which is not public"

HOPELESS = 0.25
"""Average error from which on a method counts as hopeless. The answer 1/2 to every query has an average error of 1/4 if
the true answers are spread evenly over [0, 1].
"""

_TRIVIAL = 0.5  # the average error that answering 1/2 never exceeds
_LOOKED_AT = 4096  # queries, evenly spaced, whose width is looked at
_ASKED = 512  # queries, evenly spaced, whose columns are counted
_PER_ROUND, _POWER = 0.38, 0.75  # of DualQuery's average error, see `_game`
_WIDER = 0.3  # the power by which it grows with the attributes where these are many
_FEW, _FEW_QUERIES = 0.25, 30  # the same where there are few queries: a part of the largest one
_SPREAD = 4.5  # of MWEM: how many times the average error the largest one was
_UNLEARNT = 4e-3  # of MWEM: what is left where not every query is measured
_NOISE = 1.5  # of MarginalFit: how many times the noise of a cell an answer is off by
_NOISE_SMALL = 0.8  # the same where no column has more than 4 cells
_BIAS = 2e-4  # of MarginalFit: what no budget removes of queries over columns whose table was not measured
_BIAS_SMALL = 7e-4  # the same where no column has more than 4 cells: many small tables say little of each other
_GROWS = 25  # so many columns of them double it
_COVERED = 0.97  # the part of it that goes where all tables of the queries' width are measured
_UNMEASURED = 0.01  # the same where nothing but one-way tables is worth its noise
_WORST, _WORST_SMALL = 12.0, 4.0  # of MarginalFit: the largest error over that of a cell, at 50,000 queries
_SMALL = 4  # cells


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """The predicted errors of a method.

    Args:
        method: name of the method in a campaign file.
        mechanism: the mechanism that would run; None if the method cannot run.
        average: typical error of an answer, averaged over the queries. The error is infinite if the method cannot run,
            and NaN if public facts do not determine it. For added noise the prediction is an upper bound: answers near
            0 or 1 are cut to [0, 1], which halves their errors.
        largest: typical error of the worst answer; infinite or NaN in the same cases as `average`.
        basis: basis of the predictions, in words: the distribution of the noise, or a rule of thumb.
        refused: reason why the method cannot run; empty if it can run.
        uncut: value of `average` before answers are cut to [0, 1]. This value determines the order of methods that are
            all hopeless.
    """

    method: str
    mechanism: Mechanism | None
    average: float
    largest: float
    basis: str = RULE
    refused: str = ""
    uncut: float = math.inf

    @property
    def hopeless(self) -> bool:
        """Whether answers that read no data would be as good as the answers of the method."""
        return self.average >= HOPELESS

    @property
    def certain(self) -> bool:
        """Whether the predictions follow from the distribution of the noise rather than from a rule of thumb."""
        return self.basis == LAW


def predict(method: str, mechanism: Mechanism, workload: Workload | None = None) -> Prediction:
    """The predicted errors of a mechanism.

    Args:
        method: name of the method in a campaign file.
        mechanism: a mechanism of query release.
        workload: queries for `MarginalFit`, which has no parameter `workload`; None stands for a thousand queries of
            three random literals.

    Example:
        >>> from confide.release import Workload
        >>> from confide.release.baselines import NoisyAnswers
        >>> pairs = Workload.complete(10)
        >>> found = predict("gaussian", NoisyAnswers(records=10_000, workload=pairs, epsilon=1.0, delta=1e-6))
        >>> f"{found.average:.4f} {found.largest:.4f}"
        '0.0037 0.0128'
    """
    basis = RULE
    match mechanism:
        case NoisyAnswers():
            uncut, average, largest = _noise(mechanism)
            return Prediction(method=method, mechanism=mechanism, average=average, largest=min(1.0, largest),
                              basis=LAW, uncut=uncut)
        case DualQuery():
            average, largest = _game(mechanism)
        case Reweighted():
            average, largest = _game(mechanism.dual_query)
        case MWEM():
            average, largest = _selection(mechanism)
            basis = RULE if len(mechanism.workload) <= mechanism.rounds else TIES
        case MarginalFit():
            average, largest = _fitted(mechanism, workload)
            basis = TIES
        case _:
            return Prediction(method=method, mechanism=mechanism, average=math.nan, largest=math.nan, basis=NOTHING)
    return Prediction(method=method, mechanism=mechanism, average=min(_TRIVIAL, average), largest=min(1.0, largest),
                      basis=basis, uncut=average)


def _noise(it: NoisyAnswers) -> tuple[float, float, float]:
    """The mean of |noise|, the mean of min(|noise|, 1/2), and the median of the largest |noise| of all draws, as
    fractions of the records.

    For a true answer p and noise X, the answer that is cut to [0, 1] has the mean error E[min(|X|, p) + min(|X|, 1 -
    p)]/2, because X is symmetric. The function min(|X|, p) is concave in p, so the mean error of a cut answer is at
    most E min(|X|, 1/2).
    """
    j, half = len(it.measured), 0.5 * it.records
    if it.law == "laplace":
        uncut, largest = it.noise_scale, it.noise_scale * -math.log1p(-(0.5 ** (1 / j)))
        cut = it.noise_scale * -math.expm1(-half / it.noise_scale)
    else:
        uncut = it.noise_std * math.sqrt(2 / math.pi)
        largest = it.noise_std * float(scipy.special.ndtri((1 + 0.5 ** (1 / j)) / 2))
        z = half / it.noise_std
        cut = uncut * -math.expm1(-z * z / 2) + 2 * half * float(scipy.special.ndtr(-z))
    return uncut / it.records, cut / it.records, largest / it.records


def _width(workload: Workload, schema: Schema | None) -> float:
    """The mean of 2 sqrt(p (1 - p)) over the queries, where p is the answer of uniform records. The mean is 1 if all
    answers are 1/2, and falls as the answers move away from 1/2. Errors of synthetic records are about proportional to
    the mean.
    """
    k = len(workload)
    places = np.linspace(0, k - 1, _LOOKED_AT).astype(np.int64)
    some = workload if k <= _LOOKED_AT else workload.some(places)
    p = uniform_answers(some, schema)
    return float(np.mean(2 * np.sqrt(np.maximum(0.0, p * (1 - p)))))


def _game(it: DualQuery) -> tuple[float, float]:
    """The predicted average and largest errors of DualQuery. The largest error is the part ln 2k/(eta T) of the regret.
    In measured runs with enough samples a round, the largest error was 0.3 to 1.5 times ln 2k/(eta T). The average
    error falls faster than for random samples of as many records. With few queries all errors are about equal.
    """
    steps = it.eta * it.rounds
    largest, few = it.queries.log_queries / steps, min(1.0, math.sqrt(_FEW_QUERIES / len(it.queries)))
    wide = max(1.0, it.queries.attributes / WIDE) ** _WIDER
    average = max(_PER_ROUND * wide * _width(it.queries, it.schema) * (2.0 / steps) ** _POWER, _FEW * few * largest)
    return average, max(average, largest)


def _reach(workload: Workload, schema: Schema) -> tuple[int, float, float]:
    """The largest number of columns that a query names, and the square root of the number of noisy cells in its answer,
    as an average and as a maximum. An answer is a sum of cells, or 1 minus a sum of cells. The answer to a range over
    fine bins is a sum of many cells.
    """
    if workload.kind != "conjunctions":
        width = workload.width if workload.kind == "parities" else len(schema.columns)
        return min(width, len(schema.columns)), 1.0, 1.0
    sizes, most, roots = schema.sizes, 1, []
    for query in np.unique(np.linspace(0, len(workload) - 1, _ASKED).astype(np.int64)).tolist():
        there = workload.index[query] >= 0
        columns, bits = schema.column_of[workload.index[query][there]], workload.bits[query][there]
        named, absent = np.unique(columns, return_counts=True)
        wanted = set(columns[bits].tolist())
        cells = [1 if column in wanted else max(1, min(count, sizes[column] - count))
                 for column, count in zip(named.tolist(), absent.tolist(), strict=True)]
        most = max(most, len(cells))
        roots.append(math.sqrt(math.prod(cells)))
    return most, math.fsum(roots) / len(roots), max(roots)


def _usual_split(it: MarginalFit) -> Split:
    """The split of a run whose one-way tables are uniform. Uniform one-way tables lead to the largest penalty of noise,
    and therefore to few further tables.
    """
    if it.tables is not None:
        return it.split
    even = [RawTable((j,), np.full(size, max(1, it.records // size), dtype=np.int64), it.split.one_way)
            for j, size in enumerate(it.schema.sizes) if size > 1]
    return it.follow(even)


def _fitted(it: MarginalFit, workload: Workload | None) -> tuple[float, float]:
    """The predicted average and largest errors of MarginalFit: a multiple of the noise of a cell of a measured table,
    plus a bias that more records or budget do not remove.
    """
    sizes = [size for size in it.schema.sizes if size > 1]
    small, columns, split = max(sizes) <= _SMALL, len(sizes), _usual_split(it)
    width, k, (asked, cells, most) = (0.5, 1000, (3, 1.0, 1.0)) if workload is None else (
        _width(workload, it.schema), len(workload), _reach(workload, it.schema))
    worst = (_WORST_SMALL if small else _WORST) * (math.log(2 * k) / math.log(1e5)) ** 1.5
    if split.tables:
        noise = (_NOISE_SMALL if small else _NOISE) * split.sigma / it.records
        covered = min(1.0, split.tables / math.comb(columns, min(asked, columns))) if asked > 1 else 1.0
        bias = (_BIAS_SMALL * (1 + columns / _GROWS) if small else _BIAS) * (1 - _COVERED * covered)
        highest = split.sigma / it.records
    else:
        noise = highest = min(split.one_way, split.again or math.inf) / it.records
        bias = _UNMEASURED if asked > 1 else 0.0
    average = (noise * cells + bias) * width
    return average, max(2 * average, worst * (highest * most + bias))  # about twice, of the fewest queries


def _selection(it: MWEM) -> tuple[float, float]:
    """The predicted average and largest errors of MWEM. One part of the predicted error of MWEM is the usual distance
    between the chosen score and the best score, below which the selection cannot detect errors. Another part of the
    predicted error of MWEM is the error that remains if there are more queries than rounds.
    """
    k = len(it.workload)
    unseen = 2.0 / it.each * math.log(max(2, k)) / it.records / _SPREAD
    average = unseen + (_UNLEARNT * _width(it.workload, it.schema) if k > it.rounds else 0.0)
    return average, _SPREAD * average


# ---- planning

_CELLS = 2**17  # of MWEM's histogram: so many take seconds
_QUICK = 200  # columns that MarginalFit takes up in seconds
_PREFERENCE = 1.5
"""A method whose predicted error is a rule of thumb is preferred to added noise only if its error is smaller by this
factor.
"""

Advised = MarginalFit | NoisyAnswers | MWEM | DualQuery

_ROWS = ("marginal-fit", "mwem", "dual-query")


@dataclass(frozen=True, kw_only=True)
class ReleasePlan(Plan[Advised]):
    """The recommended method, its mechanism, and the predicted errors of every method. The recommendation depends on
    public facts alone.

    Args:
        method: name of the recommended method: "marginal-fit", "gaussian", "laplace", "mwem" or "dual-query".
        mechanism: mechanism built for the budget, ready for `run`.
        reasons: reasons for the recommendation, one sentence each.
        predictions: predicted errors of each method, the best method first. For a method that cannot run, the
            prediction has the reason.
    """

    method: str
    mechanism: Advised
    reasons: tuple[str, ...]
    predictions: tuple[Prediction, ...]

    @property
    def prediction(self) -> Prediction:
        """The predicted errors of the recommended method."""
        return next(each for each in self.predictions if each.method == self.method)

    @property
    def predicted(self) -> Mapping[str, Predicted]:
        """The typical average error, by which methods are compared, and the typical error of the worst answer."""
        return _figures(self.prediction)

    @property
    def alternatives(self) -> tuple[Alternative, ...]:
        """The methods that are not recommended, the best method first, each with its predicted errors or the reason why
        it cannot run.
        """
        return tuple(Alternative(name=each.method, predicted={} if each.mechanism is None else _figures(each),
                                 mechanism=each.mechanism, refused=each.refused or self._not_chosen(each))
                     for each in self.predictions if each.method != self.method)

    def _not_chosen(self, other: Prediction) -> str:
        if other.uncut > self.prediction.uncut:
            return "its predicted errors are larger"
        if self.method in _ROWS and other.method not in _ROWS:
            return "it releases no rows"
        return "its errors follow from a rule of thumb, while the errors of noise are known before the run"

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about the plan: errors as large as the errors of answers without data, or a long running time."""
        return tuple(_doubts(self.prediction))

    def plot(self) -> Picture:
        """A chart of the predicted errors of every method that can run: a dot at the average error, and a line up to
        the error of the worst answer.
        """
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
        records: number of records of the data, public.
        workload: the queries.
        epsilon: budget of privacy loss in nats, > 0.
        delta: delta of the budget, in [0, 1). With delta = 0 only methods without Gaussian noise are left.
        rows: whether the release must give synthetic rows in addition to answers.

    Raises:
        InvalidInput: a number is out of range, or the workload is over other attributes.
        Refused: no method runs within the budget. The message gives the reason for each method.

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
        raise InvalidInput("workload", f"is over {counted(workload.attributes, 'attribute')}",
                           f"the schema has {schema.attributes}")
    found = candidates(schema, n, workload, epsilon, delta)
    able = [each for each in found if each.mechanism is not None and (each.method in _ROWS or not rows)]
    if not able:
        why = "; ".join(f"{each.method}: {each.refused or 'gives no rows'}" for each in found)
        raise Refused(f"no method releases {len(workload):,} answers about {n:,} records at epsilon = {epsilon:g}, "
                      f"delta = {delta:g} ({why})", "choose a larger epsilon, or ask fewer queries")
    best = min(able, key=lambda each: each.uncut * (1.0 if each.certain else _PREFERENCE))
    ordered = tuple(sorted(found, key=lambda each: (each.mechanism is None, each.average, each.uncut)))
    return ReleasePlan(method=best.method, mechanism=_there(best), predictions=ordered,
                          reasons=tuple(_reasons(best, ordered, schema, workload, n, delta, rows)))


def candidates(
    schema: Schema, n: int, workload: Workload, epsilon: float, delta: float
) -> tuple[Prediction, ...]:
    """All methods at a budget, each with its predicted errors, or with the reason why the method cannot run."""
    pure = delta == 0
    gaussian = "adds Gaussian noise, which needs a delta above 0"
    return (
        _try("marginal-fit", lambda: MarginalFit.for_budget(records=n, epsilon=epsilon, delta=delta, schema=schema),
             gaussian if pure else "", workload),
        _try("gaussian", lambda: NoisyAnswers.for_budget(records=n, epsilon=epsilon, delta=delta, workload=workload,
                                                         schema=schema), gaussian if pure else ""),
        _try("laplace", lambda: NoisyAnswers(records=n, workload=workload, schema=schema, epsilon=epsilon, delta=0.0,
                                             law="laplace"),
             "" if pure else "with a delta, other methods have smaller errors for many answers; use laplace only with "
                             "delta = 0"),
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
    """DualQuery with its default step size and number of draws a round, and as many rounds as the budget pays for.

    With more than 300 attributes, many attributes are in no drawn query of a round. If delta is above 0, such
    attributes follow noisy one-way marginals.

    Args:
        schema: the public columns. The synthetic records have one value of each column.
        n: number of records.
        workload: the queries.
        epsilon: budget of privacy loss in nats.
        delta: delta of the budget, in [0, 1).
        options: further parameters of the class and of `for_budget`. Given values of eta, rounds and samples are kept.
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
                      f"the advice includes MWEM only up to {_CELLS:,} cells; to use MWEM anyway, name it")
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
    found.append(f"The error of the answers will be about {best.average:.2g} on average and {best.largest:.2g} at "
                 f"worst ({best.basis}).")
    found.extend(_doubts(best))
    rest = [each for each in ordered if each.mechanism is not None and each is not best]
    if rest:
        second = rest[0]
        if best.certain and not second.certain and second.uncut < best.uncut:
            found.append(f"{second.method} has about the same predicted errors, by {second.basis}. The advice prefers "
                         "noise, since the errors of noise are known before the run.")
        also = "; it does not release the requested rows" if rows and second.method not in _ROWS else ""
        found.append(f"Next: {second.method}, about {second.average:.2g} on average and {second.largest:.2g} at worst"
                     f"{also}.")
    if delta == 0:
        found.append("With delta = 0, no method with Gaussian noise can run. A delta above 0 would allow more exact "
                     "methods.")
    found.extend(f"{each.method} was left out: {each.refused}." for each in ordered
                 if each.mechanism is None and each.method != "laplace" and each.refused and delta > 0)
    return found


def _doubts(best: Prediction) -> list[str]:
    found = []
    if best.hopeless:
        found.append("At these sizes, no method is useful: answers without any data would be as good. Choose a larger "
                     "epsilon, or ask about more records.")
    if isinstance(best.mechanism, MarginalFit) and (m := len(best.mechanism.schema.columns)) > _QUICK:
        found.append(f"All pairs of {m} columns take a minute or more to fit.")
    return found


_WHY = {
    "marginal-fit": "With {m} columns, a run can measure tables of two or three columns. A population that is fitted "
                    "to the tables answers all {k} queries, and any other queries.",
    "gaussian": "{k} queries about {n} records are few: separate noise on every answer costs less than a model of the "
                "whole table, and the noise is the only error.",
    "laplace": "{k} queries about {n} records are few: with separate noise on every answer, the noise is the only "
               "error.",
    "mwem": "With {d} attributes, a run can keep a histogram over all possible records.",
    "dual-query": "{m} columns, or {k} queries, are too many for tables and for noise on every answer. A few synthetic "
                  "records, which a game against the queries finds, need neither tables nor noise on answers.",
}
