"""Claims of chapter 7 of Wu 2017 about the privacy loss of a search.

Each public function recomputes the evidence for a claim. The argument `line` of a claim is a line number in the
plain-text copy of the source that was checked.

A call is one search for a further component of targets. The output of a search is the list of found targets.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from confide.contract.guarantees import Accuracy, Privacy
from confide.evidence.claim import Recomputed, claims_of
from confide.evidence.wu_2017.targeted_search.printed import printed_composition
from confide.evidence.wu_2017.targeted_search.small_graphs import TARGETS, selection_loss, toy
from confide.privacy.losses import PureDP
from confide.search.audited_losses import fitted, list_loss, network, tree_of
from confide.search.component_search import sfs
from confide.search.exact_laws import LawTree, rewirings
from confide.search.graph import Graph
from confide.search.noise_kinds import call_law, wins_over
from confide.search.planning import call_cost, compositions, multipliers
from confide.search.stopping import Stop, Witness, limit_loss
from confide.search.targeted import PTarget

__all__: list[str] = []

claim = claims_of("Wu 2017", family="search")

_ROOM = 1e-9
_DELTA = 1e-6
_DRAWN: tuple[Stop, ...] = ("private", "smoothed")
_CALLS = 13  # k = 14, as in the experiments


# ---- within a component


@claim(
    id="search/lemma-7.4.1", statement="Lemma 7.4.1", line=6199, verdict="holds", pinned=(0.0, 0.0),
    claim="Statistic-first search is 0-private.",
    correction="No rewiring of a protected vertex changes its list, if only exhaustion ends the search and public ids "
               "break ties.",
)
def component_search_is_free() -> Recomputed:
    """Number of changes of a protected vertex's edges in the toy graph, of 248, that change the list that the search
    within one component releases.
    """
    base = toy()
    usual, changed, seen = sfs(base.graph, 0, TARGETS), 0, 0
    for rows in list(rewirings(base.graph, 13, 5))[::20]:
        graph = Graph(indptr=rows.indptr, indices=rows.indices)
        changed += sfs(graph, 0, TARGETS) != usual
        seen += 1
    return Recomputed("holds" if not changed and seen > 200 else "false", 0.0, float(changed))


# ---- one search for a component


@claim(
    id="search/lemma-7.4.2", statement="Lemma 7.4.2", line=6214, verdict="holds", pinned=(2.0, 1.90902822),
    claim="Report Noisy Max with noise of scale gamma/epsilon loses 2 epsilon at most.",
    correction="And no less: 1.91 epsilon with values (1, 20) and (0, 21).",
)
def noisy_maximum() -> Recomputed:
    """Privacy loss of a noisy maximum between the values (1, 20) and (0, 21), with Laplace noise of scale 1, compared
    with the claimed loss of 2.
    """
    found = selection_loss(1.0, 20.0)
    return Recomputed("holds" if 1.9 < found <= 2.0 else "false", 2.0, found)


@claim(
    id="search/text-noise", statement="Section 7.3.3, noise", line=6064, verdict="false", pinned=(1.0, 1.90902822),
    claim="Statistics get noise of scale Delta/epsilon.",
    correction="A selection then costs 2 epsilon (erratum 2): 1.91 epsilon with values (1, 20) and (0, 21). Algorithm "
               "13 has 4 Delta/epsilon beside half of epsilon for the threshold.",
)
def noise_of_the_text() -> Recomputed:
    """Privacy loss of a noisy maximum with the noise of line 6064, which has scale Delta/epsilon, at epsilon = 1,
    compared with 1.
    """
    found = selection_loss(1.0, 20.0)
    return Recomputed("false" if found > 1.0 else "holds", 1.0, found)


@claim(
    id="search/lemma-7.4.3-end", statement="Lemma 7.4.3, proof, first case", line=6221,
    verdict="holds", pinned=(1.0, 1.0),
    claim="Once all targets are known nothing is found, with probability 1.",
    correction="With and without a fake target.",
)
def nobody_left() -> Recomputed:
    """Least probability, over several thresholds, that a call finds nothing once all targets are known, compared with
    1.
    """
    found = min(float(call_law([], 4.0, "laplace", each)[-1]) for each in (None, 0.0, 3.0, [0.5, 0.5]))
    return Recomputed("holds" if found == 1.0 else "false", 1.0, found)


@claim(
    id="search/lemma-7.4.3", statement="Lemma 7.4.3", line=6216,
    verdict="holds-with-correction", pinned=(1.0, 0.379143952),
    claim="SearchCom loses epsilon at most.",
    correction="A first call does: .38 of 1 over all rewirings of one of ten people. In later calls the printed count "
               "depends on an I that is not the same on both graphs (erratum 3).",
)
def one_call() -> Recomputed:
    """Largest privacy loss of the list after one call at epsilon = 1, over all possible edges of one of ten people,
    with degrees up to d = 4.
    """
    made = network()
    found = list_loss(tree_of(fitted(PTarget(made.people, 2, 2, 1.0, 4), made).call, made), made.graphs)
    return Recomputed("holds-with-correction" if 0.0 < found <= 1.0 else "false", 1.0, found)


@claim(
    id="search/theorem-7.3.3", statement="Theorem 7.3.3, epsilon_1", line=6080,
    verdict="false", pinned=(0.4, 1.52323963),
    claim="PTarget is (k-1) epsilon protected private.",
    correction="The threshold counts V minus I, and I tells of earlier noise (erratum 3): two calls at .2 lose 1.52 "
               "where 40 targets are behind one person, and 2.0 without end of people.",
)
def printed_threshold() -> Recomputed:
    """Privacy loss of two calls with the printed threshold at epsilon = .2, compared with .4. In the graph, 40 targets
    can be reached only through one person.
    """
    witness = Witness(bridged=40)
    found, end = witness.loss, limit_loss(40, witness.scale, 1e-4)
    right = abs(end - 40 * witness.epsilon / 4) < 1e-3
    return Recomputed("false" if right and found > witness.promised else "holds", witness.promised, found)


@claim(
    id="search/theorem-7.3.3-witness", line=6082, verdict="holds-with-correction", pinned=(0.4, 0.0468319394),
    statement="Theorem 7.3.3, epsilon_1, with the count over V minus N[T]",
    claim="Two calls lose at most 2 epsilon where the printed threshold does not.",
    correction="0.047 of 0.4 on the witness of erratum 3.",
)
def corrected_threshold() -> Recomputed:
    """Privacy loss of two calls with the corrected threshold at epsilon = .2, compared with the claimed .4. The
    corrected threshold counts over V minus N[T], the vertices that are neither targets nor their neighbours. In the
    graph, 40 targets can be reached only through one person.
    """
    witness = Witness(bridged=40, printed=False)
    return Recomputed("holds-with-correction" if witness.loss <= witness.promised else "false", witness.promised,
                   witness.loss)


@claim(
    id="search/components-found", statement="Section 7.5, components", line=6301,
    verdict="holds-with-correction", pinned=(0.0, 0.196214476),
    claim="The loss is that of the components that are found.",
    correction="True for the calls that are made. But even whether a first call finds nothing has a log ratio of .196 "
               "at epsilon = 1.",
)
def failed_searches_tell() -> Recomputed:
    """Privacy loss of the event that only one component is released, compared with the claim (k - 1) epsilon = 0 where
    k = 1 component is found.
    """
    made = network()
    tree = tree_of(fitted(PTarget(made.people, 2, 2, 1.0, 4), made).call, made)
    first = tree._component(made.graphs[0], made.targets[0])
    logs = np.log([tree.law(graph)[first] for graph in made.graphs])
    found = float(np.ptp(logs))
    return Recomputed("holds-with-correction" if 0.0 < found <= 1.0 else "false", 0.0, found)


# ---- the stop


@claim(
    id="search/algorithm-13-precision", statement="Section 7.3.3, private stopping rule, precision", line=6072,
    verdict="vacuous-at-practical-size", pinned=(27262.0, 230151.383),
    claim="The number of vertices above the threshold is nearly K.",
    correction="It can miss K by 230,151 in a network of 27,262, d = 1,147, epsilon = .2, failure .05. The smoothed "
               "stop: by 2,924.",
)
def precision_of_the_threshold() -> Recomputed:
    """Bound on the number of vertices by which the private threshold may miss the stopping parameter K, in a network of
    27,262 people with degree bound d = 1,147 and epsilon = .2. The bound for the smoothed stop is 2,924.
    """
    errors = {}
    for stop in _DRAWN:
        promises = PTarget(27_262, 2, 1_000, 0.2, 1_147, stop=stop).guarantees()
        errors[stop] = next(each.bound for each in promises if isinstance(each, Accuracy))
    vacuous = errors["private"] > 27_262 > errors["smoothed"]
    return Recomputed("vacuous-at-practical-size" if vacuous else "holds", 27_262.0, errors["private"])


@claim(
    id="search/stopping-rule", statement="Section 7.3.3, private stopping rule", line=6070,
    verdict="false", pinned=(0.0, 109046.644),
    claim="With a fake target at the value above which there are about K vertices, a search ends after about K.",
    correction="The fake's own noise spreads its place over everybody (erratum 9): with nobody above it 109,047 of "
               "235,710 come before it. The smoothed stop counts the people expected before it.",
)
def examined_before_the_fake() -> Recomputed:
    """Expected number of 235,710 vertices with value 0 that come before a fake vertex of value 3 under Laplace noise of
    scale 20. In the source's stopping rule, the search ends at the fake vertex. According to the source's rule, no
    vertex comes before the fake vertex, since no vertex has a value above 3.
    """
    found = 235_710 * float(wins_over("laplace", 3.0, 20.0))
    return Recomputed("false" if found > 1_000.0 else "holds", 0.0, found)


# ---- the whole search


@cache
def _toy_loss() -> float:
    base = toy()
    targeted: Any = np.array([v in TARGETS for v in range(16)])
    tree = LawTree(PTarget(16, 3, 3, 1.0, 5).call, 3, (0,), targeted)
    return list_loss(tree, list(rewirings(base.graph, 13, 5)))


@claim(
    id="search/theorem-7.3.3-toy", statement="Theorem 7.3.3, epsilon_1, for our search", line=6080,
    verdict="holds-with-correction", pinned=(2.0, 0.710993903),
    claim="PTarget is (k-1) epsilon protected private.",
    correction="With the count over V minus N[T], one I and a public d (errata 3, 7, 8): .711 of 2 over all pairs of "
               "4,944 rewirings of a vertex.",
)
def two_calls_on_the_toy() -> Recomputed:
    """Largest privacy loss of the lists of three components at epsilon = 1, compared with 2, over all pairs of 4,944
    graphs that differ from the toy graph in the edges of one protected vertex.
    """
    found = _toy_loss()
    return Recomputed("holds-with-correction" if found <= 2.0 else "false", 2.0, found)


@claim(
    id="search/cost-of-components", statement="Section 7.3.3, cost", line=6131, verdict="holds", pinned=(2.6, 2.6),
    claim="The cost grows only with k, not with how many are examined or found.",
    correction="13 calls at .2 cost 2.6 among a hundred people and among a million.",
)
def cost_of_calls_alone() -> Recomputed:
    """Total epsilon of 13 calls at .2 each in a network of a million people, compared with that in a network of a
    hundred.
    """
    few, many = (_pure(PTarget(people, 14, 50, 0.2, 30)) for people in (100, 1_000_000))
    return Recomputed("holds" if few == many else "false", few, many)


def _pure(search: PTarget) -> float:
    return next(each.loss.epsilon for each in search.guarantees()
                if isinstance(each, Privacy) and each.claimable and isinstance(each.loss, PureDP))


@claim(
    id="search/theorem-7.3.3-delta", statement="Theorem 7.3.3, epsilon_2", line=6086,
    verdict="false", pinned=(74.4659482, 461.401543),
    claim="PTarget is (2 sqrt(2 (k-1) ln(1/delta)) epsilon, delta) protected private for every delta.",
    correction="It lacks its condition (erratum 5): 74.5 is printed for 1,000 calls at 1 and delta = .5, and the best "
               "that holds of all such calls is 461.",
)
def composition_as_printed() -> Recomputed:
    """The least valid epsilon of 1,000 calls at epsilon = 1 and delta = .5, compared with the printed epsilon."""
    printed, proved = printed_composition(1_000, 1.0, 0.5)
    found = compositions(1_000, 1.0, 0.5)["calls: optimal"]
    return Recomputed("false" if not proved and found > printed else "holds", printed, found)


@claim(
    id="search/theorem-7.3.3-delta-sizes", line=6086, verdict="vacuous-at-practical-size", pinned=(7.58106351, 2.6),
    statement="Theorem 7.3.3, epsilon_2, at the size of the experiments",
    claim="epsilon_2 is the better bound.",
    correction="7.58 for 13 calls at .2, delta = 10^-6, where their sum is 2.6. It pays from 111 calls on.",
)
def composition_at_their_size() -> Recomputed:
    """Sum of the privacy losses of 13 calls at epsilon = .2, compared with the printed epsilon at delta = 10^-6. The
    epsilon bound of this project is below both numbers.
    """
    printed, _ = printed_composition(_CALLS, 0.2, _DELTA)
    rules = compositions(_CALLS, 0.2, _DELTA)
    vacuous = min(rules.values()) < rules["basic"] < printed
    return Recomputed("vacuous-at-practical-size" if vacuous else "holds", printed, rules["basic"])


@claim(
    id="search/composition", statement="Section 7.4, composition of calls", line=6254,
    verdict="holds-with-correction", pinned=(2.6, 1.91340165),
    claim="The loss of 13 calls is their sum, or the source's epsilon_2.",
    correction="Threshold and selection composed apart lose 1.913 at delta = 10^-6 where the sum is 2.6; with gumbel "
               "noise 1.167.",
)
def composition_of_two_steps() -> Recomputed:
    """Total epsilon of 13 calls at .2 each and delta = 10^-6, where the losses of thresholds and selections are
    composed separately, compared with the sum of the losses. With Gumbel noise the epsilon is 1.167.
    """
    rules = compositions(_CALLS, 0.2, _DELTA)
    gumbel = compositions(_CALLS, 0.2, _DELTA, noise_kind="gumbel")["two-step"]
    found = rules["two-step"]
    return Recomputed("holds-with-correction" if gumbel < found < rules["basic"] else "false", rules["basic"], found)


@claim(
    id="search/theorem-7.3.3-proof", statement="Proof of Theorem 7.3.3", line=6257,
    verdict="holds-with-correction", pinned=(1.0, 1.03774904),
    claim="By Theorem 2.2.4 the calls lose sqrt(8 k ln(1/delta)) epsilon.",
    correction="There are k-1 calls (erratum 5): 3.8% more than the theorem states at k = 14; and the proof uses "
               "Corollary 2.2.5.",
)
def number_of_calls_in_the_proof() -> Recomputed:
    """Ratio of the bound of the proof, sqrt(8 k ln(1/delta)) epsilon, to the printed 2 sqrt(2 (k-1) ln(1/delta))
    epsilon, for k = 14 components.
    """
    printed, _ = printed_composition(_CALLS, 0.2, _DELTA)
    found = math.sqrt(8 * (_CALLS + 1) * -math.log(_DELTA)) * 0.2 / printed
    return Recomputed("holds-with-correction" if found > 1.0 + _ROOM else "holds", 1.0, found)


# ---- the experiments


@claim(
    id="search/noise-of-the-experiments", statement="Section 7.5, Lap(20)", line=6299,
    verdict="false", pinned=(0.05, 0.0954545376),
    claim="With Lap(20) a search loses 1/20 for each further component.",
    correction="One selection loses up to .1, and .0955 with values (1, 400) and (0, 401) (erratum 2); a drawn "
               "threshold as much again.",
)
def noise_of_the_experiments() -> Recomputed:
    """Privacy loss of one selection with Laplace noise of scale 20 between the values (1, 400) and (0, 401), compared
    with 1/20.
    """
    found, most = selection_loss(20.0, 400.0), call_cost(20.0, 1.0, "none")
    return Recomputed("false" if 0.05 < found <= most else "holds", 0.05, found)


@claim(
    id="search/regime-1-multiplier", statement="Section 7.5, first regime, risk multiplier", line=6349,
    verdict="false", pinned=(1.17, 1.3689),
    claim="The risk multiplier levels off at 1.17.",
    correction="1.37 without a threshold and 1.87 with one (erratum 2), for the same calls.",
)
def multiplier_of_the_first_regime() -> Recomputed:
    """Corrected risk multiplier, e raised to the total privacy loss, for the number of calls at which the source prints
    1.17. With a randomly drawn threshold the multiplier is 1.87.
    """
    found = multipliers(20.0 * math.log(1.17), 20.0)
    return Recomputed("false" if found.without_threshold > 1.3 else "holds", found.claimed, found.without_threshold)


@claim(
    id="search/multiplier-below-2", statement="Section 7.5, risk multiplier", line=6317,
    verdict="false", pinned=(2.0, 3.66929667),
    claim="The risk multiplier stays below 2 in all three regimes.",
    correction="3.67 after 13 calls without a threshold, 13.5 with one (erratum 2), where 1.92 is counted.",
)
def multiplier_of_all_calls() -> Recomputed:
    """Risk multiplier, e raised to the total privacy loss, of 13 calls with Laplace noise of scale 20, compared with
    the claimed 2. With a randomly drawn threshold the multiplier is 13.5.
    """
    found = multipliers(_CALLS, 20.0)
    return Recomputed("false" if found.claimed < 2.0 < found.without_threshold else "holds",
                      2.0, found.without_threshold)
