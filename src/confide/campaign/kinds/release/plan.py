"""A planned release: its mechanism, why it was chosen, and what it will be worth, from public facts alone."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from confide.campaign.kinds.release.config import QueriesConfig, Recommended
from confide.campaign.kinds.release.methods import build, declined
from confide.charts import intervals
from confide.contract.errors import ConfideError, InvalidInput, Refused
from confide.contract.guarantees import Accuracy, Audience, Guarantees, promises_table
from confide.contract.mechanism import Mechanism
from confide.contract.offering import CUSTODIANS_WITHDRAWAL, Question, answer, likelier
from confide.contract.presentation import Block, Picture, Section, Table, Text
from confide.contract.public_warnings import PublicWarning
from confide.contract.remedies import Remedy, accepted, tried, trying
from confide.contract.replanned import changed, instead, keyed, nearest, replanned
from confide.contract.unusable import MOST_UNUSABLE
from confide.contract.wire import wire_name
from confide.contract.words import number, percent
from confide.privacy.accounting import Accountant
from confide.privacy.events import Event
from confide.privacy.groups import groups_section, guess_in_words
from confide.privacy.losses import PROMISES_LITTLE, ApproxDP, PureDP
from confide.release.baselines import IndependentMarginals, NoisyAnswers
from confide.release.columns import Bit
from confide.release.dual_query import DualQuery
from confide.release.marginal_fit import MarginalFit
from confide.release.mwem import MWEM
from confide.release.planning import ReleasePlan, candidates, plan
from confide.release.predicted import HOPELESS, Prediction, predict
from confide.release.reweighted import Reweighted
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = ["DRAWN", "SHOWN", "STEPS", "QueriesPlan", "compared_with", "describe", "null_record", "plan_of", "shortened"]

_KEYS = {each: f"method.{each}" for each in ("eta", "rounds", "samples")}
"""What a method calls a setting -> its key in the file."""

_DELTA_SHARE = 1e-3
"""Of one record: a delta that is far below 1/records."""

STEPS = (0.25, 0.5, 2.0, 4.0)
"""Other epsilons that a plan looks at, as multiples of its own."""


@dataclass(frozen=True, kw_only=True, eq=False)
class QueriesPlan:
    """What a campaign of the kind `queries` would give.

    Args:
        config: the file.
        schema: the public columns.
        workload: the queries.
        mechanism: what will run.
        advice: where the file left the choice of the method; None where it names one.
        doubts: what is doubtful about the file, in words.
    """

    config: QueriesConfig
    schema: Schema
    workload: Workload
    mechanism: Mechanism
    advice: ReleasePlan | None
    doubts: tuple[str, ...] = ()

    @cached_property
    def guarantees(self) -> Guarantees:
        return self.mechanism.guarantees()

    @property
    def records(self) -> int:
        """n."""
        return self.config.data.records

    @property
    def method(self) -> str:
        """Its name, as the file would say it."""
        return self.config.method.name if self.advice is None else self.advice.method

    @cached_property
    def prediction(self) -> Prediction:
        """What the errors will be about."""
        return predict(self.method, self.mechanism, self.workload)

    @cached_property
    def loss(self) -> PureDP | ApproxDP:
        """What the release loses, as its reader is told: (epsilon, delta) where there is a delta, else epsilon."""
        losses = [promise.loss for promise in self.guarantees.privacy]
        stated = [loss for loss in losses if isinstance(loss, ApproxDP)] if self.config.privacy.delta else []
        pure = [loss for loss in losses if isinstance(loss, PureDP)]
        if stated:
            return min(stated, key=lambda loss: loss.epsilon)
        return min(pure, key=lambda loss: loss.epsilon) if pure else Accountant(self.events).loss(
            self.config.privacy.delta)

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """What a run spends."""
        return tuple(self.mechanism.events())  # type: ignore[arg-type]

    @cached_property
    def epsilons(self) -> dict[str, float]:
        """The epsilon that each calculator proves at the file's delta; those that prove none are left out."""
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
        """What each part of a run spends: its name, rho, and its part of the whole."""
        parts: dict[str, list[Event]] = {}
        for event in self.events:
            name = "draws of the rounds" if event.label.startswith("round ") else event.label or "the release"
            parts.setdefault(name, []).append(event)
        rhos = {name: Accountant(tuple(events)).rho() for name, events in parts.items()}
        whole = math.fsum(rhos.values())
        return tuple((name, rho, rho / whole if whole else math.nan) for name, rho in rhos.items())

    @property
    def rounds(self) -> int | None:
        """T of a method that goes in rounds."""
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
        """Synthetic rows that are handed out."""
        if not self.config.rows.count:
            return 0
        own = isinstance(self.mechanism, DualQuery | Reweighted)  # the records are the release
        return (self.rounds or 0) if own else self.config.rows.count

    @property
    def accuracy(self) -> Accuracy | None:
        """The promise of accuracy; it may say nothing."""
        return next(iter(self.guarantees.of(Accuracy)), None)

    @cached_property
    def others(self) -> tuple[Prediction, ...]:
        """What every method would be worth at this budget, and why some cannot run."""
        if self.advice is not None:
            return self.advice.predictions
        privacy = self.config.privacy
        found = candidates(self.schema, self.records, self.workload, privacy.spendable, privacy.delta)
        both = (self.prediction, *(each for each in found if each.method != self.method))
        return tuple(sorted(both, key=lambda each: (each.mechanism is None, math.isnan(each.average), each.average)))

    @cached_property
    def alternatives(self) -> tuple[tuple[float, Prediction], ...]:
        """What other epsilons would be worth, by the same choice of the method: (epsilon, figures)."""
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

    def sections(self) -> Sequence[Section]:
        return plan_sections(self)

    def offer(self) -> Sequence[Section]:
        return offer_sections(self)

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
def plan_of(config: QueriesConfig) -> QueriesPlan:
    """Plan from a file's public parameters.

    Raises:
        InvalidInput: what the file asks for makes no sense; names the key.
        Refused: no setting stays within the budget, or what it pays for says nothing; names the key, and says what
            would do.
    """
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        schema = config.public_columns()
        plan = _made(config, schema, config.queries(schema))
    doubts = dict.fromkeys(str(each.message) for each in told if issubclass(each.category, PublicWarning))
    return replace(plan, doubts=tuple(doubts))


