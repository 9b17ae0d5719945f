"""From the `[method]` of a file to a mechanism: what no setting satisfies is refused by the key that asks for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from confide.contract.errors import InvalidInput, NotGuaranteed
from confide.contract.mechanism import Mechanism
from confide.release.baselines import IndependentMarginals, NoisyAnswers
from confide.release.campaign.config import (
    DualQueryTable,
    MarginalFitTable,
    MWEMTable,
    PlainTable,
    QueriesConfig,
    ReweightedTable,
)
from confide.release.dual_query import DualQuery
from confide.release.mwem import MWEM
from confide.release.recommend import STEP, usual_samples
from confide.release.reweighted import Reweighted
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = ["build"]

T = TypeVar("T")

_ROWLESS = ("gaussian", "laplace", "product")


def build(config: QueriesConfig, schema: Schema, workload: Workload) -> Mechanism:
    """The mechanism that a file asks for by name, within its budget.

    Raises:
        InvalidInput: an option that is out of range, or does not go with others; names the key.
        Refused: no setting stays within the budget, or the universe is too large; says what would do.
    """
    method, privacy = config.method, config.privacy
    n, epsilon, delta = config.data.records, privacy.epsilon, privacy.delta
    if config.rows.count and method.name in _ROWLESS:
        raise InvalidInput("rows.count", f"the method {method.name!r} gives answers alone, and no rows",
                           'must be 0, or choose the method "marginal-fit", "dual-query" or "mwem"')
    if delta == 0 and method.name in ("marginal-fit", "reweighted", "gaussian", "product"):
        raise InvalidInput("privacy.delta", f"is 0, and the method {method.name!r} adds Gaussian noise",
                           'must be above 0, or choose the method "laplace", "mwem" or "dual-query"')
    match method:
        case MarginalFitTable():
            return _placed(lambda: _marginal_fit(method, n, schema, epsilon, delta))
        case DualQueryTable():
            return _placed(lambda: _dual_query(method, n, schema, workload, epsilon, delta))
        case ReweightedTable():
            return _placed(lambda: Reweighted.for_budget(
                n, epsilon, delta, workload=workload, schema=schema, one_hot=True, seed=method.seed,
                eta=STEP if method.eta is None else method.eta,
                samples=usual_samples(n, schema.attributes, epsilon, delta) if method.samples is None else
                method.samples))
        case MWEMTable():
            return _placed(lambda: MWEM.for_budget(n, epsilon, delta, rounds=method.rounds, workload=workload,
                                                   schema=schema))
        case PlainTable(name="laplace"):
            if delta:
                raise InvalidInput("privacy.delta", f"{delta:g} is spent for nothing by the method 'laplace'",
                                   'must be 0, or choose the method "gaussian"')
            return NoisyAnswers(n=n, workload=workload, schema=schema, epsilon=epsilon, delta=0.0, law="laplace")
        case PlainTable(name="gaussian"):
            return gaussian(n, schema, workload, epsilon, delta)
        case PlainTable(name="product"):
            return IndependentMarginals(n=n, workload=workload, schema=schema, epsilon=epsilon, delta=delta)
    raise InvalidInput("method.name", f"{method.name!r} is no method of its own")
