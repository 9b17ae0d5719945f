"""The priors that examples, figures and claims are computed for."""

from __future__ import annotations

from confide.channels.priors import FullPrior, IndependentRows, as_law

__all__ = ["FIVE_STARS", "PAIR"]

PAIR = FullPrior([0.45, 0.05, 0.05, 0.45], letters=2, records=2)
"""Two bits that agree with probability .9 (spec privacy_notions 11)."""

FIVE_STARS = IndependentRows([as_law("prior", [0.2533, 0.1821, 0.1821, 0.1873, 0.1953], normalise=True)])
"""The law of a movie's ratings that Wang 2016 prints (L430), which sums to 1.0001, as one row: levels are those of any
number of rows, distortions per row.
"""
