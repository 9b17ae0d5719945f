"""What tests of the service share: its parts over a store of either kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from campaign.service.parts import Parts


@pytest.fixture
def parts(database_url: str, tmp_path: Path) -> Iterator[Parts]:
    """The parts of a process, in an installation of its own."""
    with Parts.at(tmp_path, database_url) as found:
        yield found
