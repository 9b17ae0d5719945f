"""The mechanism with the least level at a distortion, where a formula knows it: the one to release from."""

from __future__ import annotations

import math

import numpy as np

from confide.channels.channel import RowProduct
from confide.channels.closed_forms import Optimised, closed_form
from confide.channels.constants import PriorConstants
from confide.channels.infeasible import Infeasible
from confide.channels.kernel_mechanism import KernelMechanism
from confide.channels.kernels import h_inverse
from confide.channels.mechanism import ChannelMechanism, PriorProvenance
from confide.channels.priors import IndependentRows, Prior
from confide.channels.response import RandomizedResponse
from confide.channels.row_mechanisms import TopK, WaterFilling
from confide.channels.table_mechanism import TableMechanism
from confide.contract.checks import positive
from confide.contract.errors import Unsupported

__all__ = ["best_mechanism"]


def best_mechanism(
    notion: Optimised, prior: Prior, distortion: float, *, prior_provenance: PriorProvenance | None = None
) -> ChannelMechanism:
    """The most private release that changes so many rows on average.

    Args:
        notion: "dp", "identifiability" or "mutual_information": in which notion.
        prior: public, of all rows.
        distortion: expected number of changed rows, in (0, n].
        prior_provenance: where the prior is from, "public" or "released privately"; needed for secure noise.

    Returns:
        Top-k or water-filling for independent rows, randomised response or the kernel mechanism for others; a constant
        where that changes no more rows.

    Raises:
        InvalidInput: a parameter out of range.
        Infeasible: identifiability, under a prior with impossible databases.
        Unsupported: no formula is known at this distortion for this prior.

    Example:
        >>> it = best_mechanism("dp", IndependentRows([[0.6, 0.3, 0.1]], [1000]), 300.0)
        >>> type(it).__name__, round(it.dp(), 4), round(it.levels().distortion, 4)
        ('TopK', 1.2528, 300.0)
    """
    distortion = positive("distortion", distortion, at_most=float(prior.rows))
    constants = PriorConstants.of(prior)
    level = closed_form(notion, prior, distortion, constants)
    if level is None:
        raise Unsupported("distortion", f"{distortion:g}, where no formula is known for this prior,",
                          "release from a solver's channel by TableMechanism, or change fewer rows")
    if math.isinf(level):
        raise Infeasible("distortion", distortion, math.inf, "as some database is impossible under the prior")
    if isinstance(prior, IndependentRows):
        if notion == "dp":
            return TopK(prior=prior, epsilon=level, prior_provenance=prior_provenance)
        if notion == "identifiability":
            return WaterFilling(prior=prior, identifiability=level, prior_provenance=prior_provenance)
        return WaterFilling(prior=prior, distortion=distortion, prior_provenance=prior_provenance)
    if notion != "identifiability" and level == 0.0:
        return TableMechanism(table=_constant(prior), prior=prior, prior_provenance=prior_provenance)
    found = h_inverse(distortion, prior.letters, prior.rows)
    if notion == "dp":
        return RandomizedResponse(epsilon=found, letters=prior.letters, rows=prior.rows)
    return KernelMechanism(prior=prior, epsilon=max(found, constants.kernel_level), prior_provenance=prior_provenance)


def _constant(prior: Prior) -> RowProduct:
    """Every row becomes its likeliest letter, whatever it was."""
    laws, counts = prior.marginals()
    tables = np.zeros((len(laws), prior.letters, prior.letters))
    tables[np.arange(len(laws)), :, laws.argmax(axis=1)] = 1.0
    return RowProduct(list(tables), np.repeat(np.arange(len(laws)), counts))
