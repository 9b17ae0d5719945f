"""Old names of `confide.allocation` in use: what is done with each, and what the new one gives."""

from __future__ import annotations

from typing import Any


def uses() -> dict[tuple[str, str], tuple[Any, Any]]:
    """What is done with old names of `confide.allocation`, and what the new ones give."""
    from confide import allocation as al

    market: dict[str, Any] = {"people": 300, "goods": 2, "supply": 300, "epsilon": 8.0}
    auction: dict[str, Any] = {**market, "supply": 60, "increment": 0.2, "bid_cap": 2, "rounds": 3, "batch": 20, "arity": 4}
    printed: dict[str, Any] = {"people": 1000, "goods": 3, "epsilon": 1.0, "increment": 0.5}
    crowd: dict[str, Any] = {"welfare": 0.9, "lowest": 0.8, "highest": 1.0, "certificate": None, "runs": 1, "people": 9,
                             "goods": 2}
    smooth, bids = al.SinkhornMatch(**market), al.PMatch(**auction)
    found = dict[tuple[str, str], tuple[Any, Any]]()

    def attributes(it: Any, **names: str) -> None:
        for old, new in names.items():
            found[type(it).__name__, old] = (lambda old=old: getattr(it, old), getattr(it, new))

    def gamma(place: str, call: Any) -> None:
        found[place, "gamma"] = (lambda: call(gamma=0.1), call(failure_probability=0.1))

    attributes(bids, cell_distance="cell_sensitivities", distance="l1_sensitivity", failure="overflow_probability",
               held_back="effective_reserve", report_distance="report_l1_sensitivity")
    return found
