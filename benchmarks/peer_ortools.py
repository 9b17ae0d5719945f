"""The peer OR-tools, in an environment of its own: it cannot share a process with the HiGHS that confide has."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.peer import Peer

NAME = "OR-tools 9.15.6755"
PEER = Peer(folder="ortools", requirements=("ortools==9.15.6755",), module="ortools.graph.python.min_cost_flow",
            worker="peer_ortools_worker.py")


def assign(table: Path, supply: int, *, seconds: float) -> tuple[np.ndarray, dict[str, float]] | None:
    """The exact assignment of a table of values by a flow of least cost.

    Args:
        table: a .npy file of (n, k) values.
        supply: s, copies of each good.
        seconds: after which it is stopped.

    Returns:
        ((n,) goods, -1 for none, {"seconds", "building, s", "solving, s", "peak_mb", "run_mb", "welfare"}); None where
        it did not end in time.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "held.npy"
        try:
            done = subprocess.run(PEER.command(table, supply, out), check=True, capture_output=True, text=True,
                                  timeout=seconds)
        except subprocess.TimeoutExpired:
            return None
        found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
        return np.load(out), found
