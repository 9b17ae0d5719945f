"""The settings of the published runs, Figures 1 to 3.

Source: Wu 2017, section 3.7; spec query_release F.
"""

from __future__ import annotations

from confide.contract.checks import one_of
from confide.evidence.wu_2017.query_release.stand_ins import ADULT, KDD99, NETFLIX
from confide.release.calculators import Calculator, solve

__all__ = ["DELTA", "EPSILONS", "FIGURE_1", "FIGURE_2", "FIGURE_3", "FIGURE_3_ETA", "FIGURE_3_RECORDS", "rounds_of"]

EPSILONS = (0.25, 0.5, 1.0, 2.0, 5.0)
DELTA = 1e-3

FIGURE_1 = {"Adult": (ADULT.records, 2.0, 1000), "KDD99": (KDD99.records, 2.0, 1000),
            "Netflix": (NETFLIX.records, 2.0, 5000)}
"""Records, step size and samples of the runs of Figure 1; their rounds follow from epsilon."""

FIGURE_2 = (KDD99.records, 1.2, 170, 1750)
"""Records, step size, rounds and samples of the runs of Figure 2."""

FIGURE_3 = {50: 200, 250: 400, 500: 1000, 1000: 2000, 2000: 3000, 4000: 4000, 8000: 5500, 16_000: 7000, 32_000: 9000,
            64_000: 14_000, 128_000: 25_000, 512_000: 50_000}
"""Attributes -> samples. The text gives the first and the last number, the authors' public prototype those between."""

FIGURE_3_ETA = 0.4
FIGURE_3_RECORDS = 100_000
"""n is not in the text; this is the prototype's."""


def rounds_of(run: str, epsilon: float, calculator: Calculator = "theorem-3.4.2") -> int:
    """T of a run of Figure 1: the most that (epsilon, .001) pays for.

    Args:
        run: "Adult", "KDD99" or "Netflix".
        epsilon: in nats.
        calculator: which proof adds the draws up; the text names Theorem 3.4.2.

    Raises:
        InvalidInput: no such run.

    Example:
        >>> rounds_of("Adult", 1.0), rounds_of("KDD99", 1.0), rounds_of("Netflix", 1.0)
        (16, 99, 57)
    """
    n, eta, samples = FIGURE_1[one_of("run", run, tuple(FIGURE_1))]
    return solve(n, epsilon, DELTA, eta=eta, samples=samples, calculator=calculator).rounds
