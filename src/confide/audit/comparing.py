"""The comparisons of audits: the losses that can be promised, and the rule by which a measured number exceeds a
promised number.

A promise of privacy B follows from a promise A under four conditions. Both promises are about the same neighbour step.
Promise A is about the whole outcome, or about the same part as B. The audience of B sees no more than the audience of
A. A proved conversion leads from the loss of A to the loss of B.

The module also finds the number that a guarantee states, and the unit of this number, for the rows of an audit.
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
"""Every kind of privacy loss with which an audit can compare a measurement."""

RELATIVE = 1e-9
"""Largest relative amount by which a measured number may exceed the promised number, because of rounding in its
computation.
"""

ABSOLUTE = 1e-12
"""Largest absolute amount by which a measured number may exceed the promised number, in nats or the unit of the
promise. Without this amount, rounding errors would break a promise of zero.
"""


def exceeds(measured: float, promised: float, *, scale: float = 1.0) -> bool:
    """Whether a measured number is above a promised bound, beyond rounding.

    Args:
        measured: the measured number.
        promised: the promised upper bound, in the unit of `measured`.
        scale: size of the numbers from which `measured` was computed as a difference, for the rounding error; 1 for
            losses in nats.

    Returns:
        measured > promised + 1e-9 |promised| + 1e-12 scale. A measured NaN exceeds every bound.

    Example:
        >>> exceeds(1.0 + 1e-15, 1.0), exceeds(1.001, 1.0), exceeds(float("nan"), 1.0)
        (False, True, True)
    """
    return not measured <= promised + RELATIVE * abs(promised) + ABSOLUTE * abs(scale)


def promised_parameter(claim: Loss) -> float:
    """The parameter of a promised loss: rho, mu, the Renyi divergence at the promised order, or epsilon at the promised
    delta.
    """
    match claim:
        case ZCDP():
            return claim.rho
        case GDP():
            return claim.mu
        case _:
            return claim.epsilon


# ---- implied


def loss_implies(one: Loss, other: Loss) -> bool:
    """Whether every mechanism that keeps the loss `one` also keeps the loss `other`.

    Args:
        one: the loss that is known.
        other: the loss that may follow from `one`, in the same notion or in a notion to which a proved conversion
            leads.

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
    """Upper bound of the Renyi divergence of order alpha, and so of all smaller orders."""
    if isinstance(one, RenyiDP):
        return one.epsilon if one.alpha >= alpha else math.inf
    pure = one.epsilon if isinstance(one, PureDP) else math.inf
    return min(pure, alpha * _rho(one))


def implies(one: Privacy, other: Privacy) -> bool:
    """Whether the promise `other` follows from the promise `one`. The loss of `other` must follow from the loss of
    `one`. Both promises must be about the same neighbour step. The promise `one` must be about the whole outcome, or
    about the same part as `other`. The audience of `other` must see no more than the audience of `one`.

    A promise about one part says nothing about another part or about the whole, whatever the parts are called.

    Args:
        one: the promise that was compared with a measurement.
        other: the promise that may follow from `one`.

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
    """The promises from which all other promises follow. Each is paired with all promises that follow from it,
    including the promise itself.

    Args:
        promises: promises of a mechanism.
    """
    given, kept = tuple(promises), list[Privacy]()
    for one in given:
        if not any(implies(each, one) for each in kept):
            kept = [*(each for each in kept if not implies(one, each)), one]
    return [(one, tuple(each for each in given if implies(one, each))) for one in kept]


def charge_and_rest(charged: Loss, promises: Iterable[Privacy]) -> tuple[Loss | Privacy, list[Privacy]]:
    """The losses and promises with which an audit of the whole release compares its measurement. The first result is
    the charge, or one of the strongest promises if its loss equals the charge. The second result lists the other
    strongest promises, none of which follows from another one.

    Args:
        charged: loss that is charged for the whole release.
        promises: promises about the whole release, or about parts of it.
    """
    kept = [promise for promise, _ in strongest(promises)]
    same = next((promise for promise in kept if promise.loss == charged), None)
    return (charged if same is None else same), [promise for promise in kept if promise is not same]


# ---- figures


def parameter_unit(loss: PrivacyLoss) -> str:
    """The unit of the number that a privacy loss states; for rho and mu, which have no unit, the name of the parameter
    in brackets.

    Args:
        loss: a privacy loss, for example the loss of a promise.

    Example:
        >>> from confide.privacy.losses import PureDP, ZCDP
        >>> parameter_unit(PureDP(1.0)), parameter_unit(ZCDP(0.1))
        ('nats', '(rho)')
    """
    return {"ZCDP": "(rho)", "GDP": "(mu)", "RenyiDP": "nats (Renyi)"}.get(wire_name(loss), "nats")


def unit_of(promise: Guarantee) -> str:
    """The unit of the gain that a `Truthfulness` guarantee states, or the currency of a `Budget`; "" for all other
    guarantees.

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
    """The parameter of a promised loss, as `promised_parameter` returns it.

    Args:
        promise: a promise of privacy.

    Raises:
        InvalidInput: the loss is of a kind that no audit knows.
    """
    if not isinstance(promise.loss, Loss):
        raise InvalidInput("promise", f"{promise.loss} is not a loss that an audit knows")
    return promised_parameter(promise.loss)


def figure_of(promise: Guarantee) -> float | str:
    """The number that a guarantee states. A privacy loss is returned as text, and so is the sentence of a guarantee of
    unknown type.

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
