"""What the audits compare with: the losses that can be promised, and when a measured number is above a promised one."""

from __future__ import annotations

from confide.privacy.losses import GDP, ZCDP, ApproxDP, PureDP, RenyiDP

__all__ = ["ABSOLUTE", "RELATIVE", "Loss", "exceeds", "promised_parameter"]

Loss = PureDP | ApproxDP | ZCDP | GDP | RenyiDP
"""Every privacy loss that an audit can hold against what it measures."""

RELATIVE = 1e-9
"""A measured number may be above the promised one by this part of it: the rounding of its computation."""

ABSOLUTE = 1e-12
"""... and by this much, in nats or the like, so that a promise of zero can be kept by doubles."""


def exceeds(measured: float, promised: float, *, scale: float = 1.0) -> bool:
    """Whether a measured number is above a promised bound, beyond rounding.

    Args:
        measured: what was found.
        promised: the bound.
        scale: size of the numbers that `measured` is a difference of; 1 for losses in nats.

    Returns:
        measured > promised + 1e-9 |promised| + 1e-12 scale. A measurement that is not a number exceeds every bound.

    Example:
        >>> exceeds(1.0 + 1e-15, 1.0), exceeds(1.001, 1.0), exceeds(float("nan"), 1.0)
        (False, True, True)
    """
    return not measured <= promised + RELATIVE * abs(promised) + ABSOLUTE * abs(scale)


def promised_parameter(claim: Loss) -> float:
    """The number that a claim promises: rho, mu, the bound of its order, or epsilon at the claim's own delta."""
    match claim:
        case ZCDP():
            return claim.rho
        case GDP():
            return claim.mu
        case _:
            return claim.epsilon
