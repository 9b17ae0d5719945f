"""Half of the noise of one part of a release, planted for each part: whoever walks a mechanism must see each of them.

Less noise in all parts at once is seen by the part whose loss the pairs attain, whatever the others do. So each part is
damped alone, and its own claim must be what is broken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from confide.audit.faulty_noise import DampedNoise
from confide.audit.fixed_transcript import TranscriptAudit
from confide.audit.report import Control
from confide.privacy.noise import Noise

__all__ = ["HALF", "part_controls"]

HALF = 0.5
"""Of the noise of a part is left."""

_BEYOND = 1.001  # of what half of the noise just shows

Walk = Callable[[Callable[[Noise], Noise]], Mapping[str, TranscriptAudit]]
"""What the noise of a run is replaced by -> the audits of its parts."""


def part_controls(sound: Mapping[str, TranscriptAudit], walk: Walk, named: Callable[[str], str]) -> list[Control]:
    """A walk with half of the noise of each part in turn, held against what is claimed of that part.

    Args:
        sound: the audits of the mechanism as it is, by part, of `fixed_transcript_audit`; those of promises are left
            out. Of a part whose pairs do not attain half of its claim nothing is planted: its row says how little
            noise would show.
        walk: the same with other noise.
        named: part -> what its row is called.

    Example:
        >>> from confide.audit import Neighbours, fixed_transcript_audit
        >>> from confide.privacy import PureDP
        >>> def sums(values, noise):
        ...     return [noise.laplace(2.0, 1, stream=("sum", k), center=[values[k]])[0] for k in range(2)]
        >>> pair = Neighbours([0.0, 0.0], [0.2, 1.0], lambda outcome: repr(outcome).encode())
        >>> def walk(changed):
        ...     return fixed_transcript_audit(lambda data, noise: sums(data, changed(noise)), [pair],
        ...                       {"": PureDP(0.6), "sum/0": PureDP(0.5), "sum/1": PureDP(0.5)}, Noise.simulated)
        >>> found = walk(lambda noise: noise)
        >>> found["sum/0"].shown, part_controls(found, walk, lambda part: f"privacy: {part}")
        (0.2, [Control(name='privacy: sum/1', mutant='half of its noise', flagged=True)])
    """
    out = []
    for part, audit in sound.items():
        if not part or audit.promise is not None or audit.shown is None or audit.shown < _BEYOND * HALF:
            continue
        found = walk(lambda noise, of=part: DampedNoise(noise, HALF, of))[part]  # type: ignore[misc]
        out.append(Control(named(part), "half of its noise", found.flagged and not found.leaks))
    return out
