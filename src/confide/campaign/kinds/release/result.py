"""The result page of a release of answers. First comes the main finding with a picture, then the tables of single
columns and of pairs of columns, then the limits of conclusions about one person. Folded sections follow, with all
answers and the promises.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from confide.campaign.kinds.release.cells import Cells, Column, column_table, columns_of, cross_tables
from confide.campaign.kinds.release.described import compared_with, described, null_record
from confide.campaign.kinds.release.plan import QueriesPlan
from confide.campaign.kinds.skeleton import not_disclosed, promised
from confide.charts import intervals
from confide.contract.guarantees import Audience, stated
from confide.contract.kinds import as_rows
from confide.contract.presentation import Picture, ReplacedPicture, Section, Table, Text, joined
from confide.contract.wire import wire_name
from confide.contract.words import Measured, number, percent, percent_at_most, says_nothing
from confide.privacy.losses import ZCDP
from confide.release.baselines import NoisyAnswers
from confide.release.columns import Bit
from confide.release.dual_query import DualQuery
from confide.release.guarantees import BASELINE_ERROR
from confide.release.marginal_fit import FittedMarginals, MarginalFit
from confide.release.measured_sums import sum_bar
from confide.release.mwem import MWEMCertificate
from confide.release.results import LEVEL, AnyOutcome, Bars, bars, released_answers, synthetic_rows, uncut_answers
from confide.release.reweighted import ReweightedCertificate

__all__ = ["result_sections", "result_tables"]

_SHOWN = 1000  # answers on a page; the table has all
_DRAWN = 12  # answers of a picture
_LONGEST = 60  # letters of a query in a picture
_ROWS = 16  # values of a picture of columns
_NAMED = 3  # columns that the finding names
_CROSSED = 15  # cross tables
_IN_POINTS = "The number after +- is in percentage points."


def result_tables(plan: QueriesPlan, outcome: AnyOutcome) -> dict[str, pa.Table]:
    """The table `answers` and, where the file asks for synthetic rows, the table `rows`.

    The table `answers` has a row for each query: the query in words, the answer in [0, 1], the measured answer before
    it was cut to [0, 1], and the bound on the error of the answer. The measured answer is missing for methods that
    measure no answers. The bound is missing for answers without a proved bound.
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


# ---- the page


def result_sections(plan: QueriesPlan, outcome: AnyOutcome) -> list[Section]:
    """The result page: the main finding, the tables of single columns and of pairs of columns, the limits of
    conclusions about one person, all answers, and the promises.
    """
    found = released_answers(outcome, plan.workload)
    held = bars(plan.mechanism, outcome.billboard, outcome.certificate, plan.workload)
    cells = Cells(plan, outcome)
    columns = columns_of(cells)
    crossed = list(cross_tables(cells)) if columns else []
    parts = [_finding(plan, cells, columns, found, held)]
    if columns:
        parts.append(Section(title="Single columns", blocks=(column_table(columns, _covers(plan)),)))
    if crossed:
        more = len(crossed) - _CROSSED
        parts.append(Section(title="Pairs of columns", blocks=joined(
            "Each cell is the share of all records that have both values" + (
                ", with its error in percentage points if an error is proved."
                if isinstance(plan.mechanism, NoisyAnswers | MarginalFit) else "."),
            *crossed[:_CROSSED],
            f"The release determines {more:,} more such tables: use `confide answer`." if more > 0 else "")))
    return [*parts, _exactness(plan, outcome, found, held), _not_disclosed(plan, cells), _answers(plan, found, held),
            _promises(plan)]


