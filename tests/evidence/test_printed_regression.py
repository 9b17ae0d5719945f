"""What the source prints, number by number, and its mechanism as it is printed (spec 4.3, 7.2; acceptance 3, 11)."""

from __future__ import annotations

import itertools
import math
from dataclasses import fields, replace
from types import SimpleNamespace

import numpy as np
import pytest

from confide import Outcome
from confide.audit import fixed_transcript_audit
from confide.campaign.charging import charge_of, check_budget
from confide.contract import Accuracy, Budget, InvalidInput, NotGuaranteed, Privacy, Truthfulness
from confide.evidence.cummings_2015 import (
    Printed,
    PrintedRidge,
    PrintedTruthfulRegression,
    compare_spectrum,
    printed_guarantees,
)
from confide.evidence.cummings_2015.printed_numbers import (
    printed_confidence,
    printed_least_squares,
    printed_remark,
    printed_rows,
)
from confide.privacy import Noise
from confide.privacy.noise import RecordingNoise
from confide.regression import (
    Behaviour,
    ParetoCosts,
    PaymentScheme,
    PrivateTruthfulRegression,
    RidgeRelease,
    ScoringRule,
    Setting,
    SufficientStatistics,
    UniformBall,
    UniformNoise,
    audited,
    plan,
)
from confide.regression.audited import neighbours
from confide.regression.records import Batch
from confide.regression.sensitivity import counterexample, diameter, printed_constant_valid, ridge_norm_sup
from confide.regression.spectrum import Spectrum


def literal(
    people: int = 10_000, ridge: float = 10.0, epsilon: float = 1.0, **changes: object
) -> PrintedTruthfulRegression:
    """Algorithm 2 as printed, d = 2, B = M = 1 unless changed."""
    options = {
        "setting": Setting(people=people, features=2, prior=UniformBall(dimension=2, radius=1.0),
                           noise=UniformNoise(bound=1.0)),
        "payment": PaymentScheme(epsilon=epsilon, ridge=ridge, rule=ScoringRule(1.0, 2.0), minor_units=10**9),
        "release": RidgeRelease(epsilon=epsilon, ridge=ridge),
        "behaviour": Behaviour(costs=ParetoCosts(exponent=4.0), misreports=0.01, failure_probability=1e-3),
        **changes,
    }
    return PrintedTruthfulRegression(**options)  # type: ignore[arg-type]


# ---- the formulas

PRINT = Printed(people=20_000, features=10, ridge=50.0, epsilon=0.5, square_bound=4.0, noise_bound=0.5,
                noise_variance=0.5**2 / 3, misreports=0.01, tolerance=0.1, threshold=7.0, a=0.3, b=2.0)


def test_every_printed_number_is_the_sources() -> None:
    """Written out from the source's displays, in one line each."""
    c, low, high = 4 * 4.0 + 2 * 0.5, 0.9 * 20_000 / 12, 1.1 * 20_000 / 12
    e = 0.01 * 20_000 / 50 * c + 50 * 4.0 / (50 + low)
    assert (PRINT.privacy, PRINT.sensitivity, PRINT.misreporters) == (1.0, c / 50, 200.0)
    assert PRINT.shift == pytest.approx(200 / 50 * c)
    assert (PRINT.noise_norm, PRINT.noise_power) == pytest.approx((c / 25, 2 * (c / 25) ** 2))
    assert PRINT.bias == pytest.approx(200 / (50 + low))
    assert PRINT.variance == pytest.approx((0.25 / 3) ** 2 * (high / (50 + low) ** 2) ** 2)
    assert PRINT.ridge_distance == pytest.approx((200 + 0.5 * 20_000) / (50 + low))
    assert PRINT.peer_error == pytest.approx(e)
    assert PRINT.gain == pytest.approx(2 * e**2 + 7 * 0.25)
    assert PRINT.least_constant == pytest.approx((e + 4) * (2 + 16) + 2 * 16 + 7 * 0.25)
    assert PRINT.expected_total == pytest.approx(20_000 * (0.3 + (e + 4) * (2 + 16)))
    squared = (200 / 50 * c) ** 2 + 2 * (c / 25) ** 2 + (200 / (50 + low)) ** 2 + PRINT.variance
    assert PRINT.accuracy == pytest.approx(squared + 2 * (200 / 50 * c + c / 25) * (200 + 10_000) / (50 + low))


