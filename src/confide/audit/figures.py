"""The number that a guarantee names, and its unit, as a row of an audit shows them."""

from __future__ import annotations

from confide.audit.comparing import Loss, promised_parameter
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

__all__ = ["figure_of", "level_of", "parameter_unit", "unit_of"]


def parameter_unit(loss: PrivacyLoss) -> str:
    """The unit of a loss's parameter.

    Args:
        loss: such as a promise's.

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
        promise: of privacy.

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
