"""Old names of `confide.search` in use: what is done with each, and what the new one gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from confide.privacy.noise import Noise


def uses() -> dict[tuple[str, str], tuple[Any, Any]]:
    """What is done with old names of `confide.search`, and what the new ones give."""
    from confide import search as s

    call = s.ComponentSearch(people=10, stopping_target=3, epsilon=1.0, degree_bound=4)
    said = s.call_law([1.0, 0.0], 2.0, "laplace", None).tolist()
    chances = s.examined_chances([1.0, 0.0], [True, False], 2.0, "laplace", None)
    values: Any = np.array([300.0, 100.0, 200.0])

    def order(**scale: float) -> list[int]:
        noisy = call.order(values, noise=Noise.simulated(1), call=0, threshold=None, **scale)
        return [int(each) for each in noisy.take(3)]

    return {
        ("ComponentSearch.order", "scale"): (lambda: order(scale=call.noise_scale),
                                             order(noise_scale=call.noise_scale)),
        ("", "Findings"): (lambda: s.Findings, s.FoundTargets),  # type: ignore[attr-defined]
        ("", "Flow"): (lambda: s.Flow, s.LargestFlow),  # type: ignore[attr-defined]
        ("ComponentSearch", "delta"): (lambda: call.delta, call.sensitivity),  # type: ignore[attr-defined]
        ("ComponentSearch", "scale"): (lambda: call.scale, call.noise_scale),  # type: ignore[attr-defined]
        ("call_law", "scale"): (
            lambda: s.call_law([1.0, 0.0], scale=2.0, kind="laplace", threshold=None).tolist(), said),
        ("examined_chances", "scale"): (lambda: s.examined_chances(
            [1.0, 0.0], [True, False], scale=2.0, kind="laplace", threshold=None).tolist(), chances.tolist()),
        ("multipliers", "scale"): (lambda: s.multipliers(3, scale=20.0), s.multipliers(3, 20.0)),
    }