def test_golden_numbers_of_the_errata() -> None:
    # spec truthful_regression 10, E4: printed 4e-9; and 7: bias .122 where .201 is true
    assert PRINT.variance == pytest.approx(4e-9, rel=0.1)
    few = replace(PRINT, people=800, features=3, ridge=20.0, square_bound=1.0)
    assert few.bias == pytest.approx(0.122, abs=5e-4)
    assert printed_least_squares(1000, 8, 0.3, 0.25) == pytest.approx(0.3 * 10 / 750)
    a, b, total = printed_remark(100, 2.0, 0.5)
    assert b == 1e-4
    assert a == pytest.approx(1e-4 * (2 + 2 * 2 * 2.5 + 2.5**2 - 1))
    assert total == pytest.approx((4 + 4 * 2 * 2.5 + 2.5**2) / 100)
    # its "payments >= 0 surely": a prediction of -2, or of +1 beside a report of 0 at M = 0, is possible under it
    small, weight, _ = printed_remark(100, 0.1, 0.1)
    assert float(ScoringRule(small, weight)(0.0, 0.1)) < 0


def test_theorem_7_beside_explicit_constants() -> None:
    assert printed_confidence(10, 2.0) == pytest.approx(1 - 1e-4)
    assert printed_confidence(1, 5.0) == 0.0  # empty: 1 - 1^-25
    assert printed_rows(10, 0.5, 2.0, 3.0) == pytest.approx(3 * 16 * 12 * math.log(10))
    assert printed_rows(1, 0.5, 2.0, 3.0) == 0.0
    for d, xi, q in ((2, 0.1, 1e-3), (10, 0.2, 1e-6), (100, 0.5, 1e-12)):
        found = compare_spectrum(d, xi, q)
        event = Spectrum.uniform_ball(rows=found.rows, dimension=d, tolerance=xi)
        assert event.failure_probability <= q < replace(event, rows=int(found.rows * 0.9)).failure_probability
        assert printed_confidence(d, found.t) == pytest.approx(1 - q)
        assert printed_rows(d, xi, found.t, found.constant) == pytest.approx(found.rows)
        assert printed_rows(d, xi, found.t, 1.0) == pytest.approx(found.printed_at_one)
    assert math.isnan(compare_spectrum(1, 0.2, 1e-6).constant)
    assert math.isnan(compare_spectrum(10, 0.2, 0.5).t)  # t >= 1 reaches failures below 1/d only


