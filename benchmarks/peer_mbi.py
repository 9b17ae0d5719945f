"""The peer mbi (Private-PGM), in an environment of its own: it brings jax, which nothing else here needs."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peer import Peer

NAME = "mbi 2.0.0"
PEER = Peer(folder="mbi", requirements=("mbi==2.0.0",), module="mbi", worker="peer_mbi_worker.py")


def fit(cells: np.ndarray, sizes: Sequence[int], method: str, *, rho: float, seed: int, largest_mb: float,
        seconds: float) -> tuple[np.ndarray, dict[str, Any]] | None:
    """Run one method of the peer on a table of cells.

    Args:
        cells: (n, m) cell of each record in each column.
        sizes: cells of each column.
        method: "aim" or "mwem".
        rho: the whole budget, zCDP, one record replaced.
        seed: of the peer's own noise.
        largest_mb: how large its junction tree may become.
        seconds: after which it is stopped.

    Returns:
        (synthetic cells (n, m), {"seconds", "peak_mb", "tables"}); None where it did not end in time.
    """
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder) / "data.npz", Path(folder) / "out.npz"
        np.savez(data, cells=cells, sizes=np.array(sizes))
        try:
            done = subprocess.run(PEER.command(data, out, method, repr(rho), seed, repr(largest_mb)),
                                  check=True, capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return None
        return np.load(out)["cells"], json.loads(done.stdout.splitlines()[-1])
