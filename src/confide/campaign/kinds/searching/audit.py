"""The audit of a planned search. No contact of the campaign is touched: made-up networks take its place.

The family's audit at the plan's own noise, stop and statistic; and what the campaign does with a run: the ledger's
price and the published list, each beside something that was broken on purpose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from confide.audit import AuditReport, AuditRow, Concern, Control, completed
from confide.campaign.kinds.searching.plan import PlannedSearch
from confide.contract.errors import InvalidInput
from confide.contract.kinds import Progress
from confide.contract.progress import advance
from confide.privacy.events import Event
from confide.privacy.filter import price
from confide.privacy.noise import Noise
from confide.search.audit import audit_search
from confide.search.audit.made_up import Made, fitted, network
from confide.search.graph import Graph
from confide.search.oracles import Investigation
from confide.search.releases import PublicRelease
from confide.search.targeted import PTarget

__all__ = ["audit_life", "audit_plan"]

_RUNS = 20
_UNPROMISED = {
    Concern.INCENTIVES: "nobody reports anything: a custodian holds the contacts, and lies about them are not treated",
    Concern.ACCURACY: "how many targets are found depends on the network; what noise costs is planned on made-up ones",
    Concern.PARTICIPATION: "nobody is invited or paid, so that nobody has to be willing",
}
_STEPS = 100  # of either part, as its progress is told


def audit_plan(plan: PlannedSearch, seed: int = 0, progress: Progress | None = None) -> AuditReport:
    """Promised against measured for one campaign, with the planted faults that the audit must flag.

    Args:
        plan: of the campaign.
        seed: of simulated runs on a made-up network.
        progress: called as the audit goes on.
    """

    def tell(done: int, total: int | None) -> None:
        advance(progress, done * _STEPS // (total or 1), 2 * _STEPS)

    family = audit_search(plan.mechanism, seed, tell)
    life = audit_life(plan, seed)
    advance(progress, 2 * _STEPS, 2 * _STEPS)
    both = AuditReport((*family.rows, *life.rows), (*family.controls, *life.controls))
    return completed(both, plan.guarantees, _UNPROMISED)


def audit_life(plan: PlannedSearch, seed: int = 0) -> AuditReport:
    """What the campaign is charged, and whether lists of its runs are taken for its own.

    Args:
        plan: of the campaign.
        seed: of simulated runs on a made-up network.
    """
    it, boards = plan.mechanism, _boards(plan.mechanism, seed)
    # A list with one search fewer on its bill, and the same people.
    forged = [replace(each, calls=each.calls - 1, epsilon_spent=(each.calls - 1) * it.epsilon)
              for each in boards if each.calls]
    parts: list[tuple[Callable[[], AuditRow], Callable[[], AuditRow], str]] = [
        (partial(_spends, plan, it.events()), partial(_spends, plan, 2 * it.events()), "everything released twice"),
        (partial(_checks, it, boards), partial(_checks, it, forged), "lists that leave out a search that was made"),
    ]
    rows, controls = list[AuditRow](), list[Control]()
    for audit, broken, bug in parts:
        rows.append(audit())
        controls.append(Control(rows[-1].promise, bug, broken().flagged))
    return AuditReport(tuple(rows), tuple(controls))


def _spends(plan: PlannedSearch, events: Sequence[Event]) -> AuditRow:
    delta = plan.mechanism.delta
    cost = price("basic", tuple(events), delta)
    return AuditRow.at_most("what the ledger is charged is what is planned, as a share of it", 1.0 + 1e-9,
                            float(cost.epsilon) / plan.charged, f"the price of all its releases, delta = {delta:g}",
                            unit="times the plan", concern=Concern.BUDGET)


def _checks(it: PTarget, boards: Sequence[PublicRelease]) -> AuditRow:
    mechanism, refused = _small(it), 0
    for board in boards:
        try:
            mechanism.check(board)
        except InvalidInput:
            refused += 1
    return AuditRow.at_most("lists of its runs that a verifier would call forged", 0.0, float(refused),
                            f"{len(boards)} simulated runs", unit="lists",
                            concern=Concern.ACCURACY).smaller(network().name)


def _small(it: PTarget) -> PTarget:
    mechanism: PTarget = fitted(it, network(), min(3, it.components))
    return mechanism


def _boards(it: PTarget, seed: int) -> list[PublicRelease]:
    """Lists of simulated runs on a small network."""
    made, mechanism, out = network(), _small(it), list[PublicRelease]()
    graph = _graph(made)
    for number in range(_RUNS):
        investigation = Investigation(graph, made.targets[0], made.targeted)
        board = mechanism.run(investigation, Noise.simulated(1000 * seed + number)).billboard
        if not isinstance(board, PublicRelease):
            raise InvalidInput("outcome", "is no list of a search")
        out.append(board)
    return out


def _graph(made: Made) -> Graph:
    rows = made.graphs[0]
    first = np.repeat(np.arange(rows.people), np.diff(rows.indptr))
    return Graph.from_edges(first, rows.indices.astype(np.int64), people=rows.people)
