"""What the tests of the accountant share."""

from __future__ import annotations

import pytest

from confide.privacy.accounting import pld
from missing import missing


@pytest.fixture
def dp_accounting(request: pytest.FixtureRequest) -> None:
    """dp-accounting, for the calculator `pld`: without it tests are skipped here, and fail where CI is set.

    Of a test over several calculators (its parameter `name`), only the case of this one needs it.
    """
    callspec = getattr(request.node, "callspec", None)
    if (callspec is None or callspec.params.get("name", "pld") == "pld") and not pld.available():
        missing("dp-accounting is not installed: pip install 'confide[accounting]'")
