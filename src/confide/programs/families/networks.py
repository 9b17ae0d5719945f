"""Public networks, built from pairs of nodes, or from the topologies that the package topohub ships.

topohub (an extra, `confide[examples]`) is under the MIT licence. Some networks of topohub are converted from the
Survivable Network Design Library, which states no licence for them. The library asks to be cited: Orlowski, Wessaely,
Pioro and Tomaszewski, SNDlib 1.0, Networks 55 (2010) 276-286. Nothing of topohub or SNDlib is part of this package.

The module also describes, for a solver, all routes of a limited number of arcs between two nodes of a public network.

Routes have two descriptions, of which the smaller one is used. The first has a variable for each simple path, and is
small where there are few paths. The second has a variable for each arc at each possible place of the arc in a walk. A
walk of at most L arcs contains a simple path that costs no more and uses no additional arcs, so both descriptions have
the same optimum.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

import numpy as np
from numpy.typing import NDArray

from confide.contract.checks import whole
from confide.contract.errors import InvalidInput
from confide.contract.words import did_you_mean
from confide.privacy.noise.simulated import study_generator
from confide.tables._packaged import extra

__all__ = [
    "Network",
    "Routes",
    "both_ways",
    "made_up_users",
    "outgoing",
    "packaged_network",
    "routes_between",
    "simple_paths",
    "unit_users",
]

# ---- networks


@dataclass(frozen=True, kw_only=True)
class Network:
    """A public directed graph, and the demands of users who send flow through the graph.

    Args:
        nodes: number of nodes.
        arcs: (tail, head) of each arc, as numbers of nodes from 0.
        demands: (source, sink, amount) of each demand, in units of flow.
        names: names of the nodes, in the order of their numbers; empty if the nodes have no names.
    """

    nodes: int
    arcs: tuple[tuple[int, int], ...]
    demands: tuple[tuple[int, int, float], ...] = ()
    names: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Network of {self.nodes} nodes, {len(self.arcs)} arcs and {len(self.demands)} demands>"


def both_ways(links: NDArray[np.integer] | tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Arcs of an undirected network: each link becomes two consecutive arcs, one in each direction.

    Args:
        links: pairs of nodes, as numbers from 0.

    Example:
        >>> both_ways(((0, 1), (1, 2)))
        ((0, 1), (1, 0), (1, 2), (2, 1))
    """
    return tuple(arc for one, other in np.asarray(links).tolist() for arc in ((one, other), (other, one)))


def packaged_network(name: str) -> Network:
    """A network that topohub ships, with every link as two arcs.

    Args:
        name: name of a collection and of a network in it, such as "sndlib/polska" or "topozoo/Abilene". A collection
            may lie within another collection, such as "gabriel/25" in "gabriel/25/0".

    Raises:
        InvalidInput: topohub is not installed, or ships no such network. The error message names the network with the
            most similar name.
    """
    found = json.loads(_shipped(name).read_text(encoding="utf-8"))
    place_of = {node["id"]: place for place, node in enumerate(found["nodes"])}
    demands = found["graph"].get("demands", {})
    return Network(
        nodes=len(place_of), arcs=both_ways(tuple((place_of[one["source"]], place_of[one["target"]])
                                                  for one in found["edges"])),
        demands=tuple((place_of[int(source)], place_of[int(sink)], float(amount))
                      for source, sinks in demands.items() for sink, amount in sinks.items()),
        names=tuple(str(node.get("name", node["id"])) for node in found["nodes"]))


def _shipped(name: str) -> Traversable:
    """File of a network that topohub ships. A collection may lie within another one."""
    place = files(extra("topohub", "examples")) / "data"
    folders, _, item = name.rpartition("/")
    parts = [("collection", folder) for folder in (folders or name).split("/")] + [("network", item)]
    for what, asked in parts:
        entries = [one for one in place.iterdir() if not one.name.startswith("__")]
        known = {one.name.removesuffix(".json"): one for one in entries if one.is_dir() == (what == "collection")}
        if asked not in known:
            within = [one for one in entries if one.name == asked]
            inner = sorted(one.name.removesuffix(".json") for folder in within if folder.is_dir()
                           for one in folder.iterdir())
            hint = f"the data set is a collection: name one of its networks, such as {name}/{inner[0]}" if inner else ""
            raise InvalidInput("name", f"the {what} {asked!r} is unknown", did_you_mean(asked, sorted(known), hint))
        place = known[asked]
    return place


