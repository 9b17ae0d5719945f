"""Lines that lie on each other stay apart: each series has dashes of its own beside its colour, and axes begin at 0."""

from __future__ import annotations

import copy
from typing import Any

from confide.contract.presentation import Picture

__all__ = ["told_apart"]

_DASHES = ([1, 0], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2], [1, 2])


def told_apart(pictures: list[Picture]) -> list[Picture]:
    """The same curves with dashes; a linear vertical axis begins at 0.

    Args:
        pictures: of `confide.charts.curves`; those without a drawing stay as they are.
    """
    return [Picture(spec=_dashed(each.spec), alt=each.alt) for each in pictures]


def _dashed(spec: Any) -> Any:
    found = copy.deepcopy(dict(spec))
    for layer in found.get("layer", ()):
        encoding = layer.get("encoding", {})
        color = encoding.get("color")
        if color is None:
            continue
        names = color["scale"]["domain"]
        encoding["strokeDash"] = {"field": color["field"], "type": "nominal", "title": None,
                                  "legend": copy.deepcopy(color.get("legend")), "scale": {
            "domain": names, "range": [list(_DASHES[place % len(_DASHES)]) for place in range(len(names))]}}
        if encoding["y"].get("scale", {}).get("type") != "log":
            encoding["y"]["scale"] = {"zero": True, "nice": True}
    return found