def _finding(
    plan: QueriesPlan, cells: Cells, columns: Sequence[Column], found: np.ndarray, held: Bars
) -> Section:
    """The most frequent value of each column, in one sentence and a picture, for the columns whose errors leave no
    doubt about this value. Where the release determines no column, the finding is the largest answer.
    """
    if not columns:
        first = int(np.argmax(found))
        said = plan.workload.some(np.array([first])).words(plan.schema)[0]
        share = Measured(float(found[first]), _known(float(held.each[first])), share=True)
        return Section(title="What was found", found=True, blocks=(Text((
            f"Of {len(found):,} answers, the answer to '{said}' is the largest: {share} of the {plan.records:,} "
            "records.",)),))
    sure = [column for column in columns if not column.open]
    if not sure:
        literal, cell = columns[0].most
        reach = cell.error or 0.0
        finding = (f"Between {percent(max(0.0, cell - reach))} and {percent(min(1.0, cell + reach))} of the "
                   f"{plan.records:,} records have {cells.words(literal)}. The errors of this release are too large to "
                   "say which value of a column is the most frequent.")
    else:
        named = [(cells.words(literal), cell) for literal, cell in (column.most for column in sure[:_NAMED])]
        unproved = "" if all(cell.error is not None for _, cell in named) else ", without a proven error"
        texts = [f"{said} ({cell}{f' of the {plan.records:,} records' if k == 0 else ''})"
                 for k, (said, cell) in enumerate(named)]
        listed = texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
        finding = f"The most frequent value{'s are' if len(texts) > 1 else ' is'} {listed}{unproved}."
    return Section(title="What was found", found=True, blocks=(
        Text((finding,)), *_column_picture(plan, cells, columns)))


def _column_picture(plan: QueriesPlan, cells: Cells, columns: Sequence[Column]) -> list[Picture]:
    """A picture of the shares of the first columns, as many as fit."""
    rows = list[tuple[str, str, float, float, float]]()
    drawn = list[str]()
    for column in columns:
        if rows and len(rows) + len(column.values) > _ROWS:
            break
        drawn.append(column.name)
        for _, literal, cell in column.values:
            reach = cell.error or 0.0
            rows.append((_shortened(cells.words(literal), len(rows) + 1), "share", 100 * cell,
                         100 * max(0.0, cell - reach), 100 * min(1.0, cell + reach)))
    low, high = min(row[2] for row in rows), max(row[2] for row in rows)
    covers = ""
    if isinstance(plan.mechanism, NoisyAnswers | MarginalFit):
        noise = "of its share" if isinstance(plan.mechanism, NoisyAnswers) else "and the fit of all shares of a column"
        covers = f" A bar covers the noise {noise}, with probability {LEVEL:.0%}."
    return intervals(rows, title="How frequent each value is", axis=f"percent of the {plan.records:,} records",
                     alt=f"The share of the records with each value of {', '.join(drawn)}: from {low:.1f}% to "
                         f"{high:.1f}%.{covers}")


def _covers(plan: QueriesPlan) -> str:
    """A sentence on the coverage of the errors in the tables of columns."""
    match plan.mechanism:
        case NoisyAnswers():
            return (f"The error of a share covers the noise of this share with probability {LEVEL:.0%}. Among many "
                    f"shares, some have larger errors. {_IN_POINTS}")
        case MarginalFit():
            return ("The errors of a table cover the noise and the fit of all of its shares at once, with probability "
                    f"{LEVEL:.0%}. {_IN_POINTS}")
    return "These shares follow from the released population. No error of a single share is proved."


def _exactness(plan: QueriesPlan, outcome: AnyOutcome, found: np.ndarray, held: Bars) -> Section:
    """A section on the bound that holds for all answers together, the records that shares refer to, and warnings."""
    some = math.isfinite(held.together) and held.together < BASELINE_ERROR
    points = f"{percent_at_most(held.together).removesuffix('%')} percentage points" if some else ""
    bound = (f"Every answer is within {points} of {compared_with(plan)}. This bound covers "
             f"{held.together_covers}." if some else
             says_nothing("the bound on the error of all answers at once", "any possible error" if held.together >= 1
                          else "the error of the answer one half to everything") if held.single else
             "There is no useful bound for all answers at these sizes: the accuracy of the method is not proved, but "
             "known from measured runs on other data.")
    said = [bound,
            "Shares refer to the records as the run read them: each missing or unusable record counts as the null "
            f"record ({null_record(plan.schema)}). No error covers the effect of this replacement.",
            "Answers are about these records alone, and not about other people.",
            *_cut_notes(plan, found, uncut_answers(outcome, plan.workload)), *_fit_notes(plan, outcome)]
    if isinstance(plan.mechanism, DualQuery):
        said.append(f"Answers are multiples of 1/{plan.mechanism.rounds:,}, since the release has "
                    f"{plan.mechanism.rounds:,} records.")
    if plan.rows:
        said.append(f"The file rows.parquet holds {plan.rows:,} synthetic rows. The answers of these rows to the "
                    "queries are close to the table of answers, as far as the number of rows allows. No row belongs to "
                    "a person.")
    return Section(title="Accuracy of the answers", blocks=(Text(tuple(said)),))


