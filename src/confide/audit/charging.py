"""What the ledger is charged for a run, held against the privacy loss that is promised of it: neither more nor less.

What the ledger is charged for a run, as a promise about all that it releases: to be walked like any other.

Promises may be about parts, and their audits listen to those alone. What is drawn in no part, or is a part twice, shows
where everything is heard.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from confide.audit.comparing import RELATIVE, Loss, exceeds
from confide.audit.report import AuditRow, Concern, Control, Verdict
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Privacy, Source
from confide.contract.mechanism import Mechanism
from confide.privacy.covering import charged_for, composed, largest_delta
from confide.privacy.events import Event
from confide.privacy.filter import price
from confide.privacy.losses import ZCDP, ApproxDP, PureDP

__all__ = ["NAMED", "about_the_charge", "as_promise", "charge_of", "charge_rows"]

# ---- charging

NAMED = "what the ledger is charged is what the parameters name, as a share of it"
"""Of mechanisms whose promises are sums of their events: these say nothing of a charge that is too small."""

_PROMISE = "what the ledger is charged is what is promised, as a share of it"


def charge_rows(
    events: Iterable[Event], promised: Loss, name: str = _PROMISE
) -> tuple[AuditRow, tuple[Control, ...]]:
    """The price of all releases by the rules of the ledger's filter; and, where there are any, the same of a run that
    releases everything twice, and of one that is charged for half of what it promises.

    A price above the promise spends a budget that nobody has used; one below it lets a budget be used again and again.

    Args:
        events: of one run, as the ledger is charged for them.
        promised: the loss that is promised of the whole run: pure, approximate or zCDP.
        name: of the row, where what is promised is a sum of the events themselves, and this is another.

    Raises:
        InvalidInput: another loss, or one of nothing.

    Example:
        >>> from confide.contract import Relation
        >>> from confide.privacy.events import PureEvent
        >>> row, planted = charge_rows([PureEvent(epsilon=1.0, neighbours=Relation.BIT)], PureDP(1.0))
        >>> row.measured, row.verdict, [control.flagged for control in planted]
        (1.0, <Verdict.KEPT: 'kept'>, [True, True])
    """
    once = tuple(events)
    row = _row(once, promised, name)
    if not once:
        return row, ()
    return row, (Control(name, "everything released twice", _row((*once, *once), promised, name).flagged),
                 Control(name, "half of what is promised is charged", _row(once, _doubled(promised), name).flagged))


def _row(events: tuple[Event, ...], promised: Loss, name: str) -> AuditRow:
    shares, rule = _shares(events, promised)
    least, most = min(shares), max(shares)
    row = AuditRow.at_most(name, 1.0, most, f"the price of all releases of a run by the filter's rule, {rule}",
                           unit="times the promise", concern=Concern.BUDGET)
    row = replace(row, side="exactly")
    if exceeds(most, 1.0) or least >= 1.0 - RELATIVE:
        return row
    return replace(row, measured=least, verdict=Verdict.BROKEN, note="less is charged than is promised")


def _shares(events: tuple[Event, ...], promised: Loss) -> tuple[tuple[float, ...], str]:
    """Of each part of the promise, which share of it is charged; and by which rule."""
    match promised:
        case PureDP(epsilon=epsilon) if epsilon > 0:
            return (float(price("basic", events).epsilon) / epsilon,), "basic"
        case ApproxDP(epsilon=epsilon, delta=delta) if epsilon > 0:
            cost = price("basic", events, delta)
            return (float(cost.epsilon) / epsilon, *((float(cost.delta) / delta,) if delta else ())), "basic"
        case ZCDP(rho=rho) if rho > 0:
            return (float(price("zcdp", events).rho) / rho,), "zcdp"
    raise InvalidInput("promised", f"{promised} is not what a ledger is charged for")


def _doubled(promised: Loss) -> Loss:
    match promised:
        case PureDP(epsilon=epsilon):
            return PureDP(2 * epsilon)
        case ApproxDP(epsilon=epsilon, delta=delta):
            return ApproxDP(2 * epsilon, delta)
        case ZCDP(rho=rho):
            return ZCDP(2 * rho)
    raise InvalidInput("promised", f"{promised} is not what a ledger is charged for")


# ---- charged for all

_TOGETHER = "all that a run releases loses together no more than the ledger is charged"
_SOURCE = Source(document="confide", statement="the sum of what a run spends")


def as_promise(mechanism: Mechanism, promises: Sequence[Privacy]) -> list[Privacy]:
    """What the events of a run lose together, as a promise of the whole to whom they are charged for.

    Args:
        mechanism: whose events they are.
        promises: of the same mechanism, that are measured.

    Returns:
        One; or none, where that is promised already, or the events have no price.
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
    """What the events of a run lose together; None where they have no price, which settlement refuses.

    Args:
        mechanism: whose events they are.
        promises: of the same mechanism.
    """
    try:
        return composed(mechanism.events(), largest_delta(promises))  # type: ignore[arg-type] # Spend: an event
    except InvalidInput:
        return None


def about_the_charge(row: AuditRow) -> AuditRow:
    """The row of such a promise: it is the charge that is kept or broken, and nothing that the mechanism says.

    Args:
        row: that was measured.
    """
    return replace(row, promise=_TOGETHER, concern=Concern.BUDGET, judged=None)
