"""The study beside a simulated run: true errors of the release and of every rival. Uses private data; no release."""

from __future__ import annotations

from confide.campaign.kinds.release.plan import QueriesPlan
from confide.campaign.kinds.release.results import released_answers
from confide.contract.outcome import SimulatedOutcome
from confide.contract.presentation import Section, Table, Text
from confide.release.answers import true_answers
from confide.release.codes import Codes
from confide.release.comparison import compare

__all__ = ["study_sections"]

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
