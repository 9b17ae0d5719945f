"""The search as printed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from confide.contract import InvalidInput
from confide.contract.guarantees import Privacy
from confide.evidence.wu_2017.targeted_search.printed import _Printed, printed_composition, printed_search
from confide.privacy.losses import PureDP
from confide.privacy.noise import Noise
from confide.search.component_walk import FINISHED, Walk
from confide.search.planning import compositions
from confide.search.statistics import CommonNeighbours
from search.toy_network import FIRST, TARGETS, TOY, toy


def after_first(examined=(), found=()):
    """The state after the toy's first component; more may be examined or found."""
    walk = Walk(TOY, np.array([v in TARGETS for v in range(16)], np.int8))
    walk.add(np.zeros(0, np.int64), np.array(list(examined), np.int64))
    for start in (0, *found):
        assert walk.explore(start) == FINISHED
    return walk


@pytest.mark.parametrize("form", ["algorithm", "text", "experiments"])
@pytest.mark.parametrize("reset", [False, True])
def test_the_printed_search_runs_and_promises_nothing(form, reset):
    found = printed_search(toy(), 3, 3, 1.0, 5, Noise.simulated(2), form=form, reset=reset)
    assert found.order.tolist()[:4] == FIRST
    assert set(found.order.tolist()) <= TARGETS
    assert found.guarantees.privacy[0].vacuous
    claim, = found.guarantees.of(Privacy, claimable=False)
    assert claim.loss == PureDP(2.0)
    assert len(set(found.log.examined.tolist())) == found.log.queries or reset


def test_with_resets_a_round_can_come_upon_a_known_target():
    runs = [printed_search(toy(), 3, 3, 1.0, 5, Noise.simulated(seed), form="experiments", reset=True)
            for seed in range(20)]
    assert any(found.calls >= len(found.joined) for found in runs)
    assert any(len(set(found.log.examined.tolist())) < found.log.queries for found in runs)


def test_the_printed_threshold_depends_on_who_was_examined():
    laws = []
    for examined in ((), (5, 6, 7, 10, 11, 12, 15)):
        walk = after_first([v for v in examined if v not in TARGETS], [9])
        seen, counts = walk.examined.copy(), np.zeros(6)
        for v in examined:
            seen[v] = True
        noise = Noise.simulated(1)
        printed = _Printed("algorithm", CommonNeighbours(), 0, 40.0, 5, noise)
        for call in range(60):
            counts[int(printed.candidates(TOY, walk.order, seen, call).threshold)] += 1
        laws.append(counts)
    assert np.abs(laws[0] - laws[1]).sum() > 30


def test_the_printed_composition_lacks_its_condition() -> None:
    printed, proved = printed_composition(1000, 1.0, 0.5)
    assert printed == pytest.approx(74.5, abs=0.05)
    assert not proved
    assert compositions(1000, 1.0, 0.5)["calls: optimal"] == pytest.approx(462, abs=1)
    below = [m for m in range(1, 200) if printed_composition(m, 0.001, 1e-6)[0] < 0.001 * m]
    assert below[0] == 111 == math.floor(8 * math.log(1e6)) + 1
    assert printed_composition(111, 0.001, 1e-6)[1]
    for arguments in ((0, 0.1, 1e-6), (1, 0.0, 1e-6), (1, 0.1, 0.0), (1, 0.1, 1.0)):
        with pytest.raises(InvalidInput):
            printed_composition(*arguments)
