"""The peer mbi (Private-PGM), in an environment of its own: it brings jax, which nothing else here needs."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

REQUIREMENTS = ("mbi==2.0.0",)
NAME = "mbi 2.0.0"
ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".venvs" / "mbi"
PYTHON = FOLDER / "bin" / "python"
WORKER = Path(__file__).with_name("peer_mbi_worker.py")


@functools.cache
def missing() -> str | None:
    """None when it can be used (it is installed at the first call), else why not."""
    try:
        if not PYTHON.exists():
            subprocess.run([sys.executable, "-m", "venv", str(FOLDER)], check=True, capture_output=True)
        if not _works():
            subprocess.run([str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                            *REQUIREMENTS], check=True, capture_output=True)
        return None if _works() else "It could not be imported here."
    except (OSError, subprocess.CalledProcessError):
        return "It could not be installed here."


def _works() -> bool:
    return subprocess.run([str(PYTHON), "-W", "ignore", "-c", "import mbi"], capture_output=True, check=False
                          ).returncode == 0


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
            done = subprocess.run(
                [str(PYTHON), "-P", str(WORKER), str(data), str(out), method, repr(rho), str(seed), repr(largest_mb)],
                check=True, capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return None
        return np.load(out)["cells"], json.loads(done.stdout.splitlines()[-1])
