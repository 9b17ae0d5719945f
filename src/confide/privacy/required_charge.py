"""A check that the ledger's charge covers the privacy promises of a mechanism. A mechanism states both its charge and
its promises, and the two must agree.

If a mechanism promised epsilon = 50 and were charged for 10^-9, a single run could lose fifty times a budget of 1,
while nearly the whole budget would remain. Before a charge, the price of the events, which is their cost by the
filter's own rules (`filter.price`), is therefore compared with each promise.

For an account with the rule "basic" the check shows that a mechanism that keeps its promises loses no more than it is
charged for. For a promise (epsilon, delta), the price of the events at that delta must be at least as large in both
epsilon and delta. A charge without any delta needs, for each promise that is not pure, also a pure promise. The pure
promise must be about the same part of the outcome or about the whole outcome. It must also hold towards the same
audience, or towards an audience that sees more. A pure promise is needed because a mechanism that promises (1, 0.05),
or a rho alone, may fail with a probability for which nothing is charged.

For an account with the rule "zcdp" the check shows that the charged rho is at least the rho of each concentrated
promise. A promise (epsilon, delta) implies no bound on rho; for such promises the rho of the events is trusted. A Rényi
promise is compared at the one order that it names, which is a weaker check than the comparison of rho at all orders.

For a promise about a part of an outcome, the price must cover only this promise. Two parts that each keep epsilon = 1
may lose 2 together, and the rest of the outcome has no bound. Every audience for which the ledger is charged must have
a promise about the whole outcome (`Privacy.whole`), and the charge must cover that promise too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Audience, Privacy
from confide.privacy.events import Event
from confide.privacy.filter import Cost, price
from confide.privacy.losses import GDP, ZCDP, ApproxDP, PureDP, RenyiDP

__all__ = ["charged_for", "check_covered", "composed", "largest_delta"]

_ROUNDING = Fraction(1, 10**9)
"""Relative tolerance by which a price may be below a promise, because both are sums and conversions of doubles."""

_OUTSIDE = (Audience.PUBLIC, Audience.OTHERS)
_INSIDE = (Audience.COLLECTOR, Audience.FELLOWS)


def check_covered(events: Iterable[Event], promises: Iterable[Privacy]) -> None:
    """Check that the price of all events covers every promise that a run makes to the audiences that the ledger guards
    against.

    The ledger guards against the public and the other participants. If nothing is promised towards the public or the
    other participants, the ledger guards against all audiences with a promise. Each audience must itself have a promise
    about the whole outcome, or be covered by such a promise to an audience that sees at least as much. Each promise is
    compared with the price in the promise's own notion. The check refuses a promise in a notion in which the events
    have no price. The check refuses events of another neighbouring relation, too, because relations are converted only
    by proved rules. A charge without a delta needs a pure promise that the charge covers. A charge larger than the
    promises is allowed. Published claims that are known to be false, and vacuous promises, are ignored.

    Args:
        events: the events of one run, as the ledger is charged for them.
        promises: the promises of the same run.

    Raises:
        InvalidInput: there are no events, no promise can be claimed, no promise is about the whole outcome, or a
            promise is not covered.

    Example:
        >>> from confide.contract.guarantees import Source, Relation
        >>> from confide.privacy.events import PureEvent
        >>> promise = Privacy(loss=PureDP(50.0), neighbours=Relation.REPLACE, audience=Audience.PUBLIC,
        ...                   source=Source(document="a", statement="b"))
        >>> check_covered([PureEvent(epsilon=1e-9, neighbours=Relation.REPLACE)], [promise])
        Traceback (most recent call last):
        confide.contract.errors.InvalidInput: events: cost epsilon 1e-09, but the promise towards the \
