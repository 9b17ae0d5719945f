"""Group privacy: the joint privacy loss of several neighbour steps, computed from the mechanism's own loss.

A privacy promise is about one step, such as one record. The members of a household, or one person with several rows,
take several steps together. The loss of a group is computed from the mechanism's own loss, in the notion of that loss.
A computation from a derived pair (epsilon, delta) would give a far larger loss.

Along any path of k neighbours, k steps have the following loss:

- epsilon-DP gives k epsilon. A log ratio that varies by at most epsilon becomes a log ratio that varies by at most k
  epsilon.
- rho-zCDP gives k^2 rho (Bun and Steinke 2016, Proposition 1.9).
- mu-GDP gives k mu (Dong, Roth and Su 2022, Theorem 2).
- (epsilon, delta)-DP gives (k epsilon, delta (e^(k epsilon) - 1)/(e^epsilon - 1)) (Vadhan 2017, Lemma 2.2).
- A bound epsilon on the Rényi divergence of order alpha gives 3^c epsilon at the order alpha/2^c, for k <= 2^c and
  alpha >= 2^(c+1) (Mironov 2017, Proposition 2). For other k and alpha a Rényi bound gives nothing.

Reports that devices draw independently have a product law. If each of k people sends one report, the people lose the
composition of k reports: rho-zCDP gives k rho, mu-GDP gives sqrt(k) mu, and (epsilon, delta)-DP gives (k epsilon, k
delta).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from confide.contract.checks import whole
from confide.contract.errors import ConfideError
from confide.contract.guarantees import Audience, Privacy, Relation
from confide.contract.mechanism import Mechanism
from confide.contract.presentation import Block, Section, Table, Text
from confide.contract.words import number, percent
from confide.privacy.accounting import Accountant
from confide.privacy.accounting.sums import float_up, totals
from confide.privacy.events import (
    ApproxEvent,
    BoundedRangeEvent,
    Event,
    GDPEvent,
    PureEvent,
    RandomizedResponseEvent,
    Repeated,
    ZCDPEvent,
    flatten,
)
from confide.privacy.hiding import BELOW_ONE, guess_at
from confide.privacy.losses import BITS, GDP, ZCDP, ApproxDP, PureDP, RenyiDP, up
from confide.privacy.noise.balls import precision
from confide.privacy.required_charge import charged_for, composed, largest_delta

__all__ = ["SIZES", "GroupLoss", "group_blocks", "group_event", "group_loss", "group_losses", "groups_section",
           "guess_in_words", "household_parts", "right_at_most"]

SIZES = (2, 5, 10)
"""Group sizes for which a plan and a result state the loss, besides the size 1."""

_WITH_ONE = (1, *SIZES)

_DELTA = 1e-6
"""The delta at which a loss without an epsilon is converted to an epsilon, if no promise names a delta."""

_USELESS = 0.995
"""Probability of a right guess from which on texts call a limit useless."""


@dataclass(frozen=True, kw_only=True)
class GroupLoss:
    """The joint privacy loss of a group of people towards one audience.

    Args:
        size: the number of people in the group.
        audience: the audience towards which the loss holds, such as the public or the collector of the reports.
        loss: the loss as an epsilon, or as an epsilon with a delta.
        guess: the largest probability, in [1/2, 1], of guessing correctly between two versions of the group's data, if
            both are equally likely before the audience sees the output.
    """

    size: int
    audience: Audience
    loss: PureDP | ApproxDP
    guess: float

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready dictionary."""
        return {"size": self.size, "audience": self.audience.value, "loss": self.loss.to_dict(),
                "vacuous": self.loss.vacuous, "guess": self.guess}


