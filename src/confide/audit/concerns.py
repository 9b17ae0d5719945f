"""A report that leaves nothing out: a row for every guarantee of a plan, and for every concern."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from confide.audit.report import AuditReport, AuditRow, Concern
from confide.contract.guarantees import Guarantee

__all__ = ["completed"]


def completed(
    report: AuditReport, guarantees: Iterable[Guarantee], unpromised: Mapping[Concern, str],
    unmeasured: Callable[[Guarantee], str] = lambda _: "",
) -> AuditReport:
    """The report with a row for each guarantee that no row holds, and one for each concern that has none.

    What was not measured passes only with a reason, so a guarantee that was forgotten is a problem of the report.

    Args:
        report: what was measured.
        guarantees: of the plan; printed claims that are false are kept for comparison only, and left out.
        unpromised: concern -> why nothing is promised about it, where that may be.
        unmeasured: guarantee -> why it was not measured; "" where there is no reason.

    Raises:
        KeyError: a concern without a row and without a reason.

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
