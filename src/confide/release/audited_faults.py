"""The family's mechanisms broken on purpose, in the code or at their noise: the audits must flag each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from confide.audit import DampedNoise
from confide.contract.mechanism import Mechanism
from confide.privacy.events import Event
from confide.privacy.noise import Noise
from confide.privacy.noise.arguments import Points, StreamName
from confide.privacy.noise.base import RealLaw
from confide.privacy.noise.discrete import DiscreteLaw
from confide.release.audited_charges import charges
from confide.release.baselines import IndependentMarginals, NoisyAnswers
from confide.release.marginal_fit import MarginalFit
from confide.release.marginal_fit.consistency import RawTable
from confide.release.marginal_fit.plan import Split
from confide.release.mwem import MWEM
from confide.release.reweighted import Reweighted

__all__ = ["Fault", "ReusedNoise", "faults"]


class Fault(NamedTuple):
    """One way to break a mechanism.

    Args:
        says: what was broken.
        kind: a class to run with the same parameters; None for its own.
        noise: what its noise is replaced by; None for nothing.
    """

    says: str
    kind: type[Any] | None = None
    noise: Callable[[Noise], Noise] | None = None


def faults(it: Mechanism) -> list[Fault]:
    """Those that a mechanism can have: in its code, and for each part of its noise.

    Args:
        it: of the family.
    """
    found = [Fault(says, kind) for base, says, kind in _IN_THE_CODE if isinstance(it, base) and _has(it, kind)]
    # Half of one part is harder to see than a quarter of it: only of everything both are tried.
    found += [Fault(f"a sensitivity half as large as it is (scale / 2, logits twice as steep) {_where(part)}",
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
    """One number for all that are measured with the same scale: the first is drawn, the others take its noise again."""

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
    """Scores four times as far apart as the sensitivity says."""

    def scores(self, counts: NDArray[np.int64], answers: NDArray[np.float64]) -> NDArray[np.int64]:
        return 4 * super().scores(counts, answers)


class HalfTheNoise(MWEM):
    """Measured with half the scale."""

    @property
    def noise_scale(self) -> float:
        return super().noise_scale / 2


class FreeSelection(MWEM):
    """Measurements alone are charged."""

    def events(self) -> tuple[Event, ...]:
        return _without(super().events(), "selections")


class FreeMeasurements(MWEM):
    """Selections alone are charged."""

    def events(self) -> tuple[Event, ...]:
        return _without(super().events(), "measurements")


class FullBudgetTwice(MWEM):
    """Selections and measurements take half the budget each and forget that there are T of them."""

    @property
    def each(self) -> float:
        return self.epsilon / 2


# ---- Reweighted


class SelectsForFree(Reweighted):
    """The worst queries are named by their true errors, without a draw."""

    def _select_privately(self, played: Any, counts: NDArray[np.int64], source: Noise) -> NDArray[np.int64]:
        errors = np.abs(len(played) * counts - self.records * self.workload.counts(played.records))
        return np.asarray(np.argsort(-errors, kind="stable")[: self.count])


class SelectsThrice(Reweighted):
    """Each selection takes three times its epsilon, and says so in its event: more than the plan's rho."""

    @property
    def epsilon_sel(self) -> float:
        return 3.0 * float(np.sqrt(8 * self.rho_sel / self.count))


class SelectsUncharged(Reweighted):
    """Private selections that no event pays for."""

    def events(self) -> tuple[Event, ...]:
        return _without(super().events(), "selections")


class MeasuresAsOne(Reweighted):
    """Every one of the m counts is measured as if it were the only one."""

    @property
    def noise_std(self) -> float:
        return float(np.sqrt(1 / (2 * self.rho_mea)))


class MeasuresUncharged(Reweighted):
    """Measurements that no event pays for."""

    def events(self) -> tuple[Event, ...]:
        return _without(super().events(), "measurements")


# ---- counts with noise


class HalfTheColumns(IndependentMarginals):
    """A replaced record is taken to move half as many counts as it does."""

    @property
    def squared_l2_sensitivity(self) -> int:
        return super().squared_l2_sensitivity // 2


class QuarterNoise(NoisyAnswers):
    """A quarter of the noise."""

    @property
    def noise_std(self) -> float:
        return super().noise_std / 4


class AddedRecord(NoisyAnswers):
    """The distance by which a record that is added moves the counts: half of the square for a replaced one."""

    @property
    def squared_l2_sensitivity(self) -> int:
        return super().squared_l2_sensitivity // 2


class HalfTheLaplace(NoisyAnswers):
    """Laplace noise of half the scale."""

    @property
    def noise_scale(self) -> float:
        return super().noise_scale / 2


# ---- MarginalFit


class OneCell(MarginalFit):
    """A record is taken to move one cell of a table: sigma is too small by the root of two, at the same rho."""

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
    """Chosen tables are measured with a sigma that is too small by the root of two; all else is sound."""

    def follow(self, one_way: list[RawTable]) -> Split:
        after = super().follow(one_way)
        return replace(after, sigma=after.sigma / 2**0.5)


class SteepChoices(MarginalFit):
    """Tables are chosen with twice the exponent that is charged."""

    def follow(self, one_way: list[RawTable]) -> Split:
        after = super().follow(one_way)
        return replace(after, epsilon=2 * after.epsilon)


class _Charged(Split):
    """Other noise than what is charged."""

    def __init__(self, charged: Split, used: Split) -> None:
        vars(self).update(vars(used), charged=charged)

    def events(self) -> tuple[Event, ...]:
        charged: Split = vars(self)["charged"]
        return charged.events()


class ChoosesUncharged(MarginalFit):
    """Choices of tables that no event pays for."""

    def events(self) -> tuple[Event, ...]:
        return _without(super().events(), "choices")


class ChoosesByTheData(MarginalFit):
    """How many tables there are follows from the records, not from the one-way tables that were released alone."""

    def run(self, data: Any, noise: Any, *, progress: Any = None) -> Any:
        object.__setattr__(self, "_seen", data)
        return super().run(data, noise, progress=progress)

    def follow(self, one_way: list[RawTable]) -> Split:
        after = super().follow(one_way)
        return replace(after, tables=after.tables - int(np.count_nonzero(vars(self)["_seen"].cells)) % 2)


class SpendsTheFirstTwice(MarginalFit):
    """What the first one-way tables cost is not taken from what follows them."""

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
    (MWEM, "T rounds at the epsilon of one", FullBudgetTwice),
    (Reweighted, "the worst queries are named without a draw", SelectsForFree),
    (Reweighted, "epsilon of a selection three times too large", SelectsThrice),
    (Reweighted, "the selection is not charged", SelectsUncharged),
    (Reweighted, "m counts measured as if they were one", MeasuresAsOne),
    (Reweighted, "the measurements are not charged", MeasuresUncharged),
    (IndependentMarginals, "half the squared sensitivity", HalfTheColumns),
    (NoisyAnswers, "a quarter of sigma", QuarterNoise),
    (NoisyAnswers, "half the squared sensitivity", AddedRecord),
    (NoisyAnswers, "half the Laplace scale", HalfTheLaplace),
    (MarginalFit, "noise for one cell where a record moves two", OneCell),
    (MarginalFit, "sigma of the chosen tables too small by the root of two", QuietTables),
    (MarginalFit, "the choices with twice their exponent", SteepChoices),
    (MarginalFit, "the choices are not charged", ChoosesUncharged),
    (MarginalFit, "the records say how many tables are chosen", ChoosesByTheData),
    (MarginalFit, "the first tables are not paid for", SpendsTheFirstTwice),
)
