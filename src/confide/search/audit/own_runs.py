"""A private search's own code: what its threshold depends on, and whether its lists have the law that was computed.

The exact losses are those of a law. These rows tie the law to the program: the logits of every threshold that it asks
its noise for, whoever was examined before; and the lists of some thousand runs, against the law of each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import chain, combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from confide.audit import AuditRow, Concern, inject_fault
from confide.contract.errors import InvalidInput
from confide.privacy.noise import Noise, RecordingNoise
from confide.search.audit.made_up import fitted, network, spread, tied, tree_of
from confide.search.audit.mutants import HalfLaw
from confide.search.component_walk import Walk
from confide.search.exact_laws import component_order, exact_law
from confide.search.graph import Graph
from confide.search.oracles import Investigation
from confide.search.targeted import PTarget

__all__ = ["FALSE_ALARM", "RUNS", "history_row", "runs_row", "telling_epsilon", "walk_row"]

FALSE_ALARM = 1e-8
"""Probability that lists of a sound search are called wrong."""

RUNS = 4000

_SCALES = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0)

_PUBLISHED = 20  # runs whose outcome is made: its promises are computed each time

_BLIND = ("noise that is used again in the next call is not audited with this stop: lists do not show it, where nobody "
          "but the targets takes part")

_Array = NDArray[np.float64]


def history_row(mechanism: PTarget) -> AuditRow:
    """The law of the threshold that the program asks for, when different strangers were examined before.

    Args:
        mechanism: sound or broken, with a stop that draws a threshold.

    Raises:
        InvalidInput: its stop draws none.
    """
    made = network()
    one = fitted(mechanism, made).call
    if not one.draws_threshold:
        raise InvalidInput("mechanism", "draws no threshold", 'only stop="private" and "smoothed" do')
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
        "privacy: how far the examined strangers move the threshold's law, given the released list", 0.0, worst,
        f"the logits that its own code asks for, {histories} histories against the count over V minus N[T]",
        unit="nats", concern=Concern.PRIVACY)


def _law_of(logits: Any) -> _Array:
    numbers = np.array([float(each) for each in logits])
    weights = np.exp(numbers - numbers.max())
    return np.asarray(weights / weights.sum())


def walk_row(mechanism: PTarget, walk: type[Walk] = Walk) -> AuditRow:
    """The order inside a component, when one stranger's contacts are any others.

    Args:
        mechanism: whose own run is looked at.
        walk: inside components, sound or broken.
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
        "privacy: orders inside a component that other contacts of one stranger lead to, beside the one there is", 0.0,
        float(len(orders) - 1), f"its own walk and run on {len(made.graphs)} graphs: {made.name}",
        unit="orders", concern=Concern.PRIVACY)


def telling_epsilon(mechanism: PTarget, runs: int = RUNS) -> float:
    """The epsilon at which noise of half the scale shows most in the lists of the small network.

    At the campaign's own one, noise may drown the few contacts that there are: then half of it changes nothing that
    thousands of runs could show.

    Args:
        mechanism: whose law is that of its parameters.
        runs: how many lists there will be.
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
    """The same program with numbers at which lists on the small network vary: epsilon and threshold are not its own."""
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
    """Lists of the program's own runs on a small network, against the exact law.

    Args:
        mechanism: sound or broken.
        seed: of the first run.
        runs: how many.
        noise: number of a run -> another source.
        sound: whose law it should be, where the mechanism is broken.
        query_cap: give the run this cap, which no private run has.
        epsilon: of a call; None for the telling one.
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
        f"law at epsilon {epsilon:.3g} a call: how rare the most unlikely of its own counts is, in powers of ten",
        -float(np.log10(limit)),
        -float(np.log10(max(rarest, 1e-300))), f"{runs} own runs on a network of {made.people}, {len(law)} lists",
        false_alarm=FALSE_ALARM, note=_BLIND if mechanism.stop == "none" else "",
        unit="powers of ten", concern=Concern.PRIVACY)


def _tail(count: int, runs: int, chance: float) -> float:
    """The smaller of both tails of a count."""
    chance = min(chance, 1.0)
    return float(min(binom.cdf(count, runs, chance), binom.sf(count - 1, runs, chance)))
