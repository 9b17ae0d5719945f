"""Jobs that run in a process of their own, so that memory and compilation are theirs alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["in_own_process"]

ROOT = Path(__file__).resolve().parent.parent


def in_own_process(module: str, *arguments: object, env: Mapping[str, str] | None = None) -> Any:
    """What a module of this package prints as its last line, in JSON.

    Args:
        module: its name here.
        arguments: its command line.
        env: variables of its environment besides ours.

    Raises:
        SystemExit: it failed; what it had to say stands above.
    """
    done = subprocess.run([sys.executable, "-m", f"benchmarks.{module}", *map(str, arguments)], cwd=ROOT, check=False,
                          stdout=subprocess.PIPE, text=True, env={**os.environ, **(env or {})})
    if done.returncode:
        raise SystemExit(f"{module} {' '.join(map(str, arguments))}: ended with {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])
