"""The audit of a private search: its promises against exact laws and own runs, with searches broken on purpose.

Nobody's records are used: made-up networks take the place of the private one. The mechanism's noise, stop and statistic
stay; people, degree bound and stopping target are those of each network.
"""

from __future__ import annotations

from collections.abc import Callable

from confide.audit import AuditReport, AuditRow, Control, mixed
from confide.audit.planted import StuckNoise
from confide.contract.errors import InvalidInput
from confide.contract.kinds import Progress
from confide.contract.progress import advance
from confide.privacy.accounting import Accountant
from confide.privacy.noise import Noise
from confide.search.audit.losses import list_row, selection_row, threshold_row
from confide.search.audit.own_runs import history_row, runs_row
from confide.search.audit.planted import (
    CappedTree,
    CountsUnexamined,
    HalvedNoise,
    NoiselessThreshold,
    QuietFakeTree,
    SharpThreshold,
)
from confide.search.audit.threshold_witness import Witness
from confide.search.targeted import PTarget

__all__ = ["accounts_row", "audit_search", "witness_row"]

_STEPS = 5
_CAPPED = 400  # runs that show a cap


def audit_search(mechanism: PTarget, seed: int = 0, progress: Progress | None = None) -> AuditReport:
    """Promised against measured for one private search, with the planted faults that the audit must flag.

    Args:
        mechanism: as it will run.
        seed: of its own runs.
        progress: called as the audit goes on.

    Raises:
        InvalidInput: no private search, or one that never looks for another component.

    Source: spec targeted_search 10 and 11 (check 5).

    Example:
        >>> row = accounts_row(PTarget(1000, 5, 50, 0.5, 40, "private"))
        >>> row.verdict.value, row.measured
        ('kept', 2.0)
    """
    if not isinstance(mechanism, PTarget):
        raise InvalidInput("mechanism", f"{type(mechanism).__name__} is no private search", "must be a PTarget")
    if mechanism.calls < 1:
        raise InvalidInput("mechanism", "never looks for another component", "there is nothing private to audit")
    draws = mechanism.call.draws_threshold
    rows = [accounts_row(mechanism), selection_row(mechanism), list_row(mechanism)]
    advance(progress, 1, _STEPS)
    out = [
        _control("a selection", "noise at half of its scale", selection_row(mixed(mechanism, HalvedNoise),
                                                                            sound=mechanism)),
        _control("a selection", "one vertex examined at most", selection_row(mechanism, CappedTree)),
    ]
    if mechanism.stop != "none":
        out.append(_control("a selection", "a fake target without noise", selection_row(mechanism, QuietFakeTree)))
    advance(progress, 2, _STEPS)
    if draws:
        rows += [threshold_row(mechanism), history_row(mechanism)]
        out += [
            _control("the threshold", "no noise", threshold_row(mixed(mechanism, NoiselessThreshold), mechanism)),
            _control("the threshold", "the sensitivity of one count", threshold_row(mixed(mechanism, SharpThreshold),
                                                                                   mechanism)),
            _control("the threshold", "the unexamined counted", history_row(mixed(mechanism, CountsUnexamined))),
        ]
    if mechanism.stop == "private":
        rows.append(witness_row(Witness(printed=False)))
        out.append(_control("list and threshold", "the printed count", witness_row(Witness())))
    advance(progress, 3, _STEPS)
    rows.append(runs_row(mechanism, seed))
    advance(progress, 4, _STEPS)
    out += [
        _control("own runs", "the same noise in every call", runs_row(mechanism, seed, noise=_stuck(seed))),
        _control("own runs", "a query cap", runs_row(mechanism, seed, runs=_CAPPED, query_cap=4)),
    ]
    advance(progress, 5, _STEPS)
    return AuditReport(tuple(rows), tuple(out))


def accounts_row(mechanism: PTarget) -> AuditRow:
    """What the events of all calls cost together, against (k - 1) epsilon."""
    return AuditRow.at_most("accounts: what all calls are charged together", mechanism.calls * mechanism.epsilon,
                            Accountant(mechanism.events()).epsilon(), "the events of a run, by basic composition")


def witness_row(witness: Witness) -> AuditRow:
    """The rule for the threshold on a network where the printed one leaks.

    Args:
        witness: with the printed rule or the corrected one.
    """
    return AuditRow.at_most(
        "privacy: the list together with its second threshold", witness.promised, witness.loss,
        f"exact law on {witness.strangers:,} strangers and {witness.bridged} targets behind one of them, epsilon "
        f"{witness.epsilon:g}")


def _stuck(seed: int) -> Callable[[int], Noise]:
    return lambda number: StuckNoise(lambda: Noise.simulated((seed << 20) + number))


def _control(name: str, bug: str, row: AuditRow) -> Control:
    return Control(name, bug, row.flagged)
