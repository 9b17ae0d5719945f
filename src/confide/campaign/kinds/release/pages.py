"""The pages of a release of answers: for the custodian beforehand, for everybody after it, and for a person in the
data.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa

from confide.campaign.kinds.release.plan import QueriesPlan
from confide.campaign.kinds.skeleton import plan_page, promised
from confide.charts import intervals
from confide.contract.guarantees import Audience, stated
from confide.contract.kinds import as_rows
from confide.contract.mechanism import MOST_UNUSABLE
from confide.contract.offering import CUSTODIANS_WITHDRAWAL, Question, answer, likelier
from confide.contract.outcome import SimulatedOutcome
from confide.contract.presentation import Picture, Section, Table, Text
from confide.contract.wire import wire_name
from confide.contract.words import number, percent
from confide.privacy.groups import guess_in_words
from confide.privacy.losses import PROMISES_LITTLE, ZCDP
from confide.release.answers import true_answers
from confide.release.baselines import IndependentMarginals, NoisyAnswers
from confide.release.columns import Bit
from confide.release.comparison import compare
from confide.release.dual_query import DualQuery
from confide.release.guarantees import BASELINE_ERROR
from confide.release.marginal_fit import FittedMarginals, MarginalFit
from confide.release.measured_sums import sum_bar
from confide.release.mwem import MWEM, MWEMCertificate
from confide.release.records import Codes
from confide.release.results import LEVEL, AnyOutcome, Bars, bars, released_answers, synthetic_rows, uncut_answers
from confide.release.reweighted import Reweighted, ReweightedCertificate
from confide.release.schema import Schema

__all__ = ["explain", "null_record", "offer", "result_sections", "result_tables", "sections", "study_sections"]


def _answer_pictures(words: list[str], found: np.ndarray, held: Bars, largest: np.ndarray) -> list[Picture]:
    """The largest answers with their bars."""
    values, reaches = found[largest], np.nan_to_num(held.each[largest])
    rows = [(_shortened(words[k], k + 1), "answer", float(value), max(0.0, float(value - reach)),
             min(1.0, float(value + reach))) for k, (value, reach) in enumerate(zip(values, reaches, strict=True))]
    some = int(np.isfinite(held.each[largest]).sum())
    covers = f"bars cover {held.covers}" if some == len(rows) else f"{some} of them have a bar"
    return intervals(rows, title=f"The {len(rows)} largest answers", axis="share of the records",
                     alt=f"The {len(rows)} largest answers, {values.min():.3g} to {values.max():.3g} of the records; "
                         f"{covers}.")


# ---- after


def result_tables(plan: QueriesPlan, outcome: AnyOutcome) -> dict[str, pa.Table]:
    """`answers`: every query in words, its answer in [0, 1], the answer before it was cut to that where it was
    measured, and how far it may be off where that is known; and `rows`, the synthetic rows, where they were asked for.
    """
    held = bars(plan.mechanism, outcome.billboard, outcome.certificate, plan.workload)
    uncut = uncut_answers(outcome, plan.workload)
    found = {"answers": pa.table({
        "query": pa.array(plan.workload.words(plan.schema), pa.string()),
        "answer": released_answers(outcome, plan.workload),
        **({} if uncut is None else {"uncut": uncut}),
        "plus_minus": pa.array(held.each, mask=np.isnan(held.each)),
    })}
    rows = synthetic_rows(outcome.billboard, plan.schema, plan.config.rows.count) if plan.rows else None
    return found if rows is None else {**found, "rows": as_rows(rows)}


def result_sections(plan: QueriesPlan, outcome: AnyOutcome) -> list[Section]:
    """The public result: the first answers with what their bars cover, the certificate, and what is promised."""
    found = released_answers(outcome, plan.workload)
    held = bars(plan.mechanism, outcome.billboard, outcome.certificate, plan.workload)
    known = np.isfinite(held.each)
    shown = range(min(_SHOWN, len(found)))
    largest = np.argsort(-found, kind="stable")[:_DRAWN]
    first = plan.workload.words(plan.schema, _SHOWN)
    note = (f"The first {len(shown)} of {len(found):,} answers: shares of the {plan.records:,} records. "
            if len(found) > _SHOWN else f"Shares of the {plan.records:,} records. ")
    if held.covers and known.any():
        note += f"{int(known.sum()):,} of {len(found):,} have a bar: it covers {held.covers}. "
        if held.single and known.sum() > 1:
            note += "Of so many bars some are expected to fail: what holds for all of them at once is said below. "
    some = math.isfinite(held.together) and held.together < BASELINE_ERROR
    if not known.all():
        note += (f"Of {'an answer without a bar' if known.any() else 'a single answer'} nothing is proved"
                 f"{' but what is said of all answers' if some else ''}. ")
    note += "Answers are about these records alone: what they say of other people is another matter."
    every = f"Every answer is within {held.together:.4g} of {_compared_with(plan)}"
    said = [f"{every}: this covers {held.together_covers}." if some else
            "Of all answers at once nothing useful is proved at these sizes: the bound of their noise together is "
            f"{held.together:.2g}." if held.single else
            "No bound that says anything holds for all answers at these sizes: the method's accuracy is known from "
            "measured runs on other data, not proved.",
            "Shares are of the records as the run read them: each that is missing, or that cannot be used, counts as "
            f"the null record ({null_record(plan.schema)}). No bar covers what that changes."]
    said.extend(_cut_notes(plan, found, uncut_answers(outcome, plan.workload)))
    said.extend(_fit_notes(plan, outcome))
    if isinstance(plan.mechanism, DualQuery):
        said.append(f"Answers are multiples of 1/{plan.mechanism.rounds:,}: the release has so many records.")
    if plan.rows:
        said.append(f"Synthetic rows: rows.parquet holds {plan.rows:,}. They answer the queries about as the table of "
                    "answers does, as far as their number allows; no row is anybody's.")
    # The promise of the plan, and its cost where costs add up; what other proofs give stands in the plan.
    losses = stated(each for each in plan.guarantees.privacy if each.loss == plan.loss or isinstance(each.loss, ZCDP))
    return [
        Section(title="Released answers", blocks=(
            Table(columns=("query", "answer", "+-"), rows=tuple(
                (first[j], float(found[j]), float(held.each[j]) if known[j] else None) for j in shown), note=note),
            *_answer_pictures(plan.workload.some(largest).words(plan.schema), found, held, largest),
            Text(tuple(said)))),
        promised(plan, f"Made by: {_describe(plan)}.", *losses,
                 "To whom: to everybody who sees what is published, whatever else they know, about each of the "
                 "records, when one of them is replaced by any other. How many there are is public."),
    ]


def _cut_notes(plan: QueriesPlan, found: np.ndarray, uncut: np.ndarray | None) -> list[str]:
    """What it does to sums that answers were cut to [0, 1]; nothing where none was."""
    sides = [] if uncut is None else [(int((uncut < 0).sum()), "below 0", 0), (int((uncut > 1).sum()), "above 1", 1)]
    cut = [f"{count:,} {'answers were' if count > 1 else 'answer was'} {side} and {'are' if count > 1 else 'is'} "
           f"shown as {end}" for count, side, end in sides if count]
    if uncut is None or not cut:
        return []
    shown, whole = math.fsum(found.tolist()), math.fsum(uncut.tolist())
    bar = ""
    if isinstance(plan.mechanism, NoisyAnswers):
        bar = f" +- {sum_bar(plan.mechanism, 1 - LEVEL):.4g} (the noise of that sum, with {LEVEL:.0%})"
    side = "high" if shown >= whole else "low"
    return [f"Noise moved answers out of [0, 1]: {', and '.join(cut)}. Sums of shown answers are too {side} for it: "
            f"all {len(found):,} add up to {shown:.4g} as they are shown, and to {whole:.4g}{bar} uncut. Add up the "
            "uncut ones: they stand in the column `uncut` of the table of answers, and `confide answer` counts with "
            "them."]


def _fit_notes(plan: QueriesPlan, outcome: AnyOutcome) -> list[str]:
    """Warnings that follow from what is published."""
    found, certificate = [], outcome.certificate
    match certificate:
        case ReweightedCertificate() if certificate.overfitted:
            found.append(f"Warning: the weights are {certificate.shift:.2f} from even ones (total variation): few "
                         "records were bent far to fit few measurements, and answers that were not measured may be "
                         "worse for it.")
        case ReweightedCertificate() if not certificate.fitted:
            found.append("Warning: no weights were found that fit the measurements: they are even.")
        case MWEMCertificate():
            found.append(f"Each measured answer is within {certificate.measured:.4g} of {_compared_with(plan)}: this "
                         f"covers all of them at once, with {1 - certificate.failure_probability:.0%}.")
    board: Any = outcome.billboard
    if isinstance(board, FittedMarginals):
        found.append(f"The fit: the population misses the noisy tables by {board.misfit:.4f} (mean L1 distance), and "
                     f"{board.diversity:.0%} of its rows count.")
        found.extend(f"Warning: {doubt}." for doubt in board.warnings)
    fell = getattr(getattr(board, "rounds", None), "fell_back", None)
    if fell is not None and int(np.asarray(fell).sum()):
        found.append(f"Warning: in {int(np.asarray(fell).sum()):,} rounds the optimiser was of no use.")
    return found


def explain(plan: QueriesPlan, *_: Any) -> list[Section]:
    """The page of one person: the same words for everybody, whether their record is in the table or not."""
    epsilon, delta = plan.loss.epsilon, float(getattr(plan.loss, "delta", 0.0))
    but = f" (except with probability {delta:g})" if delta else ""
    return [Section(title="Nothing is handed to single people", blocks=(Text((
        "This campaign publishes answers about a table that a custodian holds. Nobody has a share or a payment, and "
        "nobody learns whether their record is in the table. This page is the same for every id.",
        f"The promise protects everybody in the table: the published release is at most {likelier(epsilon)} times as "
        f"likely with their record as with any other record{but}.",
        "You can read the public result and check it (confide verify PACK --key FINGERPRINT).",
    )),))]


_PURE = ("all zeros", "uniform", "Laplace")
"""Rivals that need no delta."""

_SEED = 20_240_229  # of the rivals' noise
_CELLS = 2**17  # of MWEM's histogram up to which it is a rival: beyond it takes minutes


def study_sections(plan: QueriesPlan, data: Codes, outcome: SimulatedOutcome) -> list[Section]:
    """True errors, average and largest, against the baselines at the same budget.

    Args:
        plan: the plan.
        data: the custodian's records.
        outcome: the outcome of the simulated run.
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
    return [Section(title="True errors, beside other methods", study=True, blocks=(
        Table(columns=("method", "average error", "largest error", "privacy"), rows=tuple(rows),
              note="Non-private: errors against the true answers of this table, under simulated noise, as fractions "
                   "of the records."),
        *(Text((f"{method} is left out: {why}.",)) for method, why in found.left_out.items()),
        Text((f"Predicted from public facts: {predicted.average:.2g} on average, {predicted.largest:.2g} at worst "
              f"({predicted.basis}).",
              "Do not choose a method or a setting from these figures: the choice would disclose private data. Choose "
              "by the plan, or by a study on public data.")),
    ))]


