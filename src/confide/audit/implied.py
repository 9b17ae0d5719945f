"""Which promise of privacy follows from which other: of the same step and part, to no fewer eyes, by a proved
conversion.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from confide.audit.comparing import Loss, exceeds
from confide.contract.guarantees import Privacy
from confide.privacy.losses import GDP, ZCDP, ApproxDP, PureDP, RenyiDP

__all__ = ["charge_and_rest", "implies", "loss_implies", "strongest"]


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
    """Those from which all the others follow, each with what follows from it, itself included.

    Args:
        promises: of a mechanism.
    """
    given, kept = tuple(promises), list[Privacy]()
    for one in given:
        if not any(implies(each, one) for each in kept):
            kept = [*(each for each in kept if not implies(one, each)), one]
    return [(one, tuple(each for each in given if implies(one, each))) for one in kept]


def charge_and_rest(charged: Loss, promises: Iterable[Privacy]) -> tuple[Loss | Privacy, list[Privacy]]:
    """What a walk of everything is held against: what is charged, for which a promise of just that loss stands; and the
    other promises, but for those that follow from one of them.

    Args:
        charged: for everything.
        promises: of everything, or of parts of it.
    """
    kept = [promise for promise, _ in strongest(promises)]
    same = next((promise for promise in kept if promise.loss == charged), None)
    return (charged if same is None else same), [promise for promise in kept if promise is not same]
