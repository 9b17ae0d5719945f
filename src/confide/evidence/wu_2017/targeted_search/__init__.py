"""Chapter 7 of Wu 2017: targeted search of a private network."""

from confide._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "networks": ("coauthors_like_dblp", "costars_like_imdb", "film_casts"),
        "printed": ("printed_search",),
    },
)
