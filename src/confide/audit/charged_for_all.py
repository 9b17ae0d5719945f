"""What the ledger is charged for a run, as a promise about all that it releases: to be walked like any other.

Promises may be about parts, and their audits listen to those alone. What is drawn in no part, or is a part twice, shows
where everything is heard.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from confide.audit.report import AuditRow, Concern
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Privacy, Source
from confide.contract.mechanism import Mechanism
from confide.privacy.covering import charged_for, composed, largest_delta
from confide.privacy.losses import ZCDP, ApproxDP, PureDP

__all__ = ["about_the_charge", "as_promise", "charge_of"]

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