def _made(config: QueriesConfig, schema: Schema, workload: Workload) -> QueriesPlan:
    """The plan for these columns and queries, whatever else of the file is tried."""
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
    plan = QueriesPlan(config=config, schema=schema, workload=workload, mechanism=mechanism, advice=advice)
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
    """Answering 1/2 to everything costs no privacy, and is as good."""
    whose = "the best method's answers" if plan.advice is not None else f"the answers of the method {plan.method!r}"
    return Refused(f"privacy.epsilon: at {plan.config.privacy.epsilon:g}, {whose} to {len(plan.workload):,} queries "
                   f"about {plan.records:,} records would be off by {HOPELESS:g} or more on average "
                   f"({plan.prediction.basis}): answering 1/2 to everything is as good, and costs nothing",
                   _would_do(plan.config, plan.schema, plan.workload, replan)
                   or "no other [privacy] epsilon, [data] records or method was found that does alone")


def _would_do(
    config: QueriesConfig, schema: Schema, workload: Workload, replan: Callable[[QueriesConfig], QueriesPlan]
) -> list[str | Remedy]:
    """The changes of one key of the file that do; each was tried on the whole plan as printed."""
    if trying():
        return []
    privacy, records = config.privacy, config.data.records
    found: list[str | Remedy] = [
        *nearest(config, replan, "privacy.epsilon", privacy.epsilon),
        *nearest(config, replan, "data.records", records, more=", where so many are held")]
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
    """The best two of the other methods that can run in this file, and say something."""
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


