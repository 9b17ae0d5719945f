"""The peer diffprivlib, in an environment of its own: it needs an older scikit-learn than others may want."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

REQUIREMENTS = ("scikit-learn==1.5.2", "diffprivlib==0.6.6")
NAME = "diffprivlib 0.6.6 LinearRegression"
ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".venvs" / "diffprivlib"
PYTHON = FOLDER / "bin" / "python"
WORKER = Path(__file__).with_name("peer_diffprivlib_worker.py")


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
    return subprocess.run([str(PYTHON), "-c", "import diffprivlib.models"], capture_output=True, check=False
                          ).returncode == 0


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
        done = subprocess.run([str(PYTHON), "-P", str(WORKER), str(data), str(work)], check=True, capture_output=True,
                              text=True)
    return json.loads(done.stdout)
