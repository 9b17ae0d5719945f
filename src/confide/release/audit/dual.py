"""DualQuery held against its promises: its law written out, its own run on neighbours, its draws, and its error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields, replace

import numpy as np

from confide.audit import (
    AuditRow,
    Concern,
    Control,
    Loss,
    Mutant,
    Neighbours,
    controls,
    exact_audit,
    fixed_transcript_audit,
)
from confide.audit.statistical import clopper_pearson
from confide.privacy.accounting import Accountant
from confide.privacy.losses import ZCDP, ApproxDP, PureDP
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.release.answers import TrueAnswers
from confide.release.audit.enumerated import replacements, tiny_game, transcript_laws
from confide.release.audit.mutants import (
    CountsOneLevel,
    DataDependentSize,
    HalfThePeople,
    MixedSigns,
    OneRoundLater,
    OneSample,
    SeesTheData,
    TwiceTheStep,
    WithoutReplacement,
)
from confide.release.audit.tiny_mechanisms import published
from confide.release.dual_query import DualQuery
from confide.release.query_game import query_law
from confide.release.workload import Workload

__all__ = [
    "FALSE_ALARM",
    "Kind",
    "accuracy_row",
    "dual_query_controls",
    "dual_query_rows",
    "law_rows",
    "like",
    "samples_row",
    "transcript_row",
]

FALSE_ALARM = 1e-9
"""Probability with which a row that rests on random draws says "broken" of a kept promise; there are two of them."""

Kind = Callable[..., DualQuery]
"""A class of the family, or whatever makes its mechanisms from parameters that are named."""

_DATA = ((4, 4, 4, 6),)
"""Data sets of four elements; each replacement of one of them makes a neighbour."""

_DRAWS = 600
_DELTAS = (0.25, 0.5)  # of the pure bound: at which epsilon the hockey stick is compared


def like(it: DualQuery) -> Kind:
    """What makes games of the class of a mechanism, with its usual parameters but for those that are named; parameters
    that only this class has stay as they are.

    Args:
        it: of a campaign, sound or broken.
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
        claims: of "pure", "zcdp" and "delta", which are held against the law.
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
        seed: of the histories.
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
        seed: of the draws.
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
        seed: of the noise.
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
        seed: of histories and draws.
        kind: the mechanism, or a broken one.

    Example:
        >>> {row.verdict.value for row in dual_query_rows()}
        {'kept'}
    """
    return [*law_rows(kind), *law_rows(kind, eta=0.25, rounds=2, samples=2), transcript_row(kind, seed),
            samples_row(kind, seed), accuracy_row(kind, seed)]


def dual_query_controls(seed: int = 1) -> list[Control]:
    """The same audits on mechanisms that were broken on purpose: each must be flagged."""
    attacks: list[tuple[str, Callable[[type[DualQuery]], AuditRow], dict[str, type[DualQuery]]]] = [
        ("pure loss, enumerated", lambda kind: law_rows(kind, rounds=4, claims=("pure",))[0], {
            "a step twice as large as what is charged": TwiceTheStep,
            "each round played as the next one": OneRoundLater,
            "weights for half of the people": HalfThePeople,
            "every round charged as round 2": CountsOneLevel,
        }),
        ("Renyi divergences, enumerated", lambda kind: law_rows(kind, claims=("zcdp",))[0], {
            "a step twice as large as what is charged": TwiceTheStep,
            "every round charged as round 2": CountsOneLevel,
        }),
        ("run on neighbours", lambda kind: transcript_row(kind, seed), {
            "the best response sees the data": SeesTheData,
            "as many samples as the true error asks for": DataDependentSize,
            "a step twice as large as what is charged": TwiceTheStep,
        }),
        ("law of the samples", lambda kind: samples_row(kind, seed), {
            "sampling without replacement": WithoutReplacement,
        }),
        ("accuracy", lambda kind: accuracy_row(kind, seed), {
            "printed weights with the best response of the analysis": MixedSigns,
            "the first samples used in every round": OneSample,
        }),
    ]
    return [control for name, attack, broken in attacks
            for control in controls([Mutant(name, bug, kind) for bug, kind in broken.items()], attack)]
