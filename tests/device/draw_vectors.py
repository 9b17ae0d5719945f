"""The shared vectors of all exact samplers: what each gives from known bytes. Run as a module, it writes them anew."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from confide.privacy.noise import exact_draws as draws
from device.byte_streams import HashStream

__all__ = ["SAMPLERS", "VECTORS", "vectors"]

VECTORS = Path(__file__).with_name("draw_vectors.json")

SAMPLERS: dict[str, Callable[..., int]] = {
    "uniform": draws.uniform_below, "bernoulli": draws.bernoulli, "bernoulli_exp": draws.bernoulli_exp,
    "keep": draws.shift_with_keep, "level": draws.shift_at_level,
    "laplace": draws.discrete_laplace, "gaussian": draws.discrete_gaussian,
}
"""Name of a call of `run.mjs` -> the reference."""

_CASES: dict[str, list[tuple[int, ...]]] = {
    "uniform": [(1,), (2,), (3,), (255,), (256,), (257,), (10**6,), (2**64,), (2**64 + 1,), (3**100,)],
    "bernoulli": [(0, 1), (1, 1), (1, 2), (1, 3), (254, 255), (2**62 - 1, 2**62), (10**30, 3 * 10**30)],
    "bernoulli_exp": [(0, 1), (1, 1), (1, 10), (7, 3), (40, 9), (2**52 + 1, 2**54), (1, 2**200)],
    "keep": [(1, 2, 2), (3, 4, 3), (0, 1, 5), (1, 1, 9), (2**61 + 7, 2**62, 1000)],
    "level": [(0, 1, 2), (1, 1, 2), (4, 5, 2), (7, 2, 5), (3602879701896397, 2**52, 2), (1, 3, 300)],
    "laplace": [(1, 1), (1, 3), (7, 2), (1000, 1), (2**40 + 1, 3), (10**25, 7)],
    "gaussian": [(1, 1), (1, 5), (9, 4), (400, 1), (10**12, 1), (2**80 + 9, 1), (10**40, 3)],
}
_EACH = 8


def vectors() -> list[dict[str, Any]]:
    """Each: the call, its whole numbers as texts, the bytes in hexadecimal, all used, and the draw as a text."""
    found = []
    for name, cases in _CASES.items():
        for numbers in cases:
            for k in range(_EACH):
                source = HashStream(f"{name}{numbers}{k}")
                drawn = SAMPLERS[name](*numbers, source)
                found.append({"call": name, "arguments": [str(each) for each in numbers],
                              "bytes": source.taken.hex(), "drawn": json.dumps(drawn)})
    return found


def as_text() -> str:
    """The file: one vector a line."""
    return "[\n" + ",\n".join(json.dumps(each) for each in vectors()) + "\n]\n"


if __name__ == "__main__":
    VECTORS.write_text(as_text(), encoding="utf-8")
