"""The audit of a planned release: the same mechanism on tiny made-up tables, its accounts, and its errors on made-up
data with the campaign's own columns. The custodian's table is never touched.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from confide.audit import (
    AuditReport,
    AuditRow,
    Control,
    DampedNoise,
    Loss,
    Neighbours,
    door_audit,
    sampler_audit,
)
from confide.contract.encoding import canonical, digest, encode
from confide.contract.guarantees import Accuracy
from confide.contract.kinds import Progress
from confide.contract.mechanism import Mechanism
from confide.contract.outcome import Outcome, SimulatedOutcome
from confide.contract.progress import advance
from confide.privacy.accounting import Accountant
from confide.privacy.events import GDPEvent
from confide.privacy.losses import GDP, ZCDP, PureDP
from confide.privacy.noise import Draw, ForcedNoise, Noise, RecordingNoise
from confide.release.answers import true_answers
from confide.release.audit import dual_query_controls, dual_query_rows
from confide.release.baselines import IndependentMarginals, NoisyAnswers
from confide.release.campaign.made_up import made_up_table
from confide.release.campaign.plan import QueriesPlan
from confide.release.campaign.results import bars, released_answers
from confide.release.codes import Codes
from confide.release.columns import Binned, Bit, Levels
from confide.release.dual_query import DualQuery
from confide.release.marginal_fit import MarginalFit
from confide.release.mwem import MWEM
from confide.release.reweighted import Reweighted
from confide.release.schema import Schema
from confide.release.workload import Workload

__all__ = ["audit_plan", "own_rho", "tiny"]

FALSE_ALARM = 1e-9
"""Probability with which one statistical row says "broken" of a kept promise."""

_DRAWS = 400
_LARGEST = 200_000  # records of the made-up table at most
_STEPS = 5

_TINY = Schema((Levels(column="job", levels=("none", "part", "full")), Bit(column="smoker"),
                Binned(column="age", lower=0, upper=90, bins=3), Bit(column="owner")))
_RECORDS = 40

Run = Callable[[Any, Noise], Any]


def audit_plan(plan: QueriesPlan, seed: int = 0, progress: Progress | None = None) -> AuditReport:
    """Promised against measured for one campaign, with the planted bugs that the audit must flag.

    Args:
        plan: of the campaign.
        seed: of made-up tables and histories.
        progress: called as the audit goes on.
    """
    twin = tiny(plan.mechanism)
    rows, out = [_accounts(plan)], [_wrong_accounts(plan)]
    advance(progress, 1, _STEPS)
    rows += _door_rows(twin, seed)
    advance(progress, 2, _STEPS)
    out += _door_controls(twin, seed)
    advance(progress, 3, _STEPS)
    if isinstance(plan.mechanism, DualQuery | Reweighted):
        rows += dual_query_rows(seed)
        out += dual_query_controls(seed)
    advance(progress, 4, _STEPS)
    rows += _accuracy_rows(plan, seed)
    advance(progress, 5, _STEPS)
    return AuditReport(tuple(rows), tuple(out))


# ---- a tiny twin, walked through


def tiny(it: Mechanism) -> Mechanism:
    """A mechanism of the same kind, with the same rules, for 40 records of four columns."""
    both: dict[str, Any] = {"n": _RECORDS, "workload": Workload.complete(_TINY, width=2), "schema": _TINY}
    match it:
        case DualQuery():
            return DualQuery(**both, eta=0.5, rounds=5, samples=12, one_hot=it.one_hot, free=it.free,
                             marginal_rho=0.05 if it.free == "marginals" else 0.0, oracle=it.oracle, delta=it.delta,
                             calculator=it.calculator)
        case Reweighted():
            game = DualQuery(**both, eta=0.5, rounds=5, samples=12, one_hot=it.dual_query.one_hot,
                             oracle=it.dual_query.oracle)
            return replace(it, dual_query=game, rho_mea=0.5, measured=4, listed=None,
                           rho_sel=0.1 if it.selection == "private" else 0.0)
        case MarginalFit():
            # A run that chooses T takes much of it where much is spent, and little tells it apart from its neighbours.
            return replace(it, n=_RECORDS, schema=_TINY, rho=0.5 if it.tables is not None else 2.0,
                           tables=None if it.tables is None else min(4, it.tables), batches=2, population=200,
                           widths=(2, 3))
        case MWEM():
            return MWEM(**both, rounds=5, epsilon=2.0, form=it.form, passes=it.passes)
        case NoisyAnswers():
            # Queries of one attribute: a record may change all that the noise is made for.
            one = Workload.complete(_TINY, width=1)
            bits = np.array([3, 7])  # of those with one attribute to a column, both change
            return replace(it, **{**both, "workload": one if it.law == "structured" else Workload.conjunctions(
                bits[:, None], attributes=_TINY.attributes)})
        case IndependentMarginals():
            return replace(it, **both)
    return it


def _claim(it: Mechanism) -> Loss:
    """What is promised of a whole run."""
    events: Any = tuple(it.events())
    match it:
        case NoisyAnswers(law="laplace"):
            return PureDP(it.epsilon)
        case NoisyAnswers() | IndependentMarginals() if isinstance(events[0], GDPEvent):
            return GDP(it.mu)
    return ZCDP(Accountant(events).rho())


def _pairs(seed: int) -> Iterator[Neighbours]:
    """Tables that differ in one record, as far as one can; in the last pair all other records are alike."""
    top = np.array(_TINY.sizes, dtype=np.uint16) - 1
    spread = made_up_table(_TINY, _RECORDS, seed=seed).cells
    alike = np.zeros_like(spread)
    for cells, at, record in ((spread, 0, top), (spread, 1, top - spread[1]), (alike, 3, top)):
        other = cells.copy()
        other[at] = record
        yield Neighbours(Codes(schema=_TINY, cells=cells), Codes(schema=_TINY, cells=other), _published)


def _published(outcome: Outcome | SimulatedOutcome) -> bytes:
    columns: dict[str, bytes] = {}
    parts = [encode(outcome.billboard, columns), encode(outcome.certificate, columns)]
    return canonical([parts, sorted(digest(column) for column in columns.values())])


def _histories(seed: int) -> Callable[[int], Noise]:
    return lambda pair: Noise.simulated(seed * 1009 + pair)


def _door_rows(twin: Mechanism, seed: int) -> list[AuditRow]:
    heard: dict[tuple[str, str], Draw] = {}

    def run(data: Any, noise: Noise) -> Any:
        outcome = _quiet(twin, data, noise)
        if isinstance(noise, RecordingNoise):
            for draw in noise.draws:
                heard.setdefault((str(draw.stream[0]), draw.law), draw)
        return outcome

    found = door_audit(run, _pairs(seed), {"": _claim(twin)}, _histories(seed))
    rows = [found[""].row(f"privacy: {type(twin).__name__} on 40 records of four columns")]
    secure = Noise.secure()
    return rows + [sampler_audit(secure, draw, _DRAWS, FALSE_ALARM) for draw in heard.values()]


def _quiet(twin: Mechanism, data: Any, noise: Any) -> Any:
    """A run whose warnings nobody needs: on 40 records no fit is a good one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return twin.run(data, noise)


