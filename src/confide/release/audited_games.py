"""DualQuery held against its promises: its law written out, its own run on neighbours, its draws, and its error.

DualQuery broken on purpose, in the ways in which it is usually broken: the audits must flag each.

The exact law of everything that a tiny DualQuery publishes: each multiset of samples of each round, one by one.

A transcript is the samples of all rounds; the records follow from it. What is enumerated is the mechanism's own code:
the logits of each of its rounds and its best responses.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, replace
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confide.audit import (
    AuditRow,
    Concern,
    Examined,
    Loss,
    Neighbours,
    exact_audit,
    fixed_transcript_audit,
)
from confide.audit.statistical import clopper_pearson
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Relation
from confide.contract.renamed import renamed
from confide.privacy.accounting import Accountant
from confide.privacy.events import BoundedRangeEvent, Event, Repeated
from confide.privacy.losses import ZCDP, ApproxDP, PureDP
from confide.privacy.noise import Noise
from confide.privacy.noise.choices import relative_weights
from confide.privacy.noise.simulated import study_generator
from confide.release.answers import TrueAnswers
from confide.release.audited_tables import published
from confide.release.calculators import round_epsilon
from confide.release.dual_query import DualQuery
from confide.release.oracle.answer import Answer
from confide.release.query_game import Netted, QueryRound, draw_queries, net, query_law, round_logits
from confide.release.workload import Workload

__all__ = [
    "FALSE_ALARM",
    "MOST_TRANSCRIPTS",
    "CountsOneLevel",
    "DataDependentSize",
    "HalfThePeople",
    "Kind",
    "MixedSigns",
    "OneRoundLater",
    "OneSample",
    "SeesTheData",
    "TwiceTheStep",
    "WithoutReplacement",
    "accuracy_row",
    "dual_query_rows",
    "games",
    "law_rows",
    "like",
    "replacements",
    "samples_row",
    "tiny_game",
    "transcript_laws",
    "transcript_row",
]

# ---- audited game faults


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
    """A fault: as many samples are drawn as the true error asks for."""

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


# ---- audited laws

MOST_TRANSCRIPTS = 2**21

TRUTH = ((0, 1, 1, 0, 1, 0, 0, 1), (0, 0, 0, 1, 0, 1, 1, 1), (1, 1, 0, 0, 1, 1, 0, 1))
"""Three predicates over eight elements: a parity, a majority and one without a symmetry."""


@renamed(n="records")
def tiny_game(
    eta: float = 0.25, rounds: int = 3, samples: int = 1, records: int = 4, kind: Callable[..., DualQuery] = DualQuery,
    **others: Any,
) -> DualQuery:
    """DualQuery over eight elements and three predicates.

    Example:
        >>> tiny_game().epsilon(calculator="pure") > 0.375 > 0.374
        True
    """
    return kind(records=records, eta=eta, rounds=rounds, samples=samples, workload=Workload.predicates(TRUTH), **others)


def replacements(
    mechanism: DualQuery, data: Iterable[Sequence[int]]
) -> tuple[dict[Hashable, TrueAnswers], list[tuple[Hashable, Hashable]]]:
    """Data sets, their neighbours by each replacement of one record, and the pairs of these.

    Args:
        mechanism: a mechanism with predicates as queries.
        data: data sets as n elements of the universe each.

    Returns:
        Counts of the queries -> true answers, and pairs of keys. Data sets with the same counts have the same law, so
        they are one.
    """
    truth = mechanism.queries.truth
    found: dict[Hashable, TrueAnswers] = {}
    pairs: dict[tuple[Hashable, Hashable], None] = {}

    def known(elements: Sequence[int]) -> Hashable:
        counts = truth[:, list(elements)].sum(axis=1).astype(np.int64)
        key = tuple(counts.tolist())
        found.setdefault(key, TrueAnswers(counts=counts, records=len(elements)))
        return key

    for elements in data:
        base = known(elements)
        for at in range(len(elements)):
            for other in range(truth.shape[1]):
                near = known([*elements[:at], other, *elements[at + 1 :]])
                if near != base:
                    pairs[base, near] = None
    return found, list(pairs)


def transcript_laws(
    mechanism: DualQuery, answers: Mapping[Hashable, TrueAnswers]
) -> dict[Hashable, NDArray[np.float64]]:
    """The law of the samples of all rounds, under each data set, over the same transcripts in the same order.

    Args:
        mechanism: a tiny one, without measured marginals.
        answers: name of a data set -> its true answers.

    Raises:
        InvalidInput: more than 2^21 transcripts, or a measurement besides the samples.

    Source: spec query_release D2, acceptance checks 6 and 12.

    Example:
        >>> game = tiny_game(rounds=2)
        >>> data, _ = replacements(game, [(0, 1, 2, 3)])
        >>> laws = transcript_laws(game, data)
        >>> {law.shape for law in laws.values()}, round(float(laws[2, 1, 2].sum()), 12)
        ({(36,)}, 1.0)
    """
    queries, size = mechanism.queries, mechanism.samples
    if mechanism.free == "marginals":
        raise InvalidInput("mechanism", "measures marginals too", "the law of samples alone is enumerated")
    k = len(queries)
    if math.comb(2 * k + size - 1, size) ** mechanism.rounds > MOST_TRANSCRIPTS:
        raise InvalidInput("mechanism", "has too many transcripts", f"must be at most {MOST_TRANSCRIPTS:,}")
    multisets = [np.array(each, dtype=np.int64) for each in combinations_with_replacement(range(2 * k), size)]
    counts = [each.counts for each in answers.values()]
    memory: dict[tuple[int, tuple[int, ...], bytes], NDArray[np.float64]] = {}

    def laws(t: int, satisfied: NDArray[np.int32], previous: NDArray[np.bool_] | None) -> NDArray[np.float64]:
        """(data sets, transcripts from round t on)."""
        if t > mechanism.rounds:
            return np.ones((len(counts), 1))
        key = (t, tuple(satisfied.tolist()), b"" if previous is None else previous.tobytes())
        if key not in memory:
            played = mechanism._round(t)
            each = np.array([relative_weights(round_logits(played, count, satisfied)) for count in counts])
            if mechanism.mirrored:  # it publishes the negation of what the print's player draws
                each = np.roll(each, k, axis=1)
            each /= each.sum(axis=1, keepdims=True)
            parts = []
            for multiset in multisets:
                record = mechanism._respond(net(multiset, k), t, previous, np.zeros(0, dtype=np.int64)).record
                further = laws(t + 1, satisfied + queries.values(record).astype(np.int32), record)
                parts.append(multinomial(each, multiset)[:, None] * further)
            memory[key] = np.concatenate(parts, axis=1)
        return memory[key]

    table = laws(1, np.zeros(k, dtype=np.int32), None)
    return dict(zip(answers, table, strict=True))


def multinomial(law: ArrayLike, multiset: NDArray[np.int64]) -> NDArray[np.float64]:
    """The probabilities, (data sets,), that independent draws from each law make a multiset."""
    orders = math.factorial(len(multiset))
    for repeated in Counter(multiset.tolist()).values():
        orders //= math.factorial(repeated)
    return np.asarray(orders * np.prod(np.asarray(law)[:, multiset], axis=1))


# ---- audited games

FALSE_ALARM = 1e-9
"""Probability with which a row that rests on random draws says "broken" of a kept promise; there are two of them."""

Kind = Callable[..., DualQuery]
"""A class of the family, or whatever makes its mechanisms from parameters that are named."""

_DATA = ((4, 4, 4, 6),)
"""Data sets of four elements; each replacement of one of them makes a neighbour."""

_DRAWS = 600
_DELTAS = (0.25, 0.5)  # of the pure bound: at which epsilon the hockey stick is compared


def like(it: DualQuery) -> Kind:
    """A maker of games of the class of a mechanism, with its usual parameters but for those that are named; parameters
    that only this class has stay as they are.

    Args:
        it: the campaign's mechanism, sound or broken.
    """
    usual = {each.name: each.default for each in fields(DualQuery) if each.default is not MISSING}
    return lambda **given: replace(it, **{**usual, **given})


def law_rows(
    kind: Kind = DualQuery, *, eta: float = 1.0, rounds: int = 3, samples: int = 1,
    claims: Sequence[str] = ("pure", "zcdp", "delta"), data: Sequence[Sequence[int]] = _DATA,
) -> list[AuditRow]:
    """The law of all transcripts of a tiny game: pure loss, Renyi divergences, and delta at two epsilons.

    Args:
        kind: the mechanism, or a broken one.
        eta: step size.
        rounds: T.
        samples: s.
        claims: claims among "pure", "zcdp" and "delta" that are held against the law.
        data: data sets of four elements each; every replacement of one of their records is compared.

    Source: spec query_release, acceptance checks 6 and 12.
    """
    game = tiny_game(eta, rounds, samples, kind=kind)
    answers, pairs = replacements(game, data)
    laws = transcript_laws(game, answers)
    promised = Accountant(game.events())
    pure, rho = promised.epsilon(0.0, calculator="basic"), promised.rho()
    at = {part: ApproxDP(part * pure, ZCDP(rho).delta_at(part * pure)) for part in _DELTAS}
    held: list[tuple[str, str, Loss]] = [
        ("pure", "privacy: pure loss of all samples", PureDP(pure)),
        ("zcdp", "privacy: Renyi divergences of all samples (zCDP)", ZCDP(rho)),
        *(("delta", f"privacy: delta at {part:g} of the pure loss, by zCDP", claim) for part, claim in at.items()),
    ]
    return [exact_audit(laws, claim, pairs).row(promise) for name, promise, claim in held if name in claims]


def transcript_row(kind: Kind = DualQuery, seed: int = 1) -> AuditRow:
    """A whole run on neighbouring tables along common histories, with measured marginals: nothing passes the draws.

    Args:
        kind: the mechanism, or a broken one.
        seed: seed of the histories.
    """
    n, d = 40, 6
    bits = study_generator(seed, "audit table").random((n, d)) < np.linspace(0.1, 0.9, d)
    it = kind(records=n, eta=0.5, rounds=5, samples=12, workload=Workload.complete(d, width=2), free="marginals",
              marginal_rho=0.05, seed=seed)
    pairs = []
    for at, record in ((0, np.ones(d, bool)), (1, ~bits[1])):
        other = bits.copy()
        other[at] = record
        pairs.append(Neighbours(bits, other, published))
    claim = ZCDP(Accountant(it.events()).rho())
    found = fixed_transcript_audit(it.run, pairs, {"": claim}, lambda k: Noise.simulated(seed * 1009 + k))
    return found[""].row("privacy: its own run on neighbours (zCDP)")


def samples_row(kind: Kind = DualQuery, seed: int = 1) -> AuditRow:
    """The draws of a round are independent: two of them net to nothing, or are equal, as often as they should.

    With two samples a round, the netted ones hold two different queries with a probability that follows from the
    law of one draw.

    Args:
        kind: the mechanism, or a broken one.
        seed: seed of the draws.
    """
    it = tiny_game(1.0, 2, 2, kind=kind)
    counts, satisfied = np.array([3, 0, 2]), np.array([0, 1, 1], dtype=np.int32)
    law = query_law(counts, satisfied, 1, it.records, it.eta)
    one = law[:3] + law[3:]
    expected = 1.0 - float((one**2).sum())
    found = sum(len(it._draw(counts, satisfied, 2, Noise.simulated(seed * 10**6 + k)).queries) == 2
                for k in range(_DRAWS))
    low, high = clopper_pearson(found, _DRAWS, FALSE_ALARM)
    off = max(0.0, float(low) - expected, expected - float(high))
    return AuditRow.at_most("law: two samples of a round ask about different queries (distance from the interval)",
                            0.0, off, f"{found} of {_DRAWS} rounds, expected {expected:.4f}; exact binomial interval",
                            false_alarm=FALSE_ALARM, unit="(probability)", concern=Concern.PRIVACY)


def accuracy_row(kind: Kind = DualQuery, seed: int = 1) -> AuditRow:
    """The error of a long run against its certificate, where that says something.

    Args:
        kind: the mechanism, or a broken one.
        seed: seed of the noise.
    """
    it = tiny_game(0.1, 300, 3000, records=1000, kind=kind, failure_probability=FALSE_ALARM)
    answers = TrueAnswers(counts=np.array([950, 30, 950]), records=1000)  # elements 1, 2, 0, 7: 870, 50, 50, 30
    outcome = it.run(answers, Noise.simulated(seed))
    error = float(np.abs(outcome.billboard.answers(it.queries) - answers.fractions).max())
    bound = it.planned_certificate.bound
    return AuditRow.at_most("accuracy: largest error against the planned certificate", bound, error,
                            "one run over eight elements, 300 rounds of 3,000 samples",
                            vacuous=it.planned_certificate.vacuous, false_alarm=FALSE_ALARM,
                            unit="of the records", concern=Concern.ACCURACY)


def dual_query_rows(seed: int = 1, kind: Kind = DualQuery) -> list[AuditRow]:
    """All promises of DualQuery, by all audits.

    Args:
        seed: seed of histories and draws.
        kind: the mechanism, or a broken one.

    Example:
        >>> {row.verdict.value for row in dual_query_rows()}
        {'kept'}
    """
    return [*law_rows(kind), *law_rows(kind, eta=0.25, rounds=2, samples=2), transcript_row(kind, seed),
            samples_row(kind, seed), accuracy_row(kind, seed)]


def games(seed: int = 1, kind: Kind = DualQuery) -> list[Examined]:
    """The same audits as the harness takes them, each part with the faults that it must flag.

    Args:
        seed: seed of histories and draws.
        kind: the mechanism, or a broken one.
    """
    parts: list[tuple[str, Callable[[Kind], AuditRow], dict[str, type[DualQuery]]]] = [
        ("pure loss, enumerated", lambda one: law_rows(one, rounds=4, claims=("pure",))[0], {
            "a step twice as large as the charged one": TwiceTheStep,
            "each round played as the next one": OneRoundLater,
            "weights for half of the people": HalfThePeople,
            "every round charged as round 2": CountsOneLevel,
        }),
        ("Renyi divergences, enumerated", lambda one: law_rows(one, claims=("zcdp",))[0], {
            "a step twice as large as the charged one": TwiceTheStep,
            "every round charged as round 2": CountsOneLevel,
        }),
        ("run on neighbours", lambda one: transcript_row(one, seed), {
            "the best response sees the data": SeesTheData,
            "as many samples as the true error asks for": DataDependentSize,
            "a step twice as large as the charged one": TwiceTheStep,
        }),
        ("law of the samples", lambda one: samples_row(one, seed), {
            "sampling without replacement": WithoutReplacement,
        }),
        ("accuracy", lambda one: accuracy_row(one, seed), {
            "printed weights with the best response of the analysis": MixedSigns,
            "the first samples used in every round": OneSample,
        }),
    ]
    return [
        Examined(named="a game of a few queries", sound=kind, rows=lambda one: [
            row.smaller("games of a few queries") for row in dual_query_rows(seed, one)]),
        *(Examined(named=named, faults=broken, rows=lambda one, row=row: [] if one is None else [row(one)])  # type: ignore[misc]
          for named, row, broken in parts)]
