"""Targeted search in a private network: find the hidden members of a group, expose nobody else's contacts.

    >>> from confide.search import Graph
    >>> Graph.from_edges([0, 1, 1], [1, 2, 1])
    Graph(people=3)

A graph says how many people there are and nothing else: who they are is public, who knows whom is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide._lazy import doors

if TYPE_CHECKING:
    from confide.search.errors import DegreeBoundViolated
    from confide.search.graph import Dropped, Graph
    from confide.search.infection import infect
    from confide.search.instances import film_casts
    from confide.search.synthetic import affiliation_network, coauthors_like_dblp, costars_like_imdb


__all__ = [
    "DegreeBoundViolated",
    "Dropped",
    "Graph",
    "affiliation_network",
    "coauthors_like_dblp",
    "costars_like_imdb",
    "film_casts",
    "infect",
]

__getattr__, __dir__ = doors(
    __name__,
    {
        "errors": ("DegreeBoundViolated",),
        "graph": ("Dropped", "Graph"),
        "infection": ("infect",),
        "instances": ("film_casts",),
        "synthetic": ("affiliation_network", "coauthors_like_dblp", "costars_like_imdb"),
    },
)
