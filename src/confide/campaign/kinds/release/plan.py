"""The plan of a release of answers: the mechanism, the reasons for this choice, and the predicted errors, from public
facts alone.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, TypeVar

from confide.campaign.kinds.release.config import (
    DualQueryTable,
    MarginalFitTable,
    MWEMTable,
    PlainTable,
    QueriesConfig,
    Recommended,
    ReweightedTable,
)
from confide.campaign.kinds.skeleton import ShownPlan
from confide.contract.errors import ConfideError, InvalidInput, PublicWarning, Refused
from confide.contract.guarantees import Accuracy
from confide.contract.mechanism import Mechanism
from confide.contract.remedies import Remedy, accepted, tried, trying
from confide.contract.replanned import changed, instead, keyed, nearest, replanned
from confide.contract.wire import wire_name
from confide.privacy.accounting import Accountant
from confide.privacy.events import Event
from confide.privacy.losses import ApproxDP, PureDP
from confide.release.baselines import IndependentMarginals, NoisyAnswers
from confide.release.dual_query import DualQuery
from confide.release.marginal_fit import MarginalFit
from confide.release.mwem import MWEM
from confide.release.planning import HOPELESS, Prediction, ReleasePlan, candidates, dual_query, plan, predict
from confide.release.reweighted import Reweighted
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = ["STEPS", "QueriesPlan", "build", "declined", "plan_of"]

T = TypeVar("T")

_PLACES = ("privacy.", "method.", "columns", "workload", "data.", "rows.")

_ROWLESS = ("gaussian", "laplace", "product")

_BUDGET = {"epsilon": "privacy.epsilon", "delta": "privacy.delta", "rho": "privacy.epsilon", "rho_mea":
           "privacy.epsilon", "rho_sel": "privacy.epsilon", "marginal_rho": "privacy.epsilon"}
"""Mapping from a mechanism's name of a part of its budget to the key of the file that determines it."""


def build(config: QueriesConfig, schema: Schema, workload: Workload) -> Mechanism:
    """The mechanism that a campaign file names, calibrated to the privacy budget of the file.

    Raises:
        InvalidInput: an option is out of range, or contradicts another option; the message names the key.
        Refused: no setting stays within the budget, the method does not fit the budget or the queries, or the universe
            of records is too large. The message names the key, and a change that would help.
    """
    method, privacy = config.method, config.privacy
    n, epsilon, delta = config.data.records, privacy.spendable, privacy.delta
    if config.rows.count and method.name in _ROWLESS:
        raise InvalidInput("rows.count", f"is above 0, but the method {method.name!r} makes no rows",
                           'must be 0, or choose the method "marginal-fit", "reweighted", "dual-query" or "mwem"')
    if delta == 0 and method.name in ("marginal-fit", "reweighted", "gaussian", "product"):
        raise Refused(f"privacy.delta: is 0, but the method {method.name!r} adds Gaussian noise, which needs a delta",
                      'choose a delta above 0 and far below 1/records, or the method "laplace", "mwem" or "dual-query"')
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
    raise InvalidInput("method.name", f"{method.name!r} is not the name of a single method")


def _plain(name: str, n: int, schema: Schema, workload: Workload, epsilon: float, delta: float) -> Mechanism:
    if name == "product":
        return IndependentMarginals.for_budget(records=n, epsilon=epsilon, delta=delta, workload=workload,
                                               schema=schema)
    if name == "gaussian":
        return NoisyAnswers.for_budget(records=n, epsilon=epsilon, delta=delta, workload=workload, schema=schema)
    if delta:
        raise Refused(f"privacy.delta: is {delta:g}, but the method 'laplace' needs no delta",
                      'choose delta = 0, or the method "gaussian"')
    return NoisyAnswers(records=n, workload=workload, schema=schema, epsilon=epsilon, delta=0.0, law="laplace")


def _placed(make: Callable[[], T]) -> T:
    """Call `make`, and name the key of the file in its errors; an error about the budget becomes a refusal."""
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
    """The refusal of a mechanism, with the key of the campaign file to which the refusal belongs: the rounds, the
    draws, the budget, the queries or, in all other cases, the columns.
    """
    if error.reason.startswith(_PLACES):
        return error
    marks = {"single round": "method.rounds", "draws in each": "method.rounds", "draws a round": "method.samples",
             "epsilon": "privacy.epsilon", "rho_": "privacy.epsilon",
             "the workload": "workload"}
    place = next((key for mark, key in marks.items() if mark in error.reason), "columns")
    return Refused(f"{place}: {error.reason}", error.ways)


