"""What is promised before a run of its value, its averages and taking part, held against one run on made-up people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.audit import AuditRow, Concern
from confide.contract.guarantees import Accuracy, Participation
from confide.programs.averages import tally_of, value_and_load
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT

__all__ = ["averages", "dual_value", "promised_rows"]

_VALUE, _AVERAGES = "optimum less the value of", "excess of all rows together, of the averages"
_EACH = "after every run"


def averages(program: Any, records: Any, main: NDArray[np.int64]) -> tuple[float, NDArray[np.float64]]:
    """The exact value of the averages over a path, and their load (k,), both in the program's own units.

    Args:
        program: of the run.
        records: everybody's.
        main: (T, k) prices of the main rounds.
    """
    value, load = value_and_load(program, records, tally_of(records, program, main))
    load = load + np.sum([program.public_load(row) for row in main], axis=0)
    worth = (value / PRICE_UNIT + sum(program.public_value(row) for row in main)) / len(main)
    return float(worth), np.asarray(load / (LOAD_UNIT * len(main)))


def dual_value(program: Any, records: Any, prices: NDArray[np.int64], supply: NDArray[np.float64]) -> float:
    """The exact dual value at some prices: the optimum is never above it.

    Args:
        program: of the run.
        records: everybody's.
        prices: (k,) on the grid.
        supply: (k,) in the program's own units.
    """
    actions = program.respond(records, prices)
    utility = int(program.values(records, actions).astype(object).sum()) * program.scale - int(
        program.paid(records, actions, prices).astype(object).sum())
    natural = prices / PRICE_UNIT
    sold = float(natural @ supply) - float(natural @ (program.public_load(prices) / LOAD_UNIT))
    return float(utility / (PRICE_UNIT * program.scale) + sold + program.public_value(prices))


def promised_rows(
    runs: Sequence[tuple[Any, NDArray[np.int32] | None]], promised: Sequence[Accuracy | Participation], evidence: str,
    false_alarm: float,
) -> Iterator[AuditRow]:
    """One row for each of the promises that a run shows something of.

    Args:
        runs: simulated runs of one mechanism, at whose own sizes the promises are computed again; and (n, width)
            everybody's action, None where averages are given. The run that is nearest to a promise of accuracy counts,
            and of one to everybody the run that is furthest from it.
        promised: of the campaign's own mechanism.
        evidence: which runs these are.
        false_alarm: probability with which a promise of accuracy fails in all of them.
    """
    found = [_Found.of(run, delivered) for run, delivered in runs]
    for own in runs[0][0].mechanism.guarantees():
        same = [each for each in promised if type(each) is type(own) and _name(each) == _name(own)]
        if isinstance(own, Accuracy):
            measured = [each for each in (one.of_accuracy(own) for one in found) if each is not None]
            if len(measured) == len(found):
                yield AuditRow.at_most(
                    f"accuracy: {own.measure}, as promised before the run", own.bound, min(measured),
                    f"{evidence}; exact values, and an exact dual value in place of the optimum",
                    vacuous=own.vacuous, note="no better than nothing" if own.vacuous else "", false_alarm=false_alarm,
                    scale=abs(found[0].dual), unit=_unit(own.measure), concern=Concern.ACCURACY).holding(*same)
        elif isinstance(own, Participation) and _EACH in own.who and found[0].least is not None:
            yield AuditRow.at_least(
                "participation: the value of what anybody gets, less its price", own.utility,
                min(one.least for one in found if one.least is not None), evidence.replace("the best of ", "each of "),
                unit="in value", concern=Concern.PARTICIPATION).holding(*same)


def _unit(measure: str) -> str:
    """Of what a promise of accuracy counts: people, what is shared, or what it is worth to them."""
    return "people" if measure.startswith("participants") else "units of supply" if "excess" in measure else "in value"


@dataclass(frozen=True, kw_only=True)
class _Found:
    """What a run was worth.

    Args:
        dual: no allocation is worth more.
        averages: value of the averages.
        over: what they take of all rows together beyond the supplies.
        given: value of whole parts; None where averages are given, or nothing was.
        least: the least value less price of anybody's whole part; None where none is charged.
    """

    dual: float
    averages: float
    over: float
    given: float | None
    least: float | None

    @classmethod
    def of(cls, run: Any, delivered: NDArray[np.int32] | None) -> _Found:
        mechanism, board = run.mechanism, run.outcome.billboard
        program, records = mechanism.program, run.records
        main, supply = board.prices[mechanism.burn_in :], program.supply_units / LOAD_UNIT
        worth, mean = averages(program, records, main)
        over = np.abs(mean - supply) if program.two_sided else np.maximum(0.0, mean - supply)
        given = least = None
        if delivered is not None:
            values = program.values(records, delivered).astype(np.float64) / PRICE_UNIT
            given = float(values.sum()) if getattr(board, "accepted", True) else None
            if "price" in run.outcome.shares.column_names:
                least = float((values - run.outcome.shares["price"].to_numpy()).min())
        middle = np.rint(main.sum(axis=0) / len(main)).astype(np.int64)
        return cls(dual=dual_value(program, records, middle, supply), averages=worth, over=float(over.sum()),
                   given=given, least=least)

    def of_accuracy(self, promise: Accuracy) -> float | None:
        """What is measured of a promise; None where this says nothing of it."""
        if promise.measure == _AVERAGES:
            return self.over
        if promise.measure == f"{_VALUE} the averages":
            return self.dual - self.averages
        if promise.measure.startswith(_VALUE) and self.given is not None:
            return self.dual - self.given
        return None


def _name(promise: Any) -> str:
    return str(promise.measure if isinstance(promise, Accuracy) else promise.who)
