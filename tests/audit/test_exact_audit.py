"""Exact audits: mechanisms whose output law is enumerated, held against every kind of loss."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st
from scipy.special import ndtri

from confide.audit import Verdict, exact_audit, fixed_transcript_audit
from confide.contract import InvalidInput
from confide.privacy import GDP, ZCDP, ApproxDP, Noise, PureDP, RenyiDP

quick = limits(max_examples=40, deadline=None)


def response(epsilon, outcomes):
    """Data set -> output law of randomised response over `outcomes` values."""
    other = 1.0 / (math.exp(epsilon) + outcomes - 1)
    return {value: [math.exp(epsilon) * other if o == value else other for o in range(outcomes)]
            for value in range(outcomes)}


def discrete_gaussian(sigma, shift, reach=60):
    """Centre 0 and centre `shift`, each tail in the end cell."""
    points = np.arange(-reach, reach + 1)
    wide = np.arange(-reach - 40, reach + 41)
    out = {}
    for centre in (0, shift):
        law = np.exp(-((wide - centre) ** 2) / (2 * sigma**2))
        law /= law.sum()
        out[centre] = np.bincount(np.clip(wide, -reach, reach) + reach, law, points.size)
    return out


@quick
@given(st.floats(1e-3, 12.0), st.integers(2, 6))
def test_randomised_response_loses_exactly_epsilon(epsilon, outcomes):
    audit = exact_audit(response(epsilon, outcomes), PureDP(epsilon))
    assert audit.measured == pytest.approx(epsilon, abs=1e-12)
    assert audit.forward == pytest.approx(audit.backward, abs=1e-12)
    assert audit.pairs == math.comb(outcomes, 2)
    assert not audit.flagged
    assert exact_audit(response(epsilon, outcomes), PureDP(epsilon * (1 - 1e-6))).flagged


@limits(max_examples=12, deadline=None)
@given(st.floats(0.05, 3.0))
def test_randomised_response_in_every_notion(epsilon):
    laws = response(epsilon, 2)
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    delta = keep - math.exp(epsilon / 2) * (1 - keep)
    kept = [
        ApproxDP(epsilon, 0.0),
        ApproxDP(epsilon / 2, delta),
        ZCDP(epsilon**2 / 2),
        GDP(-2 * float(ndtri(1 - keep))),
        RenyiDP(2.0, math.log(keep**2 / (1 - keep) + (1 - keep) ** 2 / keep)),
    ]
    broken = [
        ApproxDP(epsilon * 0.99, 0.0),
        ApproxDP(epsilon / 2, delta * 0.999),
        ZCDP(exact_audit(laws, ZCDP(1.0)).measured * 0.999),
        GDP(kept[3].mu * 0.999),
        RenyiDP(2.0, kept[4].epsilon * 0.999),
    ]
    for claim in kept:
        assert exact_audit(laws, claim).row().verdict is Verdict.KEPT, claim
    for claim in broken:
        assert exact_audit(laws, claim).row().verdict is Verdict.BROKEN, claim


@pytest.mark.parametrize(("sigma", "shift"), [(3.0, 1), (2.0, 3), (8.0, 2)])
def test_discrete_gaussian_has_rho(sigma, shift):
    rho = shift**2 / (2 * sigma**2)
    audit = exact_audit(discrete_gaussian(sigma, shift), ZCDP(rho))
    assert audit.measured == pytest.approx(rho, rel=1e-6)
    assert not audit.flagged
    assert exact_audit(discrete_gaussian(sigma * 0.99, shift), ZCDP(rho)).flagged
    assert exact_audit(discrete_gaussian(sigma, shift), ApproxDP(ZCDP(rho).epsilon_at(1e-5), 1e-5)).flagged is False
    assert exact_audit(discrete_gaussian(sigma, shift), PureDP(1.0)).measured > 1.0


def test_worst_pair_and_direction_are_named():
    laws = {"a": [0.5, 0.5], "b": [0.4, 0.6], "c": [0.1, 0.9]}
    audit = exact_audit(laws, PureDP(1.0))
    assert audit.pair == ("a", "c")
    assert audit.forward == pytest.approx(math.log(5))
    assert audit.backward == pytest.approx(math.log(1.8))
    assert audit.measured == audit.forward
    one = exact_audit(laws, PureDP(1.0), [("b", "a")])
    assert (one.pair, one.pairs, one.flagged) == (("b", "a"), 1, False)
    other = exact_audit(laws, PureDP(1.0), [("c", "a")])
    assert other.flagged
    assert other.measured == other.backward > other.forward
    assert one.measured == one.backward == pytest.approx(math.log(1.25))


def test_both_directions_of_a_delta_count():
    laws = {0: [1.0, 0.0], 1: [0.9, 0.1]}
    for pair in ((0, 1), (1, 0)):
        assert exact_audit(laws, ApproxDP(1.0, 0.1), [pair]).row().verdict is Verdict.KEPT
        assert exact_audit(laws, ApproxDP(1.0, 0.0999), [pair]).row().verdict is Verdict.BROKEN
    assert exact_audit(laws, PureDP(50.0)).measured == math.inf
    assert exact_audit(laws, ZCDP(50.0)).measured == math.inf


def test_a_tiny_delta_gets_no_absolute_tolerance():
    laws = {0: [1.0 - 1e-14, 1e-14, 0.0], 1: [1.0 - 1e-14, 0.0, 1e-14]}
    assert exact_audit(laws, ApproxDP(1.0, 1e-14)).flagged is False
    assert exact_audit(laws, ApproxDP(1.0, 0.9e-14)).flagged


def test_rounding_does_not_break_a_promise_of_zero():
    p = np.array([0.1, 0.2, 0.3, 0.4])
    laws = {0: p, 1: p * (1 + 3e-16)}
    assert laws[1].tolist() != laws[0].tolist()
    for claim in (PureDP(0.0), ApproxDP(0.0, 0.0), ZCDP(0.0), GDP(0.0)):
        assert not exact_audit(laws, claim).flagged


def test_vacuous_claims_are_neither_kept_nor_broken():
    laws = {0: [1.0, 0.0], 1: [0.0, 1.0]}
    for claim in (PureDP(math.inf), ApproxDP(1.0, 1.0), ZCDP(math.inf), GDP(math.inf)):
        audit = exact_audit(laws, claim)
        assert not audit.flagged
        assert audit.row().verdict is Verdict.VACUOUS
        assert "nothing" in audit.row().note


def test_bad_input_is_refused():
    laws = {0: [0.5, 0.5], 1: [0.4, 0.6]}
    for bad in ({}, {0: [1.0]}):
        with pytest.raises(InvalidInput, match="pair"):
            exact_audit(bad, PureDP(1.0))
    with pytest.raises(InvalidInput, match="no output law"):
        exact_audit(laws, PureDP(1.0), [(0, 7)])
    with pytest.raises(InvalidInput, match="outcomes"):
        exact_audit({0: [0.5, 0.5], 1: [1.0]}, PureDP(1.0))
    with pytest.raises(InvalidInput, match="claim"):
        exact_audit(laws, 1.0)
    with pytest.raises(InvalidInput, match="laws: list is not a mapping"):
        exact_audit([[0.5, 0.5], [0.4, 0.6]], PureDP(1.0))
    with pytest.raises(InvalidInput, match="claims: PureDP"):
        fixed_transcript_audit(lambda data, noise: None, [], PureDP(1.0), Noise.simulated)