public is epsilon = 50; the ledger must be charged for at least the promised loss
    """
    spent = tuple(events)
    claimed = [promise for promise in promises if promise.claimable and not promise.loss.vacuous]
    if not spent:
        raise InvalidInput("events", "the list is empty", "a run with a release must state its charge to the ledger")
    if not claimed:
        raise InvalidInput("guarantees", "have no promise about privacy that can be claimed",
                           "a charge needs a promise that it covers")
    compared = _guarded(claimed)
    for promise in compared:
        for event in spent:
            if event.neighbours is not promise.neighbours:
                raise InvalidInput("events", f"are about {event.neighbours.words}, but the promise is about "
                                   f"{promise.neighbours.words}",
                                   "must be the same: a loss for other neighbours needs a proved rule")
        _compare(spent, promise)
    _check_whole(compared)
    _check_delta(spent, compared)


def composed(events: Iterable[Event], delta: float = 0.0) -> PureDP | ApproxDP | ZCDP:
    """The loss of all events together by the filter's rules. If each event has an epsilon, the loss is an epsilon.
    Otherwise, if each event has a rho, the loss is a rho. In all other cases the loss is an epsilon with a delta.

    Args:
        events: the events of one run.
        delta: the delta at which events without an epsilon are converted to an epsilon. The conversion is made only if
            some other event has no rho.

    Raises:
        InvalidInput: the events have no price, for example because a conversion needs a delta and `delta` is 0.

    Example:
        >>> from confide.contract.guarantees import Relation
        >>> from confide.privacy.events import PureEvent, ZCDPEvent
        >>> count, mean = PureEvent(epsilon=1.0, neighbours=Relation.BIT), ZCDPEvent(rho=0.5, neighbours=Relation.BIT)
        >>> composed([count, count]), composed([count, mean])
        (PureDP(epsilon=2.0), ZCDP(rho=1.0))
    """
    spent = tuple(events)
    if all(map(_has_epsilon, spent)):
        cost = price("basic", spent)
    else:
        try:
            return ZCDP(float(price("zcdp", spent).rho))
        except InvalidInput:
            cost = price("basic", spent, delta)
    return ApproxDP(float(cost.epsilon), float(cost.delta)) if cost.delta else PureDP(float(cost.epsilon))


def charged_for(promises: Iterable[Privacy]) -> tuple[Audience, ...]:
    """The audiences whose promises the price of a run's events has to cover.

    Args:
        promises: the promises of the run.

    Returns:
        The audiences with a promise among the public and the other participants. If neither the public nor the other
        participants have a promise, all other audiences with a promise.

    Example:
        >>> from confide.contract.guarantees import Source, Relation
        >>> promise = Privacy(loss=PureDP(1.0), neighbours=Relation.BIT, audience=Audience.COLLECTOR,
        ...                   source=Source(document="a", statement="b"))
        >>> charged_for([promise])
        (<Audience.COLLECTOR: 'collector'>,)
    """
    claimed = [promise for promise in promises if promise.claimable and not promise.loss.vacuous]
    there = {promise.audience for promise in _guarded(claimed)}
    return tuple(each for each in Audience if each in there)


def _guarded(claimed: Sequence[Privacy]) -> list[Privacy]:
    outside = [promise for promise in claimed if promise.audience in _OUTSIDE]
    return outside or [promise for promise in claimed if promise.audience in _INSIDE]


def _compare(events: tuple[Event, ...], promise: Privacy) -> None:
    try:
        cost, enough = _priced(events, promise)
    except InvalidInput as error:
        raise InvalidInput("events", f"have no cost in the notion of the promise, {promise.loss} ({error})",
                           "promise the cost of the events in their own notion") from None
    if not enough:
        raise InvalidInput("events", f"cost {_words(cost)}, but the promise towards the {promise.audience.value} is "
                                     f"{promise.loss}", "the ledger must be charged for at least the promised loss")


def largest_delta(promises: Iterable[Privacy]) -> float:
    """The delta at which events without a delta of their own are priced: the largest delta of the promises that the
    price has to cover.

    Args:
        promises: the promises of the run.
    """
    claimed = [promise for promise in promises if promise.claimable and not promise.loss.vacuous]
    return max((float(getattr(promise.loss, "delta", 0.0)) for promise in _guarded(claimed)), default=0.0)


def _check_whole(compared: Sequence[Privacy]) -> None:
    """Check that every audience for which the ledger is charged has a promise about everything that it sees."""
    for promise in compared:
        if not any(each.whole and promise.audience in each.audience.sees for each in compared):
            raise InvalidInput("guarantees", f"have a promise towards the {promise.audience.value} about "
                                             f"{promise.part}, but no promise about the whole outcome",
                               "the parts together lose up to their sum, and the rest of the outcome has no bound: add "
                               f"a `Privacy` without `part` towards the {promise.audience.value}, with the loss of all "
                               "releases of a run together, and give `events` the same cost")


def _check_delta(events: tuple[Event, ...], promises: Sequence[Privacy]) -> None:
    """Check that a charge without a delta comes with promises without a delta. Other functions compare each promise
    with the price in the promise's own notion.
    """
    if not all(map(_has_epsilon, events)) or price("basic", events, largest_delta(promises)).delta:
        return
    pure = [promise for promise in promises if _is_pure(promise)]
    for promise in promises:
        if not any(promise.audience in each.audience.sees and (each.whole or each.part == promise.part)
                   for each in pure):
            raise InvalidInput("events", "are charged an epsilon without a delta, but the promise towards the "
                                         f"{promise.audience.value} about {promise.part}, {promise.loss}, allows a "
                                         "failure with a small probability, for which nothing is charged",
                               "add a promise `PureDP` of the charged epsilon towards the same audience, or charge the "
                               "events in the notion of the promise")


def _is_pure(promise: Privacy) -> bool:
    return isinstance(promise.loss, PureDP) or (isinstance(promise.loss, ApproxDP) and not promise.loss.delta)


def _priced(events: tuple[Event, ...], promise: Privacy) -> tuple[Cost, bool]:
    """The price of the events in the notion of a promise, and whether the price is at least the promised loss."""
    match promise.loss:
        case PureDP(epsilon=epsilon):  # of a part, perhaps: of the events those that have an epsilon without delta
            cost = price("basic", [event for event in events if _has_epsilon(event)])
            return cost, _reaches(cost.epsilon, epsilon)
        case ApproxDP(epsilon=epsilon, delta=delta):
            cost = price("basic", events, delta)
            if not cost.delta:  # `_check_delta` asks for a pure promise, which is compared itself
                return cost, _reaches(cost.epsilon, epsilon)
            return cost, _reaches(cost.epsilon, epsilon) and _reaches(cost.delta, delta)
        case ZCDP(rho=rho):
            cost = price("zcdp", events)
            return cost, _reaches(cost.rho, rho)
        case GDP(mu=mu):  # mu-GDP is mu^2/2-zCDP
            cost = price("zcdp", events)
            return cost, _reaches(cost.rho, mu * mu / 2)
        case RenyiDP(alpha=alpha, epsilon=epsilon):  # rho-zCDP is (alpha, rho alpha)-Renyi for all alpha
            cost = price("zcdp", events)
            return cost, _reaches(cost.rho, epsilon / alpha)
    raise InvalidInput("promise", f"{type(promise.loss).__name__} has no price")


def _has_epsilon(event: Event) -> bool:
    try:
        price("basic", [event])
    except InvalidInput:  # concentrated ones have no price at no delta
        return False
    return True


def _reaches(price: Fraction, promised: float) -> bool:
    return price >= Fraction(promised) * (1 - _ROUNDING)


def _words(cost: Cost) -> str:
    if cost.rho:
        return f"rho {float(cost.rho):.6g}"
    delta = f", delta {float(cost.delta):.3g}" if cost.delta else ""
    return f"epsilon {float(cost.epsilon):.6g}{delta}"
