"""Templates that the tests of convex programs share, each with records and a participant's own program in cvxpy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np

from confide.privacy.noise.simulated import study_generator
from confide.programs import ConvexProgram, convex_program


@dataclass(frozen=True, kw_only=True)
class Model:
    """A template, and the same program of one record with numbers in place of parameters."""

    ranges: dict[str, tuple[tuple[int, ...], float, float]]
    build: Callable[[dict[str, Any]], tuple[Any, Any, list[Any]]]
    supply: tuple[float, ...]  # of a participant
    tau: float
    least: dict[str, float]

    def program(self, people: int, **more: Any) -> ConvexProgram:
        parameters = {name: cp.Parameter(shape, nonneg=low >= 0) for name, (shape, low, _) in self.ranges.items()}
        value, coupling, constraints = self.build(parameters)
        record = {name: (parameters[name], low, high) for name, (_, low, high) in self.ranges.items()}
        supply = tuple(people * one for one in self.supply)
        usual = {"value": value, "coupling": coupling, "constraints": constraints, "record": record, "tau": self.tau}
        return convex_program(people, supply, **{**usual, **more})

    def data(self, people: int, seed: int) -> dict[str, Any]:
        draw = study_generator(seed)
        return {name: draw.uniform(self.least.get(name, low), high, (people, *shape))
                for name, (shape, low, high) in self.ranges.items()}

    def optimum(self, people: int, data: dict[str, Any]) -> float:
        """Of everybody together, by Clarabel."""
        value, load, constraints = 0.0, 0.0, []
        for i in range(people):
            one = self.build({name: table[i] for name, table in data.items()})
            value, load, constraints = value + one[0], load + one[1], constraints + one[2]
        whole = cp.Problem(cp.Maximize(value), [*constraints, load <= people * np.array(self.supply)])
        return float(whole.solve(solver=cp.CLARABEL))

    def best(self, record: dict[str, Any], prices: Any) -> float:
        """What the best response of one participant is worth less its price, by Clarabel."""
        value, load, constraints = self.build(record)
        return float(cp.Problem(cp.Maximize(value - prices @ load), constraints).solve(solver=cp.CLARABEL))


def _diminishing(r: dict[str, Any]) -> Any:
    x = cp.Variable(3, nonneg=True)
    return r["worth"] @ x - cp.sum_squares(x) / 2, cp.multiply(r["need"], x), [cp.sum(x) <= 1]


def _above_own(r: dict[str, Any]) -> Any:
    x = cp.Variable(2, nonneg=True)
    return (r["worth"] @ x - cp.square(x[0] - x[1]) - cp.sum_squares(x) / 4,
            cp.hstack([cp.pos(x[0] - r["own"][0]), cp.pos(x[1] - r["own"][1]) + cp.abs(x[0] - x[1]) / 4]), [x <= 1])


def _knapsacks(r: dict[str, Any]) -> Any:
    x = cp.Variable(3, nonneg=True)
    return r["worth"] @ x, x, [x <= 1, r["weight"] @ x <= 1]


def _signed(r: dict[str, Any]) -> Any:
    x = cp.Variable(2)
    return (r["worth"] @ x - cp.sum_squares(x) - cp.max(x) / 2 + cp.minimum(x[0], 0.25),
            cp.hstack([x[0] - x[1], cp.sum(x)]), [cp.norm_inf(x) <= 1])


DIMINISHING = Model(ranges={"worth": ((3,), 0.0, 1.0), "need": ((3,), 0.0, 1.0)}, build=_diminishing, tau=3.0,
                    supply=(0.075,) * 3, least={"need": 0.3})
ABOVE_OWN = Model(ranges={"worth": ((2,), 0.0, 1.0), "own": ((2,), 0.0, 0.5)}, build=_above_own, tau=1.0,
                  supply=(0.15, 0.1), least={})
KNAPSACKS = Model(ranges={"worth": ((3,), 0.0, 1.0), "weight": ((3,), 0.2, 1.0)}, build=_knapsacks, tau=1.0,
                  supply=(0.15,) * 3, least={})
SIGNED = Model(ranges={"worth": ((2,), -1.0, 1.0)}, build=_signed, tau=2.0, supply=(0.05, -0.1), least={})
MODELS = (DIMINISHING, ABOVE_OWN, KNAPSACKS, SIGNED)
