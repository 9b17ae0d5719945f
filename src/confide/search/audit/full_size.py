"""One search at a campaign's own size: what it examined, computed again from the noise that it was given.

Laws are exact on networks of a few people and three components. Here the people, the components, the noise and the
stop are the campaign's own. A whole run is listened to; then each of its calls is worked out once more, from the
records, the scale that follows from epsilon, and the very draws that the run was given. The thresholds that it asked
for must have the law of the rule, and it must have examined whom those draws name, one by one: noise that is drawn and
then made smaller shows in the order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from confide.audit import AuditRow, Concern, Control, Verdict, inject_fault
from confide.privacy.noise import Draw, ForcedNoise, Noise, RecordingNoise
from confide.privacy.noise.simulated import study_generator
from confide.search.audit.made_up import spread
from confide.search.audit.mutants import drawn_at
from confide.search.component_search import ComponentSearch
from confide.search.exact_laws import LawTree
from confide.search.graph import Graph
from confide.search.noisy_order import NoisyOrder
from confide.search.oracles import Investigation
from confide.search.releases import OperatorLog
from confide.search.statistics import CommonNeighbours
from confide.search.targeted import PTarget

__all__ = ["full_size", "full_size_row"]

_MOST, _SLOW = 50_000, 2_000  # people at most; with statistics that take long
_GROUP = 8
_TARGETS = (0.02, 0.02, 0.04, 0.04, 0.08)  # shares of the people, one for each run, until one makes all of its calls
_FACTORS = (0.8, 0.5, 0.2, 0.05)
_CLOSE = 1e-6  # nats between a threshold's law and its rule: two ways to add up chances of many people
_EXACT = 1e-12

_Ints = NDArray[np.int64]


class _Heard(NamedTuple):
    """A run, and all that was heard of it."""

    one: PTarget
    graph: Graph
    seed: int
    targeted: NDArray[np.bool_]
    draws: Sequence[Draw]
    log: OperatorLog


def full_size(mechanism: PTarget, seed: int = 0) -> tuple[list[AuditRow], list[Control]]:
    """The run, and the same with the least change of its noise that shows there: it must be flagged.

    Args:
        mechanism: as it will run.
        seed: of the network and the noise.
    """
    row, most = _row(mechanism, seed)
    if row.flagged:
        return [row], []
    for factor in _FACTORS:
        broken, _ = _row(inject_fault(mechanism, drawn_at(factor)), seed, most)
        if broken.flagged:
            shown = replace(row, note=f"noise at {factor:g} of its scale is flagged here")
            return [shown], [Control(row.promise, f"noise at {factor:g} of its scale, at this size alone", True)]
    return [replace(row, verdict=Verdict.VACUOUS, note="so few people that less noise would not show")], []


def full_size_row(mechanism: PTarget, seed: int = 0) -> AuditRow:
    """The run alone.

    Args:
        mechanism: sound or broken.
        seed: of the network and the noise.

    Example:
        >>> row = full_size_row(PTarget(400, 5, 40, 0.5, 30, "private"))
        >>> row.verdict.value, row.measured
        ('kept', 0.0)
    """
    return _row(mechanism, seed)[0]


def _row(mechanism: PTarget, seed: int, number: int | None = None) -> tuple[AuditRow, int]:
    """The row, and which run it is of.

    Args:
        mechanism: sound or broken.
        seed: of the network and the noise.
        number: of the run; None for the first that makes all of its calls, or the one that makes most.
    """
    tried = range(len(_TARGETS)) if number is None else (number,)
    heard = dict[int, _Heard]()
    for k in tried:
        heard[k] = _heard(mechanism, seed * len(_TARGETS) + k, _TARGETS[k])
        if len(heard[k].log.call_began) == mechanism.calls:
            break
    most = max(heard, key=lambda k: len(heard[k].log.call_began))
    run = heard[most]
    calls = len(run.log.call_began)
    wrong = sum(_differs(run, call) for call in range(calls))
    row = AuditRow.at_most(
        "privacy: at its own size, calls that its noise does not explain", 0.0, float(wrong),
        f"a run on {run.one.people:,} made-up people, {calls} of {run.one.calls} calls made, "
        f"{len(run.log.examined):,} examined; thresholds' laws and the order worked out again from its draws",
        unit="calls", concern=Concern.PRIVACY)
    return row.smaller(f"{run.one.people:,} people" if run.one.people < mechanism.people else ""), most


def _heard(mechanism: PTarget, seed: int, share: float) -> _Heard:
    quick = isinstance(mechanism.statistic, CommonNeighbours)
    one = replace(mechanism, people=min(mechanism.people, _MOST if quick else _SLOW))
    graph, start, targeted = _network(one, seed, share)
    noise, log = RecordingNoise(Noise.simulated(seed)), OperatorLog()
    one.start(Investigation(graph, start, targeted), noise, log=log).run()
    return _Heard(one, graph, start, targeted, tuple(noise.draws), log)


def _network(one: PTarget, seed: int, share: float) -> tuple[Graph, int, NDArray[np.bool_]]:
    """Everybody is in two groups whose members know each other; of some groups half are targets, of one the seed.

    Args:
        one: at its size.
        seed: of the groups.
        share: of the people who are targets, about.
    """
    bound = one.people - 1 if one.degree_bound is None else one.degree_bound
    times = 2 if bound > 1 else 1
    size = max(1, min(_GROUP, 1 + bound // times, one.people))
    draw, first, second = study_generator(seed, "audit network"), list[_Ints](), list[_Ints]()
    pairs = np.array([(a, b) for a in range(size) for b in range(a)], dtype=np.int64).reshape(-1, 2)
    whole, groups = one.people // size, np.zeros((0, size), dtype=np.int64)
    for _ in range(times):
        groups = draw.permutation(one.people)[: whole * size].reshape(whole, size)
        first.append(groups[:, pairs[:, 0]].reshape(-1))
        second.append(groups[:, pairs[:, 1]].reshape(-1))
    graph = Graph.from_edges(np.concatenate(first), np.concatenate(second), people=one.people)
    targeted = np.zeros(one.people, dtype=np.bool_)
    chosen = groups[: min(whole, max(one.components + 2, round(2 * share * whole))), : max(1, size // 2)]
    targeted[chosen.reshape(-1)] = True
    return graph, int(chosen[0, 0]), targeted


# ---- a call, worked out again


def _differs(run: _Heard, call: int) -> bool:
    """Whether a call was not what its draws make of the records."""
    sound = _sound(run.one)
    if sound.noise_scale < 2 * sound.sensitivity / sound.selection_epsilon * (1 - _EXACT) or _quieter(run, sound, call):
        return True
    log, began = run.log, run.log.call_began[call]
    seen = np.asarray(log.examined, dtype=np.int64)
    examined = np.zeros(run.one.people, dtype=np.bool_)
    examined[seen[:began]] = examined[run.seed] = True
    released = np.append(seen[:began][np.asarray(log.targeted[:began])], run.seed)
    values = sound.statistic.values(run.graph, np.sort(released))
    threshold = sound.public_threshold
    if sound.draws_threshold:
        drawn = _threshold(run, sound, released, call)
        if drawn is None or drawn != log.thresholds[call]:
            return True
        threshold = drawn
    items = np.flatnonzero(~examined)
    order = NoisyOrder(values[items].astype(np.float64), sound.noise_scale, sound.noise_kind, ForcedNoise(run.draws),
                       stream=("component", call, "order"), fake=threshold, plain=not sound.statistic.whole)
    named = np.append(items, -1)[order.take(len(items) + 1)]
    ends = np.flatnonzero((named < 0) | run.targeted[named])
    stopped = not len(ends) or named[ends[0]] < 0
    asked = named[: ends[0] + (not stopped)] if len(ends) else named
    last = call == len(log.call_began) - 1
    return not np.array_equal(seen[began : began + len(asked)], asked) or \
        (stopped and not (last and len(seen) == began + len(asked)))


def _quieter(run: _Heard, sound: ComponentSearch, call: int) -> bool:
    """Whether noise that is drawn at a scale was drawn at a smaller one."""
    return any(float(draw.scale) < sound.noise_scale * (1 - _EXACT) for draw in run.draws
               if draw.law == "discrete_laplace" and list(map(str, draw.stream[:2])) == ["component", str(call)])


def _threshold(run: _Heard, sound: ComponentSearch, released: _Ints, call: int) -> float | None:
    """The threshold that was drawn, if it was asked for by the rule's own law; else None."""
    asked = [draw for draw in run.draws
             if draw.law == "selection" and list(map(str, draw.stream)) == ["component", str(call), "threshold"]]
    if len(asked) != 1:
        return None
    tree = LawTree(sound, run.one.components, (run.seed,), run.targeted)
    law: Any = tree.hidden(run.graph, tuple(released.tolist())).threshold
    logits = np.array([float(each) for each in asked[0].center])
    weights = np.exp(logits - logits.max())
    if weights.shape != law.shape or spread([law, weights / weights.sum()]) > _CLOSE:
        return None
    return float(asked[0].value[0])


def _sound(one: PTarget) -> ComponentSearch:
    """One call of a search with these parameters, by the code that nobody changed."""
    return PTarget(**{each.name: getattr(one, each.name) for each in fields(PTarget) if each.init}).call
