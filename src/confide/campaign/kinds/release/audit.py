"""The audit of a planned release: the same mechanism on tiny made-up tables, its accounts, and its errors on made-up
data with the campaign's own columns. The custodian's table is never touched.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from confide.audit import (
    AuditReport,
    AuditRow,
    Concern,
    Control,
    DampedNoise,
    Neighbours,
    TranscriptAudit,
    completed,
    fixed_transcript_audit,
    part_controls,
    promise_rows,
    sampler_audit,
)
from confide.campaign.kinds.release.plan import QueriesPlan
from confide.contract.guarantees import Accuracy, Guarantee
from confide.contract.kinds import Progress
from confide.contract.mechanism import Mechanism
from confide.contract.outcome import SimulatedOutcome
from confide.contract.progress import advance
from confide.privacy.noise import Draw, ForcedNoise, Noise, RecordingNoise
from confide.release.answers import true_answers
from confide.release.audit import dual_query_controls, dual_query_rows
from confide.release.audit.charged import charge, own_epsilon, own_rho, whole_charge
from confide.release.audit.dual import like
from confide.release.audit.full_size import full_size
from confide.release.audit.tiny_mechanisms import RECORDS, neighbours, published, tiny
from confide.release.audit.transcripts import Run, audited, histories, quiet, transcript_rows
from confide.release.baselines import NoisyAnswers
from confide.release.dual_query import DualQuery
from confide.release.made_up import table_of
from confide.release.mwem import MWEM
from confide.release.results import Bars, bars, released_answers
from confide.release.reweighted import Reweighted

__all__ = ["audit_plan"]

FALSE_ALARM = 1e-9
"""Probability with which one statistical row says "broken" of a kept promise."""

_DRAWS = 400
_STEPS = 6
_UNPROMISED = {
    Concern.INCENTIVES: "nobody reports anything: a custodian holds the table, so that there is no lie to pay for",
    Concern.PARTICIPATION: "nobody is invited or paid, so that nobody has to be willing",
}
_NARROW = 50.0  # of the control: a fit averages noise away, and may be far within its bars


def audit_plan(plan: QueriesPlan, seed: int = 0, progress: Progress | None = None) -> AuditReport:
    """Promised against measured for one campaign, with the planted bugs that the audit must flag.

    Args:
        plan: of the campaign.
        seed: of made-up tables and histories.
        progress: called as the audit goes on.
    """
    twin = tiny(plan.mechanism)
    charged, planted = charge(plan.mechanism)
    priced, wrongly = promise_rows(plan.guarantees, lambda: plan.events)
    rows = [_accounts(plan), charged, *(row for row in priced if row.concern is Concern.PRIVACY)]
    out = [_wrong_accounts(plan), *planted, *wrongly]
    advance(progress, 1, _STEPS)
    rows += _transcript_rows(twin, seed)
    advance(progress, 2, _STEPS)
    out += _transcript_controls(twin, seed)
    advance(progress, 3, _STEPS)
    large = full_size(plan.mechanism, plan.schema, seed)
    rows += large[0]
    out += large[1]
    advance(progress, 4, _STEPS)
    game = plan.mechanism.dual_query if isinstance(plan.mechanism, Reweighted) else plan.mechanism
    if isinstance(game, DualQuery):
        rows += [row.smaller("games of a few queries") for row in dual_query_rows(seed, like(game))]
        out += dual_query_controls(seed)
    advance(progress, 5, _STEPS)
    errors = _accuracy(plan, seed)
    rows += errors[0]
    out += errors[1]
    advance(progress, 6, _STEPS)
    return completed(AuditReport(tuple(rows), tuple(out)), plan.guarantees, _UNPROMISED, _unmeasured)


def _unmeasured(promise: Guarantee) -> str:
    return "the run on a made-up table is held against another of its promises" if isinstance(promise, Accuracy) else ""


# ---- a tiny twin, walked through


def _transcript_rows(twin: Mechanism, seed: int) -> list[AuditRow]:
    heard: dict[tuple[str, str], Draw] = {}

    def run(data: Any, noise: Noise) -> Any:
        outcome = quiet(twin, data, noise)
        if isinstance(noise, RecordingNoise):
            for draw in noise.draws:
                heard.setdefault((str(draw.stream[0]), draw.law), draw)
        return outcome

    rows = [row.smaller(f"{RECORDS} records") for row in transcript_rows(twin, _named(twin), seed, run)
            if row.concern is Concern.PRIVACY]
    secure = Noise.secure()
    return rows + [sampler_audit(secure, draw, _DRAWS, FALSE_ALARM) for draw in heard.values()]


def _transcript_controls(twin: Mechanism, seed: int) -> list[Control]:
    broken: list[tuple[str, Run]] = [
        ("no noise at all", lambda data, _: quiet(twin, data, ForcedNoise([]))),
        ("noise multiplied by 0.2", lambda data, noise: quiet(twin, data, DampedNoise(noise, 0.2))),
        ("as much noise as the data asks for",
         lambda data, noise: quiet(twin, data, DampedNoise(noise, 1 + int(data.cells.sum()) % 97 / 100))),
        ("a true answer on the billboard", lambda data, noise: _Told(quiet(twin, data, noise), int(data.cells.sum()))),
    ]
    pairs = [_told(pair) for pair in neighbours(twin, seed)]
    claims = {"": whole_charge(twin)}
    drawn = histories(seed)

    def shows(run: Run) -> bool:  # one pair that shows a bug is enough
        return any(fixed_transcript_audit(run, [pair], claims, lambda _, at=number: drawn(at))[""].flagged  # type: ignore[misc]
                   for number, pair in enumerate(pairs))

    def damped(noise: Callable[[Noise], Noise]) -> dict[str, TranscriptAudit]:
        return audited(twin, seed, run=lambda data, source: quiet(twin, data, noise(source)))

    return [*(Control("privacy, its own run", bug, shows(run)) for bug, run in broken),
            *part_controls(audited(twin, seed), damped, lambda part: f"privacy: {_named(twin)}, {part}")]


def _named(twin: Mechanism) -> str:
    return f"{type(twin).__name__} on {RECORDS} records of four columns"


class _Told:
    """An outcome with a private number beside it."""

    def __init__(self, outcome: Any, number: int) -> None:
        self.billboard, self.certificate, self.number = outcome.billboard, outcome.certificate, number


def _told(pair: Neighbours) -> Neighbours:
    """The same pair; what is told besides counts as published."""
    return Neighbours(pair.first, pair.second,
                      lambda outcome: published(outcome) + str(getattr(outcome, "number", "")).encode())


# ---- the accounts, summed again


def _accounts(plan: QueriesPlan, factor: float = 1.0) -> AuditRow:
    """The epsilon that is promised, held against an own sum; with a factor, of a mechanism that really spends that."""
    it, delta = plan.mechanism, float(getattr(plan.loss, "delta", 0.0))
    if isinstance(it, DualQuery) and it.calculator == "pure" and not delta:
        own = factor * it.eta * it.rounds * (it.rounds - 1) * it.samples / it.records
    elif delta == 0 and isinstance(it, MWEM):
        own = factor * 2 * it.rounds * it.each
    elif isinstance(it, DualQuery) and it.calculator != "zcdp":
        # A calculator of the source is never sharper than the best order.
        own = own_epsilon(it, factor * own_rho(it), delta)
    else:
        own = own_epsilon(it, factor * own_rho(it), delta) if delta or isinstance(it, NoisyAnswers) else math.inf
    stated = [promise for promise in plan.guarantees.privacy if promise.loss == plan.loss]
    name, evidence = "privacy: the epsilon that is promised, summed again", (
        f"from the mechanism's parameters, by a sum of its own, at delta = {delta:g}")
    if not stated:
        return AuditRow.at_most(name, plan.loss.epsilon, own, evidence, unit="nats", concern=Concern.PRIVACY)
    return AuditRow.of_privacy(stated[0], own, evidence, named=name).holding(*stated)


def _wrong_accounts(plan: QueriesPlan) -> Control:
    """The same check of a mechanism that spends four times what it says."""
    it = plan.mechanism
    if isinstance(it, NoisyAnswers) and it.law == "laplace":
        wrong = AuditRow.at_most("privacy", it.epsilon, 2 * len(it.measured) / it.noise_scale, "half the noise",
                                 unit="nats", concern=Concern.PRIVACY)
    else:
        wrong = _accounts(plan, 4.0)
    return Control("privacy, summed again", "four times the spend that is stated", wrong.flagged)


# ---- errors


def _accuracy(plan: QueriesPlan, seed: int) -> tuple[list[AuditRow], list[Control]]:
    """A run on a made-up table with the campaign's own columns: what is promised of its errors, and what was found; and
    the same with bars that are far too narrow.
    """
    it = _strict(plan.mechanism)
    data = table_of(plan.schema, plan.records, seed=seed)
    true = true_answers(data, plan.workload)
    needs_table = not isinstance(it, NoisyAnswers | DualQuery | MWEM)
    outcome = it.run(data if needs_table or getattr(it, "free", "") == "marginals" else true, Noise.simulated(seed))
    if not isinstance(outcome, SimulatedOutcome):
        raise TypeError("simulated noise made a release")
    errors = np.abs(released_answers(outcome, plan.workload) - true.fractions)
    held = bars(it, outcome.billboard, outcome.certificate, plan.workload, failure_probability=FALSE_ALARM)
    narrow = replace(held, each=held.each / _NARROW, together=held.together / _NARROW)
    # Noise that left every count as it is shows nothing, whatever the bars are.
    bug = [_bar_row(it, narrow, errors)] if errors.max() * plan.records >= 1 else []
    return list(_held(plan, it, outcome, errors, held, true.fractions)), [
        Control("accuracy: an error against its own bar", f"bars {_NARROW:g} times too narrow", row.flagged)
        for row in bug if row is not None]


def _strict(it: Mechanism) -> Mechanism:
    """The same run with bounds that fail so rarely that an audit may call a failure a broken promise."""
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
    plan: QueriesPlan, it: Mechanism, outcome: SimulatedOutcome, errors: Any, held: Bars, true: Any
) -> Iterator[AuditRow]:
    note = f"errors there: {errors.mean():.2g} on average, predicted about {plan.prediction.average:.2g}"
    promise = None if isinstance(it, NoisyAnswers) else next(iter(it.guarantees().of(Accuracy)), None)
    if promise is not None:
        measured = errors
        if isinstance(it, Reweighted):  # the promise is of its records as they were drawn, with even weights
            board: Any = outcome.billboard
            measured = np.abs(board.unweighted.answers(plan.workload) - true)
        yield AuditRow.at_most(f"accuracy: {promise.measure}", promise.bound, float(measured.max()),
                               f"{_RUN}; the promise fails with probability {promise.failure_probability:.2g}",
                               vacuous=promise.vacuous, note=note, false_alarm=min(0.999, promise.failure_probability),
                               unit="of the records", concern=Concern.ACCURACY).holding(*(
                                   each for each in plan.guarantees.of(Accuracy) if each.measure == promise.measure))
    row = _bar_row(it, held, errors, note)
    if row is not None:
        yield row
    if math.isfinite(held.together) and not isinstance(it, NoisyAnswers):
        yield AuditRow.at_most("accuracy: the largest error of all answers, by the run's own certificate",
                               held.together, float(errors.max()), _rare(_RUN), note=note, false_alarm=FALSE_ALARM,
                               unit="of the records", concern=Concern.ACCURACY)
    if promise is None and row is None:
        yield AuditRow("accuracy: nothing is promised", "nothing", float(errors.max()), _RUN, "vacuous", note,
                       unit="of the records", concern=Concern.ACCURACY)


_RUN = "one run under simulated noise, on a made-up table with the campaign's columns"


def _rare(evidence: str) -> str:
    return f"{evidence}, with bars of all that they cover at once that fail with probability {FALSE_ALARM:g}"


def _bar_row(it: Mechanism, held: Bars, errors: Any, note: str = "") -> AuditRow | None:
    """Errors against bars of `FALSE_ALARM`, all at once; None where there are none."""
    if isinstance(it, NoisyAnswers):  # its single bars hold one by one
        return AuditRow.at_most("accuracy: the largest error of all answers", held.together, float(errors.max()),
                                _rare(_RUN), note=note, false_alarm=FALSE_ALARM,
                                unit="of the records", concern=Concern.ACCURACY).holding(*it.guarantees().of(Accuracy))
    known = np.isfinite(held.each)
    if not known.any():
        return None
    return AuditRow.at_most("accuracy: an error against its own bar, at most", 1.0,
                            float((errors[known] / held.each[known]).max()), _rare(_RUN), note=note,
                            false_alarm=FALSE_ALARM, unit="times the bar", concern=Concern.ACCURACY)
