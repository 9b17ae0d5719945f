"""A peer that lives in an environment of its own, since it needs other versions of what everybody needs."""

from __future__ import annotations

import functools
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Peer"]

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, kw_only=True)
class Peer:
    """What to install, and how to see that it works.

    Args:
        folder: of its environment, below `.venvs`.
        requirements: as pip takes them.
        module: that must be importable.
        worker: file beside this one that runs in it.
    """

    folder: str
    requirements: tuple[str, ...]
    module: str
    worker: str

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return ROOT / ".venvs" / self.folder / "bin" / "python"

    def command(self, *arguments: object) -> list[str]:
        """What runs its worker."""
        return [str(self.python), "-P", str(Path(__file__).with_name(self.worker)), *map(str, arguments)]

    @functools.cache  # noqa: B019 - a handful of peers, each as old as the process
    def missing(self) -> str | None:
        """None when it can be used (it is installed at the first call), else why not."""
        try:
            if not self.python.exists():
                subprocess.run([sys.executable, "-m", "venv", str(self.python.parent.parent)], check=True,
                               capture_output=True)
            if not self._works():
                subprocess.run([str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                                *self.requirements], check=True, capture_output=True)
            return None if self._works() else "It could not be imported here."
        except (OSError, subprocess.CalledProcessError):
            return "It could not be installed here."

    def _works(self) -> bool:
        return subprocess.run([str(self.python), "-W", "ignore", "-c", f"import {self.module}"], capture_output=True,
                              check=False).returncode == 0
