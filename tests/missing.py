"""Programs that tests need and a machine may lack: elsewhere their tests are skipped, in CI they fail."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

__all__ = ["missing"]


def missing(message: str) -> NoReturn:
    """Say what is missing, and where it is to be had."""
    if os.environ.get("CI") == "true":
        pytest.fail(message, pytrace=False)
    pytest.skip(message)