def _door_controls(twin: Mechanism, seed: int) -> list[Control]:
    broken: list[tuple[str, Run]] = [
        ("no noise at all", lambda data, _: _quiet(twin, data, ForcedNoise([]))),
        ("noise multiplied by 0.2", lambda data, noise: _quiet(twin, data, DampedNoise(noise, 0.2))),
        ("as much noise as the data asks for",
         lambda data, noise: _quiet(twin, data, DampedNoise(noise, 1 + int(data.cells.sum()) % 97 / 100))),
        ("a true answer on the billboard", lambda data, noise: _Told(_quiet(twin, data, noise), int(data.cells.sum()))),
    ]
    pairs = [_told(pair) for pair in _pairs(seed)]
    claims = {"": _claim(twin)}
    return [Control("privacy, its own run", bug, door_audit(run, pairs, claims, _histories(seed))[""].flagged)
            for bug, run in broken]


class _Told:
    """An outcome with a private number beside it."""

    def __init__(self, outcome: Any, number: int) -> None:
        self.billboard, self.certificate, self.number = outcome.billboard, outcome.certificate, number


def _told(pair: Neighbours) -> Neighbours:
    """The same pair; what is told besides counts as published."""
    return Neighbours(pair.first, pair.second,
                      lambda outcome: _published(outcome) + str(getattr(outcome, "number", "")).encode())