def group_loss(loss: Any, steps: int, *, alone: bool = False) -> Any:
    """The joint privacy loss of several neighbour steps, rounded up.

    Args:
        loss: the loss of one step, any of `confide.privacy.losses`.
        steps: the number k of steps, >= 1.
        alone: True if each step concerns the report of a different device, and reports are drawn independently, so that
            k reports have a product law.

    Returns:
        The loss of the group, in the notion of the given loss. Where nothing is proved, the loss is infinite or its
        delta is 1.

    Example:
        >>> group_loss(ZCDP(0.125), 4), group_loss(ZCDP(0.125), 4, alone=True)
        (ZCDP(rho=2.0), ZCDP(rho=0.5))
        >>> pair = group_loss(ApproxDP(1.0, 1e-6), 10)
        >>> pair.epsilon, round(pair.delta, 4)
        (10.0, 0.0128)
    """
    k = whole("steps", steps, at_least=1)
    if k == 1 or loss.vacuous:
        return loss
    match loss:
        case PureDP(epsilon=epsilon):
            return PureDP(float_up(k * Fraction(epsilon)))
        case ZCDP(rho=rho):
            return ZCDP(float_up((k if alone else k * k) * Fraction(rho)))
        case GDP(mu=mu):
            return GDP(_root_times(k, mu) if alone else float_up(k * Fraction(mu)))
        case ApproxDP(epsilon=epsilon, delta=delta):
            together = float_up(k * Fraction(delta)) if alone else _pair_delta(epsilon, delta, k)
            return ApproxDP(float_up(k * Fraction(epsilon)), min(1.0, together))
        case RenyiDP(alpha=alpha, epsilon=epsilon):
            if alone:
                return RenyiDP(alpha, float_up(k * Fraction(epsilon)))
            doublings = (k - 1).bit_length()
            if alpha < 2 ** (doublings + 1):
                return RenyiDP(alpha, math.inf)
            return RenyiDP(alpha / 2**doublings, float_up(3**doublings * Fraction(epsilon)))
    return ApproxDP(math.inf, 1.0)


def _pair_delta(epsilon: float, delta: float, k: int) -> float:
    """The group's delta for k steps, delta (e^(k epsilon) - 1)/(e^epsilon - 1) = delta (1 + e^epsilon + ... + e^((k-1)
    epsilon)), rounded up.
    """
    if not delta:
        return 0.0
    if (k - 1) * epsilon + math.log(delta) > 1.0:  # the last term alone is above 1
        return 1.0
    from flint import arb

    with precision(BITS):
        power = arb(epsilon).exp()
        return min(1.0, up(arb(delta) * sum((power**j for j in range(k)), start=arb(0))))


def _root_times(k: int, mu: float) -> float:
    from flint import arb

    with precision(BITS):
        return up(arb(k).sqrt() * arb(mu))


def group_event(event: Event, steps: int, *, alone: bool = False) -> Event:
    """The event of a release for several neighbour steps together. The event keeps the name of the neighbouring
    relation, although the event counts several steps of this relation.

    Args:
        event: the event of one step, not a list of events.
        steps: the number k of steps, >= 1.
        alone: True if each step concerns the report of a different device, and reports are drawn independently.

    Example:
        >>> group_event(GDPEvent(mu=0.5, neighbours=Relation.REPLACE), 4).mu
        2.0
    """
    if alone:
        return Repeated(event=event, count=steps, neighbours=event.neighbours, label=event.label)
    common: dict[str, Any] = {"neighbours": event.neighbours, "label": event.label}
    match event:
        case RandomizedResponseEvent(epsilon=epsilon):
            return PureEvent(epsilon=_times(epsilon, steps), **common)
        case PureEvent() | BoundedRangeEvent():
            return replace(event, epsilon=_times(event.epsilon, steps))
        case ZCDPEvent():
            return replace(event, rho=group_loss(ZCDP(event.rho), steps).rho)
        case GDPEvent():
            return replace(event, mu=group_loss(GDP(event.mu), steps).mu)
        case ApproxEvent():
            pair = group_loss(ApproxDP(event.epsilon, event.delta), steps)
            return replace(event, epsilon=pair.epsilon, delta=min(pair.delta, math.nextafter(1.0, 0.0)))
    return event  # no accountant knows it, and each says so


def _times(epsilon: float, steps: int) -> float:
    return float_up(steps * Fraction(repr(epsilon)))  # epsilons of events are as people write them


def group_losses(
    mechanism: Mechanism, promises: Iterable[Privacy], sizes: Sequence[int] = _WITH_ONE
) -> tuple[GroupLoss, ...]:
    """The losses of one person and of groups, towards each audience that has a promise about the whole outcome.

    Args:
        mechanism: the mechanism, with the events of its releases.
        promises: the mechanism's promises of privacy.
        sizes: the sizes of the groups; one person counts as a group of size 1.
    """
    made = tuple(promises)
    return tuple(each for audience in Audience if any(each.audience is audience for each in _of_the_whole(made))
                 for each in _towards(mechanism, made, audience, sizes))