def unit_users(network: Network) -> NDArray[np.int64]:
    """Source and sink of one user for each unit of demand, shape (n, 2).

    Args:
        network: network with demands that are whole numbers.

    Raises:
        InvalidInput: a demand is not a whole number.

    Example:
        >>> unit_users(Network(nodes=3, arcs=((0, 1), (1, 2)), demands=((0, 2, 2.0), (1, 2, 1.0)))).tolist()
        [[0, 2], [0, 2], [1, 2]]
    """
    amounts = [amount for _, _, amount in network.demands]
    if not all(amount >= 0 and amount == int(amount) for amount in amounts):
        raise InvalidInput("demands", "are not all whole numbers", "each unit of demand must be one user")
    ends = np.array([demand[:2] for demand in network.demands], dtype=np.int64).reshape(-1, 2)
    return np.repeat(ends, np.array(amounts, dtype=np.int64), axis=0)


def made_up_users(network: Network, seed: int) -> NDArray[np.float64]:
    """Simulated records of `Flow`, with private costs of E arcs, for the users of `unit_users`, shape (n, 2 + E). In
    each record, source and sink are swapped with probability 1/2, and each arc has a uniform random cost in [0, 1].

    Args:
        network: network with demands.
        seed: seed >= 0 of the random generator.

    Source: spec convex_programs 9.8.
    """
    draw, ends = study_generator(whole("seed", seed)), unit_users(network)
    ends = np.where(draw.random(len(ends))[:, None] < 0.5, ends[:, ::-1], ends)
    return np.concatenate([ends, draw.random((len(ends), len(network.arcs)))], axis=1)


# ---- routes

