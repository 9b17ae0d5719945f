"""The pages of a release of answers: the plan for the custodian, the study, and the offer and explanation for a person
in the data.
"""

from __future__ import annotations

import math
from typing import Any

from confide.campaign.kinds.release.described import described, null_record
from confide.campaign.kinds.release.plan import QueriesPlan
from confide.campaign.kinds.release.result import result_sections, result_tables
from confide.campaign.kinds.skeleton import plan_page
from confide.charts import intervals
from confide.contract.guarantees import Audience
from confide.contract.mechanism import MOST_UNUSABLE
from confide.contract.offering import CUSTODIANS_WITHDRAWAL, Question, answer, likelier
from confide.contract.outcome import SimulatedOutcome
from confide.contract.presentation import Picture, Section, Table, Text
from confide.contract.words import number, percent
from confide.privacy.groups import guess_in_words
from confide.privacy.losses import PROMISES_LITTLE
from confide.release.answers import true_answers
from confide.release.comparison import compare
from confide.release.dual_query import DualQuery
from confide.release.records import Codes
from confide.release.results import released_answers
from confide.release.reweighted import Reweighted

__all__ = ["explain", "offer", "result_sections", "result_tables", "sections", "study_sections"]


def explain(plan: QueriesPlan, *_: Any) -> list[Section]:
    """The page for one person. It is the same for everybody, whether their record is in the custodian's table or
    not.
    """
    epsilon, delta = plan.loss.epsilon, float(getattr(plan.loss, "delta", 0.0))
    but = f" (except with probability {delta:g})" if delta else ""
    return [Section(title="No shares for single people", blocks=(Text((
        "This campaign publishes answers about a table that a custodian holds. Nobody has a share or a payment, and "
        "nobody learns whether their record is in the table. This page is the same for every id.",
        f"The promise protects everybody in the table: the published release is at most {likelier(epsilon)} times as "
        f"likely with their record as with any other record{but}.",
        "You can read the public result and check it (confide verify PACK --key FINGERPRINT).",
    )),))]


_PURE = ("all zeros", "uniform", "Laplace")
"""Baselines that need no delta."""

_SEED = 20_240_229  # of the rivals' noise
_CELLS = 2**17  # of MWEM's histogram up to which it is a rival: beyond it takes minutes


def study_sections(plan: QueriesPlan, data: Codes, outcome: SimulatedOutcome) -> list[Section]:
    """The study page: the average and the largest error of the released answers, compared with other methods at the
    same privacy budget.

    Args:
        plan: plan of the campaign.
        data: records of the custodian; private.
        outcome: outcome of the run, with simulated noise.
    """
    workload, privacy = plan.workload, plan.config.privacy
    true = true_answers(data, workload)
    errors = abs(released_answers(outcome, workload) - true.fractions)
    rows: list[tuple[str | float, ...]] = [
        (f"{plan.method} (planned)", float(errors.mean()), float(errors.max()), str(plan.loss))]
    delta = privacy.delta or 1.0 / (10 * plan.records)  # of rivals that are left out where the plan has none
    found = compare(data, workload, epsilon=privacy.epsilon, delta=delta, seed=_SEED, schema=plan.schema,
                    mwem_cells=_CELLS)
    rows += [(each.method, each.average_error, each.maximum_error, each.privacy) for each in found.rows
             if privacy.delta or each.method in _PURE]
    predicted = plan.prediction
    return [Section(title="True errors of this and other methods", study=True, blocks=(
        Table(columns=("method", "average error", "largest error", "privacy"), rows=tuple(rows),
              note="This table is not private. Errors are differences from the true answers, under simulated noise, as "
                   "fractions of the records."),
        *(Text((f"The table leaves out {method}: {why}.",)) for method, why in found.left_out.items()),
        Text((f"The error predicted from public facts is {predicted.average:.2g} on average, and "
              f"{predicted.largest:.2g} for the worst answer ({predicted.basis}).",
              "Do not choose a method or a setting from these figures: the choice would disclose private data. Choose "
              "by the plan, or by a study on public data.")),
    ))]


_ROUNDING = 1e-9  # of what a calculator proves, beside the budget that it was found for
_DOUBTFUL = 0.125  # a predicted average error from which answers say little