_SHOWN = 20  # answers on a page; the table has all
_DRAWN = 12  # answers of a picture
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


def _describe(plan: QueriesPlan) -> str:
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


def sections(plan: QueriesPlan) -> list[Section]:
    """The predicted outcome, for the custodian, from public parameters alone."""
    schema, k = plan.schema, len(plan.workload)
    accuracy = plan.accuracy
    rows: list[tuple[str, str]] = [
        ("records (fixed and public)", number(plan.records)),
        ("columns, and the attributes that they make", f"{len(schema.columns):,}, {schema.attributes:,}"),
        ("queries", number(k)),
        ("method", plan.method + (" (recommended)" if plan.advice is not None else "")),
        ("description of the method", _describe(plan)),
        ("privacy of one record, towards the public", str(plan.loss)),
        ("predicted error of an answer, on average", _figure(plan.prediction.average)),
        ("  of the worst answer", _figure(plan.prediction.largest)),
        ("  basis of the prediction", plan.prediction.basis),
        ("promised error of the worst answer", "none" if accuracy is None else
         f"no useful bound at these sizes ({accuracy.bound:.2g})" if accuracy.vacuous else
         f"{accuracy.bound:.4g}, except with probability {accuracy.failure_probability:g}"),
        ("synthetic rows that are published", number(plan.rows) if plan.rows else "none"),
        ("lines of the published table of answers", number(k)),
        ("a missing or unusable record counts as", null_record(schema)),
    ]
    reasons = () if plan.advice is None else plan.advice.reasons
    return plan_page(
        plan, rows, "All figures follow from public parameters. Errors are fractions of the records: 0.01 is one "
                    "record in a hundred. Privacy holds for every table. Predicted errors are no "
                    "promise.", _warnings(plan),
        *((Text(reasons),) if reasons else ()), _spend_section(plan), _error_section(plan),
        said="Privacy holds for every table, when one record is replaced by any other.")


