"""The command line: thin commands over `confide.campaign`, one for each stage of a campaign's life."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line. An error prints one line and sets the exit code; a traceback, which may hold private
    values, is never shown.
    """
    from confide.cli.app import app
    from confide.cli.failures import guarded

    sys.exit(guarded(app))