_NAMES = {
    "zcdp": "concentrated composition",
    "theorem-3.4.2": "Theorem 3.4.2 (advanced composition at the last round's level)",
    "per-round": "round by round", "per_round": "round by round", "pure": "plain sum (delta = 0)", "basic": "plain sum",
    "per-round, printed drift": "round by round, as the published program counts",
    "advanced": "advanced composition", "gdp": "Gaussian differential privacy", "optimal": "optimal composition",
    "split": "plain sum and concentrated composition",
}

_PARTS = {"what follows from them": "all later measurements and choices of tables"}


# ---- before


def sections(plan: QueriesPlan) -> list[Section]:
    """The plan page for the custodian: the predicted outcome, from public parameters alone."""
    schema, k = plan.schema, len(plan.workload)
    accuracy = plan.accuracy
    rows: list[tuple[str, str]] = [
        ("records (fixed and public)", number(plan.records)),
        ("columns, and their attributes (values, bins and bits)", f"{len(schema.columns):,}, {schema.attributes:,}"),
        ("queries", number(k)),
        ("method", plan.method + (" (recommended)" if plan.advice is not None else "")),
        ("description of the method", described(plan)),
        ("privacy of one record, towards the public", str(plan.loss)),
        ("average predicted error of an answer", _figure(plan.prediction.average)),
        ("  predicted error of the worst answer", _figure(plan.prediction.largest)),
        ("  basis of the prediction", plan.prediction.basis),
        ("promised error of the worst answer", "none" if accuracy is None else
         f"no useful bound at these sizes ({accuracy.bound:.2g})" if accuracy.vacuous else
         f"{accuracy.bound:.4g}, except with probability {accuracy.failure_probability:g}"),
        ("published synthetic rows", number(plan.rows) if plan.rows else "none"),
        ("lines in the published table of answers", number(k)),
        ("null record, which replaces a missing or unusable record", null_record(schema)),
    ]
    reasons = () if plan.advice is None else plan.advice.reasons
    return plan_page(
        plan, rows, "All figures follow from public parameters. Errors are fractions of the records: 0.01 is one "
                    "record in a hundred. Privacy holds for every table. Predicted errors are no "
                    "promise.", _warnings(plan),
        *((Text(reasons),) if reasons else ()), _spend_section(plan), _error_section(plan),
        said="Privacy holds for every table, if one record is replaced by any other record.")


def _spend_section(plan: QueriesPlan) -> Section:
    delta = plan.config.privacy.delta
    promised = plan.loss.epsilon_at(delta)
    epsilons = Table(
        columns=("rule that adds up the losses", f"epsilon at delta = {delta:g}", "promised"),
        rows=tuple((_NAMES.get(name, name), value, "yes" if math.isclose(value, promised, rel_tol=_ROUNDING) else "")
                   for name, value in sorted(plan.epsilons.items(), key=lambda each: each[1])),
        note="Each row is a valid bound for the same run. State the rule together with an epsilon.")
    spends = Table(columns=("part of the run", "rho", "share"),
                   rows=tuple((_PARTS.get(name, name), rho, f"{share:.1%}") for name, rho, share in plan.spends),
                   note="The costs are in concentrated differential privacy, so they add up. The ledger is charged "
                        "with all of them before the run.")
    share = plan.config.data.accept_unusable
    order = Text((
        "A run has four steps. 1: the run opens the table and looks at the columns and their types, which are public. "
        f"2: it reads the rows once. If more than {percent(MOST_UNUSABLE if share is None else share)} of the rows are "
        "unusable, or if more than this share of the records have no row, the run stops unless the custodian decides "
        "to go on. 3: it charges the ledger. 4: it reads all rows again. After the charge, an unusable row counts as "
        "the null record and stops nothing. Only the custodian learns the reason why a run stopped, or that a table is "
        "missing or damaged. If a run stops after the charge, the charge stays, nothing is published, and the "
        "custodian can repeat the run under the same charge. A published result therefore shows one more fact than its "
        "numbers: the custodian did not stop at step 2.",))
    return Section(title="Cost in privacy", blocks=(epsilons, spends, order))


