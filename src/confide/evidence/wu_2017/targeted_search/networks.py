"""Networks for repeating the source's experiments: simulated networks of the published sizes, and a real network from
another package.

The data of the real network are not part of confide.
"""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from confide.contract.errors import InvalidInput
from confide.contract.words import cause
from confide.search.discovery import affiliation_network
from confide.search.graph import Graph
from confide.tables._packaged import shipped_file

__all__ = ["coauthors_like_dblp", "costars_like_imdb", "film_casts", "film_casts_file"]

_FILE = Path("dataset_example", "ml-100k", "ml-100k.kg")
_CAST = "film.film.actor"


def film_casts_file() -> Path:
    """The path of the file of films in the installed package recbole.

    Raises:
        InvalidInput: the package is not installed.
    """
    return shipped_file("recbole", _FILE)


def film_casts(path: str | os.PathLike[str] | None = None, *, at_least: int = 1) -> Graph:
    """The network of actors who appear in the same film: 27,262 people and 979,448 edges, in recbole 1.2.1.

    The file links films to Freebase (CC BY). The list of films is that of MovieLens (for research), and the ids are
    Freebase's.

    Args:
        path: path of the file ml-100k.kg; None for the file in the installed package recbole.
        at_least: least number of common films, >= 1, at which two people are neighbours.

    Raises:
        InvalidInput: the file does not exist, or it is another file.

    Source: spec targeted_search 8.
    """
    place = film_casts_file() if path is None else Path(path)
    try:
        table = pa.csv.read_csv(place, parse_options=pa.csv.ParseOptions(delimiter="\t", quote_char=False),
                                convert_options=pa.csv.ConvertOptions(strings_can_be_null=False))
    except (OSError, pa.ArrowException) as error:
        raise InvalidInput("path", f"{place} cannot be read: {cause(error)}") from None
    if table.column_names != ["head_id:token", "relation_id:token", "tail_id:token"]:
        raise InvalidInput("path", f"{place} is no file of links between things", "must be ml-100k.kg")
    casts = table.filter(pc.equal(table.column(1), _CAST))
    return Graph.from_groups(casts.column(0), casts.column(2), at_least=at_least)


def costars_like_imdb(*, at_least: int = 1, seed: int = 0) -> Graph:
    """A simulated network of the size of the published co-appearance graph: 235,710 people, and 4,652,511 edges with
    seed 0.

    The network has 34,200 films in 400 communities. A film has 14 roles on average, and one role in ten is open to
    people of all communities.

    Args:
        at_least: least number of common films, >= 1, at which two people are neighbours.
        seed: seed of the draws.

    Source: Wu 2017, Table 3 (235,710 and 4,587,715); spec targeted_search 8.
    """
    return affiliation_network(235_710, 34_200, 400, 13.0, at_least=at_least, seed=seed)


def coauthors_like_dblp(*, at_least: int = 1, seed: int = 0) -> Graph:
    """A simulated network of the size of the published co-author graph: 956,043 people, and 3,733,731 edges with seed
    0.

    The network has 1,060,000 papers in 20,000 communities. A paper has 3.1 authors on average, and 15 in a hundred of
    them come from all communities.

    Args:
        at_least: least number of common papers, >= 1, at which two people are neighbours.
        seed: seed of the draws.

    Source: Wu 2017, Table 3 (956,043 and 3,738,044); spec targeted_search 8.
    """
    return affiliation_network(956_043, 1_060_000, 20_000, 2.1, outside=0.15, at_least=at_least, seed=seed)