def _not_disclosed(plan: QueriesPlan, cells: Cells) -> Section:
    """A section on the limits of conclusions about one person, with an example from the campaign's own columns: a
    yes-or-no column where there is one.
    """
    columns = plan.schema.columns
    place = next((k for k, column in enumerate(columns) if isinstance(column, Bit)), 0)
    literal = cells.values(place)[0][1]
    here, otherwise = cells.words(literal), cells.words((literal[0], not literal[1]))
    return not_disclosed(plan, f"whether a given person's record says '{here}' or '{otherwise}'", Audience.PUBLIC)


def _answers(plan: QueriesPlan, found: np.ndarray, held: Bars) -> Section:
    """All answers in the order of the workload, and a picture of the largest of them."""
    known = np.isfinite(held.each)
    shown = range(min(_SHOWN, len(found)))
    words = plan.workload.words(plan.schema, len(shown))
    note = (f"The table shows the first {len(shown):,} of {len(found):,} answers. The file answers.csv has all "
            "answers, with all digits. "
            if len(found) > _SHOWN else "The file answers.csv has all digits. ")
    if held.covers and known.any():
        note += (f"{int(known.sum()):,} of {len(found):,} answers have an error, in percentage points, which covers "
                 f"{held.covers}. ")
    if not known.all():
        note += (f"{'Answers without an error' if known.any() else 'Single answers'} have no proven error "
                 f"bound{' except the one for all answers' if held.together < BASELINE_ERROR else ''}. ")
    rows = tuple((words[j], Measured(float(found[j]), _known(float(held.each[j])), share=True)) for j in shown)
    return Section(title="The answer" if len(found) == 1 else f"All {len(found):,} answers", folded=True, blocks=(
        *_largest_pictures(plan, found, held),
        Table(columns=("query", "share of the records"), rows=rows, note=note.strip())))


def _promises(plan: QueriesPlan) -> Section:
    """The promise of the plan, and its cost for mechanisms with costs that add up. Losses from other proofs are on the
    plan page.
    """
    name = wire_name(plan.mechanism)
    losses = stated(replace(each, note="") if each.note == name else each for each in plan.guarantees.privacy
                    if each.loss == plan.loss or isinstance(each.loss, ZCDP))
    return promised(plan, f"Made by: {described(plan)}.", *losses,
                    "The promise covers the replacement of any record by any other record. It holds towards everybody "
                    "who sees the published result, for any other knowledge that they have. The number of records is "
                    "public.")


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _largest_pictures(plan: QueriesPlan, found: np.ndarray, held: Bars) -> list[Picture]:
    """A picture of the largest answers with their error bars. Answers to queries with "not" are often large and say
    little, so the picture has only answers without "not" if there are such answers.
    """
    workload, order = plan.workload, np.argsort(-found, kind="stable")
    largest = order[:_DRAWN]
    former = _largest_picture(plan, found, held, largest)
    plain: np.ndarray = np.all(workload.bits | (workload.index < 0), axis=1)
    if workload.kind != "conjunctions" or plain[largest].all() or not plain.any():
        return former
    chosen = _largest_picture(plan, found, held, order[plain[order]][:_DRAWN], " without 'not'")
    return [ReplacedPicture(spec=each.spec, alt=each.alt, former=one) for each, one in zip(chosen, former, strict=True)]