_KEYS = {each: f"method.{each}" for each in ("eta", "rounds", "samples")}
"""Mapping from a method's name of a setting to its key in the campaign file."""

_DELTA_SHARE = 1e-3
"""Ratio of a recommended delta to 1/records, so that the delta is far below 1/records."""

STEPS = (0.25, 0.5, 2.0, 4.0)
"""Other epsilons at which a plan predicts errors, as multiples of the epsilon of the campaign file."""


@dataclass(frozen=True, kw_only=True, eq=False)
class QueriesPlan(ShownPlan):
    """The plan of a campaign of the kind `queries`.

    Args:
        config: tables of the campaign file.
        schema: public columns, with their attributes.
        workload: queries that are answered.
        mechanism: mechanism that will run.
        advice: planner's choice of the method, with reasons and predictions; None where the file names a method.
        doubts: warnings about settings of the file, in words.
    """

    config: QueriesConfig
    schema: Schema
    workload: Workload
    mechanism: Mechanism
    advice: ReleasePlan | None
    doubts: tuple[str, ...] = ()

    @property
    def records(self) -> int:
        """The number n of records in the custodian's table, fixed and public."""
        return self.config.data.records

    @property
    def method(self) -> str:
        """The name of the method, in the spelling of `[method] name`."""
        return self.config.method.name if self.advice is None else self.advice.method

    @cached_property
    def prediction(self) -> Prediction:
        """The predicted average and largest error of the answers."""
        return predict(self.method, self.mechanism, self.workload)

    @cached_property
    def loss(self) -> PureDP | ApproxDP:
        """The privacy loss of the release, as pages state it. With a delta in the file, the loss is the smallest
        promised (epsilon, delta). In all other cases, the loss is the smallest promised epsilon. If the mechanism
        promises no such loss, the loss follows from the events of a run, at the file's delta.
        """
        losses = [promise.loss for promise in self.guarantees.privacy]
        stated = [loss for loss in losses if isinstance(loss, ApproxDP)] if self.config.privacy.delta else []
        pure = [loss for loss in losses if isinstance(loss, PureDP)]
        if stated:
            return min(stated, key=lambda loss: loss.epsilon)
        return min(pure, key=lambda loss: loss.epsilon) if pure else Accountant(self.events).loss(
            self.config.privacy.delta)

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """The privacy events of a run: the releases of noisy values whose losses add up."""
        return tuple(self.mechanism.events())  # type: ignore[arg-type]

    @cached_property
    def epsilons(self) -> dict[str, float]:
        """Mapping from each calculator of privacy losses to the epsilon that it proves at the file's delta. Calculators
        that prove no finite epsilon are left out.
        """
        delta, found = self.config.privacy.delta, {}
        if isinstance(self.mechanism, DualQuery) and self.mechanism.free != "marginals" and delta:
            from confide.release.calculators import all_epsilons

            it = self.mechanism
            found = all_epsilons(it.records, it.eta, it.rounds, it.samples, delta)
        else:
            found = dict(Accountant(self.events).bounds(delta))
        return {name: value for name, value in found.items() if math.isfinite(value)}

    @cached_property
    def spends(self) -> tuple[tuple[str, float, float], ...]:
        """The privacy loss of each part of a run: the name of the part, its rho of zero-concentrated differential
        privacy, and its share of the total rho.
        """
        parts: dict[str, list[Event]] = {}
        for event in self.events:
            name = "draws of the rounds" if event.label.startswith("round ") else event.label or "the release"
            parts.setdefault(name, []).append(event)
        rhos = {name: Accountant(tuple(events)).rho() for name, events in parts.items()}
        whole = math.fsum(rhos.values())
        return tuple((name, rho, rho / whole if whole else math.nan) for name, rho in rhos.items())

    @property
    def rounds(self) -> int | None:
        """The number T of rounds, or of batches for the method "marginal-fit"; None for a method without rounds."""
        match self.mechanism:
            case DualQuery() | MWEM():
                return self.mechanism.rounds
            case Reweighted():
                return self.mechanism.dual_query.rounds
            case MarginalFit():
                return self.mechanism.batches
        return None

    @property
    def rows(self) -> int:
        """The number of synthetic rows that are published; 0 where the file asks for none."""
        if not self.config.rows.count:
            return 0
        own = isinstance(self.mechanism, DualQuery | Reweighted)  # the records are the release
        return (self.rounds or 0) if own else self.config.rows.count

    @property
    def accuracy(self) -> Accuracy | None:
        """The promise of accuracy, which may be vacuous; None where the mechanism does not promise accuracy."""
        return next(iter(self.guarantees.of(Accuracy)), None)

    @cached_property
    def others(self) -> tuple[Prediction, ...]:
        """The predictions for every method at this privacy budget. For a method that cannot run, the prediction has the
        reason.
        """
        if self.advice is not None:
            return self.advice.predictions
        privacy = self.config.privacy
        found = candidates(self.schema, self.records, self.workload, privacy.spendable, privacy.delta)
        both = (self.prediction, *(each for each in found if each.method != self.method))
        return tuple(sorted(both, key=lambda each: (each.mechanism is None, math.isnan(each.average), each.average)))

    @cached_property
    def alternatives(self) -> tuple[tuple[float, Prediction], ...]:
        """Pairs of another epsilon and the prediction at this epsilon. Where the file names no method, the planner
        chooses a method for each epsilon. Where the file names a method, this method is kept. If no mechanism is
        possible, the prediction has the reason.
        """
        privacy, found = self.config.privacy, []
        for step in STEPS:
            epsilon = privacy.epsilon * step
            try:
                if isinstance(self.config.method, Recommended):
                    best = plan(self.schema, records=self.records, workload=self.workload, epsilon=epsilon,
                                delta=privacy.delta,
                                     rows=bool(self.config.rows.count)).prediction
                else:
                    other = self.config.model_copy(
                        update={"privacy": privacy.model_copy(update={"epsilon": epsilon})})
                    best = predict(self.method, build(other, self.schema, self.workload), self.workload)
            except ConfideError as error:
                best = Prediction(method=self.method, mechanism=None, average=math.inf, largest=math.inf,
                                  refused=str(error))
            found.append((epsilon, best))
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        accuracy = self.accuracy
        return {
            "method": self.method, "mechanism": wire_name(self.mechanism),
            "reasons": [] if self.advice is None else list(self.advice.reasons), "doubts": list(self.doubts),
            "records": self.records, "columns": len(self.schema.columns), "attributes": self.schema.attributes,
            "queries": len(self.workload), "rounds": self.rounds, "synthetic_rows": self.rows,
            "epsilons": self.epsilons, "rho": Accountant(self.events).rho(),
            "spends": [{"part": name, "rho": rho} for name, rho, _ in self.spends],
            "predicted": {"average": self.prediction.average, "largest": self.prediction.largest,
                          "basis": self.prediction.basis},
            "promised": None if accuracy is None else {"bound": accuracy.bound, "vacuous": accuracy.vacuous,
                                                       "failure_probability": accuracy.failure_probability},
            "methods": [{"method": each.method, "average": each.average, "largest": each.largest,
                         "refused": each.refused} for each in self.others],
            "alternatives": [{"epsilon": epsilon, "method": each.method, "average": each.average,
                              "largest": each.largest, "refused": each.refused}
                             for epsilon, each in self.alternatives],
        }


