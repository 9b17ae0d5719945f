"""The audit of a release, for the audit harness. The audit runs the mechanism on tiny synthetic tables, checks the
privacy accounting, and measures the errors on synthetic data with the columns of the release. The custodian's table is
never read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from confide.audit import (
    Audited,
    AuditRow,
    Concern,
    Control,
    DampedNoise,
    Examined,
    Laws,
    Transcripts,
    observed,
)
from confide.contract.guarantees import Accuracy, Guarantee, Guarantees
from confide.contract.mechanism import Mechanism
from confide.contract.outcome import SimulatedOutcome
from confide.privacy.losses import ApproxDP, PureDP
from confide.privacy.noise import Noise
from confide.release.answers import true_answers
from confide.release.audited_faults import charges, named_charge, own_epsilon, own_rho
from confide.release.audited_full_size import full_size
from confide.release.audited_games import games, like
from confide.release.audited_tables import RECORDS, neighbours, quiet, tiny
from confide.release.baselines import NoisyAnswers
from confide.release.dual_query import DualQuery
from confide.release.mwem import MWEM
from confide.release.records import table_of
from confide.release.results import Bars, bars, released_answers
from confide.release.reweighted import Reweighted
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = ["FALSE_ALARM", "errors", "release"]

FALSE_ALARM = 1e-9
"""Probability with which one audit row that is based on random draws reports a kept promise as broken."""

_DRAWS = 400
_PAIRS = 5  # of tiny tables, all of them: each part attains its charge on another one
_UNPROMISED = {
    Concern.INCENTIVES: "a custodian holds the table and nobody reports anything, so lies are impossible",
    Concern.PARTICIPATION: "nobody is invited or paid, so nobody decides whether to take part",
}
_NARROW = 50.0  # of the control: a fit averages noise away, and may be far within its bars


def release(
    it: Mechanism, schema: Schema, workload: Workload, *, loss: PureDP | ApproxDP, predicted: float, seed: int = 0,
) -> Audited:
    """The promises, the privacy charge and the audits of one release.

    Args:
        it: the mechanism.
        schema: the public columns.
        workload: the queries.
        loss: stated privacy loss of the release: (epsilon, delta) if delta is above 0, and epsilon otherwise.
        predicted: planned average error of an answer, as a fraction of the records.
        seed: seed of the synthetic tables, and of the noisy values that an audit fixes (transcripts).
    """
    twin, promises = tiny(it), it.guarantees()
    replayed = _replayed(twin, seed)
    game = it.dual_query if isinstance(it, Reweighted) else it
    return Audited(
        promises=promises, events=it.events, charged=named_charge(it), unpromised=_UNPROMISED,
        unmeasured=_unmeasured, measured=[
            Examined(named="privacy, summed again", sound=1.0,
                     rows=lambda factor: [_accounts(it, loss, promises, factor)], faults={
                         "four times the stated spend": 4.0}),
            replayed,
            Laws(draws=lambda: observed(replayed.run, next(neighbours(twin, seed)).first, seed), samples=_DRAWS,
                 false_alarm=FALSE_ALARM, seed=seed),
            full_size(it, schema, seed),
            *(games(seed, like(game)) if isinstance(game, DualQuery) else ()),
            _Errors(it, schema, workload, predicted, seed)])


def _unmeasured(promise: Guarantee) -> str:
    return ("the run on a synthetic table is compared with another promise of the "
            "mechanism") if isinstance(promise, Accuracy) else ""


def _names(twin: Mechanism) -> dict[str, str]:
    named = f"privacy: {type(twin).__name__} on {RECORDS} records of four columns"
    return {part: f"{named}, {part}" for part, _ in charges(twin) if part}


def _replayed(twin: Mechanism, seed: int) -> Transcripts:
    """The fixed-transcript audit of a tiny version of the mechanism on worst-case neighbours."""
    return Transcripts(
        named=f"privacy: {type(twin).__name__} on {RECORDS} records of four columns", run=partial(quiet, twin),
        pairs=partial(neighbours, twin, seed), seed=seed, promises=twin.guarantees().privacy,
        claims=dict(charges(twin)), names=_names(twin), hardest=_PAIRS, among=f"{RECORDS} records",
        events=twin.events, faults={
            "noise with a scale that depends on the data": lambda data, noise: quiet(
                twin, data, DampedNoise(noise, 1 + int(data.cells.sum()) % 97 / 100))})


# ---- the accounts, summed again


def _accounts(it: Mechanism, loss: PureDP | ApproxDP, promises: Guarantees, factor: float) -> AuditRow:
    """The row that compares the promised epsilon with an independent sum over the mechanism's parameters. The factor
    multiplies the spent privacy loss, so that a factor above 1 simulates a fault.
    """
    delta = float(getattr(loss, "delta", 0.0))
    if isinstance(it, NoisyAnswers) and it.law == "laplace":
        own = factor * own_epsilon(it, math.nan, delta)
    elif isinstance(it, DualQuery) and it.calculator == "pure" and not delta:
        own = factor * it.eta * it.rounds * (it.rounds - 1) * it.samples / it.records
    elif delta == 0 and isinstance(it, MWEM):
        own = factor * 2 * it.rounds * it.each
    elif isinstance(it, DualQuery) and it.calculator != "zcdp":
        # A calculator of the source is never sharper than the best order.
        own = own_epsilon(it, factor * own_rho(it), delta)
    else:
        own = own_epsilon(it, factor * own_rho(it), delta) if delta or isinstance(it, NoisyAnswers) else math.inf
    stated = [promise for promise in promises.privacy if promise.loss == loss]
    name, evidence = "privacy: the promised epsilon, computed a second time", (
        f"from the mechanism's parameters, by a separate sum, at delta = {delta:g}")
    if not stated:
        return AuditRow.at_most(name, loss.epsilon, own, evidence, unit="nats", concern=Concern.PRIVACY)
    return AuditRow.of_privacy(stated[0], own, evidence, named=name).holding(*stated)


# ---- errors


class _Errors:
    """The audit of errors, in the form that the audit harness expects."""

    def __init__(self, it: Mechanism, schema: Schema, workload: Workload, predicted: float, seed: int) -> None:
        self.measured = partial(errors, it, schema, workload, predicted, seed)


def errors(
    it: Mechanism, schema: Schema, workload: Workload, predicted: float, seed: int,
) -> tuple[list[AuditRow], list[Control]]:
    """Audit rows that compare the promised errors of a release with the errors of one run. The run uses a synthetic
    table with the columns of the release. The function also returns controls, which the audit must flag: the same run
    with error bars that are far too narrow.
    """
    promises, it, records = it.guarantees(), _strict(it), it.records  # type: ignore[attr-defined] # all have them
    data = table_of(schema, records, seed=seed)
    true = true_answers(data, workload)
    needs_table = not isinstance(it, NoisyAnswers | DualQuery | MWEM)
    outcome = it.run(data if needs_table or getattr(it, "free", "") == "marginals" else true, Noise.simulated(seed))
    if not isinstance(outcome, SimulatedOutcome):
        raise TypeError("simulated noise accepted as a release")
    found = np.abs(released_answers(outcome, workload) - true.fractions)
    held = bars(it, outcome.billboard, outcome.certificate, workload, failure_probability=FALSE_ALARM)
    narrow = replace(held, each=held.each / _NARROW, together=held.together / _NARROW)
    # Noise that left every count as it is shows nothing, whatever the bars are.
    bug = [_bar_row(it, narrow, found)] if found.max() * records >= 1 else []
    return list(_held(it, promises, workload, predicted, outcome, found, held, true.fractions)), [
        Control("accuracy: an error as a share of its own bound", f"bounds {_NARROW:g} times too small", row.flagged)
        for row in bug if row is not None]


def _strict(it: Mechanism) -> Mechanism:
    """The same mechanism with error bounds that fail with probability `FALSE_ALARM`. A failure is then so rare that an
    audit may report it as a broken promise.
    """
    match it:
        case DualQuery():
            return replace(it, failure_probability=FALSE_ALARM)
        case Reweighted():
            return replace(it, failure_probability=FALSE_ALARM, dual_query=replace(it.dual_query,
                                                                                   failure_probability=FALSE_ALARM))
        case MWEM():
            return replace(it, failure_probability=FALSE_ALARM)
    return it


def _held(
    it: Mechanism, promises: Guarantees, workload: Workload, predicted: float, outcome: SimulatedOutcome, errors: Any,
    held: Bars, true: Any,
) -> Iterator[AuditRow]:
    note = f"errors of these answers: {errors.mean():.2g} on average, predicted about {predicted:.2g}"
    promise = None if isinstance(it, NoisyAnswers) else next(iter(it.guarantees().of(Accuracy)), None)
    if promise is not None:
        measured = errors
        if isinstance(it, Reweighted):  # the promise is of its records as they were drawn, with even weights
            board: Any = outcome.billboard
            measured = np.abs(board.unweighted.answers(workload) - true)
        yield AuditRow.at_most(f"accuracy: {promise.measure}", promise.bound, float(measured.max()),
                               f"{_RUN}; the promise fails with probability {promise.failure_probability:.2g}",
                               vacuous=promise.vacuous, note=note, false_alarm=min(0.999, promise.failure_probability),
                               unit="of the records", concern=Concern.ACCURACY).holding(*(
                                   each for each in promises.of(Accuracy) if each.measure == promise.measure))
    row = _bar_row(it, held, errors, note)
    if row is not None:
        yield row
    if math.isfinite(held.together) and not isinstance(it, NoisyAnswers):
        yield AuditRow.at_most("accuracy: the largest error of all answers, by the run's own certificate",
                               held.together, float(errors.max()), _rare(_RUN), note=note, false_alarm=FALSE_ALARM,
                               unit="of the records", concern=Concern.ACCURACY)
    if promise is None and row is None:
        yield AuditRow("accuracy: the mechanism promises nothing",
                       "nothing", float(errors.max()), _RUN, "vacuous", note,
                       unit="of the records", concern=Concern.ACCURACY)


_RUN = "one run under simulated noise, on a synthetic table with the campaign's columns"


def _rare(evidence: str) -> str:
    return f"{evidence}, with simultaneous bounds that fail with probability {FALSE_ALARM:g}"


def _bar_row(it: Mechanism, held: Bars, errors: Any, note: str = "") -> AuditRow | None:
    """The row that compares all errors with their simultaneous error bars, which fail with probability `FALSE_ALARM`;
    None if there are no bars.
    """
    if isinstance(it, NoisyAnswers):  # its single bars hold one by one
        return AuditRow.at_most("accuracy: the largest error of all answers", held.together, float(errors.max()),
                                _rare(_RUN), note=note, false_alarm=FALSE_ALARM,
                                unit="of the records", concern=Concern.ACCURACY).holding(*it.guarantees().of(Accuracy))
    known = np.isfinite(held.each)
    if not known.any():
        return None
    return AuditRow.at_most("accuracy: an error as a share of its own bound, at most", 1.0,
                            float((errors[known] / held.each[known]).max()), _rare(_RUN), note=note,
                            false_alarm=FALSE_ALARM, unit="times the bar", concern=Concern.ACCURACY)