SHOWN = 20  # answers on a page; the table has all
DRAWN = 12  # answers of a picture
_LONGEST = 60  # letters of a query in a picture
_ROUNDING = 1e-9  # of what a calculator proves, beside the budget that it was found for
_DOUBTFUL = 0.125  # a predicted average error from which answers say little

_NAMES = {
    "zcdp": "concentrated composition",
    "theorem-3.4.2": "Theorem 3.4.2 (advanced composition at the last round's level)",
    "per-round": "round by round", "pure": "plain sum (delta = 0)", "basic": "plain sum",
    "per-round, printed drift": "round by round, as the published program counts",
    "advanced": "advanced composition", "gdp": "Gaussian differential privacy", "optimal": "optimal composition",
    "split": "plain sum and concentrated composition",
}


def describe(plan: QueriesPlan) -> str:
    """The mechanism in one sentence."""
    it = plan.mechanism
    match it:
        case DualQuery():
            return (f"DualQuery: {it.rounds:,} rounds of {it.samples:,} draws at step size {it.eta:.4g}, one synthetic "
                    "record a round")
        case Reweighted():
            game = it.dual_query
            return (f"DualQuery ({game.rounds:,} rounds of {game.samples:,} draws at step size {game.eta:.4g}), its "
                    f"records reweighted on {it.count:,} answers with Gaussian noise")
        case MarginalFit():
            about = "about " if it.tables is None else ""
            decided = " (how many sets, the tables of every column decide, once noisy)" if about else ""
            return (f"MarginalFit: tables of every column, and of {about}{it.split.tables:,} sets of "
                    f"{' or '.join(map(str, it.widths))} columns, with Gaussian noise of standard deviation "
                    f"{it.split.one_way:.4g} and {about}{it.split.sigma:.4g} records on every cell{decided}; a "
                    f"population of {it.population:,} made-up rows is fitted to them")
        case MWEM():
            return f"MWEM: a histogram that {it.rounds:,} noisy answers, chosen by how wrong it is, have shaped"
        case NoisyAnswers(law="laplace"):
            return f"Laplace noise of scale {it.noise_scale:.4g} records on every answer"
        case NoisyAnswers():
            return f"Gaussian noise of standard deviation {it.noise_std:.4g} records on every answer"
        case IndependentMarginals():
            return f"Gaussian noise of standard deviation {it.noise_std:.4g} records on every attribute, multiplied"
    return wire_name(it)


# ---- before


def plan_sections(plan: QueriesPlan) -> list[Section]:
    """What the custodian would get, from public parameters alone."""
    schema, k = plan.schema, len(plan.workload)
    accuracy = plan.accuracy
    rows: list[tuple[str, str]] = [
        ("records (fixed and public)", number(plan.records)),
        ("columns, and the attributes that they make", f"{len(schema.columns):,}, {schema.attributes:,}"),
        ("queries", number(k)),
        ("method", plan.method + (" (recommended)" if plan.advice is not None else "")),
        ("what it does", describe(plan)),
        ("privacy of one record, towards the public", str(plan.loss)),
        ("predicted error of an answer, on average", _figure(plan.prediction.average)),
        ("  of the worst answer", _figure(plan.prediction.largest)),
        ("  which rests on", plan.prediction.basis),
        ("promised error of the worst answer", "none" if accuracy is None else
         f"none that says anything at these sizes ({accuracy.bound:.2g})" if accuracy.vacuous else
         f"{accuracy.bound:.4g}, but for a probability of {accuracy.failure_probability:g}"),
        ("synthetic rows that are published", number(plan.rows) if plan.rows else "none"),
        ("lines of the published table of answers", number(k)),
        ("what a missing or unusable record counts as", null_record(schema)),
    ]
    blocks: list[Block] = [Table(columns=("what", "planned"), rows=tuple(rows),
                                 note="Everything here follows from public parameters. Errors are fractions of the "
                                      "records: 0.01 is one record in a hundred. Privacy holds for every table; what "
                                      "is predicted is no promise.")]
    reasons = () if plan.advice is None else plan.advice.reasons
    if reasons:
        blocks.append(Text(reasons))
    warnings = _warnings(plan)
    if warnings:
        blocks.append(Text(tuple(f"Warning: {each}." for each in warnings)))
    return [Section(title="Plan", blocks=tuple(blocks)), _spend_section(plan), _error_section(plan),
            Section(title="Guarantees", blocks=(promises_table(
                plan.guarantees, "Privacy holds for every table, when one record is replaced by any other."),)),
            groups_section(plan.mechanism, plan.guarantees.privacy)]


