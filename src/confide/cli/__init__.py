"""The command line: thin verbs over `confide.campaign`, one for each stage of a campaign's life."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; errors become one line and an exit code, never a traceback with values in it."""
    from confide.cli.app import app
    from confide.cli.failures import guarded

    sys.exit(guarded(app))
