"""The command line: thin commands over `confide.campaign`, one for each stage of a campaign's life."""

from __future__ import annotations

import atexit
import gc
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line, and return the exit code. An error prints one line. A traceback is shown only if the
    environment variable CONFIDE_DEBUG is set, because a traceback may hold private values.
    """
    from confide.cli.app import app
    from confide.cli.failures import guarded

    # As it ends, Python would search all that was loaded for cycles of objects, which takes a fifth of a short verb's
    # time. The operating system takes that memory back anyway, and what has to be closed is closed before.
    atexit.register(gc.freeze)
    sys.exit(guarded(app))
