"""Completion of an audit report, so that the report has a row for every guarantee of a plan and for every concern. The
concerns are the subjects of promises, such as accuracy (`Concern`).

`promise_rows` compares every promise of privacy of a plan with the price of a run's releases, and finds promises that
are too low or too high.

The promised number and the price come only from the promise itself and from the events that the ledger is charged for.
The mechanism's parameters are not used for either of these two numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from confide.audit.comparing import RELATIVE, Loss, exceeds, promised_parameter
from confide.audit.history_loss import spent
from confide.audit.report import AuditReport, AuditRow, Concern, Control, Verdict
from confide.contract.guarantees import Guarantee, Privacy
from confide.contract.mechanism import Spend
from confide.privacy.events import Event
from confide.privacy.filter import price
from confide.privacy.losses import GDP, ZCDP, ApproxDP, PureDP, RenyiDP

__all__ = ["Paid", "completed", "promise_rows"]

# ---- concerns


def completed(
    report: AuditReport, guarantees: Iterable[Guarantee], unpromised: Mapping[Concern, str],
    unmeasured: Callable[[Guarantee], str] = lambda _: "",
) -> AuditReport:
    """The report with an additional row for each guarantee that no row covers, and for each concern (`Concern`) that
    has no row.

    The report passes only if each guarantee is measured, or has a reason why it was not measured. A report with a
    forgotten guarantee therefore does not pass.

    Args:
        report: report with the rows of all measurements.
        guarantees: guarantees of the plan. A plan may state a false claim of a publication for comparison; such claims
            get no row.
        unpromised: mapping from each concern without a promise to the reason why nothing is promised about this
            concern.
        unmeasured: function from a guarantee to the reason why it was not measured; "" where there is no reason.

    Raises:
        KeyError: a concern has neither a row nor a reason.

    Example:
        >>> row = AuditRow.at_most("privacy", 1.0, 0.98, "all pairs enumerated", concern="privacy")
        >>> rest = dict.fromkeys(list(Concern)[1:], "it only adds noise")
        >>> for row in completed(AuditReport((row,)), (), rest).rows:
        ...     print(f"{row.concern}: {row.note or row.verdict}")
        privacy: kept
        incentives: it only adds noise
        accuracy: it only adds noise
        participation: it only adds noise
        budget: it only adds noise
    """
    rows = list(report.rows)
    held = {sentence for row in rows for sentence in row.holds}
    rows += [AuditRow.unmeasured(promise, unmeasured(promise)) for promise in guarantees
             if promise.claimable and promise.sentence() not in held]
    there = {row.concern for row in rows}
    rows += [AuditRow.unpromised(concern, unpromised[concern]) for concern in Concern if concern not in there]
    return AuditReport(tuple(rows), report.controls)


# ---- priced

Paid = Callable[[Privacy, tuple[Event, ...]], Iterable[Event]]
"""Function from a promise and the events of a whole run to the events that pay for the promised loss."""

_CHARGE = "the charge to the ledger, as a share of the promised loss"
_FAR_TOO_LOW = 0.01
_NOTHING = ZCDP(1e-9)


def promise_rows(
    promises: Iterable[Guarantee], events: Callable[[], Iterable[Spend]],
    paid: Paid = lambda _, events: events, *, alike: bool = True,
) -> tuple[list[AuditRow], list[Control]]:
    """One row for each promise of privacy. The row compares the promise with the price of the releases that the promise
    is about, in the promise's own notion. A promise below the price is broken. A promise above the price is kept, and
    the row says by how much it is above.

    One more row says whether the whole charge equals one of the promises. A smaller charge would let a budget be used
    again and again. The controls repeat these comparisons with promises that are far too low, and with wrong charges.

    Args:
        promises: promises of a plan; promises that cannot be claimed or that promise nothing are left out.
        events: function that returns the events of one run, as the ledger is charged for them; called only if there is
            a promise.
        paid: function from a promise and the events to the events that pay for the promise; all events if left out. The
            function may also return events that the ledger is not charged for.
        alike: whether the charge should equal one of the promises. Set `alike` to False if the promises are conversions
            of the charge, or sums of the events by a looser rule. The row about the charge, and the controls that only
            this row flags, are then left out.

    Example:
        >>> from confide.contract import Audience, Source, Relation
        >>> from confide.privacy.events import PureEvent
        >>> promise = Privacy(loss=PureDP(1.0), neighbours=Relation.BIT, audience=Audience.PUBLIC,
        ...                   source=Source(document="a", statement="b"))
        >>> rows, injected = promise_rows([promise], lambda: [PureEvent(epsilon=1.0, neighbours=Relation.BIT)])
        >>> [(row.concern.value, row.measured, row.verdict.value) for row in rows]
        [('privacy', 1.0, 'kept'), ('budget', 1.0, 'kept')]
        >>> all(control.flagged for control in injected)
        True
    """
    found = [each for each in promises if isinstance(each, Privacy) and each.claimable and not each.loss.vacuous]
    if not found:
        return [], []
    once = tuple(event for event in events() if isinstance(event, Event))
    rows = _rows(found, once, paid, alike)

    def control(bug: str, promised: Iterable[Privacy], charged: tuple[Event, ...]) -> Control:
        return Control("the price of a promise", bug,
                       any(row.flagged for row in _rows(list(promised), charged, paid, alike)))

    controls = [control("one more promise, of 1e-9-zCDP", [*found, replace(found[0], loss=_NOTHING)], once)]
    if any(_number(each) > 0 for each in found):
        controls.append(control(
            "promises of a hundredth of the loss", (_scaled(each, _FAR_TOO_LOW) for each in found), once))
        controls += [] if not alike else [
            control("half of the promised loss is charged", (_scaled(each, 2.0) for each in found), once),
            control("everything released twice", found, (*once, *once))]
    if not any(_number(each) > 0 for each in found):
        controls = []  # nothing is released, and nothing costs nothing
    return rows, controls


def _rows(promises: list[Privacy], events: tuple[Event, ...], paid: Paid, alike: bool) -> list[AuditRow]:
    rows, shares = list[AuditRow](), list[float]()
    for promise in promises:
        own = tuple(paid(promise, events))
        rows.append(_row(promise, own))
        if alike and own == events:
            shares += _ledgers_share(promise, events)
    if shares:
        rows.append(_charge_row(shares))
    return rows


def _row(promise: Privacy, events: tuple[Event, ...]) -> AuditRow:
    """Row that compares a promise with the loss that the accountant derives from the events that pay for it."""
    promised, loss = _number(promise), promise.loss
    of_step = all(event.neighbours is promise.neighbours for event in events)
    charged = spent(events, loss) if of_step and isinstance(loss, Loss) else math.inf
    note = "" if of_step else f"the charge is not for {promise.neighbours.words}"
    if charged < promised * (1.0 - RELATIVE):
        note = f"the promised loss exceeds the cost of its releases, by {1.0 - charged / promised:.3g} of it"
    row = AuditRow.of_privacy(promise, charged, f"the price of {len(events)} kinds of releases, by the accountant's "
                              "sharpest rule", named=f"privacy: price of {promise.sentence()}", note=note)
    return row.holding(promise)


def _ledgers_share(promise: Privacy, events: tuple[Event, ...]) -> list[float]:
    """Charge of the ledger divided by the promise, for each parameter of the promised loss, by the rules of the
    ledger's filter; empty where the filter has no rule for this loss.
    """
    promised, loss = _number(promise), promise.loss
    if any(event.neighbours is not promise.neighbours for event in events) or not promised:
        return [1.0] if not promised and not events else []
    match loss:
        case PureDP() | GDP() | ZCDP():
            return [spent(events, loss) / promised]
        case ApproxDP(delta=delta):
            cost = price("basic", events, delta)
            shares = [float(cost.epsilon) / promised, float(cost.delta) / delta if delta else 1.0]
            return [max(shares, key=lambda share: abs(share - 1.0))]
    return []


def _charge_row(shares: list[float]) -> AuditRow:
    """Row that says whether the charge equals one of the promises, from the ratio of charge to promise that is nearest
    to 1.
    """
    share = min(shares, key=lambda each: abs(math.log(each)) if 0 < each < math.inf else math.inf)
    row = AuditRow.at_most(_CHARGE, 1.0, share, "the price of all releases of a run, by the filter's rules",
                           unit="times the promise", concern=Concern.BUDGET)
    row = replace(row, side="exactly")
    if exceeds(share, 1.0) or share >= 1.0 - RELATIVE:
        return row
    return replace(row, verdict=Verdict.BROKEN, note="the ledger is charged less than the promised loss")


def _number(promise: Privacy) -> float:
    return promised_parameter(promise.loss) if isinstance(promise.loss, Loss) else math.nan


def _scaled(promise: Privacy, factor: float) -> Privacy:
    match promise.loss:
        case PureDP(epsilon=epsilon):
            return replace(promise, loss=PureDP(factor * epsilon))
        case ApproxDP(epsilon=epsilon, delta=delta):
            return replace(promise, loss=ApproxDP(factor * epsilon, delta))
        case ZCDP(rho=rho):
            return replace(promise, loss=ZCDP(factor * rho))
        case GDP(mu=mu):
            return replace(promise, loss=GDP(factor * mu))
        case RenyiDP(alpha=alpha, epsilon=epsilon):
            return replace(promise, loss=RenyiDP(alpha, factor * epsilon))
    return promise
