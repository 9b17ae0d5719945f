"""What tests need and a machine may lack, such as programs and data: elsewhere they are skipped, in CI they fail."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

__all__ = ["missing"]


def missing(message: str) -> NoReturn:
    """End the test: fail in CI, skip elsewhere.

    Args:
        message: what is missing, and where it is to be had.
    """
    if os.environ.get("CI", "").lower() in {"1", "true"}:
        pytest.fail(message, pytrace=False)
    pytest.skip(message)
