"""DualQuery broken on purpose, in the ways in which it is usually broken: the audits must flag each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from confide.contract.guarantees import Relation
from confide.privacy.events import BoundedRangeEvent, Event, Repeated
from confide.privacy.noise import Noise
from confide.release.calculators import round_epsilon
from confide.release.dual_query import DualQuery
from confide.release.oracle.answer import Answer
from confide.release.query_game import Netted, QueryRound, draw_queries, net, query_law, round_logits

__all__ = ["CountsOneLevel", "DataDependentSize", "HalfThePeople", "MixedSigns", "OneRoundLater", "OneSample",
           "SeesTheData", "TwiceTheStep", "WithoutReplacement"]


class TwiceTheStep(DualQuery):
    """A step twice as large as what is charged, and so logits twice as steep."""

    def _round(self, t: int) -> QueryRound:
        return super()._round(t)._replace(eta=2.0 * self.eta)


class OneRoundLater(DualQuery):
    """Rounds counted from 2: each is charged as the one before it."""

    def _round(self, t: int) -> QueryRound:
        return super()._round(t)._replace(t=t + 1)


class HalfThePeople(DualQuery):
    """Weights for half as many records as there are, and as are charged for."""

    def _round(self, t: int) -> QueryRound:
        return super()._round(t)._replace(n=self.records // 2)


class CountsOneLevel(DualQuery):
    """Rounds counted wrong: every round is charged what round 2 costs."""

    def events(self) -> tuple[Event, ...]:
        draw = BoundedRangeEvent(epsilon=round_epsilon(self.records, self.eta, 2), neighbours=Relation.REPLACE)
        return (Repeated(event=draw, count=self.samples * (self.rounds - 1), neighbours=Relation.REPLACE),)


class SeesTheData(DualQuery):
    """The best response to the whole law of the queries, in place of the samples: a function of the data."""

    def _draw(
        self, counts: NDArray[np.int64], satisfied: NDArray[np.int32], t: int, source: Noise
    ) -> Netted:
        object.__setattr__(self, "_law", query_law(counts, satisfied, t - 1, self.records, self.eta))
        return super()._draw(counts, satisfied, t, source)

    def _respond(
        self, samples: Netted, t: int, previous: NDArray[np.bool_] | None, marginals: NDArray[np.int64]
    ) -> Answer:
        law, k = vars(self)["_law"], len(self.queries)
        whole = np.round((law[:k] - law[k:]) * 10**6).astype(np.int64)
        kept = np.flatnonzero(whole)
        found = super()._respond(Netted(kept, whole[kept], 0), t, previous, marginals)
        terms = samples.weights @ self.queries.values(found.record)[samples.queries]
        return Answer(record=found.record, value=samples.constant + int(terms))


class DataDependentSize(DualQuery):
    """As many samples as the true error asks for."""

    def _draw(
        self, counts: NDArray[np.int64], satisfied: NDArray[np.int32], t: int, source: Noise
    ) -> Netted:
        error = np.abs(counts / self.records - satisfied / max(1, t - 1)).max()
        played = self._round(t)._replace(samples=1 + int(self.samples * error * 1000) % (2 * self.samples))
        return net(draw_queries(source, played, counts, satisfied, line="rounds"), len(counts))


class MixedSigns(DualQuery):
    """The printed weights with the best response of the analysis: positive feedback. As private, and of no use."""

    def _round(self, t: int) -> QueryRound:
        return super()._round(t)._replace(mirrored=True)


class OneSample(DualQuery):
    """The samples of the first round are used in every round."""

    def _draw(
        self, counts: NDArray[np.int64], satisfied: NDArray[np.int32], t: int, source: Noise
    ) -> Netted:
        if t == 1:
            object.__setattr__(self, "_kept", super()._draw(counts, satisfied, t, source))
        kept: Netted = vars(self)["_kept"]
        return kept


class WithoutReplacement(DualQuery):
    """No query is drawn twice in a round: another law than the one that the accuracy is proved for."""

    def _draw(
        self, counts: NDArray[np.int64], satisfied: NDArray[np.int32], t: int, source: Noise
    ) -> Netted:
        left = np.arange(2 * len(counts))
        logits = round_logits(self._round(t), counts, satisfied)
        drawn = []
        for number in range(min(self.samples, len(left))):
            at = int(source.selection(logits[left], 1, stream=("round", t, number))[0])
            drawn.append(left[at])
            left = np.delete(left, at)
        return net(np.array(drawn, dtype=np.int64), len(counts))
