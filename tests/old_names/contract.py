"""Old names of `confide.contract` in use: what is done with each, and what the new one gives."""

from __future__ import annotations

from typing import Any


def uses() -> dict[tuple[str, str], tuple[Any, Any]]:
    """What is done with old names of `confide.contract`, and what the new ones give."""
    from confide import contract as c
    from confide.privacy import PureDP

    source = c.Source(document="a", statement="b")
    common: dict[str, Any] = {"loss": PureDP(1.0), "audience": c.Audience.PUBLIC, "source": source}
    near: dict[str, Any] = {"bound": 1.0, "measure": "error", "failure_probability": 0.1, "source": source}
    true: dict[str, Any] = {"gain": 0.1, "who": "everybody", "source": source}
    look: dict[str, Any] = {"slots": 2, "rows": 1, "usable": 1, "rejected": {}, "tolerated": None}
    return {
        ("", "Unit"): (lambda: c.Unit, c.Relation),  # type: ignore[attr-defined]
        ("Accuracy", "trivial"): (lambda: c.Accuracy(**near, trivial=2.0), c.Accuracy(**near, baseline=2.0)),
        ("Check", "null"): (lambda: c.Check(**look, null="the middle").missing_as, "the middle"),
        ("Privacy", "unit"): (lambda: c.Privacy(**common, unit=c.Relation.BIT),
                              c.Privacy(**common, neighbours=c.Relation.BIT)),
        ("Truthfulness", "trivial"): (
            lambda: c.Truthfulness(**true, trivial=2.0), c.Truthfulness(**true, baseline=2.0)),
        ("Truthfulness", "radius_trivial"): (
            lambda: c.Truthfulness(**true, baseline=2.0, radius=0.5, radius_trivial=3.0),
            c.Truthfulness(**true, baseline=2.0, radius=0.5, baseline_radius=3.0)),
    }
