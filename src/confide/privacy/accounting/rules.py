"""Which calculator has a proved rule for which event: the table that the documentation prints, made from the rules."""

from __future__ import annotations

from confide.contract.presentation import Table
from confide.privacy.accounting.accountant import CALCULATORS
from confide.privacy.accounting.sums import KINDS

__all__ = ["MADE_BY", "matrix", "mechanisms"]

MADE_BY: dict[str, tuple[str, str]] = {
    "Laplace noise, continuous or discrete": ("PureEvent", "Wu 2017, Theorem 2.3.1"),
    "noisy maximum with Laplace noise": ("PureEvent", "only epsilon is proved"),
    "sparse vector, one arming": ("PureEvent", "one event up to each answer above the threshold"),
    "tree counter with Laplace noise": ("PureEvent", "spec allocation 2"),
    "exponential mechanism, one draw": ("BoundedRangeEvent", "Wu 2017, Theorem 2.3.3"),
    "randomised response over k categories": ("RandomizedResponseEvent", "its law is known"),
    "Gaussian noise, continuous; tree counter with it": ("GDPEvent", "exact trade-off; spec allocation 2"),
    "discrete Gaussian noise": ("ZCDPEvent", "rho = sensitivity^2/(2 sigma^2)"),
    "anything of which only (epsilon, delta) is known": ("ApproxEvent", "Wu 2017, Theorem 2.2.2"),
}
"""Mechanism -> its event, and why."""


def matrix() -> Table:
    """One row a calculator, one column an event; a cell names the rule that is proved, or says Unsupported.

    Example:
        >>> row = dict(zip(matrix().columns, matrix().rows[3], strict=True))
        >>> row["calculator"], row["BoundedRangeEvent"], row["ApproxEvent"]
        ('zcdp', 'rho = epsilon^2/8', 'Unsupported')
    """
    return Table(
        columns=("calculator", *(kind.__name__ for kind in KINDS), "source"),
        rows=tuple((name, *(each.RULES.get(kind, "Unsupported") for kind in KINDS), each.SOURCE)
                   for name, each in CALCULATORS.items()),
        note="Every rule is a proved upper bound for a list that was fixed beforehand. Repeated and Composed stand for "
             "the events within them.",
    )


def mechanisms() -> Table:
    """One row a mechanism: the event that a release by it carries."""
    return Table(columns=("mechanism", "event", "because"),
                 rows=tuple((mechanism, event, why) for mechanism, (event, why) in MADE_BY.items()))
