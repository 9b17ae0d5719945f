"""Free attributes: attributes in no drawn query of a round, so that the best response does not determine their values.
A public rule sets these values.

The rule "zeros" is for sparse data, and the rule "random" for dense data. The choice between these rules must follow
from public knowledge, since a choice that depends on the data would leak information. The rule "marginals" draws each
bit from a noisy one-way marginal. The one-way marginals are measured once, before round 1, and the measurement is
charged. The randomness of "random" and "marginals" is public: it follows from a seed and the number of the round.

Source: Wu 2017, section 3.6; spec query_release D4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import positive, whole
from confide.contract.guarantees import Relation
from confide.contract.renamed import warn_of_old
from confide.privacy.events import ZCDPEvent
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.privacy.primitives.additive import add_discrete_gaussian

__all__ = [
    "FREE_BEFORE",
    "FREE_RULES",
    "MARGINALS",
    "FreeRule",
    "default_record",
    "free_attributes",
    "marginals_event",
    "marginals_noise_std",
    "noisy_marginals",
    "rule_today",
    "squared_marginals_sensitivity",
]

FreeRule = Literal["zeros", "random", "marginals"]

FREE_RULES: tuple[FreeRule, ...] = get_args(FreeRule)

FREE_BEFORE = {"random": "coins"}
"""Mapping from the current name of a rule to its former name, which files still use."""

_Groups = Sequence[NDArray[np.int32]]


MARGINALS = "one-way marginals"
"""Name of the entry in the privacy charge of a run that pays for the one-way marginals."""


def rule_today(rule: FreeRule) -> FreeRule:
    """The current name of a rule. A former name is accepted with a warning.

    Args:
        rule: current or former name of a rule.
    """
    for today, old in FREE_BEFORE.items():
        if rule == old:
            warn_of_old("free", old, today)
            return cast("FreeRule", today)
    return rule


def squared_marginals_sensitivity(attributes: int, groups: int = 0, grouped: int = 0) -> int:
    """The squared L2 sensitivity of all one-way counts together to the replacement of one record.

    The replacement of one record changes the count of each attribute outside the one-hot groups by at most 1. In each
    one-hot group the replacement changes at most two counts by 1.

    Args:
        attributes: number of attributes, d.
        groups: number of one-hot groups of the data.
        grouped: number of attributes that are in a one-hot group.

    Example:
        >>> squared_marginals_sensitivity(10), squared_marginals_sensitivity(235, groups=15, grouped=235)
        (10, 30)
    """
    return whole("attributes", attributes, at_least=1) - grouped + 2 * groups


def marginals_noise_std(rho: float, attributes: int, groups: int = 0, grouped: int = 0) -> float:
    """The standard deviation of the noise, in records, for measuring all one-way counts at a cost of rho, rounded up.

    Args:
        rho: zCDP cost, > 0.
        attributes: number of attributes, d.
        groups: number of one-hot groups of the data.
        grouped: number of attributes that are in a one-hot group.

    Example:
        >>> round(marginals_noise_std(0.01, 235, groups=15, grouped=235), 3)
        38.73
    """
    target = Fraction(squared_marginals_sensitivity(attributes, groups, grouped)) / (2 * Fraction(positive("rho", rho)))
    noise_std = math.sqrt(float(target))
    while Fraction(noise_std) ** 2 < target:
        noise_std = math.nextafter(noise_std, math.inf)
    return noise_std


def marginals_event(rho: float) -> ZCDPEvent:
    """The privacy event of the measurement of the one-way marginals."""
    return ZCDPEvent(rho=rho, neighbours=Relation.REPLACE, label=MARGINALS)


def noisy_marginals(
    counts: NDArray[np.int64], noise_std: float, squared_l2_sensitivity: int, noise: Noise
) -> NDArray[np.int64]:
    """One-way counts with discrete Gaussian noise, (d,).

    Args:
        counts: number of records that have each attribute, (d,), private.
        noise_std: standard deviation of the noise, from `marginals_noise_std`.
        squared_l2_sensitivity: squared sensitivity of the counts, from `squared_marginals_sensitivity`.
        noise: source of the random draws, such as `Noise.secure()`.
    """
    return add_discrete_gaussian(noise, counts, noise_std=noise_std, l2_sensitivity_squared=squared_l2_sensitivity,
                                 stream=("marginals",), line=MARGINALS)


def default_record(
    rule: FreeRule, attributes: int, *, seed: int, t: int, groups: _Groups = (),
    marginals: NDArray[np.int64] | None = None, records: int = 1,
) -> NDArray[np.bool_]:
    """The default record of a round of DualQuery, from which the free attributes take their values. The record depends
    on public values only.

    Args:
        rule: "zeros", "random" or "marginals".
        attributes: number of attributes, d.
        seed: public seed of the pseudorandom numbers.
        t: number of the round, from 1. Each round has its own public randomness.
        groups: one-hot groups of the records, without the attributes that no record can have. In the default record
            exactly one attribute of each group is on: the first attribute with "zeros", a uniformly drawn attribute
            with "random", and an attribute drawn in proportion to its noisy count with "marginals".
        marginals: (d,) noisy number of records with each attribute, for the rule "marginals".
        records: number of records of the data, for the rule "marginals".

    Returns:
        The record, bool (d,).

    Example:
        >>> default_record("marginals", 3, seed=1, t=1, marginals=np.array([-4, 1000, 2]), records=1000).tolist()
        [False, True, False]
    """
    record = np.zeros(attributes, dtype=np.bool_)
    if rule == "zeros":
        for members in groups:
            record[members[0]] = True
        return record
    drawn = study_generator(seed, "free attributes", t).random(attributes)
    shares = np.full(attributes, 0.5) if marginals is None else np.clip(marginals / records, 0.0, 1.0)
    record = drawn < shares
    for members in groups:
        weights = shares[members]
        if not weights.any():
            weights = np.ones(len(members))
        ends = np.cumsum(weights)
        place = drawn[members[0]] * ends[-1]
        record[members] = False
        record[members[min(int(np.searchsorted(ends, place, side="right")), len(members) - 1)]] = True
    return record


def free_attributes(active: NDArray[np.int64], attributes: int, groups: _Groups = ()) -> NDArray[np.bool_]:
    """Whether each attribute is free, bool (d,). An attribute is free if neither the attribute itself nor another
    attribute of its one-hot group is in a sampled query.

    Args:
        active: attributes that are in some sampled query.
        attributes: number of attributes, d.
        groups: one-hot groups of the records.

    Example:
        >>> free_attributes(np.array([1]), 4, (np.array([0, 1], np.int32),)).tolist()
        [False, False, True, True]
    """
    free = np.ones(attributes, dtype=np.bool_)
    free[active] = False
    for members in groups:
        if not free[members].all():
            free[members] = False
    return free
