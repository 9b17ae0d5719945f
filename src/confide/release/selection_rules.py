"""Which queries `Reweighted` measures, by rules that see what is public once DualQuery has run.

Source: spec query_release D5 (an extension of Wu 2017, Algorithm 3).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, NoReturn, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from confide.contract.errors import NotGuaranteed
from confide.contract.parameters import Declared, Parameter
from confide.contract.wire import wire
from confide.privacy.noise.simulated import study_generator
from confide.release.packed import PackedBits
from confide.release.synthetic import Rounds
from confide.release.workload import Workload

__all__ = ["MostDrawn", "SelectionRule", "Transcript"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Transcript:
    """All that a selection rule may see: what is public once DualQuery has run.

    Args:
        records: the T records.
        rounds: the samples that were drawn.
        workload: the queries.
        answers: (k,) those of the records with even weights.
        seed: public, for ties.
    """

    records: PackedBits
    rounds: Rounds
    workload: Workload
    answers: NDArray[np.float64] = field(repr=False)
    seed: int

    @property
    def true_errors(self) -> NoReturn:
        """There are none to be had: naming queries by their true errors reads the data, and must be charged.

        Raises:
            NotGuaranteed: always.
        """
        raise NotGuaranteed("a selection by true errors", "these are private, and no selection event pays for them",
                            "selection='private' draws by the exponential mechanism and charges rho_sel")


@runtime_checkable
class SelectionRule(Protocol):
    """Names measured queries from the transcript: a frozen dataclass of public parameters."""

    def choose(self, transcript: Transcript, count: int) -> NDArray[np.int64]:
        """`count` different positions in the workload."""
        ...


@wire("MostDrawn", "last")
@dataclass(frozen=True, kw_only=True)
class MostDrawn(Declared):
    """The queries that were drawn most often in the last rounds, then in all, then any: where the records were seen to
    be wrong last. Queries that cancelled against their negations count as what is left.
    """

    last: Annotated[int, Parameter("last rounds that count first", at_least=1)] = 10

    def choose(self, transcript: Transcript, count: int) -> NDArray[np.int64]:
        k, rounds = len(transcript.workload), transcript.rounds
        drawn = np.abs(rounds.weights)
        begin = int(rounds.ends[-self.last - 1]) if self.last < len(rounds) else 0
        total = np.bincount(rounds.queries, weights=drawn, minlength=k)
        recent = np.bincount(rounds.queries[begin:], weights=drawn[begin:], minlength=k)
        ties = study_generator(transcript.seed, "ties").permutation(k)
        return np.asarray(np.lexsort((ties, -total, -recent))[:count])
