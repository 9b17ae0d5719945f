"""The door: how private a release can be at a distortion, in three notions, for every prior."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.channels.analyser import analyse
from confide.channels.constants import PriorConstants
from confide.channels.distortion import least_distortion, privacy_distortion
from confide.channels.kernels import h, h_inverse
from confide.channels.notions import Infeasible
from confide.channels.priors import Exchangeable, FullPrior, IndependentRows
from confide.channels.rows import RowBounds
from confide.contract.errors import InvalidInput

PAIR = FullPrior([0.45, 0.05, 0.05, 0.45], 2, 2)
STARS = [0.2533, 0.1821, 0.1821, 0.1873, 0.1953]
NOTIONS = ("dp", "identifiability", "mutual-information")


def measured(notion: str, found, prior) -> tuple[float, float]:
    """Of the channel; the mechanism in whole numbers is it to a hair, and where a level was asked for never above."""
    name = notion.replace("-", "_")
    report, coded = analyse(found.channel, prior), found.mechanism.levels(prior)
    assert getattr(coded, name) == pytest.approx(getattr(report, name), rel=1e-8, abs=1e-8)
    assert coded.distortion == pytest.approx(report.distortion, abs=1e-8)
    if notion != "mutual-information":
        assert getattr(coded, name) <= found.upper * (1.0 + 1e-13)
    return getattr(report, name), report.distortion


@pytest.mark.parametrize("distortion", [0.05, 0.2, 0.4, 0.7, 0.95, 1.0, 1.6])
def test_the_pair(distortion: float) -> None:
    """Spec section 11: formulas where there are some, programs elsewhere; the channel is what it is said to be."""
    kernel = h_inverse(distortion, 2, 2)
    dp = kernel if distortion <= 0.2 else max(0.0, math.log(0.9 / (distortion - 0.1))) if distortion < 1 else 0.0
    end = h(math.acosh(9), 2, 2)
    ident = kernel if distortion <= end else max(math.log(9), math.log((1.9 - distortion) / 0.1))
    for notion, expected in (("dp", dp), ("identifiability", ident), ("mutual-information", None)):
        found = privacy_distortion(notion, PAIR, distortion)
        assert found.lower <= found.value <= found.upper <= found.lower + 1e-6
        if expected is not None:
            assert found.lower - 1e-9 <= expected <= found.upper + 1e-9
        level, lost = measured(notion, found, PAIR)
        assert level <= found.upper + 1e-9
        assert lost <= distortion + 1e-9


def test_ends_of_the_closed_range() -> None:
    """Acceptance 4: where a constant release reaches the distortion the level is 0, else the kernel's."""
    for law, rows, distortion, expected in (([0.3, 0.7], 3, 0.9, 0.0), ([0.2, 0.2, 0.6], 2, 0.8, 0.0),
                                            ([0.2, 0.3, 0.5], 2, 0.8, math.log(3))):
        apart = IndependentRows([law], [rows])
        for prior in (apart, FullPrior(apart.vector(), len(law), rows)):
            found = privacy_distortion("dp", prior, distortion)
            assert found.value == pytest.approx(expected, abs=1e-6)
            assert found.lower <= expected + 1e-9


@pytest.mark.parametrize(("distortion", "ident", "dp"), [(0.4, math.log(6), math.log(6)), (0.74, 0.35623, 0.32129)])
def test_five_stars(distortion: float, ident: float, dp: float) -> None:
    """Figure 2.4b, per row, at a million rows as at one."""
    law = np.array(STARS) / sum(STARS)
    for rows in (1, 10**6):
        for notion, expected in (("identifiability", ident), ("dp", dp)):
            found = privacy_distortion(notion, law, distortion * rows, letters=5, records=rows)
            assert (found.method, found.value) == ("closed form", pytest.approx(expected, abs=1e-5))


