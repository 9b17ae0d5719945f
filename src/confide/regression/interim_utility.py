"""Incentives of the mechanisms without privacy, exactly: what an answer is worth on average over everything unknown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise
from confide.regression.priors import Atoms
from confide.regression.truthful_regression import TruthfulRegression

__all__ = ["interim_utility"]

_PEOPLE = 12  # the enumeration takes 2^(people - 1) runs for each atom and report


def interim_utility(
    mechanism: TruthfulRegression, X: np.ndarray, index: int, y: float, split: np.ndarray | None = None
) -> Callable[[np.ndarray], np.ndarray]:
    """A player's expected payment as a function of her report, where everybody else is truthful, by enumeration.

    Every run of the mechanism is made up to her share: for each parameter, weighed by what her own record says of
    it, and for each combination of the others' residuals, each taken as plus or minus the noise's standard deviation.
    Payments are affine in the others' answers, so that these residuals give the exact mean under any law of mean zero.

    Args:
        mechanism: with a prior of finitely many points, and at most 12 people.
        X: (n, d) everybody's features.
        index: the player.
        y: what she knows.
        split: (n,) bool, the two groups, where the mechanism has them.

    Returns:
        (k,) reports to (k,) expected payments.

    Raises:
        InvalidInput: another prior, too many people, or an answer that she cannot have.
    """
    prior, n = mechanism.prior, mechanism.people
    if not isinstance(prior, Atoms):
        raise InvalidInput("prior", f"{type(prior).__name__} has no finite enumeration", "must be Atoms")
    if n > _PEOPLE:
        raise InvalidInput("people", f"{n} is too many to enumerate", f"must be at most {_PEOPLE}")
    rows, who = np.asarray(X, np.float64), whole("index", index)
    inner = prior.points @ rows[who]
    likelihood = prior.weights * np.exp(mechanism.noise.log_density(y - inner))
    if not likelihood.sum() > 0:
        raise InvalidInput("y", "cannot be under any of the points")
    fine = replace(mechanism, minor_units=10**12)
    spread = float(np.sqrt(mechanism.noise.variance))
    signs = [np.insert(np.array(each), who, 0.0) for each in product((-spread, spread), repeat=n - 1)]

    def utility(reports: np.ndarray) -> np.ndarray:
        total = np.zeros(len(reports))
        for chance, theta in zip(likelihood / likelihood.sum(), prior.points, strict=True):
            for residuals in signs if chance > 0 else ():
                answers = rows @ theta + residuals
                for k, report in enumerate(reports):
                    answers[who] = report
                    noise = Noise.simulated(0) if split is None else Noise.replayed({("split",): split})
                    billboard = fine.publish((rows, answers), noise)
                    paid = fine.decode((rows[who], report), who, billboard)["payment"]
                    total[k] += chance / len(signs) * paid / fine.minor_units
        return total

    return utility
