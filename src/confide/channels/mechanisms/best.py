"""The mechanism with the least privacy level at a distortion, from a formula or from a solver."""

from __future__ import annotations

import math

import numpy as np

from confide.channels.channel import FiniteChannel, JointTypeChannel, RowProduct
from confide.channels.constants import PriorConstants
from confide.channels.kernels import h_inverse
from confide.channels.mechanisms.base import ChannelMechanism, PriorProvenance
from confide.channels.mechanisms.kernel_mechanism import KernelMechanism
from confide.channels.mechanisms.randomized_response import RandomizedResponse
from confide.channels.mechanisms.row_mechanisms import TopK, WaterFilling
from confide.channels.mechanisms.table_mechanism import JointTypeMechanism, TableMechanism
from confide.channels.notions import Notion
from confide.channels.priors import LARGEST_FULL, Exchangeable, IndependentRows, Prior

__all__ = ["constant_channel", "formula_mechanism", "table_mechanism"]


def formula_mechanism(
    notion: Notion, prior: Prior, distortion: float, level: float, constants: PriorConstants,
    provenance: PriorProvenance | None,
) -> ChannelMechanism | None:
    """The best mechanism at a distortion, according to a formula. The mechanism is top-k or water-filling for
    independent rows, and randomised response or the kernel mechanism for other rows. If a constant release has at most
    this distortion, the mechanism is constant. If no row may be changed, the mechanism is the identity. The function
    returns None if there are too many rows.

    Args:
        notion: notion of privacy in which the mechanism is best.
        prior: prior of all rows.
        distortion: largest expected number of rows that the mechanism may change, in [0, n].
        level: least level at the given distortion, in nats.
        constants: constants of the prior.
        provenance: source of the prior.
    """
    if distortion == 0:
        return RandomizedResponse(epsilon=math.inf, letters=prior.letters, records=prior.records, prior=prior)
    if isinstance(prior, IndependentRows):
        if notion == "dp":
            return TopK(prior=prior, epsilon=level, prior_provenance=provenance)
        if notion == "identifiability":
            return WaterFilling(prior=prior, identifiability=level, prior_provenance=provenance)
        return WaterFilling(prior=prior, distortion=distortion, prior_provenance=provenance)
    if notion != "identifiability" and level == 0.0:
        return table_mechanism(constant_channel(prior), prior, provenance)
    if notion == "dp":  # at the level itself: from the distortion it would come back an ulp above
        return RandomizedResponse(epsilon=level, letters=prior.letters, records=prior.records, prior=prior)
    found = level if notion == "identifiability" else h_inverse(distortion, prior.letters, prior.records)
    return KernelMechanism(prior=prior, epsilon=max(found, constants.kernel_level), prior_provenance=provenance)


def table_mechanism(
    channel: FiniteChannel | None, prior: Prior, provenance: PriorProvenance | None, *, dp: float | None = None,
    identifiability: float | None = None,
) -> ChannelMechanism | None:
    """A mechanism in whole numbers from the channel that a solver found, with at most the level for which the solver
    was called; None if there is no channel.

    Args:
        channel: channel that the solver found; None if it found no channel.
        prior: prior for which the channel was solved.
        provenance: source of the prior.
        dp: limit of the mechanism's differential privacy, in nats; None for no limit.
        identifiability: limit of the mechanism's identifiability under the prior, in nats; None for no limit.
    """
    if channel is None:
        return None
    if isinstance(channel, JointTypeChannel) and isinstance(prior, Exchangeable):
        return JointTypeMechanism(types=channel, prior=prior, dp_at_most=dp, identifiability_at_most=identifiability,
                                  prior_provenance=provenance)
    if isinstance(channel, RowProduct):
        identifiability = None  # follows from the tables' differential privacy; a table of all rows may not fit
    return TableMechanism(table=channel, prior=prior, dp_at_most=dp, identifiability_at_most=identifiability,
                          prior_provenance=provenance)


def constant_channel(prior: Prior) -> RowProduct | None:
    """Channel that always releases the likeliest letter of each row; None if there are too many rows."""
    if prior.records > LARGEST_FULL:
        return None
    laws, counts = prior.marginals()
    tables = np.zeros((len(laws), prior.letters, prior.letters))
    tables[np.arange(len(laws)), :, laws.argmax(axis=1)] = 1.0
    which = prior.law_of_row() if isinstance(prior, IndependentRows) else np.repeat(np.arange(len(laws)), counts)
    return RowProduct(list(tables), which)
