"""A search that goes on has the noise that it had, for what it was: nothing is released twice under one charge."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from toy_network import EDGES, TARGETS, toy

from confide.contract import InvalidInput
from confide.privacy.noise import JournalNoise, Noise
from confide.search import (
    DegreeBoundViolated,
    Graph,
    Investigation,
    OracleUnavailable,
    PTarget,
    random_order,
    search_component,
)

SEARCH = PTarget(16, 3, None, 1.0, None, "none")
FIRST = {0, 1, 14, 2}


def rewired(*edges: tuple[int, int]) -> Graph:
    every = [*EDGES, *edges]
    return Graph.from_edges([a for a, _ in every], [b for _, b in every], people=16)


def test_what_was_charged_is_not_drawn_again_under_the_same_charge(tmp_path: Path) -> None:
    charged: list[Any] = []
    first = SEARCH.start(toy(), Noise.secure(), charge=charged.append).run()
    assert (len(charged), first.charged) == (2, 2)
    for noise in (Noise.secure(), JournalNoise(tmp_path / "new", Noise.secure())):
        with pytest.raises(InvalidInput, match=r"^charged: is 2, but the noise does not have the draws"):
            SEARCH.start(toy(), noise, charge=charged.append, charged=2, answers=first.answers)
    SEARCH.start(toy(), Noise.secure(), charge=charged.append, answers=first.answers).run()
    assert len(charged) == 4  # other noise: another release
    studied = [SEARCH.start(toy(), Noise.simulated(3), charged=each).run().outcome for each in (0, 2)]
    assert studied[0].billboard.order.tolist() == studied[1].billboard.order.tolist()  # type: ignore[attr-defined]


def test_as_many_calls_are_charged_already_as_the_journal_has_begun(tmp_path: Path) -> None:
    charged: list[Any] = []
    few = {each: each in TARGETS for each in (0, 1, 2, 14, 3, 4, 8, 13)}

    def oracle(vertex: int) -> bool:
        return few[vertex]

    with JournalNoise(tmp_path / "noise", Noise.secure()) as noise, pytest.raises(OracleUnavailable) as paused:
        SEARCH.run(toy(oracle), noise, charge=charged.append)
    assert paused.value.search.charged == len(charged) == 1
    with JournalNoise(tmp_path / "noise", Noise.secure(), existing=True) as noise:
        with pytest.raises(InvalidInput, match=r"^charged: is 2"):
            SEARCH.start(toy(), noise, charge=charged.append, charged=2)
        going = SEARCH.start(toy(), noise, charge=charged.append, charged=1).run()
    assert (len(charged), going.charged) == (2, 2)


OTHERS = {
    "graph": (SEARCH, Investigation(rewired((3, 15)), 0, TARGETS)),
    "epsilon": (replace(SEARCH, epsilon=0.5), toy()),
    "noise": (replace(SEARCH, noise_kind="gumbel"), toy()),
    "components": (replace(SEARCH, components=4), toy()),
    "stop": (replace(SEARCH, stop="public", public_threshold=1.0), toy()),
    "seed": (SEARCH, Investigation(rewired(), 5, TARGETS)),
}


@pytest.mark.parametrize("other", OTHERS)
def test_a_journal_serves_the_search_that_it_was_begun_for(other: str, tmp_path: Path) -> None:
    with JournalNoise(tmp_path / "noise", Noise.secure()) as noise:
        first: Any = SEARCH.run(toy(), noise)
    mechanism, investigation = OTHERS[other]
    with (JournalNoise(tmp_path / "noise", Noise.secure(), existing=True) as noise,
          pytest.raises(InvalidInput, match="the journal belongs to another run")):
        mechanism.run(investigation, noise)
    with JournalNoise(tmp_path / "noise", Noise.secure(), existing=True) as noise:
        again: Any = SEARCH.run(toy(), noise)
    assert again.billboard.order.tolist() == first.billboard.order.tolist()


def test_a_journal_that_does_not_say_what_it_is_for_serves_no_search(tmp_path: Path) -> None:
    with JournalNoise(tmp_path / "noise", Noise.secure()) as noise:
        noise.exponential(16, stream=("component", 0, "order", "noise"))
    with (JournalNoise(tmp_path / "noise", Noise.secure(), existing=True) as noise,
          pytest.raises(InvalidInput, match="draws without a purpose")):
        SEARCH.run(toy(), noise)


def test_a_graph_that_is_not_admissible_is_not_mended_under_the_same_noise(tmp_path: Path) -> None:
    bounded = replace(SEARCH, degree_bound=5)
    crowded = rewired((3, 15), (3, 9))
    with JournalNoise(tmp_path / "noise", Noise.secure()) as noise:
        with pytest.raises(DegreeBoundViolated):
            bounded.start(Investigation(crowded, 0, TARGETS), noise)
        with pytest.raises(InvalidInput, match="the journal belongs to another run"):
            bounded.start(toy(), noise)


def test_single_calls_are_bound_to_what_they_were_for(tmp_path: Path) -> None:
    def call(graph: Graph, epsilon: float = 1.0, released: list[int] | None = None) -> Any:
        with JournalNoise(tmp_path / "noise", Noise.secure()) as noise:
            return search_component(graph, released or sorted(FIRST), TARGETS, noise, epsilon=epsilon, stop="none",
                                    examined={3, 4, 8, 13})

    first = call(rewired())
    assert call(rewired()) == first
    for other in (lambda: call(rewired((3, 15))), lambda: call(rewired(), 0.5),
                  lambda: call(rewired(), released=[*sorted(FIRST), 9])):
        with pytest.raises(InvalidInput, match="the journal belongs to another run"):
            other()


def test_no_search_shares_its_noise_with_a_random_order(tmp_path: Path) -> None:
    """The order is a function of the same draws: who sees both would know some of a private search's noise."""
    with JournalNoise(tmp_path / "noise", Noise.secure()) as noise:
        SEARCH.run(toy(), noise)
    with (JournalNoise(tmp_path / "noise", Noise.secure(), existing=True) as noise,
          pytest.raises(InvalidInput, match="the journal belongs to another run")):
        random_order(toy(), 3, noise)
