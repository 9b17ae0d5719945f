"""Mechanisms: exact levels of the coded channel, releases that follow it, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import chi2, norm

from confide.channels import (
    Channel,
    Exchangeable,
    FullPrior,
    IndependentRows,
    Infeasible,
    KernelMechanism,
    PriorConstants,
    RandomizedResponse,
    RowProduct,
    TableMechanism,
    TopK,
    WaterFilling,
    analyse,
    closed_form,
    privacy_distortion,
)
from confide.channels.kernels import entropy_of_row, h, row_kernel
from confide.channels.mechanisms.integer_tables import IntegerTable, integer_table
from confide.channels.mechanisms.kernel_mechanism import draw_counts, draw_in_turn
from confide.contract.errors import InvalidInput, NotGuaranteed, Refused, Unsupported
from confide.contract.guarantees import Accuracy, Audience
from confide.privacy import Noise, RandomizedResponseEvent

from false_alarms import alpha

PAIR = FullPrior([0.45, 0.05, 0.05, 0.45], letters=2, records=2)
UNEQUAL = IndependentRows([[0.2, 0.3, 0.5], [0.1, 0.45, 0.45]])
PRIORS = [
    IndependentRows([[0.2, 0.3, 0.5]], [3]),
    UNEQUAL,
    PAIR,
    Exchangeable.mixture([0.5, 0.5], [[0.8, 0.2], [0.2, 0.8]], 5),
    Exchangeable.polya([1.0, 1.0, 2.0], 3),
]


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_the_kernel_mechanism_and_randomised_response_mirror_each_other(prior) -> None:
    """Acceptance 7: levels, distortion and information, each to 1e-9; never above what was asked for."""
    found = PriorConstants.of(prior)
    epsilon = found.kernel_level + 0.25
    m, n = prior.letters, prior.records
    levels = KernelMechanism(prior=prior, epsilon=epsilon).levels()
    assert levels.identifiability <= epsilon
    assert levels.identifiability == pytest.approx(epsilon, abs=1e-9)
    assert levels.dp == pytest.approx(epsilon + found.prior_level, abs=1e-9)
    assert levels.distortion == pytest.approx(h(epsilon, m, n), abs=1e-9)
    assert levels.mutual_information == pytest.approx(prior.entropy - n * entropy_of_row(epsilon, m), abs=1e-9)
    other = RandomizedResponse(epsilon=epsilon, letters=m, records=n)
    levels = other.levels(prior)
    assert levels.dp <= epsilon
    assert levels.dp == pytest.approx(epsilon, abs=1e-9)
    assert levels.identifiability == pytest.approx(epsilon + found.prior_level, abs=1e-9)
    assert levels.distortion == pytest.approx(other.distortion, abs=1e-9)
    assert other.distortion == pytest.approx(h(epsilon, m, n), abs=1e-9)


def test_below_the_kernel_level_there_is_no_kernel_mechanism() -> None:
    """Acceptance 2: the tail prior of spec section 2, whose clipped masses would have another level."""
    bits = np.array([1.0])
    for _ in range(6):
        bits = np.multiply.outer(bits, [0.995, 0.005]).reshape(-1)
    fair = np.full((64, 4), 0.25)
    fair[-1] = np.array([5, 1, 1, 5]) / 12
    prior = FullPrior((bits[:, None] * fair).reshape(-1), letters=2, records=8, normalise=True)
    with pytest.raises(Infeasible) as caught:
        KernelMechanism(prior=prior, epsilon=7.65)
    assert caught.value.threshold == pytest.approx(8.0245098581, abs=1e-8)
    assert "8.0245" in str(caught.value)


def test_a_uniform_prior_can_be_protected_altogether() -> None:
    levels = KernelMechanism(prior=FullPrior(np.full(4, 0.25), 2, 2), epsilon=0.0).levels()
    assert levels.dp == pytest.approx(0.0, abs=1e-12)
    assert levels.distortion == pytest.approx(1.0)


@pytest.mark.parametrize(("epsilon", "distortion"), [(0.0, 1.0), (0.1, 1.0), (math.log(2.5), 6 / 7), (math.log(3), 0.8),
                                                     (5.0, None)])
def test_top_k_has_the_least_distortion(epsilon: float, distortion: float | None) -> None:
    """Acceptance 4: rows (.2,.3,.5) twice; the level is never above epsilon, whatever k divides."""
    it = TopK(prior=IndependentRows([[0.2, 0.3, 0.5]], [2]), epsilon=epsilon)
    levels = it.levels()
    assert levels.dp <= epsilon
    expected = h(epsilon, 3, 2) if distortion is None else distortion
    assert levels.distortion == pytest.approx(expected, abs=1e-9)


def test_unequal_rows_have_tables_of_their_own() -> None:
    """Acceptance 4: rows (.2,.3,.5) and (.1,.45,.45), in this order, at ln 6."""
    epsilon = math.log(6)
    assert TopK(prior=UNEQUAL, epsilon=epsilon).levels().distortion == pytest.approx(0.478571, abs=1e-6)
    best = WaterFilling(prior=UNEQUAL, identifiability=epsilon)
    assert best.levels().distortion == pytest.approx(0.65, abs=1e-9)
    assert best.levels().identifiability <= epsilon
    informed = WaterFilling(prior=UNEQUAL, distortion=0.538828).levels()
    assert informed.identifiability == pytest.approx(2.0133, abs=1e-4)
    # The first row keeps its likeliest letter, number 2, more often than the second row keeps number 0.
    released = [TopK(prior=UNEQUAL, epsilon=1.2).release([2, 0], Noise.simulated(s)) for s in range(200)]
    kept = (np.array(released) == [2, 0]).mean(axis=0)
    assert kept[0] > 0.4 > 0.2 > kept[1]


def test_water_filling_is_optimal_twice_for_equal_rows() -> None:
    prior = IndependentRows([[0.2, 0.3, 0.5]], [2])
    by_level = WaterFilling(prior=prior, identifiability=math.log(3)).levels()
    by_distortion = WaterFilling(prior=prior, distortion=0.8).levels()
    assert by_level.mutual_information == pytest.approx(by_distortion.mutual_information, abs=1e-9)
    constant = WaterFilling(prior=prior, distortion=1.5).levels()
    assert (constant.mutual_information, constant.dp) == (0.0, 0.0)
    with pytest.raises(Infeasible):
        WaterFilling(prior=prior, identifiability=0.5)
    with pytest.raises(InvalidInput, match="not both"):
        WaterFilling(prior=prior)


def test_at_the_priors_own_level_its_rounding_is_allowed() -> None:
    prior = IndependentRows([[0.2, 0.3, 0.5]])
    levels = WaterFilling(prior=prior, identifiability=math.log(2.5)).levels()
    assert levels.identifiability == pytest.approx(math.log(2.5), abs=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_a_coded_table_never_exceeds_what_was_asked_for(seed: int) -> None:
    """A random channel with small entries, at its own level in doubles; the coded one is analysed again."""
    draw = np.random.default_rng(seed)
    table = draw.dirichlet(np.full(8, 0.05), size=8) + 1e-9
    table /= table.sum(axis=1, keepdims=True)
    law = draw.dirichlet(np.full(8, 3.0))
    prior = FullPrior(law, 2, 3)
    asked = analyse(table, law)  # one row of eight letters: all pairs are neighbours
    whole = analyse(Channel(table, letters=2, records=3), prior)
    it = TableMechanism(table=Channel(table, letters=2, records=3), prior=prior, dp_at_most=whole.dp,
                        identifiability_at_most=whole.identifiability)
    levels = it.levels()
    assert levels.dp <= whole.dp <= asked.dp
    assert levels.identifiability <= whole.identifiability
    assert levels.dp == pytest.approx(whole.dp, abs=0.01)
    assert levels.distortion == pytest.approx(whole.distortion, abs=1e-5)


def test_no_positive_entry_becomes_impossible_and_no_impossible_one_possible() -> None:
    table = np.array([[1.0 - 1e-30, 1e-30, 0.0], [0.5, 0.5, 0.0]])
    coded = integer_table(table, 2)
    assert ((coded.weights > 0) == (table > 0)).all()
    assert coded.total == 2**62
    assert coded.dp() == pytest.approx(math.log(2**61))
    assert integer_table(np.eye(2), 2).dp() == math.inf
    with pytest.raises(NotGuaranteed, match="the table has"):
        integer_table(np.eye(2), 2, dp=5.0)


def test_exact_levels_of_whole_numbers() -> None:
    """Two ratios that doubles cannot tell apart: the larger one counts, rounded up."""
    big = 2**61
    table = IntegerTable(np.array([[big + 1, big - 1], [big - 1, big + 1]]), letters=2)
    assert 0.0 < table.dp() < 2e-18
    assert table.identifiability(np.array([0.5, 0.5])) <= 1e-14


def test_row_tables_with_an_identifiability() -> None:
    tables = [row_kernel(2.0, 3), row_kernel(2.0, 3)]
    channel = RowProduct(tables[:1], np.zeros(2, dtype=int))
    asked = analyse(channel, UNEQUAL)
    it = TableMechanism(table=channel, identifiability_at_most=asked.identifiability, dp_at_most=2.0, prior=UNEQUAL)
    assert it.levels().identifiability <= asked.identifiability
    assert it.levels().dp <= 2.0
    assert it.release([0, 2], Noise.simulated(1)).shape == (2,)


@pytest.mark.parametrize("secure", [False, True])
def test_changed_rows_of_a_large_release(secure: bool) -> None:
    """Acceptance 10: m = 5, n = 10^6, epsilon = 1: 595,390 changed rows, standard deviation 491."""
    it = RandomizedResponse(epsilon=1.0, letters=5, records=10**6)
    truth = np.arange(10**6) % 5
    noise = Noise.secure() if secure else Noise.simulated(11)
    changed = int((it.release(truth, noise) != truth).sum())
    assert abs(changed - 595_390) <= norm.isf(0.5 * alpha("channels.response", cases=2)) * 491 + 1


def fits(drawn: np.ndarray, law: np.ndarray, share: float) -> bool:
    """Chi-square of positions against a law, over outcomes that are expected more than five times."""
    expected = len(drawn) * law
    used = expected > 5
    counts = np.bincount(drawn, minlength=len(law))
    return bool(chi2.sf((((counts - expected) ** 2)[used] / expected[used]).sum(), used.sum()) > share)


def test_releases_of_the_kernel_mechanism_follow_its_table() -> None:
    """Acceptance 10: releases, and what is simulated in turn, follow the table; randomised response does not."""
    it = KernelMechanism(prior=PAIR, epsilon=3.0, prior_provenance="public")
    table, share = it.channel.table(), alpha("channels.kernel", cases=5)
    other = RandomizedResponse(epsilon=3.0, letters=2, records=2)
    for x, rows in ((0, np.array([0, 0])), (1, np.array([0, 1]))):
        released = np.array([it.release(rows, Noise.simulated(k)) for k in range(500)])
        in_turn = np.array([draw_in_turn(rows, it._form.weights, math.exp(-3.0), 2, Noise.simulated(k), "release")
                            for k in range(500)])
        assert fits(released @ [2, 1], table[x], share)
        assert fits(in_turn @ [2, 1], table[x], share)
    wrong = np.array([other.release(rows, Noise.simulated(k)) for k in range(500)])
    assert not fits(wrong @ [2, 1], table[1], share)


def test_counts_of_an_exchangeable_prior_follow_the_same_law() -> None:
    """Draws by counts against the table of all databases."""
    prior = Exchangeable.mixture([0.5, 0.5], [[0.8, 0.2], [0.2, 0.8]], 4)
    it = KernelMechanism(prior=prior, epsilon=2.0)
    x = np.array([0, 1, 1, 1])
    law = it.channel.table()[0b0111]
    found = np.array([draw_counts(x, prior.log_sequence, 2.0, Noise.simulated(k), "r") for k in range(600)])
    assert fits(found @ [8, 4, 2, 1], law, alpha("channels.counts"))


def test_large_priors_are_simulated_and_never_released() -> None:
    prior = Exchangeable.mixture([0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]], 30)
    it = KernelMechanism(prior=prior, epsilon=2.0, prior_provenance="public")
    assert it.coded is None
    levels = it.levels()
    assert (levels.identifiability, levels.distortion) == (2.0, h(2.0, 2, 30))
    assert it.release([0, 1] * 15, Noise.simulated(1)).shape == (30,)
    with pytest.raises(Refused, match="too large for a certified table"):
        it.release([0, 1] * 15, Noise.secure())
    with pytest.raises(Refused):
        it.levels(Exchangeable.polya([1.0, 1.0], 30))


def test_secure_noise_needs_to_know_where_the_prior_is_from() -> None:
    prior = IndependentRows([[0.2, 0.3, 0.5]], [2])
    for make in (lambda **more: TopK(prior=prior, epsilon=1.0, **more),
                 lambda **more: KernelMechanism(prior=prior, epsilon=2.0, **more),
                 lambda **more: WaterFilling(prior=prior, distortion=0.5, **more)):
        with pytest.raises(Refused, match="the source of the prior"):
            make().release([0, 1], Noise.secure())
        assert make(prior_provenance="released privately").release([0, 1], Noise.secure()).shape == (2,)
        with pytest.raises(InvalidInput, match="prior_provenance"):
            make(prior_provenance="fitted")
    RandomizedResponse(epsilon=1.0, letters=3, records=2).release([0, 1], Noise.secure())


def test_promises_and_spend() -> None:
    it = RandomizedResponse(epsilon=1.0, letters=5, records=4)
    (event,) = it.events()
    assert isinstance(event, RandomizedResponseEvent)
    assert event.epsilon <= 1.0
    assert [each.audience for each in it.guarantees().privacy] == [Audience.PUBLIC, Audience.COLLECTOR]
    best = KernelMechanism(prior=PAIR, epsilon=3.0)
    assert [each.audience for each in best.guarantees().privacy] == [Audience.PUBLIC]
    assert best.guarantees().of(Accuracy)[0].bound == pytest.approx(h(3.0, 2, 2), abs=1e-9)
    with pytest.raises(NotGuaranteed, match="differential privacy"):
        TableMechanism(table=np.eye(2)).events()
    assert TableMechanism(table=np.eye(2)).guarantees().privacy[0].vacuous


def test_bad_input() -> None:
    it = RandomizedResponse(epsilon=1.0, letters=3, records=2)
    with pytest.raises(InvalidInput, match="rows: 3 rows; must be 2"):
        it.release([0, 1, 2], Noise.simulated(1))
    with pytest.raises(InvalidInput, match="an entry is not the number of a letter") as caught:
        it.release([0, 3], Noise.simulated(1))
    assert "1" not in str(caught.value).replace("0..2", "")
    with pytest.raises(InvalidInput, match="prior: is missing"):
        it.levels()
    for wrong in ({"epsilon": -1.0}, {"epsilon": math.nan}, {"letters": 1}, {"records": 0}, {"letters": 1025}):
        with pytest.raises(InvalidInput):
            RandomizedResponse(**{"epsilon": 1.0, "letters": 3, "records": 2, **wrong})
    with pytest.raises(InvalidInput, match="less than the probability of a right guess"):
        RandomizedResponse.telling_the_truth(0.2, letters=3)
    with pytest.raises(Unsupported, match="depend on each other"):
        TopK(prior=PAIR, epsilon=1.0)
    with pytest.raises(Infeasible, match="no release reaches it, since the prior excludes some databases"):
        KernelMechanism(prior=IndependentRows([[1.0, 0.0]]), epsilon=5.0)
    with pytest.raises(InvalidInput, match="is not an array of numbers"):
        KernelMechanism(prior="uniform", epsilon=1.0)
    with pytest.raises(Infeasible, match="least_distortion"):
        KernelMechanism(prior=PAIR, epsilon=1.0)
    with pytest.raises(InvalidInput, match="identifiability depends on it"):
        TableMechanism(table=np.eye(2), identifiability_at_most=1.0)
    with pytest.raises(InvalidInput, match="noise"):
        it.release([0, 1], np.random.default_rng(1))


def test_outputs_that_are_no_databases_come_as_positions() -> None:
    it = TableMechanism(table=[[0.5, 0.5, 0.0], [0.25, 0.25, 0.5]])
    assert it.release([1], Noise.replayed({"release": [2]})).tolist() == [2]
    assert it.levels([0.5, 0.5]).distortion is None


@pytest.mark.parametrize("prior", [UNEQUAL, PAIR, PRIORS[3]], ids=repr)
def test_the_best_mechanism_has_the_least_level(prior) -> None:
    """Up to h(eps~_X), and by a constant: its level is the closed form, its distortion what was asked for."""
    constants = PriorConstants.of(prior)
    small = 0.5 * h(constants.kernel_level, prior.letters, prior.records)
    for distortion in (small, constants.constant_distortion + 0.01):
        for notion in ("dp", "identifiability", "mutual-information"):
            best = privacy_distortion(notion, prior, distortion, prior_provenance="public")
            found = best.mechanism.levels(prior)
            assert getattr(found, notion.replace("-", "_")) == pytest.approx(best.upper, abs=1e-8)
            assert found.distortion <= distortion + 1e-8
            least = closed_form(notion, prior, distortion, constants)
            assert best.value is not None
            assert least is None or best.value == pytest.approx(least, abs=1e-12)
            assert len(best.mechanism.release([0] * prior.records, Noise.secure())) == prior.records
    same = privacy_distortion("dp", prior, 0.0).mechanism
    assert same.release([1] * prior.records, Noise.secure()).tolist() == [1] * prior.records
    with pytest.raises(NotGuaranteed):
        same.events()


def test_no_best_identifiability_without_full_support() -> None:
    with pytest.raises(Infeasible):
        privacy_distortion("identifiability", [[1.0, 0.0]], 0.5)


def test_survey_designs() -> None:
    """A letter is kept with the probability of the design, rounded down by a unit in 2^62 at most."""
    it = RandomizedResponse.telling_the_truth(0.75, letters=3)
    assert it.truth == pytest.approx(0.75, abs=1e-15)
    assert RandomizedResponse.telling_the_truth(1 / 3, letters=3).dp() == pytest.approx(0.0, abs=1e-12)
