"""Runs inside OR-tools' own environment: VALUES.npy SUPPLY ALLOCATION.npy; what it took as JSON.

The exact assignment as a flow of least cost: an arc from each bidder to each good, from each good to the sink with its
copies as capacity, and from each bidder to the sink for whoever goes without. Costs are whole millionths.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
from ortools.graph.python import min_cost_flow

UNIT = 10**6
"""Costs in one unit of value."""


def status(field: str) -> float:
    """Megabytes of this process by the kernel's own account: VmHWM is the peak, VmRSS what is held now."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(field)) * 1024 / 1e6


def main() -> None:
    values = np.load(sys.argv[1])
    supply = int(sys.argv[2])
    before = status("VmRSS")
    start = time.perf_counter()
    flow, arcs = network(values, supply)
    built = time.perf_counter()
    if flow.solve() != flow.OPTIMAL:
        raise SystemExit("no optimal flow")
    solved = time.perf_counter()
    held = holders(flow, arcs, values.shape)
    end = time.perf_counter()
    peak = status("VmHWM")
    np.save(sys.argv[3], held)
    worth = values[np.arange(len(held)), np.maximum(held, 0)].astype(np.float64)
    print(json.dumps({"seconds": end - start, "building, s": built - start, "solving, s": solved - built,
                      "peak_mb": peak, "run_mb": peak - before, "welfare": float(worth[held >= 0].sum())}))


def network(values: np.ndarray, supply: int) -> tuple[min_cost_flow.SimpleMinCostFlow, np.ndarray]:
    """Bidders are nodes 0..n-1, goods n..n+k-1, the sink is the last one."""
    people, goods = values.shape
    sink = people + goods
    flow = min_cost_flow.SimpleMinCostFlow()
    bidders, shelves = np.arange(people, dtype=np.int32), np.arange(people, sink, dtype=np.int32)
    costs = -np.rint(values.reshape(-1).astype(np.float64) * UNIT).astype(np.int64)
    arcs = flow.add_arcs_with_capacity_and_unit_cost(
        np.repeat(bidders, goods), np.tile(shelves, people), np.ones(people * goods, dtype=np.int64), costs)
    flow.add_arcs_with_capacity_and_unit_cost(
        bidders, np.full(people, sink, dtype=np.int32), np.ones(people, dtype=np.int64),
        np.zeros(people, dtype=np.int64))
    flow.add_arcs_with_capacity_and_unit_cost(
        shelves, np.full(goods, sink, dtype=np.int32), np.full(goods, supply, dtype=np.int64),
        np.zeros(goods, dtype=np.int64))
    flow.set_nodes_supplies(bidders, np.ones(people, dtype=np.int64))
    flow.set_node_supply(sink, -people)
    return flow, arcs


def holders(flow: min_cost_flow.SimpleMinCostFlow, arcs: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """The good of each bidder, -1 for none."""
    used = np.asarray(flow.flows(arcs)).reshape(shape) > 0
    return np.where(used.any(axis=1), used.argmax(axis=1), -1)


if __name__ == "__main__":
    main()