def _spend_section(plan: QueriesPlan) -> Section:
    delta = plan.config.privacy.delta
    promised = plan.loss.epsilon_at(delta)
    epsilons = Table(
        columns=("how the losses are added up", f"epsilon at delta = {delta:g}", "promised"),
        rows=tuple((_NAMES.get(name, name), value, "yes" if math.isclose(value, promised, rel_tol=_ROUNDING) else "")
                   for name, value in sorted(plan.epsilons.items(), key=lambda each: each[1])),
        note="Each row is a valid bound for the same run. State the calculator together with an epsilon.")
    spends = Table(columns=("part of the run", "rho", "share"),
                   rows=tuple((name, rho, f"{share:.1%}") for name, rho, share in plan.spends),
                   note="The costs are in concentrated differential privacy, so that they add up. The ledger is "
                        "charged with all of them before the run.")
    share = plan.config.data.accept_unusable
    order = Text((
        "A run has four steps. 1: it opens the table and looks at its columns and their types, which are public. 2: it "
        f"reads the rows once; if more than {percent(MOST_UNUSABLE if share is None else share)} of them are unusable, "
        "or as many records have no row, the run stops unless the custodian decides to go on. 3: it charges the "
        "ledger. 4: it reads all rows again; from the charge on, an unusable row counts as the null record and stops "
        "nothing. Only the custodian learns why a run stopped, or that a table is missing or damaged. A charge stays, "
        "nothing is published, and the custodian can repeat the run under the same charge. A published result "
        "therefore shows one more fact than its numbers: the custodian did not stop at step 2.",))
    return Section(title="Cost in privacy", blocks=(epsilons, spends, order))


