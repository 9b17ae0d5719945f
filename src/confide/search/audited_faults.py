"""Mutants of private searches. The audit must flag each mutant, and must pass the sound search."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from confide.audit import inject_fault
from confide.privacy.noise import Noise
from confide.search.adjacency import Adjacency
from confide.search.component_walk import Walk
from confide.search.exact_laws import Hidden, LawTree
from confide.search.noise_kinds import call_law, threshold_points

if TYPE_CHECKING:  # what each is put on top of
    from confide.search.component_search import ComponentSearch as _Call
    from confide.search.stopping import ThresholdRule as _Rule
    from confide.search.targeted import PTarget as _Search
else:
    _Call = _Rule = _Search = object

__all__ = [
    "CappedTree",
    "CountsUnexamined",
    "EighthNoise",
    "HalfDrawn",
    "HalfLaw",
    "HalvedNoise",
    "NoiselessThreshold",
    "QuietFakeTree",
    "SharpThreshold",
    "TiesByDegree",
    "drawn_at",
    "misses",
]

_Array = NDArray[np.float64]


class _Halved(_Call):
    @property
    def noise_scale(self) -> float:
        return super().noise_scale / 2


class HalvedNoise(_Search):
    """Mutant: noise at half of the correct scale."""

    @property
    def call(self) -> Any:
        return inject_fault(super().call, _Halved)


class _Eighth(_Call):
    @property
    def noise_scale(self) -> float:
        return super().noise_scale / 8


class EighthNoise(_Search):
    """Mutant: noise at an eighth of the correct scale."""

    @property
    def call(self) -> Any:
        return inject_fault(super().call, _Eighth)


class _HalfDrawn(_Call):
    def order(self, values: Any, scale: float, noise: Noise, call: int, threshold: float | None) -> Any:
        return super().order(values, scale / 2, noise, call, threshold)


class _HalfScale(_Call):
    @property
    def noise_scale(self) -> float:
        return super().noise_scale / 2

    @property
    def rule(self) -> Any:
        return replace(super().rule, noise_scale=super().noise_scale)


class HalfLaw(_Search):
    """The law of the mutant `HalfDrawn`: noise at half of its scale, but thresholds drawn as if the noise had its full
    scale.
    """

    @property
    def call(self) -> Any:
        return inject_fault(super().call, _HalfScale)


class HalfDrawn(_Search):
    """Mutant: the program draws noise at half of the scale that its stated law and its promise assume."""

    @property
    def call(self) -> Any:
        return inject_fault(super().call, _HalfDrawn)


def drawn_at(factor: float) -> type[Any]:
    """Class of mutants in which the program draws noise at a fraction of the scale that its stated law and its promise
    assume.

    Args:
        factor: drawn noise scale as a fraction of the stated noise scale, > 0.
    """

    class Part(_Call):
        def order(self, values: Any, scale: float, noise: Noise, call: int, threshold: float | None) -> Any:
            return super().order(values, factor * scale, noise, call, threshold)

    class PartDrawn(_Search):
        @property
        def call(self) -> Any:
            return inject_fault(super().call, Part)

    return PartDrawn


class TiesByDegree(Walk):
    """Mutant: inside a component, all targets except the first one are listed by decreasing number of contacts."""

    def explore(self, start: int = -1) -> int:
        before = len(self.order)
        ended = super().explore(start)
        fresh = self.order[before + 1 :]  # a view
        fresh[:] = fresh[np.argsort(-self.graph.degrees[fresh], kind="stable")]
        return ended


class _FirstBest(_Rule):
    def law(self, values: Any) -> _Array:
        out = np.zeros(self.top + 1)
        out[int(np.argmin(self.scores(values)))] = 1.0
        return out


class _OfOne(_Rule):
    @property
    def sensitivity(self) -> float:
        return super().sensitivity / self.count_sensitivity


class _BestThreshold(_Call):
    @property
    def rule(self) -> Any:
        return inject_fault(super().rule, _FirstBest)


class _SharpRule(_Call):
    @property
    def rule(self) -> Any:
        return inject_fault(super().rule, _OfOne)


class NoiselessThreshold(_Search):
    """Mutant: the fake target has the threshold with the best score as its value, without a random draw."""

    @property
    def call(self) -> Any:
        return inject_fault(super().call, _BestThreshold)


class SharpThreshold(_Search):
    """Mutant: the threshold is drawn as if a vertex with changed contacts (a rewired vertex) changed every count by at
    most 1.
    """

    @property
    def call(self) -> Any:
        return inject_fault(super().call, _SharpRule)


class _Unexamined:
    """A search's state in which every unexamined vertex counts for the threshold."""

    def __init__(self, walk: Any) -> None:
        self._replay = walk

    def __getattr__(self, name: str) -> Any:
        return getattr(self._replay, name)

    @property
    def outside(self) -> Any:
        return ~self._replay.examined


