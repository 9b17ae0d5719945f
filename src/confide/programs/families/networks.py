"""Public networks: from pairs of nodes, or from the topologies that the package topohub ships.

topohub (an extra, `confide[examples]`) is under the MIT licence. Its networks of the Survivable Network Design Library
are converted from that library, which states no licence of its own for them and asks to be cited: Orlowski, Wessaely,
Pioro and Tomaszewski, SNDlib 1.0, Networks 55 (2010) 276-286. Nothing of either is part of this package.
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

__all__ = ["Network", "both_ways", "made_up_users", "packaged_network", "unit_users"]


@dataclass(frozen=True, kw_only=True)
class Network:
    """A public directed graph, and who wants to send how much through it.

    Args:
        nodes: their number.
        arcs: (tail, head) of each.
        demands: (source, sink, amount) of each.
        names: of the nodes.
    """

    nodes: int
    arcs: tuple[tuple[int, int], ...]
    demands: tuple[tuple[int, int, float], ...] = ()
    names: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Network of {self.nodes} nodes, {len(self.arcs)} arcs and {len(self.demands)} demands>"


def both_ways(links: NDArray[np.integer] | tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Each link as two arcs that follow each other.

    Args:
        links: pairs of nodes.

    Example:
        >>> both_ways(((0, 1), (1, 2)))
        ((0, 1), (1, 0), (1, 2), (2, 1))
    """
    return tuple(arc for one, other in np.asarray(links).tolist() for arc in ((one, other), (other, one)))


def packaged_network(name: str) -> Network:
    """A network that topohub ships, every link as two arcs.

    Args:
        name: such as "sndlib/polska", "topozoo/Abilene" or "gabriel/25/0", of which the second part is a collection
            within a collection.

    Raises:
        InvalidInput: topohub is not installed, or ships no such network; names the nearest one.
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
    """The file of a network that topohub ships; a collection may lie within another one."""
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
            hint = f"it is a collection: name one of its networks, such as {name}/{inner[0]}" if inner else ""
            raise InvalidInput("name", f"the {what} {asked!r} is unknown", did_you_mean(asked, sorted(known), hint))
        place = known[asked]
    return place


def unit_users(network: Network) -> NDArray[np.int64]:
    """(n, 2) source and sink of one user for each unit of demand.

    Args:
        network: whose demands are whole numbers.

    Raises:
        InvalidInput: a demand is not a whole number.

    Example:
        >>> unit_users(Network(nodes=3, arcs=((0, 1), (1, 2)), demands=((0, 2, 2.0), (1, 2, 1.0)))).tolist()
        [[0, 2], [0, 2], [1, 2]]
    """
    amounts = [amount for _, _, amount in network.demands]
    if not all(amount >= 0 and amount == int(amount) for amount in amounts):
        raise InvalidInput("demands", "are not all whole numbers", "one user stands for one unit")
    ends = np.array([demand[:2] for demand in network.demands], dtype=np.int64).reshape(-1, 2)
    return np.repeat(ends, np.array(amounts, dtype=np.int64), axis=0)


def made_up_users(network: Network, seed: int) -> NDArray[np.float64]:
    """(n, 2 + E) records of `unit_users`, half of them the other way round, with costs U(0, 1) of each arc.

    Args:
        network: with demands.
        seed: of the generator.

    Source: spec convex_programs 9.8.
    """
    draw, ends = study_generator(whole("seed", seed)), unit_users(network)
    ends = np.where(draw.random(len(ends))[:, None] < 0.5, ends[:, ::-1], ends)
    return np.concatenate([ends, draw.random((len(ends), len(network.arcs)))], axis=1)
