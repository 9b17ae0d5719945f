"""A process of its own: one job of `search` and its sizes; prints what was measured."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
from scipy.sparse import coo_array

from benchmarks.clock import clocked, least, noise_of
from benchmarks.memory import held_mb, peak_mb
from benchmarks.search_networks import group, network, seed_vertex
from benchmarks.search_sets import SetSearch
from confide.privacy.noise import Noise
from confide.privacy.noise.simulated import study_generator
from confide.search import Graph, Investigation, OperatorLog, PTarget, multipliers, random_order, target
from confide.search.stopping import Stop

COMPONENTS = 14
EPSILON = 0.1
"""Of a call without a drawn threshold: Laplace noise of scale 20, as published."""
BUDGETS = (500, 1000, 2000, 5000, 10_000, 15_000)


# ---- graphs


def pairs(count: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Uniformly random pairs of ten times fewer people; some repeat, some join a person to themselves."""
    draw = study_generator(1, "benchmark", "pairs")
    people = count // 10
    return draw.integers(0, people, count, np.int32), draw.integers(0, people, count, np.int32), people


def build(count: str, runs: str = "3") -> dict[str, float]:
    """Our arrays from an edge list in memory; a small one compiles before."""
    Graph.from_edges(*pairs(2000)[:2], people=200)
    first, second, people = pairs(int(count))
    whole, before = peak_mb(), held_mb()
    graph, seconds = least(lambda: Graph.from_edges(first, second, people=people), int(runs))
    inside = peak_mb()
    return {"seconds": seconds, "run_mb": inside - before, "peak_mb": max(whole, inside), "edges": graph.edges,
            "largest": int(graph.indices.max())}


def scipy_build(count: str, runs: str = "3") -> dict[str, float]:
    """The same by scipy: both directions of each pair, which `tocsr` sorts into rows and rids of duplicates."""
    first, second, people = pairs(int(count))

    def made() -> Any:
        apart = first != second
        one, other = first[apart], second[apart]
        entries = coo_array((np.ones(2 * len(one), np.bool_), (np.concatenate([one, other]),
                                                               np.concatenate([other, one]))), (people, people))
        matrix = entries.tocsr()
        matrix.sum_duplicates()  # sorts the rows
        return matrix

    whole, before = peak_mb(), held_mb()
    matrix, seconds = least(made, int(runs))
    inside = peak_mb()
    return {"seconds": seconds, "run_mb": inside - before, "peak_mb": max(whole, inside), "edges": matrix.nnz / 2}


def write(name: str, folder: str) -> dict[str, Any]:
    """Save a network for the other processes."""
    (graph, said), seconds = clocked(lambda: network(name))
    graph.save(folder)
    return {"seconds": seconds, "people": graph.people, "edges": graph.edges, "largest degree": graph.largest_degree,
            "said": said}


def rebuild(folder: str) -> dict[str, float]:
    """Our arrays from the edge list of a saved network."""
    Graph.from_edges(*pairs(2000)[:2], people=200)
    graph = Graph.open(folder, check=False)
    tails = np.repeat(np.arange(graph.people, dtype=np.int32), graph.degrees)
    ahead = tails < graph.indices
    order = study_generator(1, "benchmark", "shuffle").permutation(int(ahead.sum()))
    first, second = tails[ahead][order], graph.indices[ahead][order]
    made, seconds = least(lambda: Graph.from_edges(first, second, people=graph.people))
    return {"seconds": seconds, "edges": made.edges}


# ---- searches


def case(folder: str, starts: int, rank: int = 1, **contagion: Any) -> Investigation:
    """A saved network, a made-up group in it, and a seed in the component with this rank by size."""
    graph = Graph.open(folder, check=False)
    targeted = group(graph, starts=starts, **contagion)
    return Investigation(graph, seed_vertex(graph, targeted, rank), targeted)


def settings(people: int, bound: int, stop: Stop) -> PTarget:
    """14 components; with a drawn threshold K is half of the people, so that a call hardly ever ends early.

    A private stop has a short grid too: on a long one nearly all thresholds end a call at once.
    """
    if stop == "none":
        return PTarget(people, COMPONENTS, None, EPSILON, None, "none")
    return PTarget(people, COMPONENTS, people // 2, 2 * EPSILON, bound, stop,
                   largest_threshold=20 if stop == "private" else None)