class _PrintedCount(_Call):
    def look(self, walk: Any, noise: Noise, call: int) -> Any:
        shown: Any = _Unexamined(walk)
        return super().look(shown, noise, call)


class CountsUnexamined(_Search):
    """Mutant: the threshold rule of Wu 2017, which counts over V minus I, the vertices that were not examined."""

    @property
    def call(self) -> Any:
        return inject_fault(super().call, _PrintedCount)


class QuietFakeTree(LawTree):
    """The exact laws of a mutant in which the fake target, the item that ends a search, has no noise. The outcomes are
    merged into two: some target is found, or nothing is found.
    """

    def call(self, hidden: Hidden) -> _Array:
        points, law = threshold_points(hidden.threshold)
        nobody = 0.0
        for point, part in zip(points.tolist(), law.tolist(), strict=True):
            # Nobody comes before a fixed value: each alone against a fake that no noise can move, in the same units.
            nobody += part * float(np.prod([misses(self.one, score, point) for score in hidden.scores]))
        out = np.zeros(len(hidden.targets) + 1)
        out[0], out[-1] = 1 - nobody, nobody
        return out


def misses(one: Any, score: float, point: float) -> float:
    """Probability that a target's score plus noise is below the value of a fake target without noise.

    Args:
        one: public parameters of one search for a component.
        score: statistic of the target before noise.
        point: value of the fake target.
    """
    y = (point - score) / one.noise_scale
    if one.noise_kind == "gumbel":
        return float(np.exp(-np.exp(-y)))
    if one.noise_kind == "exponential":
        return float(-np.expm1(-max(y, 0.0)))
    if one.noise_kind == "discrete_laplace":
        ratio = float(np.exp(-1 / one.noise_scale))
        gap = point - score - 1  # a tie is the target's
        return float(ratio ** -gap / (1 + ratio) if gap < 0 else 1 - ratio ** (gap + 1) / (1 + ratio))
    return float(np.exp(y) / 2 if y < 0 else 1 - np.exp(-y) / 2)


class CappedTree(LawTree):
    """The exact laws of a mutant that examines one vertex and then gives up. In this mutant a protected vertex may take
    the place of a target.
    """

    def hidden(self, graph: Adjacency, order: tuple[int, ...]) -> Hidden:
        found = super().hidden(graph, order)
        values = self.one.statistic.values(graph, np.array(sorted(order), dtype=np.int64))
        outside = np.ones(graph.people, dtype=np.bool_)
        for t in order:
            outside[graph.indices[graph.indptr[t] : graph.indptr[t + 1]]] = False
        outside[list(order)] = False
        strangers = np.flatnonzero(outside & ~self.targeted)
        return Hidden(found.targets, np.concatenate([found.scores, values[strangers]]), found.threshold)

    def call(self, hidden: Hidden) -> _Array:
        law = call_law(hidden.scores, self.one.noise_scale, self.one.noise_kind, hidden.threshold)
        found = law[: len(hidden.targets)]
        return np.append(found, max(0.0, 1.0 - float(found.sum())))
