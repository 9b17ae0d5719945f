"""Drawing of a Vega-Lite specification as a picture, without network access."""

from __future__ import annotations

import json
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any

from confide.contract.errors import InvalidInput

__all__ = ["DRAWS", "available", "to_png", "to_svg"]

DRAWS = "pip install 'confide[plots]'"
"""Command that installs the software for drawing pictures."""


@cache
def available() -> bool:
    """True when the extra `[plots]` is installed."""
    return find_spec("vl_convert") is not None


def to_svg(spec: dict[str, Any]) -> str | None:
    """The picture as inline SVG. The result is None if the picture has no specification or the extra `[plots]` is
    missing.
    """
    if not spec or not available():
        return None
    return _svg(json.dumps(spec))


@lru_cache(maxsize=64)  # the pages of a campaign show one picture again and again
def _svg(spec: str) -> str:
    import vl_convert

    return str(vl_convert.vegalite_to_svg(spec))


def to_png(spec: dict[str, Any], scale: float = 2.0) -> bytes:
    """The picture as PNG.

    Raises:
        InvalidInput: the specification is empty, or the extra `[plots]` is not installed.
    """
    if not spec or not available():
        raise InvalidInput("picture", "needs vl-convert", f"{DRAWS} installs it")
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(json.dumps(spec), scale=scale))
