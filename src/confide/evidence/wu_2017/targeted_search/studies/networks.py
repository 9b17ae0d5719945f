"""Table 3: two simulated networks at the published sizes, and the distribution of the number of contacts in them.

The published networks are not part of the package. Spec targeted_search 8 gives the model and its constants. A quick
run simulates networks of a twentieth of the size, with people, groups and communities in proportion.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from confide.charts import curves
from confide.contract.kinds import Progress
from confide.contract.presentation import Table
from confide.evidence.findings import Compared, Findings, Study, advance, as_printed, near
from confide.evidence.wu_2017.targeted_search.networks import coauthors_like_dblp, costars_like_imdb
from confide.search.discovery import affiliation_network
from confide.search.graph import Graph

__all__ = ["STUDY"]

_PART = 20
_NEAR = 0.05


class _Printed(NamedTuple):
    people: int
    edges: int


_TABLE = {"DBLP": _Printed(956_043, 3_738_044), "IMDB": _Printed(235_710, 4_587_715)}


def _network(name: str, quick: bool, at_least: int) -> Graph:
    if not quick:
        return (coauthors_like_dblp if name == "DBLP" else costars_like_imdb)(at_least=at_least)
    if name == "DBLP":
        return affiliation_network(956_043 // _PART, 1_060_000 // _PART, 20_000 // _PART, 2.1, outside=0.15,
                                   at_least=at_least)
    return affiliation_network(235_710 // _PART, 34_200 // _PART, 400 // _PART, 13.0, at_least=at_least)


def _run(quick: bool, progress: Progress | None) -> Findings:
    compared: list[Compared] = []
    points: list[tuple[float, float, str]] = []
    rows: list[tuple[str | float, ...]] = []
    for done, (name, printed) in enumerate(_TABLE.items(), 1):
        graph = _network(name, quick, 1)
        close = _network(name, quick, 2)
        mean, published = graph.edges / graph.people, printed.edges / printed.people
        compared += [
            near(f"edges for each vertex, {name}'s model", published, mean, within=_NEAR * published,
                 remark="made up to fit" + (f"; a network of 1/{_PART} of the people" if quick else ""),
                 origin=as_printed("Wu 2017, Table 3, edges over vertices, line 6277")),
            Compared(quantity=f"share of the edges of weight 2 or more, {name}'s model", published=None,
                     ours=close.edges / graph.edges, agreement="not published",
                     remark="the text removes lighter ones, and does not say whether its table counts them"),
        ]
        degrees = np.sort(graph.degrees)
        for contacts in np.unique(np.geomspace(1, max(1, graph.largest_degree), 60).astype(int)).tolist():
            more = len(degrees) - int(np.searchsorted(degrees, contacts))
            points.append((contacts, more / len(degrees), f"{name}'s model"))
        rows.append((name, *printed, graph.people, graph.edges, close.edges, graph.largest_degree,
                     float(np.median(degrees))))
        advance(progress, done, len(_TABLE))
    return Findings(compared=tuple(compared), blocks=(
        *curves(points, title="How contacts are spread", x="contacts", y="share of people with so many or more",
                log_x=True, log_y=True,
                alt="Share of people with at least so many contacts, on logarithmic axes. People who share films have "
                    "several times as many contacts as people who share papers. A few people in each network have very "
                    "many contacts."),
        Table(columns=("network", "vertices in print", "edges in print", "vertices", "edges", "edges of weight 2",
                       "most contacts", "median"), rows=tuple(rows),
              note="Made-up people of communities who appear together in groups: films of 14 places on average, papers "
                   "of 3.1 authors. The published networks differ in all but their sizes.")))


STUDY = Study(
    name="search-networks",
    title="Networks of the published sizes",
    source="Wu 2017, Table 3",
    statement="DBLP has 956,043 vertices and 3,738,044 edges, IMDB 235,710 and 4,587,715.",
    run=_run,
)
