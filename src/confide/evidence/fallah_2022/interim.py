"""Interim payments: the mean payment for a report over the other people's reports, which the person does not know.

Interim payments equal the ex-post payments in expectation. Under interim payments truth is only the best reply to other
people who are truthful as well, and a person can lose by taking part. Averages over draws have standard errors.
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
    """Means over draws of the other people's reports. The same draws are used for every report of the person.

    Args:
        reports: (k,) reports of one person.
        payments: (k,) mean payments t.
        standard_errors: (k,) standard errors of the payments.
        epsilon_local: (k,) mean local losses.
        epsilon_central: (k,) mean central losses.
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
        rule: virtual costs and prices.
        priors: one prior for everybody, or one for each person; the same priors as those of the rule's virtual costs.
        people: number n >= 2 of people.
        reports: (k,) reports of the person.
        person: position of the person.
        draws: number of draws of the other people's reports; with "qmc" a multiple of 16.
        seed: seed of the draws.
        method: "mc" for independent draws; "qmc" for 16 random shifts of Sobol points. With "qmc" the standard errors
            come from the means of the 16 shifts.

    Raises:
        InvalidInput: the arguments do not fit each other.

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
