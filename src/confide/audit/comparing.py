"""The comparisons of audits: the losses that can be promised, and when a measured number is above a promised one.

Which promise of privacy follows from which other: of the same step and part, to no fewer eyes, by a proved
conversion.

The number that a guarantee names, and its unit, as a row of an audit shows them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from confide.contract.errors import InvalidInput
from confide.contract.guarantees import (
    Accuracy,
    Budget,
    Guarantee,
    Participation,
    Privacy,
    PrivacyLoss,
    Truthfulness,
)
from confide.contract.wire import wire_name
from confide.privacy.losses import GDP, ZCDP, ApproxDP, PureDP, RenyiDP

__all__ = [
    "ABSOLUTE",
    "RELATIVE",
    "Loss",
    "charge_and_rest",
    "exceeds",
    "figure_of",
    "implies",
    "level_of",
    "loss_implies",
    "parameter_unit",
    "promised_parameter",
    "strongest",
    "unit_of",
]

# ---- comparing

Loss = PureDP | ApproxDP | ZCDP | GDP | RenyiDP
"""Every privacy loss that an audit can hold against what it measures."""

RELATIVE = 1e-9
"""A measured number may be above the promised one by this part of it: the rounding of its computation."""

ABSOLUTE = 1e-12
"""... and by this much, in nats or the like, so that a promise of zero can be kept by doubles."""


def exceeds(measured: float, promised: float, *, scale: float = 1.0) -> bool:
    """Whether a measured number is above a promised bound, beyond rounding.

    Args:
        measured: the measured number.
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


# ---- implied


def loss_implies(one: Loss, other: Loss) -> bool:
    """Whether every mechanism that keeps one loss keeps the other.

    Args:
        one: the loss that is known.
        other: the loss that is to follow, of the same notion or of one that a proved conversion leads to.

    Example:
        >>> loss_implies(PureDP(1.0), ZCDP(0.5)), loss_implies(ZCDP(0.5), PureDP(1.0)), loss_implies(PureDP(1.0),
        ...                                                                                          PureDP(0.01))
        (True, False, False)
    """
    if other.vacuous:
        return True
    if isinstance(one, ApproxDP) and one.delta == 0:
        return loss_implies(PureDP(one.epsilon), other)
    match other:
        case PureDP():
            return isinstance(one, PureDP) and not exceeds(one.epsilon, other.epsilon)
        case ApproxDP(epsilon=epsilon, delta=delta):
            return not exceeds(one.epsilon_at(delta), epsilon)
        case ZCDP():
            return not exceeds(_rho(one), other.rho)
        case GDP():
            mu = one.mu if isinstance(one, GDP) else one.to_gdp().mu if isinstance(one, PureDP) else math.inf
            return not exceeds(mu, other.mu)
        case RenyiDP(alpha=alpha, epsilon=epsilon):
            return not exceeds(_renyi(one, alpha), epsilon)


def _rho(one: Loss) -> float:
    match one:
        case ZCDP():
            return one.rho
        case PureDP() | GDP():
            return one.to_zcdp().rho
    return math.inf


def _renyi(one: Loss, alpha: float) -> float:
    """A bound of the divergence of an order; those of smaller orders are no larger."""
    if isinstance(one, RenyiDP):
        return one.epsilon if one.alpha >= alpha else math.inf
    pure = one.epsilon if isinstance(one, PureDP) else math.inf
    return min(pure, alpha * _rho(one))


def implies(one: Privacy, other: Privacy) -> bool:
    """Whether a promise follows from another one: its loss does, for the same step, of the same part of an outcome or
    from the whole of it, and towards no more eyes.

    What a part tells says nothing about another part, nor about the whole, whatever the parts are called.

    Args:
        one: the promise that was held against a measurement.
        other: the promise that is to follow from it.

    Example:
        >>> from confide.contract import Audience, Source, Relation
        >>> def promise(audience, loss=PureDP(1.0), **part):
        ...     return Privacy(loss=loss, neighbours=Relation.BIT, audience=audience,
        ...                    source=Source(document="a", statement="b"),
        ...                    **part)
        >>> local, public = promise(Audience.COLLECTOR), promise(Audience.PUBLIC)
        >>> implies(local, public), implies(public, local), implies(local, promise(Audience.PUBLIC, PureDP(0.1)))
        (True, False, False)
        >>> count = promise(Audience.PUBLIC, part="the count")
        >>> implies(public, count), implies(count, public), implies(count, promise(Audience.PUBLIC, part="the mean"))
        (True, False, False)
    """
    if other.loss.vacuous:
        return True
    known, wanted = one.loss, other.loss
    if not isinstance(known, Loss) or not isinstance(wanted, Loss):
        return False
    of_part = one.part in (Privacy.part, other.part)  # by default a promise is of the whole
    return (of_part and one.neighbours is other.neighbours and other.audience in one.audience.sees
            and loss_implies(known, wanted))


def strongest(promises: Iterable[Privacy]) -> list[tuple[Privacy, tuple[Privacy, ...]]]:
    """The promises from which all the others follow, each with what follows from it, itself included.

    Args:
        promises: promises of a mechanism.
    """
    given, kept = tuple(promises), list[Privacy]()
    for one in given:
        if not any(implies(each, one) for each in kept):
            kept = [*(each for each in kept if not implies(one, each)), one]
    return [(one, tuple(each for each in given if implies(one, each))) for one in kept]


def charge_and_rest(charged: Loss, promises: Iterable[Privacy]) -> tuple[Loss | Privacy, list[Privacy]]:
    """The losses that an audit of everything is held against: the charge, for which a promise of just that loss stands;
    and the other promises, but for those that follow from one of them.

    Args:
        charged: loss that is charged for everything.
        promises: promises about everything, or about parts of it.
    """
    kept = [promise for promise, _ in strongest(promises)]
    same = next((promise for promise in kept if promise.loss == charged), None)
    return (charged if same is None else same), [promise for promise in kept if promise is not same]


# ---- figures


def parameter_unit(loss: PrivacyLoss) -> str:
    """The unit of a loss's parameter.

    Args:
        loss: a loss, such as a promise's.

    Example:
        >>> from confide.privacy.losses import PureDP, ZCDP
        >>> parameter_unit(PureDP(1.0)), parameter_unit(ZCDP(0.1))
        ('nats', '(rho)')
    """
    return {"ZCDP": "(rho)", "GDP": "(mu)", "RenyiDP": "nats (Renyi)"}.get(wire_name(loss), "nats")


def unit_of(promise: Guarantee) -> str:
    """The unit of a promised gain or budget; "" where the number has none of its own.

    Args:
        promise: a guarantee of a plan.
    """
    match promise:
        case Truthfulness():
            return promise.unit_of_gain
        case Budget():
            return promise.currency
    return ""


def level_of(promise: Privacy) -> float:
    """The number of a promised loss.

    Args:
        promise: a promise of privacy.

    Raises:
        InvalidInput: no loss that an audit knows.
    """
    if not isinstance(promise.loss, Loss):
        raise InvalidInput("promise", f"{promise.loss} is no loss that an audit knows")
    return promised_parameter(promise.loss)


def figure_of(promise: Guarantee) -> float | str:
    """The number that a guarantee names; a loss in words.

    Args:
        promise: a guarantee of a plan.
    """
    match promise:
        case Privacy():
            return str(promise.loss)
        case Truthfulness():
            return promise.gain
        case Accuracy():
            return promise.bound
        case Participation():
            return promise.utility
        case Budget():
            return promise.expected
    return promise.sentence()
