"""Old names of `confide.study` in use: what is done with each, and what the new one gives."""

from __future__ import annotations

from typing import Any


def uses() -> dict[tuple[str, str], tuple[Any, Any]]:
    """What is done with old names of `confide.study`, and what the new ones give."""
    from confide import study as s

    return {
        ("", "Exhibit"): (lambda: s.Exhibit, s.GalleryEntry),  # type: ignore[attr-defined]
        ("", "Measured"): (lambda: s.Measured, s.MeasuredEvidence),  # type: ignore[attr-defined]
    }
