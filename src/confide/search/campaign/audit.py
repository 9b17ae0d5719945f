"""The audit of a planned search: exact losses on small public networks at the plan's own noise, and its accounts.

No contact of the campaign is touched. Every row stands beside something that was broken on purpose.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from confide.audit import AuditReport, AuditRow, Control, mixed
from confide.contract.errors import InvalidInput
from confide.contract.kinds import Progress
from confide.contract.progress import advance
from confide.privacy.filter import price
from confide.privacy.noise import Noise
from confide.search.audit.losses import list_row, selection_row, threshold_row
from confide.search.audit.made_up import Made, fitted, network
from confide.search.audit.planted import CappedTree, HalvedNoise, NoiselessThreshold, QuietFakeTree, SharpThreshold
from confide.search.audit.threshold_witness import Witness
from confide.search.campaign.plan import SearchPlan
from confide.search.graph import Graph
from confide.search.oracles import Investigation
from confide.search.releases import PublicRelease
from confide.search.targeted import PTarget

__all__ = ["audit_plan"]

_RUNS = 20
_Row = Callable[[], AuditRow]


def audit_plan(plan: SearchPlan, seed: int = 0, progress: Progress | None = None) -> AuditReport:
    """Promised against measured for one campaign, with the planted faults that the audit must flag.

    Args:
        plan: of the campaign.
        seed: of simulated runs on a made-up network.
        progress: called as the audit goes on.
    """
    parts, rows, controls = _parts(plan.mechanism, seed), list[AuditRow](), list[Control]()
    for number, (audit, broken) in enumerate(parts, 1):
        row = audit()
        rows.append(row)
        controls += [Control(row.promise, bug, control().flagged) for bug, control in broken.items()]
        advance(progress, number, len(parts))
    return AuditReport(tuple(rows), tuple(controls))


def _parts(it: PTarget, seed: int) -> list[tuple[_Row, dict[str, _Row]]]:
    """(the audit, what was broken -> the same audit of that)."""
    half, fake = mixed(it, HalvedNoise), it.stop != "none"
    parts: list[tuple[_Row, dict[str, _Row]]] = [
        (partial(selection_row, it), {
            "noise at half of its scale": partial(selection_row, half, sound=it),
            **({"a made-up target without noise": partial(selection_row, it, QuietFakeTree)} if fake else {}),
            "a search that stops after one examination": partial(selection_row, it, CappedTree)}),
    ]
    if it.call.draws_threshold:
        parts.append((partial(threshold_row, it), {
            "the best threshold, without noise": partial(threshold_row, mixed(it, NoiselessThreshold), sound=it),
            "a threshold drawn as if one person moved one count":
                partial(threshold_row, mixed(it, SharpThreshold), sound=it)}))
        parts.append((partial(_witness, it, printed=False), {
            "the printed count, of everybody who is not examined": partial(_witness, it, printed=True)}))
    boards = _boards(it, seed)
    parts += [
        (partial(list_row, it), {}),
        (partial(_spends, it, it.events()), {"everything released twice": partial(_spends, it, 2 * it.events())}),
        (partial(_checks, it, boards), {
            "a list that says that it cost less": partial(_checks, it, [
                replace(each, epsilon_spent=each.epsilon_spent / 2, calls=max(0, each.calls - 1))
                for each in boards])}),
    ]
    return parts


def _witness(it: PTarget, *, printed: bool) -> AuditRow:
    """The count that sets the threshold, where one stranger knows many hidden targets."""
    found = Witness(epsilon=it.epsilon, bridged=_bridged(it.epsilon), degree_bound=_bridged(it.epsilon) + 2,
                    printed=printed)
    return AuditRow.at_most(
        "privacy: a list and the threshold behind it, where one stranger joins many members to the found",
        found.promised, found.loss, f"laws by integration; a private stop with Laplace noise at the plan's epsilon, "
        f"{found.bridged} hidden members, {found.strangers:,} strangers")


def _bridged(epsilon: float) -> int:
    """Hidden members whom the stranger knows: the printed rule loses more than it says from 9 on, in the limit."""
    return 40 if epsilon >= 0.1 else 80


def _boards(it: PTarget, seed: int) -> list[PublicRelease]:
    """Simulated runs on a small network."""
    made = network()
    mechanism = fitted(it, made, min(3, it.components))
    graph = _graph(made)
    out = list[PublicRelease]()
    for number in range(_RUNS):
        board = mechanism.run(Investigation(graph, made.targets[0], made.targeted),
                              Noise.simulated(1000 * seed + number)).billboard
        if not isinstance(board, PublicRelease):
            raise InvalidInput("outcome", "is no list of a search")
        out.append(board)
    return out


def _graph(made: Made) -> Graph:
    rows = made.graphs[0]
    first = np.repeat(np.arange(rows.people), np.diff(rows.indptr))
    return Graph.from_edges(first, rows.indices.astype(np.int64), people=rows.people)


def _checks(it: PTarget, boards: list[PublicRelease]) -> AuditRow:
    """Lists of its runs that a verifier would call forged."""
    mechanism, refused = fitted(it, network(), min(3, it.components)), 0
    for board in boards:
        try:
            mechanism.check(board)
        except InvalidInput:
            refused += 1
    return AuditRow.at_most("lists of its runs that a verifier would call forged", 0.0, float(refused),
                            f"{len(boards)} simulated runs on {network().name}")


def _spends(it: PTarget, events: Any) -> AuditRow:
    """What the ledger is charged, beside what is promised."""
    stated = min(float(getattr(each.loss, "epsilon", np.inf)) for each in it.guarantees().privacy
                 if bool(getattr(each.loss, "delta", 0.0)) == bool(it.delta))
    cost = price("basic", tuple(events), it.delta)
    return AuditRow.at_most("what the ledger is charged is what is promised, as a share of it", 1.0 + 1e-9,
                            float(cost.epsilon) / stated, f"the price of all its releases at delta = {it.delta:g}")
