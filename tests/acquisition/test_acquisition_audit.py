"""The audits of a release: kept by the sound one, and every planted fault flagged."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cases import fast
from confide.acquisition.audited import messages
from confide.acquisition.release import lattice
from confide.acquisition.release.enumerated_sum import enumerated_divergence, real_weights, sum_divergence
from confide.acquisition.release.lattice import integer_contracts
from confide.acquisition.release.losses import gaussian_losses, local_sigma
from confide.audit import Audited, AuditReport, AuditRow, audit
from confide.contract import Guarantees
from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise

from false_alarms import alpha

WEIGHTS = [0.444494952334474258, 0.392756982839085497, 0.162748064826440243]
LEVELS = [1.982376303142914385, 1.324110272585295191, 0.419058322328971246]


def report(contracts, seed: int = 3) -> AuditReport:
    return audit(Audited(promises=Guarantees(()), events=tuple,
                         measured=messages(contracts, seed, source=Noise.simulated(seed))))


def client_rows(contracts) -> list[AuditRow]:
    return messages(contracts, 3, source=Noise.simulated(3))[0].rows()  # type: ignore[union-attr]


@pytest.mark.parametrize("contracts", fast(2, [
    integer_contracts(WEIGHTS, LEVELS, 2.0, low=-3.0, high=40.0),
    integer_contracts([1 - 2.0**-38, 2.0**-38], [1.0, 3.0], 2.0),
    integer_contracts(np.arange(1, 41) / 820, np.linspace(0.1, 90, 40), 1.5),
    integer_contracts([0.0, 1.0], [0.0, 0.7], 8.0),
]), ids=["three", "noise of the least size", "forty", "one"])
def test_a_sound_release_passes_and_every_injected_fault_is_flagged(contracts) -> None:
    found = report(contracts)
    assert found.problems == ()
    assert found.false_alarm <= alpha("acquisition.audit.sampler", cases=4)
    assert len(found.controls) >= 12 - (contracts.active == 1)


@pytest.mark.parametrize("kept", ["2^-10 of the range", "a quarter", "a hundred ranges", "nothing"])
def test_a_record_beyond_the_range_that_counts_is_flagged(kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client's own clamp, wider than its contract: on one side, on both, from afar only, or nowhere."""
    contracts = integer_contracts(WEIGHTS, LEVELS, 2.0, low=-3.0, high=40.0)

    def broken(value: float, low: float, high: float) -> tuple[Fraction, bool]:
        width = high - low
        if kept == "a hundred ranges" and value > high + 100 * width:
            return Fraction(value), False
        if kept == "nothing":
            return Fraction(value), False
        room = {"a quarter": width / 4, "2^-10 of the range": width / 1024}.get(kept, 0.0)
        return Fraction(min(max(value, low), high + room)), not low <= value <= high

    assert not any(row.flagged for row in client_rows(contracts))
    monkeypatch.setattr(lattice, "_clamped", broken)
    assert client_rows(contracts)[0].flagged


def test_the_divergence_of_the_sum_on_small_lattices() -> None:
    """Acceptance check 11: s_j^2 = a_j^2/y_j, a_j = floor(A w_j), for A = 64 and 128."""
    for size in (64, 128):
        steps = np.floor(size * np.array(WEIGHTS))
        found = sum_divergence(int(steps[0]), steps**2 / np.array(LEVELS), 2.0)
        assert found == pytest.approx(0.7087772636, abs=1e-9)
        assert found == pytest.approx(steps[0] ** 2 / (steps**2 / np.array(LEVELS)).sum(), rel=1e-11)


def test_real_weights_on_lattice_noise_publish_every_summand() -> None:
    """Acceptance check 11: the planted bug, at step 1/8."""
    sigmas, real = [local_sigma(level, 2.0) for level in LEVELS], real_weights()
    assert real.distinct == real.sums == (59 + 8) * 71 * 125
    assert real.divergence == pytest.approx(LEVELS[0], abs=2e-3)
    assert real.divergence > 2.5 * gaussian_losses(WEIGHTS, LEVELS, 2.0).central[0]
    common = enumerated_divergence([0.5, 0.25, 0.25], sigmas, 0.125, 2.0)
    assert common.distinct < common.sums / 1000


def test_what_cannot_be_enumerated_is_refused() -> None:
    for field, call in (
        ("variances", lambda: sum_divergence(1, [2.0**60], 2.0)), ("variances", lambda: sum_divergence(1, [0.1], 2.0)),
        ("shift", lambda: sum_divergence(10**4, [1.0], 2.0)), ("order", lambda: sum_divergence(1, [1.0], 1.0)),
        ("step", lambda: enumerated_divergence([1.0] * 3, [1.0] * 3, 0.001, 2.0)),
        ("noise_stds", lambda: enumerated_divergence([1.0], [1.0, 1.0], 0.5, 2.0)),
    ):
        with pytest.raises(InvalidInput, match=f"^{field}"):
            call()
