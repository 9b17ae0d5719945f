"""Audits of a private search's own code: comparisons of the program with the exact laws, on small networks and at full
size.

*Small networks.* The exact losses are computed from a probability law, not from the program. The audits compare this
law with two outputs of the program. One output is the logits with which the program draws each threshold, for any set
of vertices examined before. The other output is the lists of some thousand runs.

*Full size.* Exact laws are limited to networks of a few people and three components. The full-size audit keeps the
campaign's number of components, noise, stop and number of people, up to 50,000 people (2,000 for statistics other than
common neighbours). The audit records a whole run. Then the audit computes each search for a component again, from the
records, the noise scale that follows from epsilon, and the draws of the run. The law of each threshold must be the law
of the rule. The examined vertices must be those that the draws determine, one by one, so the order shows whether noise
was reduced after it was drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from confide.audit import AuditRow, Concern, inject_fault
from confide.contract.errors import InvalidInput
from confide.privacy.noise import Draw, ForcedNoise, Noise, RecordingNoise
from confide.privacy.noise.simulated import study_generator
from confide.search.audited_faults import HalfLaw
from confide.search.audited_losses import fitted, network, spread, tied, tree_of
from confide.search.component_search import ComponentSearch
from confide.search.component_walk import Walk
from confide.search.exact_laws import LawTree, component_order, exact_law
from confide.search.graph import Graph
from confide.search.noisy_order import NoisyOrder
from confide.search.oracles import Investigation
from confide.search.releases import OperatorLog
from confide.search.statistics import CommonNeighbours
from confide.search.targeted import PTarget

__all__ = ["FALSE_ALARM", "RUNS", "full_size_row", "history_row", "rerun", "runs_row", "telling_epsilon",
           "transcript_row"]

# ---- audited runs

FALSE_ALARM = 1e-8
"""Probability that the audit flags the lists of a sound search."""

RUNS = 4000

_SCALES = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0)

_PUBLISHED = 20  # runs whose outcome is made: its promises are computed each time

_BLIND = ("with this stop, the audit does not cover noise that is used again in the next call: lists do not show such "
          "noise if only the targets take part")

_Array = NDArray[np.float64]


def history_row(mechanism: PTarget) -> AuditRow:
    """Check that the law of a drawn threshold does not depend on the strangers (people who are not targets) who were
    examined before.

    Args:
        mechanism: sound mechanism, or a mutant, with a stop that draws a threshold.

    Raises:
        InvalidInput: a stop that draws no threshold.
    """
    made = network()
    one = fitted(mechanism, made).call
    if not one.draws_threshold:
        raise InvalidInput("mechanism", "draws no threshold", 'must be stop="private" or "smoothed"')
    tree, worst, histories = tree_of(one, made), 0.0, 0
    known = made.targeted.astype(np.int8)
    for rows in made.graphs[:: max(1, len(made.graphs) // 12)]:
        graph = Graph(indptr=rows.indptr, indices=rows.indices)
        walk = Walk(graph, known.copy())
        walk.explore(made.targets[0])
        strangers = np.flatnonzero(~walk.examined & ~made.targeted).tolist()
        reference = np.asarray(tree.hidden(rows, tuple(walk.order.tolist())).threshold)
        before = walk.examined.copy()
        for some in chain.from_iterable(combinations(strangers, size) for size in range(len(strangers) + 1)):
            walk.examined[:] = before
            walk.examined[list(some)] = True
            history = RecordingNoise(Noise.simulated(histories))
            one.look(walk, history, 0)
            asked = [draw for draw in history.draws if draw.law == "selection"]
            worst = max(worst, spread([reference, _law_of(asked[0].center)]) if len(asked) == 1 else np.inf)
            histories += 1
    return AuditRow.at_most(
        "privacy: change of the threshold's law by the examined strangers, given the released list", 0.0, worst,
        f"the logits that the mechanism's own code requests, {histories} histories against the count of all people "
        "except targets and their contacts",
        unit="nats", concern=Concern.PRIVACY)


def _law_of(logits: Any) -> _Array:
    numbers = np.array([float(each) for each in logits])
    weights = np.exp(numbers - numbers.max())
    return np.asarray(weights / weights.sum())


def transcript_row(mechanism: PTarget, walk: type[Walk] = Walk) -> AuditRow:
    """Check that the order in which the targets of one component are listed stays the same under any change of the
    contacts of one stranger, a person who is not a target.

    Args:
        mechanism: the private search whose run is checked.
        walk: class that searches inside components, `Walk` or a mutant of it.
    """
    made, orders = tied(), set[tuple[int, ...]]()
    one = replace(fitted(mechanism, made), components=1)
    for rows in made.graphs:
        graph = Graph(indptr=rows.indptr, indices=rows.indices)
        inside = walk(graph, made.targeted.astype(np.int8))
        inside.explore(made.targets[0])
        run = one.run(Investigation(graph, made.targets[0], made.targeted), Noise.simulated(0))
        orders |= {tuple(inside.order.tolist()), tuple(run.billboard.order.tolist()),
                   component_order(rows, made.targets[0], made.targeted)}
    return AuditRow.at_most(
        "privacy: number of other orders inside a component after a change of one stranger's contacts", 0.0,
        float(len(orders) - 1), f"the mechanism's own walk and run on {len(made.graphs)} graphs: {made.name}",
        unit="orders", concern=Concern.PRIVACY)


def telling_epsilon(mechanism: PTarget, runs: int = RUNS) -> float:
    """The epsilon at which runs can best detect noise of half the scale, from the released lists on the small network.

    At the campaign's own epsilon the noise may be much larger than the statistics on the small network. Thousands of
    runs could then not detect that the noise is halved.

    Args:
        mechanism: sound mechanism, whose law follows from its parameters.
        runs: number of lists that will be drawn.
    """
    investigation, one = _small(), fitted(_at(mechanism, mechanism.epsilon), network(), 3)
    found: dict[float, float] = {}
    for scale in _SCALES:
        here = replace(one, epsilon=one.epsilon * one.call.noise_scale / scale)
        law, half = exact_law(here, investigation), exact_law(inject_fault(here, HalfLaw), investigation)
        found[here.epsilon] = min(_tail(round(runs * half.get(order, 0.0)), runs, chance)
                                  for order, chance in law.items())
    return float(min(found, key=lambda epsilon: found[epsilon]))


def _at(mechanism: PTarget, epsilon: float) -> PTarget:
    """The mechanism with an epsilon and a public threshold at which lists on the small network vary."""
    value = mechanism.public_threshold
    return replace(mechanism, epsilon=epsilon, public_threshold=None if value is None else 1.0)


def _small() -> Investigation:
    made = network()
    return Investigation(Graph(indptr=made.graphs[7].indptr, indices=made.graphs[7].indices), made.targets[0],
                         made.targeted)


def runs_row(
    mechanism: PTarget, seed: int = 0, *, runs: int = RUNS, noise: Callable[[int], Noise] | None = None,
    sound: PTarget | None = None, query_cap: int | None = None, epsilon: float | None = None,
) -> AuditRow:
    """Compare the lists of the program's own runs on a small network with their exact law.

    Args:
        mechanism: sound mechanism, or a mutant.
        seed: seed of the first run.
        runs: number of runs.
        noise: function from the number of a run to its source of noise; None for simulated noise.
        sound: sound mechanism whose law is expected, if `mechanism` is a mutant; None if `mechanism` is sound.
        query_cap: largest number of examinations of a run, for a mutant; None for no limit, as in every private run.
        epsilon: epsilon of one search for a component, in nats; None for the value of `telling_epsilon`.
    """
    made, investigation, reference = network(), _small(), sound or mechanism
    epsilon = telling_epsilon(reference) if epsilon is None else epsilon
    mine = fitted(_at(mechanism, epsilon), made, 3)
    source = noise or (lambda number: Noise.simulated((seed << 20) + number))
    law = exact_law(fitted(_at(reference, epsilon), made, 3), investigation)
    found: Counter[tuple[int, ...]] = Counter()
    for number in range(runs):
        search = mine.start(investigation, source(number), query_cap=query_cap,
                            without_guarantee=query_cap is not None).run()
        log = search.log
        order = (*made.targets[:1], *np.asarray(log.examined)[np.asarray(log.targeted)].tolist())
        if number < _PUBLISHED and tuple(search.outcome.billboard.order.tolist()) != order:
            order = ()  # what is published is not what was found
        found[order] += 1
    rarest = min(_tail(found.get(order, 0), runs, chance) for order, chance in law.items())
    if set(found) - set(law):
        rarest = 0.0
    # Two tails for each list, at an equal share of the false alarm each.
    limit = FALSE_ALARM / (2 * len(law))
    return AuditRow.at_most(
        f"law at epsilon {epsilon:.3g} for each call: probability of the least likely of its own counts, in powers of "
        "ten",
        -float(np.log10(limit)),
        -float(np.log10(max(rarest, 1e-300))), f"{runs} own runs on a network of {made.people}, {len(law)} lists",
        false_alarm=FALSE_ALARM, note=_BLIND if mechanism.stop == "none" else "",
        unit="powers of ten", concern=Concern.PRIVACY)


def _tail(count: int, runs: int, chance: float) -> float:
    """The smaller of the two binomial tail probabilities of a count."""
    chance = min(chance, 1.0)
    return float(min(binom.cdf(count, runs, chance), binom.sf(count - 1, runs, chance)))


# ---- audited rerun

_MOST, _SLOW = 50_000, 2_000  # people at most; with statistics that take long
_GROUP = 8
_TARGETS = (0.02, 0.02, 0.04, 0.04, 0.08)  # shares of the people, one for each run, until one makes all of its calls
_CLOSE = 1e-6  # nats between a threshold's law and its rule: two ways to add up chances of many people
_EXACT = 1e-12

_Ints = NDArray[np.int64]


class _Observed(NamedTuple):
    """A run, with its network, its draws and its log."""

    one: PTarget
    graph: Graph
    seed: int
    targeted: NDArray[np.bool_]
    draws: Sequence[Draw]
    log: OperatorLog


def rerun(mechanism: PTarget, seed: int = 0) -> Callable[[PTarget], list[AuditRow]]:
    """A function from a search, sound or mutant, to the audit rows of the full-size audit. The function always audits
    the same run number: the first run in which the sound search makes all of its searches for a component. If there is
    no such run, the function audits the run with the most searches for a component.

    Args:
        mechanism: the private search with the parameters of the campaign.
        seed: seed of the network and the noise.
    """
    chosen = list[int]()

    def rows(it: PTarget) -> list[AuditRow]:
        if not chosen:
            chosen.append(_row(mechanism, seed)[1])
        return [_row(it, seed, chosen[0])[0]]

    return rows


def full_size_row(mechanism: PTarget, seed: int = 0) -> AuditRow:
    """The row of the full-size audit for one mechanism.

    Args:
        mechanism: sound mechanism, or a mutant.
        seed: seed of the network and the noise.

    Example:
        >>> row = full_size_row(PTarget(400, 5, 40, 0.5, 30, "private"))
        >>> row.verdict.value, row.measured
        ('kept', 0.0)
    """
    return _row(mechanism, seed)[0]


def _row(mechanism: PTarget, seed: int, number: int | None = None) -> tuple[AuditRow, int]:
    """The row of the full-size audit, and the number of the run that it describes.

    Args:
        mechanism: sound mechanism, or a mutant.
        seed: seed of the network and the noise.
        number: number of the run; with None, the first run that makes all of its calls is audited, or if there is none,
            the run that makes most calls.
    """
    tried = range(len(_TARGETS)) if number is None else (number,)
    observed = dict[int, _Observed]()
    for k in tried:
        observed[k] = _observed(mechanism, seed * len(_TARGETS) + k, _TARGETS[k])
        if len(observed[k].log.call_began) == mechanism.calls:
            break
    most = max(observed, key=lambda k: len(observed[k].log.call_began))
    run = observed[most]
    calls = len(run.log.call_began)
    wrong = sum(_differs(run, call) for call in range(calls))
    row = AuditRow.at_most(
        "privacy: at the campaign's own size, number of calls that the noise does not explain", 0.0, float(wrong),
        f"a run on {run.one.people:,} synthetic people, {calls} of {run.one.calls} calls made, "
        f"{len(run.log.examined):,} people examined; thresholds' laws and the order computed again from the run's "
        "draws",
        unit="calls", concern=Concern.PRIVACY)
    return row.smaller(f"{run.one.people:,} people" if run.one.people < mechanism.people else ""), most


def _observed(mechanism: PTarget, seed: int, share: float) -> _Observed:
    quick = isinstance(mechanism.statistic, CommonNeighbours)
    one = replace(mechanism, people=min(mechanism.people, _MOST if quick else _SLOW))
    graph, start, targeted = _network(one, seed, share)
    noise, log = RecordingNoise(Noise.simulated(seed)), OperatorLog()
    one.start(Investigation(graph, start, targeted), noise, log=log).run()
    return _Observed(one, graph, start, targeted, tuple(noise.draws), log)


def _network(one: PTarget, seed: int, share: float) -> tuple[Graph, int, NDArray[np.bool_]]:
    """A synthetic network, the seed, and the targets. Each person is in up to two groups whose members know each other.
    In some groups half of the members are targets, and the seed is one of these targets.

    Args:
        one: mechanism with the size of the network.
        seed: seed of the groups.
        share: approximate share of targets among the people.
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


def _differs(run: _Observed, call: int) -> bool:
    """Whether a call differs from the call that follows from its draws and the records."""
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


def _quieter(run: _Observed, sound: ComponentSearch, call: int) -> bool:
    """Whether any noise of the call was drawn at a smaller scale than the rule requires."""
    return any(float(draw.scale) < sound.noise_scale * (1 - _EXACT) for draw in run.draws
               if draw.law == "discrete_laplace" and list(map(str, draw.stream[:2])) == ["component", str(call)])


def _threshold(run: _Observed, sound: ComponentSearch, released: _Ints, call: int) -> float | None:
    """The threshold that the call drew, or None if it was not drawn from the law of the rule."""
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
    """The settings of one call with the same parameters, for the code without an injected fault."""
    return PTarget(**{each.name: getattr(one, each.name) for each in fields(PTarget) if each.init}).call
