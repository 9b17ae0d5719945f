"""A process of its own: many features, rows made in blocks and never held: `python -m benchmarks.wide PEOPLE FEATURES`.

It times the exact moments of both groups; with --whole the mechanism's own run instead, secure noise and payments
included. Says how much memory that took.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator

import numpy as np

from benchmarks.memory import peak_mb
from confide.privacy.noise import Noise
from confide.regression import (
    Behaviour,
    ParetoCosts,
    PaymentScheme,
    PrivateTruthfulRegression,
    RidgeRelease,
    ScoringRule,
    Setting,
    UniformBall,
    UniformNoise,
)
from confide.regression.records import Batch, as_batches, moments

BLOCK, BLOCKS = 2048, 8
"""Rows of a block, and how many different ones there are: they take turns, so that making them takes no time."""


class Rows:
    """People with unit rows in random directions and answers linear in the first feature, block by block."""

    def __init__(self, people: int, features: int) -> None:
        self.people = people
        rng = np.random.default_rng(20)
        self.blocks = []
        for _ in range(min(BLOCKS, -(-people // BLOCK))):
            X = rng.standard_normal((BLOCK, features))
            X /= np.linalg.norm(X, axis=1)[:, None]
            self.blocks.append((X, 0.8 * X[:, 0] + rng.uniform(-0.5, 0.5, BLOCK)))

    def __iter__(self) -> Iterator[Batch]:
        for number, start in enumerate(range(0, self.people, BLOCK)):
            X, y = self.blocks[number % len(self.blocks)]
            rows = min(BLOCK, self.people - start)
            yield Batch(np.arange(start, start + rows), X[:rows], y[:rows])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("people", type=int)
    parser.add_argument("features", type=int)
    parser.add_argument("--whole", action="store_true")
    wanted = parser.parse_args()
    n, d = wanted.people, wanted.features
    setting = Setting(people=n, features=d, prior=UniformBall(dimension=d, radius=1.0), noise=UniformNoise(bound=0.5))
    data = Rows(n, d)
    start = time.perf_counter()
    if wanted.whole:
        mechanism = PrivateTruthfulRegression(
            setting=setting, payment=PaymentScheme(epsilon=1.0, ridge=float(np.sqrt(n)), rule=ScoringRule(1.0, 1.0)),
            release=RidgeRelease(epsilon=1.0, ridge=float(np.sqrt(n))),
            behaviour=Behaviour(costs=ParetoCosts(exponent=4.0), misreports=0.001, failure_probability=1e-3),
        )
        mechanism.run(data, Noise.secure())
    else:
        split = Noise.simulated(0).split(n, stream=("split",))
        moments(as_batches(data, d), setting.record_map, split, d)
    json.dump({"seconds": time.perf_counter() - start, "peak_mb": peak_mb()}, sys.stdout)


if __name__ == "__main__":
    main()
