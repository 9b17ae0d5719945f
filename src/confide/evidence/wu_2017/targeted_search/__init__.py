"""Chapter 7 of Wu 2017: private search for targets in a network of contacts."""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "networks": ("coauthors_like_dblp", "costars_like_imdb", "film_casts"),
        "printed": ("printed_search",),
    },
)
