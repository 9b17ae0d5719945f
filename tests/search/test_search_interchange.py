"""The same graph out of tables, files and other packages' objects."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cases import fast
from confide.contract.errors import InvalidInput
from confide.privacy.noise.simulated import study_generator
from confide.search import Dropped, Graph

KARATE = (34, 78, 17)


def sizes(graph: Graph) -> tuple[int, int, int]:
    return graph.people, graph.edges, graph.largest_degree


def karate() -> Any:
    import networkx as nx

    return nx.karate_club_graph()


def ends() -> tuple[list[int], list[int]]:
    found = list(karate().edges())
    return [one for one, _ in found], [other for _, other in found]


def same(one: Graph, other: Graph) -> bool:
    return bool(np.array_equal(one.indptr, other.indptr) and np.array_equal(one.indices, other.indices))


# ---- tables


def _parquet(columns: dict[str, Any], folder: Path) -> Any:
    pq.write_table(pa.table(columns), folder / "lines.parquet")
    return folder / "lines.parquet"


def _csv(columns: dict[str, Any], folder: Path) -> Any:
    rows = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    (folder / "lines.csv").write_text("\n".join(rows) + "\n")
    return str(folder / "lines.csv")


def _ibis(columns: dict[str, Any], folder: Path) -> Any:
    import ibis

    return ibis.memtable(pa.table(columns))


def _pandas(columns: dict[str, Any], folder: Path) -> Any:
    import pandas as pd

    return pd.DataFrame(columns)


@pytest.mark.parametrize("make", [
    _parquet, _csv, _ibis, _pandas, lambda columns, folder: pa.table(columns), lambda columns, folder: columns],
    ids=["parquet", "csv", "ibis", "pandas", "arrow", "mapping"])
def test_tables(make: Callable[..., Any], tmp_path: Path) -> None:
    first, second = ends()
    table = make({"source": first, "target": second}, tmp_path)
    assert sizes(Graph.from_table(table)) == KARATE
    assert Graph.from_table(table).ids is None
    assert Graph.from_table(table, vertices=40).people == 40
    assert Graph.from_table(table, id="text").ids_of([0, 1, 2]) == ["0", "1", "10"]
    named = make({"a": [f"p{k}" for k in first], "b": [f"p{k}" for k in second]}, tmp_path)
    graph = Graph.from_table(named, "a", "b")
    assert (sizes(graph), graph.id_of(2)) == (KARATE, "p10")
    assert same(Graph.from_table(named, "a", "b", vertices=[f"p{k}" for k in range(34)]), graph)


def test_long_tables_are_read_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = study_generator(1, "lines")
    first, second = draw.integers(0, 90, 1000), draw.integers(0, 90, 1000)
    whole = Graph.from_edges(first, second)
    monkeypatch.setattr("confide.search.graph_files._ROWS", 64)
    for one, other in ((first, second), (first.astype(str), second.astype(str))):
        graph = Graph.from_table(_parquet({"source": one, "target": other}, tmp_path))
        assert same(graph, whole)
        assert graph.dropped == whole.dropped


def test_integers_in_text_are_ids_of_their_own_where_one_is_not_plain() -> None:
    assert Graph.from_table({"source": ["7", "10"], "target": ["10", "9"]}).ids.tolist() == [7, 9, 10]
    assert Graph.from_table({"source": ["07", "10"], "target": ["10", "9"]}).ids.to_pylist() == ["07", "10", "9"]
    with pytest.raises(InvalidInput, match="not a whole number"):
        Graph.from_table({"source": ["07"], "target": ["10"]}, id="integer")


LINES = {"source": [1, 2, 1, 3, 4, 4], "target": [2, 1, 3, 2, 4, 1], "minutes": [5.0, 10.0, 2.0, np.inf, 99.0, 0.0]}


@pytest.mark.parametrize(("more", "edges"), [
    ({}, [(1, 2), (1, 3), (1, 4), (2, 3)]),
    ({"at_least": 1}, [(1, 2), (1, 3), (1, 4), (2, 3)]),
    ({"at_least": 2}, [(1, 2)]),
    ({"weight": "minutes", "at_least": 15}, [(1, 2), (2, 3)]),
    ({"weight": "minutes", "at_least": 15.1}, [(2, 3)]),
    ({"weight": "minutes", "at_least": 0}, [(1, 2), (1, 3), (1, 4), (2, 3)]),
    ({"at_least": 3}, []),
])
def test_lines_of_a_pair_add_up_in_either_order(more: dict[str, Any], edges: list[tuple[int, int]]) -> None:
    graph = Graph.from_table(LINES, **more)
    found = [(graph.id_of(v), graph.id_of(u)) for v in range(4) for u in graph.neighbours(v).tolist() if v < u]
    assert (graph.people, found) == (4, edges)
    assert graph.dropped == Dropped(self_loops=1, parallel=0 if more else 1)


@pytest.mark.parametrize(("change", "more", "match"), [
    ({}, {"weight": "minutes"}, "at_least: is missing"),
    ({}, {"at_least": float("nan")}, "at_least"),
    ({}, {"at_least": float("inf"), "weight": "minutes"}, "at_least"),
    ({"minutes": [1, 1, -1, 1, 1, 1]}, {"weight": "minutes", "at_least": 1}, "row 2 .*no weight"),
    ({"minutes": [1, 1, 1, None, 1, 1]}, {"weight": "minutes", "at_least": 1}, "row 3 .*no weight"),
    ({"target": [1, 1, 1, None, 1, 1]}, {}, "target: row 3 .*no id"),
    ({"target": [0.5, 1, 1, 1, 1, 1]}, {}, "not a whole number"),
    ({"target": [True] * 6}, {}, "true and false"),
    ({}, {"first": "from"}, "no such column"),
    ({}, {"id": "number"}, "must be one of"),
    ({}, {"vertices": [1, 2, 3]}, "row 4 .*not on the list"),
])
def test_tables_that_are_no_graph(change: dict[str, Any], more: dict[str, Any], match: str) -> None:
    with pytest.raises(InvalidInput, match=match):
        Graph.from_table(pa.table({**LINES, **change}), **more)


def test_an_empty_table() -> None:
    table = pa.table({"source": pa.array([], pa.int64()), "target": pa.array([], pa.int64())})
    assert sizes(Graph.from_table(table, vertices=3)) == (3, 0, 0)
    assert sizes(Graph.from_table(table)) == (0, 0, 0)
    assert sizes(Graph.from_table(table, vertices=3, at_least=2)) == (3, 0, 0)


# ---- matrices


@pytest.mark.parametrize("form", fast(2, ["csr_array", "coo_matrix", "csc_array", "lil_array", "dia_array"]))
def test_matrices(form: str) -> None:
    import networkx as nx
    import scipy.sparse as sp

    matrix = getattr(sp, form)(nx.to_scipy_sparse_array(karate(), weight=None, format="csr"))
    graph = Graph.from_scipy(matrix)
    assert (sizes(graph), graph.dropped) == (KARATE, Dropped())
    assert same(graph, Graph.from_edges(*ends()))


def test_entries_of_a_matrix() -> None:
    from scipy.sparse import coo_array, csr_array

    zero = csr_array(([1, 1, 0, 0, 3], ([0, 1, 1, 2, 2], [1, 0, 2, 1, 2])), shape=(3, 3))
    assert sizes(Graph.from_scipy(zero)) == (3, 1, 1)
    assert Graph.from_scipy(zero).dropped.self_loops == 1
    cancelled = coo_array(([2, -2, 1, 1], ([0, 0, 1, 2], [1, 1, 2, 1])), shape=(3, 3))
    assert Graph.from_scipy(cancelled).edges == 1
    assert cancelled.nnz == 4  # untouched
    heavy = csr_array([[0, 1, 2], [1, 0, 3], [2, 3, 0]])
    assert Graph.from_scipy(heavy, at_least=2).edges == 2
    one_way = csr_array([[0, 1, 0], [0, 0, 1], [0, 1, 0]])
    with pytest.raises(InvalidInput, match="not symmetric"):
        Graph.from_scipy(one_way)
    assert Graph.from_scipy(one_way, symmetrise=True).edges == 2
    for wrong in (csr_array((2, 3)), np.eye(3), "matrix"):
        with pytest.raises(InvalidInput, match=r"square|not a graph of scipy"):
            Graph.from_scipy(wrong)


# ---- objects of other packages


def test_networkx() -> None:
    import networkx as nx

    assert same(Graph.from_networkx(karate()), Graph.from_edges(*ends()))
    words = nx.les_miserables_graph()
    assert sizes(Graph.from_networkx(words)) == (77, 254, 36)
    assert Graph.from_networkx(words).id_of(0) == min(words.nodes())
    several = nx.MultiGraph([(3, 1), (1, 3), (1, 1)])
    several.add_node(8)
    graph = Graph.from_networkx(several)
    assert (graph.ids.tolist(), graph.dropped) == ([1, 3, 8], Dropped(self_loops=1, parallel=1))
    with pytest.raises(InvalidInput, match="directed"):
        Graph.from_networkx(nx.DiGraph([(0, 1)]))
    assert Graph.from_networkx(nx.DiGraph([(0, 1), (1, 0)]), symmetrise=True).edges == 1
    for odd in ([(0, 1), ("a", "b")], [((0, 1), (1, 1))]):
        with pytest.raises(InvalidInput, match=r"numbers and some are text|neither"):
            Graph.from_networkx(nx.Graph(odd))


def test_igraph() -> None:
    import igraph

    graph = igraph.Graph(34, list(zip(*ends(), strict=True)))
    assert same(Graph.from_igraph(graph), Graph.from_edges(*ends()))
    graph.vs["name"] = [f"v{33 - k:02}" for k in range(34)]
    assert Graph.from_igraph(graph).degrees.tolist() == Graph.from_edges(*ends()).degrees.tolist()[::-1]
    assert Graph.from_igraph(igraph.Graph(3)).people == 3
    with pytest.raises(InvalidInput, match="directed"):
        Graph.from_igraph(igraph.Graph(2, [(0, 1)], directed=True))
    assert Graph.from_igraph(igraph.Graph(2, [(0, 1)], directed=True), symmetrise=True).edges == 1
    graph.vs["name"] = ["twin"] * 34
    with pytest.raises(InvalidInput, match="an id occurs twice"):
        Graph.from_igraph(graph)


def test_rustworkx() -> None:
    import rustworkx as rx

    graph = rx.PyGraph()
    graph.add_nodes_from(range(36))
    graph.add_edges_from_no_data(list(zip(*ends(), strict=True)))
    graph.remove_node(34)
    found = Graph.from_rustworkx(graph)
    assert (found.people, found.edges, found.id_of(34)) == (35, 78, 35)
    assert Graph.from_rustworkx(rx.PyGraph()).people == 0
    arrows = rx.PyDiGraph()
    arrows.add_nodes_from(range(2))
    arrows.add_edge(0, 1, None)
    with pytest.raises(InvalidInput, match="directed"):
        Graph.from_rustworkx(arrows)
    assert Graph.from_rustworkx(arrows, symmetrise=True).edges == 1


class FakeGraph:
    """What is used of graph-tool's own class, which no package index has."""

    __module__ = "graph_tool"

    def __init__(self, people: int, pairs: list[tuple[int, int]], directed: bool = False) -> None:
        self.people, self.pairs, self.directed = people, pairs, directed

    def num_vertices(self) -> int:
        return self.people

    def num_edges(self) -> int:
        return len(self.pairs)

    def is_directed(self) -> bool:
        return self.directed

    def get_edges(self) -> np.ndarray:
        return np.array(self.pairs, np.uint64)


