"""Audits of DualQuery: the enumerated distribution of its output, runs on neighbouring tables, its random draws, and
its error.

The module also has mutants of DualQuery with common faults, each of which the audits must flag.

A transcript is the list of the samples of all rounds. The published records are a function of the transcript. For a
tiny DualQuery, the exact distribution of the transcripts is enumerated: round by round, every multiset of samples is
tried. The enumeration calls the mechanism's own code for the logits and the best response of each round.
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
    """A mutant that uses twice the step size for which it is charged, so its logits are twice as large."""

    def _round(self, t: int) -> QueryRound:
        return super()._round(t)._replace(eta=2.0 * self.eta)


class OneRoundLater(DualQuery):
    """A mutant that draws in each round as in the next round, but is charged for the present round."""

    def _round(self, t: int) -> QueryRound:
        return super()._round(t)._replace(t=t + 1)


class HalfThePeople(DualQuery):
    """A mutant that computes its weights with half of the number of records, although its privacy charge assumes the
    full number.
    """

    def _round(self, t: int) -> QueryRound:
        return super()._round(t)._replace(n=self.records // 2)


class CountsOneLevel(DualQuery):
    """A mutant in which the charge for every round is the loss of round 2."""

    def events(self) -> tuple[Event, ...]:
        draw = BoundedRangeEvent(epsilon=round_epsilon(self.records, self.eta, 2), neighbours=Relation.REPLACE)
        return (Repeated(event=draw, count=self.samples * (self.rounds - 1), neighbours=Relation.REPLACE),)


class SeesTheData(DualQuery):
    """A mutant with a best response to the exact query distribution instead of the samples. Its response therefore
    depends on the private data without noise.
    """

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
    """A mutant in which the number of samples depends on the true error."""

    def _draw(
        self, counts: NDArray[np.int64], satisfied: NDArray[np.int32], t: int, source: Noise
    ) -> Netted:
        error = np.abs(counts / self.records - satisfied / max(1, t - 1)).max()
        played = self._round(t)._replace(samples=1 + int(self.samples * error * 1000) % (2 * self.samples))
        return net(draw_queries(source, played, counts, satisfied, line="rounds"), len(counts))


class MixedSigns(DualQuery):
    """A mutant that combines the weights of the printed Algorithm 3 in Wu 2017 with the best response of the analysis.
    The signs of these two parts do not fit together, so errors grow from round to round. The mutant is as private as
    the original, and its answers are useless.
    """

    def _round(self, t: int) -> QueryRound:
        return super()._round(t)._replace(mirrored=True)


class OneSample(DualQuery):
    """A mutant that uses the samples of the first round in every round."""

    def _draw(
        self, counts: NDArray[np.int64], satisfied: NDArray[np.int32], t: int, source: Noise
    ) -> Netted:
        if t == 1:
            object.__setattr__(self, "_kept", super()._draw(counts, satisfied, t, source))
        kept: Netted = vars(self)["_kept"]
        return kept


class WithoutReplacement(DualQuery):
    """A mutant that draws no query twice in a round. The proof of accuracy assumes draws with replacement."""

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
"""Three predicates over a universe of eight elements: a parity, a majority, and a predicate without symmetry."""


@renamed(n="records")
def tiny_game(
    eta: float = 0.25, rounds: int = 3, samples: int = 1, records: int = 4, kind: Callable[..., DualQuery] = DualQuery,
    **others: Any,
) -> DualQuery:
    """A DualQuery mechanism, or a mutant of the class `kind`, over a universe of eight elements and with three
    predicates as queries.

    Example:
        >>> tiny_game().epsilon(calculator="pure") > 0.375 > 0.374
        True
    """
    return kind(records=records, eta=eta, rounds=rounds, samples=samples, workload=Workload.predicates(TRUTH), **others)


def replacements(
    mechanism: DualQuery, data: Iterable[Sequence[int]]
) -> tuple[dict[Hashable, TrueAnswers], list[tuple[Hashable, Hashable]]]:
    """The given data sets with all of their neighbours, and the pairs of neighbours. The replacement of one record
    makes a neighbour.

    Args:
        mechanism: a mechanism with predicates as queries.
        data: data sets, each a sequence of n elements of the universe.

    Returns:
        A mapping from the counts of the queries to the true answers, and pairs of keys of this mapping. Data sets with
        equal counts have equal output distributions and are therefore merged.
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
    """Mapping from the name of each data set to the probabilities of all transcripts, (number of transcripts,). A
    transcript is the list of the samples of all rounds. The order of the transcripts is the same for all data sets.

    Args:
        mechanism: a tiny mechanism, without measured marginals.
        answers: mapping from the name of a data set to its true answers.

    Raises:
        InvalidInput: there are more than 2^21 transcripts, or the mechanism also measures marginals.

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
        raise InvalidInput("mechanism", "measures marginals too", "only the law of the samples is enumerated")
    k = len(queries)
    if math.comb(2 * k + size - 1, size) ** mechanism.rounds > MOST_TRANSCRIPTS:
        raise InvalidInput("mechanism", "has too many transcripts", f"must be at most {MOST_TRANSCRIPTS:,}")
    multisets = [np.array(each, dtype=np.int64) for each in combinations_with_replacement(range(2 * k), size)]
    counts = [each.counts for each in answers.values()]
    memory: dict[tuple[int, tuple[int, ...], bytes], NDArray[np.float64]] = {}

    def laws(t: int, satisfied: NDArray[np.int32], previous: NDArray[np.bool_] | None) -> NDArray[np.float64]:
        """Probabilities of the transcripts from round t on, an array (data sets, transcripts)."""
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
    """The probability, for each data set, that independent draws give a multiset of queries: (data sets,).

    Args:
        law: (data sets, 2k) probability that one draw gives each query or negation, for each data set.
        multiset: positions of the drawn queries in 0..2k-1, one entry for each draw.
    """
    orders = math.factorial(len(multiset))
    for repeated in Counter(multiset.tolist()).values():
        orders //= math.factorial(repeated)
    return np.asarray(orders * np.prod(np.asarray(law)[:, multiset], axis=1))


# ---- audited games

FALSE_ALARM = 1e-9
"""Probability with which an audit row that is based on random draws reports a kept promise as broken. Two rows of the
audit are based on random draws.
"""

Kind = Callable[..., DualQuery]
"""`DualQuery`, a mutant of it, or any function that makes such a mechanism from keyword parameters."""

_DATA = ((4, 4, 4, 6),)
"""Data sets of four elements. The replacement of one element makes a neighbouring data set."""

_DRAWS = 600
_DELTAS = (0.25, 0.5)  # of the pure bound: at which epsilon the hockey stick is compared


def like(it: DualQuery) -> Kind:
    """A function that makes mechanisms of the same class as a given mechanism. The returned function takes parameters
    as keyword arguments. All other parameters of DualQuery get their defaults, and parameters that only the given class
    has are unchanged.

    Args:
        it: the campaign's mechanism, or a mutant of it.
    """
    usual = {each.name: each.default for each in fields(DualQuery) if each.default is not MISSING}
    return lambda **given: replace(it, **{**usual, **given})


def law_rows(
    kind: Kind = DualQuery, *, eta: float = 1.0, rounds: int = 3, samples: int = 1,
    claims: Sequence[str] = ("pure", "zcdp", "delta"), data: Sequence[Sequence[int]] = _DATA,
) -> list[AuditRow]:
    """Audit rows that compare the enumerated distribution of a tiny game's transcripts with the promises: the pure
    privacy loss, the Renyi divergences, and delta at two values of epsilon.

    Args:
        kind: class of the mechanism, or of a mutant.
        eta: step size.
        rounds: number of rounds, T.
        samples: number of samples a round, s.
        claims: promises to compare, among "pure", "zcdp" and "delta".
        data: data sets of four elements each. The audit compares every replacement of one record of these data sets.

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
    """Audit row of a whole run on neighbouring tables, with fixed transcripts and with measured marginals. The row
    checks that private data influence the published data only through the random draws.

    Args:
        kind: class of the mechanism, or of a mutant.
        seed: seed of the transcripts.
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
    return found[""].row("privacy: the mechanism's own run on neighbours (zCDP)")


def samples_row(kind: Kind = DualQuery, seed: int = 1) -> AuditRow:
    """Audit row that checks the independence of the draws of a round. Two draws must differ as often as two independent
    draws.

    With two independent samples a round, the distribution of one draw determines the probability that the netted
    samples hold two different queries. Two draws of the same query give one netted query, and a query and its negation
    cancel.

    Args:
        kind: class of the mechanism, or of a mutant.
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
    """Audit row that compares the error of a long run with its certificate, if the certificate is not vacuous.

    Args:
        kind: class of the mechanism, or of a mutant.
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
    """The audit rows for all promises of DualQuery.

    Args:
        seed: seed of transcripts and draws.
        kind: class of the mechanism, or of a mutant.

    Example:
        >>> {row.verdict.value for row in dual_query_rows()}
        {'kept'}
    """
    return [*law_rows(kind), *law_rows(kind, eta=0.25, rounds=2, samples=2), transcript_row(kind, seed),
            samples_row(kind, seed), accuracy_row(kind, seed)]


def games(seed: int = 1, kind: Kind = DualQuery) -> list[Examined]:
    """The audits of DualQuery in the form of the audit harness. Each part of the audit comes with the mutants that it
    must flag.

    Args:
        seed: seed of transcripts and draws.
        kind: class of the mechanism, or of a mutant.
    """
    parts: list[tuple[str, Callable[[Kind], AuditRow], dict[str, type[DualQuery]]]] = [
        ("pure loss, enumerated", lambda one: law_rows(one, rounds=4, claims=("pure",))[0], {
            "a step twice as large as the charged one": TwiceTheStep,
            "each round played with the rule of the next round": OneRoundLater,
            "weights for half of the people": HalfThePeople,
            "every round charged at the price of round 2": CountsOneLevel,
        }),
        ("Renyi divergences, enumerated", lambda one: law_rows(one, claims=("zcdp",))[0], {
            "a step twice as large as the charged one": TwiceTheStep,
            "every round charged at the price of round 2": CountsOneLevel,
        }),
        ("run on neighbours", lambda one: transcript_row(one, seed), {
            "the best response sees the data": SeesTheData,
            "a number of samples that depends on the true error": DataDependentSize,
            "a step twice as large as the charged one": TwiceTheStep,
        }),
        ("law of the samples", lambda one: samples_row(one, seed), {
            "sampling without replacement": WithoutReplacement,
        }),
        ("accuracy", lambda one: accuracy_row(one, seed), {
            "printed weights together with the best response of the analysis": MixedSigns,
            "the first samples used in every round": OneSample,
        }),
    ]
    return [
        Examined(named="a game of a few queries", sound=kind, rows=lambda one: [
            row.smaller("games of a few queries") for row in dual_query_rows(seed, one)]),
        *(Examined(named=named, faults=broken, rows=lambda one, row=row: [] if one is None else [row(one)])  # type: ignore[misc]
          for named, row, broken in parts)]
