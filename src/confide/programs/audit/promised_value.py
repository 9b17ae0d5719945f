"""What is promised before a run of its value, its averages and taking part, held against one run on made-up people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    run: Any, delivered: NDArray[np.int32] | None, promised: Sequence[Accuracy | Participation], evidence: str,
    false_alarm: float,
) -> Iterator[AuditRow]:
    """One row for each of the promises that one run shows something of.

    Args:
        run: a simulated run, at whose own sizes the promises are computed again.
        delivered: (n, width) everybody's action; None where averages are given.
        promised: of the campaign's own mechanism.
        evidence: which run that is.
        false_alarm: probability with which a promise of accuracy fails in that run.
    """
    mechanism, board = run.mechanism, run.outcome.billboard
    program, records = mechanism.program, run.records
    main, supply = board.prices[mechanism.burn_in :], program.supply_units / LOAD_UNIT
    worth, mean = averages(program, records, main)
    dual = dual_value(program, records, np.rint(main.sum(axis=0) / len(main)).astype(np.int64), supply)
    values = None if delivered is None else program.values(records, delivered).astype(np.float64) / PRICE_UNIT
    for own in mechanism.guarantees():
        same = [each for each in promised if type(each) is type(own) and _name(each) == _name(own)]
        if isinstance(own, Accuracy):
            measured = None
            if own.measure.startswith(_VALUE) and getattr(board, "accepted", True):
                measured = dual - (worth if values is None else float(values.sum()))
                if values is None and not own.measure.endswith("the averages"):
                    measured = None  # of what is handed out, where that is another average
            elif own.measure == _AVERAGES:
                over = np.abs(mean - supply) if program.two_sided else np.maximum(0.0, mean - supply)
                measured = float(over.sum())
            if measured is not None:
                yield AuditRow.at_most(
                    f"accuracy: {own.measure}, as promised before the run", own.bound, measured,
                    f"{evidence}; exact values, and an exact dual value in place of the optimum",
                    vacuous=own.vacuous, note="no better than nothing" if own.vacuous else "", false_alarm=false_alarm,
                    scale=abs(dual), concern=Concern.ACCURACY).holding(*same)
        elif isinstance(own, Participation) and _EACH in own.who and values is not None:
            least = float((values - run.outcome.shares["price"].to_numpy()).min())
            yield AuditRow.at_least("participation: the value of what anybody gets, less its price", own.utility, least,
                                    evidence, concern=Concern.PARTICIPATION).holding(*same)


def _name(promise: Any) -> str:
    return str(promise.measure if isinstance(promise, Accuracy) else promise.who)
