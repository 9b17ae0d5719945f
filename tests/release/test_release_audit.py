"""The audits of DualQuery: the sound one keeps its promises, and every planted fault is flagged."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from confide.audit import AuditReport, Verdict
from confide.contract.errors import InvalidInput
from confide.privacy.divergences import hockey_stick, max_divergence, renyi_divergence
from confide.privacy.losses import ZCDP
from confide.release.audited_games import (
    FALSE_ALARM,
    TRUTH,
    CountsOneLevel,
    DataDependentSize,
    HalfThePeople,
    MixedSigns,
    OneRoundLater,
    OneSample,
    SeesTheData,
    TwiceTheStep,
    WithoutReplacement,
    accuracy_row,
    dual_query_rows,
    games,
    law_rows,
    multinomial,
    replacements,
    samples_row,
    tiny_game,
    transcript_laws,
    transcript_row,
)
from confide.release.calculators import epsilon
from confide.release.dual_query import DualQuery

ORDERS = (1.01, 1.5, 2.0, 5.0, 20.0, 100.0)


@pytest.mark.slow
def test_the_sound_mechanism_passes_and_every_injected_fault_is_flagged() -> None:
    report = AuditReport(tuple(dual_query_rows()), tuple(control for part in games() for control in part.measured()[1]))
    assert report.problems == ()
    assert all(row.verdict is Verdict.KEPT for row in report.rows)
    assert len(report.controls) == 12
    assert report.false_alarm <= 2 * FALSE_ALARM


@pytest.mark.slow
def test_each_audit_keeps_the_sound_mechanism_and_flags_a_broken_one() -> None:
    for audit, broken in ((transcript_row, SeesTheData), (transcript_row, DataDependentSize),
                          (samples_row, WithoutReplacement), (accuracy_row, MixedSigns)):
        assert audit().verdict is Verdict.KEPT
        assert audit(broken).flagged
    law = partial(law_rows, rounds=4, claims=("pure",))
    broken = (TwiceTheStep, OneRoundLater, HalfThePeople, CountsOneLevel)
    assert [law(kind)[0].flagged for kind in (DualQuery, *broken)] == [False, True, True, True, True]


@pytest.mark.parametrize(("eta", "rounds", "samples", "pure"), [
    (0.25, 3, 1, 0.375), (1.0, 3, 1, 1.5), pytest.param(0.5, 3, 2, 1.5, marks=pytest.mark.slow),
    pytest.param(1.0, 4, 1, 3.0, marks=pytest.mark.slow),
])
def test_the_law_of_all_samples_written_out(eta: float, rounds: int, samples: int, pure: float) -> None:
    """Acceptance checks 6 and 12: eight elements, three predicates, every replaced record of several data sets."""
    game = tiny_game(eta, rounds, samples)
    bound, rho = epsilon(4, eta, rounds, samples, calculator="pure"), game.rho
    assert bound == pytest.approx(pure)
    answers, pairs = replacements(game, [(0, 0, 0, 0), (0, 1, 2, 3), (4, 4, 4, 6), (7, 7, 7, 7)])
    laws = transcript_laws(game, answers)
    assert len(pairs) > 20
    ratios, divergences = [], []
    for one, other in [*pairs, *(pair[::-1] for pair in pairs)]:
        first, second = laws[one], laws[other]
        ratios.append(max_divergence(first, second))
        divergences.append(max(renyi_divergence(first, second, order) / (order * rho) for order in ORDERS))
        for level in (0.1 * pure, 0.4 * pure):
            assert hockey_stick(first, second, level) <= ZCDP(rho).delta_at(level)
    assert 0.5 * pure < max(ratios) <= bound
    assert 0.8 < max(divergences) <= 1.0


def test_the_first_round_tells_nothing() -> None:
    game = tiny_game(5.0, 1, 3)
    answers, _ = replacements(game, [(0, 1, 2, 3)])
    laws = list(transcript_laws(game, answers).values())
    assert all(np.array_equal(law, laws[0]) for law in laws)
    assert game.rho == 0.0


def test_multisets_have_the_multinomial_law() -> None:
    law = np.array([[0.5, 0.3, 0.2]])
    assert multinomial(law, np.array([0, 0, 1])) == pytest.approx(3 * 0.5**2 * 0.3)
    assert multinomial(law, np.array([0, 1, 2])) == pytest.approx(6 * 0.5 * 0.3 * 0.2)


@pytest.mark.slow
def test_faults_that_cost_no_privacy_are_found_elsewhere() -> None:
    """A wrong sign, stale samples and draws without replacement: the laws keep their promise, the answers do not."""
    for kind in (MixedSigns, OneSample):
        assert accuracy_row(kind).flagged
    assert not any(row.flagged for row in law_rows(MixedSigns))
    for kind in (TwiceTheStep, CountsOneLevel):
        assert not accuracy_row(kind).flagged


def test_what_cannot_be_enumerated_is_refused() -> None:
    with pytest.raises(InvalidInput, match="too many transcripts"):
        transcript_laws(tiny_game(samples=4, rounds=4), {})
    with pytest.raises(InvalidInput, match="measures marginals"):
        transcript_laws(tiny_game(free="marginals", marginal_rho=0.1), {})
    assert np.array(TRUTH).shape == (3, 8)
