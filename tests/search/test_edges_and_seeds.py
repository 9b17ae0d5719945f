"""A graph of edges in every form that people have them in, and clear words about what is no edge, seed or oracle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from confide.contract import InvalidInput
from confide.privacy import Noise
from confide.search import Graph, Investigation, PTarget, SeedNotTargeted, plan

FIRST, SECOND = ["ann", "bob", "cid"], ["bob", "cid", "dan"]
PAIRS = list(zip(FIRST, SECOND, strict=True))
EXPECTED = Graph.from_edges(FIRST, SECOND)
COLUMNS: dict[str, Any] = {"one": FIRST, "other": SECOND}


def saved(folder: Path) -> Path:
    pd.DataFrame(COLUMNS).to_csv(folder / "edges.csv", index=False)
    return folder / "edges.csv"


EDGES: dict[str, Callable[[Path], Any]] = {
    "pairs": lambda _: PAIRS, "lists": lambda _: [list(each) for each in PAIRS], "tuple": lambda _: tuple(PAIRS),
    "generator": lambda _: iter(PAIRS), "sets": lambda _: [set(each) for each in PAIRS],
    "array": lambda _: np.array(PAIRS), "pandas": lambda _: pd.DataFrame(COLUMNS),
    "polars": lambda _: pl.DataFrame(COLUMNS), "lazy": lambda _: pl.DataFrame(COLUMNS).lazy(),
    "arrow": lambda _: pa.table(COLUMNS), "mapping": lambda _: COLUMNS, "csv": saved, "path": lambda it: str(saved(it)),
}


@pytest.mark.parametrize("form", EDGES)
def test_edges_of_every_form_are_the_same_graph(form: str, tmp_path: Path) -> None:
    for make in (Graph, Graph.from_edges, lambda edges: Investigation(edges, "ann", None).graph):
        found = make(EDGES[form](tmp_path))
        assert isinstance(found, Graph)
        assert found.indptr.tolist() == EXPECTED.indptr.tolist()
        assert found.indices.tolist() == EXPECTED.indices.tolist()
        assert found.ids_of(range(4)) == EXPECTED.ids_of(range(4))


def test_edges_of_numbers_with_people_or_vertices() -> None:
    for edges in (np.array([[0, 1], [1, 2]]), [(0, 1), (1, 2)], pl.DataFrame({"a": [0, 1], "b": [1, 2]})):
        assert Graph(edges, people=5).degrees.tolist() == [1, 2, 1, 0, 0]
        assert Graph.from_edges(edges, vertices=[2, 1, 0, 7]).ids_of([3]) == [7]
        with pytest.raises(InvalidInput, match="vertices: is given together with people"):
            Graph(edges, people=5, vertices=[0, 1, 2])
    assert Graph([], people=3).degrees.tolist() == [0, 0, 0]


def test_arrays_are_checked_as_ever() -> None:
    again = Graph(indptr=EXPECTED.indptr, indices=EXPECTED.indices, ids=EXPECTED.ids)
    assert again.edges == replace(again, ids=None).edges == 3
    with pytest.raises(InvalidInput, match="indices: are not the lists"):
        Graph(indptr=np.array([0, 1, 1]), indices=np.array([1], np.int32))
    for both in ({"edges": PAIRS}, {"people": 4}, {"vertices": FIRST}):
        with pytest.raises(InvalidInput, match="indptr: is given together with edges, people or vertices"):
            Graph(**both, indptr=EXPECTED.indptr, indices=EXPECTED.indices)  # type: ignore[arg-type]


@pytest.mark.parametrize(("edges", "said"), [
    (None, "are missing|not a list of pairs"), (3, "int is not a list of pairs; must be pairs of ids"),
    ([1, 2], "row 0 (from 0) is not a pair"), ([("ann", "bob"), ("ann",)], "row 1 (from 0) is not a pair"),
    ([("ann", "bob", 3.0)], "row 0 (from 0) is not a pair"), (["ab"], "row 0 (from 0) is not a pair"),
    (np.zeros((2, 3), int), "an array of shape (2, 3); must be (m, 2)"), (np.arange(4), "an array of shape (4,)"),
    (pd.DataFrame({"a": [1], "b": [2], "w": [3]}), "has 3 columns, a, b, w; must be two"),
    ({"ann": ["bob"]}, "has 1 column, ann; must be two"),
])
def test_what_is_no_edge_is_refused(edges: Any, said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Graph(edges)
    assert any(each in str(caught.value) for each in said.split("|"))
    assert caught.value.field == "edges"
    with pytest.raises(InvalidInput) as caught:
        Investigation(edges, 1, None)
    assert any(each in str(caught.value) for each in said.split("|"))
    assert caught.value.field == "graph"


def test_a_graph_of_another_package_is_reported_its_maker() -> None:
    networkx = pytest.importorskip("networkx")
    with pytest.raises(InvalidInput, match=r"graph: Graph belongs to networkx; build a Graph with "
                                           r"Graph\.from_networkx"):
        Investigation(networkx.Graph(PAIRS), "ann", None)


@pytest.mark.parametrize("seeds", [["cid", "ann"], ("cid", "ann"), np.array(["cid", "ann"]), pd.Series(["cid", "ann"]),
                                   pl.Series(["cid", "ann"]), pa.array(["cid", "ann"])])
def test_seeds_of_every_form(seeds: Any) -> None:
    assert Investigation(PAIRS, seeds, None).seeds.tolist() == [2, 0]
    assert Investigation(PAIRS, {"cid", "ann"}, None).seeds.tolist() == [0, 2]


def test_a_seed_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInput, match="seed_vertex: is missing; must be the public id of a confirmed target"):
        Investigation(PAIRS, None, None)
    for seed in ("zoe", 3, ["ann", "zoe"]):
        with pytest.raises(SeedNotTargeted, match="belongs to nobody"):
            Investigation(PAIRS, seed, None)
    with pytest.raises(InvalidInput, match=r"oracle: int has no statuses; must be a callable"):
        Investigation(PAIRS, "ann", 3)  # type: ignore[arg-type]


def test_a_search_runs_on_edges() -> None:
    it = PTarget(4, 2, None, 50.0, None, "none")
    expected = it.run(Investigation(EXPECTED, "ann", {"ann", "cid"}), Noise.simulated(1)).billboard.order.tolist()
    found = it.run(Investigation(PAIRS, "ann", {"ann", "cid"}), Noise.simulated(1)).billboard.order.tolist()
    assert found == expected
    with pytest.raises(InvalidInput, match=r"data: list is not an Investigation; "
                                           r"use Investigation\(graph, seed_vertex"):
        it.run(PAIRS, Noise.simulated(1))


def test_a_statistic_that_is_none_is_reported_the_kinds() -> None:
    budget: dict[str, Any] = {"people": 1000, "components": 3, "epsilon": 1.0, "degree_bound": 10, "stopping_target": 5}
    with pytest.raises(InvalidInput, match=r"statistic: is of type str, not Statistic; must be .*Triangles"):
        plan(**budget, statistic="triangles")
