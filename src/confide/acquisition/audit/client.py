"""A participant's client, attacked through its door: what it sends for two records, and the law of its noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from confide.acquisition.release.lattice import LatticeContract, LatticeContracts, perturb
from confide.audit import (
    AuditRow,
    Control,
    DampedNoise,
    DoorAudit,
    Neighbours,
    StuckNoise,
    door_audit,
    sampler_audit,
)
from confide.privacy.losses import RenyiDP
from confide.privacy.noise import Draw, ForcedNoise, Noise, RecordingNoise

__all__ = ["FALSE_ALARM", "client_controls", "client_rows"]

FALSE_ALARM = 1e-9
"""Probability with which the statistical row says "broken" of a kept promise."""

_DRAWS = 400  # enough to see a scale that is wrong by a factor two at that false alarm

Client = Callable[[Any, Noise], Any]


def client_rows(contracts: LatticeContracts, seed: int, source: Noise | None = None) -> list[AuditRow]:
    """One row for what a message costs, exact on its histories, and one for the law of the noise.

    Args:
        contracts: as they were made; the client runs with the one that costs most.
        seed: of the histories.
        source: whose draws are tested; `Noise.secure()` if left out.
    """
    contract = _hardest(contracts)
    found = _door(contract, lambda record, noise: perturb(record, contract, noise).message, seed)
    return [found.row("privacy: one message, towards the platform (Renyi)"),
            sampler_audit(source or Noise.secure(), _request(contract, seed), _DRAWS, FALSE_ALARM)]


def client_controls(contracts: LatticeContracts, seed: int) -> list[Control]:
    """The same attacks on clients that were broken on purpose: each must be flagged."""
    contract = _hardest(contracts)
    width = contract.high - contract.low

    def sound(record: Any, noise: Noise) -> int | None:
        return perturb(record, contract, noise).message

    def unclipped(record: Any, noise: Noise) -> int:
        """A record outside the range counts as it is."""
        center = round(contract.steps * (record - contract.low) / width)
        return int(noise.discrete_gaussian(contract.sigma, 1, stream="record", center=[center])[0])

    def talkative(record: Any, noise: Noise) -> tuple[int | None, bool]:
        """It tells the platform what is for her alone."""
        sent = perturb(record, contract, noise)
        return sent.message, sent.clamped

    def own_seed(record: Any, _: Noise) -> int | None:
        return sound(record, Noise.simulated(2026))

    broken: list[tuple[str, Client]] = [
        ("no noise at all", lambda record, _: sound(record, ForcedNoise([]))),
        ("noise of half the scale", lambda record, noise: sound(record, DampedNoise(noise, 0.5))),
        ("noise from a seed of its own, the same each time", own_seed),
        ("records beyond the range count as they are", unclipped),
        ("it also tells that a record was beyond the range", talkative),
    ]
    out = [Control("privacy of a message", bug, _door(contract, run, seed).flagged) for bug, run in broken]
    asked = _request(contract, seed)
    sources: list[tuple[str, Noise]] = [
        ("a source with half the scale", DampedNoise(Noise.simulated(seed), 0.5)),
        ("a source that starts anew for every client", StuckNoise(lambda: Noise.simulated(seed))),
    ]
    return out + [Control("law of a client's noise", bug, sampler_audit(noise, asked, _DRAWS, FALSE_ALARM).flagged)
                  for bug, noise in sources]


def _hardest(contracts: LatticeContracts) -> LatticeContract:
    """Whose record costs most, of those whose noise is no larger than it must be."""
    levels = contracts.delivered_local
    tight = levels > 0.9 * contracts.epsilon_local
    return contracts.of(int(contracts.index[np.argmax(np.where(tight, levels, 0.0))]))


def _request(contract: LatticeContract, seed: int) -> Draw:
    heard = RecordingNoise(Noise.simulated(seed))
    perturb(contract.low, contract, heard)
    return heard.draws[0]


def _door(contract: LatticeContract, run: Client, seed: int) -> DoorAudit:
    """Pairs that stretch it: both ends, what is next to an end, and what is far beyond."""
    low, high = contract.low, contract.high
    records = [(low, high), (high, low), ((low + high) / 2, high), (math.nextafter(low, -math.inf), low),
               (low - 16 * (high - low), high + 16 * (high - low))]
    pairs = [Neighbours(one, other, lambda sent: repr(sent).encode()) for one, other in records]
    claim = RenyiDP(contract.order, contract.epsilon_local)
    return door_audit(run, pairs, {"": claim}, lambda k: Noise.simulated(seed * 1009 + k))[""]