def _error_section(plan: QueriesPlan) -> Section:
    """The same queries by every method, at this budget and others."""
    rows: list[tuple[str | float | None, ...]] = []
    for each in plan.others:
        mark = f"{each.method} (planned)" if each.method == plan.method else each.method
        rows.append((mark, None, None, f"cannot run: {each.refused}") if each.mechanism is None else
                    (mark, _known(each.average), _known(each.largest), each.basis))
    rows += [("all zeros", None, None, "no privacy is spent; the worst answer is off by the largest true answer"),
             ("uniform", None, None, "no privacy is spent; the error depends on the data")]
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


def _shortened(text: str, place: int) -> str:
    """A label of its own: two that are cut to the same letters would be one line."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({place})"


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
        found.append(f"epsilon = {privacy.epsilon:g} promises little: choose it below 5, unless the records are no "
                     "secret")
    if plan.prediction.average >= _DOUBTFUL:
        found.append("the predicted errors are so large that the answers say little: spend more, ask fewer queries, or "
                     "use more records")
    own = isinstance(plan.mechanism, DualQuery | Reweighted)
    if own and plan.config.rows.count not in (0, plan.rows):
        found.append(f"this method makes {plan.rows:,} records of its own, and more rows would only repeat them: "
                     f"{plan.rows:,} rows are published instead of {plan.config.rows.count:,}")
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


def offer(plan: QueriesPlan) -> list[Section]:
    """The plan as a person reads it whose record may be in the table."""
    epsilon, delta = plan.loss.epsilon, float(getattr(plan.loss, "delta", 0.0))
    but = f", except with probability {delta:g}," if delta else ""
    asked = ", ".join(column.column for column in plan.schema.columns[:12])
    more = f" and {len(plan.schema.columns) - 12:,} others" if len(plan.schema.columns) > 12 else ""
    also = f", and {plan.rows:,} made-up rows that answer like the table" if plan.rows else ""
    return [
        answer(Question.REPORT, f"You report nothing. A custodian holds a table of {plan.records:,} records, and yours "
                                "may be one of them."),
        Section(title="Published results", blocks=(Text((
            f"The custodian publishes answers to {len(plan.workload):,} questions of the kind 'which share of the "
            f"records has ...', about {asked}{more}{also}. Noise changes every answer. No published row is a person's "
            "record.",)),)),
        answer(Question.SEES, "The custodian has the table, as before. Everybody else sees only the published "
                              "results."),
        answer(Question.HIDES, f"The published result{but} is at most {likelier(epsilon)} times as likely with your "
                               "record as with any other record. "
                               + guess_in_words(plan.mechanism, plan.guarantees.privacy, Audience.PUBLIC),
               "The promise does not hide facts about people in general. If the answers show that most people like you "
               "have a property, they show it with or without your record."),
        answer(Question.GETS, "You are paid nothing. You can read the public result, like everybody else."),
        answer(Question.LIES, "You report nothing, so there is nothing to lie about."),
        answer(Question.TRUSTED, "You trust the custodian with the table, and nobody else."),
        answer(Question.WITHDRAWING, CUSTODIANS_WITHDRAWAL),
    ]


def _compared_with(plan: QueriesPlan) -> str:
    """What answers are compared with: the same words however many records could be used."""
    return f"its share of the {plan.records:,} records as the run read them"
