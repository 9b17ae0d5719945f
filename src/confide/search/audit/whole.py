"""The audit of a private search: its promises against exact laws and own runs, with searches broken on purpose.

Nobody's records are used: made-up networks take the place of the private one. The mechanism's noise, stop and statistic
stay; people, degree bound and stopping target are those of each network.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from confide.audit import AuditReport, AuditRow, Concern, Control, charge_rows, inject_fault, promise_rows
from confide.audit.charging import NAMED
from confide.audit.faulty_noise import StuckNoise
from confide.contract.errors import InvalidInput
from confide.contract.kinds import Progress
from confide.contract.progress import advance
from confide.privacy.losses import PureDP
from confide.privacy.noise import Noise
from confide.search.audit.full_size import full_size
from confide.search.audit.losses import delta_row, list_row, selection_row, threshold_row, unplanted
from confide.search.audit.missed_targets import miss_controls, miss_rows
from confide.search.audit.mutants import (
    CappedTree,
    CountsUnexamined,
    EighthNoise,
    HalfDrawn,
    HalvedNoise,
    NoiselessThreshold,
    QuietFakeTree,
    SharpThreshold,
    TiesByDegree,
)
from confide.search.audit.own_runs import history_row, runs_row, walk_row
from confide.search.audit.threshold_witness import Witness
from confide.search.targeted import PTarget

__all__ = ["audit_search", "charged", "witness_row"]

_STEPS = 5
_FAULTS = {"noise": "too little noise", "fake": "a fake target without noise", "cap": "a cap on examinations",
           "draw": "a threshold without noise", "sharp": "a threshold of too little noise",
           "counted": "a count of the unexamined"}
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
        >>> it = PTarget(1000, 5, 50, 0.5, 40, "private")
        >>> rows, planted = promise_rows(it.guarantees(), it.events)  # the first rows; all take seconds
        >>> [(row.verdict.value, row.measured) for row in rows]
        [('kept', 2.0), ('kept', 1.0)]
    """
    if not isinstance(mechanism, PTarget):
        raise InvalidInput("mechanism", f"{type(mechanism).__name__} is no private search", "must be a PTarget")
    if mechanism.calls < 1:
        raise InvalidInput("mechanism", "never looks for another component", "there is nothing private to audit")
    draws, left = mechanism.call.draws_threshold, unplanted(mechanism)
    priced, wrongly = promise_rows(mechanism.guarantees(), mechanism.events)
    named, planted_charges = charged(mechanism)
    selection = selection_row(mechanism)
    rows = [*priced, named, *_of_few(replace(selection, note=_left(left, "noise", "fake", "cap")), list_row(mechanism),
                              walk_row(mechanism), *delta_row(mechanism)), *miss_rows(mechanism)]
    advance(progress, 1, _STEPS)
    out = [*wrongly, *planted_charges, *miss_controls(mechanism)]
    out += [_control("the delta of a list", "a list that is sold as if it told nothing of anybody", row)
            for row in delta_row(mechanism, 0.0)]
    out.append(_control("inside a component", "ties broken by the number of contacts",
                        walk_row(mechanism, TiesByDegree)))
    if "noise" not in left:
        attained = getattr(mechanism.statistic, "length", 2) == 2  # beyond two edges sensitivity is a loose bound
        broken = inject_fault(mechanism, HalvedNoise if attained else EighthNoise)
        out.append(_control("a selection", f"noise at {'half' if attained else 'an eighth'} of its scale",
                            selection_row(broken, sound=mechanism)))
    if "cap" not in left:
        out.append(_control("a selection", "one vertex examined at most", selection_row(mechanism, CappedTree)))
    if mechanism.stop != "none" and "fake" not in left:
        out.append(_control("a selection", "a fake target without noise", selection_row(mechanism, QuietFakeTree)))
    advance(progress, 2, _STEPS)
    if draws:
        rows += _of_few(replace(threshold_row(mechanism), note=_left(left, "draw", "sharp", "counted")),
                        history_row(mechanism))
        planted: list[tuple[str, str, Callable[[], AuditRow]]] = [
            ("draw", "no noise", lambda: threshold_row(inject_fault(mechanism, NoiselessThreshold), mechanism)),
            ("sharp", "the sensitivity of one count", lambda: threshold_row(inject_fault(mechanism, SharpThreshold),
                                                                            mechanism)),
            ("counted", "the unexamined counted", lambda: history_row(inject_fault(mechanism, CountsUnexamined)))]
        out += [_control("the threshold", bug, row()) for key, bug, row in planted if key not in left]
    if mechanism.stop == "private":
        rows += _of_few(witness_row(Witness(printed=False)))
        out.append(_control("list and threshold", "the printed count", witness_row(Witness())))
    advance(progress, 3, _STEPS)
    near = min(mechanism.epsilon, 1.0)  # where noise that is used again shows, and a cap; half of it shows at another
    rows += _of_few(runs_row(mechanism, seed), runs_row(mechanism, seed, epsilon=near))
    large = full_size(mechanism, seed)
    rows += large[0]
    out += large[1]
    advance(progress, 4, _STEPS)
    out.append(_control("own runs", "half of the noise is drawn", runs_row(inject_fault(mechanism, HalfDrawn), seed,
                                                                          sound=mechanism)))
    out.append(_control("own runs", "a query cap", runs_row(mechanism, seed, runs=_CAPPED, query_cap=4,
                                                             epsilon=near)))
    if mechanism.stop != "none":  # else the second call finds the last component there, whatever it draws
        out.append(_control("own runs", "the same noise in every call",
                            runs_row(mechanism, seed, noise=_stuck(seed), epsilon=near)))
    advance(progress, 5, _STEPS)
    return AuditReport(tuple(rows), tuple(out))


def charged(mechanism: PTarget) -> tuple[AuditRow, tuple[Control, ...]]:
    """What the ledger is charged, against epsilon for each call, as the parameters name it.

    Args:
        mechanism: as it will run.
    """
    return charge_rows(mechanism.events(), PureDP(mechanism.calls * mechanism.epsilon), NAMED)


def _of_few(*rows: AuditRow) -> list[AuditRow]:
    """Rows of networks whose lists have laws that can be computed: the campaign's rules, and not its size."""
    return [row.smaller("the people of small made-up networks") for row in rows]


def witness_row(witness: Witness) -> AuditRow:
    """The rule for the threshold on a network where the printed one leaks.

    Args:
        witness: with the printed rule or the corrected one.
    """
    return AuditRow.at_most(
        "privacy: the list together with its second threshold", witness.promised, witness.loss,
        f"exact law on {witness.strangers:,} strangers and {witness.bridged} targets behind one of them, epsilon "
        f"{witness.epsilon:g}", unit="nats", concern=Concern.PRIVACY)


def _stuck(seed: int) -> Callable[[int], Noise]:
    return lambda number: StuckNoise(lambda: Noise.simulated((seed << 20) + number))


def _left(left: Mapping[str, str], *faults: str) -> str:
    """Which faults are not planted, and why."""
    return "; ".join(f"{_FAULTS[each]} is not planted: {left[each]}" for each in faults if each in left)


def _control(name: str, bug: str, row: AuditRow) -> Control:
    return Control(name, bug, row.flagged)
