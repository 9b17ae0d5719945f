"""Real networks that tests search: film casts out of a package, co-authors out of the data beside the checkout.

Where one is missing its tests are skipped, and fail in CI.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from confide.contract.errors import InvalidInput
from confide.search import Graph, film_casts
from missing import missing

COAUTHORS = Path(__file__).parents[2] / "shared" / "data" / "coauthors_condmat2005.parquet"


@cache
def real_casts() -> Graph:
    """27,262 actors who appear in the same films; `make test` installs the package recbole for its file alone."""
    try:
        return film_casts()
    except InvalidInput:
        missing("the package recbole is not here")


@cache
def real_coauthors() -> Graph:
    """40,421 authors of papers on condensed matter."""
    if not COAUTHORS.is_file():
        missing("the data beside the checkout is not here")
    return Graph.from_table(COAUTHORS, vertices=40_421)
