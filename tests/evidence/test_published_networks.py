"""Networks to repeat the experiments on: a real one where its file is, made-up ones at the published sizes."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from casts import real_casts

from confide.contract.errors import InvalidInput
from confide.evidence.wu_2017.targeted_search import coauthors_like_dblp, costars_like_imdb, film_casts
from confide.evidence.wu_2017.targeted_search.networks import film_casts_file

LINKS = """head_id:token\trelation_id:token\ttail_id:token
film1\tfilm.film.actor\tm.b
film1\tfilm.film.actor\tm.a
film1\tfilm.film.actor\tm.a
film1\tfilm.producer.film\tm.x
film2\tfilm.film.actor\tm.a
film2\tfilm.film.actor\tm.b
film2\tfilm.film.actor\tm.c
film3\tfilm.film.actor\tm.d
"""


def test_casts_are_read_from_the_file_of_links(tmp_path: Path) -> None:
    path = tmp_path / "ml-100k.kg"
    path.write_text(LINKS)
    graph = film_casts(path)
    assert graph.ids.to_pylist() == ["m.a", "m.b", "m.c", "m.d"]
    assert graph.degrees.tolist() == [2, 2, 2, 0]
    assert film_casts(path, at_least=2).edges == 1
    path.write_text("a\tb\n1\t2\n")
    with pytest.raises(InvalidInput, match=r"must be ml-100k\.kg"):
        film_casts(path)
    with pytest.raises(InvalidInput, match="cannot be read"):
        film_casts(tmp_path / "missing.kg")


def test_a_package_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InvalidInput, match="not installed"):
        film_casts()


def test_the_real_casts() -> None:
    graph = real_casts()
    assert film_casts_file().is_file()
    assert (graph.people, graph.edges, graph.largest_degree) == (27_262, 979_448, 1147)
    heavy = film_casts(at_least=2)
    assert (int((heavy.degrees > 0).sum()), heavy.edges) == (2791, 5254)


@pytest.mark.slow
@pytest.mark.parametrize(("make", "people", "edges"), [
    (costars_like_imdb, 235_710, 4_587_715), (coauthors_like_dblp, 956_043, 3_738_044)])
def test_made_up_networks_at_the_published_sizes(make: object, people: int, edges: int) -> None:
    graph = make()  # type: ignore[operator]
    assert graph.people == people
    assert graph.edges == pytest.approx(edges, rel=0.05)
