"""What a release's errors will be about, from public facts: the law of the noise where that is all there is, and rules
of thumb, held against measured runs, where an algorithm's errors depend on the data.

Errors are fractions of the records: of an answer on average over the queries, and of the worst of them. A rule of thumb
is no promise; what is promised are the mechanism's own guarantees.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import ndtri

from confide.contract.mechanism import Mechanism
from confide.release.baselines import NoisyAnswers
from confide.release.dual_query import DualQuery
from confide.release.marginal_fit import MarginalFit
from confide.release.mwem import MWEM
from confide.release.reweighted import Reweighted

__all__ = ["Prediction", "predict"]

LAW, RULE, NOTHING = "the law of the noise", "a rule of thumb from measured runs", "nothing: it depends on the data"

HOPELESS = 0.5
"""Of the average error."""

_SPREAD = 4.5
"""Of DualQuery and MWEM: how many times the average error the largest one was; 3 to 5.5 in measured runs."""

_ALL, _SOME = 0.8, 1.5
"""Of MarginalFit: how many times the noise of a cell an answer is off by, see `_fitted`."""


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """What a method's errors will be about.

    Args:
        method: as a campaign file names it.
        mechanism: what would run; None where it cannot.
        average: typical error of an answer, averaged over the queries; infinite where it cannot run, NaN where public
            facts say nothing.
        largest: typical error of the worst answer; as `average`.
        basis: what the figures rest on.
        refused: why it cannot run; empty where it can.
        uncut: `average` before it is cut to what answering 1/2 gives; it orders methods that are all hopeless.
    """

    method: str
    mechanism: Mechanism | None
    average: float
    largest: float
    basis: str = RULE
    refused: str = ""
    uncut: float = math.inf

    @property
    def hopeless(self) -> bool:
        """Whether answering 1/2 to everything, without data, is as good."""
        return self.average >= HOPELESS


def predict(method: str, mechanism: Mechanism) -> Prediction:
    """The figures of a mechanism.

    Args:
        method: what to call it.
        mechanism: one of this family.

    Example:
        >>> from confide.release import Workload
        >>> from confide.release.baselines import NoisyAnswers
        >>> found = predict("gaussian", NoisyAnswers(n=10_000, workload=Workload.complete(10), epsilon=1.0, delta=1e-6))
        >>> f"{found.average:.4f} {found.largest:.4f}"
        '0.0037 0.0128'
    """
    match mechanism:
        case NoisyAnswers():
            average, largest = _noise(mechanism)
            return _cut(method, mechanism, average, largest, LAW)
        case DualQuery():
            largest = _game(mechanism)
        case Reweighted():
            largest = _game(mechanism.dual_query)
        case MWEM():
            largest = _selection(mechanism)
        case MarginalFit():
            average = _fitted(mechanism)
            return _cut(method, mechanism, average, 10 * average)
        case _:
            return Prediction(method=method, mechanism=mechanism, average=math.nan, largest=math.nan, basis=NOTHING)
    return _cut(method, mechanism, largest / _SPREAD, largest)


def _cut(method: str, mechanism: Mechanism, average: float, largest: float, basis: str = RULE) -> Prediction:
    return Prediction(method=method, mechanism=mechanism, average=min(HOPELESS, average), largest=min(1.0, largest),
                      basis=basis, uncut=average)


def _noise(it: NoisyAnswers) -> tuple[float, float]:
    """The mean of |noise|, and the median of the largest of k of them; who cuts answers to [0, 1] is off by less."""
    k = len(it.workload)
    if it.law == "laplace":
        average, largest = it.scale, it.scale * -math.log1p(-(0.5 ** (1 / k)))
    else:
        average = it.sigma * math.sqrt(2 / math.pi)
        largest = it.sigma * float(ndtri((1 + 0.5 ** (1 / k)) / 2))
    return average / it.n, largest / it.n


def _game(it: DualQuery) -> float:
    """The part ln |Q|/(eta T) of the regret; with enough samples a round 0.5 to 1.3 of it in measured runs."""
    return it.queries.log_queries / (it.eta * it.rounds)


def _fitted(it: MarginalFit) -> float:
    """So many times the noise of a cell of a measured table. On average an answer was off by 0.2 (independent columns)
    to 1.4 of it in measured runs where all tables or eight a column were measured, and else by 0.5 (people's tables) to
    4 (latent classes that tie 40 columns together); the worst one by 3 to 30 times that.
    """
    columns = sum(size > 1 for size in it.schema.sizes)
    if it.tables == 0:
        return it.split.one_way / it.n
    return (_ALL if it.split.tables >= min(8 * columns, len(it.candidates)) else _SOME) * it.split.sigma / it.n


def _selection(it: MWEM) -> float:
    """How far below the best score the chosen one usually is: beyond that, selection cannot see what is wrong."""
    k = len(it.workload)
    return 2.0 / it.each * math.log(max(2, k)) / it.n
