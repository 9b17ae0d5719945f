"""Privacy of a market: what the randomiser on a participant's side really draws, from her bit to her report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from confide.audit import AuditRow, Control, DampedNoise, Neighbours, door_audit, sampler_audit
from confide.contract.guarantees import Privacy
from confide.market.collection import BitCollection
from confide.privacy.losses import PureDP
from confide.privacy.noise import Noise, RecordingNoise
from confide.privacy.response import randomized_response

__all__ = ["FALSE_ALARM", "randomiser_controls", "randomiser_rows"]

FALSE_ALARM = 1e-9
"""Probability with which the statistical row says "broken" of a kept promise."""

_DRAWS = 400
_BETWEEN = 1.5


def _pairs(worths: Sequence[float | None]) -> list[Neighbours]:
    """A 0 and a 1 of the same person, in both orders."""
    return [Neighbours((a, worth), (b, worth), lambda report: bytes([report]))
            for worth in worths for a, b in ((0, 1), (1, 0))]


def _door(collection: BitCollection, worths: Sequence[float | None], level: float, seed: int) -> Any:
    return door_audit(lambda private, noise: collection.submit(private, noise=noise), _pairs(worths),
                      {"": PureDP(level)}, lambda k: Noise.simulated(seed * 1009 + k), histories=8)[""]


def randomiser_rows(collection: BitCollection, seed: int, worths: Sequence[float | None] = (None,)) -> list[AuditRow]:
    """One row for the loss of `submit`, exact on its histories, and one for the law of its secure draws.

    Args:
        collection: whose clients.
        seed: of the histories.
        worths: what a nat of privacy is worth to the people who are tried, where costs are unknown.
    """
    level = collection.market.largest_level
    heard = RecordingNoise(Noise.simulated(seed))
    collection.submit((1, worths[0]), noise=heard)
    return [
        _door(collection, worths, level, seed).row("privacy: one report, local").holding(
            *collection.guarantees().of(Privacy)),
        sampler_audit(Noise.secure(), heard.draws[0], _DRAWS, FALSE_ALARM),
    ]


class Louder(BitCollection):
    """Its clients report at a level that is larger by a tenth."""

    def submit(self, private: Any, offer: Any = None, noise: Any = None) -> int:
        bit, worth = private
        return int(randomized_response([bit], 1.1 * self.market.level_of(worth), noise, stream="report")[0])


class Bare(BitCollection):
    """Its clients report the bit."""

    def submit(self, private: Any, offer: Any = None, noise: Any = None) -> int:
        return int(private[0])


def randomiser_controls(
    collection: BitCollection, seed: int, worths: Sequence[float | None] = (None,)
) -> list[Control]:
    """The same walk over clients that were broken on purpose."""
    level = collection.market.largest_level
    out = []
    for bug, kind in (("clients at 1.1 times the level", Louder), ("clients that report the bit itself", Bare)):
        broken = kind(**{name: getattr(collection, name) for name in ("market", "currency", "minor_units", "groups")})
        out.append(Control("privacy", bug, _door(broken, worths, level, seed).flagged))
    heard = RecordingNoise(Noise.simulated(seed))
    collection.submit((1, worths[0]), noise=heard)
    drawn = float(collection.market.level_of(worths[0]))
    wrong = 4.0 if drawn < _BETWEEN else 0.5  # so far from what is asked for that a few hundred draws show it
    found = sampler_audit(DampedNoise(Noise.simulated(seed), drawn / wrong), heard.draws[0], _DRAWS, FALSE_ALARM)
    return [*out, Control("law of the randomiser", f"a source that draws at level {wrong:g}", found.flagged)]
