"""Every figure and table of the sources, and every headline table of the specifications, has its study."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from quick_runs import quick_run

from confide.evidence import studies, study

HERE = Path(__file__).parent
FIGURES: dict[str, dict[str, Any]] = tomllib.loads((HERE / "numbered_figures.toml").read_text(encoding="utf-8"))
STATEMENTS: dict[str, dict[str, Any]] = tomllib.loads((HERE / "numbered_statements.toml").read_text(encoding="utf-8"))
SPECIFICATIONS = {"allocation": 5, "convex_programs": 8, "data_market": 5, "privacy_notions": 7, "query_release": 8,
                  "targeted_search": 4, "truthful_regression": 9, "two_part_acquisition": 6}
AUTHORS = {"Wu 2017": "Wu 2017", "Wang 2016": "Wang 2016", "Fallah et al. 2022": "Fallah et al. 2022",
           "Cummings et al. 2015": "Cummings, Ioannidis and Ligett 2015"}
ENTRIES = [(document, name, entry) for document, listed in FIGURES.items() for name, entry in listed.items()]


@pytest.mark.parametrize(("document", "name", "entry"), ENTRIES, ids=[f"{d}, {n}" for d, n, _ in ENTRIES])
def test_each_has_its_study_or_a_reason(document: str, name: str, entry: dict[str, Any]) -> None:
    assert set(entry) in ({"studies"}, {"none"}, {"line", "studies"}, {"line", "none"})
    assert ("line" in entry) == (document in AUTHORS)
    assert entry.get("studies") or len(entry["none"]) > 20
    for each in entry.get("studies", ()):
        found = study(each)
        if document in AUTHORS:
            assert found.source.startswith(AUTHORS[document]), each


def test_the_sources_say_so() -> None:
    """One study at least of each figure names it as its source."""
    for document in AUTHORS:
        for name, entry in FIGURES[document].items():
            kind, _, label = name.partition(" ")
            if "studies" not in entry or kind not in {"Figure", "Table"}:
                continue
            sources = " ".join(study(each).source for each in entry["studies"])
            spans = re.findall(rf"{kind}s (\d+) to (\d+)", sources)
            assert name in sources or any(int(low) <= int(label) <= int(high) for low, high in spans), name


def test_the_list_is_whole() -> None:
    """Its figures and tables are those of the list of numbered statements, which was made from the texts."""
    assert {key: len(FIGURES[key]) for key in FIGURES if key not in AUTHORS} == SPECIFICATIONS
    for document in AUTHORS:
        numbered = {name: entry["line"] for name, entry in STATEMENTS[document].items()
                    if name.startswith(("Figure ", "Table "))}
        assert {name: entry["line"] for name, entry in FIGURES[document].items()
                if name.startswith(("Figure ", "Table "))} == numbered


def test_no_study_is_left_over() -> None:
    assert {each for _, _, entry in ENTRIES for each in entry.get("studies", ())} == {each.name for each in studies()}


# ---- the studies that the list asked for


def test_the_published_tables_in_bits() -> None:
    found = quick_run("queries-sizes")
    assert found["binary attributes of Adult"] == (235, 235, "stands")
    assert found["binary attributes of KDD99"] == (396, 396, "stands")
    assert found["columns of Adult"] == (14, 15, "differs")  # erratum 12
    assert found["of which no record can have, Adult"][1] == 54


def test_networks_of_the_published_sizes() -> None:
    found = quick_run("search-networks")
    for name, mean in (("DBLP", 3_738_044 / 956_043), ("IMDB", 4_587_715 / 235_710)):
        published, ours, agreement = found[f"edges for each vertex, {name}'s model"]
        assert published == pytest.approx(mean)
        assert ours == pytest.approx(mean, rel=0.05)
        assert agreement == "stands"
        assert 0 < found[f"share of the edges of weight 2 or more, {name}'s model"][1] < 0.2


def test_correlated_bits_of_a_real_survey() -> None:
    found = quick_run("market-affairs")  # spec data_market 6
    assert found["expected payment at epsilon = 1, g(x) = x"][1] == pytest.approx(55.7987, abs=5e-5)
    assert found["correlation"][1] == pytest.approx(0.112172, rel=1e-5)
    assert [each[1] for name, each in found.items() if name.startswith("groups, of 5")] == [0]
