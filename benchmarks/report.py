"""What a subject hands back: targets with what was measured, tables, and how to repeat it; written as JSON."""

from __future__ import annotations

import datetime
import json
import os
import platform
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

LIBRARIES = (
    "confide", "numpy", "scipy", "numba", "pyarrow", "opendp", "python-flint", "threadpoolctl", "dp-accounting",
    "cvxpy", "clarabel",
)


@dataclass(frozen=True)
class Target:
    """A promise about a figure, and the figure.

    Args:
        what: the figure.
        limit: what it must not exceed; with `at_least`, what it must reach.
        measured: the figure.
        unit: of both.
        at_least: turns the comparison round.
        note: what a reader should know beside the verdict.
    """

    what: str
    limit: float
    measured: float
    unit: str = ""
    at_least: bool = False
    note: str = ""

    @property
    def met(self) -> bool:
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit


@dataclass(frozen=True)
class Table:
    """Rows for the page. A cell is a number or a text."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    note: str = ""


@dataclass
class Report:
    """One subject's result.

    Args:
        title: heading on the page.
        method: how it was measured, a sentence each.
        findings: what the figures say, a sentence each.
        targets: promises and figures.
        tables: for the page.
        details: raw figures, seeds, preprocessing; for whoever wants to repeat it.
    """

    title: str
    method: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)

    def write(self, path: Path, *, quick: bool) -> None:
        """Write everything, with the machine and the date."""
        content = asdict(self)
        content["targets"] = [{**asdict(target), "met": target.met} for target in self.targets]
        content |= {"quick": quick, "date": datetime.date.today().isoformat(), "machine": machine()}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    return {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "libraries": {name: _version(name) for name in LIBRARIES},
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
