"""How much memory this process has held; imports nothing that would hold any."""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def peak_mb() -> float:
    """Peak resident memory of this process.

    `ru_maxrss` of a child starts at what its parent had when it was started, so the kernel's own mark comes first.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        return next(float(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) * 1024 / 1e6
    except (OSError, StopIteration):
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