def test_graph_tool() -> None:
    assert same(Graph.from_graph_tool(FakeGraph(34, list(zip(*ends(), strict=True)))), Graph.from_edges(*ends()))
    assert sizes(Graph.from_graph_tool(FakeGraph(4, []))) == (4, 0, 0)
    with pytest.raises(InvalidInput, match="directed"):
        Graph.from_graph_tool(FakeGraph(2, [(0, 1)], directed=True))


@pytest.mark.parametrize("name", ["networkx", "igraph", "rustworkx", "graph_tool"])
def test_objects_of_others(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"not a graph of {name}"):
        getattr(Graph, f"from_{name}")(object())


# ---- files of graph-tool, written by hand from the description of the format


def gt_file(
    people: int, pairs: list[tuple[int, int]], *, directed: bool = False, order: str = "<", weights: Any = None,
) -> bytes:
    def number(value: int) -> bytes:
        return struct.pack(order + "Q", value)

    def text(value: str) -> bytes:
        return number(len(value.encode())) + value.encode()

    width = "B" if people < 2**8 else "H" if people < 2**16 else "I"
    parts = ["⛾ gt".encode(), bytes([1, order == ">"]), text("made by hand"), bytes([directed]), number(people)]
    for v in range(people):
        named = [other for one, other in pairs if one == v]
        parts += [number(len(named)), struct.pack(f"{order}{len(named)}{width}", *named)]
    named = [b"\x00" + text("about") + b"\x06" + text("a graph"),
             b"\x01" + text("names") + b"\x0d" + (number(2) + text("x") + text("yy")) * people,
             b"\x01" + text("place") + b"\x0b" + (number(2) + struct.pack(order + "2d", 1, 2)) * people,
             b"\x01" + text("group") + b"\x05" + bytes(16) * people,
             b"\x02" + text("label") + b"\x06" + text("") * len(pairs),
             b"\x02" + text("long") + b"\x04" + struct.pack(f"{order}{len(pairs)}d", *(weights or [1.0] * len(pairs))),
             b"\x02" + text("short") + b"\x01" + struct.pack(f"{order}{len(pairs)}h", *range(len(pairs)))]
    return b"".join([*parts, number(len(named)), *named])


