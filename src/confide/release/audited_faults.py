"""Mutants of the mechanisms of query release, with injected faults in the code or in the noise. The audits must flag
each mutant.

The module also states the privacy loss that the ledger charges for each part of a run's noise. For comparison, the
module computes the whole charge from the parameters of the mechanism, without the accountant.

Only tests run the mutants. The mutants are defined in this module because the privacy meter allows runs only of mutants
from confide's audit modules (`confide.privacy.meter.is_broken_on_purpose`). A mutant from any other module would be
stopped before an audit could see its output.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ndtr

from confide.audit import AuditRow, Control, DampedNoise, Loss, charge_rows
from confide.contract.mechanism import Mechanism
from confide.privacy.accounting import Accountant
from confide.privacy.events import Event, GDPEvent
from confide.privacy.losses import GDP, ZCDP, ApproxDP, PureDP
from confide.privacy.noise import Noise
from confide.privacy.noise.arguments import Points, StreamName
from confide.privacy.noise.base import RealLaw
from confide.privacy.noise.discrete import DiscreteLaw
from confide.release.baselines import IndependentMarginals, NoisyAnswers
from confide.release.dual_query import DualQuery
from confide.release.marginal_fit import MarginalFit
from confide.release.marginal_fit.measured import RawTable
from confide.release.marginal_fit.plan import Split
from confide.release.mwem import MWEM
from confide.release.reweighted import Reweighted

__all__ = [
    "Charge",
    "Fault",
    "ReusedNoise",
    "charge",
    "charges",
    "faults",
    "named_charge",
    "own_epsilon",
    "own_rho",
    "whole_charge",
]

# ---- audited charges


class Charge(NamedTuple):
    """One part of a run's noise, such as the noise of the measurements, and the privacy loss that the ledger charges
    for this part.

    Args:
        part: first word of the names of all draws that belong to the part. An empty text stands for all draws of the
            run.
        loss: privacy loss that the ledger charges for the part; 0 if nothing is charged.
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
    """The ledger's charges for each part of the noise that a run draws, and for the whole run.

    Args:
        it: a mechanism of query release, sound or a mutant.

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
    """The parts of the noise that a run with these parameters draws."""
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
    """The privacy loss that the ledger charges for a whole run of a mechanism."""
    events = _events(it)
    match it:
        case NoisyAnswers(law="laplace"):
            return _pure(events)
        case NoisyAnswers() | IndependentMarginals() if events and isinstance(events[0], GDPEvent):
            return GDP(events[0].mu)
    return _zcdp(events)


# ---- the same from the parameters


_ROOM = Fraction(1, 2**37)
"""Additional privacy loss of each draw of DualQuery, in nats, according to the specification. Over many draws the sum
of the additional losses is larger than a rounding error.
"""


def charge(it: Mechanism) -> tuple[AuditRow, tuple[Control, ...]]:
    """Audit row that compares the ledger's charge for a whole run with the privacy loss according to the parameters.
    Both must be equal. The function also returns control runs with twice the charge and with half of the charge, which
    the audit must flag.
    """
    return charge_rows(_events(it), named_charge(it))


def named_charge(it: Mechanism) -> PureDP | ApproxDP | ZCDP:
    """The privacy loss of a run according to the parameters of the mechanism. If the parameters hold a budget, the loss
    is this budget. Otherwise the loss is `own_rho`.
    """
    match it:
        case MWEM() | NoisyAnswers(law="laplace"):
            return PureDP(it.epsilon)
        case NoisyAnswers() | IndependentMarginals():
            return ApproxDP(it.epsilon, it.delta)
        case MarginalFit():
            return ZCDP(it.rho)
    return ZCDP(own_rho(it))


def own_rho(it: Mechanism) -> float:
    """The zCDP cost rho of a run, computed from the mechanism's parameters without any code of the accountant."""
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
    """The epsilon, in nats, that zCDP implies at a delta, minimised over the order of the Renyi divergence. For a
    mechanism with only Gaussian noise, epsilon follows from the exact privacy curve. For a mechanism with only Laplace
    noise, epsilon is the number of measured queries divided by the noise scale.

    Args:
        it: the mechanism, which determines the kind of noise.
        rho: zCDP cost of the mechanism. For Laplace noise rho is not used.
        delta: delta of the mechanism, > 0. For Laplace noise delta is not used.
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
    """The epsilon, in nats, at which the exact privacy curve of Gaussian noise reaches delta. The argument mu is the L2
    sensitivity divided by the standard deviation of the noise.
    """

    def excess(epsilon: float) -> float:
        return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)) - delta

    if math.isinf(mu):
        return math.inf
    top = 1.0
    while excess(top) > 0:
        top *= 2
    return float(brentq(excess, 0.0, top, xtol=1e-14)) if excess(0.0) > 0 else 0.0


# ---- audited faults


class Fault(NamedTuple):
    """One fault that can be injected into a mechanism.

    Args:
        says: description of the fault.
        kind: class of the mutant, which runs with the parameters of the mechanism; None for the class of the mechanism
            itself.
        noise: function from the source of noise to a faulty source; None if the noise is unchanged.
    """

    says: str
    kind: type[Any] | None = None
    noise: Callable[[Noise], Noise] | None = None


def faults(it: Mechanism) -> list[Fault]:
    """The faults that can be injected into a mechanism: faults in its code, and one fault for each part of its noise.

    Args:
        it: a mechanism of query release.
    """
    found = [Fault(says, kind) for base, says, kind in _IN_THE_CODE if isinstance(it, base) and _has(it, kind)]
    # Half of one part is harder to see than a quarter of it: only of everything both are tried.
    found += [Fault(f"half of the true sensitivity (scale / 2, logits twice as steep) {_where(part)}",
                    noise=_damped(part, 1 / 2)) for part, _ in charges(it)]
    found.append(Fault("sigma / 4, and scores four times too steep", noise=_damped("", 1 / 4)))
    return [*found, Fault("the noise of one measurement used for all", noise=ReusedNoise)]


def _has(it: Mechanism, kind: type[Any]) -> bool:
    if isinstance(it, NoisyAnswers):
        return (it.law == "laplace") == (kind is HalfTheLaplace)
    if isinstance(it, MarginalFit):
        if kind in _OF_CHOICE:
            return it.tables is None
        # Where the run chooses T, one charge covers tables and choices, and tiny tables attain little of the choices'.
        if kind in (ChoosesUncharged, SteepChoices):
            return bool(it.tables)
        return kind is not QuietTables or it.tables != 0
    return not isinstance(it, Reweighted) or it.selection == "private" or kind not in _OF_SELECTION


def _where(part: str) -> str:
    return f"of {part!r}" if part else "of all draws"


def _damped(part: str, factor: float) -> Callable[[Noise], Noise]:
    return lambda noise: DampedNoise(noise, factor, part)


class ReusedNoise(DampedNoise):
    """A faulty noise source: all measurements with the same noise scale receive the same noise. The noise of the first
    measurement is drawn and then reused.
    """

    def __init__(self, source: Noise) -> None:
        super().__init__(source, 1.0)
        self._first: dict[tuple[str, Fraction], Any] = {}

    def _lattice(
        self, law: DiscreteLaw, scale: Fraction, center: list[int] | None, shape: tuple[int, ...], stream: StreamName
    ) -> NDArray[np.int64]:
        bare = np.array(center, dtype=np.int64).reshape(shape)
        if (law, scale) not in self._first:
            one = super()._lattice(law, scale, [int(bare.flat[0])], (1,), stream)
            self._first[law, scale] = int(one[0]) - int(bare.flat[0])
        return np.asarray(bare + self._first[law, scale])

    def _reals(
        self, law: RealLaw, scale: Fraction, points: Points, grid: int, shape: tuple[int, ...], stream: StreamName
    ) -> NDArray[np.float64]:
        bare = np.array([float(point) for point in points])
        if (law, scale) not in self._first:
            self._first[law, scale] = super()._reals(law, scale, [points[0]], grid, (1,), stream)[0] - bare[0]
        return np.asarray(bare + self._first[law, scale])


def _without(events: tuple[Event, ...], label: str) -> tuple[Event, ...]:
    return tuple(event for event in events if not event.label.startswith(label))


# ---- MWEM


class SteepScores(MWEM):
    """A mutant with scores that are four times as large as the charged sensitivity allows."""

    def scores(self, counts: NDArray[np.int64], answers: NDArray[np.float64]) -> NDArray[np.int64]:
        return 4 * super().scores(counts, answers)


class HalfTheNoise(MWEM):
    """A mutant that measures with half the noise scale."""

    @property
    def noise_scale(self) -> float:
        return super().noise_scale / 2


class FreeSelection(MWEM):
    """A mutant that charges only its measurements, not its selections."""

    def events(self) -> tuple[Event, ...]:
        return _without(super().events(), "selections")


class FreeMeasurements(MWEM):
    """A mutant that charges only its selections, not its measurements."""

    def events(self) -> tuple[Event, ...]:
        return _without(super().events(), "measurements")


class FullBudgetTwice(MWEM):
    """A mutant in which each selection and each measurement spends half of the whole budget, although there are T
    rounds.
    """

    @property
    def each(self) -> float:
        return self.epsilon / 2


# ---- Reweighted


class SelectsForFree(Reweighted):
    """A mutant that selects the worst queries by their true errors, without a private draw."""

    def _select_privately(self, played: Any, counts: NDArray[np.int64], source: Noise) -> NDArray[np.int64]:
        errors = np.abs(len(played) * counts - self.records * self.workload.counts(played.records))
        return np.asarray(np.argsort(-errors, kind="stable")[: self.count])


class SelectsThrice(Reweighted):
    """A mutant in which each selection spends three times its epsilon and records the higher epsilon in its event. A
    run of this mutant exceeds the planned rho.
    """

    @property
    def epsilon_sel(self) -> float:
        return 3.0 * float(np.sqrt(8 * self.rho_sel / self.count))


class SelectsUncharged(Reweighted):
    """A mutant that does not charge its private selections."""

    def events(self) -> tuple[Event, ...]:
        return _without(super().events(), "selections")


class MeasuresAsOne(Reweighted):
    """A mutant that measures each of m counts with noise that suffices only for a single count."""

    @property
    def noise_std(self) -> float:
        return float(np.sqrt(1 / (2 * self.rho_mea)))


class MeasuresUncharged(Reweighted):
    """A mutant that does not charge its measurements."""

    def events(self) -> tuple[Event, ...]:
        return _without(super().events(), "measurements")


# ---- counts with noise


class HalfTheColumns(IndependentMarginals):
    """A mutant that computes its noise from half of the true squared L2 sensitivity to the replacement of a record."""

    @property
    def squared_l2_sensitivity(self) -> int:
        return super().squared_l2_sensitivity // 2


class QuarterNoise(NoisyAnswers):
    """A mutant with a quarter of the noise scale."""

    @property
    def noise_std(self) -> float:
        return super().noise_std / 4


class AddedRecord(NoisyAnswers):
    """A mutant that computes its noise from the sensitivity to an added record. The squared sensitivity to an added
    record is half of that to a replaced record.
    """

    @property
    def squared_l2_sensitivity(self) -> int:
        return super().squared_l2_sensitivity // 2


class HalfTheLaplace(NoisyAnswers):
    """A mutant with Laplace noise of half the scale."""

    @property
    def noise_scale(self) -> float:
        return super().noise_scale / 2


# ---- MarginalFit


class OneCell(MarginalFit):
    """A mutant that assumes that the replacement of a record changes only one cell of a table, although it changes two.
    The noise of the tables is too small by a factor of sqrt(2) at the same rho.
    """

    @property
    def split(self) -> Split:
        honest = super().split
        return _Charged(honest, replace(honest, one_way=honest.one_way / 2**0.5, sigma=honest.sigma / 2**0.5))

    def follow(self, one_way: list[RawTable]) -> Split:
        after = super().follow(one_way)
        if self.tables is not None:
            return after
        return replace(after, sigma=after.sigma / 2**0.5, again=after.again / 2**0.5)


class QuietTables(MarginalFit):
    """A mutant that measures the chosen tables with noise that is too small by a factor of sqrt(2). All other parts of
    this mutant are sound.
    """

    def follow(self, one_way: list[RawTable]) -> Split:
        after = super().follow(one_way)
        return replace(after, sigma=after.sigma / 2**0.5)


class SteepChoices(MarginalFit):
    """A mutant that chooses tables with twice the epsilon for which it is charged."""

    def follow(self, one_way: list[RawTable]) -> Split:
        after = super().follow(one_way)
        return replace(after, epsilon=2 * after.epsilon)


class _Charged(Split):
    """A split of the budget whose noise differs from the noise that is charged."""

    def __init__(self, charged: Split, used: Split) -> None:
        vars(self).update(vars(used), charged=charged)

    def events(self) -> tuple[Event, ...]:
        charged: Split = vars(self)["charged"]
        return charged.events()


class ChoosesUncharged(MarginalFit):
    """A mutant that does not charge its choices of tables."""

    def events(self) -> tuple[Event, ...]:
        return _without(super().events(), "choices")


class ChoosesByTheData(MarginalFit):
    """A mutant in which the number of tables depends on private records, not only on released one-way tables."""

    def run(self, data: Any, noise: Any, *, progress: Any = None) -> Any:
        object.__setattr__(self, "_seen", data)
        return super().run(data, noise, progress=progress)

    def follow(self, one_way: list[RawTable]) -> Split:
        after = super().follow(one_way)
        return replace(after, tables=after.tables - int(np.count_nonzero(vars(self)["_seen"].cells)) % 2)


class SpendsTheFirstTwice(MarginalFit):
    """A mutant that does not subtract the cost of the first one-way tables from the budget of the later parts."""

    def follow(self, one_way: list[RawTable]) -> Split:
        after, left = super().follow(one_way), (1 - self.one_way) ** 0.5
        return replace(after, sigma=after.sigma * left, again=after.again * left, epsilon=after.epsilon / left)


_OF_CHOICE = (ChoosesByTheData, SpendsTheFirstTwice)
_OF_SELECTION = (SelectsForFree, SelectsThrice, SelectsUncharged)

_IN_THE_CODE: tuple[tuple[type[Mechanism], str, type[Any]], ...] = (
    (MWEM, "scores four times too steep", SteepScores),
    (MWEM, "half the Laplace scale", HalfTheNoise),
    (MWEM, "the selection is not charged", FreeSelection),
    (MWEM, "the measurements are not charged", FreeMeasurements),
    (MWEM, "T rounds, each with the whole epsilon", FullBudgetTwice),
    (Reweighted, "the worst queries are named without a draw", SelectsForFree),
    (Reweighted, "epsilon of a selection three times too large", SelectsThrice),
    (Reweighted, "the selection is not charged", SelectsUncharged),
    (Reweighted, "m counts measured with the noise of one count", MeasuresAsOne),
    (Reweighted, "the measurements are not charged", MeasuresUncharged),
    (IndependentMarginals, "half the squared sensitivity", HalfTheColumns),
    (NoisyAnswers, "a quarter of sigma", QuarterNoise),
    (NoisyAnswers, "half the squared sensitivity", AddedRecord),
    (NoisyAnswers, "half the Laplace scale", HalfTheLaplace),
    (MarginalFit, "noise for one cell, although a record moves two", OneCell),
    (MarginalFit, "sigma of the chosen tables too small by the root of two", QuietTables),
    (MarginalFit, "the choices with twice the exponent", SteepChoices),
    (MarginalFit, "the choices are not charged", ChoosesUncharged),
    (MarginalFit, "the number of chosen tables depends on the records", ChoosesByTheData),
    (MarginalFit, "the first tables are not charged", SpendsTheFirstTwice),
)
