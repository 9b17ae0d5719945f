"""Controls for each part of a release, and how far the noise of each may shrink before its own row shows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from confide.audit import DampedNoise, Neighbours, TranscriptAudit, fixed_transcript_audit, part_controls
from confide.privacy import PureDP
from confide.privacy.losses import ZCDP
from confide.privacy.noise import Noise

PAIR = Neighbours([0.0, 0.0], [1.0, 1.0], lambda outcome: repr(outcome).encode())


def replay(changed: Callable[[Noise], Noise], *, law: str = "laplace") -> dict[str, TranscriptAudit]:
    """Two sums, of which the first moves by 1 and the second by 1/4 of what it has noise for."""

    def run(values: Any, noise: Noise) -> list[float]:
        drawn = changed(noise)
        scale = 2.0 if law == "laplace" else 1.0
        return [float(getattr(drawn, law)(scale, 1, stream=("sum", k), center=[values[k] / 4**k])[0]) for k in range(2)]

    each = PureDP(0.5) if law == "laplace" else ZCDP(0.5)
    return fixed_transcript_audit(run, [PAIR], {"": type(each)(1.0), "sum/0": each, "sum/1": each}, Noise.simulated)


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_noise_is_flagged_below_the_share_that_is_said(law: str) -> None:
    sound = replay(lambda noise: noise, law=law)
    assert [sound[part].shown for part in ("sum/0", "sum/1")] == [1.0, 0.25]
    assert sound["sum/1"].row().note == "the audit would flag noise below 0.25 of its scale"
    for factor, flagged in ((0.26, False), (0.24, True)):
        found = replay(lambda noise, at=factor: DampedNoise(noise, at, "sum/1"), law=law)
        assert found["sum/1"].flagged is flagged
        assert not found["sum/0"].flagged


def test_a_part_is_injected_where_its_half_would_show() -> None:
    found = part_controls(replay(lambda noise: noise), replay, "privacy: {}".format)
    assert [(each.name, each.flagged) for each in found] == [("privacy: sum/0", True)]


def test_what_is_no_noise_beside_a_number_has_no_such_share() -> None:
    def run(values: Any, noise: Noise) -> Any:
        return noise.selection(np.array(values), 1, stream="choice")

    found = fixed_transcript_audit(run, [PAIR], {"": PureDP(4.0), "choice": PureDP(4.0)}, Noise.simulated)
    assert found["choice"].shown is None
    assert found["choice"].row().note == ""
    assert part_controls(found, lambda changed: found, str) == []