# ---- the accounts, summed again


def own_rho(it: Mechanism) -> float:
    """The zCDP cost of a run from its parameters, by a sum of its own that shares no code with the accountant."""
    match it:
        case DualQuery():
            steps = sum((2 * Fraction(it.eta) * t / it.n) ** 2 / 8 for t in range(1, it.rounds))
            return float(it.samples * steps) + it.marginal_rho
        case Reweighted():
            return own_rho(it.dual_query) + it.rho_sel + it.rho_mea
        case MarginalFit():
            parts, columns = it.split, sum(size > 1 for size in it.schema.sizes)
            chosen = parts.tables * (parts.epsilon**2 / 8 + 1 / parts.sigma**2) if parts.tables else 0.0
            return columns / parts.one_way**2 + chosen
        case MWEM():
            return 5 * it.epsilon**2 / (32 * it.rounds)
        case NoisyAnswers(law="laplace"):
            return it.epsilon**2 / 2
        case NoisyAnswers() | IndependentMarginals():
            return it.square / (2 * it.sigma**2)
    return math.nan


def _own_epsilon(it: Mechanism, rho: float, delta: float) -> float:
    """By the bound of concentrated privacy, minimised over the order; of Gaussian noise alone, by its exact curve."""
    if isinstance(it, NoisyAnswers) and it.law == "laplace":
        return float(len(it.workload)) / it.scale
    if isinstance(it, NoisyAnswers | IndependentMarginals):
        return _gaussian_epsilon(math.sqrt(2 * rho), delta)

    def bound(log_order: float) -> float:
        a = 1.0 + math.exp(log_order)
        return a * rho + (math.log(1 / delta) + (a - 1) * math.log1p(-1 / a) - math.log(a)) / (a - 1)

    return max(0.0, float(minimize_scalar(bound, bounds=(-12.0, 12.0), method="bounded",
                                          options={"xatol": 1e-12}).fun))


def _gaussian_epsilon(mu: float, delta: float) -> float:
    from scipy.optimize import brentq
    from scipy.special import ndtr

    def excess(epsilon: float) -> float:
        return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)) - delta

    top = 1.0
    while excess(top) > 0:
        top *= 2
    return float(brentq(excess, 0.0, top, xtol=1e-14)) if excess(0.0) > 0 else 0.0


def _accounts(plan: QueriesPlan, factor: float = 1.0) -> AuditRow:
    """The epsilon that is promised, held against an own sum; with a factor, of a mechanism that really spends that."""
    it, delta = plan.mechanism, float(getattr(plan.loss, "delta", 0.0))
    if isinstance(it, DualQuery) and it.calculator == "pure" and not delta:
        own = factor * it.eta * it.rounds * (it.rounds - 1) * it.samples / it.n
    elif delta == 0 and isinstance(it, MWEM):
        own = factor * 2 * it.rounds * it.each
    elif isinstance(it, DualQuery) and it.calculator != "zcdp":
        # A calculator of the source is never sharper than the best order.
        own = _own_epsilon(it, factor * own_rho(it), delta)
    else:
        own = _own_epsilon(it, factor * own_rho(it), delta) if delta or isinstance(it, NoisyAnswers) else math.inf
    return AuditRow.at_most("privacy: the epsilon that is promised, summed again", plan.loss.epsilon * (1 + 1e-9), own,
                            f"from the mechanism's parameters, by a sum of its own, at delta = {delta:g}")


