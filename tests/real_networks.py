"""Real networks that tests search: film casts out of a package, co-authors out of the data beside the checkout.

Where one is missing its tests are skipped, and fail in CI.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import NoReturn

import pytest

from confide.contract.errors import InvalidInput
from confide.search import Graph, film_casts

COAUTHORS = Path(__file__).parents[2] / "shared" / "data" / "coauthors_condmat2005.parquet"


@cache
def real_casts() -> Graph:
    """27,262 actors who appear in the same films; `make test` installs the package recbole for its file alone."""
    try:
        return film_casts()
    except InvalidInput:
        missing("the package recbole")


@cache
def real_coauthors() -> Graph:
    """40,421 authors of papers on condensed matter."""
    if not COAUTHORS.is_file():
        missing("the data beside the checkout")
    return Graph.from_table(COAUTHORS, vertices=40_421)


def missing(what: str) -> NoReturn:
    """End the test: fail in CI, skip elsewhere."""
    (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"{what} is not here")