def _spend_section(plan: QueriesPlan) -> Section:
    delta = plan.config.privacy.delta
    promised = plan.loss.epsilon_at(delta)
    epsilons = Table(
        columns=("how the losses are added up", f"epsilon at delta = {delta:g}", "promised"),
        rows=tuple((_NAMES.get(name, name), value, "yes" if math.isclose(value, promised, rel_tol=_ROUNDING) else "")
                   for name, value in sorted(plan.epsilons.items(), key=lambda each: each[1])),
        note="Each is a valid bound of the same run. A reported epsilon means nothing without its calculator.")
    spends = Table(columns=("what is spent on", "rho", "share"),
                   rows=tuple((name, rho, f"{share:.1%}") for name, rho, share in plan.spends),
                   note="In concentrated differential privacy, where costs add up; all of it is charged before the "
                        "run.")
    share = plan.config.data.accept_unusable
    order = Text((
        "The order of a run: the table is opened, and its columns and their types are looked at, which are public; its "
        f"rows are read once, and where more than {percent(MOST_UNUSABLE if share is None else share)} of them cannot "
        "be used, or as many records have no row, the run stops unless the custodian goes on all the same; the ledger "
        "is charged; all rows are read again. From the charge on, a row that cannot be used counts as the null record "
        "and stops nothing. Why a run has stopped, or that a table is missing or damaged, the custodian alone is told: "
        "a charge that was made stays, nothing is published, and the run can be repeated under it. So that there is a "
        "result says one thing beside its numbers: that its custodian went on.",))
    return Section(title="What it spends", blocks=(epsilons, spends, order))


def _error_section(plan: QueriesPlan) -> Section:
    """The same queries by every method, at this budget and others."""
    rows: list[tuple[str | float | None, ...]] = []
    for each in plan.others:
        mark = f"{each.method} (planned)" if each.method == plan.method else each.method
        rows.append((mark, None, None, f"cannot run: {each.refused}") if each.mechanism is None else
                    (mark, _known(each.average), _known(each.largest), each.basis))
    rows += [("all zeros", None, None, "no privacy is spent; the worst answer is off by the largest true answer"),
             ("uniform", None, None, "no privacy is spent; how wrong it is depends on the data")]
    methods = Table(columns=("method", "predicted error, average", "of the worst answer", "which rests on"),
                    rows=tuple(rows), note="At the same epsilon and delta. Errors are fractions of the records.")
    others = tuple((epsilon, each.method if each.mechanism is not None else f"cannot run: {each.refused}",
                    _known(each.average), _known(each.largest)) for epsilon, each in plan.alternatives)
    steps = Table(columns=("epsilon", "method", "predicted error, average", "of the worst answer"),
                  rows=others, note=f"With delta = {plan.config.privacy.delta:g}; the method as the file would choose "
                                    "it there.")
    return Section(title="Errors to expect", blocks=(methods, *_error_pictures(plan), steps))


def _error_pictures(plan: QueriesPlan) -> list[Picture]:
    """Each method's predicted errors, on a logarithmic axis; nothing where one method alone has any."""
    rows = [(each.method, "from the average to the worst answer", each.average, each.average, each.largest)
            for each in plan.others if each.mechanism is not None and each.average > 0 and math.isfinite(each.largest)]
    if len(rows) < 2:
        return []
    told = ", ".join(f"{name} {average:.2g} to {largest:.2g}" for name, _, average, _, largest in rows)
    return intervals(rows, title="Predicted error of an answer", axis="share of the records", log=True,
                     alt=f"The predicted error of each method, from the average to the worst answer: {told}.")