def test_programs_and_formulas_agree_on_independent_rows() -> None:
    rows = IndependentRows([[0.2, 0.3, 0.5], [0.1, 0.45, 0.45]])
    full = FullPrior(rows.vector(), 3, 2)
    for notion in NOTIONS:
        known, found = privacy_distortion(notion, rows, 0.7), privacy_distortion(notion, full, 0.7)
        assert known.method == "closed form"
        assert found.method == ("slope" if notion == "mutual-information" else "program")
        assert found.value == pytest.approx(known.value, abs=1e-6)
        level, lost = measured(notion, known, rows)
        assert (level, lost) == pytest.approx((known.value, 0.7), abs=1e-9)


def test_one_channel_differs_by_the_priors_level_at_most() -> None:
    """Spec 5, item 2: eps_i* - eps_X <= eps_d* <= eps_i* at every distortion."""
    prior = FullPrior(np.random.default_rng(2).dirichlet(np.full(8, 2.0)), 2, 3)
    own = PriorConstants.of(prior).prior_level
    for distortion in (0.2, 0.6, 1.0):
        dp, ident = (privacy_distortion(notion, prior, distortion) for notion in NOTIONS[:2])
        assert ident.lower - own - 1e-9 <= dp.upper
        assert dp.lower <= ident.upper + 1e-9


@pytest.mark.parametrize("notion", NOTIONS)
def test_beyond_the_programs_there_are_bounds_and_no_value(notion: str) -> None:
    """512 databases, drawn: the interval holds what a channel reaches, and is labelled as bounds."""
    prior = FullPrior(np.random.default_rng(0).dirichlet(np.ones(512)), 2, 9)
    found = privacy_distortion(notion, prior, 2.0)
    level, lost = measured(notion, found, prior)
    assert level <= found.upper + 1e-9
    assert lost <= 2.0 + 1e-9
    if notion == "mutual-information":
        assert found.method == "slope"
    else:
        assert (found.method, found.value) == ("bounds", None)
        assert found.lower < found.upper


def test_bounds_hold_what_programs_find() -> None:
    prior = FullPrior(np.random.default_rng(1).dirichlet(np.ones(8)), 2, 3)
    bounds, own = RowBounds.of(prior), PriorConstants.of(prior).prior_level
    for epsilon in (0.3, 1.0, 2.0):
        assert bounds.distortion("dp", epsilon) <= least_distortion("dp", prior, epsilon).upper
        found = least_distortion("identifiability", prior, own + epsilon)
        assert bounds.distortion("identifiability", own + epsilon) <= found.upper
    alike = Exchangeable.mixture([0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]], 4)
    full = FullPrior(alike.vector(), 2, 4)
    for notion in ("dp", "identifiability"):
        values = [RowBounds.of(each).distortion(notion, 1.2) for each in (alike, full)]
        assert values[0] == pytest.approx(values[1], abs=1e-12)
    rows = IndependentRows([[0.2, 0.3, 0.5], [0.1, 0.45, 0.45]])
    assert RowBounds.of(rows).distortion("dp", 1.0) == pytest.approx(least_distortion("dp", rows, 1.0).value, abs=1e-9)


def test_exchangeable_rows() -> None:
    prior = Exchangeable.mixture([0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]], 10)
    found = privacy_distortion("dp", prior, 3.461715)
    assert (found.method, found.value) == ("program", pytest.approx(0.5, abs=1e-5))
    assert measured("dp", found, prior)[0] <= found.upper
    many = Exchangeable.mixture([0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]], 400)
    assert privacy_distortion("dp", many, 100.0).value == pytest.approx(h_inverse(100.0, 2, 400), abs=1e-12)
    assert privacy_distortion("dp", many, 130.0).method == "bounds"
    assert privacy_distortion("identifiability", many, 130.0).method == "bounds"


