"""The audit passes sound searches and flags broken ones."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from cases import fast
from confide.audit import audit, inject_fault
from confide.contract.errors import InvalidInput
from confide.search import CommonNeighboursMulti, LargestFlow, Paths, PTarget, Walks, audited
from confide.search.audited_faults import (
    CappedTree,
    CountsUnexamined,
    HalfDrawn,
    HalvedNoise,
    NoiselessThreshold,
    QuietFakeTree,
    SharpThreshold,
    TiesByDegree,
)
from confide.search.audited_losses import (
    crowd,
    fitted,
    lifted,
    list_row,
    rivals,
    selection_row,
    spread,
    threshold_row,
    tree_of,
    unplanted,
)
from confide.search.audited_runs import history_row, runs_row, telling_epsilon, transcript_row
from confide.search.noise_kinds import KINDS, call_law
from confide.search.stopping import Witness, limit_loss

STOPS = ("private", "smoothed", "none", "public")


def search(stop: str = "private", kind: str = "laplace", epsilon: float = 0.5) -> PTarget:
    return PTarget(1000, 5, 50, epsilon, 40, stop, noise_kind=kind, public_threshold=2 if stop == "public" else None)


@pytest.mark.parametrize(("stop", "kind"), fast(1, [(stop, kind) for kind in KINDS for stop in STOPS]))
def test_losses_of_sound_searches_are_kept_and_broken_ones_are_flagged(stop: str, kind: str) -> None:
    sound = search(stop, kind)
    row = selection_row(sound)
    assert row.verdict == "kept"
    assert row.measured > 0.85 * row.promised  # near its worst case, so half of the noise cannot hide
    assert list_row(sound).verdict == "kept"
    assert selection_row(inject_fault(sound, HalvedNoise), sound=sound).flagged
    assert selection_row(sound, CappedTree).flagged
    if stop != "none":
        assert selection_row(sound, QuietFakeTree).flagged
    if sound.call.draws_threshold:
        assert threshold_row(sound).verdict == "kept"
        assert threshold_row(inject_fault(sound, NoiselessThreshold), sound).flagged
        assert threshold_row(inject_fault(sound, SharpThreshold), sound).flagged


@pytest.mark.parametrize("stop", ["private", "smoothed"])
def test_the_examined_do_not_move_the_threshold(stop: str) -> None:
    assert history_row(search(stop)).verdict == "kept"
    assert history_row(inject_fault(search(stop), CountsUnexamined)).flagged


def test_the_printed_threshold_leaks_on_a_network_and_in_the_limit() -> None:
    printed, corrected = Witness(printed=True), Witness(printed=False)
    assert printed.promised == pytest.approx(0.4)
    assert printed.loss > 3 * printed.promised
    assert corrected.loss < corrected.promised
    assert limit_loss(40, 20.0, 0.7) == pytest.approx(0.96, abs=5e-3)
    assert limit_loss(40, 20.0, 1e-6) == pytest.approx(40 * 0.2 / 4, abs=1e-9)
    # Above ninefold bridges the pure promise breaks: k' epsilon/4 against 2 epsilon.
    assert limit_loss(8, 20.0, 1e-6) <= 0.4 + 1e-9 < limit_loss(9, 20.0, 1e-6)


def test_witness_by_counting_everybody() -> None:
    """A small population, where each number of examined strangers can be added up without cutting tails."""
    from scipy.stats import binom

    from confide.search.noise_kinds import below, density, nodes_between

    witness = Witness(bridged=3, strangers=30, epsilon=1.0, stopping_target=12, degree_bound=4)
    law = np.exp(witness.log_law(True))
    b, points = witness.scale, np.arange(5) / witness.scale
    y, weights = nodes_between(np.concatenate([points, [1 / b]]), 5)
    first = np.exp(witness._threshold(31, 3))
    fake = sum(part * below(y - x, "laplace") for x, part in zip(points, first, strict=True))
    mass = weights * density(y, "laplace") * fake * below(y - 1 / b, "laplace") ** 3
    whole = sum(mass[:, None] * binom.pmf(e, 30, 1 - below(y, "laplace"))[:, None]
                * np.exp(witness._threshold(30 - e, 3))[None, :] for e in range(31))
    assert law == pytest.approx(whole.sum(axis=0), rel=1e-9)


@pytest.mark.parametrize(("bridged", "scale", "at_most"), [
    (1, 2.0, 0.9), (2, 0.3, 0.8), (7, 20.0, 0.501), (199, 20.0, 0.52), (40, 5.0, 0.9), (10, 2.0, 1 - 1e-9),
    (3, 1.0, 0.2),
])
def test_the_limit_by_integration(bridged: int, scale: float, at_most: float) -> None:
    """Against adaptive quadrature of the two chances, piece by piece between their kinks."""
    from scipy.integrate import quad
    from scipy.stats import laplace

    def chance(value: float) -> float:
        top = float(laplace.ppf(at_most))
        cuts = [-60.0, *sorted(min(x, top) for x in (0.0, value)), top]
        return math.fsum(quad(lambda y: float(laplace.pdf(y) * laplace.cdf(y - value) ** bridged), low, high,
                              epsabs=0.0, epsrel=1e-12)[0] for low, high in pairwise(cuts) if low < high)

    expected = math.log(chance(0.0) / chance(1.0 / scale))
    assert limit_loss(bridged, scale, at_most) == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
def test_losses_of_chances_that_leave_the_doubles() -> None:
    """That 199 others are all lower than a low noise has probability .02^200; its ratio is e^(199/20)."""
    assert limit_loss(199, 20.0, 0.02) == pytest.approx(199 / 20)
    assert limit_loss(10**6, 1e3, 1e-9) == pytest.approx(1e3)
    assert limit_loss(10**6, 1e3, 0.7) == pytest.approx(10**6 * (math.log(0.7) - math.log1p(-0.3 * math.exp(1e-3))),
                                                        rel=1e-4)
    with pytest.raises(InvalidInput, match="at_most"):
        limit_loss(3, 20.0, 1.0)
    # Contacts 750 scales above the others: that a stranger is examined is as good as impossible.
    far = {"bridged": 3, "strangers": 100, "epsilon": 50.0, "stopping_target": 12, "degree_bound": 60}
    printed, corrected = Witness(**far, printed=True), Witness(**far, printed=False)
    assert printed.loss == pytest.approx(9.8653196, abs=1e-6)
    assert 0 < corrected.loss < corrected.promised


def test_traps_have_the_losses_of_the_specification() -> None:
    # A cap of one: a stranger goes from 0 to 200 beside a target at 0.
    capped = [call_law([0, f], 20.0, "laplace", None)[0] for f in (0, 200)]
    assert math.log(capped[0] / capped[1]) == pytest.approx(8.21, abs=5e-3)
    # Thirty targets gain one each: a fake without noise loses 1.5, one with noise 0.05.
    quiet = 30 * (math.log(0.5) - math.log(0.5 * math.exp(-1 / 20)))
    assert quiet == pytest.approx(1.5)
    fake = [call_law(np.full(30, f), 20.0, "laplace", 0)[-1] for f in (0, 1)]
    assert 0.04 < math.log(fake[0] / fake[1]) <= 0.1
    # One goes up and another one down: the bound 2 Delta/b is nearly attained.
    for most, loss in ((0, 0.9648), (10, 1.8329), (20, 1.9090)):
        pair = [call_law(f, 1.0, "laplace", None)[0] for f in ([1, most], [0, most + 1])]
        assert math.log(pair[0] / pair[1]) == pytest.approx(loss, abs=5e-5)


def test_made_up_networks_are_within_their_bounds() -> None:
    for made in (rivals(2.0), crowd(2.0)):
        assert all(np.diff(graph.indptr).max() <= made.degree_bound for graph in made.graphs)
        assert fitted(search(), made).people == made.people
        tree = tree_of(fitted(search(), made).call, made)
        assert sum(tree.law(made.graphs[0]).values()) == pytest.approx(1.0)
    assert spread([np.array([1.0, 0.0]), np.array([0.5, 0.5])]) == math.inf


@pytest.mark.slow
@pytest.mark.parametrize(("stop", "kind", "epsilon"), [
    ("private", "laplace", 0.5), ("smoothed", "exponential", 1.0), ("none", "gumbel", 0.2),
    ("public", "discrete_laplace", 0.3)])
def test_whole_audits_pass_with_all_controls_flagged(stop: str, kind: str, epsilon: float) -> None:
    report = audit(audited.search(search(stop, kind, epsilon)))
    assert report.passed, report.problems
    assert len(report.controls) >= 4


THRESHOLDS = [-3.0, 0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 1e4]
# every noise with small, usual and large epsilons, and with thresholds on both sides of what a statistic can be
PUBLIC_STOPS = [(kind, epsilon, THRESHOLDS[(3 * shift + step) % len(THRESHOLDS)]) for shift, kind in enumerate(KINDS)
                for step, epsilon in enumerate([0.05, 1.0, 50.0])]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "epsilon", "threshold"), PUBLIC_STOPS)
def test_every_public_stop_is_audited(kind: str, epsilon: float, threshold: float) -> None:
    it = PTarget(5000, 6, None, epsilon, None, "public", noise_kind=kind, public_threshold=threshold)
    report = audit(audited.search(it, 1))
    assert report.passed, report.problems
    assert len(report.controls) >= 3


EXTREME = [
    {"stop": "smoothed", "largest_threshold": 0}, {"stop": "private", "largest_threshold": 0},
    {"stop": "smoothed", "statistic": Paths(2)}, {"stop": "private", "statistic": Walks(3), "degree_bound": 20},
    {"stop": "none", "statistic": CommonNeighboursMulti(), "stopping_target": None},
    {"stop": "private", "statistic": LargestFlow(2)}, {"stop": "smoothed", "epsilon": 5.0, "noise_kind": "exponential"},
    {"stop": "private", "epsilon": 0.05, "noise_kind": "discrete_laplace"},
]


@pytest.mark.slow
@pytest.mark.parametrize("some", EXTREME, ids=str)
def test_every_statistic_and_grid_is_audited(some: dict[str, Any]) -> None:
    plan = {"people": 10_000, "components": 3, "stopping_target": 30, "epsilon": 1.0, "degree_bound": 50} | some
    report = audit(audited.search(PTarget(**plan), 1))
    assert report.passed, report.problems
    notes = [row.note for row in report.rows]
    assert any("0 is the only possible threshold" in note for note in notes) == (some.get("largest_threshold") == 0)


def test_what_cannot_leak_is_not_injected_and_what_can_is() -> None:
    """By the parameters, before any audit: a public threshold near what people have leaves nothing out."""
    def left(**some: Any) -> set[str]:
        return set(unplanted(PTarget(**({"people": 1000, "components": 3, "stopping_target": None, "epsilon": 1.0,
                                         "degree_bound": None, "stop": "public", "public_threshold": 3.0} | some))))

    assert left() == left(public_threshold=100.0) == left(public_threshold=-1.0) == set()
    assert left(public_threshold=1e6) == {"noise", "fake", "cap"}
    assert left(public_threshold=0.0, noise_kind="exponential") == {"fake"}  # that noise is never below 0
    drawn = {"public_threshold": None, "degree_bound": 20, "stopping_target": 5, "stop": "smoothed"}
    assert left(**drawn) == set()
    assert left(**drawn, largest_threshold=0) == {"draw", "sharp", "counted"}
    assert left(**drawn, statistic=Paths(2)) == {"sharp"}


@pytest.mark.parametrize("threshold", [10.0, 30.0])
def test_a_quiet_fake_shows_near_its_threshold(threshold: float) -> None:
    it = PTarget(5000, 6, None, 1.0, None, "public", public_threshold=threshold)
    assert lifted(it) == threshold - 1
    assert selection_row(it).verdict == "kept"
    assert selection_row(it, QuietFakeTree).flagged
    assert selection_row(it, CappedTree).flagged
    assert selection_row(inject_fault(it, HalvedNoise), sound=it).flagged


def test_ties_inside_a_component_do_not_depend_on_strangers() -> None:
    assert transcript_row(search()).verdict == "kept"
    assert transcript_row(search(), TiesByDegree).flagged


def test_what_a_report_says_of_noise_that_is_used_again() -> None:
    assert "with this stop, the audit does not cover noise" in runs_row(search("none"), runs=40).note
    assert runs_row(search("public"), runs=40).note == ""


@pytest.mark.parametrize(("stop", "kind"), [("smoothed", "exponential"), ("public", "laplace")])
def test_half_of_the_noise_would_show_in_own_runs(stop: str, kind: str) -> None:
    """By exact laws, at an epsilon that is not the campaign's: at 0.05 noise drowns everything."""
    it = search(stop, kind, 0.05)
    epsilon = telling_epsilon(it)
    assert epsilon >= 1
    assert epsilon == pytest.approx(telling_epsilon(search(stop, kind, 2.0)), rel=1e-6)
    assert f"at epsilon {epsilon:.3g} for each call" in runs_row(it, runs=40).promise
    assert "at epsilon 0.05 for each call" in runs_row(it, runs=40, epsilon=0.05).promise


@pytest.mark.slow
@pytest.mark.parametrize(("stop", "kind", "epsilon"), [
    (stop, kind, (0.05, 5.0)[(one + two) % 2]) for one, kind in enumerate(KINDS) for two, stop in enumerate(STOPS)])
def test_a_program_that_draws_half_of_the_noise_is_flagged(stop: str, kind: str, epsilon: float) -> None:
    it = search(stop, kind, epsilon)
    assert runs_row(it, 1).verdict == "kept"
    assert runs_row(inject_fault(it, HalfDrawn), 1, sound=it).flagged


def test_own_runs_show_a_cap() -> None:
    assert runs_row(search(), runs=60).verdict == "kept"
    assert runs_row(search(), runs=200, query_cap=4).flagged


def test_what_is_refused() -> None:
    with pytest.raises(InvalidInput, match="PTarget"):
        audited.search("search")
    with pytest.raises(InvalidInput, match="nothing private"):
        audited.search(PTarget(10, 1, 5, 0.5, 4))
    with pytest.raises(InvalidInput, match="draws no threshold"):
        history_row(search("none"))