def right_at_most(mechanism: Mechanism, promises: Iterable[Privacy], audience: Audience) -> float:
    """The largest probability with which an audience guesses correctly between two possible records of one person,
    computed from the mechanism's own loss. Both records are equally likely before the audience sees the output.

    Args:
        mechanism: the mechanism, with the events of its releases.
        promises: the mechanism's promises of privacy.
        audience: the audience that guesses.

    Returns:
        A probability in [1/2, 1]: the guess that `group_losses` states for one person. If a step adds or removes a
        record, the guess is computed for a group of two, because replacing a record takes two such steps. The result is
        1 if no promise covers all that the audience sees.
    """
    made = tuple(promises)
    return min((_right(mechanism, made, audience, unit, 2 if unit is Relation.ADD_OR_REMOVE else 1)
                for unit in _compared(made)), default=1.0)


def _how_often(right: float) -> str:
    """A limit on right guesses, in words. If the limit is of no use, the words say so."""
    return f"right at most {percent(right)} of the time" if right < _USELESS else (
        "right nearly every time, because the promise sets no useful limit")


def guess_in_words(
    mechanism: Mechanism, promises: Iterable[Privacy], *audiences: Audience, seen: str = "", thing: str = "record",
    somebody: bool = False,
) -> str:
    """Explain the privacy loss of one person in sentences: the largest probability that a guess about the person is
    right. The function `right_at_most` computes this probability from the mechanism's own loss.

    Args:
        mechanism: the mechanism, with the events of its releases.
        promises: the mechanism's promises of privacy.
        audiences: the audiences that may guess, at least one. The text states the largest of their probabilities of a
            right guess.
        seen: phrase that begins with a blank and says what the guess is based on, such as " from the report"; empty for
            no phrase.
        thing: noun for the data that a person hands in, such as "record" or "answer".
        somebody: whether the text says "a person's record" instead of "your record".
    """
    made = tuple(promises)
    units = _compared(made)
    right = max(right_at_most(mechanism, made, each) for each in audiences)
    your = "a person's" if somebody else "your"
    between, others = f"{your} {thing} is one of two possible {thing}s", f"the {thing}s of all other people"
    if units == (Relation.BIT,):
        between = f"{your} {thing} is yes or no"
    elif units == (Relation.EDGES_OF_ONE,):
        between, others = f"{your} contacts are one of two possible sets", "all other contacts"
    guess = f"{seen.strip().capitalize()}, they guess" if seen else "They guess"
    said = (f"Example: somebody knows {others}, and that {between}, and thinks at first that both are equally likely. "
            f"{guess} {_how_often(right)}.")
    if Relation.ADD_OR_REMOVE not in units:
        return said
    there = max(_right(mechanism, made, each, Relation.ADD_OR_REMOVE, 1) for each in audiences)
    return f"{said} If they guess whether {your} {thing} is there at all, they are {_how_often(there)}."


def _compared(promises: Sequence[Privacy]) -> tuple[Relation, ...]:
    """The neighbouring relations that count for a guess about one person, which is a guess between two neighbours.
    These are the relations on whole records. If nothing is promised about whole records, the relation on one bit
    counts. If nothing is promised about one bit either, the relation on one person's contacts counts.
    """
    there = {each.neighbours for each in _of_the_whole(promises)}
    return next((found for units in ((Relation.REPLACE, Relation.ADD_OR_REMOVE), (Relation.BIT,),
                                     (Relation.EDGES_OF_ONE,))
                 if (found := tuple(each for each in units if each in there))), ())


def _right(mechanism: Mechanism, promises: Sequence[Privacy], audience: Audience, unit: Relation, size: int) -> float:
    """The largest probability of a right guess for `size` steps of one neighbouring relation, from the promises about
    that relation alone.
    """
    found = _towards(mechanism, [each for each in promises if each.neighbours is unit], audience, (size,))
    return found[0].guess if found else 1.0


def _of_the_whole(promises: Sequence[Privacy]) -> list[Privacy]:
    return [each for each in promises if each.claimable and each.whole and not each.loss.vacuous]


