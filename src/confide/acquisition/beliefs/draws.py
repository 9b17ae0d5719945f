"""Made-up reports, drawn from the public priors: the same for the same seed, so that designs are compared on one draw.

They stand for reports that nobody has made yet; no real report is ever among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from confide.acquisition.beliefs.priors import ConcernPrior
from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.privacy.noise.simulated import study_generator

__all__ = ["Drawn", "prior_draws"]

Drawn = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Reports and their virtual costs, (people,) each."""


def prior_draws(
    prior: ConcernPrior | Sequence[ConcernPrior], people: int, draws: int, seed: int, *, psi_floor: float = 0.0,
    stream: str = "reports",
) -> Iterator[Drawn]:
    """Profiles of reports, each person's from her prior.

    Args:
        prior: of everybody, or one for each.
        people: how many report, at least 1.
        draws: how many profiles, at least 1.
        seed: of the draw.
        psi_floor: least virtual cost; what lies below is raised to it.
        stream: another name gives other profiles for the same seed.

    Raises:
        InvalidInput: something is out of range, or there are not as many priors as people.

    Example:
        >>> from confide.acquisition.beliefs.priors import UniformPrior
        >>> reports, virtual_costs = next(prior_draws(UniformPrior(), 3, 1, seed=7))
        >>> bool((virtual_costs == 2 * reports).all())
        True
    """
    size = whole("people", people, at_least=1)
    count = whole("draws", draws, at_least=1)
    priors = list(prior) if isinstance(prior, Sequence) else [prior]
    if len(priors) not in {1, size}:
        raise InvalidInput("prior", f"{len(priors)} priors for {size} people", "give one for all, or one each")
    rules = [each.virtual_cost().floored(psi_floor) if psi_floor > 0 else each.virtual_cost() for each in priors]

    def profiles() -> Iterator[Drawn]:
        for k in range(count):
            uniforms = study_generator(seed, stream, k).random(size)
            if len(priors) == 1:
                reports = np.asarray(priors[0].quantile(uniforms), dtype=np.float64)
                yield reports, np.asarray(rules[0](reports), dtype=np.float64)
            else:
                reports = np.array([float(each.quantile(u)) for each, u in zip(priors, uniforms, strict=True)])
                yield reports, np.array([float(rule(c)) for rule, c in zip(rules, reports, strict=True)])

    return profiles()