def test_the_identity_and_the_whole_range() -> None:
    for notion, expected in zip(NOTIONS, (math.inf, math.inf, PAIR.entropy), strict=True):
        assert privacy_distortion(notion, PAIR, 0).value == expected
        assert privacy_distortion(notion, PAIR, 2.0).lower >= 0.0
    assert least_distortion("dp", PAIR, math.inf).value == 0.0
    assert least_distortion("dp", PAIR, 0).value == pytest.approx(1.0)


def test_least_distortion_is_the_inverse() -> None:
    for notion, epsilon in (("dp", 0.6), ("identifiability", 2.5)):
        there = least_distortion(notion, PAIR, epsilon)
        assert there.method == "program"
        assert privacy_distortion(notion, PAIR, there.value).value == pytest.approx(epsilon, abs=1e-6)
    own = least_distortion("identifiability", PAIR, math.log(9))
    assert own.lower <= 1.0 <= own.upper + 1e-6


def test_impossible_databases() -> None:
    """Spec section 9: no identifiability; differential privacy and information as ever."""
    prior = FullPrior([0.5, 0.0, 0.0, 0.5], 2, 2)
    with pytest.raises(Infeasible, match="excludes some databases"):
        privacy_distortion("identifiability", prior, 0.5)
    assert privacy_distortion("identifiability", prior, 0).value == math.inf
    for notion in ("dp", "mutual-information"):
        found = privacy_distortion(notion, prior, 0.5)
        assert found.upper - found.lower < 1e-6
        assert measured(notion, found, prior)[0] <= found.upper + 1e-9


@pytest.mark.parametrize(("change", "field"), [
    ({"notion": "privacy"}, "notion"), ({"distortion": -0.1}, "distortion"), ({"distortion": 2.1}, "distortion"),
    ({"distortion": math.nan}, "distortion"), ({"prior": [0.5, 0.6, -0.1, 0.0]}, "prior"),
    ({"prior": [0.45, 0.05, 0.05, 0.4501]}, "prior"), ({"prior": [0.5, 0.3, 0.2]}, "prior"),
    ({"letters": 1}, "letters"),
])
def test_bad_input(change: dict, field: str) -> None:
    given = {"notion": "dp", "prior": [0.45, 0.05, 0.05, 0.45], "distortion": 0.5, "letters": 2, "records": 2} | change
    with pytest.raises(InvalidInput) as caught:
        privacy_distortion(**given)
    assert caught.value.field == field


def test_levels_out_of_reach() -> None:
    with pytest.raises(Infeasible) as caught:
        least_distortion("identifiability", PAIR, math.log(9) - 1e-3)
    assert caught.value.threshold == pytest.approx(math.log(9))
    for epsilon in (-0.1, math.nan):
        with pytest.raises(InvalidInput):
            least_distortion("dp", PAIR, epsilon)


@pytest.mark.parametrize("notion", ["dp", "identifiability"])
def test_a_channel_in_whole_numbers_is_never_above_the_level_that_was_asked_for(notion: str) -> None:
    """Not by an ulp either: a level that was found again from the distortion was, at one in fifteen."""
    for k in range(60, 160):
        level = k / 20  # where a formula names the channel of the pair
        found = least_distortion(notion, PAIR, level)
        assert found.method == "closed form"
        report = found.mechanism.levels()
        assert (report.dp if notion == "dp" else report.identifiability) <= level


@given(st.lists(st.floats(0.05, 1.0), min_size=4, max_size=4), st.floats(0.01, 5.0), st.integers(1, 16),
       st.sampled_from(["dp", "identifiability"]))
def test_nor_is_one_for_another_prior(weights: list[float], more: float, digits: int, notion: str) -> None:
    prior = FullPrior(np.array(weights) / sum(weights), letters=2, records=2)
    level = round(PriorConstants.of(prior).prior_level + 0.1 + more, digits)
    report = least_distortion(notion, prior, level).mechanism.levels()
    assert (report.dp if notion == "dp" else report.identifiability) <= level
