"""Exact privacy losses of a private search: the losses of the threshold, of a choice among noisy values, and of the
whole released list.

The output laws are computed on all graphs that result when one protected vertex of a synthetic network changes its
contacts (is rewired). Every two graphs of one network are compared, in both directions. The comparison uses no sampling
and raises no false alarms.

The module also builds the worst-case networks, each with the graphs that result from rewiring one protected vertex. In
these networks a hidden target is a target outside the seed's component, a stranger is a protected vertex that is not a
target, and a bridge is a vertex that links a hidden target to the seed. No real data is used. All degrees are within
the network's own degree bound, so every two of its graphs are neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.audit import AuditRow, Concern
from confide.contract.guarantees import Privacy
from confide.privacy.accounting import Accountant
from confide.privacy.events import Event
from confide.privacy.losses import ApproxDP, PureDP
from confide.search.audited_faults import misses
from confide.search.exact_laws import LawTree, Rows, rewirings
from confide.search.statistics import CommonNeighbours, LargestFlow
from confide.search.targeted import PTarget

__all__ = [
    "WIDEST",
    "Made",
    "counts_each",
    "crowd",
    "delta_row",
    "fitted",
    "hub_bridge",
    "hub_rivals",
    "lifted",
    "list_delta",
    "list_events",
    "list_loss",
    "list_row",
    "network",
    "networks",
    "rivals",
    "selection_row",
    "shared_bridge",
    "spread",
    "threshold_row",
    "tied",
    "tree_of",
    "unplanted",
]

# ---- audited networks

_Edges = tuple[tuple[int, int], ...]

_RAREST = 1e-150  # the largest chance of an outcome whose other chances doubles may not hold any more

WIDEST = 300
"""Largest number of bridges in a network. The law of a network with `WIDEST` bridges still takes milliseconds to
compute.
"""


@dataclass(frozen=True)
class Made:
    """A synthetic network, its targets, and all ways in which one protected vertex can be rewired (get other contacts).

    Args:
        name: short description of the network, for the audit report.
        people: number of people.
        fixed: edges between the vertices that are not rewired.
        vertex: index of the protected vertex that is rewired.
        contacts: contacts of the rewired vertex in each graph. The first graph is the network itself.
        targets: indices of the targets; the first one is the seed.
        degree_bound: public bound d on all degrees.
        stopping_target: stopping target K, the approximate number of people after which a search for a component gives
            up.
    """

    name: str
    people: int
    fixed: _Edges
    vertex: int
    contacts: tuple[tuple[int, ...], ...]
    targets: tuple[int, ...]
    degree_bound: int
    stopping_target: int = 2

    @cached_property
    def graphs(self) -> tuple[Rows, ...]:
        """All graphs of the network, of which every two are neighbours."""
        base = np.zeros((self.people, self.people), dtype=np.bool_)
        for u, v in self.fixed:
            base[u, v] = base[v, u] = True
        out = []
        for known in self.contacts:
            joined = base.copy()
            joined[self.vertex, list(known)] = joined[list(known), self.vertex] = True
            out.append(Rows.of_matrix(joined))
        return tuple(out)

    @cached_property
    def targeted(self) -> NDArray[np.bool_]:
        """Whether each vertex is a target, shape (n,)."""
        out = np.zeros(self.people, dtype=np.bool_)
        out[list(self.targets)] = True
        return out


@lru_cache(maxsize=1)
def network() -> Made:
    """A network of ten people with three groups of targets, and all rewirings of one stranger. All degrees are at most
    4.
    """
    fixed = ((0, 1), (0, 2), (1, 3), (2, 4), (4, 5), (3, 6), (6, 7), (3, 7), (2, 9), (9, 6))
    targets, vertex, bound = (0, 1, 4, 5, 7), 8, 4
    joined = np.zeros((10, 10), dtype=np.bool_)
    for u, v in fixed:
        joined[u, v] = joined[v, u] = True
    contacts = [tuple(graph.indices[graph.indptr[vertex] : graph.indptr[vertex + 1]].tolist())
                for graph in rewirings(Rows.of_matrix(joined), vertex, bound)]
    return Made("all rewirings of one vertex among ten people", 10, fixed, vertex, tuple(contacts), targets, bound)


def rivals(scale: float, lift: int = 0) -> Made:
    """A network with two hidden targets, of which one has a much larger statistic. A rewired stranger may be a contact
    of either hidden target, of both, or of neither.

    Args:
        scale: noise scale b. The number of bridges is about 6 b, at which the loss is close to its worst case.
        lift: number of bridges that join the seed to both hidden targets in every graph.
    """
    count = min(WIDEST, math.ceil(6 * scale) + 1)
    fixed: list[tuple[int, int]] = []
    for bridge in range(4, 4 + count + lift):
        fixed += [(0, bridge), (2, bridge)]
        if bridge >= 4 + count:
            fixed.append((1, bridge))
    contacts = ((0, 1), (0, 2), (0,), (), (0, 1, 2))
    return Made("two undiscovered targets, one ahead", 4 + count + lift, tuple(fixed), 3, contacts, (0, 1, 2),
                count + lift + 1)


def shared_bridge(others: int = 30, lift: int = 0) -> Made:
    """A network with many hidden targets. One stranger joins either all of the hidden targets to the seed, or none of
    them.

    Args:
        others: number of hidden targets.
        lift: number of bridges that join the seed to all hidden targets in every graph.
    """
    targets = tuple(range(2, 2 + others))
    fixed = [(end, bridge) for bridge in range(2 + others, 2 + others + lift) for end in (0, *targets)]
    return Made(f"{others} undiscovered targets behind one vertex", 2 + others + lift, tuple(fixed), 1,
                ((0,), (0, *targets), targets, ()), (0, *targets), max(others, lift) + 1, stopping_target=others // 2)


def crowd(scale: float, lift: int = 0) -> Made:
    """A network with one hidden target, and a stranger who shares either many contacts with the seed, or none.

    Args:
        scale: noise scale b.
        lift: number of bridges that join the seed to the hidden target in every graph.
    """
    count = min(WIDEST, math.ceil(6 * scale) + 3) + lift
    near = tuple(range(3, 3 + count))
    fixed = [*((0, v) for v in near), *((1, v) for v in near[:lift])]
    return Made("a stranger in the population around the seed",
                3 + count, tuple(fixed), 2, ((), near), (0, 1), count + 1)


def _hub(found: int) -> tuple[tuple[int, ...], list[_Edges]]:
    """A group of targets who all know each other, and the edges between them."""
    members = tuple(range(found))
    return members, [((u, v),) for u in members for v in members if u < v]


def hub_rivals(scale: float) -> Made:
    """A network with two hidden targets, of which one has a larger statistic, and a stranger. The stranger knows all
    members of a group of targets in some graphs, and none of them in other graphs. The network is for statistics that
    count a stranger once for each found target that the stranger knows.

    Args:
        scale: noise scale b, in units of the statistic's sensitivity.
    """
    ahead = min(WIDEST // 3, math.ceil(2.5 * scale) + 1)
    members, fixed = _hub(min(WIDEST, max(40, 3 * ahead)))
    here = len(members)
    behind, front, stranger = here, here + 1, here + 2
    for bridge in range(here + 3, here + 3 + ahead):
        fixed += [((front, bridge),), *(((one, bridge),) for one in members)]
    contacts = ((*members, behind), (*members, front), members, ())
    return Made("two undiscovered targets, one ahead, around a group",
                here + 3 + ahead, tuple(edge for (edge,) in fixed),
                stranger, contacts, (*members, behind, front), here + ahead + 1)


def hub_bridge(found: int = 40, others: int = 40) -> Made:
    """A network with many hidden targets. One stranger joins either all of the hidden targets to a group of found
    targets, or none of them.

    Args:
        found: number of targets in the group.
        others: number of hidden targets.
    """
    members, fixed = _hub(found)
    hidden = tuple(range(found, found + others))
    contacts = (members, (*members, *hidden), hidden, ())
    return Made(f"{others} undiscovered targets behind one person with contacts to a group", found + others + 1,
                tuple(edge for (edge,) in fixed), found + others, contacts, (*members, *hidden), found + others,
                stopping_target=others // 2)


@lru_cache(maxsize=1)
def tied() -> Made:
    """A network with one component of five targets, some of which have equally many contacts among the found targets,
    and all rewirings of one stranger.
    """
    fixed, targets, vertex, bound = ((0, 1), (0, 2), (1, 3), (2, 4), (5, 6)), (0, 1, 2, 3, 4), 7, 4
    joined = np.zeros((8, 8), dtype=np.bool_)
    for u, v in fixed:
        joined[u, v] = joined[v, u] = True
    contacts = [tuple(graph.indices[graph.indptr[vertex] : graph.indptr[vertex + 1]].tolist())
                for graph in rewirings(Rows.of_matrix(joined), vertex, bound)]
    return Made("all rewirings of one vertex around a component with ties", 8, fixed, vertex, tuple(contacts), targets,
                bound)


def fitted(mechanism: PTarget, made: Made, components: int = 2, stopping_target: int | None = None) -> Any:
    """A mechanism with the noise, stop and statistic of the given mechanism, and with the number of people, degree
    bound and stopping target of a synthetic network.

    Args:
        mechanism: sound mechanism, or a mutant.
        made: the synthetic network.
        components: number k of components.
        stopping_target: stopping target K; None for the stopping target of the network.
    """
    target = made.stopping_target if stopping_target is None else stopping_target
    return replace(mechanism, people=made.people, components=components, degree_bound=made.degree_bound,
                   stopping_target=None if mechanism.stopping_target is None else target)


def tree_of(one: Any, made: Made, components: int = 2, kind: type[LawTree] = LawTree) -> LawTree:
    """The object that computes the exact law of the released list for each graph of a network.

    Args:
        one: public parameters of one search for a component.
        made: the synthetic network.
        components: number k of components.
        kind: class that computes the laws of the released list, for the sound search or for a mutant.
    """
    return kind(one, components, made.targets[:1], made.targeted)


def spread(laws: Iterable[NDArray[np.float64]]) -> float:
    """The largest log ratio, over all outcomes, of the probabilities of one outcome under two of the laws. Outcomes
    that are too rare for doubles are left out.

    Args:
        laws: arrays of probabilities, all over the same outcomes in the same order.

    Example:
        >>> round(spread([np.array([0.5, 0.5]), np.array([0.25, 0.75])]), 6)
        0.693147
    """
    table = np.array(list(laws))
    possible = table[:, table.max(axis=0) > _RAREST]
    if (possible == 0).any():
        return math.inf
    logs = np.log(possible)
    return float(np.max(logs.max(axis=0) - logs.min(axis=0), initial=0.0))


# ---- audited losses

_NEVER = 1e-150  # rarer outcomes are not compared: doubles may not hold their chances


def networks(mechanism: PTarget) -> tuple[Made, ...]:
    """The synthetic networks of the audit. The networks are small, and their sizes depend on the mechanism's noise
    scale.

    Args:
        mechanism: the private search with the parameters of the campaign.
    """
    scale = fitted(mechanism, network()).call.noise_scale / fitted(mechanism, network()).call.sensitivity
    if counts_each(mechanism):
        return network(), hub_rivals(scale), hub_bridge(), crowd(scale)
    lift = lifted(mechanism)
    return network(), rivals(scale, lift), shared_bridge(lift=lift), crowd(scale, lift)


def counts_each(mechanism: PTarget) -> bool:
    """Whether a stranger who knows more of the found targets adds more to the statistic of a hidden target.

    Args:
        mechanism: the private search with the parameters of the campaign.
    """
    statistic = mechanism.statistic
    return not isinstance(statistic, CommonNeighbours | LargestFlow)


def lifted(mechanism: PTarget) -> int:
    """Number of contacts that hidden targets share with the seed in every graph. This number brings the statistic of
    the hidden targets near a public threshold. Without a public threshold the number is 0.

    Args:
        mechanism: the private search with the parameters of the campaign.
    """
    if mechanism.public_threshold is None or counts_each(mechanism):
        return 0
    return min(WIDEST, max(0, math.ceil(min(mechanism.public_threshold, WIDEST + 1.0)) - 1))


def unplanted(mechanism: PTarget) -> dict[str, str]:
    """Mapping from the key of a fault to a reason. The mapping holds the faults of a selection or a threshold that the
    audit does not inject, because the leak cannot be shown at the given parameters.

    The mapping follows from the parameters, not from results of an audit.

    Args:
        mechanism: the private search with the parameters of the campaign.
    """
    found, wide = dict[str, str](), isinstance(mechanism.statistic, LargestFlow) and mechanism.statistic.length > 2
    if wide:
        why = "no synthetic network reaches the sensitivity of flow over more than two edges"
        found |= {"noise": why, "fake": why}
    elif getattr(mechanism.statistic, "length", 2) > 4 and counts_each(mechanism):
        found["fake"] = "no synthetic network brings targets near the statistic's sensitivity"
    value = mechanism.public_threshold
    if value is not None:
        one = fitted(mechanism, hub_bridge() if counts_each(mechanism) else shared_bridge()).call
        base = lifted(mechanism)
        if value - base > 2 * one.noise_scale:
            why = f"the threshold {value:g} is far above all values in a synthetic network"
            found |= {"noise": why, "fake": why, "cap": why}
        elif misses(one, base, value) ** 30 < _NEVER:
            found["fake"] = f"a fake target with the fixed value {value:g} never comes first, so it discloses nothing"
    if mechanism.largest_threshold == 0:
        found |= dict.fromkeys(("draw", "sharp", "counted"), "0 is the only possible threshold")
    elif mechanism.stop == "smoothed" and not mechanism.call.rule.smooth:
        found["sharp"] = "with this statistic, a smoothed count moves by far less than the charged sensitivity"
    return found


def _released(tree: LawTree, made: Made) -> tuple[int, ...]:
    return tree._component(made.graphs[0], made.targets[0])


def selection_row(mechanism: PTarget, kind: type[LawTree] = LawTree, sound: PTarget | None = None) -> AuditRow:
    """Compare the exact privacy loss of the first choice among noisy values, when the threshold is known, with the
    epsilon that the mechanism states for one choice.

    Args:
        mechanism: sound mechanism, or a mutant.
        kind: class that computes the laws of the released list, for the sound search or for a mutant.
        sound: sound mechanism whose promise is checked, if `mechanism` is a mutant; None if `mechanism` is sound.
    """
    worst, pairs = (0.0, 1.0), 0
    for made in networks(sound or mechanism):
        one, promised = fitted(mechanism, made).call, fitted(sound or mechanism, made).call.selection_epsilon
        for known in _known(one):
            settings = SimpleNamespace(statistic=one.statistic, noise_kind=one.noise_kind, noise_scale=one.noise_scale,
                                       draws_threshold=False, public_threshold=known)
            tree = tree_of(settings, made, kind=kind)
            order = _released(tree, made)
            found = spread(tree.call(tree.hidden(graph, order)) for graph in made.graphs)
            worst = max(worst, (found, promised), key=lambda pair: pair[0] / pair[1])
        pairs += len(made.graphs) ** 2
    return AuditRow.at_most(
        "privacy: one choice among noisy values, with a known threshold", worst[1], worst[0],
        f"laws by integration on {len(networks(sound or mechanism))} networks, {pairs} ordered pairs of neighbours",
        unit="nats", concern=Concern.PRIVACY)


def _known(one: Any) -> Sequence[float | None]:
    if one.public_threshold is not None:
        return (one.public_threshold,)
    return (0.0, 1.0, float(one.statistic.most(one.degree_bound))) if one.draws_threshold else (None,)


def threshold_row(mechanism: PTarget, sound: PTarget | None = None) -> AuditRow:
    """Compare the exact loss of a drawn threshold, given the released list, with the epsilon of a threshold.

    Args:
        mechanism: sound mechanism, or a mutant, with a stop that draws a threshold.
        sound: sound mechanism whose promise is checked, if `mechanism` is a mutant; None if `mechanism` is sound.
    """
    worst, pairs = (0.0, 1.0), 0
    for made in (network(), shared_bridge(), shared_bridge(4)):
        for target in sorted({made.stopping_target, made.degree_bound, made.people // 2}):
            one = fitted(mechanism, made, stopping_target=target).call
            promised = fitted(sound or mechanism, made).call.selection_epsilon
            tree = tree_of(one, made)
            first = _released(tree, made)
            for order in (first, first + tree._component(made.graphs[0], made.targets[-1])):
                found = spread(np.asarray(tree.hidden(graph, order).threshold) for graph in made.graphs)
                worst = max(worst, (found, promised), key=lambda pair: pair[0] / pair[1])
        pairs += len(made.graphs) ** 2
    return AuditRow.at_most("privacy: the threshold alone, given the released list", worst[1], worst[0],
                            f"law of the threshold on 3 networks, {pairs} ordered pairs of neighbours",
                            unit="nats", concern=Concern.PRIVACY)


def list_loss(tree: LawTree, graphs: Sequence[Any]) -> float:
    """The largest log ratio, over all lists, of the probabilities of one released list on two of the graphs.

    Args:
        tree: exact laws of the search.
        graphs: graphs with the same edges between targets.
    """
    laws = [tree.law(graph) for graph in graphs]
    names = sorted({order for law in laws for order in law})
    return spread(np.array([law.get(order, 0.0) for order in names]) for law in laws)


def list_row(mechanism: PTarget) -> AuditRow:
    """Compare the exact loss of the released list after two searches for a component with the promise of a mechanism
    that makes two such searches.

    Args:
        mechanism: the private search with the parameters of the campaign.
    """
    worst, lists, pairs = 0.0, 0, 0
    pure = list[Privacy]()
    for made, own in _of_two_calls(mechanism):
        pure += [each for each in own.guarantees().privacy if isinstance(each.loss, PureDP)]
        tree = tree_of(own.call, made, 3)
        worst = max(worst, list_loss(tree, made.graphs))
        lists += len(tree.law(made.graphs[0]))
        pairs += len(made.graphs) ** 2
    return AuditRow.of_privacy(min(pure, key=lambda each: each.loss.epsilon), worst,  # type: ignore[attr-defined]
                               f"exact laws of {lists} lists on 3 networks, {pairs} ordered pairs of neighbours",
                               named="privacy: the released list after two searches for a component")


def list_events(mechanism: PTarget) -> tuple[Event, ...]:
    """The privacy events of the two searches for a component in `list_row`, on the network where these events cost
    least.

    Args:
        mechanism: the private search with the parameters of the campaign.
    """
    charged: list[tuple[Event, ...]] = [own.events() for _, own in _of_two_calls(mechanism)]
    return min(charged, key=lambda events: Accountant(events).epsilon())


def _of_two_calls(mechanism: PTarget) -> list[tuple[Made, Any]]:
    return [(made, fitted(mechanism, made, 3)) for made in (network(), rivals(1.0), crowd(1.0))]


def delta_row(mechanism: PTarget, share: float = 1.0) -> list[AuditRow]:
    """Compare the exact delta of the released list after two searches for a component with the planned delta. The delta
    is computed at the epsilon that a mechanism of two searches promises. Without a planned delta the list of audit rows
    is empty.

    Args:
        mechanism: the private search with the parameters of the campaign.
        share: fraction of the promised epsilon at which delta is computed; 1 for the sound search. For a mutant the
            fraction is below 1, so that the mutant claims a smaller loss than is promised.
    """
    if not any(isinstance(each.loss, ApproxDP) for each in mechanism.guarantees().privacy):
        return []
    worst, pairs = 0.0, 0
    for made, own in _of_two_calls(mechanism):
        epsilon = share * min(each.loss.epsilon for each in own.guarantees().privacy
                              if isinstance(each.loss, ApproxDP))
        tree = tree_of(own.call, made, 3)
        worst, pairs = max(worst, list_delta(tree, made.graphs, epsilon)), pairs + len(made.graphs) ** 2
    return [AuditRow.at_most(
        "privacy: the delta of the list after two searches, at the promised epsilon of two searches", mechanism.delta,
        worst,
        f"exact laws on 3 networks, {pairs} ordered pairs of neighbours, epsilon by the same composition",
        scale=0.0, unit="(delta)", concern=Concern.PRIVACY)]


def list_delta(tree: LawTree, graphs: Sequence[Any], epsilon: float) -> float:
    """The largest delta of the released list at a given epsilon, over all pairs of graphs. The delta of a pair is the
    mass of one law above e^epsilon times the other law.

    Args:
        tree: exact laws of the search.
        graphs: graphs with the same edges between targets.
        epsilon: privacy loss in nats.
    """
    laws = [tree.law(graph) for graph in graphs]
    names = sorted({order for law in laws for order in law})
    table = np.array([[law.get(order, 0.0) for order in names] for law in laws])
    return max(float(np.maximum(0.0, one - np.exp(epsilon) * table).sum(axis=1).max()) for one in table)