def _towards(
    mechanism: Mechanism, promises: Sequence[Privacy], audience: Audience, sizes: Sequence[int]
) -> list[GroupLoss]:
    """The losses of groups towards one audience; an empty list if no promise covers all that the audience sees."""
    own = _of_the_whole(promises)
    there = [each for each in own if audience in each.audience.sees]
    if not there:
        return []
    try:
        events: tuple[Any, ...] = tuple(mechanism.events()) if audience in charged_for(own) else ()
        if Accountant(events).neighbours not in {None, *(each.neighbours for each in there)}:
            events = ()
    except ConfideError:  # nothing can be charged, or an event that no rule is proved for: promises alone count
        events = ()
    return [_together(mechanism, there, events, audience, size) for size in sizes]


def _together(
    mechanism: Mechanism, promises: Sequence[Privacy], events: Sequence[Event], audience: Audience, size: int
) -> GroupLoss:
    """The least loss of a group that follows from any promise or from the events."""
    loss, guess = _least(tuple(promises), tuple(events), audience, size, mechanism.group_steps(size))
    return GroupLoss(size=size, audience=audience, loss=loss, guess=min(mechanism.group_guess(size, audience), guess))


@lru_cache(maxsize=512)  # the pages of a campaign say it again and again
def _least(
    promises: tuple[Privacy, ...], events: tuple[Event, ...], audience: Audience, size: int, steps: int
) -> tuple[PureDP | ApproxDP, float]:
    """The least loss of a group that follows from any promise or from the events, and the probability of a right guess
    under it.
    """

    def of(promised: Audience) -> tuple[int, bool]:
        """The number of steps, and whether each step is one device's report. A promise towards the collector is about
        single reports. An audience that sees less than the collector learns at most as much from the reports.
        """
        return (size, True) if promised is Audience.COLLECTOR else (steps, False)

    losses = []
    for each in promises:
        times, alone = of(each.audience)
        losses.append(group_loss(each.loss, times, alone=alone))
    delta = largest_delta(promises)
    if not delta and not any(isinstance(each, PureDP) for each in losses):
        delta = _DELTA
    found: list[PureDP | ApproxDP] = [_as_read(each, delta) for each in losses]
    if events:
        times, alone = of(audience)
        lifted = [Repeated(event=group_event(leaf, times, alone=alone), count=count, neighbours=leaf.neighbours)
                  for event in events for leaf, count in flatten(event)]
        # Events with a delta of their own leave as much of the delta to all others as they did for one step.
        before, after = (totals(Accountant(tuple(each)).spend).delta for each in (events, lifted))
        at = min(float_up(Fraction(delta) + after - before), math.nextafter(1.0, 0.0)) if delta else 0.0
        account = Accountant(tuple(lifted))
        found.append(account.loss(at))
        # At an epsilon of 0, delta is the total variation: exact for Gaussian noise, and for pure events alone.
        losses += [_composed(lifted, at), ApproxDP(0.0, account.delta(0.0))]
    pairs = [each for each in found if not each.vacuous]
    best = min(pairs, key=lambda each: (each.epsilon, getattr(each, "delta", 0.0)), default=ApproxDP(math.inf, 1.0))
    known = [each for each in losses if isinstance(each, ApproxDP)]
    if best.vacuous and known:  # a pair, and nothing more is known
        best = min(known, key=lambda each: each.delta)
    return best, min(guess_at(each) for each in (best, *losses))


def _composed(events: Sequence[Event], delta: float) -> Any:
    try:
        return composed(events, delta)
    except ConfideError:
        return ApproxDP(math.inf, 1.0)


def _as_read(loss: Any, delta: float) -> PureDP | ApproxDP:
    """A loss as an epsilon at the given delta; the epsilon is infinite if nothing is known at that delta."""
    if isinstance(loss, PureDP):
        return loss
    epsilon = math.inf if loss.vacuous else loss.epsilon_at(delta)
    return ApproxDP(epsilon, delta) if delta else PureDP(epsilon)


# ---- in words


_OWN = {
    Relation.REPLACE: "A group is a number of records: those of the people of a household, or those of one person.",
    Relation.ADD_OR_REMOVE: "A group is a number of records that are added or removed together: those of the people of "
                            "a household, or those of one person. A replaced record counts twice, once removed and "
                            "once added.",
    Relation.EDGES_OF_ONE: "A group is a number of protected people, such as a household without a member of the group "
                           "that is searched for. All their contacts change together, including those with each other. "
                           "A household with such a member is not protected as a group: the table does not cover it.",
    Relation.BIT: "A group is a number of people who send one report each. If their answers are related, as in a "
                  "household, the figures also bound how much all their reports together disclose about one of them.",
}