@pytest.mark.parametrize(("people", "order", "packed"), [
    (255, "<", True), (256, ">", False), (65_536, "<", False)])
def test_gt_files(people: int, order: str, packed: bool, tmp_path: Path) -> None:
    draw = study_generator(people, "gt")
    first, second = draw.integers(0, 40, 90), people - 1 - draw.integers(0, 40, 90)
    pairs = sorted(zip(first.tolist(), second.tolist(), strict=True))
    data = gt_file(people, pairs, order=order) if people < 60_000 else _large(people, pairs)
    path = tmp_path / ("graph.gt.gz" if packed else "graph.gt")
    path.write_bytes(gzip.compress(data) if packed else data)
    assert same(Graph.from_gt(path), Graph.from_edges(*map(list, zip(*pairs, strict=True)), people=people))


def _large(people: int, pairs: list[tuple[int, int]]) -> bytes:
    """Only the first 41 name anybody."""
    head = gt_file(41, [], order="<")[: 6 + 2 + 8 + 12 + 1]
    lists = [[other for one, other in pairs if one == v] for v in range(41)]
    return b"".join([head, struct.pack("<Q", people),
                     *(struct.pack(f"<Q{len(named)}I", len(named), *named) for named in lists),
                     bytes(8 * (people - 41)), struct.pack("<Q", 0)])


