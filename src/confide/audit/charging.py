"""What the ledger is charged for a run, held against the privacy loss that is promised of it."""

from __future__ import annotations

from collections.abc import Iterable

from confide.audit.claims import Loss, exceeds
from confide.audit.report import AuditRow, Concern, Control
from confide.contract.errors import InvalidInput
from confide.privacy.events import Event
from confide.privacy.filter import price
from confide.privacy.losses import ZCDP, ApproxDP, PureDP

__all__ = ["charge_rows"]

_PROMISE = "what the ledger is charged is what is promised, as a share of it"


def charge_rows(events: Iterable[Event], promised: Loss) -> tuple[AuditRow, tuple[Control, ...]]:
    """The price of all releases by the rules of the ledger's filter; and, where there are any, the same of a run
    that releases everything twice.

    Args:
        events: of one run, as the ledger is charged for them.
        promised: the loss that is promised of the whole run: pure, approximate or zCDP.

    Raises:
        InvalidInput: another loss, or one of nothing.

    Example:
        >>> from confide.contract import Unit
        >>> from confide.privacy.events import PureEvent
        >>> row, (control,) = charge_rows([PureEvent(epsilon=1.0, neighbours=Unit.BIT)], PureDP(1.0))
        >>> row.measured, row.verdict, control.flagged
        (1.0, <Verdict.KEPT: 'kept'>, True)
    """
    once = tuple(events)
    found, rule = _share(once, promised)
    row = AuditRow.at_most(_PROMISE, 1.0, found, f"the price of all releases of a run by the filter's rule, {rule}",
                           concern=Concern.BUDGET)
    if not once:
        return row, ()
    twice, _ = _share((*once, *once), promised)
    return row, (Control(_PROMISE, "everything released twice", exceeds(twice, 1.0)),)


def _share(events: tuple[Event, ...], promised: Loss) -> tuple[float, str]:
    match promised:
        case PureDP(epsilon=epsilon) if epsilon > 0:
            return float(price("basic", events).epsilon) / epsilon, "basic"
        case ApproxDP(epsilon=epsilon, delta=delta) if epsilon > 0:
            cost = price("basic", events, delta)
            return max(float(cost.epsilon) / epsilon, float(cost.delta) / delta if delta else 0.0), "basic"
        case ZCDP(rho=rho) if rho > 0:
            return float(price("zcdp", events).rho) / rho, "zcdp"
    raise InvalidInput("promised", f"{promised} is not what a ledger is charged for")
