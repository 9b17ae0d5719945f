"""Runs inside mbi's own environment: DATA.npz OUT.npz METHOD RHO SEED LARGEST_MB; what it took as JSON.

mbi estimates models from noisy marginals; which marginals are measured is the driver's choice. Two published drivers:
MWEM+PGM (McKenna, Miklau and Sheldon 2021, "Winning the NIST contest") picks one pair or triple a round, as many rounds
as columns; AIM (McKenna, Mullins, Sheldon and Miklau 2022) anneals its noise, starts with every column, and stops when
its budget is used. Noise is for one replaced record: a table has sensitivity sqrt 2, the score sensitivity 2.
"""

from __future__ import annotations

import itertools
import json
import math
import resource
import sys
import time
import warnings
from collections.abc import Sequence
from typing import Any

warnings.simplefilter("ignore")

import jax  # noqa: E402
import numpy as np  # noqa: E402

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_enable_compilation_cache", False)

from mbi import Dataset, Domain, LinearMeasurement, estimation, junction_tree  # noqa: E402

WIDTHS = (2, 3)
MOST_CELLS = 20_000
STEPS, FINAL = 300, 2000
"""Steps of the fit of a round, from the last round's model, and of the last one."""

Columns = tuple[str, ...]


class Driver:
    """A table, its candidates, and what was measured so far."""

    def __init__(self, data: Any, largest_mb: float, random: np.random.Generator) -> None:
        self.data, self.random, self.largest_mb = data, random, largest_mb
        self.domain, self.n = data.domain, data.records
        names = self.domain.attributes
        self.candidates = [pick for width in WIDTHS for pick in itertools.combinations(names, width)
                           if self.domain.size(pick) <= MOST_CELLS]
        self.measurements: list[Any] = []
        self.model: Any = None
        self.rows: Any = None

    def table(self, data: Any, columns: Columns) -> np.ndarray:
        place = np.ravel_multi_index([data.data[name] for name in columns], self.domain.project(columns).shape)
        return np.bincount(place, minlength=self.domain.size(columns)).astype(np.float64)

    def truth(self, columns: Columns) -> np.ndarray:
        return self.table(self.data, columns)

    def measure(self, columns: Columns, sigma: float) -> None:
        noisy = self.truth(columns) + self.random.normal(0.0, sigma, self.domain.size(columns))
        self.measurements.append(LinearMeasurement(noisy, columns, stddev=sigma))

    def fit(self, steps: int = STEPS) -> None:
        self.model = estimation.MirrorDescent().estimate(
            self.domain, self.measurements, known_total=float(self.n), iters=steps, warm_start=self.model)
        self.rows = self.model.synthetic_data(rows=self.n)

    def fitted(self, columns: Columns) -> np.ndarray:
        """A table of the model, from as many rounded rows as there are records: the model itself would compile a
        program for every candidate."""
        return self.table(self.rows, columns)

    def small_enough(self, columns: Columns, share: float) -> bool:
        measured = [each.clique for each in self.measurements]
        return bool(junction_tree.hypothetical_model_size(self.domain, [*measured, columns]) <= self.largest_mb * share)

    def distance(self, columns: Columns) -> float:
        return float(np.abs(self.truth(columns) - self.fitted(columns)).sum())

    def select(self, scores: Sequence[float], epsilon: float) -> int:
        """One draw of the exponential mechanism; a score moves by at most 2."""
        logits = epsilon / 4.0 * np.array(scores)
        weights = np.exp(logits - logits.max())
        return int(self.random.choice(len(scores), p=weights / weights.sum()))


def mwem(driver: Driver, rho: float) -> None:
    """A tenth for the columns, a tenth for selections, the rest for one table a round."""
    names = driver.domain.attributes
    rounds = len(names)
    for name in names:
        driver.measure((name,), math.sqrt(len(names) / (0.1 * rho)))
    driver.fit()
    sigma, epsilon = math.sqrt(rounds / (0.8 * rho)), math.sqrt(8.0 * 0.1 * rho / rounds)
    for done in range(1, rounds + 1):
        left = [each for each in driver.candidates if driver.small_enough(each, done / rounds)]
        bias = math.sqrt(2.0 / math.pi) * sigma
        scores = [driver.distance(each) - bias * driver.domain.size(each) for each in left]
        driver.measure(left[driver.select(scores, epsilon)], sigma)
        driver.fit()


def aim(driver: Driver, rho: float) -> None:
    """Rounds of annealed noise until the budget is used."""
    names = driver.domain.attributes
    rounds, alpha = 16 * len(names), 0.9
    sigma, epsilon = math.sqrt(rounds / (alpha * rho)), math.sqrt(8.0 * (1.0 - alpha) * rho / rounds)
    used = 0.0
    for name in names:
        driver.measure((name,), sigma)
        used += 1.0 / sigma**2
    driver.fit()
    # The weight of a candidate: how many columns it shares with the workload's tables, which are all triples.
    weights = {each: sum(len(set(each) & set(other)) for other in driver.candidates) for each in driver.candidates}
    most = max(weights.values())
    last = False
    while not last:
        left = rho - used
        if left < 2.0 * (1.0 / sigma**2 + epsilon**2 / 8.0):
            last = True
            sigma, epsilon = math.sqrt(1.0 / (0.9 * left)), math.sqrt(8.0 * 0.1 * left)
        used += 1.0 / sigma**2 + epsilon**2 / 8.0
        some = [each for each in driver.candidates if driver.small_enough(each, used / rho)]
        bias = math.sqrt(2.0 / math.pi) * sigma
        scores = [weights[each] / most * (driver.distance(each) - bias * driver.domain.size(each)) for each in some]
        chosen = some[driver.select(scores, epsilon)]
        before = driver.fitted(chosen)
        driver.measure(chosen, sigma)
        driver.fit()
        after = driver.fitted(chosen)
        if np.abs(after - before).sum() <= bias * driver.domain.size(chosen):
            sigma, epsilon = sigma / 2.0, 2.0 * epsilon


def main() -> None:
    source, target, method, rho, seed, largest_mb = sys.argv[1:]
    stored = np.load(source)
    names = [f"c{k}" for k in range(len(stored["sizes"]))]
    domain = Domain(names, [int(size) for size in stored["sizes"]])
    data = Dataset({name: stored["cells"][:, k].astype(np.int64) for k, name in enumerate(names)}, domain)
    np.random.seed(int(seed))  # mbi draws its synthetic rows from numpy's own stream
    driver = Driver(data, float(largest_mb), np.random.default_rng(int(seed)))
    start = time.perf_counter()
    {"mwem": mwem, "aim": aim}[method](driver, float(rho))
    driver.fit(FINAL)
    rows = driver.model.synthetic_data(rows=driver.n)
    seconds = time.perf_counter() - start
    np.savez(target, cells=np.stack([np.asarray(rows.data[name]) for name in names], axis=1).astype(np.uint16))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    print(json.dumps({"seconds": seconds, "peak_mb": peak, "tables": len(driver.measurements) - len(names)}))


if __name__ == "__main__":
    main()