@pytest.mark.parametrize("order", ["<", ">"])
def test_weights_of_a_gt_file(order: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.gt"
    path.write_bytes(gt_file(4, [(0, 1), (0, 2), (1, 0), (3, 3)], order=order, weights=[1.5, float("inf"), 0.5, 9.0]))
    assert Graph.from_gt(path).dropped == Dropped(self_loops=1, parallel=1)
    assert Graph.from_gt(path, weight="long", at_least=2).edges == 2
    assert Graph.from_gt(path, weight="long", at_least=2.5).edges == 1
    assert Graph.from_gt(path, weight="short", at_least=2).edges == 1  # 0 + 2
    assert Graph.from_gt(path, at_least=2).edges == 1
    for weight in ("label", "about", "nothing"):
        with pytest.raises(InvalidInput, match="no numeric edge property"):
            Graph.from_gt(path, weight=weight, at_least=1)
    path.write_bytes(gt_file(2, [(0, 1)], weights=[-1.0]))
    with pytest.raises(InvalidInput, match="no weight"):
        Graph.from_gt(path, weight="long", at_least=1)
    with pytest.raises(InvalidInput, match="at_least: is missing"):
        Graph.from_gt(path, weight="long")


def test_gt_files_that_are_none(tmp_path: Path) -> None:
    path, good = tmp_path / "graph.gt", gt_file(3, [(0, 1), (1, 2)])
    path.write_bytes(gt_file(3, [(0, 1)], directed=True))
    with pytest.raises(InvalidInput, match="directed"):
        Graph.from_gt(path)
    assert Graph.from_gt(path, symmetrise=True).edges == 1
    for cut in range(0, len(good), 3):
        path.write_bytes(good[:cut])
        with pytest.raises(InvalidInput, match=r"not a complete file|no numeric edge property"):
            Graph.from_gt(path, weight="short", at_least=0)
    stranger = good.replace(b"\x01" + bytes(7) + b"\x01", b"\x01" + bytes(7) + b"\x07", 1)
    for wrong in (b"x" + good[1:], good[:6] + b"\x02" + good[7:], stranger):
        path.write_bytes(wrong)
        with pytest.raises(InvalidInput, match="not a complete file"):
            Graph.from_gt(path)
    path.write_bytes(gzip.compress(good)[:-9])
    with pytest.raises(InvalidInput, match="cannot be read"):
        Graph.from_gt(path)
    with pytest.raises(InvalidInput, match="cannot be read"):
        Graph.from_gt(tmp_path / "missing.gt")


@pytest.mark.slow
def test_no_other_package_is_imported_for_it() -> None:
    import subprocess
    import sys

    names = ["networkx", "igraph", "rustworkx", "graph_tool", "ibis", "pandas"]
    code = ("import sys; from confide.search import Graph; Graph.from_edges([0], [1]); "
            f"print([name for name in {names} if name in sys.modules])")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
