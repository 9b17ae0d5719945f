"""Chapter 7: targeted search of a private network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.evidence.wu_2017.targeted_search.networks import coauthors_like_dblp, costars_like_imdb, film_casts
    from confide.evidence.wu_2017.targeted_search.printed import printed_search

__all__ = [
    "coauthors_like_dblp",
    "costars_like_imdb",
    "film_casts",
    "printed_search",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "networks": ("coauthors_like_dblp", "costars_like_imdb", "film_casts"),
        "printed": ("printed_search",),
    },
)
