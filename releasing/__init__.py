"""Makes a release (`make release`): builds it, checks it, tries it in clean environments, writes its notes.

Nothing is uploaded. Where what was built goes is up to a person.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["ROOT", "NotReady"]

ROOT = Path(__file__).resolve().parents[1]


class NotReady(Exception):
    """What is to be released has to be mended first. The message says what."""
