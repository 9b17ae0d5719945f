"""The audit of a regression campaign: every promise held against the mechanism's own run, with controls.

No participant's record is used. Privacy is attacked with neighbouring submissions that go through the mechanism's own
run; truth, accuracy and money are measured on people drawn from the public model. Every attack is also run on
mechanisms broken on purpose, which it must flag.
"""

from __future__ import annotations

import numpy as np

from confide.audit import AuditReport, promise_rows
from confide.contract.kinds import Progress
from confide.regression.audit.behaviour import behaviour_controls, behaviour_rows
from confide.regression.audit.privacy import charged, paid_of, privacy_controls, privacy_rows
from confide.regression.planner import RegressionPlan

__all__ = ["audit_regression"]

_TYPES = 40  # people whose best lie is looked for


def audit_regression(plan: RegressionPlan, seed: int = 0, progress: Progress | None = None) -> AuditReport:
    """Promised against measured for one plan, with the planted bugs that the same attacks must flag.

    Args:
        plan: the campaign's plan.
        seed: of everything that is drawn, except the draws that test secure noise.
        progress: called as the audit goes on.
    """
    mechanism = plan.mechanism
    setting = mechanism.setting
    runs = int(np.clip(2_000_000 // (setting.people * setting.features), 3, 25))
    steps = 44 + runs + _TYPES
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(min(done, steps), steps)

    spent, wrongly = promise_rows(mechanism.guarantees(), mechanism.events, paid_of) if mechanism.claims_privacy else (
        [], [])
    rows = privacy_rows(mechanism, seed, step) + behaviour_rows(mechanism, seed, runs, _TYPES, step)
    controls = privacy_controls(mechanism, seed) + behaviour_controls(mechanism, seed)
    if mechanism.claims_privacy:
        named, planted = charged(mechanism)
        rows, controls = [*rows, named], [*controls, *planted]
    return AuditReport(rows=(*rows, *spent), controls=(*controls, *wrongly))
