"""A check that the ledger's charge covers the promises: a mechanism says both of itself, and they must agree.

A mechanism that promises epsilon 50 and is charged for 10^-9 would let a budget of 1 be spent fifty times over. So
before anything is charged, the price of its events by the filter's own rules is held against each of its promises.

What is shown then, for an account with the rule "basic": whatever keeps the promises loses no more than is charged. Of
a promise (epsilon, delta) both numbers of the price at that delta are as large. A charge without any delta needs a
pure promise beside each other one, of the same part or of all and to no fewer eyes: what promises (1, 0.05), or rho
alone, may fail where nothing is charged for that. An account with the
rule "zcdp" is charged rho, at least that of each concentrated promise; that a promise (epsilon, delta) bounds no rho it
leaves to the events. One limit more: a Rényi promise is compared at its one order, which says less than the rho that
it is charged as.

A promise about a part of an outcome asks for its own price and no more. Two parts that keep 1 each may lose 2 together,
and what is in no part may lose anything. So whoever the ledger is charged for has to be promised something of the whole
(`Privacy.whole`), and the charge is held against that, too.
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
"""A price may be below a promise by this part of it: both are sums and conversions of doubles."""

_OUTSIDE = (Audience.PUBLIC, Audience.OTHERS)
_INSIDE = (Audience.COLLECTOR, Audience.FELLOWS)


def check_covered(events: Iterable[Event], promises: Iterable[Privacy]) -> None:
    """Check that the price of all events covers every promise that a run makes to those whom the ledger guards against.

    These are the public and the other participants; where nothing is promised of them, whoever is promised anything of.
    To each of them something of the whole has to be promised, or to somebody who sees that, too.
    A promise is compared in its own notion, a notion of which the events have no price is refused, and so are events of
    another neighbouring relation: relations are converted only by proved rules. A charge without a delta needs a pure
    promise that it covers. Charging more than is promised is allowed. Printed promises that are false, and those that
    say nothing, are not promises.

    Args:
        events: the events of one run, as the ledger is charged for them.
        promises: the promises of the same run.

    Raises:
        InvalidInput: there are no events, or none of the promises can be claimed, or none is of the whole, or one is
            not covered.

    Example:
        >>> from confide.contract.guarantees import Source, Relation
        >>> from confide.privacy.events import PureEvent
        >>> promise = Privacy(loss=PureDP(50.0), neighbours=Relation.REPLACE, audience=Audience.PUBLIC,
        ...                   source=Source(document="a", statement="b"))
        >>> check_covered([PureEvent(epsilon=1e-9, neighbours=Relation.REPLACE)], [promise])
        Traceback (most recent call last):
        confide.contract.errors.InvalidInput: events: cost epsilon 1e-09, and epsilon = 50 is promised to the public; \
the ledger must be charged for at least the promised loss
    """
    spent = tuple(events)
    claimed = [promise for promise in promises if promise.claimable and not promise.loss.vacuous]
    if not spent:
        raise InvalidInput("events", "are none", "a run that releases anything must name its charge to the ledger")
    if not claimed:
        raise InvalidInput("guarantees", "promise nothing about privacy that can be claimed",
                           "a charge needs a promise that it covers")
    compared = _guarded(claimed)
    for promise in compared:
        for event in spent:
            if event.neighbours is not promise.neighbours:
                raise InvalidInput("events", f"are about {event.neighbours.words}, and the promise about "
                                   f"{promise.neighbours.words}", "relations are converted only by proved rules")
        _compare(spent, promise)
    _check_whole(compared)
    _check_delta(spent, compared)


def composed(events: Iterable[Event], delta: float = 0.0) -> PureDP | ApproxDP | ZCDP:
    """The loss of all events together by the filter's rules: an epsilon where each has one, else a rho, else an epsilon
    and a delta.

    Args:
        events: the events of one run.
        delta: the delta at which events without an epsilon of their own are turned into one, beside others that have no
            rho.

    Raises:
        InvalidInput: they have no price, such as without that delta.

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
        The public and the other participants, where something is promised of them; else whoever it is promised of.

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
        raise InvalidInput("events", f"have no price that {promise.loss} could be held against ({error})",
                           "promise the cost of the events, in their own notion") from None
    if not enough:
        raise InvalidInput("events", f"cost {_words(cost)}, and {promise.loss} is promised to the "
                           f"{promise.audience.value}", "the ledger must be charged for at least the promised loss")


def largest_delta(promises: Iterable[Privacy]) -> float:
    """The delta at which events without a delta of their own are priced: the largest of all that the price has to
    cover.

    Args:
        promises: the promises of the run.
    """
    claimed = [promise for promise in promises if promise.claimable and not promise.loss.vacuous]
    return max((float(getattr(promise.loss, "delta", 0.0)) for promise in _guarded(claimed)), default=0.0)


def _check_whole(compared: Sequence[Privacy]) -> None:
    """Whether everybody for whom the ledger is charged is promised something of all that she sees."""
    for promise in compared:
        if not any(each.whole and promise.audience in each.audience.sees for each in compared):
            raise InvalidInput("guarantees", f"promise the {promise.audience.value} something of {promise.part}, and "
                               "nothing of the whole outcome",
                               "the parts together lose up to their sum, and the rest of the outcome has no bound: add "
                               f"a `Privacy` without `part` to the {promise.audience.value}, with the loss of all "
                               "releases of a run together, and let `events` cost as much")


def _check_delta(events: tuple[Event, ...], promises: Sequence[Privacy]) -> None:
    """Whether a charge without a delta rests on promises without one; all of them are covered in their own notions."""
    if not all(map(_has_epsilon, events)) or price("basic", events, largest_delta(promises)).delta:
        return
    pure = [promise for promise in promises if _is_pure(promise)]
    for promise in promises:
        if not any(promise.audience in each.audience.sees and (each.whole or each.part == promise.part)
                   for each in pure):
            raise InvalidInput("events", "are charged without any delta, but the promise to the "
                               f"{promise.audience.value} of {promise.part}, {promise.loss}, has one: no charge covers "
                               "it", "promise them the charged epsilon, as `PureDP`, too; or charge in the notion of "
                               "the promise")


def _is_pure(promise: Privacy) -> bool:
    return isinstance(promise.loss, PureDP) or (isinstance(promise.loss, ApproxDP) and not promise.loss.delta)


def _priced(events: tuple[Event, ...], promise: Privacy) -> tuple[Cost, bool]:
    """The price in the notion of a promise, and whether it is at least that."""
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
