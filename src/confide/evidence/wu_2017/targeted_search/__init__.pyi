# Made by tests/typed/stubs.py from the call of `exports` in __init__.py.
from confide.evidence.wu_2017.targeted_search.networks import coauthors_like_dblp as coauthors_like_dblp
from confide.evidence.wu_2017.targeted_search.networks import costars_like_imdb as costars_like_imdb
from confide.evidence.wu_2017.targeted_search.networks import film_casts as film_casts
from confide.evidence.wu_2017.targeted_search.printed import printed_search as printed_search

__all__ = [
    "coauthors_like_dblp", "costars_like_imdb", "film_casts", "printed_search",
]