Arcs = tuple[tuple[int, int], ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Routes:
    """All routes between one pair of nodes, as a small linear program. The rows of the matrix state which variables
    form one route.

    Args:
        arrives: (m,) amount that one unit of each variable brings to the sink: 1 or 0.
        arc: (z,) number of the arc in each of z pairs (arc, variable that uses the arc).
        user: (z,) index of the variable in each of these pairs.
        high: (r,) upper bound of each matrix row. The upper bound is 1 in the first row, for at most one route, and 0
            in the other rows, which are flow balances.
        row: (y,) row of each nonzero matrix entry.
        column: (y,) index of the variable of each nonzero matrix entry.
        entry: (y,) value of each nonzero matrix entry, +1 or -1.
    """

    arrives: NDArray[np.float64]
    arc: NDArray[np.int64]
    user: NDArray[np.int64]
    high: NDArray[np.float64]
    row: NDArray[np.int64]
    column: NDArray[np.int64]
    entry: NDArray[np.float64]


def outgoing(arcs: Arcs, nodes: int) -> list[list[int]]:
    """The numbers of the arcs that leave each node, ascending.

    Args:
        arcs: (tail, head) of each arc, as numbers of nodes from 0.
        nodes: number of nodes.
    """
    out: list[list[int]] = [[] for _ in range(nodes)]
    for number, (tail, _) in enumerate(arcs):
        out[tail].append(number)
    return out


def simple_paths(arcs: Arcs, nodes: int, source: int, sink: int, hops: int, most: int) -> list[tuple[int, ...]] | None:
    """All simple paths from source to sink, each as the numbers of its arcs; None if there are more than `most` paths.

    Args:
        arcs: (tail, head) of each arc, as numbers of nodes from 0.
        nodes: number of nodes.
        source: first node of the paths.
        sink: last node of the paths, different from the source.
        hops: largest number of arcs of a path.
        most: number of paths above which the result is None.

    Example:
        >>> simple_paths(((0, 1), (1, 2), (0, 2)), 3, 0, 2, hops=2, most=10)
        [(0, 1), (2,)]
    """
    out, left = outgoing(arcs, nodes), _distances(arcs, nodes, sink, hops)
    found: list[tuple[int, ...]] = []
    path: list[int] = []
    seen = [source]
    pending = [iter(out[source])]
    while pending:
        arc = next(pending[-1], None)
        if arc is None:
            pending.pop()
            seen.pop()
            if path:
                path.pop()
            continue
        head = arcs[arc][1]
        if head == sink:
            found.append((*path, arc))
            if len(found) > most:
                return None
        elif head not in seen and len(path) + 1 + left[head] <= hops:
            path.append(arc)
            seen.append(head)
            pending.append(iter(out[head]))
    return found


def routes_between(arcs: Arcs, nodes: int, source: int, sink: int, hops: int) -> Routes:
    """All routes from source to sink, as a small linear program.

    Args:
        arcs: (tail, head) of each arc, as numbers of nodes from 0.
        nodes: number of nodes.
        source: first node of the routes.
        sink: last node of the routes, different from the source.
        hops: largest number of arcs of a route.
    """
    places = _places(arcs, nodes, source, sink, hops)
    paths = simple_paths(arcs, nodes, source, sink, hops, most=max(1, len(places)))
    if paths is None:
        return _by_places(arcs, sink, places)
    lengths = np.array([len(path) for path in paths], dtype=np.int64)
    m = len(paths)
    return Routes(
        arrives=np.ones(m), arc=np.array([arc for path in paths for arc in path], dtype=np.int64),
        user=np.repeat(np.arange(m), lengths), high=np.ones(1), row=np.zeros(m, dtype=np.int64),
        column=np.arange(m), entry=np.ones(m))


def _distances(arcs: Arcs, nodes: int, sink: int, hops: int) -> list[int]:
    """Smallest number of arcs from each node to the sink, shape (nodes,); hops + 1 where it exceeds `hops`."""
    left = [0 if node == sink else hops + 1 for node in range(nodes)]
    for _ in range(hops):
        for tail, head in arcs:
            left[tail] = min(left[tail], left[head] + 1)
    return left


def _places(arcs: Arcs, nodes: int, source: int, sink: int, hops: int) -> list[tuple[int, int]]:
    """Pairs (place, arc) of all arcs in walks from source to sink that never leave the sink and never return to the
    source.
    """
    left = _distances(arcs, nodes, sink, hops)
    here, found = {source}, []
    for place in range(hops):
        some = [(number, head) for number, (tail, head) in enumerate(arcs)
                if tail in here and head != source and place + 1 + left[head] <= hops]
        found += [(place, number) for number, _ in some]
        here = {head for _, head in some} - {sink}
    return found


def _by_places(arcs: Arcs, sink: int, places: list[tuple[int, int]]) -> Routes:
    """Routes with one variable for each arc at each place. The flow into a node at one place equals the flow out of it
    at the next place.
    """
    balances: dict[tuple[int, int], int] = {}
    entries = []
    for variable, (place, number) in enumerate(places):
        tail, head = arcs[number]
        if place == 0:
            entries.append((0, variable, 1.0))
        else:
            entries.append((balances.setdefault((place, tail), len(balances) + 1), variable, -1.0))
        if head != sink:
            entries.append((balances.setdefault((place + 1, head), len(balances) + 1), variable, 1.0))
    row, column, entry = (np.array(part) for part in zip(*entries, strict=True))
    high = np.zeros(len(balances) + 1)
    high[0] = 1.0
    return Routes(
        arrives=np.array([float(arcs[number][1] == sink) for _, number in places]),
        arc=np.array([number for _, number in places], dtype=np.int64), user=np.arange(len(places)), high=high,
        row=row.astype(np.int64), column=column.astype(np.int64), entry=entry.astype(np.float64))
