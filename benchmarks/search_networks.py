"""Networks of the benchmark of searches: real ones where they can be had, else made-up ones of the same size."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.peer import Peer
from confide.contract.errors import InvalidInput
from confide.evidence.wu_2017.targeted_search import costars_like_imdb, film_casts
from confide.privacy.noise.simulated import study_generator
from confide.search import Graph, affiliation_network, infect

COAUTHORS = Path(__file__).resolve().parents[2] / "shared" / "data" / "coauthors_condmat2005.parquet"
CASTS = Peer(folder="recbole", requirements=("--no-deps", "recbole==1.2.1"), module="recbole", worker="")
"""The package whose file of films is read; what it needs to compute with is not installed."""

SIZES = ("27k", "236k", "2M")
CONTAGION = {"p": 0.05, "q": 0.8, "rounds": 5}


def casts() -> tuple[Graph, str]:
    """Actors who share a film: 27,262 people, 979,448 edges; or as many people of a made-up network."""
    try:
        return film_casts(), "film casts"
    except InvalidInput:
        pass
    if CASTS.missing() is None:
        found = sorted(CASTS.python.parent.parent.glob("lib/python*/site-packages/recbole/**/ml-100k.kg"))
        if found:
            return film_casts(found[0]), "film casts"
    return affiliation_network(27_262, 1_600, 40, 24.7, seed=1), "simulated at the size of the film casts"


def coauthors() -> tuple[Graph, str]:
    """Authors of papers on condensed matter: 40,421 people, 175,693 edges; or a made-up network of that size."""
    if COAUTHORS.is_file():
        return Graph.from_table(COAUTHORS, vertices=40_421), "co-authors"
    return affiliation_network(40_421, 36_000, 800, 2.5, seed=1), "simulated at the size of the co-authors"


def network(name: str) -> tuple[Graph, str]:
    """One of `SIZES`, of "coauthors", or of "times F" for made-up networks that grow with F at one mean degree."""
    if name == "27k":
        return casts()
    if name == "coauthors":
        return coauthors()
    if name == "236k":
        return costars_like_imdb(seed=0), "simulated"
    if name == "2M":
        return affiliation_network(2_000_000, 253_000, 3_400, 13.0, seed=0), "simulated"
    factor = int(name.removeprefix("times "))
    return affiliation_network(60_000 * factor, 8_500 * factor, 100 * factor, 13.0, seed=0), "simulated"


def group(graph: Graph, *, starts: int = 1, seed: int = 1, **contagion: float) -> np.ndarray:
    """(n,) a made-up target group: a contagion from some starts, drawn among the people who have contacts."""
    draw = study_generator(seed, "benchmark", "starts")
    some = np.flatnonzero(graph.degrees >= 10)
    begun = graph.ids_of(draw.permutation(some)[:starts])
    settings = {**CONTAGION, **contagion}
    return infect(graph, begun, settings["p"], settings["q"], int(settings["rounds"]), seed=seed)


def components(graph: Graph, targeted: np.ndarray) -> np.ndarray:
    """(t,) the component of each target among all targets, numbered by falling size."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    who = np.flatnonzero(targeted)
    inside = csr_array((np.ones(len(graph.indices), np.bool_), graph.indices, graph.indptr),
                       shape=(graph.people, graph.people))[who][:, who]
    label = connected_components(inside, directed=False)[1]
    rank = np.empty(label.max() + 1, np.int64)
    rank[np.argsort(-np.bincount(label), kind="stable")] = np.arange(label.max() + 1)
    found: np.ndarray = rank[label]
    return found


def seed_vertex(graph: Graph, targeted: np.ndarray, rank: int = 1) -> int | str:
    """A target of the component with this rank by size: of the second largest, as in the published experiments."""
    label = components(graph, targeted)
    return graph.id_of(int(np.flatnonzero(targeted)[label == min(rank, label.max())][0]))