@lru_cache(maxsize=16)  # the pages of a campaign plan it again and again
def plan_of(config: QueriesConfig, pages: Any) -> QueriesPlan:
    """The plan of a `queries` campaign file, from its public parameters. The argument `pages` is an object with the
    functions that write the pages: see `ShownPlan`.

    Raises:
        InvalidInput: a setting of the file is not valid; the message names the key.
        Refused: no setting stays within the budget, or the answers would be useless at this budget. The message names
            the key, and a change that would help.
    """
    with warnings.catch_warnings(record=True) as reported:
        warnings.simplefilter("always")
        schema = config.public_columns()
        plan = _made(config, schema, config.queries(schema))
    doubts = dict.fromkeys(str(each.message) for each in reported if issubclass(each.category, PublicWarning))
    return replace(plan, doubts=tuple(doubts), pages=pages)


def _made(config: QueriesConfig, schema: Schema, workload: Workload) -> QueriesPlan:
    """The plan for a configuration with columns and queries that are built already, so that many configurations can be
    tried.
    """
    def replan(other: QueriesConfig) -> QueriesPlan:
        return _made(other, schema, workload)

    try:
        advice = _advice(config, schema, workload) if isinstance(config.method, Recommended) else None
        mechanism = build(config, schema, workload) if advice is None else advice.mechanism
    except (InvalidInput, Refused) as error:
        if trying() or (isinstance(error, InvalidInput) and not error.remedies):
            raise
        words = [each for each in error.ways if isinstance(each, str)]
        numbers = replanned(error, config, replan, _KEYS)
        raise instead(error, [*numbers, *_would_do(config, schema, workload, replan),
                              *([] if str(error).startswith("privacy.") else words)] or words) from None
    plan = QueriesPlan(config=config, schema=schema, workload=workload, mechanism=mechanism, advice=advice, pages=None)
    if plan.prediction.hopeless:
        raise _hopeless(plan, replan)
    return plan


