"""Audit of a private search. The audit uses exact laws of the released list on synthetic networks, the search's own
runs, and mutants (searches that were broken on purpose).

The audit uses no real records. The audit uses the mechanism's own noise, stopping rule and statistic. The number of
people, the degree bound and the stopping target come from each synthetic network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.audit import Audited, AuditRow, Concern, Examined, FullSize, StuckNoise, inject_fault
from confide.contract.errors import InvalidInput
from confide.contract.guarantees import Accuracy
from confide.privacy.events import Event
from confide.privacy.filter import price
from confide.privacy.losses import ApproxDP, PureDP
from confide.privacy.noise import Noise
from confide.search.audited_faults import (
    CappedTree,
    CountsUnexamined,
    EighthNoise,
    HalfDrawn,
    HalvedNoise,
    NoiselessThreshold,
    QuietFakeTree,
    SharpThreshold,
    TiesByDegree,
    drawn_at,
)
from confide.search.audited_losses import (
    Made,
    delta_row,
    fitted,
    list_events,
    list_row,
    network,
    selection_row,
    threshold_row,
    unplanted,
)
from confide.search.audited_runs import history_row, rerun, runs_row, transcript_row
from confide.search.component_walk import Walk
from confide.search.exact_laws import LawTree
from confide.search.graph import Graph
from confide.search.oracles import Investigation
from confide.search.releases import PublicRelease
from confide.search.stopping import ThresholdRule, Witness
from confide.search.targeted import PTarget

__all__ = ["named_charge", "search", "settled", "threshold_misses"]

_FAULTS = {"noise": "too little noise", "fake": "a fake target without noise", "cap": "a cap on examinations",
           "draw": "a threshold without noise", "sharp": "a threshold of too little noise",
           "counted": "a published number of unexamined people"}
_CAPPED = 400  # runs that show a cap
_LISTS = 20  # of simulated runs, that are checked as a verifier does
_SHARES = (0.0, 0.001, 0.01, 0.1, 0.5)  # of all vertices: who knows somebody that was found
_UNPROMISED = {
    Concern.INCENTIVES: "nobody reports anything: a custodian holds the contacts, and the theory does not cover lies "
                        "about contacts",
    Concern.ACCURACY: "the number of found targets depends on the network; the plan gives the cost of the noise for "
                      "synthetic networks",
    Concern.PARTICIPATION: "nobody is invited or paid, so nobody decides whether to take part",
}

_Rows = Callable[[], list[AuditRow]]


def search(mechanism: PTarget, seed: int = 0, *, charged: float | None = None) -> Audited:
    """The audit of one private search.

    Args:
        mechanism: the private search with the parameters of the campaign.
        seed: seed of the audit's own runs of the search.
        charged: epsilon that a plan charges to the ledger, in nats; None without a plan.

    Raises:
        InvalidInput: a mechanism that is not a private search, or a search that never looks for another component.

    Source: spec targeted_search 10 and 11 (check 5).

    Example:
        >>> from confide.audit import promise_rows
        >>> it = search(PTarget(1000, 5, 50, 0.5, 40, "private"))
        >>> rows, faulty = promise_rows(it.promises, it.events)  # the first rows; all take seconds
        >>> [(row.verdict.value, row.measured) for row in rows]
        [('kept', 2.0), ('kept', 1.0)]
    """
    if not isinstance(mechanism, PTarget):
        raise InvalidInput("mechanism", f"{type(mechanism).__name__} is not a private search", "must be a PTarget")
    if mechanism.calls < 1:
        raise InvalidInput("mechanism", "never looks for another component",
                           "must look for another component, since otherwise there is nothing private to audit")
    left = unplanted(mechanism)
    measured = [*_lists(mechanism, left), _misses(mechanism), *_thresholds(mechanism, left), *_runs(mechanism, seed)]
    if charged is not None:
        measured += settled(mechanism, seed, charged)
    return Audited(promises=mechanism.guarantees(), events=mechanism.events, charged=named_charge(mechanism),
                   measured=measured, unpromised=None if charged is None else _UNPROMISED)


def named_charge(mechanism: PTarget) -> PureDP:
    """The privacy loss that follows from the parameters: epsilon times the number of searches for a component.

    Args:
        mechanism: the private search with the parameters of the campaign.
    """
    return PureDP(mechanism.calls * mechanism.epsilon)


def _few(*rows: AuditRow) -> list[AuditRow]:
    """Mark audit rows as measured on small networks, for which the laws of lists can be computed. Such rows use the
    campaign's rules, but not the campaign's size.
    """
    return [row.smaller("the people of small synthetic networks") for row in rows]


def _left(left: Mapping[str, str], *faults: str) -> str:
    """A sentence that names the faults that are not injected, with the reasons."""
    return "; ".join(f"{_FAULTS[each]} is not injected: {left[each]}" for each in faults if each in left)


def _injected(left: Mapping[str, str], faults: Sequence[tuple[str, str, Any]]) -> dict[str, Any]:
    """Mapping from the description of a fault to the mutant, without the faults in `left`. The argument `faults` lists
    triples (key, description, mutant).
    """
    return {words: it for key, words, it in faults if key not in left}


def _lists(mechanism: PTarget, left: Mapping[str, str]) -> list[Examined]:
    attained = getattr(mechanism.statistic, "length", 2) == 2  # beyond two edges sensitivity is a loose bound
    quiet = inject_fault(mechanism, HalvedNoise if attained else EighthNoise)
    faults = [("noise", f"noise at {'half' if attained else 'an eighth'} of its scale", (quiet, LawTree)),
              ("cap", "at most one examined vertex", (mechanism, CappedTree))]
    if mechanism.stop != "none":
        faults.append(("fake", "a fake target without noise", (mechanism, QuietFakeTree)))
    planned = any(isinstance(each.loss, ApproxDP) for each in mechanism.guarantees().privacy)
    delta = {"a list that is charged as if it disclosed nothing": 0.0} if planned else {}
    return [
        Examined(named="a selection", sound=(mechanism, LawTree), faults=_injected(left, faults), rows=lambda it: _few(
            replace(selection_row(it[0], it[1], mechanism), note=_left(left, "noise", "fake", "cap")))),
        Examined(named="the list", rows=lambda _: _few(list_row(mechanism)), events=partial(list_events, mechanism)),
        Examined(named="inside a component", sound=Walk, rows=lambda walk: _few(transcript_row(mechanism, walk)),
                 faults={"ties broken by the number of contacts": TiesByDegree}),
        Examined(named="the delta of a list", sound=1.0, rows=lambda share: _few(*delta_row(mechanism, share)),
                 faults=delta)]


def _thresholds(mechanism: PTarget, left: Mapping[str, str]) -> list[Examined]:
    if not mechanism.call.draws_threshold:
        return []
    found = [
        Examined(named="the threshold", sound=mechanism, rows=lambda it: _few(
            replace(threshold_row(it, mechanism), note=_left(left, "draw", "sharp", "counted"))),
            faults=_injected(left, [
                ("draw", "no noise", inject_fault(mechanism, NoiselessThreshold)),
                ("sharp", "the sensitivity of one count", inject_fault(mechanism, SharpThreshold))])),
        Examined(named="the threshold", sound=mechanism, rows=lambda it: _few(history_row(it)), faults=_injected(left, [
            ("counted", "the unexamined counted", inject_fault(mechanism, CountsUnexamined))]))]
    if mechanism.stop == "private":
        found.append(Examined(named="list and threshold", sound=Witness(printed=False), rows=_witnessed,
                              faults={"the printed count": Witness()}))
    return found


def _witnessed(witness: Witness) -> list[AuditRow]:
    """Audit row for the rule of the threshold, on a network where the printed rule leaks."""
    return _few(AuditRow.at_most(
        "privacy: the list together with its second threshold", witness.promised, witness.loss,
        f"exact law on {witness.strangers:,} strangers and {witness.bridged} targets behind one of them, epsilon "
        f"{witness.epsilon:g}", unit="nats", concern=Concern.PRIVACY))


def _runs(mechanism: PTarget, seed: int) -> list[Examined | FullSize]:
    near = min(mechanism.epsilon, 1.0)  # where noise that is used again shows, and a cap; half of it shows at another
    faults: dict[str, _Rows] = {
        "half of the noise is drawn": lambda: [runs_row(inject_fault(mechanism, HalfDrawn), seed, sound=mechanism)],
        "a query cap": lambda: [runs_row(mechanism, seed, runs=_CAPPED, query_cap=4, epsilon=near)]}
    if mechanism.stop != "none":  # else the second call finds the last component there, whatever it draws
        faults["the same noise in every call"] = lambda: [
            runs_row(mechanism, seed, noise=_stuck(seed), epsilon=near)]
    return [Examined(named="own runs", rows=_computed, faults=faults, sound=lambda: _few(
        runs_row(mechanism, seed), runs_row(mechanism, seed, epsilon=near))),
        FullSize(rows=rerun(mechanism, seed), sound=mechanism,
                 damped=lambda factor: inject_fault(mechanism, drawn_at(factor)))]


def _computed(rows: _Rows) -> list[AuditRow]:
    return rows()


def _stuck(seed: int) -> Callable[[int], Noise]:
    return lambda number: StuckNoise(lambda: Noise.simulated((seed << 20) + number))


# ---- how well a drawn threshold does, at a campaign's own size


def _misses(mechanism: PTarget) -> Examined:
    shown = any(not promise.vacuous and _shows(rule, promise) for rule, promise in _drawn(mechanism))
    return Examined(named="the threshold's error", sound=False, rows=partial(threshold_misses, mechanism),
                    faults={"a threshold that is drawn without the data": True} if shown else {})


def threshold_misses(mechanism: PTarget, even: bool = False) -> list[AuditRow]:
    """Audit rows on the promised error of a drawn threshold. Each row compares the exact probability of a larger error
    with the promised failure probability. The error is the distance between the stopping target K and the number of
    people before the threshold, minus the least such distance of any threshold. A search that draws no threshold has no
    rows.

    Args:
        mechanism: the private search with the parameters of the campaign.
        even: whether the threshold is drawn uniformly, for a mutant that ignores all counts.

    Example:
        >>> threshold_misses(PTarget(2000, 3, 8, 2.0, 100, "private"))[0].verdict
        <Verdict.KEPT: 'kept'>
    """
    return [AuditRow.at_most(
        "accuracy: probability that the number of people before a drawn threshold misses K by more than "
        f"{promise.bound:.4g} above the least distance",
                             promise.failure_probability, _worst(rule, promise.bound, rule.people, even=even),
        f"the exact law of the threshold on {len(list(_made_up(rule)))} synthetic populations of this size",
        vacuous=promise.vacuous, note="no threshold misses K by this distance" if promise.vacuous else "",
        unit="(probability)", concern=Concern.ACCURACY).holding(promise) for rule, promise in _drawn(mechanism)]


def _drawn(mechanism: PTarget) -> list[tuple[ThresholdRule, Accuracy]]:
    if not mechanism.call.draws_threshold:
        return []
    return [(mechanism.call.rule, promise) for promise in mechanism.guarantees().of(Accuracy)]


def _made_up(rule: ThresholdRule) -> Iterator[NDArray[np.float64]]:
    """Synthetic values of all vertices: the largest value for every vertex, 0 for every vertex, and falling values for
    a share of the vertices.
    """
    yield np.full(rule.people, float(rule.most))
    for share in _SHARES:
        values = np.zeros(rule.people)
        some = int(share * rule.people)
        values[:some] = np.floor(rule.most / np.arange(1, some + 1))
        yield values


def _worst(rule: ThresholdRule, bound: float, people: int, *, even: bool = False) -> float:
    """The largest probability, over the synthetic populations, of a threshold whose score exceeds the least score by
    more than the bound.
    """
    worst = 0.0
    for values in _made_up(rule):
        scores = np.asarray(rule.scores(values[:people]), dtype=np.float64)
        law = np.full(len(scores), 1.0 / len(scores)) if even else rule.law(values[:people])
        worst = max(worst, float(law[scores > scores.min() + bound].sum()))
    return worst


def _shows(rule: ThresholdRule, promise: Accuracy) -> bool:
    """Whether on some synthetic population a uniformly drawn threshold would break the promise."""
    return any(float((np.asarray(scores) > np.min(scores) + promise.bound).mean()) > promise.failure_probability
               for scores in (rule.scores(values) for values in _made_up(rule)))


# ---- what a campaign does with a run


def settled(mechanism: PTarget, seed: int, charged: float) -> list[Examined]:
    """Audits of the settlement: the ledger is charged the planned amount, and the mechanism accepts only lists that its
    runs can produce.

    Args:
        mechanism: the private search with the parameters of the campaign.
        seed: seed of simulated runs on a synthetic network.
        charged: epsilon that the plan charges to the ledger, in nats.
    """
    boards = _boards(mechanism, seed)
    # A list with one search fewer on its bill, and the same people.
    forged = [replace(each, calls=each.calls - 1, epsilon_spent=(each.calls - 1) * mechanism.epsilon)
              for each in boards if each.calls]
    return [
        Examined(named="the charge to the ledger, as a share of the planned cost", sound=mechanism.events(),
                 rows=partial(_spends, mechanism.delta, charged), faults={
                     "everything released twice": 2 * mechanism.events()}),
        Examined(named="number of lists of its runs that a verifier would call forged", sound=boards,
                 rows=partial(_checks, mechanism), faults={"lists without one of the searches": forged})]


def _spends(delta: float, charged: float, events: Sequence[Event]) -> list[AuditRow]:
    cost = price("basic", tuple(events), delta)
    return [AuditRow.at_most("the charge to the ledger, as a share of the planned cost", 1.0 + 1e-9,
                             float(cost.epsilon) / charged, f"the price of all releases of the run, delta = {delta:g}",
                             unit="times the plan", concern=Concern.BUDGET)]


def _checks(it: PTarget, boards: Sequence[PublicRelease]) -> list[AuditRow]:
    mechanism, refused = _small(it), 0
    for board in boards:
        try:
            mechanism.check(board)
        except InvalidInput:
            refused += 1
    return [AuditRow.at_most("number of lists of its runs that a verifier would call forged", 0.0, float(refused),
                             f"{len(boards)} simulated runs", unit="lists",
                             concern=Concern.ACCURACY).smaller(network().name)]


def _small(it: PTarget) -> PTarget:
    mechanism: PTarget = fitted(it, network(), min(3, it.components))
    return mechanism


def _boards(it: PTarget, seed: int) -> list[PublicRelease]:
    """Released lists of simulated runs on a small network."""
    made, mechanism, out = network(), _small(it), list[PublicRelease]()
    graph = _graph(made)
    for number in range(_LISTS):
        investigation = Investigation(graph, made.targets[0], made.targeted)
        board = mechanism.run(investigation, Noise.simulated(1000 * seed + number)).billboard
        if not isinstance(board, PublicRelease):
            raise InvalidInput("outcome", "is not a list of a search")
        out.append(board)
    return out


def _graph(made: Made) -> Graph:
    rows = made.graphs[0]
    first = np.repeat(np.arange(rows.people), np.diff(rows.indptr))
    return Graph.from_edges(first, rows.indices.astype(np.int64), people=rows.people)
