"""The real network of the studies: film casts out of a package. Without it tests are skipped, and fail in CI."""

from __future__ import annotations

from functools import cache

from confide.contract.errors import InvalidInput
from confide.evidence.wu_2017.targeted_search import film_casts
from confide.search import Graph
from missing import missing


@cache
def real_casts() -> Graph:
    """27,262 actors who appear in the same films; `make test` installs the package recbole for its file alone."""
    try:
        return film_casts()
    except InvalidInput:
        missing("the package recbole is not here")
