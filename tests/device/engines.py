"""The shipped program in an engine of JavaScript, on bytes that a test knows."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from confide.service.web.page import STATIC
from missing import missing

PROGRAM = STATIC / "noise.js"
RUNNER = Path(__file__).with_name("run.mjs")


def run(cases: Sequence[dict[str, Any]], program: Path = PROGRAM) -> list[dict[str, Any]]:
    """What the program gives for each case: `found`, how many bytes it `used`, and the `problem` it had.

    Args:
        cases: each with `call`, `draws`, `bytes` in hexadecimal, and what the call takes.
        program: the module.
    """
    node = shutil.which("node")
    if node is None:
        missing("node is not on PATH; Debian's package nodejs has it")
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    done = subprocess.run([node, "--no-warnings", RUNNER, program.as_uri()], input=lines, text=True, check=False,
                          capture_output=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]
