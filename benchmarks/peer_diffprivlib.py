"""The peer diffprivlib, in an environment of its own: it needs an older scikit-learn than others may want."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peer import Peer

NAME = "diffprivlib 0.6.6 LinearRegression"
PEER = Peer(folder="diffprivlib", requirements=("scikit-learn==1.5.2", "diffprivlib==0.6.6"),
            module="diffprivlib.models", worker="peer_diffprivlib_worker.py")


def fit(
    X: np.ndarray, y: np.ndarray, lower: list[float], upper: list[float], response: tuple[float, float],
    jobs: list[dict[str, Any]],
) -> list[dict[str, Any]]:
    """Fit once per job.

    Args:
        X: (n, d) features without a constant.
        y: (n,) responses.
        lower: public bounds of the features.
        upper: likewise.
        response: public bounds of the response.
        jobs: each with epsilon and seed.

    Returns:
        For each job coef, intercept and seconds.
    """
    with tempfile.TemporaryDirectory() as folder:
        data, work = Path(folder) / "data.npz", Path(folder) / "work.json"
        np.savez(data, X=np.ascontiguousarray(X), y=y)
        work.write_text(json.dumps({"lower": lower, "upper": upper, "response": response, "jobs": jobs}))
        done = subprocess.run(PEER.command(data, work), check=True, capture_output=True, text=True)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found
