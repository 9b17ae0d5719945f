"""Routes through the network "polska" of SNDlib, which the package topohub ships. Spec convex_programs 9.8.

There are 9,943 users with one unit of flow each, half of them in the reverse direction. Costs are uniform on [0, 1],
paths have up to six arcs, and not using the network costs 6. Capacities are three quarters of the largest load without
prices. A quick run has every fifth user.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import (
    OWN_CERTIFICATE,
    OWN_COMPARISON,
    Compared,
    Findings,
    Study,
    advance,
    bound,
    in_words,
)
from confide.evidence.wu_2017.private_programs.studies.runs import DELTA, best_of, quiet
from confide.privacy.noise import Noise
from confide.programs.families.flow import Flow
from confide.programs.families.networks import made_up_users, packaged_network
from confide.programs.grids import LOAD_UNIT, PRICE_UNIT
from confide.programs.priv_dude import PrivDude

__all__ = ["STUDY"]


def _run(quick: bool, progress: Progress | None) -> Findings:
    network = packaged_network("sndlib/polska")
    data = made_up_users(network, 0)[:: 5 if quick else 1]
    people, options = len(data), {"arcs": network.arcs, "hops": 6, "escape": 6.0}
    free = Flow(people, float(people), **options)  # type: ignore[arg-type]
    largest = free.load_at(free.read(data), np.zeros(free.rows, dtype=np.int64)).max() / LOAD_UNIT
    supply = float(np.ceil(0.75 * largest))
    program = Flow(people, supply, **options)  # type: ignore[arg-type]
    best = best_of(program, data)
    cost = 6.0 * people - best
    rounds, burn_in = (60, 40) if quick else (300, 200)
    advance(progress, 1, 4)
    outcome: Any = PrivDude(program, 1.0, DELTA, rounds, burn_in).run(data, Noise.simulated(1))
    found, certain = outcome.diagnostics, outcome.certificate
    advance(progress, 2, 4)
    held = {}
    for step, tau in enumerate((1.0, 6.0), 3):
        still = quiet(Flow(people, supply, tau=tau, **options), data, rounds, burn_in)  # type: ignore[arg-type]
        held[tau] = (float(still.diagnostics["excess"].sum()), still.billboard)
        advance(progress, step, 4)
    worst = float(found["excess"].max()) / supply
    compared = (
        Compared(quantity="largest load without prices, of the capacity", published=None, ours=largest / supply,
                 agreement="not published"),
        Compared(quantity="least cost of all users", published=None, ours=cost, agreement="not published",
                 remark="" if quick else "10,226.72 in an independent reference run with other users"),
        Compared(quantity="cost off, of the least cost", published=None, ours=abs(best - found["value"]) / cost,
                 agreement="not published", remark="1.3% in the reference run, with all users"),
        bound("largest excess of a capacity; the certificate claims", worst,
              at_most=float(certain.excess.max()) / supply, remark="2.3% in the reference run, with all users",
              origin=OWN_CERTIFICATE),
        bound("excess without noise if tau = 1; the source: none in the end", held[1.0][0], at_most=0.01 * people,
              remark="335 users in the reference run: the printed tau is false for flows",
              origin=in_words("Wu 2017, Corollary 5.4.3, line 4506")),
        bound("excess without noise if tau is the escape's cost", held[6.0][0], at_most=0.01 * people,
              origin=OWN_COMPARISON))
    points = [(float(t), float(board.prices[t].max()) / PRICE_UNIT, f"tau = {tau:g}")
              for tau, (_, board) in held.items() for t in range(0, rounds + burn_in, max(1, (rounds + burn_in) // 50))]
    return Findings(compared=compared, blocks=(
        *curves(points, title="The highest price of an arc, without noise", x="round", y="price",
                alt="The highest price of an arc against rounds. With tau = 1 the price stays at 2. With tau = 6 the "
                    "price reaches the worth of the scarcest arc."),
        Table(columns=("users", "arcs", "capacity", "least cost", "cost of the run", "largest excess", "certified"),
              rows=((people, free.rows, supply, cost, 6.0 * people - found["value"], worst,
                     float(certain.excess.max()) / supply),),
              note=f"AdaGrad, T = {rounds} + {burn_in}, epsilon = 1, delta = 10^-6. Network: SNDlib 1.0 (Orlowski, "
                   "Wessaely, Pioro and Tomaszewski 2010), through topohub.")))


STUDY = Study(
    name="programs-network",
    title="Routes through a real network",
    source="Wu 2017, Corollary 5.4.3",
    statement="PrivDude with tau = 1 exceeds all capacities together by the order of m sqrt(L)/epsilon.",
    run=_run,
)
