"""How much memory this process has held; imports nothing that would hold any."""

from __future__ import annotations

import ctypes
import gc
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


def held_mb() -> float:
    """What this process holds now, without what it has freed; from here on the peak is counted anew.

    Where the kernel does not allow that, the peak so far: then nothing is said of what comes after.
    """
    try:
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith("VmRSS")) * 1024 / 1e6
    except (OSError, AttributeError, StopIteration):
        return peak_mb()
