"""A real network that tests search: co-authors out of the data beside the checkout.

Where it is missing its tests are skipped, and fail in CI.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from confide.search import Graph
from missing import missing

COAUTHORS = Path(__file__).parents[2] / "shared" / "data" / "coauthors_condmat2005.parquet"


@cache
def real_coauthors() -> Graph:
    """40,421 authors of papers on condensed matter."""
    if not COAUTHORS.is_file():
        missing("the data beside the checkout is not here")
    return Graph.from_table(COAUTHORS, vertices=40_421)
