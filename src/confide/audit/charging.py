"""Audits of the privacy loss that the ledger is charged for a run. The charge must equal the promised privacy loss, and
must not be below the measured privacy loss.

The charge can also be audited as a promise about the whole release, like any other promise.

Promises may be about parts of a release, and their audits look at these parts alone. If the noise of a draw belongs to
no part, or to two parts, only an audit of the whole release finds the fault.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from confide.audit.comparing import RELATIVE, Loss, exceeds, parameter_unit
from confide.audit.faulty_noise import first_flagged
from confide.audit.history_loss import spent
from confide.audit.report import AuditRow, Concern, Control, Verdict
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Privacy, Source
from confide.contract.mechanism import Mechanism
from confide.privacy.events import (
    ApproxEvent,
    BoundedRangeEvent,
    Composed,
    Event,
    GDPEvent,
    PureEvent,
    RandomizedResponseEvent,
    Repeated,
    ZCDPEvent,
)
from confide.privacy.filter import price
from confide.privacy.losses import ZCDP, ApproxDP, PureDP
from confide.privacy.required_charge import charged_for, composed, largest_delta

__all__ = ["COVERED", "NAMED", "Lost", "about_the_charge", "as_promise", "charge_of", "charge_rows", "covered_rows"]

# ---- charging

NAMED = "the charge to the ledger, as a share of the cost that follows from the parameters"
"""Name of the audit row for mechanisms whose promises are computed from the events that are charged. Such promises
cannot show that a charge is too small.
"""

_PROMISE = "the charge to the ledger, as a share of the promised loss"


def charge_rows(
    events: Iterable[Event], promised: Loss, name: str = _PROMISE
) -> tuple[AuditRow, tuple[Control, ...]]:
    """An audit row that compares the promised loss with the price of all releases of a run, by the rules of the
    ledger's filter. If the run has events, two controls follow: a run that releases everything twice, and a run that is
    charged for half of its promised loss.

    A price above the promise spends budget that nobody has used. A price below the promise lets a budget be used again
    and again.

    Args:
        events: events of one run, as the ledger is charged for them.
        promised: the promised loss of the whole run: pure, approximate or zCDP.
        name: name of the row. The row needs a name of its own where the promised loss is a sum of the events
            themselves.

    Raises:
        InvalidInput: the promised loss is 0, or is neither pure, approximate nor zCDP.

    Example:
        >>> from confide.contract import Relation
        >>> from confide.privacy.events import PureEvent
        >>> row, injected = charge_rows([PureEvent(epsilon=1.0, neighbours=Relation.BIT)], PureDP(1.0))
        >>> row.measured, row.verdict, [control.flagged for control in injected]
        (1.0, <Verdict.KEPT: 'kept'>, [True, True])
    """
    once = tuple(events)
    row = _row(once, promised, name)
    if not once:
        return row, ()
    return row, (Control(name, "everything released twice", _row((*once, *once), promised, name).flagged),
                 Control(name, "half of the promised loss is charged", _row(once, _doubled(promised), name).flagged))


def _row(events: tuple[Event, ...], promised: Loss, name: str) -> AuditRow:
    shares, rule = _shares(events, promised)
    least, most = min(shares), max(shares)
    row = AuditRow.at_most(name, 1.0, most, f"the price of all releases of a run by the filter's rule, {rule}",
                           unit="times the promise", concern=Concern.BUDGET)
    row = replace(row, side="exactly")
    if exceeds(most, 1.0) or least >= 1.0 - RELATIVE:
        return row
    return replace(row, measured=least, verdict=Verdict.BROKEN, note=
                   "the ledger is charged less than the promised loss")


def _shares(events: tuple[Event, ...], promised: Loss) -> tuple[tuple[float, ...], str]:
    """Charge divided by the promise, for each parameter of the promised loss (such as epsilon and delta), and the name
    of the filter's rule.
    """
    match promised:
        case PureDP(epsilon=epsilon) if epsilon > 0:
            return (float(price("basic", events).epsilon) / epsilon,), "basic"
        case ApproxDP(epsilon=epsilon, delta=delta) if epsilon > 0:
            cost = price("basic", events, delta)
            return (float(cost.epsilon) / epsilon, *((float(cost.delta) / delta,) if delta else ())), "basic"
        case ZCDP(rho=rho) if rho > 0:
            return (float(price("zcdp", events).rho) / rho,), "zcdp"
    raise InvalidInput("promised", f"a ledger has no charge of the form {promised}")


def _doubled(promised: Loss) -> Loss:
    match promised:
        case PureDP(epsilon=epsilon):
            return PureDP(2 * epsilon)
        case ApproxDP(epsilon=epsilon, delta=delta):
            return ApproxDP(2 * epsilon, delta)
        case ZCDP(rho=rho):
            return ZCDP(2 * rho)
    raise InvalidInput("promised", f"a ledger has no charge of the form {promised}")


# ---- charged for what was measured

COVERED = "the measured loss of a run, as a share of its charge"
"""Name of the audit row that compares measured losses with the charge, for mechanisms whose promises may exceed the
charge. Such promises cannot show that the charge is too small.
"""


class Lost(NamedTuple):
    """A privacy loss that was measured.

    Args:
        named: name of the audit row that states the measurement.
        loss: the promised loss with which the measurement was compared. The type of this loss determines the measured
            parameter, for example rho.
        measured: the measured value of the parameter of `loss`.
        paid: the events that the ledger would be charged for the measured release.
    """

    named: str
    loss: Loss
    measured: float
    paid: tuple[Event, ...]


def covered_rows(lost: Iterable[Lost]) -> tuple[AuditRow, tuple[Control, ...]]:
    """An audit row that says whether the ledger's charge covers every measured loss, and a control: the same row for a
    smaller charge, which must be flagged.

    In any parameter, a mechanism's true loss between two neighbours is at least the measured loss, and at most the loss
    that the accountant derives from the mechanism's events. Therefore a price below a measured loss shows that a run is
    not charged in full. A measured loss is left out if its events have no price in the parameter of this loss.

    Args:
        lost: measured losses of the mechanism, or of a run with fewer people, each with the events of the measured run.

    Example:
        >>> from confide.contract import Relation
        >>> paid = (PureEvent(epsilon=0.6, neighbours=Relation.BIT),)
        >>> row, injected = covered_rows([Lost("privacy", PureDP(1.0), 0.5, paid)])
        >>> row.verdict.value, round(row.measured, 3), [(control.mutant, control.flagged) for control in injected]
        ('kept', 0.833, [('0.75 of the charge', True)])
        >>> covered_rows([Lost("privacy", PureDP(1.0), 1.0, paid)])[0].verdict.value
        'broken'
    """
    priced = [each for each in lost if not math.isnan(each.measured) and math.isfinite(_price(each))]
    if not priced:
        return AuditRow(
            COVERED, 1.0, None, "", Verdict.NOT_MEASURED,
            "no loss was measured in a parameter for which the events have a price", concern=Concern.BUDGET,
            side="at most", unit="times the charge"), ()
    row = _covered_row(priced)
    share = float(row.measured or 0.0)
    if row.flagged or not share:
        return row, ()
    factor, found = first_flagged(share, lambda factor: _covered_row([
        each._replace(paid=tuple(_less(event, factor) for event in each.paid)) for each in priced]).flagged)
    return replace(row, note=f"the audit flags {factor:.2g} of the charge" if found else row.note), (
        Control(COVERED, f"{factor:.2g} of the charge", found),)


def _covered_row(lost: Sequence[Lost]) -> AuditRow:
    shares = [_share(each) for each in lost]
    share, worst = max(zip(shares, lost, strict=True), key=lambda pair: pair[0])
    return AuditRow.at_most(
        COVERED, 1.0, share, f"{worst.named}: {worst.measured:.6g}, against the price of its events by the "
        f"accountant's sharpest rule, {_price(worst):.6g} {parameter_unit(worst.loss)}", concern=Concern.BUDGET,
        vacuous=not share, note="" if share else "no loss was measured, so no charge is too small for it",
        unit="times the charge")


def _share(lost: Lost) -> float:
    price_of_it = _price(lost)
    if not exceeds(lost.measured, 0.0):
        return 0.0
    return lost.measured / price_of_it if price_of_it else math.inf


def _price(lost: Lost) -> float:
    return spent(lost.paid, lost.loss) if lost.paid else 0.0


def _less(event: Event, factor: float) -> Event:
    """The event with its privacy loss multiplied by a factor, as if only that share were charged."""
    match event:
        case Repeated():
            return replace(event, event=_less(event.event, factor))
        case Composed():
            return replace(event, events=tuple(_less(each, factor) for each in event.events))
        case ZCDPEvent():
            return replace(event, rho=factor * event.rho)
        case GDPEvent():
            return replace(event, mu=factor * event.mu)
        case PureEvent() | ApproxEvent() | BoundedRangeEvent() | RandomizedResponseEvent():
            return replace(event, epsilon=factor * event.epsilon)
    return event


# ---- charged for all

_TOGETHER = "all releases of a run together lose no more than the charge to the ledger"
_SOURCE = Source(document="confide", statement="the sum of the costs in a run")


def as_promise(mechanism: Mechanism, promises: Sequence[Privacy]) -> list[Privacy]:
    """The composed loss of a run's events, stated as a promise about the whole release. The promise is made to the
    first audience for which the ledger is charged.

    Args:
        mechanism: the mechanism whose events are composed.
        promises: promises of the mechanism that are measured.

    Returns:
        A list of one promise. The list is empty where the same loss is already promised, where no audience has a
        promise, or where the events have no price.
    """
    audiences = charged_for(promises)
    if not audiences:
        return []
    loss = charge_of(mechanism, promises)
    if loss is None or any(each.whole and each.loss == loss and each.audience in audiences for each in promises):
        return []
    (unit, *_) = (each.neighbours for each in promises if each.audience is audiences[0])
    return [Privacy(loss=loss, neighbours=unit, audience=audiences[0], source=_SOURCE)]


def charge_of(mechanism: Mechanism, promises: Sequence[Privacy]) -> PureDP | ApproxDP | ZCDP | None:
    """The composed loss of a run's events; None where the events have no price, in which case settlement refuses the
    run.

    Args:
        mechanism: the mechanism whose events are composed.
        promises: promises of the mechanism, whose largest delta is used to convert events.
    """
    try:
        return composed(mechanism.events(), largest_delta(promises))  # type: ignore[arg-type] # Spend: an event
    except InvalidInput:
        return None


def about_the_charge(row: AuditRow) -> AuditRow:
    """The row of a charge that was audited as a promise, renamed to say that the row is about the charge. Without the
    new name, the row would seem to be about a promise of the mechanism.

    Args:
        row: the row with the measured loss.
    """
    return replace(row, promise=_TOGETHER, concern=Concern.BUDGET, judged=None)
