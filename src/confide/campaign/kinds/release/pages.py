"""What a release of answers shows: to the custodian beforehand, to everybody after it, and to a person in the data."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from confide.campaign.kinds.release.plan import (
    DRAWN,
    SHOWN,
    QueriesPlan,
    compared_with,
    describe,
    null_record,
    shortened,
)
from confide.campaign.kinds.release.results import LEVEL, AnyOutcome, Bars, bars, released_answers, uncut_answers
from confide.charts import intervals
from confide.contract.guarantees import stated
from confide.contract.offering import likelier
from confide.contract.outcome import SimulatedOutcome
from confide.contract.presentation import Picture, Section, Table, Text
from confide.privacy.groups import group_blocks
from confide.privacy.losses import ZCDP
from confide.release.answers import true_answers
from confide.release.baselines import NoisyAnswers
from confide.release.certificate import BASELINE_ERROR
from confide.release.codes import Codes
from confide.release.comparison import compare
from confide.release.dual_query import DualQuery
from confide.release.marginal_fit import FittedMarginals
from confide.release.measured_sums import sum_bar
from confide.release.mwem import MWEMCertificate
from confide.release.reweighted import ReweightedCertificate

__all__ = ["explain", "result_sections", "study_sections"]


def _answer_pictures(words: list[str], found: np.ndarray, held: Bars, largest: np.ndarray) -> list[Picture]:
    """The largest answers with their bars."""
    values, reaches = found[largest], np.nan_to_num(held.each[largest])
    rows = [(shortened(words[k], k + 1), "answer", float(value), max(0.0, float(value - reach)),
             min(1.0, float(value + reach))) for k, (value, reach) in enumerate(zip(values, reaches, strict=True))]
    some = int(np.isfinite(held.each[largest]).sum())
    covers = f"bars cover {held.covers}" if some == len(rows) else f"{some} of them have a bar"
    return intervals(rows, title=f"The {len(rows)} largest answers", axis="share of the records",
                     alt=f"The {len(rows)} largest answers, {values.min():.3g} to {values.max():.3g} of the records; "
                         f"{covers}.")


# ---- after


def result_sections(plan: QueriesPlan, outcome: AnyOutcome) -> list[Section]:
    """The public result: the first answers with what their bars cover, the certificate, and what is promised."""
    found = released_answers(outcome, plan.workload)
    held = bars(plan.mechanism, outcome.billboard, outcome.certificate, plan.workload)
    known = np.isfinite(held.each)
    shown = range(min(SHOWN, len(found)))
    largest = np.argsort(-found, kind="stable")[:DRAWN]
    first = plan.workload.words(plan.schema, SHOWN)
    note = (f"The first {len(shown)} of {len(found):,} answers: shares of the {plan.records:,} records. "
            if len(found) > SHOWN else f"Shares of the {plan.records:,} records. ")
    if held.covers and known.any():
        note += f"{int(known.sum()):,} of {len(found):,} have a bar: it covers {held.covers}. "
        if held.single and known.sum() > 1:
            note += "Of so many bars some are expected to fail: what holds for all of them at once is said below. "
    some = math.isfinite(held.together) and held.together < BASELINE_ERROR
    if not known.all():
        note += (f"Of {'an answer without a bar' if known.any() else 'a single answer'} nothing is proved"
                 f"{' but what is said of all answers' if some else ''}. ")
    note += "Answers are about these records alone: what they say of other people is another matter."
    every = f"Every answer is within {held.together:.4g} of {compared_with(plan)}"
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
        Section(title="What is promised, and to whom", blocks=(Text((
            f"Made by: {describe(plan)}.", *losses,
            "To whom: to everybody who sees what is published, whatever else they know, about each of the records, "
            "when one of them is replaced by any other. How many there are is public.",
        )), *group_blocks(plan.mechanism, plan.guarantees.privacy))),
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
            found.append(f"Each measured answer is within {certificate.measured:.4g} of {compared_with(plan)}: this "
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


def explain(plan: QueriesPlan) -> list[Section]:
    """What one person gets: the same words for everybody, whether her record is in the table or not."""
    epsilon, delta = plan.loss.epsilon, float(getattr(plan.loss, "delta", 0.0))
    but = f" (but for a probability of {delta:g})" if delta else ""
    return [Section(title="Nothing is handed to single people", blocks=(Text((
        "This campaign publishes answers about a table that a custodian holds. Nobody has a share of her own, is paid, "
        "or is told whether her record is in the table: this page says the same for every id.",
        f"What protects whoever is in it: the release would have come out the same way up to a factor of "
        f"{likelier(epsilon)}{but}, had her record been any other one.",
        "What she can do: read the public result, and check it (confide verify PACK --key FINGERPRINT).",
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
        outcome: of the simulated run.
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
              "To choose a method, or a setting, by what stands here would be a leak: choose by the plan, or by a "
              "study on public data.")),
    ))]
