"""From the `[method]` of a file to a mechanism: what no setting satisfies is refused by the key that asks for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from confide.campaign.kinds.release.config import (
    DualQueryTable,
    MarginalFitTable,
    MWEMTable,
    PlainTable,
    QueriesConfig,
    ReweightedTable,
)
from confide.contract.errors import InvalidInput, Refused
from confide.contract.mechanism import Mechanism
from confide.release.baselines import IndependentMarginals, NoisyAnswers
from confide.release.marginal_fit import MarginalFit
from confide.release.mwem import MWEM
from confide.release.planning import dual_query
from confide.release.reweighted import Reweighted
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = ["build", "declined"]

T = TypeVar("T")

_PLACES = ("privacy.", "method.", "columns", "workload", "data.", "rows.")

_ROWLESS = ("gaussian", "laplace", "product")

_BUDGET = {"epsilon": "privacy.epsilon", "delta": "privacy.delta", "rho": "privacy.epsilon", "rho_mea":
           "privacy.epsilon", "rho_sel": "privacy.epsilon", "marginal_rho": "privacy.epsilon"}
"""What a mechanism calls its budget -> the key of the file that it follows from."""


def build(config: QueriesConfig, schema: Schema, workload: Workload) -> Mechanism:
    """The mechanism that a file asks for by name, within its budget.

    Raises:
        InvalidInput: an option that is out of range, or does not go with others; names the key.
        Refused: no setting stays within the budget, the method is not for such a one, or the universe is too large;
            names the key, and says what would do.
    """
    method, privacy = config.method, config.privacy
    n, epsilon, delta = config.data.records, privacy.spendable, privacy.delta
    if config.rows.count and method.name in _ROWLESS:
        raise InvalidInput("rows.count", f"the method {method.name!r} gives answers alone, and no rows",
                           'must be 0, or choose the method "marginal-fit", "dual-query" or "mwem"')
    if delta == 0 and method.name in ("marginal-fit", "reweighted", "gaussian", "product"):
        raise Refused(f"privacy.delta: is 0, and the method {method.name!r} adds Gaussian noise",
                      'make it positive, far below 1/records, or choose the method "laplace", "mwem" or "dual-query"')
    options = method.model_dump(exclude={"name"}, exclude_none=True)
    match method:
        case MarginalFitTable():
            return _placed(lambda: MarginalFit.for_budget(records=n, epsilon=epsilon, delta=delta, schema=schema,
                                                          **options))
        case DualQueryTable():
            return _placed(lambda: dual_query(schema, n, workload, epsilon, delta, **options))
        case ReweightedTable():
            return _placed(lambda: Reweighted.for_budget(
                records=n, epsilon=epsilon, delta=delta, workload=workload, schema=schema, one_hot=True, **options))
        case MWEMTable():
            return _placed(lambda: MWEM.for_budget(records=n, epsilon=epsilon, delta=delta, workload=workload,
                                                   schema=schema, **options))
        case PlainTable():
            return _placed(lambda: _plain(method.name, n, schema, workload, epsilon, delta))
    raise InvalidInput("method.name", f"{method.name!r} is no method of its own")


def _plain(name: str, n: int, schema: Schema, workload: Workload, epsilon: float, delta: float) -> Mechanism:
    if name == "product":
        return IndependentMarginals.for_budget(records=n, epsilon=epsilon, delta=delta, workload=workload,
                                               schema=schema)
    if name == "gaussian":
        return NoisyAnswers.for_budget(records=n, epsilon=epsilon, delta=delta, workload=workload, schema=schema)
    if delta:
        raise Refused(f"privacy.delta: {delta:g} is spent for nothing by the method 'laplace'",
                      'make it 0, or choose the method "gaussian"')
    return NoisyAnswers(records=n, workload=workload, schema=schema, epsilon=epsilon, delta=0.0, law="laplace")


def _placed(make: Callable[[], T]) -> T:
    """Whatever is wrong with an option, by its key in the file; what a budget cannot pay for is declined."""
    try:
        return make()
    except Refused as error:
        raise declined(error) from None
    except InvalidInput as error:
        if error.field in _BUDGET:
            raise Refused(f"{_BUDGET[error.field]}: {error.problem}",
                          error.ways or "spend more, or choose another method") from None
        place = {"records": "data.records", "workload": "workload", "schema": "columns"}.get(
            error.field, f"method.{error.field}")
        raise InvalidInput(place, error.problem, error.ways) from None


def declined(error: Refused) -> Refused:
    """The same refusal, by the key of the file that it is about: rounds, budget, queries, or else the columns."""
    if error.reason.startswith(_PLACES):
        return error
    marks = {"single round": "method.rounds", "draws in each": "method.rounds", "draws a round": "method.samples",
             "epsilon": "privacy.epsilon", "rho_": "privacy.epsilon",
             "the workload": "workload"}
    place = next((key for mark, key in marks.items() if mark in error.reason), "columns")
    return Refused(f"{place}: {error.reason}", error.ways)