def warm(stop: Stop, mode: str) -> None:
    """Compiles."""
    small = Graph.from_edges(*pairs(2000)[:2], people=200)
    settings(200, 200, stop).run(Investigation(small, 0, set(range(0, 200, 5))), noise_of(mode))


def search(folder: str, starts: str, stop: Stop, mode: str, runs: str = "3") -> dict[str, Any]:
    """One private search of 14 components, from an investigation to the outcome."""
    warm(stop, mode)
    at = case(folder, int(starts))
    at.graph.indices.max()  # the file is read
    bound = 1 << int(at.graph.largest_degree).bit_length()  # made-up networks: their degrees are no secret
    it = settings(at.graph.people, bound, stop)
    log = OperatorLog()
    whole, before = peak_mb(), held_mb()
    outcome, seconds = least(lambda: it.run(at, noise_of(mode), log=log), int(runs))
    inside = peak_mb()
    return {"seconds": seconds, "run_mb": inside - before, "peak_mb": max(whole, inside), "queries": log.queries,
            "calls": outcome.billboard.calls, "components": outcome.billboard.components,
            "targets": len(outcome.billboard.order)}


def sets(folder: str, starts: str, rounds: str) -> dict[str, Any]:
    """The same search on networkx, and ours, on the same group: seconds of both, of the same kind of noise."""
    import networkx

    warm("none", "1")
    at = case(folder, int(starts), 0, p=0.1, q=0.5, rounds=int(rounds))
    graph = at.graph
    tails = np.repeat(np.arange(graph.people), graph.degrees)
    ahead = tails < graph.indices
    known = networkx.Graph()
    known.add_nodes_from(range(graph.people))
    known.add_edges_from(zip(tails[ahead].tolist(), graph.indices[ahead].tolist(), strict=True))
    targets = set(np.flatnonzero(np.asarray(at.oracle)).tolist())
    seed = int(at.seeds[0])
    it = settings(graph.people, 0, "none")
    outcome, ours = least(lambda: it.run(at, Noise.simulated(1)), 5)
    beside = SetSearch(known, targets, it.call.noise_scale, COMPONENTS)
    found, theirs = least(lambda: beside.run(seed, seed=1), 3)
    first = outcome.billboard.joined[1] if outcome.billboard.components > 1 else None
    if found[:first] != [graph.index_of(each) for each in outcome.billboard.order[:first].tolist()]:
        raise SystemExit("the searches differ in the first component, which has no noise")
    return {"ours, s": ours, "networkx, s": theirs, "targets": len(targets), "found": len(outcome.billboard.order),
            "queries": outcome.diagnostics["queries"], "found by networkx": len(found), "examined by networkx":
            beside.queries}


def study(folder: str, starts: str, runs: str) -> dict[str, Any]:
    """Runs of a study: curves of the private search, cut off where the plot ends, with random order beside them."""
    warm("none", "1")
    at = case(folder, int(starts))
    count, most = int(runs), BUDGETS[-1]
    it = settings(at.graph.people, 0, "none")

    def one(seed: int) -> tuple[OperatorLog, int]:
        log = OperatorLog()
        found = it.run(at, Noise.simulated(seed), log=log, query_cap=most, without_guarantee=True)
        return log, found.billboard.calls

    done, seconds = clocked(lambda: [one(seed) for seed in range(count)])
    free, also = clocked(lambda: [random_order(at, COMPONENTS, Noise.simulated(seed), cap=most)
                                  for seed in range(count)])
    plain = target(at, COMPONENTS, cap=most)
    calls = float(np.mean([each for _, each in done]))
    said = multipliers(calls, it.call.noise_scale)
    budgets = list(BUDGETS)
    curves = {"Target": [plain.log.curve(most)], "PTarget": [log.curve(most) for log, _ in done],
              "RandomOrder": [found.log.curve(most) for found in free]}
    return {"seconds": seconds, "random order, s": also, "runs": count, "calls": calls, "claimed": said.claimed,
            "corrected": said.without_threshold, "targets": int(np.sum(np.asarray(at.oracle))), "peak_mb": peak_mb(),
            "found": {name: np.mean(rows, axis=0)[budgets].tolist() for name, rows in curves.items()},
            "deviation": {name: np.std(rows, axis=0)[budgets].tolist() for name, rows in curves.items()}}


if __name__ == "__main__":
    job, *arguments = sys.argv[1:]
    json.dump(globals()[job](*arguments), sys.stdout)
