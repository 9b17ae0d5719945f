"""Privacy of a market: what the randomiser on a participant's side really draws, from her bit to her report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from confide.audit import (
    AuditRow,
    Control,
    DampedNoise,
    Neighbours,
    TranscriptAudit,
    fixed_transcript_audit,
    received,
    sampler_audit,
    strongest,
)
from confide.contract.guarantees import Audience, Privacy, Relation
from confide.market.collection import BitCollection
from confide.privacy.noise import Noise, RecordingNoise
from confide.privacy.response import randomized_response

__all__ = ["FALSE_ALARM", "randomiser_controls", "randomiser_rows"]

FALSE_ALARM = 1e-9
"""Probability with which the statistical row says "broken" of a kept promise."""

_DRAWS = 400
_BETWEEN = 1.5
_HISTORIES = 8


def _pairs(worths: Sequence[float | None]) -> list[Neighbours]:
    """A 0 and a 1 of the same person, in both orders."""
    return [Neighbours((a, worth), (b, worth), received)
            for worth in worths for a, b in ((0, 1), (1, 0))]


def _local(collection: BitCollection) -> tuple[Privacy, ...]:
    """What is promised of one bit, towards whoever receives the report."""
    return tuple(each for each in collection.guarantees().privacy
                 if each.neighbours is Relation.BIT and each.audience is Audience.COLLECTOR)


def _door(
    collection: BitCollection, worths: Sequence[float | None], promises: Sequence[Privacy], seed: int,
    between: Sequence[float] = (),
) -> list[TranscriptAudit]:
    pairs = [*_pairs(worths) * _HISTORIES, *_pairs(between)]
    found = fixed_transcript_audit(lambda private, noise: collection.submit(private, noise=noise), pairs, {},
                                   lambda k: Noise.simulated(seed * 1009 + k), promises=promises)
    return list(found.values())


def randomiser_rows(
    collection: BitCollection, seed: int, worths: Sequence[float | None] = (None,), between: Sequence[float] = ()
) -> list[AuditRow]:
    """One row for the loss of `submit`, exact on its histories, and one for the law of its secure draws.

    Args:
        collection: whose clients.
        seed: of the histories.
        worths: what a nat of privacy is worth to the people who are tried, where costs are unknown.
        between: the same of more people, each of whom is tried once.
    """
    held = strongest(_local(collection))
    found = _door(collection, worths, [promise for promise, _ in held], seed, between)
    rows = [audit.row("privacy: one report, local").holding(*follow)
            for audit, (_, follow) in zip(found, held, strict=True)]
    heard = RecordingNoise(Noise.simulated(seed))
    collection.submit((1, worths[0]), noise=heard)
    return [*rows, *(sampler_audit(Noise.secure(), draw, _DRAWS, FALSE_ALARM) for draw in heard.draws[:1])]


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
    out, promises = [], _local(collection)
    for bug, kind in (("clients at 1.1 times the level", Louder), ("clients that report the bit itself", Bare)):
        broken = kind(**{name: getattr(collection, name) for name in ("market", "currency", "minor_units", "groups")})
        found = _door(broken, worths, promises, seed)
        out.append(Control("privacy", bug, any(audit.flagged for audit in found)))
    heard = RecordingNoise(Noise.simulated(seed))
    collection.submit((1, worths[0]), noise=heard)
    drawn = float(collection.market.level_of(worths[0]))
    wrong = 4.0 if drawn < _BETWEEN else 0.5  # so far from what is asked for that a few hundred draws show it
    source = DampedNoise(Noise.simulated(seed), drawn / wrong)
    return [*out, *(Control("law of the randomiser", f"a source that draws at level {wrong:g}",
                            sampler_audit(source, draw, _DRAWS, FALSE_ALARM).flagged) for draw in heard.draws[:1])]
