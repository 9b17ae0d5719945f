"""A campaign that is small enough for tests and large enough to be accepted: 2,000 synthetic people, large epsilons."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from confide.regression import RegressionPlan, plan
from confide.regression.costs import ParetoCosts
from confide.regression.priors import TruncatedGaussianNoise

TEXT = """\
format = 1
kind = "regression"
title = "What do age and sex say about pay?"

[budget]
data_set = "pay survey"
epsilon = 7.0

[people]
count = 2000
id = "id"

[data]
source = "answers.csv"

[response]
column = "pay"
lower = 0
upper = 80
center = 40
unit = "euro"

[[features]]
column = "age"
lower = 20
upper = 60
unit = "year"

[[features]]
column = "sex"
levels = ["female", "male"]

[model]
parameter_bound = 0.6
noise_bound = 0.4
noise = "truncated gaussian"
noise_std = 0.08
radius = 1.0
smallest_eigenvalue = 0.066
largest_eigenvalue = 0.5
spectrum_tolerance = 0.4

[privacy]
epsilon_release = 4.0
epsilon_payment = 2.0

[payment]
currency = "EUR"
truth_radius = 0.4
clip = 12

[costs]
scale = 0.001
misreports = 0.0005
failure_probability = 0.01
"""

HEADER = "id,age,sex,pay"


def rows() -> list[str]:
    """One line per person; id i stands in the i-th line."""
    return list(_rows())


@cache
def _rows() -> tuple[str, ...]:
    count = 2000
    random = np.random.default_rng(5)
    age = random.uniform(20, 60, count).round(1)
    male = random.random(count) < 0.5
    pay = 40 + 0.5 * (age - 40) + 4 * male + random.uniform(-6, 6, count)
    return tuple(f"{i + 1},{age[i]},{'male' if male[i] else 'female'},{pay[i]:.2f}" for i in range(count))


def write(folder: Path, *edits: tuple[str, str], lines: list[str] | None = None, name: str = "pay") -> Path:
    """Write the campaign file and its answers.

    Args:
        folder: where.
        edits: pieces of the text and what stands in their place.
        lines: the rows of the answers; default all 2,000.
        name: of the campaign file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    text = TEXT
    for old, new in edits:
        if old not in text:
            raise ValueError(f"{old!r} does not stand in the campaign")
        text = text.replace(old, new, 1)
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    body = rows() if lines is None else lines
    (folder / "answers.csv").write_text("\n".join([HEADER, *body]) + "\n", encoding="utf-8")
    return path


def tiny(people: int = 400, release: str = "auto") -> RegressionPlan:
    """A plan for a run of a few milliseconds."""
    return plan(
        people=people, features=2, parameter_bound=0.6, noise=TruncatedGaussianNoise(noise_std=0.05, bound=0.4),
        epsilon_release=20.0, epsilon_payment=10.0, radius=1.0, response_bound=1.0, smallest_eigenvalue=0.2,
        largest_eigenvalue=0.5, spectrum_tolerance=0.5, truth_radius=0.8, misreports=1 / people,
        failure_probability=0.01, costs=ParetoCosts(exponent=4.0, scale=1e-4), clip=12.0, release=release,
    )


def records(people: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """(X, y) for `tiny`."""
    random = np.random.default_rng(11)
    X = random.uniform(-0.7, 0.7, (people, 2))
    return X, X @ [0.4, -0.2] + random.uniform(-0.05, 0.05, people)


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
