"""What a search refuses: parameters, data, oracles and releases, each by its name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from toy_network import TARGETS, TOY, toy

from confide.contract import InvalidInput
from confide.privacy.noise import Noise
from confide.search.component_search import sfs
from confide.search.graph import DegreeBoundViolated, Graph
from confide.search.oracles import Investigation, OracleUnavailable, SeedNotTargeted
from confide.search.releases import PublicRelease
from confide.search.statistics import CommonNeighboursMulti, Contacts, LargestFlow, Triangles
from confide.search.targeted import PTarget

HARDENED = PTarget(16, 3, 3, 1.0, 5)


@pytest.mark.parametrize(("field", "changes"), [
    ("people", {"people": 0}), ("components", {"components": 0}), ("stopping_target", {"stopping_target": -1}),
    ("stopping_target", {"stopping_target": None}), ("epsilon", {"epsilon": 0.0}), ("epsilon", {"epsilon": -1.0}),
    ("epsilon", {"epsilon": float("nan")}), ("epsilon", {"epsilon": 1e-12}),
    ("degree_bound", {"degree_bound": None}), ("degree_bound", {"degree_bound": 0}), ("stop", {"stop": "never"}),
    ("delta", {"delta": 1.0}), ("delta", {"delta": -0.1}), ("noise_kind", {"noise_kind": "gaussian"}),
    ("public_threshold", {"stop": "public"}), ("public_threshold", {"public_threshold": 2.0}),
    ("public_threshold", {"stop": "public", "public_threshold": float("inf")}),
    ("noise_kind", {"stop": "public", "public_threshold": 0.5, "noise_kind": "discrete_laplace"}),
    ("noise_kind", {"statistic": LargestFlow(3), "noise_kind": "discrete_laplace"}),
    ("statistic", {"statistic": Contacts()}),
    ("statistic", {"statistic": Triangles(1)}), ("statistic", {"statistic": Triangles(2)}),
    ("statistic", {"statistic": CommonNeighboursMulti(), "degree_bound": 1}), ("statistic", {"statistic": "flow"}),
    ("degree_bound", {"statistic": CommonNeighboursMulti(), "degree_bound": None, "stop": "none"}),
    ("largest_threshold", {"largest_threshold": -1}),
    ("largest_threshold", {"stop": "none", "largest_threshold": 3}),
    ("largest_threshold", {"largest_threshold": 2**23}),
])
def test_bad_parameters_are_refused_by_name(field, changes):
    with pytest.raises(InvalidInput) as caught:
        replace(HARDENED, **changes)
    assert caught.value.field == field


def test_bad_data_is_refused_before_the_run():
    with pytest.raises(DegreeBoundViolated) as caught:
        PTarget(16, 3, 3, 1.0, 3).run(toy(), Noise.simulated(1))
    assert TOY.largest_degree == 4
    assert "4" not in str(caught.value)
    for bad in (lambda: PTarget(17, 3, 3, 1.0, 5).run(toy(), Noise.simulated(1)),
                lambda: HARDENED.run(TOY, Noise.simulated(1)), lambda: HARDENED.run(toy(), 7),
                lambda: HARDENED.start(toy(), Noise.simulated(1)).pending(0)):
        with pytest.raises(InvalidInput):
            bad()
    with pytest.raises(SeedNotTargeted):
        HARDENED.run(toy(lambda vertex: False), Noise.simulated(1))
    with pytest.raises(InvalidInput, match="not a status"):
        HARDENED.run(toy(lambda vertex: "maybe"), Noise.simulated(1))


@pytest.mark.parametrize(("part", "changes"), [
    ("people", {"people": 17}), ("order", {"order": np.array([0, 1, 14, 2, 5, 6, 15, 9, 9])}),
    ("order", {"order": np.arange(17)}), ("order", {"order": np.array([1, 0, 14, 2, 5, 6, 15, 9])}),
    ("order", {"order": np.zeros(0, np.int64)}), ("order", {"order": np.linspace(0, 1, 8)}),
    ("seeds", {"seeds": np.array([3])}), ("seeds", {"seeds": np.array([0, 0])}), ("joined", {"joined": np.array([1])}),
    ("joined", {"joined": np.array([0, 7, 4])}), ("joined", {"joined": np.array([0, 4, 8])}), ("calls", {"calls": 1}),
    ("calls", {"calls": 3, "ended": "nothing found"}), ("ended", {"ended": "budget"}), ("ended", {"ended": "never"}),
    ("epsilon_spent", {"epsilon_spent": 1.0}), ("seeds", {"seeds": np.array(["0"])}),
    ("order", {"seeds": np.array([0, 9])}),
])
def test_releases_that_no_run_makes_are_refused(part, changes):
    board = PublicRelease(people=16, seeds=np.array([0]), order=np.array([0, 1, 14, 2, 5, 6, 15, 9]),
                          joined=np.array([0, 4, 7]), calls=2, ended="all components", epsilon_spent=2.0)
    HARDENED.check(board)
    with pytest.raises(InvalidInput) as caught:
        HARDENED.check(replace(board, **changes))
    assert caught.value.field in {f"billboard.{part}", "billboard.order"}


def test_oracles_by_id() -> None:
    """A mapping, a series and an array say the same; an array goes by graph.ids, whatever order they were given in."""
    import pandas as pd

    graph = Graph.from_edges(["s", "s", "b"], ["b", "a", "c"], vertices=["s", "c", "b", "a"])
    truth = {"s": True, "b": True, "c": True, "a": False}
    by_rank = np.array([truth[each] for each in graph.ids.to_pylist()])
    search = PTarget(4, 1, None, 0.5, None, "none")
    for oracle in (truth, pd.Series(truth), pd.Series(truth, dtype=object), pd.Series(["s", "b", "c"]), by_rank,
                   pd.Series(truth, dtype="boolean")):
        found = search.run(Investigation(graph, "s", oracle), Noise.simulated(1)).billboard
        assert found.order.tolist() == ["s", "b", "c"]
    half = Investigation(graph, "s", {"s": True, "b": True})
    for _ in range(2):  # nothing is left over from the first
        with pytest.raises(OracleUnavailable):
            search.run(half, Noise.simulated(1))
    going = search.start(half, Noise.simulated(1))
    assert going.pending(5) == ["a", "c"] or going.pending(5) == ["a"]
    for oracle, says in (
        (pd.Series([True, False, True, True]), "keys or index are not ids"),
        (pd.Series([True, True], index=["s", "s"]), "an id occurs twice"),
        ({"s": True, "z": True}, "keys or index are not ids"),
        ({"s": "yes"}, "values other than True and False"),
        ([True, False, True, True], "a mapping from ids to bools"),
        (np.array([True]), "for each of graph.ids, in their order"),
    ):
        with pytest.raises(InvalidInput, match=says):
            Investigation(graph, "s", oracle)


@pytest.mark.parametrize(("some", "says"), [
    ({"epsilon": 1e300}, r"^epsilon: 1e\+300 is out of range; must be in \(0, 1e\+12\]"),
    ({"epsilon": 0.0}, r"^epsilon: 0.0 is out of range; must be in \(0, 1e\+12\]"),
    ({"epsilon": 1e-8, "stop": "smoothed"}, r"^epsilon: is so small"),
    ({"largest_threshold": 2**23}, r"^largest_threshold: 8,388,608 gives a grid that is too long"),
    ({"degree_bound": 2**23}, r"^statistic: can be as large as 8,388,608"),
])
def test_errors_name_the_parameter_that_is_at_fault(some: dict[str, Any], says: str) -> None:
    plan = {"people": 10, "components": 3, "stopping_target": 2, "epsilon": 0.5, "degree_bound": 4, "stop": "private"}
    with pytest.raises(InvalidInput, match=says):
        PTarget(**(plan | some)).guarantees()


@pytest.mark.parametrize(("stop", "kind"), [("none", "gumbel"), ("smoothed", "laplace"), ("public", "exponential")])
def test_a_promise_names_its_own_noise(stop: Any, kind: Any) -> None:
    it = PTarget(10, 3, 2, 0.5, 4, stop, noise_kind=kind, public_threshold=1.0 if stop == "public" else None)
    said = str(it.guarantees().privacy[0].source.erratum)
    assert f"{kind} noise" in said
    assert ("half for the threshold" in said) == (stop == "smoothed")


def test_a_target_of_the_component_that_counts_as_examined_is_named() -> None:
    graph = Graph.from_edges([0, 2, 3, 5], [2, 3, 4, 6], people=9)
    targets = {0, 2, 3, 5, 6}
    with pytest.raises(InvalidInput, match=r"^examined: has a target of this component that is not released"):
        sfs(graph, 0, targets, examined={2})
    shared = {4}
    assert sfs(graph, 0, targets, examined=shared) == [0, 2, 3]
    assert sfs(graph, 5, targets, examined=shared) == [5, 6]  # targets of another component were released
    assert shared == {0, 2, 3, 4, 5, 6}


@pytest.mark.parametrize("seed", [16, -1, "0", 0.0, [0, 99]])
def test_a_seed_that_is_nobody_is_no_target(seed: Any) -> None:
    with pytest.raises(SeedNotTargeted, match=r"^seed_vertex: .* belongs to nobody; every seed must be"):
        Investigation(TOY, seed, TARGETS)
