"""What the ledger is charged for each part of a run, and the whole charge summed again from the parameters."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from scipy.optimize import brentq, minimize_scalar
from scipy.special import ndtr

from confide.audit import AuditRow, Control, Loss, charge_rows
from confide.contract.mechanism import Mechanism
from confide.privacy.accounting import Accountant
from confide.privacy.events import Event, GDPEvent
from confide.privacy.losses import GDP, ZCDP, ApproxDP, PureDP
from confide.release.baselines import IndependentMarginals, NoisyAnswers
from confide.release.dual_query import DualQuery
from confide.release.marginal_fit import MarginalFit
from confide.release.mwem import MWEM
from confide.release.reweighted import Reweighted

__all__ = ["Charge", "charge", "charges", "named_charge", "own_epsilon", "own_rho", "whole_charge"]


class Charge(NamedTuple):
    """A part of the noise, and what the ledger is charged for it.

    Args:
        part: the first word of the names of its draws; "" is everything.
        loss: what is charged; a loss of 0 where nothing is.
    """

    part: str
    loss: Loss


def _zcdp(events: tuple[Event, ...]) -> Loss:
    return ZCDP(Accountant(events).rho() if events else 0.0)


def _pure(events: tuple[Event, ...]) -> Loss:
    return PureDP(Accountant(events).epsilon(0.0, calculator="basic") if events else 0.0)


_Sum = Callable[[tuple[Event, ...]], Loss]

_DUAL: tuple[tuple[str, str, _Sum], ...] = (("round", "round ", _zcdp), ("marginals", "one-way marginals", _zcdp))
_PARTS: dict[type[Mechanism], tuple[tuple[str, str, _Sum], ...]] = {
    # the draws' first word, how the labels of the events begin that pay for them, and how these are summed
    DualQuery: _DUAL,
    Reweighted: (*_DUAL, ("select", "selections", _zcdp), ("measurements", "measurements", _zcdp)),
    MWEM: (("select", "selections", _zcdp), ("measure", "measurements", _pure)),
    MarginalFit: (("one-way", "one-way tables", _zcdp), ("choose", "choices of tables", _zcdp),
                  ("table", "chosen tables", _zcdp)),
}
# Where a run of MarginalFit chooses T, one event pays for all that follows: that is held against the whole charge.
_CHOSEN: tuple[tuple[str, str, _Sum], ...] = (("one-way", "one-way tables", _zcdp),)


def charges(it: Mechanism) -> list[Charge]:
    """Of each part that a run draws, what its events cost, and of everything.

    Args:
        it: a mechanism of the family, sound or broken.

    Example:
        >>> from confide.release import Workload
        >>> mwem = MWEM(records=9, workload=Workload.complete(2, width=1), rounds=2, epsilon=1.0)
        >>> [(charge.part, charge.loss) for charge in charges(mwem)][1]
        ('measure', PureDP(epsilon=0.5))
    """
    events = _events(it)
    found = []
    for part, label, summed in _parts(it):
        paid = tuple(event for event in events if event.label.startswith(label))
        if part in _drawn(it):
            found.append(Charge(part, summed(paid)))
    return [*found, Charge("", whole_charge(it))]


def _events(it: Mechanism) -> tuple[Event, ...]:
    return tuple(event for event in it.events() if isinstance(event, Event))


def _parts(it: Mechanism) -> tuple[tuple[str, str, _Sum], ...]:
    if isinstance(it, MarginalFit) and it.tables is None:
        return _CHOSEN
    return next((parts for kind, parts in _PARTS.items() if isinstance(it, kind)), ())


def _drawn(it: Mechanism) -> set[str]:
    """Which parts the parameters ask for."""
    drawn = {part for part, _, _ in _parts(it)}
    game = it.dual_query if isinstance(it, Reweighted) else it
    if isinstance(game, DualQuery) and game.free != "marginals":
        drawn.discard("marginals")
    if isinstance(it, Reweighted) and it.selection != "private":
        drawn.discard("select")
    if isinstance(it, MarginalFit) and it.tables == 0:
        drawn -= {"choose", "table"}
    return drawn


def whole_charge(it: Mechanism) -> Loss:
    """What is charged for a whole run."""
    events = _events(it)
    match it:
        case NoisyAnswers(law="laplace"):
            return _pure(events)
        case NoisyAnswers() | IndependentMarginals() if events and isinstance(events[0], GDPEvent):
            return GDP(events[0].mu)
    return _zcdp(events)


# ---- the same from the parameters


_ROOM = Fraction(1, 2**37)
"""In nats: what each draw of a game costs besides its range, as the spec says. Of many draws that is no rounding."""


def charge(it: Mechanism) -> tuple[AuditRow, tuple[Control, ...]]:
    """The price of a whole run by the ledger's rule, held against what the parameters name, neither more nor less; and
    the same of runs that are charged twice and by half.
    """
    return charge_rows(_events(it), named_charge(it))


def named_charge(it: Mechanism) -> PureDP | ApproxDP | ZCDP:
    """What the parameters say that a run costs: the budget where they name one, else a sum of its own."""
    match it:
        case MWEM() | NoisyAnswers(law="laplace"):
            return PureDP(it.epsilon)
        case NoisyAnswers() | IndependentMarginals():
            return ApproxDP(it.epsilon, it.delta)
        case MarginalFit():
            return ZCDP(it.rho)
    return ZCDP(own_rho(it))


def own_rho(it: Mechanism) -> float:
    """The zCDP cost of a run from its parameters, by a sum of its own that shares no code with the accountant."""
    match it:
        case DualQuery():
            steps = sum((2 * Fraction(it.eta) * t / it.records + _ROOM) ** 2 / 8 for t in range(1, it.rounds))
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
            return it.squared_l2_sensitivity / (2 * it.noise_std**2)
    return math.nan


def own_epsilon(it: Mechanism, rho: float, delta: float) -> float:
    """By the bound of concentrated privacy, minimised over the order; of Gaussian noise alone, by its exact curve.

    Args:
        it: the mechanism, which says what its noise is.
        rho: its zCDP cost.
        delta: > 0, but for Laplace noise.
    """
    if isinstance(it, NoisyAnswers) and it.law == "laplace":
        return float(len(it.measured)) / it.noise_scale
    if isinstance(it, NoisyAnswers | IndependentMarginals):
        return gaussian_epsilon(math.sqrt(2 * rho), delta)

    def bound(log_order: float) -> float:
        a = 1.0 + math.exp(log_order)
        return a * rho + (math.log(1 / delta) + (a - 1) * math.log1p(-1 / a) - math.log(a)) / (a - 1)

    return max(0.0, float(minimize_scalar(bound, bounds=(-12.0, 12.0), method="bounded",
                                          options={"xatol": 1e-12}).fun))


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Of Gaussian noise: the epsilon at which its exact curve meets delta."""

    def excess(epsilon: float) -> float:
        return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)) - delta

    if math.isinf(mu):
        return math.inf
    top = 1.0
    while excess(top) > 0:
        top *= 2
    return float(brentq(excess, 0.0, top, xtol=1e-14)) if excess(0.0) > 0 else 0.0
