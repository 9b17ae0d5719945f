"""Exact losses of a private search: of its threshold, of a choice among noisy values, and of the whole released list.

Output laws are computed on all graphs that one protected vertex can make of a made-up network, and every two of them
are compared, in both directions. There is no sampling and no false alarm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from confide.audit import AuditRow, Concern
from confide.contract.guarantees import Privacy
from confide.privacy.losses import ApproxDP, PureDP
from confide.search.audit.made_up import (
    WIDEST,
    Made,
    crowd,
    fitted,
    hub_bridge,
    hub_rivals,
    network,
    rivals,
    shared_bridge,
    spread,
    tree_of,
)
from confide.search.audit.mutants import misses
from confide.search.exact_laws import LawTree
from confide.search.statistics import CommonNeighbours, LargestFlow
from confide.search.targeted import PTarget

__all__ = ["counts_each", "delta_row", "lifted", "list_delta", "list_loss", "list_row", "networks", "selection_row",
           "threshold_row", "unplanted"]

_NEVER = 1e-150  # rarer outcomes are not compared: doubles may not hold their chances



def networks(mechanism: PTarget) -> tuple[Made, ...]:
    """What the audit looks at: small, and made for this mechanism's scale.

    Args:
        mechanism: as it will run.
    """
    scale = fitted(mechanism, network()).call.noise_scale / fitted(mechanism, network()).call.sensitivity
    if counts_each(mechanism):
        return network(), hub_rivals(scale), hub_bridge(), crowd(scale)
    lift = lifted(mechanism)
    return network(), rivals(scale, lift), shared_bridge(lift=lift), crowd(scale, lift)


def counts_each(mechanism: PTarget) -> bool:
    """Whether one stranger moves a target the more, the more of the found she knows.

    Args:
        mechanism: as it will run.
    """
    statistic = mechanism.statistic
    return not isinstance(statistic, CommonNeighbours | LargestFlow)


def lifted(mechanism: PTarget) -> int:
    """What hidden targets share with the seed in any case, so that they come near a public threshold.

    Args:
        mechanism: as it will run.
    """
    if mechanism.public_threshold is None or counts_each(mechanism):
        return 0
    return min(WIDEST, max(0, math.ceil(min(mechanism.public_threshold, WIDEST + 1.0)) - 1))


def unplanted(mechanism: PTarget) -> dict[str, str]:
    """Faults of a selection and a threshold that leak nothing that can be shown at these parameters -> why.

    It follows from the parameters, and from no audit.

    Args:
        mechanism: as it will run.
    """
    found, wide = dict[str, str](), isinstance(mechanism.statistic, LargestFlow) and mechanism.statistic.length > 2
    if wide:
        why = "flow over more than two edges is not stretched to its sensitivity by a made-up network"
        found |= {"noise": why, "fake": why}
    elif getattr(mechanism.statistic, "length", 2) > 4 and counts_each(mechanism):
        found["fake"] = "targets are not brought near the statistic's sensitivity by a made-up network"
    value = mechanism.public_threshold
    if value is not None:
        one = fitted(mechanism, hub_bridge() if counts_each(mechanism) else shared_bridge()).call
        base = lifted(mechanism)
        if value - base > 2 * one.noise_scale:
            why = f"the threshold {value:g} is far above what anybody has in a made-up network"
            found |= {"noise": why, "fake": why, "cap": why}
        elif misses(one, base, value) ** 30 < _NEVER:
            found["fake"] = f"a fake of the fixed value {value:g} never comes first, so that nobody learns from it"
    if mechanism.largest_threshold == 0:
        found |= dict.fromkeys(("draw", "sharp", "counted"), "0 is the only threshold that can be drawn")
    elif mechanism.stop == "smoothed" and not mechanism.call.rule.smooth:
        found["sharp"] = "a smoothed count moves by far less than is charged for with this statistic"
    return found


def _released(tree: LawTree, made: Made) -> tuple[int, ...]:
    return tree._component(made.graphs[0], made.targets[0])


def selection_row(mechanism: PTarget, kind: type[LawTree] = LawTree, sound: PTarget | None = None) -> AuditRow:
    """The first choice among noisy values at known thresholds, against what a selection may cost.

    Args:
        mechanism: sound or broken.
        kind: of search, sound or broken.
        sound: whose promise holds, where the mechanism is broken.
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
    """The law of the threshold, given what was released, against what a threshold may cost.

    Args:
        mechanism: sound or broken, with a stop that draws a threshold.
        sound: whose promise holds, where the mechanism is broken.
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
                            f"its law on 3 networks, {pairs} ordered pairs of neighbours",
                            unit="nats", concern=Concern.PRIVACY)


def list_loss(tree: LawTree, graphs: Sequence[Any]) -> float:
    """The largest log ratio of any released list between any two of the graphs.

    Args:
        tree: of the search.
        graphs: with the same edges between targets.
    """
    laws = [tree.law(graph) for graph in graphs]
    names = sorted({order for law in laws for order in law})
    return spread(np.array([law.get(order, 0.0) for order in names]) for law in laws)


def list_row(mechanism: PTarget) -> AuditRow:
    """The whole released list after two calls, against what a mechanism of two calls promises of itself.

    Args:
        mechanism: as it will run.
    """
    worst, lists, pairs = 0.0, 0, 0
    pure = list[Privacy]()
    for made in (network(), rivals(1.0), crowd(1.0)):
        own = fitted(mechanism, made, 3)
        pure += [each for each in own.guarantees().privacy if isinstance(each.loss, PureDP)]
        tree = tree_of(own.call, made, 3)
        worst = max(worst, list_loss(tree, made.graphs))
        lists += len(tree.law(made.graphs[0]))
        pairs += len(made.graphs) ** 2
    return AuditRow.of_privacy(min(pure, key=lambda each: each.loss.epsilon), worst,  # type: ignore[attr-defined]
                               f"exact laws of {lists} lists on 3 networks, {pairs} ordered pairs of neighbours",
                               named="privacy: the released list after two searches for a component")


def delta_row(mechanism: PTarget, share: float = 1.0) -> list[AuditRow]:
    """The delta of the whole released list after two calls, at the epsilon that a mechanism of two calls promises of
    itself; none where no delta is planned.

    Args:
        mechanism: as it will run.
        share: of that epsilon at which delta is computed; below 1 more is claimed than is promised.
    """
    if not any(isinstance(each.loss, ApproxDP) for each in mechanism.guarantees().privacy):
        return []
    worst, pairs = 0.0, 0
    for made in (network(), rivals(1.0), crowd(1.0)):
        own = fitted(mechanism, made, 3)
        epsilon = share * min(each.loss.epsilon for each in own.guarantees().privacy
                              if isinstance(each.loss, ApproxDP))
        tree = tree_of(own.call, made, 3)
        worst, pairs = max(worst, list_delta(tree, made.graphs, epsilon)), pairs + len(made.graphs) ** 2
    return [AuditRow.at_most(
        "privacy: the delta of the list after two searches, at the epsilon that is promised of two", mechanism.delta,
        worst,
        f"exact laws on 3 networks, {pairs} ordered pairs of neighbours, epsilon by the same composition",
        scale=0.0, unit="(delta)", concern=Concern.PRIVACY)]


def list_delta(tree: LawTree, graphs: Sequence[Any], epsilon: float) -> float:
    """The largest sum of what chances of lists are above e^epsilon times those of any other of the graphs.

    Args:
        tree: of the search.
        graphs: with the same edges between targets.
        epsilon: in nats.
    """
    laws = [tree.law(graph) for graph in graphs]
    names = sorted({order for law in laws for order in law})
    table = np.array([[law.get(order, 0.0) for order in names] for law in laws])
    return max(float(np.maximum(0.0, one - np.exp(epsilon) * table).sum(axis=1).max()) for one in table)

