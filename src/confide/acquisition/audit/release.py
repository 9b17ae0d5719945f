"""The platform's side: levels recomputed from the integers, the sum without noise, and noise in the place of absentees.

Everything here is exact; nothing is sampled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from confide.acquisition.release.lattice import LatticeContracts, LatticeRelease, aggregate, perturb
from confide.audit import AuditRow, Concern, Control, exceeds
from confide.privacy.noise import ForcedNoise, Noise, RecordingNoise
from confide.privacy.noise.simulated import study_generator

__all__ = ["release_controls", "release_rows", "towards_fellows"]

_JUDGED = 1000  # people whose levels are recomputed in fractions: those nearest to their promise
_RECORDS = 1000  # people whose clients are run; the others' records are at the low end

Sum = Callable[[LatticeContracts, np.ndarray, np.ndarray, Noise], LatticeRelease]


def release_rows(contracts: LatticeContracts, seed: int, run: Sum = aggregate) -> list[AuditRow]:
    """Two rows for the levels that the integers deliver, one for absentees, one for the estimate without noise.

    Args:
        contracts: as they were made.
        seed: of records and of who is absent.
        run: the platform's side; a campaign's own, or `aggregate`.
    """
    evidence = f"recomputed from the integers in fractions, {min(contracts.active, _JUDGED)} people"
    local, central = _worst(contracts, contracts.noise_std)
    return [
        AuditRow.at_most("privacy: delivered over contracted level, towards the platform", 1.0, local, evidence,
                         unit="times the contracted level", concern=Concern.PRIVACY),
        AuditRow.at_most("privacy: delivered over contracted level, towards the public", 1.0, central, evidence,
                         unit="times the contracted level", concern=Concern.PRIVACY),
        AuditRow.at_most("privacy: the same towards the public, when somebody vanished",
                         1.0, _with_absentees(contracts, seed, run),
                         "the variance that the platform asked for, along its own run",
                         unit="times the contracted level", concern=Concern.PRIVACY),
        AuditRow.at_most("accuracy: estimate without noise against the weighted mean (widths)",
                         contracts.rounding_bias(), _noiseless(contracts, seed, run),
                         "all clients' and the platform's own run, without noise",
                         unit="widths", concern=Concern.ACCURACY),
    ]


def release_controls(contracts: LatticeContracts, seed: int) -> list[Control]:
    """Platforms broken on purpose: each must be flagged."""

    def silent(made: LatticeContracts, index: np.ndarray, messages: np.ndarray, _: Noise) -> LatticeRelease:
        """It divides by the steps of those present and adds nothing."""
        return aggregate(made, index, messages, ForcedNoise([]))

    def whole(made: LatticeContracts, index: np.ndarray, messages: np.ndarray, noise: Noise) -> LatticeRelease:
        """It leaves the largest message out, and divides by all steps."""
        sound = aggregate(made, index, messages, noise)
        return LatticeRelease(sound.total - int(messages.max()), sound.steps, made.low, made.high)

    halved = _worst(contracts, contracts.noise_std // 2)
    controls = [Control("levels", f"noise of half the scale: {name}", exceeds(ratio, 1.0))
                for name, ratio in zip(("local", "central"), halved, strict=True)]
    if contracts.active > 1:
        controls.append(Control("levels", "nothing in the place of absentees",
                                exceeds(_with_absentees(contracts, seed, silent), 1.0)))
        controls.append(Control("fellows", "a fellow's own noise, counted as if it hid others from her too",
                                exceeds(float((_alone(contracts) / contracts.epsilon_central).max()), 1.0)))
    return [*controls, Control("accuracy", "the sum forgets the largest message",
                                 exceeds(_noiseless(contracts, seed, whole), contracts.rounding_bias()))]


def towards_fellows(contracts: LatticeContracts) -> float:
    """The largest loss of anybody, in the contracts' order, when all others together leave their own noise out of the
    published sum: her own is left, and fewer fellows leave more.

    Args:
        contracts: as they were made.
    """
    return float(_alone(contracts).max())


def _alone(contracts: LatticeContracts) -> NDArray[np.float64]:
    """(k,) what each would lose if her own noise were the only one."""
    ratios = contracts.steps.astype(np.float64) / contracts.noise_std.astype(np.float64)
    return np.asarray(contracts.order / 2.0 * np.square(ratios))


def _worst(contracts: LatticeContracts, sigma: np.ndarray) -> tuple[float, float]:
    """The largest quotients of delivered and promised levels, local and central, if noises had these sigmas."""
    half, total = Fraction(contracts.order) / 2, sum(s * s for s in sigma.tolist())
    rest = (2 * Fraction(contracts.order) - 1) / (Fraction(contracts.order) - 1) * contracts.merging
    local = central = Fraction(0)
    for k in _nearest(contracts.delivered_local / contracts.epsilon_local):
        level = half * Fraction(int(contracts.steps[k]), int(sigma[k])) ** 2
        local = max(local, level / Fraction(float(contracts.epsilon_local[k])))
    for k in _nearest(contracts.delivered_central / contracts.epsilon_central):
        level = half * Fraction(int(contracts.steps[k]) ** 2, total) + rest
        central = max(central, level / Fraction(float(contracts.epsilon_central[k])))
    return float(local), float(central)


def _nearest(ratios: np.ndarray) -> list[int]:
    return [int(k) for k in np.argsort(-ratios)[:_JUDGED]]


def _with_absentees(contracts: LatticeContracts, seed: int, run: Sum) -> float:
    """The worst quotient towards the public, of those present, when every third is absent and the loudest one."""
    here = np.arange(contracts.active) % 3 != 2
    here[np.argmax(contracts.noise_std)] = contracts.active == 1
    heard = RecordingNoise(Noise.simulated(seed))
    run(contracts, contracts.index[here], np.zeros(np.count_nonzero(here), dtype=np.int64), heard)
    noise = sum(s * s for s in contracts.noise_std[here].tolist()) + sum(float(draw.scale) ** 2 for draw in heard.draws)
    levels = contracts.order / 2.0 * (contracts.steps[here] / math.sqrt(noise)) ** 2
    return float((levels / contracts.epsilon_central[here]).max())


def _noiseless(contracts: LatticeContracts, seed: int, run: Sum) -> float:
    """How far the estimate is from the weighted mean of the records when nobody's noise is added, in widths."""
    low, width = contracts.low, contracts.high - contracts.low
    records = low + width * study_generator(seed, "records").random(min(contracts.active, _RECORDS))
    messages = np.zeros(contracts.active, dtype=np.int64)
    for k, record in enumerate(records.tolist()):
        messages[k] = perturb(record, contracts.of(int(contracts.index[k])), ForcedNoise([])).message or 0
    release = run(contracts, contracts.index, messages, ForcedNoise([]))
    share = sum((Fraction(record) - Fraction(low)) * a
                for record, a in zip(records.tolist(), contracts.steps.tolist(), strict=False))
    mean = share / (Fraction(contracts.high) - Fraction(low)) / contracts.total_steps
    return abs(float(Fraction(release.total, release.steps) - mean))