@pytest.mark.parametrize(("act", "field"), [
    (lambda: replace(PRINT, people=0), "people"),
    (lambda: replace(PRINT, ridge=0.0), "ridge"),
    (lambda: replace(PRINT, epsilon=math.inf), "epsilon"),
    (lambda: replace(PRINT, b=-1.0), "b"),
    (lambda: replace(PRINT, misreports=1.0), "misreports"),
    (lambda: replace(PRINT, tolerance=0.0), "tolerance"),
    (lambda: replace(PRINT, threshold=-1.0), "threshold"),
    (lambda: printed_confidence(3, 0.5), "t"),
    (lambda: printed_rows(3, 1.0, 1.0, 1.0), "tolerance"),
    (lambda: compare_spectrum(0, 0.1, 0.1), "features"),
])
def test_bad_numbers_name_the_field(act: object, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        act()  # type: ignore[operator]
    assert caught.value.field == field


# ---- beside the corrected bounds

def test_rows_stand_beside_the_mechanisms_own_figures() -> None:
    found = plan(people=10**6, features=5, parameter_bound=1.0, noise_bound=0.5, epsilon_release=0.01,
                 epsilon_payment=0.01, truth_radius=0.25, release="ridge", ridge_payment=1000.0,
                 spectrum_tolerance=0.05, centred=False, minor_units=10**9)
    rows = {row.promise: row for row in printed_guarantees(found.mechanism)}
    f = found.figures
    assert rows["e, error of the payments' target"].corrected == f.peer_error
    assert rows["eta, gain of the best lie"].corrected == f.gain
    assert rows["total of all payments"].corrected == f.expected_total
    assert rows["squared error of the release"].corrected == f.accuracy.bound
    assert rows["E||v||^2"].corrected == pytest.approx(15 * rows["E||v||^2"].printed)
    # alpha n (4B+2M)/gamma = 1000 * 5/1000: an e of 5 where .036 is true, and an eta above what any lie can lose
    gain = rows["eta, gain of the best lie"]
    assert rows["e, error of the payments' target"].printed == pytest.approx(5.0, abs=0.02)
    assert gain.printed_vacuous
    assert not gain.corrected_vacuous
    loss = rows["epsilon of the printed noise, in all"]
    assert loss.printed == 0.02
    assert loss.corrected > 2 * loss.printed  # gamma_p = 1000 for groups of half a million
    assert all(row.wrong and row.to_dict()["promise"] == row.promise for row in printed_guarantees(found.mechanism))
    assert {row.erratum for row in printed_guarantees(found.mechanism)} >= {"E1, E2", "E3", "E4", "E8, E16", "E9, E11"}


def test_a_release_that_the_source_does_not_have_gets_no_accuracy_row() -> None:
    found = plan(people=20_000, features=2, parameter_bound=1.0, noise_bound=0.5, epsilon=1.5, truth_radius=0.5)
    assert isinstance(found.mechanism.release, SufficientStatistics)
    assert not any(row.promise.startswith("squared") for row in printed_guarantees(found.mechanism))


# ---- the literal mechanism

N = 300
SPLIT = np.arange(N) % 2 == 1
V = {("payment", 0): [0.05, -0.02], ("payment", 1): [-0.04, 0.01], ("release",): [2.5, 0.3]}


def _people() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    X = rng.uniform(-0.7, 0.7, (N, 2)).round(4)
    return X, np.clip(X @ [0.8, -0.5] + rng.uniform(-1, 1, N), -2, 2)


def test_the_literal_algorithm_with_injected_noise() -> None:
    """Plain ridge, one weight, the printed rule, the whole estimate released: formulas of Algorithm 2, by hand."""
    mechanism = literal(N, ridge=0.05)
    X, y = _people()
    X[3], y[3] = [0.05, 0.0], -2.0  # beyond R0 ||x|| + M: the source's bound on answers is R0 + M for everybody
    rows, answers = np.trunc(X * 2**16) / 2**16, np.trunc(y * 2**16) / 2**16
    outcome = mechanism.run((X, y), Noise.replayed({("split",): SPLIT, **V}))
    board = outcome.billboard

    def ridge(kept: np.ndarray) -> np.ndarray:
        return np.linalg.solve(rows[kept].T @ rows[kept] + 0.05 * np.eye(2), rows[kept].T @ answers[kept])

    everybody = np.ones(N, dtype=bool)
    assert board.estimate == pytest.approx(ridge(everybody) + V["release",], abs=1e-4)
    assert (board.coef == board.estimate).all()
    assert np.linalg.norm(board.coef) > 1.0  # not projected
    for j in (0, 1):
        assert board.peers[j] == pytest.approx(ridge(bool(j) == SPLIT) + V["payment", j], abs=1e-4)
    p, q = np.where(SPLIT, X @ board.peers[0], X @ board.peers[1]), mechanism.posterior(X, y)
    paid = outcome.shares["payment"].to_numpy() / 1e9
    assert paid == pytest.approx(1.0 - 2.0 * (p - 2 * p * q + q * q), abs=1e-8)
    for i in (0, 3, 17, N - 1):
        assert mechanism.decode((X[i], y[i]), i, board)["payment"] == outcome.shares["payment"][i].as_py()
    part = mechanism.interval(board, np.array([1.0, 0.0]))
    assert part.projection == 0.0
    assert mechanism.noise_scale == pytest.approx(6 / 0.05, rel=1e-12)
    assert part.noise > mechanism.noise_scale  # of the printed scale


def test_the_label_is_refused_at_the_counterexamples() -> None:
    # spec truthful_regression 13, acceptance 3: 32.04, 21.86, 6.248 where 6 is claimed
    for people, ridge in ((10_000, 10.0), (1_000_000, 2775.0), (100_000, 10_000.0)):
        mechanism = literal(people, ridge)
        assert not printed_constant_valid(people, ridge, 1.0, 1.0)
        assert not mechanism.claims_privacy
        claims = mechanism.guarantees()
        assert all(claim.vacuous and math.isinf(claim.loss.epsilon) for claim in claims.privacy
                   if claim.part != "the payment estimates alone")
        printed = claims.of(Privacy, claimable=False)
        assert [claim.loss.epsilon for claim in printed] == [2.0]
        assert "no privacy is claimed" in claims.privacy[0].note
        moved = diameter(ridge_norm_sup(people, ridge, 2.0), 2.0)
        half = diameter(ridge_norm_sup(people // 2, ridge, 2.0), 2.0)
        assert mechanism.borne_epsilon == pytest.approx((moved + max(half, 6.0)) / 6.0, rel=1e-4)


def test_the_label_is_given_where_it_is_proved() -> None:
    sound = literal(800, 100.0)  # n/gamma = 8 < 8.38
    assert sound.claims_privacy
    assert sound.borne_epsilon == 2.0
    assert [claim.loss.epsilon for claim in sound.guarantees().privacy] == [2.0, 2.0, 1.0, 1.0]
    assert sound.guarantees().of(Privacy, claimable=False) == ()
    # between: a group's 5 rows per unit of gamma are covered, the release's 10 are not
    between = literal(1000, 100.0)
    assert not between.claims_privacy
    assert [claim.loss.epsilon for claim in between.guarantees().privacy] == [math.inf, math.inf, 1.0, math.inf]


def test_printed_promises_stand_beside_the_corrected_ones() -> None:
    claims = literal(20_000, 300.0).guarantees()
    for kind in (Truthfulness, Accuracy, Budget):
        (ours,), (theirs,) = claims.of(kind), claims.of(kind, claimable=False)
        assert "as printed" in theirs.note
        assert ours.source.spec.endswith("7.1")
        assert theirs.source.spec.endswith("7.2")


class Untouched:
    """Data that nobody may read."""

    def __iter__(self) -> object:
        raise RuntimeError("a record was read")


def test_nothing_is_settled_or_charged_without_a_claim() -> None:
    mechanism = literal()
    for noise in (Noise.secure(), Noise.secure()):
        with pytest.raises(NotGuaranteed, match="no privacy is claimed"):
            mechanism.run(Untouched(), noise)
    with pytest.raises(NotGuaranteed, match="or take PrivateTruthfulRegression"):
        mechanism.events()
    file = SimpleNamespace(budget=SimpleNamespace(data_set="people", epsilon=100.0, delta=0.0, rule="basic"))
    for look in (charge_of, check_budget):
        with pytest.raises(NotGuaranteed):
            look(file, SimpleNamespace(mechanism=mechanism, guarantees=mechanism.guarantees()))  # type: ignore[arg-type]
    X, y = np.zeros((10, 2)), np.zeros(10)
    assert not mechanism.run((X, y), Noise.simulated(1)).release_safe


def test_a_proved_print_settles() -> None:
    mechanism = literal(80, 10.0)
    X, y = _people()
    outcome = mechanism.run((X[:80], y[:80]), Noise.secure())
    assert isinstance(outcome, Outcome)
    assert isinstance(mechanism.release, PrintedRidge)
    assert mechanism.decode((X[7], y[7]), 7, outcome.billboard)["payment"] == outcome.shares["payment"][7].as_py()
    assert mechanism.check(outcome.billboard) is None  # type: ignore[func-returns-value]


def test_the_mode_of_earlier_versions_says_where_the_print_is() -> None:
    given = {each.name: getattr(literal(), each.name) for each in fields(PrintedTruthfulRegression)
             if each.name in {"setting", "payment", "behaviour"}}
    with pytest.raises(InvalidInput, match=r"use confide\.evidence\.cummings_2015\.PrintedTruthfulRegression"):
        PrivateTruthfulRegression(**given, release=RidgeRelease(epsilon=1.0, ridge=10.0), mode="paper")  # type: ignore[arg-type]


def test_the_counterexample_through_the_mechanisms_own_run() -> None:
    """Spec 4.3: the release's estimates of the two data sets are 5.34 noise scales apart at n = 10^4, gamma = 10."""
    mechanism = literal()
    centers = []
    for data in counterexample(10_000, 10.0):
        rows = np.repeat(data.x, data.copies.astype(int), axis=0)
        observed = RecordingNoise(Noise.simulated(0))
        mechanism.run([Batch(np.arange(10_000), rows, np.repeat(data.y, data.copies.astype(int)))], observed)
        draw = next(draw for draw in observed.draws if draw.stream == ("release",))
        centers.append(np.array([float(value) for value in draw.center]))
    loss = float(np.linalg.norm(centers[0] - centers[1])) / mechanism.noise_scale
    assert loss == pytest.approx(32.04 / 6, abs=0.01)


def test_the_audit_flags_the_print_and_keeps_what_is_proved() -> None:
    for mechanism, false in ((literal(2000, 10.0), True), (literal(80, 10.0), False)):
        hardest = itertools.islice(neighbours(mechanism, Noise.simulated), 6)
        found = fixed_transcript_audit(mechanism.run, hardest, audited.claims_of(mechanism), Noise.simulated)
        assert {part: result.flagged for part, result in found.items()} == {
            "": false, "payment": false, "release": false}
        # The attack comes within a tenth of what is proved of the printed noise.
        assert 0.9 * mechanism.borne_epsilon < found[""].measured <= mechanism.borne_epsilon or not false


@pytest.mark.parametrize(("changes", "field"), [
    ({"mode": "literal"}, "mode"),
    ({"release": SufficientStatistics(epsilon=1.0)}, "release"),
    ({"release": RidgeRelease(epsilon=1.0, ridge=11.0)}, "release"),
    ({"release": RidgeRelease(epsilon=0.9, ridge=10.0)}, "release"),
    ({"payment": PaymentScheme(epsilon=1.0, ridge=10.0, rule=ScoringRule(1.0, 2.0, centred=True))}, "rule"),
    ({"payment": PaymentScheme(epsilon=1.0, ridge=10.0, rule=ScoringRule(1.0, 2.0), clip=3.0)}, "clip"),
    ({"payment": PaymentScheme(epsilon=1.0, ridge=10.0, rule=ScoringRule(1.0, 2.0), debias=True)}, "debias"),
])
def test_nothing_is_chosen_in_print(changes: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        literal(**changes)  # type: ignore[arg-type]
    assert caught.value.field == field


def test_the_printed_release_charges_nothing_by_itself() -> None:
    with pytest.raises(NotGuaranteed, match="number of people"):
        PrintedRidge(epsilon=1.0, ridge=10.0).events()
