"""Makes outcomes of mechanisms as printed, in words that only commit 9376621e wrote of them.

The folder `printed_by_9376621e` was made by that commit on its own code and environment, and is never made again::

    BASE/.venv/bin/python tests/golden/make_printed.py

No campaign file can ask for them: they were saved from Python, with `Outcome.save`. All people are made up, and the
custodian's bits are drawn with a fixed seed; the noise of released outcomes is secure, so a second run gives others.

========================  ============================================================================================
`regression_released`     `PrivateTruthfulRegression(mode="paper")` where the printed noise suffices, with its release
`regression_simulated`    the same where it hides less than it says: simulated noise, with shares
`dual_query_literal`      `DualQuery(literal=True)`
`dual_query_program`      `DualQuery(oracle=IntegerProgram(form="printed"))`
`dual_query_parities`     both at once, of parities, with `IntegerProgram(form="printed", literal=True)`
`found.json`              what 9376621e said of each: its shares, and of which parts it promised which loss
========================  ============================================================================================
"""

from __future__ import annotations

import json
import shutil
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from confide import Outcome, SimulatedOutcome
from confide.privacy import Noise
from confide.regression import (
    Behaviour,
    ParetoCosts,
    Payment,
    PrivateTruthfulRegression,
    RidgeRelease,
    ScoringRule,
    Setting,
    UniformBall,
    UniformNoise,
)
from confide.release import DualQuery, IntegerProgram, Workload

FOLDER = Path(__file__).with_name("printed_by_9376621e")


def regression(ridge: float) -> PrivateTruthfulRegression:
    """Algorithm 2 as printed, of 12 people with 2 features."""
    return PrivateTruthfulRegression(
        setting=Setting(people=12, features=2, prior=UniformBall(dimension=2, radius=1.0),
                        noise=UniformNoise(bound=1.0)),
        payment=Payment(epsilon=1.0, ridge=ridge, rule=ScoringRule(1.0, 2.0), minor_units=100),
        release=RidgeRelease(epsilon=1.0, ridge=ridge),
        behaviour=Behaviour(costs=ParetoCosts(exponent=4.0), misreports=0.01, failure=1e-3), mode="paper")


def of_people() -> tuple[np.ndarray, np.ndarray]:
    """(features, answers) of 12 made-up people."""
    angles = 2 * np.pi * np.arange(12) / 12
    features = 0.9 * np.column_stack([np.cos(angles), np.sin(angles)])
    return features, features @ [0.5, -0.5] + 0.1 * np.cos(3 * angles)


def outcomes() -> dict[str, Any]:
    """Name -> outcome."""
    bits = np.random.default_rng(1).random((200, 6)) < 0.4
    queries = Workload.random(6, 30, seed=2)
    parities = Workload.parities(list(combinations(range(6), 3)), attributes=6)
    game = {"n": 200, "eta": 0.5, "rounds": 5, "samples": 8, "delta": 1e-6}
    program = IntegerProgram(form="printed", time_limit=60.0)
    misprinted = IntegerProgram(form="printed", literal=True, search=None, time_limit=60.0)
    return {
        "regression_released": regression(200.0).run(of_people(), Noise.secure()),
        "regression_simulated": regression(1.0).run(of_people(), Noise.simulated(1)),
        "dual_query_literal": DualQuery(workload=queries, literal=True, **game).run(bits, Noise.secure()),
        "dual_query_program": DualQuery(workload=queries, oracle=program, **game).run(bits, Noise.secure()),
        "dual_query_parities": DualQuery(workload=parities, oracle=misprinted, literal=True, **game).run(
            bits, Noise.secure()),
    }


def said(outcome: Any) -> dict[str, Any]:
    """What must stay, beside what its files hold."""
    return {"shares": outcome.shares.to_pylist(), "release_safe": outcome.release_safe,
            "losses": [f"{type(each.loss).__name__} {each.part}" for each in outcome.guarantees
                       if type(each).__name__ == "Privacy" and each.claimable]}


if __name__ == "__main__":
    shutil.rmtree(FOLDER, ignore_errors=True)
    found = {}
    for name, outcome in outcomes().items():
        outcome.save(FOLDER / name)
        found[name] = said((Outcome if outcome.release_safe else SimulatedOutcome).load(FOLDER / name))
    (FOLDER / "found.json").write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
