"""A participant's client, attacked through its door: what `submit` sends for two records, and the law of its noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from confide.acquisition.mechanism import TwoPartMechanism
from confide.acquisition.release.lattice import LatticeContract, LatticeContracts, perturb
from confide.audit import (
    AuditRow,
    Control,
    DampedNoise,
    Neighbours,
    StuckNoise,
    TranscriptAudit,
    fixed_transcript_audit,
    received,
    sampler_audit,
    strongest,
)
from confide.contract.errors import ConfideError
from confide.contract.guarantees import Audience, Privacy, Relation
from confide.privacy.losses import RenyiDP
from confide.privacy.noise import ForcedNoise, Noise, RecordingNoise

__all__ = ["FALSE_ALARM", "client_controls", "client_rows"]

FALSE_ALARM = 1e-9
"""Probability with which the statistical row says "broken" of a kept promise."""

_DRAWS = 400  # enough to see a scale that is wrong by a factor two at that false alarm
_BEYOND = (2.0**-10, 2.0**-4, 0.5, 4.0, 16.0, 256.0)  # in ranges: how far a record is outside, on each side

Client = Callable[[Any, Noise], Any]


def client_rows(
    contracts: LatticeContracts, seed: int, source: Noise | None = None, it: TwoPartMechanism | None = None
) -> list[AuditRow]:
    """What a message costs, exact on its histories, against its contract and against what is promised of every message;
    and the law of the noise.

    Args:
        contracts: as they were made; the client runs with the one that costs most.
        seed: of the histories.
        source: whose draws are tested; `Noise.secure()` if left out.
        it: whose `submit` is the client; a release of its own, which promises what contracts say, if left out.
    """
    contract = _hardest(contracts)

    def client(record: Any, noise: Noise) -> Any:
        return perturb(record, contract, noise).message if it is None else it.submit(record, contract, noise)

    held = strongest(each for each in (() if it is None else it.guarantees().privacy)
                     if each.audience is Audience.COLLECTOR and each.neighbours is Relation.REPLACE)
    found = _doors(contract, client, seed, [promise for promise, _ in held])
    rows = [found.pop("").row("privacy: one message, towards the platform, by its contract (Renyi)"),
            *(audit.row("privacy: one message, towards the platform").holding(*follow)
              for audit, (_, follow) in zip(found.values(), held, strict=True))]
    heard = RecordingNoise(Noise.simulated(seed))
    client(contract.low, heard)
    return [*rows, *(sampler_audit(source or Noise.secure(), draw, _DRAWS, FALSE_ALARM) for draw in heard.draws[:1])]


def client_controls(contracts: LatticeContracts, seed: int) -> list[Control]:
    """The same attacks on clients that were broken on purpose: each must be flagged."""
    contract = _hardest(contracts)
    width = contract.high - contract.low

    def sound(record: Any, noise: Noise) -> int | None:
        return perturb(record, contract, noise).message

    def unclipped(record: Any, noise: Noise) -> int:
        """A record outside the range counts as it is."""
        center = round(contract.steps * (record - contract.low) / width)
        return int(noise.discrete_gaussian(contract.noise_std, 1, stream="record", center=[center])[0])

    def wider(record: Any, noise: Noise) -> int:
        """A range that is a sixteenth wider than the one that the noise is made for."""
        return unclipped(min(max(record, contract.low), contract.high + width / 16), noise)

    def far(record: Any, noise: Noise) -> int:
        """What is beyond the range counts as its end, but for what is hundreds of ranges beyond."""
        near = record < contract.high + 100 * width
        return unclipped(max(min(record, contract.high) if near else record, contract.low), noise)

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
        ("records beyond the range count as they are up to a sixteenth of it", wider),
        ("records count as they are where they are a hundred ranges beyond", far),
        ("it also tells that a record was beyond the range", talkative),
    ]
    out = [Control("privacy of a message", bug, _door(contract, run, seed).flagged) for bug, run in broken]
    heard = RecordingNoise(Noise.simulated(seed))
    sound(contract.low, heard)
    asked = heard.draws[0]
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


def _door(contract: LatticeContract, run: Client, seed: int) -> TranscriptAudit:
    return _doors(contract, run, seed)[""]


def _doors(
    contract: LatticeContract, run: Client, seed: int, promises: Sequence[Privacy] = ()
) -> dict[str, TranscriptAudit]:
    """Pairs that stretch it: both ends, what is next to an end, and what is beyond, by a little or by any number.

    A client that refuses one record and not the other tells of it.
    """
    low, high = contract.low, contract.high
    width = high - low
    records = [(low, high), (high, low), ((low + high) / 2, high), (math.nextafter(low, -math.inf), low),
               (low - 16 * width, high + 16 * width), (-math.inf, high), (low, math.inf)]
    for far in _BEYOND:
        records += [(low - far * width, high), (high + far * width, low)]

    def answered(record: Any, noise: Noise) -> Any:
        try:
            return run(record, noise)
        except (ConfideError, ArithmeticError, ValueError) as problem:
            return type(problem).__name__

    pairs = [Neighbours(one, other, received) for one, other in records]
    claim = RenyiDP(contract.order, contract.epsilon_local)
    return fixed_transcript_audit(answered, pairs, {"": claim}, lambda k: Noise.simulated(seed * 1009 + k),
                                  promises=promises)