def _advice(config: QueriesConfig, schema: Schema, workload: Workload) -> ReleasePlan:
    try:
        return plan(schema, records=config.data.records, workload=workload, epsilon=config.privacy.spendable,
                    delta=config.privacy.delta,
                         rows=bool(config.rows.count))
    except Refused as error:
        raise declined(error) from None


def _hopeless(plan: QueriesPlan, replan: Callable[[QueriesConfig], QueriesPlan]) -> Refused:
    """The refusal of a plan with answers no better than the constant answer 1/2, which costs no privacy."""
    whose = "the best method's answers" if plan.advice is not None else f"the answers of the method {plan.method!r}"
    return Refused(f"privacy.epsilon: at {plan.config.privacy.epsilon:g}, {whose} to {len(plan.workload):,} queries "
                   f"about {plan.records:,} records would have an error of {HOPELESS:g} or more on average "
                   f"({plan.prediction.basis}). The answer 1/2 to every query is as good, and costs no privacy",
                   _would_do(plan.config, plan.schema, plan.workload, replan)
                   or "changing only one of [privacy] epsilon, [data] records and [method] name is not enough: change "
                      "several of them")


def _would_do(
    config: QueriesConfig, schema: Schema, workload: Workload, replan: Callable[[QueriesConfig], QueriesPlan]
) -> list[str | Remedy]:
    """Changes of a single key of the file that make the plan useful; each was tried on the whole plan, exactly as
    printed.
    """
    if trying():
        return []
    privacy, records = config.privacy, config.data.records
    found: list[str | Remedy] = [
        *nearest(config, replan, "privacy.epsilon", privacy.epsilon),
        *nearest(config, replan, "data.records", records, more=", if the table has that many records")]
    if privacy.delta == 0:
        found += [keyed(each, {"delta": "privacy.delta"}) for each in tried(
            "{delta}", lambda delta: replan(changed(config, {"privacy.delta": delta})), up=False, digits=1,
            delta=_DELTA_SHARE / records)]
    elif accepted(lambda: replan(changed(config, {"privacy.delta": 0.0}))):
        found.append(Remedy("[privacy] delta = {delta}", {"delta": 0}, file={"privacy.delta": 0.0}))
    return [*found, *_methods(config, schema, workload, replan)]


def _methods(
    config: QueriesConfig, schema: Schema, workload: Workload, replan: Callable[[QueriesConfig], QueriesPlan]
) -> list[Remedy]:
    """Remedies that name another method: the best two of the methods that can run with this file and give useful
    answers.
    """
    def does(keys: Mapping[str, Any]) -> bool:
        return accepted(lambda: replan(changed(config, keys)))

    found = list[Remedy]()
    others = sorted(candidates(schema, config.data.records, workload, config.privacy.spendable, config.privacy.delta),
                    key=lambda each: each.average)
    for name in [each.method for each in others if each.mechanism is not None and each.method != config.method.name]:
        words = f'[method] name = "{name}"'
        if does({"method.name": name}):
            found.append(Remedy(words, {}, file={"method.name": name}))
        elif does({"method": {"name": name}}):  # the other keys are of the file's own method
            found.append(Remedy(f"{words} and no other key of [method]", {}, file={"method": {"name": name}}))
    return found[:2]
