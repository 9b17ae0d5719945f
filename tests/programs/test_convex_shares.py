"""Shares of programs of one's own in words: by variable, whichever mechanism made them; and records to time them on."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from convex_models import DIMINISHING, SIGNED

from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.programs import (
    ConvexProgram,
    PrivDude,
    RoundDude,
    TightenAndAudit,
    TrueDude,
    UnitDemand,
    check_tau,
    convex_program,
)
from confide.programs.convex.quadratic import Solving
from confide.programs.dude import Dude


def homes(people: int, tau: Any = 1.0, scale: float = 1.0, least: float = 0.25) -> ConvexProgram:
    """Heat in 2 x 2 quarters and a wish of its own; quarters run by columns in cvxpy, not here."""
    heat, own = cp.Variable((2, 2), nonneg=True, name="heat"), cp.Variable(nonneg=True)
    comfort, wish = cp.Parameter((2, 2)), cp.Parameter()
    return convex_program(
        people, tuple([people / 4] * 4 + [people * scale * least]),
        value=cp.sum(cp.multiply(comfort, heat)) + wish * own,
        coupling=cp.hstack([heat[0], heat[1], scale * own]), constraints=[cp.sum(heat) + own <= 1],
        record={"comfort": (comfort, 0, 1), "wish": (wish, 0, 1)}, tau=tau)


def wishes(people: int) -> dict[str, Any]:
    draw = study_generator(5)
    return {"comfort": draw.random((people, 2, 2)), "wish": draw.random(people)}


@pytest.mark.parametrize("kind", [PrivDude, TrueDude, RoundDude, TightenAndAudit])
def test_what_shares_give_adds_up_to_the_load(kind: type[Dude]) -> None:
    program, data = homes(1500), wishes(1500)
    data["comfort"][3], data["wish"][3] = 0.0, 0.0  # who wants nothing has nothing
    outcome = kind(program, 20.0, 1e-2, rounds=20, burn_in=10).run(data, Noise.simulated(2))
    shares = [program.average(row) for row in outcome.shares.to_pylist()]
    assert [(name, part.shape) for name, part in shares[0].items()] == [("heat", (2, 2)), ("x0", ())]
    heat = np.array([share["heat"] for share in shares])
    own = np.array([share["x0"] for share in shares])
    assert not heat[3].any()
    assert own[3] == 0.0
    assert heat.sum() > 0.1 * 1500
    if kind is not TrueDude:  # diagnostics there are of the averages before some got their favourite
        assert np.append(heat.sum(axis=0).reshape(-1), own.sum()) == pytest.approx(outcome.diagnostics["load"])
    one = {name: table[7] for name, table in data.items()}
    mine = program.average(kind(program, 20.0, 1e-2, rounds=20, burn_in=10).decode(one, 7, outcome.billboard))
    assert np.array_equal(mine["heat"], heat[7])


@pytest.mark.parametrize("share", [
    {}, {"actions": [0, 1, 2], "times": [1]}, {"actions": [0, 1, 2, 3, 4, 5]}, {"actions": [], "times": []},
    {"action": [1.0]}, {"action": 3}, {"actions": ["a"] * 6, "times": [1]}, {"actions": [0] * 6, "times": [0]}, None])
def test_no_share_of_the_program(share: Any) -> None:
    with pytest.raises(InvalidInput, match="share"):
        homes(10).average(share)


def test_names_do_not_depend_on_what_was_modelled_before() -> None:
    first = homes(10)
    for _ in range(5):
        cp.Variable()
    assert homes(10) == first
    assert first.template.variables == ("heat", "x0")
    x, worth = cp.Variable(nonneg=True, name="x0"), cp.Parameter()
    others = [cp.Variable(nonneg=True) for _ in range(2)]
    program = convex_program(3, 2.0, value=worth * x, coupling=x, constraints=[x + sum(others) <= 1],
                             record={"worth": (worth, 0, 1)}, tau=1.0)
    assert program.template.variables == ("x0", "x1", "x2")


def test_trial_records_are_there_and_take_solves(monkeypatch: pytest.MonkeyPatch) -> None:
    solved: list[int] = []
    usual = Solving._solved

    def counted(self: Solving, numbers: Any, linear: Any, rho: float) -> Any:
        solved.append(len(numbers))
        return usual(self, numbers, linear, rho)

    monkeypatch.setattr(Solving, "_solved", counted)
    for program in (DIMINISHING.program(50), SIGNED.program(50)):
        records: Any = program.trial_records(6)
        assert records.people == 6
        assert records.present.all()
        assert len(np.unique(records.numbers, axis=0)) == 6
        assert np.array_equal(records.numbers, program.trial_records(9).numbers[:6])  # type: ignore[attr-defined]
        solved.clear()
        played = program.respond(records, np.zeros(program.rows, np.int64))
        assert solved[0] == 6
        assert (played[:, 0] == 0).all()
        low, high = program.template.ranges
        assert (records.numbers >= low - 1e-12).all()
        assert (records.numbers <= high + 1e-12).all()
        solved.clear()
        program.respond(program.one(None).take(np.zeros(6, np.int64)), np.zeros(program.rows, np.int64))
        assert solved[0] == 6  # slots without a record take as long as others
    fast = homes(50)
    assert fast.shape is not None
    assert (fast.respond(fast.trial_records(20), np.zeros(5, np.int64))[:, 0] == 0).all()
    nobody = UnitDemand(9, (1.0, 2.0)).trial_records(5)
    assert not nobody.worth.any()  # type: ignore[attr-defined]
    for count in (0, 1.5):
        with pytest.raises(InvalidInput, match="count"):
            fast.trial_records(count)  # type: ignore[arg-type]


def test_a_tau_for_each_row_is_compared_row_by_row() -> None:
    """What one row needs says nothing of another: a unit of the last row is worth a hundred of the others'."""
    data = wishes(30)
    loose = check_tau(homes(30, tau=(1.0,) * 4 + (100.0,), scale=0.01, least=0.02), data)
    assert not loose.refuted  # though prices of the last row are far above the least tau
    assert loose.needed[-1] == pytest.approx(100.0 * loose.largest)
    needed = np.array(check_tau(homes(30, tau=100.0, scale=0.01, least=0.02), data).needed)
    assert needed.max() > 10.0
    assert check_tau(homes(30, tau=(100.0,) * 4 + (1.0,), scale=0.01, least=0.02), data).refuted
    assert check_tau(homes(30, tau=(1e-3,) * 4 + (100.0,), scale=0.01, least=0.02), data).refuted
    assert check_tau(homes(30, tau=100.0, scale=0.01, least=0.02), data).declared == (100.0,) * 5


def test_multiples_are_exact_penalties() -> None:
    """At t tau excess does not pay, just below it does: for quadratic values as well, by Clarabel."""
    program, data = DIMINISHING.program(8, tau=(0.5, 2.0, 1.0)), DIMINISHING.data(8, seed=4)
    t, best = check_tau(program, data).largest, DIMINISHING.optimum(8, data)

    def penalised(multiple: float) -> float:
        value, load, constraints = 0.0, 0.0, []
        for i in range(8):
            one = DIMINISHING.build({name: table[i] for name, table in data.items()})
            value, load, constraints = value + one[0], load + one[1], constraints + one[2]
        over = cp.pos(load - 8 * np.array(DIMINISHING.supply))
        problem = cp.Problem(cp.Maximize(value - multiple * np.array(program.taus) @ over), constraints)
        return float(problem.solve(solver=cp.CLARABEL))

    assert t > 0.1
    assert penalised(1.001 * t) == pytest.approx(best, abs=1e-6)
    assert penalised(0.9 * t) > best + 1e-5
