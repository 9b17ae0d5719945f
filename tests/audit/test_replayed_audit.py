"""Replayed audits: realised log-density ratios held against a pure promise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.audit import Verdict, replayed_audit, supremum_audit
from confide.contract import InvalidInput
from confide.privacy import ZCDP, ApproxDP, PureDP


@given(st.lists(st.floats(-5, 5), min_size=1), st.floats(0, 5))
def test_the_largest_of_either_sign_decides(ratios, epsilon):
    audit = replayed_audit(ratios, PureDP(epsilon))
    assert audit.measured == max(abs(r) for r in ratios) == abs(ratios[audit.at])
    assert audit.transcripts == len(ratios)
    assert audit.flagged == (audit.measured > epsilon * (1 + 1e-9) + 1e-12)


def test_blocks_are_read_once_and_counted_through():
    blocks = (np.full((2, 3), -0.1 * k) for k in range(1, 4))
    audit = replayed_audit(blocks, PureDP(0.25))
    assert (audit.transcripts, audit.at) == (18, 12)
    assert audit.measured == pytest.approx(0.3)
    assert audit.row().verdict is Verdict.BROKEN
    assert "18 replayed" in audit.row().evidence


def test_an_empty_block_is_harmless():
    assert replayed_audit([[], [0.1], []], PureDP(0.2)).transcripts == 1


def test_laplace_transcripts_stay_within_epsilon():
    epsilon, shift = 0.7, 3.0
    outputs = np.random.default_rng(5).laplace(0.0, shift / epsilon, 10_000)
    ratios = (np.abs(outputs - shift) - np.abs(outputs)) * epsilon / shift
    audit = replayed_audit([ratios], PureDP(epsilon))
    assert audit.measured == pytest.approx(epsilon, rel=1e-12)  # two thirds of the outputs attain it
    assert not audit.flagged
    assert replayed_audit([ratios * 1.01], PureDP(epsilon)).flagged


def test_an_impossible_transcript_breaks_every_finite_promise():
    assert replayed_audit([0.0, -math.inf], PureDP(1e6)).flagged
    assert replayed_audit([math.inf], PureDP(math.inf)).row().verdict is Verdict.VACUOUS


def test_rounding_is_tolerated_and_nothing_more():
    assert not replayed_audit([1.0 + 5e-10], PureDP(1.0)).flagged
    assert replayed_audit([1.0 + 2e-9], PureDP(1.0)).flagged


def test_supremum():
    assert supremum_audit(0.5, PureDP(0.5)).row().verdict is Verdict.KEPT
    assert supremum_audit(0.51, ApproxDP(0.5, 0.0)).row().verdict is Verdict.BROKEN
    assert supremum_audit(math.inf, PureDP(0.5)).flagged
    assert "closed form" in supremum_audit(0.1, PureDP(0.5)).row().evidence


def test_bad_input_is_refused():
    for nothing in ([], [[], []]):
        with pytest.raises(InvalidInput, match="no transcript"):
            replayed_audit(nothing, PureDP(1.0))
    with pytest.raises(InvalidInput, match="nan"):
        replayed_audit([0.1, math.nan], PureDP(1.0))
    for bad in (-0.1, math.nan):
        with pytest.raises(InvalidInput, match="supremum"):
            supremum_audit(bad, PureDP(1.0))
    for claim in (ApproxDP(1.0, 1e-6), ZCDP(0.5)):
        with pytest.raises(InvalidInput, match="pure"):
            replayed_audit([0.1], claim)