_THINGS = {Relation.REPLACE: "records", Relation.ADD_OR_REMOVE: "records", Relation.EDGES_OF_ONE: "contacts",
           Relation.BIT: "answers"}

_TOWARDS = {
    Audience.PUBLIC: "the public", Audience.OTHERS: "everybody outside of the group, together",
    Audience.COLLECTOR: "the operator", Audience.FELLOWS: "all other participants together"}

_NOT_STATED = ("The loss of a group, such as a household, is not stated, since no promise covers all that an audience "
               "sees.")


def group_blocks(mechanism: Mechanism, promises: Iterable[Privacy]) -> tuple[Block, ...]:
    """A table of the losses of one person and of groups of 2, 5 and 10 people. If no loss is stated, a sentence
    replaces the table.

    Args:
        mechanism: the mechanism that runs.
        promises: the mechanism's promises of privacy.
    """
    made = tuple(promises)
    found = group_losses(mechanism, made)
    if not found:
        return (Text((_NOT_STATED,)),)
    seen: dict[tuple[Any, ...], list[Audience]] = {}
    for audience in dict.fromkeys(each.audience for each in found):
        mine = tuple((each.size, each.loss, each.guess) for each in found if each.audience is audience)
        seen.setdefault(mine, []).append(audience)
    alone = all(each.audience is Audience.COLLECTOR for each in found)  # then all others see no more than the operator
    rows = tuple(
        (size, "the operator, and everybody else" if alone else "; ".join(_TOWARDS[each] for each in audiences),
         "says nothing" if loss.vacuous else number(loss.epsilon), number(float(getattr(loss, "delta", 0.0))),
         percent(guess if loss.vacuous else min(guess, BELOW_ONE)))
        for figures, audiences in seen.items() for size, loss, guess in figures)
    units = {each.neighbours for each in made if each.claimable and each.whole and not each.loss.vacuous}
    own = [text for unit, text in _OWN.items() if unit in units]
    things = next((text for unit, text in _THINGS.items() if unit in units), "records")
    if any(each.audience is Audience.OTHERS for each in found):
        own.append("Each member of the group sees their own share, which may disclose something about the group. The "
                   "figures do not cover this.")
    return (Table(
        columns=("people changed together", "towards", "epsilon", "delta", "a guess is right, at most"),
        rows=rows,
        note=" ".join((*own, "All figures follow from the privacy loss of the method itself. They can be smaller "
                             "than the general bounds that follow from one person's epsilon and delta. The last column "
                             f"is about somebody who knows all {things} outside the group. They also know that the "
                             f"{things} of the whole group are one of two possible sets, think at first that both sets "
                             "are equally likely, and guess which set is true."))),)


def household_parts(
    mechanism: Mechanism, promises: Iterable[Privacy], audience: Audience, thing: str
) -> list[str | Block]:
    """A paragraph and a table for participants: how well an audience can guess the data of several people together,
    such as a household. The list is empty if no promise covers all that the audience sees.

    Args:
        mechanism: the mechanism that runs.
        promises: the mechanism's promises of privacy.
        audience: the audience that guesses.
        thing: noun for the data that a person hands in, such as "answer" or "row".
    """
    found = [each for each in group_losses(mechanism, promises) if each.audience is audience and each.size > 1]
    if not found:
        return []
    return [
        f"Other people's {thing}s can disclose something about you, too, if they are usually like yours. Example: "
        f"somebody knows all {thing}s outside of your household. They also know that the {thing}s of the household are "
        "one of two possible sets, and think at first that both sets are equally likely. The table shows how often "
        "they guess the right set.",
        Table(columns=("people in the household", "right at most"), rows=tuple(
            (each.size, percent(each.guess if each.loss.vacuous else min(each.guess, BELOW_ONE))) for each in found))]


def groups_section(mechanism: Mechanism, promises: Iterable[Privacy]) -> Section:
    """The section of a plan that states the losses of groups.

    Args:
        mechanism: the mechanism that runs.
        promises: the mechanism's promises of privacy.
    """
    return Section(title="Households and other groups", blocks=group_blocks(mechanism, promises))