def shortened(text: str, place: int) -> str:
    """A label of its own: two that are cut to the same letters would be one line."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({place})"


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _figure(value: float) -> str:
    return f"about {value:.2g}" if math.isfinite(value) else "not known from public facts"


def _warnings(plan: QueriesPlan) -> list[str]:
    found, privacy = list(plan.doubts), plan.config.privacy
    if privacy.delta >= 1.0 / plan.records:
        found.append(f"a delta of at least 1/{plan.records:,} allows that somebody's record is published outright: "
                     "choose it far smaller")
    if privacy.epsilon > PROMISES_LITTLE:
        found.append(f"epsilon = {privacy.epsilon:g} promises little: choose it below 5 unless records are no secret")
    if plan.prediction.average >= _DOUBTFUL:
        found.append("the answers are predicted to say little: spend more, ask fewer queries, or find more "
                     "records")
    own = isinstance(plan.mechanism, DualQuery | Reweighted)
    if own and plan.config.rows.count not in (0, plan.rows):
        found.append(f"the release has {plan.rows:,} records of its own, and more would only repeat them: "
                     f"{plan.rows:,} rows are published, not {plan.config.rows.count:,}")
    return found


def null_record(schema: Schema) -> str:
    """The public record that stands for a missing one, in words."""
    names = []
    for place, column in enumerate(schema.columns[:4]):
        if isinstance(column, Bit):  # its cell 0 is no attribute
            names.append(schema.negated[int(schema.starts[place])])
        else:
            names.append(schema.names[int(schema.cell_attributes[place][0])])
    return ", ".join(names) + (", ..." if len(schema.columns) > 4 else "")


# ---- to a person in the data


def offer_sections(plan: QueriesPlan) -> list[Section]:
    """The plan as a person reads it whose record may be in the table."""
    epsilon, delta = plan.loss.epsilon, float(getattr(plan.loss, "delta", 0.0))
    but = f", but for a probability of {delta:g}," if delta else ""
    asked = ", ".join(column.column for column in plan.schema.columns[:12])
    more = f" and {len(plan.schema.columns) - 12:,} others" if len(plan.schema.columns) > 12 else ""
    also = f", and {plan.rows:,} made-up rows that answer like the table" if plan.rows else ""
    return [
        answer(Question.REPORT, f"Nothing is asked of you. A custodian holds a table of {plan.records:,} records, and "
                                "yours may be one of them."),
        Section(title="What is published", blocks=(Text((
            f"Answers to {len(plan.workload):,} questions of the kind 'which share of the records has ...', about "
            f"{asked}{more}, each of them blurred{also}. No row is anybody's.",)),)),
        answer(Question.SEES, "The custodian has the table, as before. Everybody else sees what is published, and "
                              "nothing more."),
        answer(Question.HIDES, f"Whatever is published{but} is at most {likelier(epsilon)} times "
                               "as likely as if your record had been any other one. "
                               + guess_in_words(plan.mechanism, plan.guarantees.privacy, Audience.PUBLIC),
               "It does not hide what is true of people at large. If the answers show that people like you are mostly "
               "so or so, they show it with or without your record."),
        answer(Question.GETS, "You are paid nothing, and get nothing but what everybody gets."),
        answer(Question.LIES, "Nothing is asked of you, so that there is nothing to lie about."),
        answer(Question.TRUSTED, "The custodian, with the table; nobody else."),
        answer(Question.WITHDRAWING, CUSTODIANS_WITHDRAWAL),
    ]


def compared_with(plan: QueriesPlan) -> str:
    """What answers are compared with: the same words however many records could be used."""
    return f"its share of the {plan.records:,} records as the run read them"