def _wrong_accounts(plan: QueriesPlan) -> Control:
    """The same check of a mechanism that spends four times what it says."""
    it = plan.mechanism
    if isinstance(it, NoisyAnswers) and it.law == "laplace":
        wrong = AuditRow.at_most("privacy", it.epsilon, 2 * len(it.workload) / it.scale, "half the noise")
    else:
        wrong = _accounts(plan, 4.0)
    return Control("privacy, summed again", "four times the spend that is stated", wrong.flagged)


# ---- errors


def _accuracy_rows(plan: QueriesPlan, seed: int) -> list[AuditRow]:
    """A run on a made-up table with the campaign's own columns: what is promised of its errors, and what was found."""
    it = _strict(plan.mechanism)
    shown = min(plan.records, _LARGEST)
    data = made_up_table(plan.schema, shown, seed=seed)
    if shown < plan.records:  # the same parts of every law in a larger table
        data = _repeated(data, plan.records)
    true = true_answers(data, plan.workload)
    needs_table = not isinstance(it, NoisyAnswers | DualQuery | MWEM)
    outcome = it.run(data if needs_table or getattr(it, "free", "") == "marginals" else true, Noise.simulated(seed))
    if not isinstance(outcome, SimulatedOutcome):
        raise TypeError("simulated noise made a release")
    errors = np.abs(released_answers(outcome, plan.workload) - true.fractions)
    return list(_held(plan, it, outcome, errors))


def _strict(it: Mechanism) -> Mechanism:
    """The same run with bounds that fail so rarely that an audit may call a failure a broken promise."""
    match it:
        case DualQuery():
            return replace(it, beta=FALSE_ALARM)
        case Reweighted():
            return replace(it, beta=FALSE_ALARM, dual_query=replace(it.dual_query, beta=FALSE_ALARM))
        case MWEM():
            return replace(it, failure=FALSE_ALARM)
    return it


def _held(plan: QueriesPlan, it: Mechanism, outcome: SimulatedOutcome, errors: Any) -> Iterator[AuditRow]:
    found = f"{errors.mean():.2g} on average"
    evidence = "one run under simulated noise, on a made-up table with the campaign's columns"
    note = f"errors there: {found}, predicted about {plan.prediction.average:.2g}"
    if isinstance(it, NoisyAnswers):
        yield AuditRow.at_most("accuracy: the largest error of all answers", it.error(FALSE_ALARM),
                               float(errors.max()), evidence, note=note, false_alarm=FALSE_ALARM)
        return
    promise = next(iter(it.guarantees().of(Accuracy)), None)
    held = bars(it, outcome.billboard, outcome.certificate, plan.workload)
    known = np.isfinite(held.each)
    if promise is not None:
        yield AuditRow.at_most(f"accuracy: {promise.measure}", promise.bound, float(errors.max()), evidence,
                               vacuous=promise.vacuous, note=note, false_alarm=min(0.999, promise.failure_probability))
    if known.any():
        yield AuditRow.at_most("accuracy: an error against its own bar, at most", 1.0,
                               float((errors[known] / held.each[known]).max()), evidence,
                               note=note, false_alarm=FALSE_ALARM)
    if promise is None and not known.any():
        yield AuditRow("accuracy: nothing is promised", "nothing", float(errors.max()), evidence, "vacuous", note)


def _repeated(data: Codes, records: int) -> Codes:
    times = -(-records // data.records)
    return Codes(schema=data.schema, cells=np.tile(data.cells, (times, 1))[:records])
