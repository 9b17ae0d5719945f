"""The table of rules is true: where it names one there is a bound, where it says Unsupported there is a refusal."""

from __future__ import annotations

import math

import pytest
from event_lists import ONE_OF_EACH

from confide.contract import Unsupported
from confide.privacy import Accountant, Event, events
from confide.privacy.accounting import CALCULATORS, FAST, matrix, mechanisms
from confide.privacy.accounting.sums import KINDS

CELLS = {(event, row[0]): cell for row in matrix().rows
         for event, cell in zip(matrix().columns[1:-1], row[1:-1], strict=True)}


def test_the_table_is_whole() -> None:
    assert matrix().columns == ("calculator", *(kind.__name__ for kind in KINDS), "source")
    assert [row[0] for row in matrix().rows] == list(CALCULATORS)
    assert all(row[-1] for row in matrix().rows)
    assert {type(event) for event in ONE_OF_EACH} == set(KINDS)
    assert set(FAST) == set(CALCULATORS) - {"pld"}
    # Every event class is in the table, but for the base, the two that hold others, and the one that none admits.
    classes = {value for value in vars(events).values() if isinstance(value, type) and issubclass(value, Event)}
    assert classes - set(KINDS) == {Event, events.Repeated, events.Composed, events.UnprotectedEvent}


@pytest.mark.parametrize("event", ONE_OF_EACH, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("name", CALCULATORS)
def test_cells(event: Event, name: str, dp_accounting: None) -> None:
    accountant = Accountant((event,))
    if CELLS[type(event).__name__, name] == "Unsupported":
        with pytest.raises(Unsupported):
            accountant.epsilon(1e-3, calculator=name)
        with pytest.raises(Unsupported):
            accountant.delta(1.0, calculator=name)
        assert name not in accountant.calculators
        assert name not in accountant.bounds(1e-3)
    else:
        assert 0 < accountant.epsilon(1e-3, calculator=name) < math.inf
        assert accountant.delta(3.0, calculator=name) < 1.0


def test_what_must_be_unsupported_is() -> None:
    refused = {cell for cell, rule in CELLS.items() if rule == "Unsupported"}
    assert refused == {
        *(("ZCDPEvent", name) for name in ("basic", "advanced", "per_round", "gdp", "optimal", "pld")),
        *(("GDPEvent", name) for name in ("basic", "advanced", "per_round", "optimal")),
        ("ApproxEvent", "zcdp"), ("ApproxEvent", "gdp"),
    }


def test_mechanisms_name_events() -> None:
    assert {row[1] for row in mechanisms().rows} == {kind.__name__ for kind in KINDS}
    assert {row[0]: row[1] for row in mechanisms().rows}["exponential mechanism, one draw"] == "BoundedRangeEvent"
