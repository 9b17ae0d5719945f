"""Interim payments: the mean payment for a person's report, averaged over the other people's reports, which the person
does not know.

The ex-post payments depend on everybody's reports, and interim payments are their means. Under interim payments, truth
is the best reply only if all other people are truthful, and a person can lose by taking part. The means are estimated
by drawing reports at random, and have standard errors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import qmc

from confide.acquisition.payments import PaymentRule
from confide.acquisition.priors import ConcernPrior
from confide.contract.checks import one_of, whole
from confide.contract.errors import InvalidInput
from confide.privacy.noise.simulated import study_generator

__all__ = ["InterimPayments", "interim_payments"]

_SHIFTS = 16


@dataclass(frozen=True, kw_only=True, eq=False)
class InterimPayments:
    """Payments and privacy losses for several possible reports of one person, as means over draws of the other people's
    reports. The same draws are used for every report of the person.

    Args:
        reports: (k,) possible reports of the person.
        payments: (k,) mean payments.
        standard_errors: (k,) standard errors of the mean payments.
        epsilon_local: (k,) mean privacy losses towards the platform.
        epsilon_central: (k,) mean privacy losses towards the public.
    """

    reports: NDArray[np.float64]
    payments: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    epsilon_local: NDArray[np.float64]
    epsilon_central: NDArray[np.float64]


def interim_payments(
    rule: PaymentRule,
    priors: ConcernPrior | Sequence[ConcernPrior],
    people: int,
    reports: ArrayLike,
    *,
    person: int = 0,
    draws: int = 256,
    seed: int = 0,
    method: Literal["mc", "qmc"] = "qmc",
) -> InterimPayments:
    """The payments for a person's reports, averaged over random reports of the other people.

    Args:
        rule: payment rule, with the virtual costs of reports and the prices of the error.
        priors: prior law of sensitivities, one for everybody or one for each person. The virtual costs of `rule` must
            come from the same priors.
        people: number n >= 2 of people.
        reports: (k,) possible reports of the person.
        person: index of the person, from 0 to people - 1.
        draws: number of draws of the other people's reports; a multiple of 16 with method "qmc".
        seed: seed of the draws.
        method: "mc" for independent draws; "qmc" for quasi-Monte Carlo with 16 random shifts of Sobol points. With
            "qmc" the standard errors come from the 16 means, one for each shift.

    Raises:
        InvalidInput: an argument is out of range, or the arguments do not fit each other.

    Example:
        >>> from confide.acquisition.priors import UniformPrior
        >>> rule = PaymentRule(UniformPrior().virtual_cost(), 10 / 12, 10.0)
        >>> found = interim_payments(rule, UniformPrior(), 2, [0.2, 0.8], draws=64)
        >>> bool(found.payments[0] > found.payments[1] > 0)
        True
    """
    count, who = whole("people", people, at_least=2), whole("person", person)
    laws = [priors] * count if isinstance(priors, ConcernPrior) else list(priors)
    one_of("method", method, ("mc", "qmc"))
    if len(laws) != count or who >= count:
        raise InvalidInput("people", f"are {count}, with {len(laws)} priors and person {who}", "must fit each other")
    replicates = _SHIFTS if method == "qmc" else whole("draws", draws, at_least=2)
    if whole("draws", draws, at_least=2) % replicates:
        raise InvalidInput("draws", f"are {draws}", f"must be a multiple of {_SHIFTS} for qmc")
    own = np.asarray(reports, dtype=np.float64).reshape(-1)
    points = _uniforms(replicates, draws // replicates, count - 1, seed, method)
    others = [law for k, law in enumerate(laws) if k != who]
    drawn = np.stack([law.quantile(points[..., k]) for k, law in enumerate(others)], axis=-1)
    found = np.zeros((replicates, own.size, 3))
    for replicate, some in zip(found, drawn, strict=True):
        for rest in some:
            for k, mine in enumerate(own.tolist()):
                replicate[k] += rule(np.insert(rest, who, mine), who)
    found /= draws // replicates
    mean = found.mean(axis=0)
    errors = found[..., 0].std(axis=0, ddof=1) / math.sqrt(replicates)
    return InterimPayments(reports=own, payments=mean[:, 0], standard_errors=errors, epsilon_local=mean[:, 1],
                           epsilon_central=mean[:, 2])


def _uniforms(replicates: int, size: int, dimension: int, seed: int, method: str) -> NDArray[np.float64]:
    """Random numbers in [0, 1), shape (replicates, size, dimension)."""
    generator = study_generator(seed, "interim")
    if method == "mc":
        return generator.random((replicates, size, dimension))
    start = qmc.Sobol(dimension, scramble=False).random_base2((size - 1).bit_length())[:size]
    return np.asarray((start + generator.random((replicates, 1, dimension))) % 1.0)