def _error_section(plan: QueriesPlan) -> Section:
    """A section that compares the predicted errors of all methods on the workload, at this budget and at others."""
    rows: list[tuple[str | float | None, ...]] = []
    for each in plan.others:
        mark = f"{each.method} (planned)" if each.method == plan.method else each.method
        rows.append((mark, None, None, f"not available: {each.refused}") if each.mechanism is None else
                    (mark, _known(each.average), _known(each.largest), each.basis))
    rows += [("all zeros", None, None, "costs no privacy; the largest error is the largest true answer"),
             ("uniform", None, None, "costs no privacy; the error depends on the data")]
    methods = Table(columns=("method", "average predicted error", "error of the worst answer",
                             "basis of the prediction"),
                    rows=tuple(rows), note="All methods have the same epsilon and delta. Errors are fractions of the "
                                           "records.")
    others = tuple((epsilon, each.method if each.mechanism is not None else f"not available: {each.refused}",
                    _known(each.average), _known(each.largest)) for epsilon, each in plan.alternatives)
    steps = Table(columns=("epsilon", "method", "average predicted error", "error of the worst answer"),
                  rows=others, note=f"All rows have delta = {plan.config.privacy.delta:g}. The column 'method' has the "
                                    "method that the file selects at that epsilon.")
    return Section(title="Expected errors", blocks=(methods, *_error_pictures(plan), steps))


def _error_pictures(plan: QueriesPlan) -> list[Picture]:
    """A picture of each method's predicted errors, on a logarithmic axis; none where fewer than two methods have a
    prediction.
    """
    rows = [(each.method, "from the average to the worst answer", each.average, each.average, each.largest)
            for each in plan.others if each.mechanism is not None and each.average > 0 and math.isfinite(each.largest)]
    if len(rows) < 2:
        return []
    reported = ", ".join(f"{name} {average:.2g} to {largest:.2g}" for name, _, average, _, largest in rows)
    return intervals(rows, title="Predicted error of an answer", axis="share of the records", log=True,
                     alt=f"The predicted error of each method, from the average to the worst answer: {reported}.")


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _figure(value: float) -> str:
    return f"about {value:.2g}" if math.isfinite(value) else "not known from public facts"


def _warnings(plan: QueriesPlan) -> list[str]:
    found, privacy = list(plan.doubts), plan.config.privacy
    if privacy.delta >= 1.0 / plan.records:
        found.append(f"a delta of at least 1/{plan.records:,} allows the release of a person's whole record: choose it "
                     "far smaller")
    if privacy.epsilon > PROMISES_LITTLE:
        found.append(f"epsilon = {privacy.epsilon:g} promises little: choose an epsilon below 5, unless the records "
                     "are not secret")
    if plan.prediction.average >= _DOUBTFUL:
        found.append("the predicted errors are so large that the answers say little: spend more, ask fewer queries, or "
                     "use more records")
    own = isinstance(plan.mechanism, DualQuery | Reweighted)
    if own and plan.config.rows.count not in (0, plan.rows):
        found.append(f"this method makes {plan.rows:,} synthetic records, and more rows would only repeat them: the "
                     f"campaign publishes {plan.rows:,} rows instead of {plan.config.rows.count:,}")
    return found


# ---- to a person in the data


def offer(plan: QueriesPlan) -> list[Section]:
    """The offer: the plan in the form that is shown to a person who may have a record in the custodian's table."""
    epsilon, delta = plan.loss.epsilon, float(getattr(plan.loss, "delta", 0.0))
    but = f", except with probability {delta:g}," if delta else ""
    asked = ", ".join(column.column for column in plan.schema.columns[:12])
    more = f" and {len(plan.schema.columns) - 12:,} others" if len(plan.schema.columns) > 12 else ""
    also = (f" The custodian also publishes {plan.rows:,} synthetic rows with similar answers. No published row is a "
            "person's record." if plan.rows else "")
    return [
        answer(Question.REPORT, f"You report nothing. A custodian holds a table of {plan.records:,} records, and your "
                                "record may be one of them."),
        Section(title="Published results", blocks=(Text((
            f"The custodian publishes answers to {len(plan.workload):,} questions of the kind 'which share of the "
            f"records has ...', about {asked}{more}. Noise changes every answer.{also}",)),)),
        answer(Question.SEES, "The custodian has the table, as before. Everybody else sees only the published "
                              "results."),
        answer(Question.HIDES, f"The published result{but} is at most {likelier(epsilon)} times as likely with your "
                               "record as with any other record. "
                               + guess_in_words(plan.mechanism, plan.guarantees.privacy, Audience.PUBLIC),
               "The promise does not hide facts about people in general. If the answers show that most people like you "
               "have a property, they show this with or without your record."),
        answer(Question.GETS, "You are paid nothing. You can read the public result, like everybody else."),
        answer(Question.LIES, "You report nothing, so you cannot lie."),
        answer(Question.TRUSTED, "You trust the custodian with the table, and nobody else."),
        answer(Question.WITHDRAWING, CUSTODIANS_WITHDRAWAL),
    ]