def _largest_picture(
    plan: QueriesPlan, found: np.ndarray, held: Bars, largest: np.ndarray, which: str = ""
) -> list[Picture]:
    """A picture of the given answers with their error bars."""
    words = plan.workload.some(largest).words(plan.schema)
    values, reaches = found[largest], np.nan_to_num(held.each[largest])
    rows = [(_shortened(words[k], k + 1), "answer", float(value), max(0.0, float(value - reach)),
             min(1.0, float(value + reach))) for k, (value, reach) in enumerate(zip(values, reaches, strict=True))]
    some = int(np.isfinite(held.each[largest]).sum())
    covers = (f"errors cover {held.covers}" if some == len(rows) else
              f"{some} of these answers have an error" if some else "no single answer has a proven error")
    low, high = percent(float(values.min())), percent(float(values.max()))
    title = ("The answer" if len(found) == 1 else f"The largest answer{which}" if len(rows) == 1 else
             f"The {len(rows)} largest answers{which}")
    return intervals(rows, title=title, axis="share of the records",
                     alt=f"{title}, {low if len(rows) == 1 else f'{low} to {high}'} of the records; {covers}.")


def _shortened(text: str, place: int) -> str:
    """A short label that is different for every place, since the picture draws equal labels on one line."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({place})"


def _cut_notes(plan: QueriesPlan, found: np.ndarray, uncut: np.ndarray | None) -> list[str]:
    """Notes on the effect of cutting answers to [0, 1] on sums of answers; none where no answer was cut."""
    sides = [] if uncut is None else [(int((uncut < 0).sum()), "below 0", 0), (int((uncut > 1).sum()), "above 1", 1)]
    cut = [f"{count:,} {'answers were' if count > 1 else 'answer was'} {side} and {'are' if count > 1 else 'is'} "
           f"shown as {end}" for count, side, end in sides if count]
    if uncut is None or not cut:
        return []
    shown, whole = math.fsum(found.tolist()), math.fsum(uncut.tolist())
    bar, noise = None, ""
    if isinstance(plan.mechanism, NoisyAnswers):
        bar, noise = sum_bar(plan.mechanism, 1 - LEVEL), f" (the noise of this sum, with probability {LEVEL:.0%})"
    side = "high" if shown >= whole else "low"
    return [f"Noise moved answers out of [0, 1]: {', and '.join(cut)}. Sums of shown answers are therefore too {side}: "
            f"all {len(found):,} shown answers add up to {number(shown)}, and the uncut answers to "
            f"{Measured(whole, bar)}{noise}. For sums, use the uncut answers: they stand in the column `uncut` of the "
            "table of answers, and `confide answer` uses them."]


def _fit_notes(plan: QueriesPlan, outcome: AnyOutcome) -> list[str]:
    """Warnings that follow from published data."""
    found, certificate = [], outcome.certificate
    match certificate:
        case ReweightedCertificate() if certificate.overfitted:
            found.append(f"Warning: the weights differ by {certificate.shift:.2f} from even weights (total variation). "
                         "A few records got large weights to fit few measurements, so answers without a measurement "
                         "may be worse.")
        case ReweightedCertificate() if not certificate.fitted:
            found.append("Warning: the run found no weights that fit the measurements, so the weights are even.")
        case MWEMCertificate():
            found.append(f"Each measured answer is within {certificate.measured:.4g} of {compared_with(plan)}. This "
                         "bound covers all measured answers at once, with probability "
                         f"{1 - certificate.failure_probability:.0%}.")
    board: Any = outcome.billboard
    if isinstance(board, FittedMarginals):
        found.append(f"The mean L1 distance of the fitted population from the noisy tables is {board.misfit:.4f}, and "
                     f"the effective number of its rows is {board.diversity:.0%} of all rows.")
        found.extend(f"Warning: {doubt}." for doubt in board.warnings)
    fell = getattr(getattr(board, "rounds", None), "fell_back", None)
    if fell is not None and int(np.asarray(fell).sum()):
        found.append(f"Warning: the optimiser did not help in {int(np.asarray(fell).sum()):,} rounds.")
    return found
